#include "engine/memory/slots.h"

guint
kvasir_slots_get_start (const KvasirCells *cells, guint n, gboolean *restarted)
{
  gboolean restart = cells->head > cells->n_used + 2 * (guint64) n;

  if (restarted != NULL)
    *restarted = restart;
  return restart ? 0 : cells->head % cells->size;
}

/* Takes empty cells of [from, to) until @n are there. Returns: how many */
static guint
collect (const KvasirCells *cells, guint from, guint to, guint n, guint32 *slots)
{
  guint n_found = 0;
  gint i = kvasir_bit_tree_next (&cells->vacant, from);

  while (i >= 0 && (guint) i < to && n_found < n)
    {
      if (slots != NULL)
        slots[n_found] = (guint32) i;
      n_found++;
      i = kvasir_bit_tree_next (&cells->vacant, (guint) i + 1);
    }
  return n_found;
}

gboolean
kvasir_slots_find (const KvasirCells *cells, guint n, guint32 *slots)
{
  guint start = kvasir_slots_get_start (cells, n, NULL);
  guint n_found;

  g_assert (n > 0);

  if (n > cells->size)
    return FALSE;
  n_found = collect (cells, start, cells->size, n, slots);
  if (n_found < n)
    n_found += collect (cells, 0, start, n - n_found, slots != NULL ? slots + n_found : NULL);
  return n_found == n;
}
