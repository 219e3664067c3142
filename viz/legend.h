/* viz/legend.h - a column of names with a swatch and a number each
 *
 * Laid out once, then drawn, hit and read out from the same rows.
 * Owner: the view. Thread: one at a time. Units: logical pixels.
 */
#pragma once

#include <glib.h>

#include "viz/canvas.h"
#include "viz/view.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_SWATCH_NONE,
  KVASIR_SWATCH_PLAIN,
  KVASIR_SWATCH_LETTER, /* of thing.seq */
  KVASIR_SWATCH_STIPPLE,
  KVASIR_SWATCH_HATCH,
  KVASIR_SWATCH_HATCH_UP,
  KVASIR_SWATCH_DOTS,
  KVASIR_SWATCH_NOTCH,
  KVASIR_SWATCH_RING,
  KVASIR_SWATCH_CORNER,
  KVASIR_SWATCH_DOTTED_FRAME
} KvasirSwatch;

typedef struct _KvasirLegend KvasirLegend;

KvasirLegend *kvasir_legend_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_legend_free (KvasirLegend *self);

/* Starts over at a place; @unit: kvasir_canvas_get_unit(). */
void kvasir_legend_begin (KvasirLegend *self, double x, double y, double width, double unit);
void kvasir_legend_add_head (KvasirLegend *self, const char *name);
void kvasir_legend_add_note (KvasirLegend *self, const char *text);
/* @thing (nullable): what the row stands for. */
void kvasir_legend_add (KvasirLegend *self,
                        KvasirSwatch swatch,
                        KvasirRgb rgb,
                        const KvasirThing *thing,
                        const char *name,
                        const char *value);
/* A line above, the text bold. */
void kvasir_legend_add_total (KvasirLegend *self, const char *name, const char *value);
/* Leaves room for something else; returns where it is. */
KvasirRect kvasir_legend_add_space (KvasirLegend *self, double height);
/* Where the next row would begin. */
double kvasir_legend_get_end (const KvasirLegend *self);

void kvasir_legend_draw (const KvasirLegend *self, KvasirCanvas *canvas);
gboolean kvasir_legend_hit (const KvasirLegend *self, double x, double y, KvasirThing *thing);
/* The row that stands for a thing, or FALSE. */
gboolean kvasir_legend_find (const KvasirLegend *self, const KvasirThing *thing, KvasirRect *rect);
/* "name: value" lines; a head over what is only drawn is left out. */
void kvasir_legend_append_text (const KvasirLegend *self, GString *out);

G_END_DECLS
