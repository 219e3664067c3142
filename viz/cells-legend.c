/* The Cells view: the column at the side, live counts and memory. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "viz/cells-private.h"
#include "viz/cells-raster.h"
#include "viz/format.h"

#define MAX_NAMED 8
#define SHARED_COLOR 0x9DB5B2

static const KvasirSeqShot *
find_seq_shot (const KvasirCellsShot *cells, guint seq)
{
  for (guint i = 0; i < cells->n_seqs; i++)
    if (cells->seqs[i].seq == (gint) seq)
      return &cells->seqs[i];
  return NULL;
}

char *
kvasir_cells_view_dup_name (const KvasirCellsView *self, guint seq)
{
  const KvasirView *view = &self->base;
  const KvasirSeqShot *shot = find_seq_shot (view->data.cells, seq);
  if (shot != NULL && shot->parent >= 0)
    return g_strdup_printf (_ ("branch of %s"), kvasir_palette_get_letter ((guint) shot->parent).s);
  if (shot == NULL || shot->chat_id == 0)
    return g_strdup (_ ("sequence"));
  char *name =
      view->chat_name != NULL ? view->chat_name (shot->chat_id, view->chat_name_data) : NULL;
  return name != NULL ? name : g_strdup (_ ("chat"));
}

/* ---- counts */

typedef struct
{
  guint run_starts;
  guint outside;
  guint just_written;
  guint shift_pending;
} Marks;

static Marks
count_marks (const KvasirHoldings *holdings, guint32 step)
{
  const KvasirCacheShot *cache = holdings->cache;
  Marks marks = { .run_starts = cache->n_spans };
  for (guint i = 0; i < cache->n_spans; i++)
    {
      const KvasirSpan *span = &cache->spans[i];
      marks.shift_pending += span->shift != 0 ? span->n : 0;
      marks.outside += kvasir_cells_count_outside (holdings, span);
    }
  for (guint stream = 0; stream < cache->n_streams; stream++)
    for (guint cell = 0; cell < cache->size; cell++)
      marks.just_written += kvasir_cells_is_just_written (cache, stream, cell, step) &&
                            cache->tokens[(gsize) stream * cache->size + cell] >= 0;
  return marks;
}

static void
add_sequences (KvasirCellsView *self, const KvasirHoldings *holdings)
{
  guint rest = 0;
  guint n_named = holdings->n_seqs > MAX_NAMED ? MAX_NAMED - 1 : holdings->n_seqs;
  for (guint i = 0; i < holdings->n_seqs; i++)
    {
      const KvasirHolding *holding = &holdings->seqs[i];
      KvasirThing thing = { KVASIR_THING_SEQUENCE, .seq = (gint) holding->seq };
      g_autofree char *name = kvasir_cells_view_dup_name (self, holding->seq);
      if (i < n_named)
        kvasir_legend_add (self->legend, KVASIR_SWATCH_LETTER, 0, &thing, name,
                           kvasir_format_count (holding->n_own).s);
      else
        rest += holding->n_own;
    }
  if (n_named < holdings->n_seqs)
    {
      g_autofree char *name = g_strdup_printf (_ ("%u more sequences"), holdings->n_seqs - n_named);
      kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, 0x8E8E8E, NULL, name,
                         kvasir_format_count (rest).s);
    }
}

static void
add_counts (KvasirCellsView *self, const KvasirHoldings *holdings)
{
  const KvasirThing shared = { KVASIR_THING_SHARED };
  const KvasirThing free = { KVASIR_THING_FREE };
  add_sequences (self, holdings);
  if (holdings->n_shared > 0)
    kvasir_legend_add (self->legend, KVASIR_SWATCH_STIPPLE, SHARED_COLOR, &shared,
                       _ ("shared by 2+"), kvasir_format_count (holdings->n_shared).s);
  kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, KVASIR_RGB_SWATCH, &free, _ ("free"),
                     kvasir_format_count (holdings->n_cells - holdings->n_used).s);
  kvasir_legend_add_total (self->legend,
                           holdings->cache->is_recurrent ? _ ("all states") : _ ("all cells"),
                           kvasir_format_count (holdings->n_cells).s);
}

static void
add_mark (KvasirCellsView *self, KvasirSwatch swatch, const char *name, guint n)
{
  kvasir_legend_add (self->legend, swatch, kvasir_palette_get_sequence (0), NULL, name,
                     kvasir_format_count (n).s);
}

/* Of all caches together; a state is no run. */
static Marks
sum_marks (const KvasirCellsView *self)
{
  Marks sum = { 0 };
  for (guint i = 0; i < self->n_holdings; i++)
    {
      Marks marks = count_marks (self->holdings[i], self->base.data.step);
      sum.run_starts += self->holdings[i]->cache->is_recurrent ? 0 : marks.run_starts;
      sum.outside += marks.outside;
      sum.just_written += marks.just_written;
      sum.shift_pending += marks.shift_pending;
    }
  return sum;
}

static void
add_marks (KvasirCellsView *self)
{
  Marks marks = sum_marks (self);
  g_autofree char *written =
      g_strdup_printf (_ ("written, last %u steps"), KVASIR_JUST_WRITTEN_STEPS);
  kvasir_legend_add_head (self->legend,
                          self->n_holdings > 1 ? _ ("marks, all caches") : _ ("marks"));
  if (!self->holdings[0]->cache->is_recurrent)
    add_mark (self, KVASIR_SWATCH_NOTCH, _ ("start of a run"), marks.run_starts);
  add_mark (self, KVASIR_SWATCH_RING, written, marks.just_written);
  if (marks.outside > 0)
    add_mark (self, KVASIR_SWATCH_HATCH, _ ("outside the window"), marks.outside);
  if (marks.shift_pending > 0)
    add_mark (self, KVASIR_SWATCH_CORNER, _ ("shift pending"), marks.shift_pending);
}

void
kvasir_cells_view_fill_legend (KvasirCellsView *self, KvasirRect column)
{
  kvasir_legend_begin (self->legend, column.x, column.y, column.w,
                       kvasir_view_units (&self->base, 1));
  for (guint i = 0; i < self->n_holdings; i++)
    {
      g_autofree char *head =
          self->n_holdings > 1 ? g_strdup_printf (_ ("legend · %s"), self->holdings[i]->cache->name)
                               : g_strdup (_ ("legend"));
      kvasir_legend_add_head (self->legend, head);
      add_counts (self, self->holdings[i]);
    }
  if (self->memory != NULL)
    {
      kvasir_legend_add_head (self->legend, _ ("memory by buffer type"));
      self->memory_rect =
          kvasir_legend_add_space (self->legend, kvasir_cells_view_measure_memory (self));
    }
  add_marks (self);
}

/* ---- memory */

/* K and V of one half are one thing here. */
static const struct
{
  const char *name;
  KvasirMemoryKind kinds[2];
} groups[] = {
  { N_ ("weights"), { KVASIR_KIND_WEIGHTS, KVASIR_N_KINDS } },
  { N_ ("KV cache K+V"), { KVASIR_KIND_KV_K, KVASIR_KIND_KV_V } },
  { N_ ("sliding K+V"), { KVASIR_KIND_SWA_K, KVASIR_KIND_SWA_V } },
  { N_ ("recurrent state"), { KVASIR_KIND_RECURRENT, KVASIR_N_KINDS } },
  { N_ ("compute"), { KVASIR_KIND_COMPUTE, KVASIR_N_KINDS } },
  { N_ ("output"), { KVASIR_KIND_OUTPUT, KVASIR_N_KINDS } },
  { N_ ("checkpoints"), { KVASIR_KIND_CHECKPOINTS, KVASIR_N_KINDS } },
  { N_ ("guessing model"), { KVASIR_KIND_GUESSING, KVASIR_N_KINDS } },
};

static guint64
get_group (const guint64 kinds[KVASIR_N_KINDS], guint group)
{
  guint64 bytes = 0;
  for (guint i = 0; i < 2; i++)
    if (groups[group].kinds[i] < KVASIR_N_KINDS)
      bytes += kinds[groups[group].kinds[i]];
  return bytes;
}

double
kvasir_cells_view_measure_memory (const KvasirCellsView *self)
{
  guint n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    n += get_group (self->memory->measured, i) > 0;
  return kvasir_view_units (&self->base, self->memory->n_types * 38 + n * 19 + 4);
}

static void
draw_type (KvasirCellsView *self,
           KvasirCanvas *canvas,
           const KvasirBufferTypeSum *type,
           double y,
           guint64 widest)
{
  KvasirRect column = self->memory_rect;
  double unit = kvasir_canvas_get_unit (canvas);
  double x = column.x;
  KvasirRect track = { column.x, y + 18 * unit, column.w, 12 * unit };
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO, KVASIR_RGB_LABEL);
  double size = kvasir_canvas_text_right (canvas, column.x + column.w, y + 8 * unit,
                                          kvasir_format_size (type->total).s);
  kvasir_canvas_text_clipped (canvas, column.x, y + 8 * unit, column.w - size - 8, type->name);
  kvasir_canvas_fill (canvas, KVASIR_RGB_SWATCH, track);
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    {
      double width = (double) get_group (type->kinds, i) / (double) widest * column.w;
      KvasirRect bar = { x, track.y, width, track.h };
      kvasir_canvas_fill (canvas, kvasir_palette_get_kind (groups[i].kinds[0]), bar);
      if (type->mapped)
        kvasir_canvas_pattern (canvas, KVASIR_PATTERN_HATCH, KVASIR_RGB_CANVAS, 0.35, bar);
      x += width;
    }
}

static void
draw_group (KvasirCellsView *self, KvasirCanvas *canvas, guint group, double y)
{
  KvasirRect column = self->memory_rect;
  double unit = kvasir_canvas_get_unit (canvas);
  KvasirRect swatch = { column.x, y - 5 * unit, 10 * unit, 10 * unit };
  kvasir_canvas_fill_round (canvas, kvasir_palette_get_kind (groups[group].kinds[0]), swatch, 2);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO, KVASIR_RGB_LABEL);
  double size =
      kvasir_canvas_text_right (canvas, column.x + column.w, y,
                                kvasir_format_size (get_group (self->memory->measured, group)).s);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, column.x + 18 * unit, y, column.w - size - 26 * unit,
                              _ (groups[group].name));
}

void
kvasir_cells_view_draw_memory (KvasirCellsView *self, KvasirCanvas *canvas)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double y = self->memory_rect.y;
  guint64 widest = 1;
  for (guint i = 0; i < self->memory->n_types; i++)
    widest = MAX (widest, self->memory->types[i].total);
  for (guint i = 0; i < self->memory->n_types; i++)
    {
      draw_type (self, canvas, &self->memory->types[i], y, widest);
      y += 38 * unit;
    }
  y += 9 * unit;
  for (guint i = 0; i < G_N_ELEMENTS (groups); i++)
    if (get_group (self->memory->measured, i) > 0)
      {
        draw_group (self, canvas, i, y);
        y += 19 * unit;
      }
}
