/* ui/base/display-text.h - makes any text safe to show
 *
 * What is shown differs from what is stored only where showing it as it is would deceive or hurt:
 * control characters, direction overrides, invisible tag characters and heaps of combining marks
 * become visible marks. Copying always takes the stored text.
 * Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Appends @text, of @len bytes, which need not be valid UTF-8. Newlines and tabs stay. */
void kvasir_display_text_append (GString *out, const char *text, gssize len);
/* The same as a new string. */
char *kvasir_display_text (const char *text, gssize len) G_GNUC_WARN_UNUSED_RESULT;
/* One line of at most @max_chars characters, white space collapsed, cut with an ellipsis. */
char *kvasir_display_line (const char *text, guint max_chars) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
