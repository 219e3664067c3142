/* viz/canvas.h - what every view draws with: text, bars, patterns, marks
 *
 * A canvas lends a cairo context for one drawing and keeps what is costly between drawings: each
 * text in each style is shaped once and kept as a mask, because views redraw the same few hundred
 * words and numbers many times a second.
 *
 * Owner:  one per view. Thread: one at a time.
 * Units:  logical pixels; the context's device scale is passed to kvasir_canvas_begin().
 */
#pragma once

#include <cairo.h>
#include <glib.h>

#include "viz/palette.h"

G_BEGIN_DECLS

typedef struct
{
  double x, y, w, h;
} KvasirRect;

static inline gboolean
kvasir_rect_has (const KvasirRect *rect, double x, double y)
{
  return x >= rect->x && y >= rect->y && x < rect->x + rect->w && y < rect->y + rect->h;
}

typedef enum
{
  KVASIR_STYLE_TITLE, /* heads of sections, bold */
  KVASIR_STYLE_BODY,
  KVASIR_STYLE_STRONG, /* bold, the size of notes */
  KVASIR_STYLE_NOTE,
  KVASIR_STYLE_MONO,
  KVASIR_STYLE_MONO_STRONG,
  KVASIR_STYLE_TICK, /* axes */
  KVASIR_STYLE_TINY, /* positions inside cards */
  KVASIR_N_STYLES
} KvasirTextStyle;

typedef enum
{
  KVASIR_PATTERN_STIPPLE,  /* shared */
  KVASIR_PATTERN_HATCH,    /* downward lines: outside the window, mapped */
  KVASIR_PATTERN_HATCH_UP, /* upward lines: future, other programs */
  KVASIR_PATTERN_DOTS,     /* padding */
  KVASIR_N_PATTERNS
} KvasirPattern;

typedef struct _KvasirCanvas KvasirCanvas;

KvasirCanvas *kvasir_canvas_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_canvas_free (KvasirCanvas *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirCanvas, kvasir_canvas_free)

/* @family: of the interface font. @size: its height in logical pixels; text of views is set in
 * proportion to it, and so are the rows that hold text (kvasir_canvas_get_unit). */
void kvasir_canvas_set_font (KvasirCanvas *self, const char *family, double size);
/* How much larger text is than designed: 1 at the usual size, 2 at 200 %. */
double kvasir_canvas_get_unit (const KvasirCanvas *self);

/* @cr is borrowed until kvasir_canvas_end(). */
void kvasir_canvas_begin (KvasirCanvas *self, cairo_t *cr, double scale);
void kvasir_canvas_end (KvasirCanvas *self);
cairo_t *kvasir_canvas_get_cairo (KvasirCanvas *self);
double kvasir_canvas_get_scale (const KvasirCanvas *self);

/* ---- text; @y is the middle of the line. The pen stays until set again. Returns the width. */
void kvasir_canvas_set_pen (KvasirCanvas *self, KvasirTextStyle style, KvasirRgb rgb);
double kvasir_canvas_text (KvasirCanvas *self, double x, double y, const char *text);
double kvasir_canvas_text_right (KvasirCanvas *self, double x, double y, const char *text);
double kvasir_canvas_text_middle (KvasirCanvas *self, double x, double y, const char *text);
/* Ends with an ellipsis where wider than @max_width; draws nothing where not even that fits. */
double kvasir_canvas_text_clipped (
    KvasirCanvas *self, double x, double y, double max_width, const char *text);
/* Without drawing. */
double kvasir_canvas_measure (KvasirCanvas *self, KvasirTextStyle style, const char *text);

/* ---- shapes */
void kvasir_canvas_fill (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect);
void kvasir_canvas_fill_round (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect, double radius);
/* The outline lies inside @rect. */
void kvasir_canvas_outline (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect, double width);
void kvasir_canvas_pattern (
    KvasirCanvas *self, KvasirPattern pattern, KvasirRgb rgb, double alpha, KvasirRect rect);
/* A dashed or dotted straight line; @dash 0: solid. */
void kvasir_canvas_line (
    KvasirCanvas *self, KvasirRgb rgb, double width, double dash, const double points[4]);
/* A dark box with a light text on it, its middle at (x, y). */
void kvasir_canvas_tag (KvasirCanvas *self, double x, double y, KvasirRgb rgb, const char *text);
/* The square with the letter that stands for a sequence. */
void kvasir_canvas_letter (KvasirCanvas *self, guint seq, double x, double y, double size);

G_END_DECLS
