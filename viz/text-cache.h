/* viz/text-cache.h - shaped texts as masks
 *
 * Shaping a word with Pango costs some tens of microseconds, painting a mask about one. What was
 * not asked for lately is forgotten in one go when the cache is full.
 * Owner: KvasirCanvas. Thread: one at a time.
 */
#pragma once

#include <cairo.h>

#include "viz/canvas.h"

G_BEGIN_DECLS

typedef struct
{
  cairo_surface_t *mask; /* A8, with the device scale set */
  double width;          /* of the text; logical pixels */
  double height;
  double middle; /* from the top of the mask to the middle of a line of capitals */
} KvasirText;

typedef struct _KvasirTextCache KvasirTextCache;

KvasirTextCache *kvasir_text_cache_new (void) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_text_cache_free (KvasirTextCache *self);

/* Both forget every text if something changed. */
void kvasir_text_cache_set_font (KvasirTextCache *self, const char *family, double unit);
void kvasir_text_cache_set_scale (KvasirTextCache *self, double scale);
double kvasir_text_cache_get_unit (const KvasirTextCache *self);

/* @limit: width in logical pixels from which on the text is cut with an ellipsis, 0: none. The text
 * holds until the next call. */
const KvasirText *
kvasir_text_cache_get (KvasirTextCache *self, KvasirTextStyle style, gint limit, const char *text);

G_END_DECLS
