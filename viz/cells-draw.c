/* The Cells view: what is painted around and over the raster. */
#include <glib/gi18n.h>
#include <math.h>
#include <string.h>

#include "viz/cells-private.h"
#include "viz/cells-raster.h"
#include "viz/format.h"
#include "viz/raster.h"

#define STRIPE_WIDTH 4

/* ---- around the cells */

static void
append_cache_words (const KvasirCacheShot *cache, GString *text)
{
  g_string_append_printf (text, _ ("%s cache · "), cache->name);
  if (cache->n_layers == 0)
    g_string_append (text, _ ("no layer reads it"));
  else
    g_string_append_printf (text, _ ("%s · %s per cell · %s"),
                            kvasir_format_layers (cache->n_layers).s,
                            kvasir_format_size (cache->bytes_per_cell).s, cache->type_k);
  if (cache->n_layers > 0 && strcmp (cache->type_k, cache->type_v) != 0)
    g_string_append_printf (text, "/%s", cache->type_v);
  if (cache->n_swa > 0)
    g_string_append_printf (text, _ (" · window %s"), kvasir_format_count (cache->n_swa).s);
}

static void
draw_lane_head (KvasirCellsView *self, KvasirCanvas *canvas, const KvasirCellsLane *lane)
{
  const KvasirCacheShot *cache = &self->base.data.cells->caches[lane->cache];
  g_autoptr (GString) text = g_string_new (NULL);
  guint first, end;
  if (cache->is_recurrent)
    g_string_append_printf (text, _ ("%s states · %s · %s per sequence"), cache->name,
                            kvasir_format_layers (cache->n_layers).s,
                            kvasir_format_size (cache->bytes_per_cell).s);
  else
    append_cache_words (cache, text);
  if (cache->n_streams > 1)
    g_string_append_printf (text, _ (" · stream %u"), lane->stream);
  kvasir_grid_get_visible (&lane->grid, &first, &end);
  if (end - first < lane->grid.n_cells)
    g_string_append_printf (text, _ (" · showing %s of %s"),
                            kvasir_format_range (first, (gint64) end - 1).s,
                            kvasir_format_count (lane->grid.n_cells).s);
  if (lane->grid.bucket > 1)
    g_string_append_printf (text, _ (" · %u cells per pixel"), lane->grid.bucket);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO, KVASIR_RGB_DIM);
  kvasir_canvas_text_clipped (canvas, lane->grid.rect.x, lane->head_y, self->lane_width, text->str);
}

/* Labels stand at least this far apart and at round numbers of cells. */
static guint
get_label_step (const KvasirGrid *grid, double min_distance)
{
  guint step = 1;
  while (step * grid->cell_h / grid->scale < min_distance)
    step *= 2;
  return step;
}

static void
draw_row_labels (KvasirCanvas *canvas, const KvasirGrid *grid, double unit)
{
  guint step = get_label_step (grid, 20 * unit);
  double height = grid->cell_h / grid->scale;
  double offset = MIN (height / 2, 8 * unit);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  for (guint row = 0; row < grid->n_visible; row++)
    if ((grid->first_row + row) % step == 0)
      kvasir_canvas_text_right (
          canvas, grid->rect.x - 8, grid->rect.y + row * height + offset,
          kvasir_format_count ((gint64) (grid->first_row + row) * grid->per_row).s);
}

/* Where the word stands that names the cell of the head. */
static KvasirRect
place_head (KvasirCanvas *canvas, const KvasirGrid *grid, const KvasirRect *cell)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double width = kvasir_canvas_measure (canvas, KVASIR_STYLE_STRONG, _ ("head")) + 12 * unit;
  gboolean right = cell->x + 10 + width < grid->rect.x + grid->rect.w;
  /* Above the first rows stands the line of text. */
  double y = cell->y > grid->rect.y + 18 * unit ? cell->y - 9 : cell->y + 10 * unit;
  return (KvasirRect){ right ? cell->x + 10 : cell->x - 10 - width, y - 8 * unit, width,
                       16 * unit };
}

static gboolean
find_head (const KvasirGrid *grid, guint head, KvasirRect *cell)
{
  return kvasir_grid_get_rect (grid, head < grid->n_cells ? head : 0, cell);
}

static void
draw_head (KvasirCanvas *canvas, const KvasirGrid *grid, guint head)
{
  KvasirRect cell;
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  if (!find_head (grid, head, &cell))
    return;
  KvasirRect tag = place_head (canvas, grid, &cell);
  kvasir_canvas_fill (canvas, KVASIR_RGB_WHITE, (KvasirRect){ cell.x - 1, cell.y, 2, cell.h });
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 1);
  cairo_move_to (cr, cell.x - 6, cell.y - 8);
  cairo_line_to (cr, cell.x + 6, cell.y - 8);
  cairo_line_to (cr, cell.x, cell.y - 1);
  cairo_fill (cr);
  kvasir_canvas_tag (canvas, tag.x + tag.w / 2, tag.y + tag.h / 2, KVASIR_RGB_WHITE, _ ("head"));
}

/* The right end of words of @width in the line around @y: that of the grid, or left of the head's
 * word, which would hide them. */
static double
find_room (KvasirCanvas *canvas,
           const KvasirGrid *grid,
           const KvasirStreamShot *stream,
           double y,
           double width)
{
  KvasirRect cell;
  double unit = kvasir_canvas_get_unit (canvas);
  double right = grid->rect.x + grid->rect.w - 4;
  if (!find_head (grid, stream->head, &cell))
    return right;
  KvasirRect tag = place_head (canvas, grid, &cell);
  gboolean beside = fabs (tag.y + tag.h / 2 - y) >= 16 * unit;
  if (beside || tag.x + tag.w < right - width || tag.x > right)
    return right;
  return MIN (tag.x, cell.x) - 8;
}

static void
draw_horizon (KvasirCanvas *canvas, const KvasirGrid *grid, const KvasirStreamShot *stream)
{
  guint n_kv = stream->n_kv;
  guint row = (n_kv + grid->per_row - 1) / grid->per_row;
  double y = grid->rect.y + ((double) row - grid->first_row) * grid->cell_h / grid->scale;
  double right = grid->rect.x + grid->rect.w;
  if (n_kv == 0 || row < grid->first_row || row > grid->first_row + grid->n_visible)
    return;
  g_autofree char *text = g_strdup_printf (_ ("read up to %s"), kvasir_format_count (n_kv).s);
  double unit = kvasir_canvas_get_unit (canvas);
  double width = kvasir_canvas_measure (canvas, KVASIR_STYLE_STRONG, text);
  kvasir_canvas_line (canvas, 0xB79A2A, 2, 6,
                      (const double[4]){ grid->rect.x, y - 0.5, right, y - 0.5 });
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, KVASIR_RGB_HORIZON);
  /* What lies below the line is free, so the words hide nothing there. */
  if (row < grid->first_row + grid->n_visible)
    kvasir_canvas_text_right (canvas, find_room (canvas, grid, stream, y + 9 * unit, width),
                              y + 9 * unit, text);
  else
    kvasir_canvas_tag (canvas,
                       find_room (canvas, grid, stream, y - 10 * unit, width) - width / 2 - 2,
                       y - 10 * unit, KVASIR_RGB_HORIZON, text);
}

static void
draw_lane (KvasirCellsView *self, KvasirCanvas *canvas, const KvasirCellsLane *lane)
{
  const KvasirStreamShot *stream = kvasir_cells_view_get_stream (self, lane);
  KvasirCellsPicture picture = { .holdings = self->holdings[lane->cache],
                                 .stream = lane->stream,
                                 .focus = &self->base.focus,
                                 .step = self->base.data.step };
  draw_lane_head (self, canvas, lane);
  draw_row_labels (canvas, &lane->grid, kvasir_canvas_get_unit (canvas));
  kvasir_cells_raster_draw (&picture, &lane->grid, kvasir_canvas_get_cairo (canvas));
  kvasir_cells_view_draw_labels (self, canvas, lane);
  if (kvasir_cells_view_is_recurrent (self, lane))
    return;
  draw_horizon (canvas, &lane->grid, stream);
  draw_head (canvas, &lane->grid, stream->head);
}

/* ---- the bars of positions */

static void
paint_bar_run (KvasirRaster *raster,
               const KvasirPosRun *run,
               const KvasirSeqSet *set,
               gboolean is_state,
               double scale)
{
  KvasirRgb stripes[4];
  guint n = 0;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0 && n < G_N_ELEMENTS (stripes);
       seq = kvasir_palette_next_seq (set, seq))
    stripes[n++] = kvasir_palette_get_sequence ((guint) seq);
  /* A state is made of all positions up to its own. */
  gint from = is_state ? 0 : (gint) floor (run->pos * scale);
  gint to = MAX ((gint) floor ((run->pos + (gint32) run->n) * scale), from + 1);
  for (gint x = from; x < to; x++)
    kvasir_raster_fill (raster, x, 0, 1, raster->height, stripes[(guint) (x / STRIPE_WIDTH) % n]);
}

static void
draw_bar (KvasirCellsView *self, KvasirCanvas *canvas, const KvasirHolding *holding, double y)
{
  const KvasirHoldings *holdings = self->holdings[0];
  double scale = kvasir_canvas_get_scale (canvas);
  gint width = (gint) (self->bars.w * scale);
  KvasirRaster raster;
  kvasir_raster_init (&raster, width, (gint) (self->bar_pitch * 0.6 * scale), KVASIR_RGB_FREE);
  for (guint i = 0; i < holding->n_runs; i++)
    {
      const KvasirPosRun *run = &holdings->runs[holding->first_run + i];
      paint_bar_run (&raster, run, &holdings->cache->sets[run->set], holdings->cache->is_recurrent,
                     (double) width / self->axis_end);
    }
  kvasir_raster_paint (&raster, kvasir_canvas_get_cairo (canvas),
                       round (self->bars.x * scale) / scale,
                       round ((y - self->bar_pitch * 0.3) * scale) / scale, scale);
}

static void
draw_bar_words (KvasirCellsView *self, KvasirCanvas *canvas, const KvasirHolding *holding, double y)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gboolean is_state = self->holdings[0]->cache->is_recurrent;
  g_string_append_printf (text, "%s…%s  ", kvasir_format_count (is_state ? 0 : holding->pos_min).s,
                          kvasir_format_count (holding->pos_max).s);
  if (is_state)
    g_string_append (text, _ ("one state"));
  else if (holding->n_holes == 0)
    g_string_append (text, _ ("complete"));
  else
    g_string_append_printf (text, ngettext ("%u hole", "%u holes", holding->n_holes),
                            holding->n_holes);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, kvasir_palette_get_sequence (holding->seq));
  kvasir_canvas_text_right (canvas, self->bars.x - 10, y,
                            kvasir_palette_get_letter (holding->seq).s);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO,
                         holding->n_holes > 0 ? KVASIR_RGB_WARN : KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, self->bars_text_x, y, self->base.width - self->bars_text_x,
                              text->str);
}

static void
draw_bars (KvasirCellsView *self, KvasirCanvas *canvas)
{
  const KvasirHoldings *holdings = self->holdings[0];
  g_autoptr (GString) head = g_string_new (_ ("positions per sequence"));
  if (self->n_bars < holdings->n_seqs)
    g_string_append_printf (head, _ (" · first %u of %u"), self->n_bars, holdings->n_seqs);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, KVASIR_RGB_LABEL);
  kvasir_canvas_text (canvas, self->bars.x, self->bars.y - kvasir_view_units (&self->base, 9),
                      head->str);
  for (guint i = 0; i < self->n_bars; i++)
    {
      double y = self->bars.y + (i + 0.5) * self->bar_pitch;
      draw_bar (self, canvas, &holdings->seqs[i], y);
      draw_bar_words (self, canvas, &holdings->seqs[i], y);
    }
}

void
kvasir_cells_view_draw (KvasirView *view, KvasirCanvas *canvas)
{
  KvasirCellsView *self = (KvasirCellsView *) view;
  for (guint i = 0; i < self->n_lanes; i++)
    draw_lane (self, canvas, &self->lanes[i]);
  if (self->n_bars > 0)
    draw_bars (self, canvas);
  kvasir_legend_draw (self->legend, canvas);
  if (self->memory != NULL)
    kvasir_cells_view_draw_memory (self, canvas);
}

/* ---- marks */

/* White on black, so that it shows on every fill. */
static void
stroke_mark (cairo_t *cr, gboolean locked)
{
  double width = locked ? 2 : 1;
  kvasir_palette_set_source (cr, 0x000000, 1);
  cairo_set_line_width (cr, width + 2);
  cairo_stroke_preserve (cr);
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 1);
  cairo_set_line_width (cr, width);
  cairo_stroke (cr);
}

static gboolean
mark_runs (KvasirCellsView *self, cairo_t *cr, const KvasirThing *thing, gboolean locked)
{
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
  gboolean any = FALSE;
  kvasir_cells_view_collect (self, thing, runs);
  for (guint i = 0; i < runs->len; i++)
    {
      const KvasirCellRun *run = &g_array_index (runs, KvasirCellRun, i);
      KvasirThing first = { KVASIR_THING_CELL, .cache = run->cache, .stream = run->stream };
      const KvasirCellsLane *lane = kvasir_cells_view_find_lane (self, &first);
      if (lane != NULL && kvasir_grid_add_run (&lane->grid, cr, run->cell, run->n, 0.5))
        any = TRUE;
    }
  stroke_mark (cr, locked);
  return any;
}

/* At small sizes a cell is a dot: its frame is at least this large. */
static KvasirRect
grow_to (KvasirRect rect, double size)
{
  double dx = MAX (size - rect.w, 2) / 2;
  double dy = MAX (size - rect.h, 2) / 2;
  return (KvasirRect){ rect.x - dx, rect.y - dy, rect.w + 2 * dx, rect.h + 2 * dy };
}

gboolean
kvasir_cells_view_draw_mark (KvasirView *view,
                             KvasirCanvas *canvas,
                             const KvasirThing *thing,
                             gboolean locked)
{
  KvasirCellsView *self = (KvasirCellsView *) view;
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  KvasirRect rect;
  if (thing->kind == KVASIR_THING_MESSAGE || thing->kind == KVASIR_THING_RUNS)
    return mark_runs (self, cr, thing, locked);
  if (thing->kind == KVASIR_THING_CELL)
    {
      const KvasirCellsLane *lane = kvasir_cells_view_find_lane (self, thing);
      if (lane == NULL || !kvasir_grid_get_rect (&lane->grid, thing->cell, &rect))
        return FALSE;
      rect = grow_to (rect, 7);
    }
  else if (kvasir_legend_find (self->legend, thing, &rect))
    rect = grow_to (rect, 0);
  else
    return FALSE;
  cairo_rectangle (cr, rect.x, rect.y, rect.w, rect.h);
  stroke_mark (cr, locked);
  return TRUE;
}
