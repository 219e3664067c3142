#include "viz/canvas.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#include "viz/text-cache.h"

/* Size of the interface font at which the views were designed: 11 pt at 96 dpi. */
#define DESIGN_SIZE (11 * 96 / 72.0)

/* Less than this holds no letter and an ellipsis. */
#define MIN_CLIPPED 14

struct _KvasirCanvas
{
  KvasirTextCache *texts;                       /* (owned) */
  cairo_surface_t *patterns[KVASIR_N_PATTERNS]; /* (owned) masks, 8x8 */
  cairo_t *cr;                                  /* (unowned) between begin and end */
  double scale;
  KvasirTextStyle style;
  KvasirRgb rgb;
};

/* One byte a row of eight pixels, the leftmost first. */
static const guint8 pattern_rows[KVASIR_N_PATTERNS][8] = {
  [KVASIR_PATTERN_STIPPLE] = { 0xcc, 0xcc, 0x33, 0x33, 0xcc, 0xcc, 0x33, 0x33 },
  [KVASIR_PATTERN_HATCH] = { 0x88, 0x44, 0x22, 0x11, 0x88, 0x44, 0x22, 0x11 },
  [KVASIR_PATTERN_HATCH_UP] = { 0x11, 0x22, 0x44, 0x88, 0x11, 0x22, 0x44, 0x88 },
  [KVASIR_PATTERN_DOTS] = { 0x80, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00 },
};

static cairo_surface_t *
make_pattern (const guint8 rows[8])
{
  cairo_surface_t *mask = cairo_image_surface_create (CAIRO_FORMAT_A8, 8, 8);
  guint8 *data = cairo_image_surface_get_data (mask);
  gint stride = cairo_image_surface_get_stride (mask);
  cairo_surface_flush (mask);
  for (gint y = 0; y < 8; y++)
    for (gint x = 0; x < 8; x++)
      data[y * stride + x] = (rows[y] >> (7 - x)) & 1 ? 0xff : 0;
  cairo_surface_mark_dirty (mask);
  return mask;
}

KvasirCanvas *
kvasir_canvas_new (void)
{
  KvasirCanvas *self = g_new0 (KvasirCanvas, 1);
  self->texts = kvasir_text_cache_new ();
  for (guint i = 0; i < KVASIR_N_PATTERNS; i++)
    self->patterns[i] = make_pattern (pattern_rows[i]);
  kvasir_canvas_set_font (self, "Sans", DESIGN_SIZE);
  return self;
}

void
kvasir_canvas_free (KvasirCanvas *self)
{
  if (self == NULL)
    return;
  kvasir_text_cache_free (self->texts);
  for (guint i = 0; i < KVASIR_N_PATTERNS; i++)
    cairo_surface_destroy (self->patterns[i]);
  g_free (self);
}

void
kvasir_canvas_set_font (KvasirCanvas *self, const char *family, double size)
{
  kvasir_text_cache_set_font (self->texts, family, size / DESIGN_SIZE);
}

double
kvasir_canvas_get_unit (const KvasirCanvas *self)
{
  return kvasir_text_cache_get_unit (self->texts);
}

void
kvasir_canvas_begin (KvasirCanvas *self, cairo_t *cr, double scale)
{
  self->cr = cr;
  self->scale = scale;
  kvasir_text_cache_set_scale (self->texts, scale);
}

void
kvasir_canvas_end (KvasirCanvas *self)
{
  self->cr = NULL;
}

cairo_t *
kvasir_canvas_get_cairo (KvasirCanvas *self)
{
  return self->cr;
}

double
kvasir_canvas_get_scale (const KvasirCanvas *self)
{
  return self->scale;
}

/* ---- text */

void
kvasir_canvas_set_pen (KvasirCanvas *self, KvasirTextStyle style, KvasirRgb rgb)
{
  self->style = style;
  self->rgb = rgb;
}

static double
draw_text (KvasirCanvas *self, double x, double y, double anchor, const KvasirText *text)
{
  /* Masks are shaped for whole device pixels; between them they would blur. */
  double left = round ((x - anchor * text->width) * self->scale) / self->scale;
  double top = round ((y - text->middle) * self->scale) / self->scale;
  kvasir_palette_set_source (self->cr, self->rgb, 1);
  cairo_mask_surface (self->cr, text->mask, left, top);
  return text->width;
}

double
kvasir_canvas_text (KvasirCanvas *self, double x, double y, const char *text)
{
  return draw_text (self, x, y, 0, kvasir_text_cache_get (self->texts, self->style, 0, text));
}

double
kvasir_canvas_text_right (KvasirCanvas *self, double x, double y, const char *text)
{
  return draw_text (self, x, y, 1, kvasir_text_cache_get (self->texts, self->style, 0, text));
}

double
kvasir_canvas_text_middle (KvasirCanvas *self, double x, double y, const char *text)
{
  return draw_text (self, x, y, 0.5, kvasir_text_cache_get (self->texts, self->style, 0, text));
}

double
kvasir_canvas_text_clipped (
    KvasirCanvas *self, double x, double y, double max_width, const char *text)
{
  const KvasirText *shaped = kvasir_text_cache_get (self->texts, self->style, 0, text);
  if (shaped->width > max_width && max_width < MIN_CLIPPED * kvasir_canvas_get_unit (self))
    return 0;
  if (shaped->width > max_width)
    shaped = kvasir_text_cache_get (self->texts, self->style, (gint) floor (max_width), text);
  return draw_text (self, x, y, 0, shaped);
}

double
kvasir_canvas_measure (KvasirCanvas *self, KvasirTextStyle style, const char *text)
{
  return kvasir_text_cache_get (self->texts, style, 0, text)->width;
}

/* ---- shapes */

void
kvasir_canvas_fill (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect)
{
  kvasir_palette_set_source (self->cr, rgb, 1);
  cairo_rectangle (self->cr, rect.x, rect.y, rect.w, rect.h);
  cairo_fill (self->cr);
}

static void
round_path (cairo_t *cr, KvasirRect rect, double radius)
{
  double r = MIN (radius, MIN (rect.w, rect.h) / 2);
  cairo_new_sub_path (cr);
  cairo_arc (cr, rect.x + rect.w - r, rect.y + r, r, -G_PI / 2, 0);
  cairo_arc (cr, rect.x + rect.w - r, rect.y + rect.h - r, r, 0, G_PI / 2);
  cairo_arc (cr, rect.x + r, rect.y + rect.h - r, r, G_PI / 2, G_PI);
  cairo_arc (cr, rect.x + r, rect.y + r, r, G_PI, 3 * G_PI / 2);
  cairo_close_path (cr);
}

void
kvasir_canvas_fill_round (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect, double radius)
{
  kvasir_palette_set_source (self->cr, rgb, 1);
  round_path (self->cr, rect, radius);
  cairo_fill (self->cr);
}

void
kvasir_canvas_outline (KvasirCanvas *self, KvasirRgb rgb, KvasirRect rect, double width)
{
  kvasir_palette_set_source (self->cr, rgb, 1);
  cairo_set_line_width (self->cr, width);
  cairo_rectangle (self->cr, rect.x + width / 2, rect.y + width / 2, MAX (rect.w - width, 0),
                   MAX (rect.h - width, 0));
  cairo_stroke (self->cr);
}

void
kvasir_canvas_pattern (
    KvasirCanvas *self, KvasirPattern pattern, KvasirRgb rgb, double alpha, KvasirRect rect)
{
  cairo_pattern_t *mask = cairo_pattern_create_for_surface (self->patterns[pattern]);
  cairo_pattern_set_extend (mask, CAIRO_EXTEND_REPEAT);
  cairo_pattern_set_filter (mask, CAIRO_FILTER_NEAREST);
  cairo_save (self->cr);
  cairo_rectangle (self->cr, rect.x, rect.y, rect.w, rect.h);
  cairo_clip (self->cr);
  kvasir_palette_set_source (self->cr, rgb, alpha);
  cairo_mask (self->cr, mask);
  cairo_restore (self->cr);
  cairo_pattern_destroy (mask);
}

void
kvasir_canvas_line (
    KvasirCanvas *self, KvasirRgb rgb, double width, double dash, const double points[4])
{
  kvasir_palette_set_source (self->cr, rgb, 1);
  cairo_set_line_width (self->cr, width);
  cairo_set_dash (self->cr, &dash, dash > 0 ? 1 : 0, 0);
  cairo_move_to (self->cr, points[0], points[1]);
  cairo_line_to (self->cr, points[2], points[3]);
  cairo_stroke (self->cr);
  cairo_set_dash (self->cr, NULL, 0, 0);
}

void
kvasir_canvas_tag (KvasirCanvas *self, double x, double y, KvasirRgb rgb, const char *text)
{
  double unit = kvasir_canvas_get_unit (self);
  double width = kvasir_canvas_measure (self, KVASIR_STYLE_STRONG, text) + 12 * unit;
  KvasirRect box = { round (x - width / 2), round (y - 8 * unit), round (width),
                     round (16 * unit) };
  kvasir_canvas_fill_round (self, 0x000000, box, 3);
  kvasir_canvas_set_pen (self, KVASIR_STYLE_STRONG, rgb);
  kvasir_canvas_text_middle (self, x, y, text);
}

void
kvasir_canvas_letter (KvasirCanvas *self, guint seq, double x, double y, double size)
{
  KvasirRgb rgb = kvasir_palette_get_sequence (seq);
  kvasir_canvas_fill_round (self, rgb, (KvasirRect){ x, y - size / 2, size, size }, 2);
  kvasir_canvas_set_pen (self, KVASIR_STYLE_STRONG, kvasir_palette_get_ink (rgb));
  kvasir_canvas_text_middle (self, x + size / 2, y, kvasir_palette_get_letter (seq).s);
}
