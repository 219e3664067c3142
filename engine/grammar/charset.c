#include "engine/grammar/charset.h"

static int
compare (gconstpointer a, gconstpointer b)
{
  const KvasirCodeRange *x = a;
  const KvasirCodeRange *y = b;
  return x->first < y->first ? -1 : x->first > y->first;
}

void
kvasir_code_ranges_sort (GArray *ranges)
{
  guint n = 0;
  g_array_sort (ranges, compare);
  KvasirCodeRange *all = (KvasirCodeRange *) (gpointer) ranges->data;
  for (guint i = 0; i < ranges->len; i++)
    if (n > 0 && all[i].first <= all[n - 1].last + 1)
      all[n - 1].last = MAX (all[n - 1].last, all[i].last);
    else
      all[n++] = all[i];
  g_array_set_size (ranges, n);
}

void
kvasir_code_ranges_negate (GArray *ranges)
{
  GArray *rest = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  guint32 from = 0;
  for (guint i = 0; i < ranges->len; i++)
    {
      KvasirCodeRange range = g_array_index (ranges, KvasirCodeRange, i);
      KvasirCodeRange gap = { from, range.first - 1 };
      if (range.first > from)
        g_array_append_val (rest, gap);
      from = range.last + 1;
    }
  KvasirCodeRange end = { from, KVASIR_MAX_CODE };
  if (from <= KVASIR_MAX_CODE)
    g_array_append_val (rest, end);
  g_array_set_size (ranges, 0);
  g_array_append_vals (ranges, rest->data, rest->len);
  g_array_unref (rest);
}

gboolean
kvasir_code_ranges_meet (const KvasirCodeRange *ranges, guint n, guint32 first, guint32 last)
{
  guint low = 0;
  guint high = n;
  /* The first range that ends at or behind @first. */
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (ranges[middle].last < first)
        low = middle + 1;
      else
        high = middle;
    }
  return low < n && ranges[low].first <= last;
}
