/* Changes of up to 64 cells at once. Most words of a long sequence are full, and what is the same
 * for all their cells is done in loops without branches, which compilers turn into vectors. */
#include "engine/memory/cells.h"

#include <string.h>

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

/* What is left to do where the last sequence has gone. */
static void
forget (KvasirCells *self, guint w, guint64 bits)
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
  forget (self, w, bits);
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
  forget (self, w, leave_sets (self, w, bits, bit));
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

void
kvasir_cells_set_span (KvasirCells *self, guint seq, const KvasirSeqSpan *span)
{
  guint bit = seq - self->first_seq;

  guint64 *words = self->spans[bit].words;

  g_assert (span->n_cells == self->spans[bit].n_cells);
  self->spans[bit] = *span;
  self->spans[bit].words = words;
  kvasir_seq_set_remove (&self->stale, bit);
}

/* ---- runs */

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

/* ---- looking at all cells of a sequence */

typedef struct
{
  gint32 min;
  gint32 max;
  gint32 before; /* the position of the cell before */
  guint n_falls; /* cells whose position is not above that */
} Measure;

static void
measure_word (const gint32 *pos, Measure *measure)
{
  gint32 min = pos[0];
  gint32 max = pos[0];
  guint n_falls = pos[0] <= measure->before;

  for (guint i = 0; i < CELLS; i++)
    {
      min = MIN (min, pos[i]);
      max = MAX (max, pos[i]);
    }
  for (guint i = 0; i + 1 < CELLS; i++)
    n_falls += pos[i + 1] <= pos[i];
  measure->min = MIN (measure->min, min);
  measure->max = MAX (measure->max, max);
  measure->before = pos[CELLS - 1];
  measure->n_falls += n_falls;
}

static void
measure_bits (const gint32 *pos, guint64 bits, Measure *measure)
{
  for (; bits != 0; bits &= bits - 1)
    {
      gint32 at = pos[__builtin_ctzll (bits)];

      measure->n_falls += at <= measure->before;
      measure->before = at;
      measure->min = MIN (measure->min, at);
      measure->max = MAX (measure->max, at);
    }
}

static void
measure_span (KvasirCells *self, guint bit)
{
  KvasirSeqSpan *span = &self->spans[bit];
  const guint64 *words = span->words;
  Measure measure = { .min = KVASIR_POS_END, .max = -1, .before = -1 };
  gint32 first = -1;

  if (span->n_cells == 0)
    return;
  for (guint w = 0; w < self->n_words; w++)
    {
      const gint32 *pos = self->pos + (gsize) w * CELLS;

      if (words[w] == 0)
        continue;
      if (first < 0)
        first = pos[__builtin_ctzll (words[w])];
      span->last_cell = w * CELLS + 63 - (guint) __builtin_clzll (words[w]);
      if (words[w] == FULL)
        measure_word (pos, &measure);
      else
        measure_bits (pos, words[w], &measure);
    }
  span->min = measure.min;
  span->max = measure.max;
  /* Positions that rise along the cells are all different, also where they wrap around the end. */
  span->is_rising = measure.n_falls == 0;
  span->is_dense = (measure.n_falls == 0 || (measure.n_falls == 1 && measure.before < first)) &&
                   (guint) (measure.max - measure.min) + 1 == span->n_cells;
}

void
kvasir_cells_settle (KvasirCells *self)
{
  for (gint bit = kvasir_seq_set_next (&self->stale, 0); bit >= 0;
       bit = kvasir_seq_set_next (&self->stale, (guint) bit + 1))
    measure_span (self, (guint) bit);
  self->stale = (KvasirSeqSet){ 0 };
}
