/* viz/format.h - numbers as people read them
 *
 * Thousands have a thin gap, sizes are in MiB and KiB, ranges have an en dash. Each function
 * returns a small value; use it as kvasir_format_count (n).s within the expression.
 * Thread: any; everything here is pure.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_THIN_SPACE                                                                          \
  "\342\200\211\342\201\240" /* U+2009, and U+2060 so that no line breaks there */

typedef struct
{
  char s[64];
} KvasirFormatted;

/* "1 755", "-3 000" with thin gaps. */
KvasirFormatted kvasir_format_count (gint64 n);
/* "0–1 338"; one number where both are the same. */
KvasirFormatted kvasir_format_range (gint64 first, gint64 last);
/* "512 B", "22.5 KiB", "11.25 KiB", "38.6 MiB", "2 560.0 MiB", "13.1 GiB" from 10 GiB on. */
KvasirFormatted kvasir_format_size (guint64 n_bytes);
/* "38.6": MiB with one place, for tables whose head says MiB. */
KvasirFormatted kvasir_format_mib (guint64 n_bytes);
/* "+1.0", "−3.0", "0.0": @a less @b in MiB. */
KvasirFormatted kvasir_format_mib_difference (guint64 a, guint64 b);
/* "1 layer", "30 layers". */
KvasirFormatted kvasir_format_layers (guint n);
/* "180 µs", "3.4 ms", "1.9 s", "2 min 5 s". */
KvasirFormatted kvasir_format_duration (gint64 us);

/* The bytes of a token as one readable line: invalid ones are replaced, line ends and tabs become
 * signs, blanks stay. Returns: (transfer full) */
char *kvasir_format_dup_visible (const char *bytes);

G_END_DECLS
