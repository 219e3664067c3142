/* viz/raster.h - pictures of many small boxes, written pixel by pixel
 *
 * One cairo fill per cell costs about 0.35 ms per thousand; writing the pixels ourselves makes a
 * million cells cost less than one millisecond.
 * Thread: one at a time. Units: device pixels.
 */
#pragma once

#include <cairo.h>
#include <glib.h>

#include "viz/palette.h"

G_BEGIN_DECLS

typedef struct
{
  cairo_surface_t *surface; /* (owned) */
  guint32 *pixels;
  gint stride; /* in pixels */
  gint width;
  gint height;
} KvasirRaster;

/* Filled with @rgb. */
void kvasir_raster_init (KvasirRaster *self, gint width, gint height, KvasirRgb rgb);
/* Paints the raster pixel by pixel with its corner at a point in logical pixels, and frees it. */
void kvasir_raster_paint (KvasirRaster *self, cairo_t *cr, double x, double y, double scale);

/* What lies outside is left away. */
void kvasir_raster_fill (KvasirRaster *self, gint x, gint y, gint w, gint h, KvasirRgb rgb);
/* A frame of @width pixels inside the box. */
void kvasir_raster_frame (KvasirRaster *self, const gint box[4], gint width, KvasirRgb rgb);
/* Lightens every other 2x2 square of the box. */
void kvasir_raster_stipple (KvasirRaster *self, gint x, gint y, gint w, gint h);
/* Paints one falling diagonal line in four. */
void kvasir_raster_hatch (KvasirRaster *self, const gint box[4], KvasirRgb rgb);

G_END_DECLS
