/* The Positions view: rows, tree, table and the plot of positions against cells. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/positions-private.h"

#define MAX_STRIPES 4

/* ---- the tree */

static double
get_node_x (const KvasirPositionsView *self, const KvasirPositionsRow *row)
{
  return 14 + kvasir_view_units (&self->base, 10) + row->depth * self->tree_step;
}

static void
draw_branch (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  const KvasirPositionsRow *parent = &self->rows[row->parent];
  double from_x = get_node_x (self, parent);
  double to_x = get_node_x (self, row);
  double radius = MIN (10, self->tree_step / 2);
  double node = kvasir_view_units (&self->base, 9);
  kvasir_palette_set_source (cr, kvasir_palette_get_sequence (row->holding->seq), 1);
  cairo_set_line_width (cr, 2);
  cairo_move_to (cr, from_x, parent->y + node);
  cairo_line_to (cr, from_x, row->y - radius);
  cairo_curve_to (cr, from_x, row->y, from_x, row->y, from_x + radius, row->y);
  cairo_line_to (cr, to_x - node, row->y);
  cairo_stroke (cr);
  if (self->row_height < kvasir_view_units (&self->base, 26))
    return;
  g_autofree char *text =
      g_strdup_printf (_ ("at %s"), kvasir_format_count (row->shot->parent_pos).s);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  kvasir_canvas_text (canvas, from_x + 6, row->y - self->row_height / 2, text);
}

static void
draw_node (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  guint seq = row->holding->seq;
  double x = get_node_x (self, row);
  double radius = MIN (kvasir_view_units (&self->base, 10), self->row_height / 2);
  kvasir_palette_set_source (cr, kvasir_palette_get_sequence (seq), 1);
  cairo_arc (cr, x, row->y, radius, 0, 2 * G_PI);
  cairo_fill (cr);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG,
                         kvasir_palette_get_ink (kvasir_palette_get_sequence (seq)));
  kvasir_canvas_text_middle (canvas, x, row->y, kvasir_palette_get_letter (seq).s);
}

/* ---- the bars */

/* The row's own colour on top, its co-owners' below. */
static void
draw_run (KvasirPositionsView *self,
          KvasirCanvas *canvas,
          const KvasirPositionsRow *row,
          const KvasirPosRun *run)
{
  const KvasirSeqSet *set = &self->holdings->cache->sets[run->set];
  guint stripes[MAX_STRIPES] = { row->holding->seq };
  guint n = 1;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0 && n < MAX_STRIPES;
       seq = kvasir_palette_next_seq (set, seq))
    if ((guint) seq != row->holding->seq)
      stripes[n++] = (guint) seq;
  gboolean is_state = self->holdings->cache->is_recurrent;
  double x = round (kvasir_axis_get (&self->across, is_state ? 0 : run->pos));
  double end = round (kvasir_axis_get (&self->across, (double) run->pos + run->n));
  double top = round (row->y - self->bar_height / 2);
  for (guint i = 0; i < n; i++)
    {
      double from = round (self->bar_height * i / n);
      double to = round (self->bar_height * (i + 1) / n);
      kvasir_canvas_fill (canvas, kvasir_palette_get_sequence (stripes[i]),
                          (KvasirRect){ x, top + from, MAX (end - x, 1), to - from });
    }
}

typedef struct
{
  KvasirPositionsView *self;
  KvasirCanvas *canvas;
  const KvasirPositionsRow *row;
  double free_from; /* where the next label may begin */
} HoleDrawing;

static void
draw_hole_cb (gint32 pos, gint32 n, gpointer user_data)
{
  HoleDrawing *drawing = user_data;
  KvasirPositionsView *self = drawing->self;
  double from = kvasir_axis_get (&self->across, pos);
  double to = kvasir_axis_get (&self->across, (double) pos + n);
  double y = drawing->row->y;
  g_autofree char *text = g_strdup_printf (_ ("hole %s"), kvasir_format_count (n).s);
  double half = kvasir_canvas_measure (drawing->canvas, KVASIR_STYLE_STRONG, text) / 2;
  if (to - from > 3)
    kvasir_canvas_line (drawing->canvas, KVASIR_RGB_TEXT, 2, 2,
                        (const double[4]){ from + 1, y, to - 1, y });
  if ((from + to) / 2 - half < drawing->free_from || self->row_height < 26)
    return;
  kvasir_canvas_set_pen (drawing->canvas, KVASIR_STYLE_STRONG, KVASIR_RGB_TEXT);
  kvasir_canvas_text_middle (drawing->canvas, (from + to) / 2, y - self->bar_height / 2 - 7, text);
  drawing->free_from = (from + to) / 2 + half + 4;
}

static void
draw_ends (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  double top = row->y - self->bar_height / 2 - 2;
  double first = round (kvasir_axis_get (&self->across, row->holding->pos_min));
  double next = round (kvasir_axis_get (&self->across, row->holding->pos_max + 1.0));
  double arm = MIN (kvasir_view_units (&self->base, 6), self->bar_height / 2);
  kvasir_canvas_fill (canvas, KVASIR_RGB_LABEL,
                      (KvasirRect){ first - 1, top, 1.5, self->bar_height + 4 });
  kvasir_canvas_fill (canvas, KVASIR_RGB_LABEL,
                      (KvasirRect){ next - 0.5, top, 1.5, self->bar_height + 4 });
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 1);
  cairo_move_to (cr, next + 3, row->y);
  cairo_rel_line_to (cr, arm, -arm);
  cairo_rel_line_to (cr, 0, 2 * arm);
  cairo_fill (cr);
}

/* What the next token of the sequence sees in layers that slide. */
static void
draw_window (KvasirPositionsView *self,
             KvasirCanvas *canvas,
             const KvasirHolding *holding,
             double y)
{
  gint32 first = MAX (holding->pos_max + 2 - (gint32) self->sliding->cache->n_swa, 0);
  double from = round (kvasir_axis_get (&self->across, first));
  double to = round (kvasir_axis_get (&self->across, holding->pos_max + 1.0));
  kvasir_canvas_fill (canvas, KVASIR_RGB_HORIZON, (KvasirRect){ from - 1, y - 1, 1.5, 8 });
  kvasir_canvas_fill (canvas, KVASIR_RGB_HORIZON, (KvasirRect){ to - 0.5, y - 1, 1.5, 8 });
  kvasir_canvas_fill (canvas, KVASIR_RGB_HORIZON, (KvasirRect){ from, y + 6, to - from, 1.5 });
}

/* A thin bar below: the sliding half. */
static void
draw_sliding (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  guint seq = row->holding->seq;
  const KvasirHolding *holding =
      self->sliding != NULL ? kvasir_holdings_find (self->sliding, seq) : NULL;
  double y = round (row->y + self->bar_height / 2 + 3);
  if (holding == NULL || self->row_height < 24)
    return;
  for (guint i = 0; i < holding->n_runs; i++)
    {
      const KvasirPosRun *run = &self->sliding->runs[holding->first_run + i];
      double from = round (kvasir_axis_get (&self->across, run->pos));
      double to = round (kvasir_axis_get (&self->across, (double) run->pos + run->n));
      kvasir_canvas_fill (canvas, kvasir_palette_get_sequence (seq),
                          (KvasirRect){ from, y, MAX (to - from, 1), 4 });
    }
  draw_window (self, canvas, holding, y);
}

static void
draw_bar (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  const KvasirHolding *holding = row->holding;
  HoleDrawing holes = { self, canvas, row, 0 };
  kvasir_canvas_fill (canvas, KVASIR_RGB_FREE,
                      (KvasirRect){ self->across.start, round (row->y - self->bar_height / 2),
                                    self->across.length, self->bar_height });
  for (guint i = 0; i < holding->n_runs; i++)
    draw_run (self, canvas, row, &self->holdings->runs[holding->first_run + i]);
  kvasir_holdings_foreach_hole (self->holdings, holding, draw_hole_cb, &holes);
  draw_ends (self, canvas, row);
  draw_sliding (self, canvas, row);
}

/* ---- the table */

static void
draw_table_head (KvasirPositionsView *self, KvasirCanvas *canvas, double y)
{
  double unit = kvasir_canvas_get_unit (canvas);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
  kvasir_canvas_text_right (canvas, self->table.x + 46 * unit, y, _ ("count"));
  if (self->table_ends)
    {
      kvasir_canvas_text_right (canvas, self->table.x + 96 * unit, y, _ ("min"));
      kvasir_canvas_text_right (canvas, self->table.x + 152 * unit, y, _ ("max"));
    }
  kvasir_canvas_text (canvas, self->table.x + (self->table_ends ? 168 : 62) * unit, y, _ ("state"));
}

static void
draw_table_row (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirPositionsRow *row)
{
  const KvasirHolding *holding = row->holding;
  double unit = kvasir_canvas_get_unit (canvas);
  double x = self->table.x;
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_MONO, KVASIR_RGB_TEXT);
  kvasir_canvas_text_right (canvas, x + 46 * unit, row->y,
                            kvasir_format_count (holding->n_positions).s);
  if (self->table_ends)
    {
      kvasir_canvas_text_right (canvas, x + 96 * unit, row->y,
                                kvasir_format_count (holding->pos_min).s);
      kvasir_canvas_text_right (canvas, x + 152 * unit, row->y,
                                kvasir_format_count (holding->pos_max).s);
    }
  gboolean complete = holding->n_holes == 0;
  g_autofree char *state =
      self->holdings->cache->is_recurrent ? g_strdup (_ ("one state"))
      : complete
          ? g_strdup (_ ("complete"))
          : g_strdup_printf (ngettext ("%u hole", "%u holes", holding->n_holes), holding->n_holes);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_STRONG, complete ? KVASIR_RGB_GOOD : KVASIR_RGB_WARN);
  kvasir_canvas_text (canvas, x + (self->table_ends ? 168 : 62) * unit, row->y, state);
}

/* ---- all of it */

static void
draw_heads (KvasirPositionsView *self, KvasirCanvas *canvas)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double y = 14 * unit;
  double ticks = 34 * unit;
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
  kvasir_canvas_text_clipped (canvas, 14, y, self->across.start - 20, _ ("Fork tree"));
  kvasir_canvas_text_clipped (
      canvas, self->across.start, y, self->base.width - self->across.start - 14,
      self->sliding != NULL ? _ ("Positions held by each sequence · thin: the sliding half, "
                                 "bracket: its window")
                            : _ ("Positions held by each sequence"));
  kvasir_axis_draw_across (&self->across, canvas, ticks);
  for (gint64 n = 0; n <= self->across.end; n += self->across.step)
    {
      double x = round (kvasir_axis_get (&self->across, (double) n));
      kvasir_canvas_fill (canvas, 0x2E2E2E,
                          (KvasirRect){ x, ticks + 9 * unit, 1, self->plot.y - ticks - 52 * unit });
    }
  if (self->table.w > 0)
    draw_table_head (self, canvas, ticks);
}

void
kvasir_positions_view_draw (KvasirView *view, KvasirCanvas *canvas)
{
  KvasirPositionsView *self = (KvasirPositionsView *) view;
  draw_heads (self, canvas);
  for (guint i = 0; i < self->n_rows; i++)
    {
      const KvasirPositionsRow *row = &self->rows[i];
      if (row->parent >= 0)
        draw_branch (self, canvas, row);
      draw_bar (self, canvas, row);
      if (self->table.w > 0)
        draw_table_row (self, canvas, row);
    }
  for (guint i = 0; i < self->n_rows; i++)
    draw_node (self, canvas, &self->rows[i]);
  kvasir_positions_view_draw_plot (self, canvas);
}

/* ---- marks */

static void
mark_range (KvasirPositionsView *self,
            KvasirCanvas *canvas,
            const KvasirPositionsRow *row,
            const gint32 range[2],
            gboolean locked)
{
  double from = floor (kvasir_axis_get (&self->across, range[0])) - 1;
  double to = ceil (kvasir_axis_get (&self->across, range[1])) + 1;
  KvasirRect rect = { from, round (row->y - self->bar_height / 2) - 4, MAX (to - from, 4),
                      self->bar_height + 8 };
  kvasir_canvas_outline (canvas, KVASIR_RGB_WHITE, rect, locked ? 2 : 1);
}

static void
mark_dot (KvasirPositionsView *self, KvasirCanvas *canvas, const KvasirThing *thing)
{
  const KvasirPosRun *run =
      kvasir_holdings_find_position (self->holdings, (guint) thing->seq, thing->pos);
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  if (run == NULL)
    return;
  gint64 index =
      kvasir_positions_view_get_index (self, run->stream, run->cell) + thing->pos - run->pos;
  kvasir_palette_set_source (cr, KVASIR_RGB_WHITE, 1);
  cairo_set_line_width (cr, 2);
  cairo_arc (cr, kvasir_axis_get (&self->across, thing->pos + 0.5),
             kvasir_axis_get (&self->down, (double) index + 0.5), 5, 0, 2 * G_PI);
  cairo_stroke (cr);
}

static gboolean
mark_message (KvasirPositionsView *self,
              KvasirCanvas *canvas,
              const KvasirThing *thing,
              gboolean locked)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  gboolean any = FALSE;
  for (guint i = 0; i < cells->n_message_runs; i++)
    {
      const KvasirMessageRun *run = &cells->message_runs[i];
      const KvasirPositionsRow *row = kvasir_positions_view_find_row (self, run->seq);
      if (run->message_id != thing->message_id || row == NULL)
        continue;
      mark_range (self, canvas, row, (const gint32[2]){ run->pos, run->pos + run->n }, locked);
      any = TRUE;
    }
  return any;
}

gboolean
kvasir_positions_view_draw_mark (KvasirView *view,
                                 KvasirCanvas *canvas,
                                 const KvasirThing *thing,
                                 gboolean locked)
{
  KvasirPositionsView *self = (KvasirPositionsView *) view;
  const KvasirPositionsRow *row = kvasir_positions_view_find_row (self, thing->seq);
  if (thing->kind == KVASIR_THING_MESSAGE)
    return mark_message (self, canvas, thing, locked);
  if (row == NULL)
    return FALSE;
  gint32 range[2] = { row->holding->pos_min, row->holding->pos_max + 1 };
  switch (thing->kind)
    {
    case KVASIR_THING_POSITION:
      range[0] = thing->pos;
      range[1] = thing->pos + 1;
      mark_dot (self, canvas, thing);
      break;
    case KVASIR_THING_HOLE:
      range[0] = thing->pos;
      range[1] = thing->pos + thing->n;
      break;
    case KVASIR_THING_SEQUENCE:
      break;
    default:
      return FALSE;
    }
  mark_range (self, canvas, row, range, locked);
  return TRUE;
}
