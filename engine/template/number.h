/* engine/template/number.h - numbers as Python writes and reads them
 *
 * Thread: any. Nothing here depends on the locale.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_JINJA_NUMBER_BYTES 40

/* repr(): the shortest digits that give the same number back; "1.0", "1e+16", "nan". */
void kvasir_jinja_format_float (double number, char out[KVASIR_JINJA_NUMBER_BYTES]);

/* int(text, base) and float(text): white space around, underscores between digits. FALSE if it is
 * none, or does not fit. */
gboolean kvasir_jinja_parse_int (const char *bytes, gsize len, guint base, gint64 *number);
gboolean kvasir_jinja_parse_float (const char *bytes, gsize len, double *number);
/* FALSE if the number, cut to an integer, is outside of int64. */
gboolean kvasir_jinja_float_to_int (double number, gint64 *integer);

G_END_DECLS
