/* engine/vocab/utf8.h - strict reading of UTF-8 that may be broken or cut
 *
 * GLib's reader takes a byte of 0 for the end and sequences of up to six bytes for unfinished ones;
 * model output needs to know for sure whether more bytes can still make a character.
 * Thread: any, pure.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns: how many of the @n > 0 bytes make a character, which goes to @c; 0 where the bytes are
 * the start of one that needs more; -k where the first k bytes can never become one. Those k are
 * the start of a character as far as it goes, at least one byte (Unicode 3.9, maximal subpart). */
int kvasir_utf8_read (const guint8 *bytes, gsize n, gunichar *c);

/* Appends the characters of @text, and U+FFFD for bytes that make none. With @wait an unfinished
 * character at the end is left. Returns: the number of bytes used */
gsize kvasir_utf8_append_valid (const char *text, gsize len, gboolean wait, GString *out);

/* GLib lowers letters alone; Roman numerals and circled letters have two cases as well. */
gunichar kvasir_unichar_lower (gunichar c);
/* Bytes that are no character stay. Returns: (transfer full): with a NUL behind it */
char *kvasir_utf8_lower (const char *text, gsize len, gsize *lower_len);

G_END_DECLS
