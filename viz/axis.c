#include "viz/axis.h"

#include <math.h>

#include "viz/format.h"

void
kvasir_axis_init (KvasirAxis *self, double start, double length, gint64 last, double distance)
{
  self->start = start;
  self->length = length;
  self->end = MAX ((last + 255) / 256 * 256, 256);
  self->step = 32;
  while ((double) self->step * length < distance * (double) self->end)
    self->step *= 2;
}

double
kvasir_axis_get (const KvasirAxis *self, double number)
{
  return self->start + number / (double) self->end * self->length;
}

gint64
kvasir_axis_find (const KvasirAxis *self, double place)
{
  return (gint64) floor ((place - self->start) / self->length * (double) self->end);
}

void
kvasir_axis_draw_across (const KvasirAxis *self, KvasirCanvas *canvas, double y)
{
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  for (gint64 n = 0; n <= self->end; n += self->step)
    kvasir_canvas_text_middle (canvas, kvasir_axis_get (self, (double) n), y,
                               kvasir_format_count (n).s);
}

void
kvasir_axis_draw_down (const KvasirAxis *self, KvasirCanvas *canvas, double x)
{
  kvasir_canvas_set_pen (canvas, KVASIR_STYLE_TICK, KVASIR_RGB_DIM);
  for (gint64 n = 0; n <= self->end; n += self->step)
    kvasir_canvas_text_right (canvas, x, kvasir_axis_get (self, (double) n),
                              kvasir_format_count (n).s);
}
