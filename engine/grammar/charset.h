/* engine/grammar/charset.h - sets of code points as sorted ranges
 *
 * Plain values in arrays of their owner. Thread: that of the owner.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_MAX_CODE 0x10FFFFu

/* Both ends belong to it. */
typedef struct
{
  guint32 first;
  guint32 last;
} KvasirCodeRange;

/* Sorts @ranges, an array of KvasirCodeRange, and joins those that touch. */
void kvasir_code_ranges_sort (GArray *ranges);
/* What sorted @ranges leave of all code points. */
void kvasir_code_ranges_negate (GArray *ranges);
/* Whether one of the @n sorted ranges has a code point from @first to @last. */
gboolean
kvasir_code_ranges_meet (const KvasirCodeRange *ranges, guint n, guint32 first, guint32 last);

G_END_DECLS
