/* viz/axis.h - a straight scale of whole numbers with ticks at round ones
 * Thread: any; plain values.
 */
#pragma once

#include <glib.h>

#include "viz/canvas.h"

G_BEGIN_DECLS

typedef struct
{
  double start;  /* logical pixels */
  double length; /* for the numbers 0 ... end */
  gint64 end;
  gint64 step; /* between ticks, a power of two */
} KvasirAxis;

/* Ends at the next multiple of 256 (what the engine reads comes in these), ticks @distance apart or
 * more. */
void kvasir_axis_init (KvasirAxis *self, double start, double length, gint64 last, double distance);
double kvasir_axis_get (const KvasirAxis *self, double number);
gint64 kvasir_axis_find (const KvasirAxis *self, double place);

/* Tick labels centred at the numbers, at height @y. */
void kvasir_axis_draw_across (const KvasirAxis *self, KvasirCanvas *canvas, double y);
/* Tick labels that end at @x. */
void kvasir_axis_draw_down (const KvasirAxis *self, KvasirCanvas *canvas, double x);

G_END_DECLS
