/* Changes of up to 64 cells at once. Most words of a long sequence are full, and what is the same
 * for all their cells is done in loops without branches, which compilers turn into vectors. */
#include "engine/memory/cells.h"

#define FULL (~G_GUINT64_CONSTANT (0))
#define CELLS 64

static inline guint
take_cell (guint w, guint64 *bits)
{
  guint cell = w * CELLS + (guint) __builtin_ctzll (*bits);

  *bits &= *bits - 1;
  return cell;
}

guint64
kvasir_cells_select (
    const KvasirCells *self, guint w, guint64 bits, gint32 p0, gint32 p1, gboolean is_rising)
{
  const gint32 *pos = self->pos + (gsize) w * CELLS;
  guint64 kept = 0;

  if (bits == 0 || (p0 == 0 && p1 == KVASIR_POS_END))
    return bits;
  if (is_rising)
    {
      gint32 first = pos[__builtin_ctzll (bits)];
      gint32 last = pos[63 - __builtin_clzll (bits)];

      if (first >= p0 && last < p1)
        return bits;
      if (last < p0 || first >= p1)
        return 0;
    }
  for (guint64 left = bits; left != 0; left &= left - 1)
    {
      gint32 at = pos[__builtin_ctzll (left)];

      if (at >= p0 && at < p1)
        kept |= left & -left;
    }
  return kept;
}

/* @n cells of a sequence, counted from first_seq, have gone; which positions is not looked at. */
static void
shrink_span (KvasirCells *self, guint bit, guint n)
{
  KvasirSeqSpan *span = &self->spans[bit];

  span->n_cells -= n;
  if (span->n_cells == 0)
    {
      span->min = span->max = -1;
      span->last_cell = G_MAXUINT;
      kvasir_seq_set_remove (&self->alive, bit);
    }
  else
    kvasir_seq_set_add (&self->stale, bit);
}

static guint
count_shifted (const gint32 *shift)
{
  guint n = 0;

  for (guint i = 0; i < CELLS; i++)
    n += shift[i] != 0;
  return n;
}

static void
forget_word (KvasirCells *self, guint w)
{
  gsize first = (gsize) w * CELLS;

  self->n_shifted -= count_shifted (self->shift + first);
  for (guint i = 0; i < CELLS; i++)
    {
      self->pos[first + i] = -1;
      self->origins[first + i] = (KvasirCellOrigin){ .token = -1 };
    }
  for (guint i = 0; i < CELLS; i++)
    self->shift[first + i] = 0;
  for (guint i = 0; self->places != NULL && i < 2 * CELLS; i++)
    self->places[2 * first + i] = 0;
}

static void
forget_cell (KvasirCells *self, guint cell)
{
  if (self->shift[cell] != 0)
    self->n_shifted--;
  self->pos[cell] = -1;
  self->origins[cell] = (KvasirCellOrigin){ .token = -1 };
  self->shift[cell] = 0;
  if (self->places != NULL)
    self->places[2 * cell] = self->places[2 * cell + 1] = 0;
}

void
kvasir_cells_forget_bits (KvasirCells *self, guint w, guint64 bits)
{
  if (bits == 0)
    return;
  if (bits == FULL)
    forget_word (self, w);
  else
    for (guint64 left = bits; left != 0;)
      forget_cell (self, take_cell (w, &left));
  kvasir_bit_tree_remove_bits (&self->used, w, bits);
  kvasir_bit_tree_add_bits (&self->vacant, w, bits);
  self->n_used -= (guint) __builtin_popcountll (bits);
}

void
kvasir_cells_empty_bits (KvasirCells *self, guint w, guint64 bits)
{
  guint n = self->n_set_words;

  for (gint bit = kvasir_seq_set_next (&self->alive, 0); bit >= 0;
       bit = kvasir_seq_set_next (&self->alive, (guint) bit + 1))
    {
      guint64 *owned = &self->spans[bit].words[w];
      guint64 common = *owned & bits;

      *owned &= ~common;
      if (common != 0)
        shrink_span (self, (guint) bit, (guint) __builtin_popcountll (common));
    }
  for (guint64 left = bits; left != 0;)
    {
      gsize cell = take_cell (w, &left);

      for (guint i = 0; i < n; i++)
        self->sets[cell * n + i] = 0;
    }
  kvasir_cells_forget_bits (self, w, bits);
}

static gboolean
is_any_zero (const guint64 *sets)
{
  guint n = 0;

  for (guint i = 0; i < CELLS; i++)
    n += sets[i] == 0;
  return n > 0;
}

/* Takes a sequence out of the sets. Returns: the cells that nobody holds any more */
static guint64
leave_sets (KvasirCells *self, guint w, guint64 bits, guint bit)
{
  guint n = self->n_set_words;
  guint64 *sets = self->sets + (gsize) w * CELLS * n;
  guint64 keep = ~KVASIR_BIT (bit);
  guint64 rest = 0;
  guint64 gone = 0;

  if (bits == FULL && n == 1)
    {
      for (guint i = 0; i < CELLS; i++)
        {
          sets[i] &= keep;
          rest |= sets[i];
        }
      if (rest == 0)
        return bits;
      if (!is_any_zero (sets))
        return 0;
    }
  for (guint64 left = bits; left != 0; left &= left - 1)
    {
      guint64 *set = sets + (gsize) __builtin_ctzll (left) * n;

      set[bit / 64] &= keep;
      rest = 0;
      for (guint i = 0; i < n; i++)
        rest |= set[i];
      if (rest == 0)
        gone |= left & -left;
    }
  return gone;
}

void
kvasir_cells_leave_bits (KvasirCells *self, guint w, guint64 bits, guint seq)
{
  guint bit = seq - self->first_seq;

  self->spans[bit].words[w] &= ~bits;
  shrink_span (self, bit, (guint) __builtin_popcountll (bits));
  kvasir_cells_forget_bits (self, w, leave_sets (self, w, bits, bit));
}

void
kvasir_cells_join_bits (KvasirCells *self, guint w, guint64 bits, guint seq)
{
  guint bit = seq - self->first_seq;
  guint n = self->n_set_words;
  guint64 *sets = self->sets + (gsize) w * CELLS * n;
  guint64 *owned = &self->spans[bit].words[w];
  guint64 added = bits & ~*owned;

  if (added == 0)
    return;
  *owned |= added;
  self->spans[bit].n_cells += (guint) __builtin_popcountll (added);
  kvasir_seq_set_add (&self->alive, bit);
  kvasir_seq_set_add (&self->stale, bit);
  if (added == FULL && n == 1)
    for (guint i = 0; i < CELLS; i++)
      sets[i] |= KVASIR_BIT (bit);
  else
    for (guint64 left = added; left != 0; left &= left - 1)
      sets[(gsize) __builtin_ctzll (left) * n + bit / 64] |= KVASIR_BIT (bit);
}

/* Whether a position would fall below 0. */
static gboolean
is_any_below (const gint32 *pos, gint32 delta)
{
  gint32 below = 0;

  for (guint i = 0; i < CELLS; i++)
    below |= pos[i] + delta;
  return below < 0;
}

static void
add_to_word (KvasirCells *self, guint w, gint32 delta)
{
  gint32 *pos = self->pos + (gsize) w * CELLS;
  gint32 *shift = self->shift + (gsize) w * CELLS;
  guint n_before = self->n_shifted > 0 ? count_shifted (shift) : 0;

  for (guint i = 0; i < CELLS; i++)
    {
      pos[i] += delta;
      shift[i] += delta;
    }
  self->n_shifted += (n_before > 0 ? count_shifted (shift) : CELLS) - n_before;
}

void
kvasir_cells_add_bits (KvasirCells *self, guint w, guint64 bits, gint32 delta)
{
  if (bits != FULL || (delta < 0 && is_any_below (self->pos + (gsize) w * CELLS, delta)))
    {
      for (guint64 left = bits; left != 0;)
        {
          guint cell = take_cell (w, &left);

          kvasir_cells_move (self, cell, (gint64) self->pos[cell] + delta);
        }
      return;
    }
  add_to_word (self, w, delta);
  for (gint bit = kvasir_seq_set_next (&self->alive, 0); bit >= 0;
       bit = kvasir_seq_set_next (&self->alive, (guint) bit + 1))
    if (self->spans[bit].words[w] != 0)
      kvasir_seq_set_add (&self->stale, (guint) bit);
}

void
kvasir_cells_settle_shift_bits (KvasirCells *self, guint w, guint64 bits)
{
  gint32 *shift = self->shift + (gsize) w * CELLS;

  if (bits != FULL)
    {
      for (guint64 left = bits; left != 0;)
        kvasir_cells_settle_shift (self, take_cell (w, &left));
      return;
    }
  self->n_shifted -= count_shifted (shift);
  for (guint i = 0; i < CELLS; i++)
    shift[i] = 0;
}
