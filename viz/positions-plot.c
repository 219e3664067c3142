/* The Positions view: position against cell, one dot per live cell and owner. */
#include <glib/gi18n.h>
#include <math.h>

#include "viz/format.h"
#include "viz/positions-private.h"

static void
draw_grid (KvasirPositionsView *self, KvasirCanvas *canvas)
{
  KvasirRect plot = self->plot;
  kvasir_canvas_fill (canvas, KVASIR_RGB_CANVAS, plot);
  for (gint64 n = 0; n <= self->across.end; n += self->across.step)
    kvasir_canvas_fill (
        canvas, KVASIR_RGB_FREE,
        (KvasirRect){ round (kvasir_axis_get (&self->across, (double) n)), plot.y, 1, plot.h });
  for (gint64 n = 0; n <= self->down.end; n += self->down.step)
    kvasir_canvas_fill (
        canvas, KVASIR_RGB_FREE,
        (KvasirRect){ plot.x, round (kvasir_axis_get (&self->down, (double) n)), plot.w, 1 });
  kvasir_axis_draw_across (&self->across, canvas,
                           plot.y + plot.h + kvasir_view_units (&self->base, 11));
  kvasir_axis_draw_down (&self->down, canvas, plot.x - 10);
}

/* How many owners of a set come before @seq: their lines lie beside each other. */
static guint
get_rank (const KvasirSeqSet *set, guint seq)
{
  guint rank = 0;
  for (gint other = kvasir_palette_next_seq (set, -1); other >= 0 && (guint) other < seq;
       other = kvasir_palette_next_seq (set, other))
    rank++;
  return rank;
}

static void
draw_run (KvasirPositionsView *self, cairo_t *cr, guint seq, const KvasirPosRun *run)
{
  gint64 index = kvasir_positions_view_get_index (self, run->stream, run->cell);
  double offset = MIN (get_rank (&self->holdings->cache->sets[run->set], seq), 4u) * 2.0;
  double x = kvasir_axis_get (&self->across, run->pos);
  double y = kvasir_axis_get (&self->down, (double) index) + offset;
  double end_x = kvasir_axis_get (&self->across, (double) run->pos + run->n);
  double end_y = kvasir_axis_get (&self->down, (double) index + run->n) + offset;
  if (self->holdings->cache->is_recurrent)
    {
      x = kvasir_axis_get (&self->across, 0);
      y = end_y = kvasir_axis_get (&self->down, (double) index + 0.5) + offset;
    }
  cairo_move_to (cr, x, y);
  cairo_line_to (cr, MAX (end_x, x + 1.5), end_y);
}

static void
draw_sequence (KvasirPositionsView *self, cairo_t *cr, const KvasirHolding *holding)
{
  kvasir_palette_set_source (cr, kvasir_palette_get_sequence (holding->seq), 1);
  cairo_set_line_width (cr, 2);
  for (guint i = 0; i < holding->n_runs; i++)
    draw_run (self, cr, holding->seq, &self->holdings->runs[holding->first_run + i]);
  cairo_stroke (cr);
}

static void
draw_head_lines (KvasirPositionsView *self, KvasirCanvas *canvas)
{
  const KvasirCacheShot *cache = self->holdings->cache;
  double right = self->plot.x + self->plot.w;
  for (guint i = 0; i < cache->n_streams; i++)
    {
      guint head = cache->streams[i].head;
      gint64 index = kvasir_positions_view_get_index (self, i, head);
      double y = round (kvasir_axis_get (&self->down, (double) index)) + 0.5;
      g_autofree char *text = g_strdup_printf (_ ("head %s"), kvasir_format_count (head).s);
      if (index > self->down.end)
        continue;
      kvasir_canvas_line (canvas, KVASIR_RGB_WHITE, 1, 4,
                          (const double[4]){ self->plot.x, y, right, y });
      kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_WHITE);
      kvasir_canvas_text_right (canvas, right - 6, y - kvasir_view_units (&self->base, 8), text);
    }
}

void
kvasir_positions_view_draw_plot (KvasirPositionsView *self, KvasirCanvas *canvas)
{
  double unit = kvasir_canvas_get_unit (canvas);
  double y = self->plot.y - 18 * unit;
  cairo_t *cr = kvasir_canvas_get_cairo (canvas);
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TITLE, KVASIR_RGB_LABEL);
  gboolean is_state = self->holdings->cache->is_recurrent;
  double width = kvasir_canvas_text (canvas, self->plot.x, y,
                                     is_state ? _ ("Position × state") : _ ("Position × cell"));
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_NOTE, KVASIR_RGB_DIM);
  kvasir_canvas_text_right (canvas, self->plot.x - 10, y, is_state ? _ ("state") : _ ("cell"));
  kvasir_canvas_text_clipped (
      canvas, self->plot.x + width + 18 * unit, y,
      self->base.width - self->plot.x - width - 32 * unit,
      is_state ? _ ("one line per state and owner: it is made of all positions up to its end")
               : _ ("one dot per live cell; a short line away from its diagonal lies in cells that "
                    "were used again"));
  draw_grid (self, canvas);
  cairo_save (cr);
  cairo_rectangle (cr, self->plot.x, self->plot.y - 2, self->plot.w, self->plot.h + 4);
  cairo_clip (cr);
  for (guint i = 0; i < self->n_rows; i++)
    draw_sequence (self, cr, self->rows[i].holding);
  if (!is_state)
    draw_head_lines (self, canvas);
  cairo_restore (cr);
}
