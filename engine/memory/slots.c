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
  gint first = kvasir_bit_tree_next (&cells->vacant, from);

  /* One token, as a sequence goes on: where the run of empty cells ends does not matter. */
  if (n == 1 && first >= 0 && (guint) first < to)
    {
      if (slots != NULL)
        slots[0] = (guint32) first;
      return 1;
    }
  while (first >= 0 && (guint) first < to && n_found < n)
    {
      gint next_used = kvasir_bit_tree_next (&cells->used, (guint) first);
      guint end = next_used < 0 ? to : MIN ((guint) next_used, to);
      guint n_run = MIN (end - (guint) first, n - n_found);

      for (guint i = 0; slots != NULL && i < n_run; i++)
        slots[n_found + i] = (guint32) first + i;
      n_found += n_run;
      first = kvasir_bit_tree_next (&cells->vacant, end);
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
  /* Nearly always the next token has the cell behind the last one. */
  if (n == 1 && kvasir_bit_tree_has (&cells->vacant, start))
    {
      if (slots != NULL)
        slots[0] = start;
      return TRUE;
    }
  n_found = collect (cells, start, cells->size, n, slots);
  if (n_found < n)
    n_found += collect (cells, 0, start, n - n_found, slots != NULL ? slots + n_found : NULL);
  return n_found == n;
}

/* Whether every owner's next token is past the window of @cell. */
static gboolean
is_outside (const KvasirCells *cells, const KvasirWindowRule *window, gboolean relaxed, guint cell)
{
  KvasirSeqSet seqs;

  kvasir_cells_get_seqs (cells, cell, &seqs);
  if (!relaxed && kvasir_seq_set_count (&seqs) > 1)
    return FALSE;
  for (gint seq = kvasir_seq_set_next (&seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (&seqs, (guint) seq + 1))
    {
      gint32 next = kvasir_cells_get_span (cells, (guint) seq).max + 1;

      if (cells->pos[cell] >= kvasir_window_get_first (window, next))
        return FALSE;
    }
  return TRUE;
}

static gboolean
find_by_rule (const KvasirCells *cells,
              const KvasirWindowRule *window,
              gboolean relaxed,
              guint n,
              guint32 *slots)
{
  guint i = kvasir_slots_get_start (cells, n, NULL);
  guint n_found = 0;

  for (guint left = cells->size; left > 0; left--)
    {
      if (cells->pos[i] < 0 || is_outside (cells, window, relaxed, i))
        {
          if (slots != NULL)
            slots[n_found] = (guint32) i;
          if (++n_found == n)
            return TRUE;
        }
      i = i + 1 < cells->size ? i + 1 : 0;
    }
  return FALSE;
}

gboolean
kvasir_slots_find_sliding (const KvasirCells *cells,
                           const KvasirWindowRule *window,
                           gboolean relaxed,
                           guint n,
                           guint32 *slots)
{
  g_assert (n > 0);

  if (n > cells->size)
    return FALSE;
  return find_by_rule (cells, window, FALSE, n, slots) ||
         (relaxed && find_by_rule (cells, window, TRUE, n, slots));
}

guint
kvasir_slots_count_usable (const KvasirCells *cells, const KvasirWindowRule *window)
{
  guint n = cells->size - cells->n_used;

  if (window->kind == KVASIR_WINDOW_NONE)
    return n;
  for (gint i = kvasir_bit_tree_next (&cells->used, 0); i >= 0;
       i = kvasir_bit_tree_next (&cells->used, (guint) i + 1))
    n += is_outside (cells, window, FALSE, (guint) i);
  return n;
}
