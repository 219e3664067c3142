/* The Mask view: rows x columns and the waterfall, pixel by pixel. */
#include <math.h>

#include "viz/buckets.h"
#include "viz/mask-private.h"
#include "viz/raster.h"

/* Categories of pixels: the reasons, then one per other sequence; the last one takes the rest. */
#define FIRST_OTHER KVASIR_N_MASK_REASONS
#define N_OTHERS (KVASIR_MAX_CATEGORIES - FIRST_OTHER)

static guint
get_category (const KvasirMaskSegment *segment)
{
  if (segment->reason != KVASIR_MASK_OTHER_SEQUENCE)
    return segment->reason;
  return FIRST_OTHER + MIN ((guint) segment->seq, N_OTHERS - 1);
}

static KvasirRgb
get_pixel (guint category, guint x, guint y)
{
  switch (category)
    {
    case KVASIR_MASK_OPEN:
      return KVASIR_RGB_OPEN;
    case KVASIR_MASK_EMPTY:
      return KVASIR_RGB_CANVAS;
    case KVASIR_MASK_FUTURE:
      return ((x + y) & 3) == 0 ? KVASIR_RGB_FUTURE : 0x241F2B;
    case KVASIR_MASK_OUTSIDE_WINDOW:
      return ((x - y) & 3) == 0 ? 0x3F647E : 0x17212A;
    case KVASIR_MASK_PADDING:
      return (y & 3) == 0 && (x & 7) == (y & 4) ? 0x6E6E6E : 0x191919;
    default:
      return kvasir_palette_mix (KVASIR_RGB_CANVAS,
                                 kvasir_palette_get_sequence (category - FIRST_OTHER), 0.28);
    }
}

/* Where there are enough pixels each cell has its own; else they are shared out. */
static void
spread (const GArray *runs, guint n_cells, guint8 *pixels, guint n_pixels)
{
  guint cell = 0;
  if (n_pixels < n_cells)
    {
      kvasir_buckets_share ((const KvasirCategoryRun *) (const void *) runs->data, runs->len,
                            pixels, n_pixels);
      return;
    }
  for (guint i = 0; i < runs->len; i++)
    {
      const KvasirCategoryRun *run = &g_array_index (runs, KvasirCategoryRun, i);
      guint from = (guint) ((guint64) cell * n_pixels / n_cells);
      guint to = (guint) ((guint64) (cell + run->n) * n_pixels / n_cells);
      cell += run->n;
      for (guint x = from; x < to; x++)
        pixels[x] = (guint8) run->category;
    }
}

static void
collect_row (const KvasirMaskPanel *self, guint row, GArray *segments, GArray *runs)
{
  kvasir_mask_model_get_row (self->model, row, segments);
  g_array_set_size (runs, 0);
  for (guint i = 0; i < segments->len; i++)
    {
      const KvasirMaskSegment *segment = &g_array_index (segments, KvasirMaskSegment, i);
      KvasirCategoryRun run = { segment->n, get_category (segment) };
      g_array_append_val (runs, run);
    }
}

static void
paint_row (KvasirRaster *raster, const guint8 *pixels, gint top, gint height)
{
  for (gint y = top; y < top + height; y++)
    {
      guint32 *line = raster->pixels + (gsize) y * (gsize) raster->stride;
      for (gint x = 0; x < raster->width; x++)
        line[x] = get_pixel (pixels[x], (guint) x, (guint) y);
    }
}

void
kvasir_mask_panel_draw_plot (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  const KvasirMaskShot *shot = self->shot;
  double scale = kvasir_canvas_get_scale (canvas);
  g_autoptr (GArray) segments = g_array_new (FALSE, FALSE, sizeof (KvasirMaskSegment));
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCategoryRun));
  KvasirRaster raster;
  kvasir_raster_init (&raster, (gint) (self->plot.w * scale), self->row_px * (gint) shot->n_rows,
                      KVASIR_RGB_CANVAS);
  g_autofree guint8 *pixels = g_malloc0 ((gsize) raster.width);
  for (guint row = 0; row < shot->n_rows; row++)
    {
      collect_row (self, row, segments, runs);
      spread (runs, shot->n_kv, pixels, (guint) raster.width);
      paint_row (&raster, pixels, (gint) row * self->row_px, self->row_px);
    }
  kvasir_raster_paint (&raster, kvasir_canvas_get_cairo (canvas), self->plot.x, self->plot.y,
                       scale);
}

/* ---- the waterfall */

static void
collect_step (const KvasirMaskShot *shot, guint step, GArray *runs)
{
  const guint64 *words = shot->waterfall + (gsize) step * shot->waterfall_words;
  guint n_cells = (guint) MIN (shot->n_kv, shot->waterfall_words * 64);
  g_array_set_size (runs, 0);
  for (guint cell = 0; cell < n_cells;)
    {
      gboolean open = (words[cell / 64] >> (cell % 64)) & 1;
      guint end = cell + 1;
      while (end < n_cells && ((words[end / 64] >> (end % 64)) & 1) == (guint64) open)
        /* Whole words of one kind are the rule. */
        end += end % 64 == 0 && end + 64 <= n_cells &&
                       words[end / 64] == (open ? ~G_GUINT64_CONSTANT (0) : 0)
                   ? 64
                   : 1;
      KvasirCategoryRun run = { end - cell, open ? KVASIR_MASK_OPEN : KVASIR_MASK_EMPTY };
      g_array_append_val (runs, run);
      cell = end;
    }
  if (n_cells < shot->n_kv)
    {
      KvasirCategoryRun run = { shot->n_kv - n_cells, KVASIR_MASK_EMPTY };
      g_array_append_val (runs, run);
    }
}

void
kvasir_mask_panel_draw_waterfall (const KvasirMaskPanel *self, KvasirCanvas *canvas)
{
  const KvasirMaskShot *shot = self->shot;
  double scale = kvasir_canvas_get_scale (canvas);
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCategoryRun));
  KvasirRaster raster;
  kvasir_raster_init (&raster, (gint) (self->waterfall.w * scale),
                      self->step_px * (gint) self->n_steps, KVASIR_RGB_CANVAS);
  g_autofree guint8 *pixels = g_malloc0 ((gsize) raster.width);
  for (guint i = 0; i < self->n_steps; i++)
    {
      collect_step (shot, shot->n_waterfall - self->n_steps + i, runs);
      spread (runs, shot->n_kv, pixels, (guint) raster.width);
      paint_row (&raster, pixels, (gint) i * self->step_px, self->step_px);
    }
  kvasir_raster_paint (&raster, kvasir_canvas_get_cairo (canvas), self->waterfall.x,
                       self->waterfall.y, scale);
}
