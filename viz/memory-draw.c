/* The Memory view: painting of its boxes and the table, and its words. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/memory-private.h"

static void
draw_part (KvasirMemoryView *self, KvasirCanvas *canvas, const KvasirMemoryPart *part)
{
  double left = round (part->rect.x);
  double right = round (part->rect.x + part->rect.w);
  /* Neighbours are told apart by a gap, as long as there is room for one. */
  double gap = right - left >= 4 ? 1 : 0;
  KvasirRect rect = { left, round (part->rect.y), MAX (right - left - gap, 1),
                      round (part->rect.h) };
  kvasir_canvas_fill (canvas, part->rgb, rect);
  if (part->pattern >= 0)
    kvasir_canvas_pattern (canvas, (KvasirPattern) part->pattern, KVASIR_RGB_CANVAS, 0.3, rect);
  if (part->label == NULL || rect.h < 12)
    return;
  double width = kvasir_canvas_measure (canvas, KVASIR_STYLE_STRONG, part->label);
  if (width + 6 > rect.w)
    return;
  if (part->pattern >= 0)
    kvasir_canvas_fill_round (canvas, part->rgb,
                              (KvasirRect){ rect.x + (rect.w - width) / 2 - 4,
                                            rect.y + rect.h / 2 - 8 * self->unit, width + 8,
                                            16 * self->unit },
                              3);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, kvasir_palette_get_ink (part->rgb));
  kvasir_canvas_text_middle (canvas, rect.x + rect.w / 2, rect.y + rect.h / 2, part->label);
}

static void
draw_text (KvasirMemoryView *self, KvasirCanvas *canvas, const KvasirMemoryText *text)
{
  kvasir_canvas_set_pen (canvas, text->style, text->rgb);
  if (text->align < 0)
    kvasir_canvas_text_clipped (canvas, text->x, text->y, self->base.width - text->x - 8,
                                text->text);
  else if (text->align > 0)
    kvasir_canvas_text_right (canvas, text->x, text->y, text->text);
  else
    kvasir_canvas_text_middle (canvas, text->x, text->y, text->text);
}

/* ---- planned and measured */

typedef struct
{
  KvasirMemoryView *self;
  KvasirCanvas *canvas;
  double y;
  KvasirTextStyle style;
} Table;

/* @unplanned: of @measured, what comes and goes while the model works: no error of the plan. */
static void
draw_table_line (
    Table *table, const char *name, guint64 planned, guint64 measured, guint64 unplanned)
{
  KvasirRect rect = table->self->table;
  double unit = table->self->unit;
  KvasirFormatted error = kvasir_format_mib_difference (planned, measured - unplanned);
  gboolean same = g_strcmp0 (error.s, "0.0") == 0;
  kvasir_canvas_set_pen (table->canvas, table->style, KVASIR_RGB_TEXT);
  kvasir_canvas_text_right (table->canvas, rect.x + rect.w - 140 * unit, table->y,
                            kvasir_format_mib (planned).s);
  kvasir_canvas_text_right (table->canvas, rect.x + rect.w - 62 * unit, table->y,
                            kvasir_format_mib (measured).s);
  kvasir_canvas_set_pen (table->canvas, table->style, same ? KVASIR_RGB_DIM : KVASIR_RGB_WARN);
  kvasir_canvas_text_right (table->canvas, rect.x + rect.w, table->y, error.s);
  kvasir_canvas_set_pen (
      table->canvas, table->style == KVASIR_STYLE_MONO ? KVASIR_STYLE_NOTE : KVASIR_STYLE_STRONG,
      KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (table->canvas, rect.x + 20 * unit, table->y, rect.w - 220 * unit,
                              name);
  table->y += 21 * unit;
}

/* Checkpoints come while a model is used, and so does one that guesses. */
static gboolean
is_planned (guint kind)
{
  return kind != KVASIR_KIND_CHECKPOINTS && kind != KVASIR_KIND_GUESSING;
}

static void
draw_table (KvasirMemoryView *self, KvasirCanvas *canvas)
{
  Table table = { self, canvas, self->table.y + 10 * self->unit, KVASIR_STYLE_MONO };
  KvasirRect rect = self->table;
  double unit = self->unit;
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, rect.x, table.y, rect.w - 210 * unit,
                              _ ("Planned and measured"));
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
  kvasir_canvas_text_right (canvas, rect.x + rect.w - 140 * unit, table.y, _ ("planned"));
  kvasir_canvas_text_right (canvas, rect.x + rect.w - 62 * unit, table.y, _ ("measured"));
  kvasir_canvas_text_right (canvas, rect.x + rect.w, table.y, _ ("error"));
  table.y += 22 * unit;
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    {
      if (self->sums->measured[kind] == 0 && self->sums->planned[kind] == 0)
        continue;
      KvasirRect swatch = { rect.x, round (table.y - 5 * unit), 11 * unit, 11 * unit };
      kvasir_canvas_fill_round (canvas, kvasir_palette_get_kind (kind), swatch, 2);
      draw_table_line (&table, kvasir_memory_sums_get_kind_label (kind), self->sums->planned[kind],
                       self->sums->measured[kind],
                       is_planned (kind) ? 0 : self->sums->measured[kind]);
    }
  kvasir_canvas_fill (canvas, KVASIR_RGB_RULE,
                      (KvasirRect){ rect.x, round (table.y - 9 * unit), rect.w, 2 });
  table.y += 4 * unit;
  table.style = KVASIR_STYLE_MONO_STRONG;
  draw_table_line (&table, _ ("all, MiB"), self->sums->total_planned, self->sums->total,
                   self->sums->measured[KVASIR_KIND_CHECKPOINTS] +
                       self->sums->measured[KVASIR_KIND_GUESSING]);
}

void
kvasir_memory_view_draw (KvasirView *view, KvasirCanvas *canvas)
{
  KvasirMemoryView *self = (KvasirMemoryView *) view;
  for (guint i = 0; i < self->parts->len; i++)
    draw_part (self, canvas, &g_array_index (self->parts, KvasirMemoryPart, i));
  for (guint i = 0; i < self->texts->len; i++)
    draw_text (self, canvas, &g_array_index (self->texts, KvasirMemoryText, i));
  draw_table (self, canvas);
  kvasir_legend_draw (self->facts, canvas);
}

/* ---- words */

void
kvasir_memory_view_describe (KvasirView *view, const KvasirThing *thing, GString *out)
{
  KvasirMemoryView *self = (KvasirMemoryView *) view;
  const KvasirMemoryShot *shot = view->data.memory;
  if (thing == NULL)
    {
      g_string_append_printf (
          out, _ ("%s in %u buffer types · planned %s · KV cache %s, of it live %s\n"),
          kvasir_format_size (self->sums->total).s, self->sums->n_types,
          kvasir_format_size (self->sums->total_planned).s,
          kvasir_format_size (self->sums->kv_bytes).s, kvasir_format_size (shot->live_bytes).s);
      g_string_append (out, _ ("point at a box for what it holds, click to keep it\n"));
    }
  else if (thing->kind == KVASIR_THING_BYTES && thing->index < self->parts->len)
    {
      guint64 total = self->sums->total;
      g_string_append (out, g_array_index (self->parts, KvasirMemoryPart, thing->index).text);
      g_string_append_printf (out, _ ("all buffers together: %s\n"), kvasir_format_size (total).s);
    }
}

void
kvasir_memory_view_append_text (KvasirView *view, GString *out)
{
  KvasirMemoryView *self = (KvasirMemoryView *) view;
  const KvasirMemoryShot *shot = view->data.memory;
  kvasir_memory_view_describe (view, NULL, out);
  g_string_append_c (out, '\n');
  for (guint i = 0; i < self->parts->len; i++)
    g_string_append (out, g_array_index (self->parts, KvasirMemoryPart, i).text);
  g_string_append (out, _ ("\nplanned and measured, MiB\n"));
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    if (self->sums->measured[kind] > 0 || self->sums->planned[kind] > 0)
      g_string_append_printf (out, "%s: %s, %s\n", kvasir_memory_sums_get_kind_label (kind),
                              kvasir_format_mib (self->sums->planned[kind]).s,
                              kvasir_format_mib (self->sums->measured[kind]).s);
  g_string_append_printf (out, _ ("all: %s, %s\n"), kvasir_format_mib (self->sums->total_planned).s,
                          kvasir_format_mib (self->sums->total).s);
  g_string_append_printf (out, _ ("this process holds %s in memory\n"),
                          kvasir_format_size (shot->process_resident_bytes).s);
}
