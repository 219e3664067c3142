/* The Mask view: geometry, hit tests, cursor and the column of counts. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/mask-private.h"

#define MARGIN 14
#define HEAD_HEIGHT 26
#define LABEL_WIDTH 138
#define MAX_ROW_HEIGHT 18
#define MIN_WATERFALL 64
#define MAX_WATERFALL 256
#define MAX_OTHERS 4

static KvasirMaskView *
mask_view (KvasirView *view)
{
  return (KvasirMaskView *) view;
}

static void
mask_view_free (KvasirView *view)
{
  kvasir_mask_model_free (mask_view (view)->model);
  kvasir_legend_free (mask_view (view)->legend);
}

guint
kvasir_mask_view_get_row (const KvasirMaskView *self)
{
  guint last = self->base.data.mask->n_rows - 1;
  return self->base.focus.kind == KVASIR_THING_MASK ? MIN (self->base.focus.row, last) : last;
}

double
kvasir_mask_view_get_x (const KvasirMaskView *self, double cell)
{
  return self->plot.x + cell / self->base.data.mask->n_kv * self->plot.w;
}

double
kvasir_mask_view_get_row_y (const KvasirMaskView *self, guint row)
{
  return self->plot.y + row * (double) self->row_px / self->base.scale;
}

/* ---- the column of counts */

static void
add_others (KvasirMaskView *self, const KvasirMaskCounts *counts)
{
  guint n = 0;
  guint rest = counts->reasons[KVASIR_MASK_OTHER_SEQUENCE];
  for (guint seq = 0; seq < KVASIR_MAX_SEQS && n < MAX_OTHERS; seq++)
    {
      if (counts->others[seq] == 0)
        continue;
      KvasirRgb rgb =
          kvasir_palette_mix (KVASIR_RGB_CANVAS, kvasir_palette_get_sequence (seq), 0.35);
      g_autofree char *name =
          g_strdup_printf (_ ("other sequence (%s)"), kvasir_palette_get_letter (seq).s);
      kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, rgb, NULL, name,
                         kvasir_format_count (counts->others[seq]).s);
      rest -= counts->others[seq];
      n++;
    }
  if (n == 0 || rest > 0)
    kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, 0x333333, NULL,
                       n == 0 ? _ ("other sequence") : _ ("further sequences"),
                       kvasir_format_count (rest).s);
}

static void
add_reason (KvasirMaskView *self,
            const KvasirMaskCounts *counts,
            KvasirMaskReason reason,
            KvasirSwatch swatch,
            KvasirRgb rgb)
{
  kvasir_legend_add (self->legend, swatch, rgb, NULL, kvasir_mask_model_get_reason_label (reason),
                     kvasir_format_count (counts->reasons[reason]).s);
}

static void
add_row_counts (KvasirMaskView *self)
{
  guint row = kvasir_mask_view_get_row (self);
  const KvasirMaskShot *shot = self->base.data.mask;
  KvasirMaskCounts counts;
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree char *text = kvasir_view_dup_token_text (&self->base, shot->row_tokens[row]);
  g_autofree char *head = g_strdup_printf (_ ("Row \"%s\""), g_strstrip (text));
  kvasir_mask_model_count_row (self->model, row, &counts);
  kvasir_palette_append_letters (name, &shot->row_seqs[row], " ", 3);
  g_string_append_printf (name, _ (" %s · counts of %s cells"),
                          kvasir_format_count (shot->row_pos[row]).s,
                          kvasir_format_count (shot->n_kv).s);
  kvasir_legend_add_head (self->legend, head);
  kvasir_legend_add_note (self->legend, name->str);
  add_reason (self, &counts, KVASIR_MASK_OPEN, KVASIR_SWATCH_PLAIN, KVASIR_RGB_OPEN);
  add_reason (self, &counts, KVASIR_MASK_EMPTY, KVASIR_SWATCH_PLAIN, KVASIR_RGB_CANVAS);
  add_others (self, &counts);
  add_reason (self, &counts, KVASIR_MASK_FUTURE, KVASIR_SWATCH_HATCH_UP, KVASIR_RGB_FUTURE);
  if (shot->n_swa > 0)
    add_reason (self, &counts, KVASIR_MASK_OUTSIDE_WINDOW, KVASIR_SWATCH_HATCH, 0x4F7E9E);
  add_reason (self, &counts, KVASIR_MASK_PADDING, KVASIR_SWATCH_DOTS, KVASIR_RGB_CANVAS);
  kvasir_legend_add_total (self->legend, _ ("all cells"), kvasir_format_count (shot->n_kv).s);
}

void
kvasir_mask_view_fill_legend (KvasirMaskView *self, KvasirRect column)
{
  const guint *blocks = self->model->n_blocks;
  double unit = kvasir_view_units (&self->base, 1);
  g_autofree char *size =
      g_strdup_printf (_ ("%u rows × %u cells"), KVASIR_MASK_BLOCK_ROWS, KVASIR_MASK_BLOCK_CELLS);
  kvasir_legend_begin (self->legend, column.x, column.y, column.w, unit);
  add_row_counts (self);
  kvasir_legend_add_head (self->legend, _ ("Block classes"));
  kvasir_legend_add_note (self->legend, size);
  kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, KVASIR_RGB_CANVAS, NULL, _ ("closed"),
                     kvasir_format_count (blocks[KVASIR_BLOCK_CLOSED]).s);
  kvasir_legend_add (self->legend, KVASIR_SWATCH_PLAIN, KVASIR_RGB_OPEN, NULL, _ ("open"),
                     kvasir_format_count (blocks[KVASIR_BLOCK_OPEN]).s);
  kvasir_legend_add (self->legend, KVASIR_SWATCH_DOTTED_FRAME, KVASIR_RGB_HORIZON, NULL,
                     _ ("mixed"), kvasir_format_count (blocks[KVASIR_BLOCK_MIXED]).s);
  kvasir_legend_add_total (
      self->legend, _ ("all blocks"),
      kvasir_format_count ((gint64) self->model->n_block_rows * self->model->n_block_columns).s);
  kvasir_legend_add_space (self->legend, 8 * unit);
  self->skipped = kvasir_legend_add_space (self->legend, 46 * unit);
}

/* ---- layout */

/* Rows of whole device pixels, one at least: a row is never left out. */
static void
place_plot (KvasirMaskView *self, double left, double right)
{
  KvasirView *view = &self->base;
  double unit = kvasir_view_units (view, 1);
  guint n_rows = view->data.mask->n_rows;
  guint n_waterfall = view->data.mask->n_waterfall;
  double top = (HEAD_HEIGHT + 44) * unit;
  double under = n_waterfall > 0 ? (HEAD_HEIGHT + 40) * unit : MARGIN;
  double waterfall = n_waterfall > 0 ? CLAMP (view->height * 0.2, MIN_WATERFALL, MAX_WATERFALL) : 0;
  view->min_height = MAX (view->min_height, top + n_rows / view->scale + under + waterfall);
  double height = MAX (view->height, view->min_height);
  double space = height - top - under - waterfall;
  self->row_px = CLAMP ((gint) (space * view->scale / n_rows), 1,
                        (gint) (MAX_ROW_HEIGHT * unit * view->scale));
  self->bracket_y = (HEAD_HEIGHT + 8) * unit;
  self->axis_y = (HEAD_HEIGHT + 28) * unit;
  self->plot = (KvasirRect){ left, round (top), right - left, n_rows * self->row_px / view->scale };
  double y = self->plot.y + self->plot.h + HEAD_HEIGHT * unit + MARGIN;
  double rest = height - y - 22 * unit;
  self->step_px = 1;
  self->n_steps = MIN (n_waterfall, (guint) MAX (rest * view->scale, 0));
  if (self->n_steps > 0)
    self->step_px =
        CLAMP ((gint) (rest * view->scale / self->n_steps), 1, (gint) (4 * view->scale));
  self->waterfall =
      (KvasirRect){ left, round (y), right - left, self->n_steps * self->step_px / view->scale };
}

static void
mask_view_layout (KvasirView *view)
{
  KvasirMaskView *self = mask_view (view);
  double unit = kvasir_view_units (view, 1);
  const KvasirMaskShot *shot = view->data.mask;
  g_clear_pointer (&self->model, kvasir_mask_model_free);
  if (shot == NULL || shot->n_rows == 0 || shot->n_kv == 0)
    return;
  view->has_data = TRUE;
  self->model = kvasir_mask_model_new (shot);
  double labels = MIN (LABEL_WIDTH * unit, view->width * 0.25);
  if (view->width >= 520 * unit)
    {
      double column = CLAMP (view->width * 0.2, 176 * unit, 210 * unit);
      double x = view->width - MARGIN - column;
      kvasir_mask_view_fill_legend (self, (KvasirRect){ x, MARGIN / 2.0, column, 0 });
      view->min_height = kvasir_legend_get_end (self->legend) + MARGIN;
      place_plot (self, MARGIN + labels, x - 20);
      return;
    }
  place_plot (self, MARGIN + labels, view->width - MARGIN);
  double below = MAX (view->height, view->min_height) + MARGIN;
  kvasir_mask_view_fill_legend (self, (KvasirRect){ MARGIN, below, view->width - 2 * MARGIN, 0 });
  view->min_height = kvasir_legend_get_end (self->legend) + MARGIN;
}

/* ---- points and cursor */

static guint
get_cell (const KvasirMaskView *self, double x)
{
  guint n_kv = self->base.data.mask->n_kv;
  return MIN ((guint) ((x - self->plot.x) / self->plot.w * n_kv), n_kv - 1);
}

static gboolean
mask_view_hit (KvasirView *view, double x, double y, KvasirThing *thing)
{
  KvasirMaskView *self = mask_view (view);
  /* The labels at the left belong to their rows. */
  KvasirRect rows = { MARGIN, self->plot.y, self->plot.x + self->plot.w - MARGIN, self->plot.h };
  if (kvasir_rect_has (&rows, x, y))
    {
      guint row = (guint) ((y - self->plot.y) * view->scale) / (guint) self->row_px;
      *thing = (KvasirThing){ KVASIR_THING_MASK, .row = MIN (row, view->data.mask->n_rows - 1),
                              .cell = get_cell (self, MAX (x, self->plot.x)) };
      return TRUE;
    }
  if (!kvasir_rect_has (&self->waterfall, x, y))
    return FALSE;
  guint step = (guint) ((y - self->waterfall.y) * view->scale) / (guint) self->step_px;
  *thing = (KvasirThing){ KVASIR_THING_DECODE,
                          .row = view->data.mask->n_waterfall - self->n_steps + step,
                          .cell = get_cell (self, x) };
  return TRUE;
}

static gboolean
mask_view_move (KvasirView *view, KvasirThing *thing, KvasirMove move)
{
  const KvasirMaskShot *shot = view->data.mask;
  static const gint steps[][2] = {
    [KVASIR_MOVE_LEFT] = { 0, -1 },
    [KVASIR_MOVE_RIGHT] = { 0, 1 },
    [KVASIR_MOVE_UP] = { -1, 0 },
    [KVASIR_MOVE_DOWN] = { 1, 0 },
    [KVASIR_MOVE_PAGE_UP] = { -16, 0 },
    [KVASIR_MOVE_PAGE_DOWN] = { 16, 0 },
    [KVASIR_MOVE_FIRST] = { 0, -(1 << 28) },
    [KVASIR_MOVE_LAST] = { 0, 1 << 28 },
  };
  if (thing->kind != KVASIR_THING_MASK)
    {
      guint cell = thing->kind == KVASIR_THING_CELL ? MIN (thing->cell, shot->n_kv - 1) : 0;
      *thing = (KvasirThing){ KVASIR_THING_MASK, .row = shot->n_rows - 1, .cell = cell };
      return TRUE;
    }
  thing->row = (guint) CLAMP ((gint) thing->row + steps[move][0], 0, (gint) shot->n_rows - 1);
  thing->cell = (guint) CLAMP ((gint) thing->cell + steps[move][1], 0, (gint) shot->n_kv - 1);
  return TRUE;
}

static gboolean
mask_view_translate (KvasirView *view, const KvasirThing *thing, KvasirThing *translated)
{
  const KvasirMaskShot *shot = view->data.mask;
  *translated = *thing;
  if (thing->kind == KVASIR_THING_MASK)
    return thing->row < shot->n_rows && thing->cell < shot->n_kv;
  if (thing->kind == KVASIR_THING_DECODE)
    return thing->row < shot->n_waterfall;
  if (thing->kind != KVASIR_THING_CELL || thing->cache != 0 || thing->cell >= shot->n_kv)
    return FALSE;
  *translated = (KvasirThing){ KVASIR_THING_MASK, .row = shot->n_rows - 1, .cell = thing->cell };
  return TRUE;
}

static gboolean
mask_view_can_focus (const KvasirThing *thing)
{
  return thing->kind == KVASIR_THING_MASK;
}

static const KvasirViewClass mask_view_class = {
  .needs = KVASIR_VIEW_MASK,
  .free = mask_view_free,
  .layout = mask_view_layout,
  .draw = kvasir_mask_view_draw,
  .hit = mask_view_hit,
  .draw_mark = kvasir_mask_view_draw_mark,
  .move = mask_view_move,
  .translate = mask_view_translate,
  .describe = kvasir_mask_view_describe,
  .append_text = kvasir_mask_view_append_text,
  .can_focus = mask_view_can_focus,
};

KvasirView *
kvasir_mask_view_new (void)
{
  KvasirMaskView *self = g_new0 (KvasirMaskView, 1);
  kvasir_view_init (&self->base, &mask_view_class);
  self->legend = kvasir_legend_new ();
  return &self->base;
}
