#include "viz/text-cache.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define MAX_TEXTS 4096

struct _KvasirTextCache
{
  GHashTable *texts;                            /* (owned) key string -> KvasirText */
  GString *key;                                 /* (owned) reused for look-ups */
  PangoContext *pango;                          /* (owned) */
  PangoFontDescription *fonts[KVASIR_N_STYLES]; /* (owned) */
  char *family;                                 /* (owned) */
  double unit;
  double scale;
};

static const struct
{
  double size;
  gboolean mono;
  gboolean bold;
} styles[KVASIR_N_STYLES] = {
  [KVASIR_STYLE_TITLE] = { 13, FALSE, TRUE },  [KVASIR_STYLE_BODY] = { 13, FALSE, FALSE },
  [KVASIR_STYLE_STRONG] = { 12, FALSE, TRUE }, [KVASIR_STYLE_NOTE] = { 12, FALSE, FALSE },
  [KVASIR_STYLE_MONO] = { 12, TRUE, FALSE },   [KVASIR_STYLE_MONO_STRONG] = { 12, TRUE, TRUE },
  [KVASIR_STYLE_TICK] = { 10.5, TRUE, FALSE }, [KVASIR_STYLE_TINY] = { 9.5, TRUE, FALSE },
};

static void
text_free (gpointer data)
{
  KvasirText *text = data;
  cairo_surface_destroy (text->mask);
  g_free (text);
}

static PangoContext *
make_context (void)
{
  PangoContext *pango = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  cairo_font_options_t *options = cairo_font_options_create ();
  /* Masks have one channel, so subpixel rendering is out. */
  cairo_font_options_set_antialias (options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_SLIGHT);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options (pango, options);
  /* Rounded to pixels the gaps between words and within numbers all but vanish at these sizes. */
  pango_context_set_round_glyph_positions (pango, FALSE);
  cairo_font_options_destroy (options);
  return pango;
}

KvasirTextCache *
kvasir_text_cache_new (void)
{
  KvasirTextCache *self = g_new0 (KvasirTextCache, 1);
  self->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, text_free);
  self->key = g_string_new (NULL);
  self->pango = make_context ();
  self->scale = 1;
  return self;
}

void
kvasir_text_cache_free (KvasirTextCache *self)
{
  g_hash_table_unref (self->texts);
  g_string_free (self->key, TRUE);
  g_object_unref (self->pango);
  for (guint i = 0; i < KVASIR_N_STYLES; i++)
    pango_font_description_free (self->fonts[i]);
  g_free (self->family);
  g_free (self);
}

static PangoFontDescription *
make_font (KvasirTextCache *self, KvasirTextStyle style)
{
  PangoFontDescription *font = pango_font_description_new ();
  pango_font_description_set_family (font, styles[style].mono ? "Monospace" : self->family);
  pango_font_description_set_absolute_size (font, styles[style].size * self->unit * PANGO_SCALE);
  pango_font_description_set_weight (font,
                                     styles[style].bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  return font;
}

void
kvasir_text_cache_set_font (KvasirTextCache *self, const char *family, double unit)
{
  if (g_strcmp0 (family, self->family) == 0 && unit == self->unit)
    return;
  g_free (self->family);
  self->family = g_strdup (family);
  self->unit = unit;
  g_hash_table_remove_all (self->texts);
  for (guint i = 0; i < KVASIR_N_STYLES; i++)
    {
      pango_font_description_free (self->fonts[i]);
      self->fonts[i] = make_font (self, i);
    }
}

void
kvasir_text_cache_set_scale (KvasirTextCache *self, double scale)
{
  if (scale == self->scale)
    return;
  self->scale = scale;
  g_hash_table_remove_all (self->texts);
}

double
kvasir_text_cache_get_unit (const KvasirTextCache *self)
{
  return self->unit;
}

static void
paint_mask (KvasirTextCache *self, KvasirText *text, PangoLayout *layout)
{
  gint width = (gint) ceil ((text->width + 2) * self->scale);
  gint height = (gint) ceil ((text->height + 1) * self->scale);
  text->mask = cairo_image_surface_create (CAIRO_FORMAT_A8, width, height);
  cairo_surface_set_device_scale (text->mask, self->scale, self->scale);
  cairo_t *cr = cairo_create (text->mask);
  pango_cairo_update_layout (cr, layout);
  pango_cairo_show_layout (cr, layout);
  cairo_destroy (cr);
}

static KvasirText *
shape (KvasirTextCache *self, KvasirTextStyle style, gint width, const char *string)
{
  KvasirText *text = g_new0 (KvasirText, 1);
  PangoLayout *layout = pango_layout_new (self->pango);
  PangoRectangle logical;
  pango_layout_set_font_description (layout, self->fonts[style]);
  if (width > 0)
    {
      pango_layout_set_width (layout, width * PANGO_SCALE);
      pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
    }
  /* Line breaks inside a token must not make a label two lines high. */
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_layout_set_text (layout, string, -1);
  pango_layout_get_pixel_extents (layout, NULL, &logical);
  text->width = logical.width;
  text->height = logical.height;
  /* Capitals are about 0.72 of the size high, from the baseline up. */
  text->middle = pango_layout_get_baseline (layout) / (double) PANGO_SCALE -
                 0.36 * styles[style].size * self->unit;
  paint_mask (self, text, layout);
  g_object_unref (layout);
  return text;
}

static const KvasirText *
look_up (KvasirTextCache *self, KvasirTextStyle style, gint width, const char *string)
{
  g_string_printf (self->key, "%d:%d:%s", (int) style, width, string);
  KvasirText *text = g_hash_table_lookup (self->texts, self->key->str);
  if (text != NULL)
    return text;
  if (g_hash_table_size (self->texts) >= MAX_TEXTS)
    g_hash_table_remove_all (self->texts);
  text = shape (self, style, width, string);
  g_hash_table_insert (self->texts, g_strdup (self->key->str), text);
  return text;
}

const KvasirText *
kvasir_text_cache_get (KvasirTextCache *self, KvasirTextStyle style, gint limit, const char *text)
{
  return look_up (self, style, MAX (limit, 0), text);
}
