/* engine/template/unicode.h - what Python's str type knows about characters
 *
 * Thread: any. Texts are valid UTF-8 (checked where they enter), lengths in bytes unless named
 * otherwise, and need not end in a NUL. Nothing here depends on the locale.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The most bytes that one character's other case takes. */
#define KVASIR_JINJA_CASE_BYTES 24

/* As g_utf8_validate_len(), but NUL is a character like any other. */
gboolean kvasir_jinja_is_utf8 (const char *bytes, gsize len);
gsize kvasir_jinja_count_chars (const char *bytes, gsize len);
/* The byte offset of character @n_chars, at most @len. */
gsize kvasir_jinja_char_offset (const char *bytes, gsize len, gsize n_chars);

/* str.isspace(), also what \s matches. */
gboolean kvasir_jinja_is_space (gunichar c);
/* Where str.splitlines() splits. */
gboolean kvasir_jinja_is_line_end (gunichar c);
/* Whether repr() shows the character as itself. */
gboolean kvasir_jinja_is_printable (gunichar c);
gboolean kvasir_jinja_is_word (gunichar c);

/* Bytes of white space at the start, or at the end, of the text. */
gsize kvasir_jinja_leading_space (const char *bytes, gsize len);
gsize kvasir_jinja_trailing_space (const char *bytes, gsize len);

/* Full case mapping of one character into @out; returns the bytes written. */
gsize kvasir_jinja_to_upper (gunichar c, char out[KVASIR_JINJA_CASE_BYTES]);
gsize kvasir_jinja_to_lower (gunichar c, char out[KVASIR_JINJA_CASE_BYTES]);
gsize kvasir_jinja_to_title (gunichar c, char out[KVASIR_JINJA_CASE_BYTES]);
gboolean kvasir_jinja_is_cased (gunichar c);

G_END_DECLS
