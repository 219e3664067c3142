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
 * the start of one that needs more; -1 where they can never become one. */
int kvasir_utf8_read (const guint8 *bytes, gsize n, gunichar *c);

G_END_DECLS
