/* The Mask view: geometry, hit tests, cursor and the column of counts. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/mask-private.h"

/* Of the panels, where the legend is below them and the page may scroll. */
#define NARROW_HEIGHT 420
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
clear_panels (KvasirMaskView *self)
{
  for (guint i = 0; i < self->n_panels; i++)
    kvasir_mask_model_free (self->panels[i].model);
  g_clear_pointer (&self->panels, g_free);
  self->n_panels = 0;
}

static void
mask_view_free (KvasirView *view)
{
  clear_panels (mask_view (view));
  kvasir_legend_free (mask_view (view)->legend);
}

KvasirMaskPanel *
kvasir_mask_view_find_panel (const KvasirMaskView *self, const KvasirThing *thing)
{
  for (guint i = 0; i < self->n_panels; i++)
    if (self->panels[i].shot->cache == thing->cache &&
        self->panels[i].shot->stream == thing->stream)
      return &self->panels[i];
  return NULL;
}

KvasirMaskPanel *
kvasir_mask_view_get_panel (const KvasirMaskView *self)
{
  KvasirMaskPanel *focus = self->base.focus.kind == KVASIR_THING_MASK
                               ? kvasir_mask_view_find_panel (self, &self->base.focus)
                               : NULL;
  return focus != NULL ? focus : &self->panels[0];
}

guint
kvasir_mask_panel_get_row (const KvasirMaskPanel *self)
{
  const KvasirThing *focus = &self->view->base.focus;
  guint last = self->shot->n_rows - 1;
  return focus->kind == KVASIR_THING_MASK ? MIN (focus->row, last) : last;
}

double
kvasir_mask_panel_get_x (const KvasirMaskPanel *self, double cell)
{
  return self->plot.x + cell / self->shot->n_kv * self->plot.w;
}

double
kvasir_mask_panel_get_row_y (const KvasirMaskPanel *self, guint row)
{
  return self->plot.y + row * (double) self->row_px / self->view->base.scale;
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
add_row_counts (KvasirMaskView *self, const KvasirMaskPanel *panel)
{
  guint row = kvasir_mask_panel_get_row (panel);
  const KvasirMaskShot *shot = panel->shot;
  KvasirMaskCounts counts;
  g_autoptr (GString) name = g_string_new (NULL);
  g_autofree char *text = kvasir_view_dup_token_text (&self->base, shot->row_tokens[row]);
  g_autofree char *head = g_strdup_printf (_ ("Row \"%s\""), g_strstrip (text));
  kvasir_mask_model_count_row (panel->model, row, &counts);
  kvasir_palette_append_letters (name, &shot->row_seqs[row], " ", 3);
  g_string_append_printf (name, _ (" %s · counts of %s cells"),
                          kvasir_format_count (shot->row_pos[row]).s,
                          kvasir_format_count (shot->n_kv).s);
  kvasir_legend_add_head (self->legend, head);
  if (self->n_panels > 1)
    {
      g_string_append (name, _ (" of "));
      g_string_append (name, shot->cache_name);
    }
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
  const KvasirMaskPanel *panel = kvasir_mask_view_get_panel (self);
  const guint *blocks = panel->model->n_blocks;
  double unit = kvasir_view_units (&self->base, 1);
  g_autofree char *size =
      g_strdup_printf (_ ("%u rows × %u cells"), KVASIR_MASK_BLOCK_ROWS, KVASIR_MASK_BLOCK_CELLS);
  kvasir_legend_begin (self->legend, column.x, column.y, column.w, unit);
  add_row_counts (self, panel);
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
      kvasir_format_count ((gint64) panel->model->n_block_rows * panel->model->n_block_columns).s);
  kvasir_legend_add_space (self->legend, 8 * unit);
  self->skipped = kvasir_legend_add_space (self->legend, 46 * unit);
}

/* ---- layout */

static double
get_top (const KvasirMaskView *self)
{
  return (HEAD_HEIGHT + 44) * kvasir_view_units (&self->base, 1);
}

static double
get_under (const KvasirMaskPanel *self)
{
  return self->shot->n_waterfall > 0 ? (HEAD_HEIGHT + 40) * kvasir_view_units (&self->view->base, 1)
                                     : MARGIN;
}

/* What a panel shares of the page's height goes to the waterfall first. */
static double
get_waterfall_height (const KvasirMaskPanel *self)
{
  double space = self->view->base.height * 0.2 / self->view->n_panels;
  return self->shot->n_waterfall > 0 ? CLAMP (space, MIN_WATERFALL, MAX_WATERFALL) : 0;
}

static double
get_min_panel_height (const KvasirMaskPanel *self)
{
  double waterfall = self->shot->n_waterfall > 0 ? MIN_WATERFALL : 0;
  return get_top (self->view) + self->shot->n_rows / self->view->base.scale + get_under (self) +
         waterfall;
}

/* Rows of whole device pixels, one at least: a row is never left out. */
static void
place_panel (KvasirMaskPanel *self, KvasirRect space)
{
  double scale = self->view->base.scale;
  double unit = kvasir_view_units (&self->view->base, 1);
  guint n_rows = self->shot->n_rows;
  double rows = space.h - get_top (self->view) - get_under (self) - get_waterfall_height (self);
  self->row_px = CLAMP ((gint) (rows * scale / n_rows), 1, (gint) (MAX_ROW_HEIGHT * unit * scale));
  self->head_y = space.y + 14 * unit;
  self->bracket_y = space.y + (HEAD_HEIGHT + 8) * unit;
  self->axis_y = space.y + (HEAD_HEIGHT + 28) * unit;
  self->plot = (KvasirRect){ space.x, round (space.y + get_top (self->view)), space.w,
                             n_rows * self->row_px / scale };
  double y = self->plot.y + self->plot.h + HEAD_HEIGHT * unit + MARGIN;
  double rest = space.y + space.h - y - 22 * unit;
  self->step_px = 1;
  self->n_steps = MIN (self->shot->n_waterfall, (guint) MAX (rest * scale, 0));
  if (self->n_steps > 0)
    self->step_px = CLAMP ((gint) (rest * scale / self->n_steps), 1, (gint) (4 * scale));
  self->waterfall =
      (KvasirRect){ space.x, round (y), space.w, self->n_steps * self->step_px / scale };
}

static double
get_min_panels_height (const KvasirMaskView *self)
{
  double height = 0;
  for (guint i = 0; i < self->n_panels; i++)
    height += get_min_panel_height (&self->panels[i]);
  return height;
}

/* What is left above the least heights is shared evenly. */
static void
place_panels (KvasirMaskView *self, double left, double right, double space)
{
  double needed = get_min_panels_height (self), y = 0;
  double extra = MAX (space - needed, 0) / self->n_panels;
  for (guint i = 0; i < self->n_panels; i++)
    {
      double height = get_min_panel_height (&self->panels[i]) + extra;
      place_panel (&self->panels[i], (KvasirRect){ left, y, right - left, height });
      y += height;
    }
}

static void
make_panels (KvasirMaskView *self)
{
  guint n = 0;
  for (const KvasirMaskShot *shot = self->base.data.mask; shot != NULL; shot = shot->next)
    n++;
  self->panels = g_new0 (KvasirMaskPanel, n + 1);
  for (const KvasirMaskShot *shot = self->base.data.mask; shot != NULL; shot = shot->next)
    if (shot->n_rows > 0 && shot->n_kv > 0)
      self->panels[self->n_panels++] =
          (KvasirMaskPanel){ .view = self, .shot = shot, .model = kvasir_mask_model_new (shot) };
}

/* No room beside the panels: the legend goes below them, and they get what it leaves. The least
 * height must not follow from the height that is there, or the page would grow each time. */
static void
place_narrow (KvasirMaskView *self, double left)
{
  KvasirView *view = &self->base;
  KvasirRect legend = { MARGIN, 0, view->width - 2 * MARGIN, 0 };
  double least = MAX (get_min_panels_height (self), MIN (view->width, NARROW_HEIGHT));
  kvasir_mask_view_fill_legend (self, legend);
  double below = kvasir_legend_get_end (self->legend) + MARGIN * 2;
  double space = MAX (view->height - below, least);
  place_panels (self, left, view->width - MARGIN, space);
  legend.y = space + MARGIN;
  kvasir_mask_view_fill_legend (self, legend);
  view->min_height = least + below;
}

static void
mask_view_layout (KvasirView *view)
{
  KvasirMaskView *self = mask_view (view);
  double unit = kvasir_view_units (view, 1);
  clear_panels (self);
  make_panels (self);
  if (self->n_panels == 0)
    return;
  view->has_data = TRUE;
  double labels = MIN (LABEL_WIDTH * unit, view->width * 0.25);
  if (view->width >= 520 * unit)
    {
      double column = CLAMP (view->width * 0.2, 176 * unit, 210 * unit);
      double x = view->width - MARGIN - column;
      kvasir_mask_view_fill_legend (self, (KvasirRect){ x, MARGIN / 2.0, column, 0 });
      view->min_height =
          MAX (kvasir_legend_get_end (self->legend) + MARGIN, get_min_panels_height (self));
      place_panels (self, MARGIN + labels, x - 20, MAX (view->height, view->min_height));
      return;
    }
  place_narrow (self, MARGIN + labels);
}

/* ---- points and cursor */

static guint
get_cell (const KvasirMaskPanel *self, double x)
{
  guint n_kv = self->shot->n_kv;
  return MIN ((guint) ((x - self->plot.x) / self->plot.w * n_kv), n_kv - 1);
}

static gboolean
hit_panel (const KvasirMaskPanel *self, double x, double y, KvasirThing *thing)
{
  const KvasirMaskShot *shot = self->shot;
  double scale = self->view->base.scale;
  /* The labels at the left belong to their rows. */
  KvasirRect rows = { MARGIN, self->plot.y, self->plot.x + self->plot.w - MARGIN, self->plot.h };
  *thing = (KvasirThing){ KVASIR_THING_MASK, .cache = shot->cache, .stream = shot->stream };
  if (kvasir_rect_has (&rows, x, y))
    {
      guint row = (guint) ((y - self->plot.y) * scale) / (guint) self->row_px;
      thing->row = MIN (row, shot->n_rows - 1);
      thing->cell = get_cell (self, MAX (x, self->plot.x));
      return TRUE;
    }
  if (!kvasir_rect_has (&self->waterfall, x, y))
    return FALSE;
  guint step = (guint) ((y - self->waterfall.y) * scale) / (guint) self->step_px;
  thing->kind = KVASIR_THING_DECODE;
  thing->row = shot->n_waterfall - self->n_steps + step;
  thing->cell = get_cell (self, x);
  return TRUE;
}

static gboolean
mask_view_hit (KvasirView *view, double x, double y, KvasirThing *thing)
{
  KvasirMaskView *self = mask_view (view);
  for (guint i = 0; i < self->n_panels; i++)
    if (hit_panel (&self->panels[i], x, y, thing))
      return TRUE;
  return FALSE;
}

/* Above the first row of a panel comes the last one of the panel before it. */
static void
move_row (const KvasirMaskView *self, const KvasirMaskPanel *panel, gint delta, KvasirThing *thing)
{
  gint row = (gint) thing->row + delta;
  gint index = (gint) (panel - self->panels) + (row < 0 ? -1 : 1);
  if ((row < 0 || row >= (gint) panel->shot->n_rows) && index >= 0 && index < (gint) self->n_panels)
    {
      panel = &self->panels[index];
      row = row < 0 ? (gint) panel->shot->n_rows - 1 : 0;
      thing->cache = panel->shot->cache;
      thing->stream = panel->shot->stream;
      thing->cell = MIN (thing->cell, panel->shot->n_kv - 1);
    }
  thing->row = (guint) CLAMP (row, 0, (gint) panel->shot->n_rows - 1);
}

static gboolean
mask_view_move (KvasirView *view, KvasirThing *thing, KvasirMove move)
{
  KvasirMaskView *self = mask_view (view);
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
  const KvasirMaskPanel *panel = kvasir_mask_view_find_panel (self, thing);
  if (panel == NULL)
    panel = kvasir_mask_view_get_panel (self);
  const KvasirMaskShot *shot = panel->shot;
  if (thing->kind != KVASIR_THING_MASK)
    {
      guint cell = thing->kind == KVASIR_THING_CELL ? MIN (thing->cell, shot->n_kv - 1) : 0;
      *thing = (KvasirThing){ KVASIR_THING_MASK, .cache = shot->cache, .stream = shot->stream,
                              .row = shot->n_rows - 1, .cell = cell };
      return TRUE;
    }
  thing->cell = (guint) CLAMP ((gint) thing->cell + steps[move][1], 0, (gint) shot->n_kv - 1);
  if (steps[move][0] != 0)
    move_row (self, panel, steps[move][0], thing);
  return TRUE;
}

static gboolean
mask_view_translate (KvasirView *view, const KvasirThing *thing, KvasirThing *translated)
{
  const KvasirMaskPanel *panel = kvasir_mask_view_find_panel (mask_view (view), thing);
  *translated = *thing;
  if (panel == NULL)
    return FALSE;
  const KvasirMaskShot *shot = panel->shot;
  if (thing->kind == KVASIR_THING_MASK)
    return thing->row < shot->n_rows && thing->cell < shot->n_kv;
  if (thing->kind == KVASIR_THING_DECODE)
    return thing->row < shot->n_waterfall;
  if (thing->kind != KVASIR_THING_CELL || thing->cell >= shot->n_kv)
    return FALSE;
  translated->kind = KVASIR_THING_MASK;
  translated->row = shot->n_rows - 1;
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
