/* Many cells that are neighbours, or nearly: runs of tokens, and cells that a plan has its eye on.
 */
#include "engine/memory/cells.h"

#include <string.h>

#define FULL (~G_GUINT64_CONSTANT (0))
#define CELLS 64

guint
kvasir_cells_get_largest_vacant_run (const KvasirCells *self)
{
  guint largest = 0;
  gint first = kvasir_bit_tree_next (&self->vacant, 0);

  while (first >= 0)
    {
      gint end = kvasir_bit_tree_next (&self->used, (guint) first);

      if (end < 0)
        end = (gint) self->size;
      largest = MAX (largest, (guint) (end - first));
      first = kvasir_bit_tree_next (&self->vacant, (guint) end);
    }
  return largest;
}

/* The bits of cells @cell ... in its word, at most @n of them. */
static guint64
get_run_bits (guint cell, guint n)
{
  guint first = cell % CELLS;
  guint end = MIN (first + n, CELLS);

  return (FULL << first) & (FULL >> (CELLS - end));
}

/* Fills what is kept of each cell of a run. */
static void
write_run (
    KvasirCells *self, guint cell, guint n, const KvasirCellEntry *entry, const gint32 *tokens)
{
  const guint64 *set = self->sets + (gsize) cell * self->n_set_words;
  guint64 *sets = self->sets + (gsize) cell * self->n_set_words;

  for (guint i = 1; i < n; i++)
    {
      self->pos[cell + i] = entry->pos + (gint32) i;
      self->origins[cell + i] = (KvasirCellOrigin){ tokens[i], entry->step };
    }
  if (self->n_set_words == 1)
    for (guint i = 1; i < n; i++)
      sets[i] = set[0];
  else
    for (guint i = 1; i < n; i++)
      memcpy (sets + (gsize) i * self->n_set_words, set, self->n_set_words * sizeof *set);
}

void
kvasir_cells_place_run (
    KvasirCells *self, guint cell, guint n, const KvasirCellEntry *entry, const gint32 *tokens)
{
  guint bit = (guint) kvasir_seq_set_next (entry->seqs, 0) - self->first_seq;
  KvasirSeqSpan *span = &self->spans[bit];
  KvasirCellEntry next = *entry;
  guint end = cell + n;

  g_assert (self->places == NULL);

  /* Behind the first one the others only extend what is there, unless it lies among others. */
  next.token = tokens[0];
  kvasir_cells_place (self, cell, &next);
  if (span->max != entry->pos || span->last_cell != cell)
    {
      for (guint i = 1; i < n; i++)
        {
          next.pos = entry->pos + (gint32) i;
          next.token = tokens[i];
          kvasir_cells_place (self, cell + i, &next);
        }
      return;
    }

  write_run (self, cell, n, entry, tokens);
  span->n_cells += n - 1;
  span->max += (gint32) n - 1;
  span->last_cell = end - 1;
  self->n_used += n - 1;
  for (guint c = cell + 1; c < end; c = (c / CELLS + 1) * CELLS)
    {
      guint64 bits = get_run_bits (c, end - c);

      span->words[c / CELLS] |= bits;
      kvasir_bit_tree_add_bits (&self->used, c / CELLS, bits);
      kvasir_bit_tree_remove_bits (&self->vacant, c / CELLS, bits);
    }
}

/* The bits of those @cells from the first on that lie in its word. @n: how many */
static guint64
gather_word (const guint32 *cells, guint n_cells, guint *n)
{
  guint w = cells[0] / 64;
  guint64 bits = 0;

  for (*n = 0; *n < n_cells && cells[*n] / 64 == w; (*n)++)
    bits |= KVASIR_BIT (cells[*n]);
  return bits;
}

void
kvasir_cells_reserve (KvasirCells *self, const guint32 *cells, guint n)
{
  guint n_word;

  for (guint i = 0; i < n; i += n_word)
    {
      guint64 bits = gather_word (cells + i, n - i, &n_word);

      kvasir_bit_tree_add_bits (&self->used, cells[i] / 64, bits);
      kvasir_bit_tree_remove_bits (&self->vacant, cells[i] / 64, bits);
    }
  self->n_used += n;
}

void
kvasir_cells_release (KvasirCells *self, const guint32 *cells, guint n)
{
  guint n_word;

  for (guint i = 0; i < n; i += n_word)
    {
      guint64 bits = gather_word (cells + i, n - i, &n_word);

      kvasir_bit_tree_remove_bits (&self->used, cells[i] / 64, bits);
      kvasir_bit_tree_add_bits (&self->vacant, cells[i] / 64, bits);
    }
  self->n_used -= n;
}
