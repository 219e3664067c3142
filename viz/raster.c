#include "viz/raster.h"

void
kvasir_raster_init (KvasirRaster *self, gint width, gint height, KvasirRgb rgb)
{
  self->width = MAX (width, 1);
  self->height = MAX (height, 1);
  self->surface = cairo_image_surface_create (CAIRO_FORMAT_RGB24, self->width, self->height);
  cairo_surface_flush (self->surface);
  /* Image surfaces are aligned for their pixels. */
  self->pixels = (guint32 *) (void *) cairo_image_surface_get_data (self->surface);
  self->stride = cairo_image_surface_get_stride (self->surface) / 4;
  kvasir_raster_fill (self, 0, 0, self->width, self->height, rgb);
}

void
kvasir_raster_paint (KvasirRaster *self, cairo_t *cr, double x, double y, double scale)
{
  cairo_surface_mark_dirty (self->surface);
  cairo_surface_set_device_scale (self->surface, scale, scale);
  cairo_set_source_surface (cr, self->surface, x, y);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  cairo_surface_destroy (self->surface);
  self->surface = NULL;
}

/* Cuts a box to the raster; FALSE where nothing is left. */
static gboolean
clip (const KvasirRaster *self, const gint box[4], gint clipped[4])
{
  clipped[0] = MAX (box[0], 0);
  clipped[1] = MAX (box[1], 0);
  clipped[2] = MIN (box[0] + box[2], self->width);
  clipped[3] = MIN (box[1] + box[3], self->height);
  return clipped[0] < clipped[2] && clipped[1] < clipped[3];
}

void
kvasir_raster_fill (KvasirRaster *self, gint x, gint y, gint w, gint h, KvasirRgb rgb)
{
  gint c[4];
  if (!clip (self, (const gint[4]){ x, y, w, h }, c))
    return;
  for (gint row = c[1]; row < c[3]; row++)
    {
      guint32 *line = self->pixels + (gsize) row * (gsize) self->stride;
      for (gint column = c[0]; column < c[2]; column++)
        line[column] = rgb;
    }
}

void
kvasir_raster_frame (KvasirRaster *self, const gint box[4], gint width, KvasirRgb rgb)
{
  kvasir_raster_fill (self, box[0], box[1], box[2], width, rgb);
  kvasir_raster_fill (self, box[0], box[1] + box[3] - width, box[2], width, rgb);
  kvasir_raster_fill (self, box[0], box[1], width, box[3], rgb);
  kvasir_raster_fill (self, box[0] + box[2] - width, box[1], width, box[3], rgb);
}

void
kvasir_raster_stipple (KvasirRaster *self, gint x, gint y, gint w, gint h)
{
  gint c[4];
  if (!clip (self, (const gint[4]){ x, y, w, h }, c))
    return;
  for (gint row = c[1]; row < c[3]; row++)
    {
      guint32 *line = self->pixels + (gsize) row * (gsize) self->stride;
      for (gint column = c[0]; column < c[2]; column++)
        if (((column >> 1) + (row >> 1)) & 1)
          line[column] = kvasir_palette_mix (line[column] & 0xffffff, KVASIR_RGB_WHITE, 0.35);
    }
}

void
kvasir_raster_hatch (KvasirRaster *self, const gint box[4], KvasirRgb rgb)
{
  gint c[4];
  if (!clip (self, box, c))
    return;
  for (gint row = c[1]; row < c[3]; row++)
    {
      guint32 *line = self->pixels + (gsize) row * (gsize) self->stride;
      for (gint column = c[0] + ((row - c[0]) & 3); column < c[2]; column += 4)
        line[column] = rgb;
    }
}
