#include "engine/memory/cells.h"

#include <string.h>

static gboolean
allocate (KvasirCells *self)
{
  gboolean ok = kvasir_bit_tree_init (&self->used, self->size);

  ok = kvasir_bit_tree_init (&self->vacant, self->size) && ok;
  self->pos = g_try_new (gint32, self->size);
  self->shift = g_try_new (gint32, self->size);
  self->origins = g_try_new (KvasirCellOrigin, self->size);
  self->sets = g_try_new (guint64, (gsize) self->size * self->n_set_words);
  self->owned = g_try_new0 (guint64, (gsize) self->n_seqs * self->n_words);
  self->spans = g_try_new (KvasirSeqSpan, self->n_seqs);
  return ok && self->pos != NULL && self->shift != NULL && self->origins != NULL &&
         self->sets != NULL && self->owned != NULL && self->spans != NULL;
}

gboolean
kvasir_cells_init (KvasirCells *self, guint size, guint n_seqs)
{
  g_assert (size > 0 && size % 64 == 0);
  g_assert (n_seqs > 0 && n_seqs <= KVASIR_MAX_SEQS);

  *self = (KvasirCells){
    .size = size, .n_words = size / 64, .n_seqs = n_seqs, .n_set_words = (n_seqs + 63) / 64
  };
  if (!allocate (self))
    return FALSE;

  self->is_special = self->n_set_words > 1;
  /* Zeros are written too: pages that the system still has to find would otherwise be waited for
   * by the tokens that come to them first. */
  memset (self->shift, 0, size * sizeof *self->shift);
  memset (self->sets, 0, (gsize) size * self->n_set_words * sizeof *self->sets);
  for (guint i = 0; i < size; i++)
    {
      self->pos[i] = -1;
      self->origins[i] = (KvasirCellOrigin){ .token = -1 };
    }
  for (guint w = 0; w < self->n_words; w++)
    kvasir_bit_tree_add_bits (&self->vacant, w, ~G_GUINT64_CONSTANT (0));
  for (guint seq = 0; seq < n_seqs; seq++)
    self->spans[seq] = (KvasirSeqSpan){ .min = -1,
                                        .max = -1,
                                        .last_cell = G_MAXUINT,
                                        .words = self->owned + (gsize) seq * self->n_words };
  return TRUE;
}

void
kvasir_cells_set_first_seq (KvasirCells *self, guint seq)
{
  g_assert (self->n_used == 0);
  self->first_seq = seq;
  self->is_special |= seq != 0;
}

gboolean
kvasir_cells_add_places (KvasirCells *self)
{
  self->is_special = 1;
  self->places = g_try_new0 (gint32, (gsize) 2 * self->size);
  return self->places != NULL;
}

void
kvasir_cells_clear (KvasirCells *self)
{
  g_free (self->pos);
  g_free (self->shift);
  g_free (self->origins);
  g_free (self->places);
  g_free (self->sets);
  g_free (self->owned);
  g_free (self->spans);
  kvasir_bit_tree_clear (&self->used);
  kvasir_bit_tree_clear (&self->vacant);
}

static inline guint64 *
peek_set (const KvasirCells *self, guint cell)
{
  return self->sets + (gsize) cell * self->n_set_words;
}

/* @bit: a sequence counted from first_seq. */
static inline guint64 *
peek_owned_word (const KvasirCells *self, guint cell, guint bit)
{
  return self->owned + (gsize) bit * self->n_words + cell / 64;
}

void
kvasir_cells_get_seqs (const KvasirCells *self, guint cell, KvasirSeqSet *seqs)
{
  const guint64 *set = peek_set (self, cell);

  *seqs = (KvasirSeqSet){ 0 };
  if (self->first_seq == 0)
    {
      for (guint i = 0; i < self->n_set_words; i++)
        seqs->w[i] = set[i];
      return;
    }
  for (guint i = 0; i < self->n_seqs; i++)
    if ((set[i / 64] >> (i % 64)) & 1)
      kvasir_seq_set_add (seqs, self->first_seq + i);
}

void
kvasir_cells_get (const KvasirCells *self, guint cell, KvasirCell *out)
{
  g_assert (cell < self->size);

  out->pos = self->pos[cell];
  out->shift = self->shift[cell];
  out->token = self->origins[cell].token;
  out->step = self->origins[cell].step;
  out->x = self->places != NULL ? self->places[2 * cell] : 0;
  out->y = self->places != NULL ? self->places[2 * cell + 1] : 0;
  kvasir_cells_get_seqs (self, cell, &out->seqs);
}

guint
kvasir_cells_get_end (const KvasirCells *self)
{
  return (guint) (kvasir_bit_tree_last (&self->used) + 1);
}

/* The position does not follow the last one. */
static void
span_add_apart (KvasirCells *self, guint bit, guint cell, gint32 pos)
{
  KvasirSeqSpan *span = &self->spans[bit];

  if (span->n_cells == 1)
    {
      kvasir_seq_set_add (&self->alive, bit);
      span->min = span->max = pos;
      span->is_dense = span->is_rising = TRUE;
      span->last_cell = cell;
      return;
    }
  span->is_dense &= pos == span->min - 1;
  span->is_rising = FALSE;
  span->min = MIN (span->min, pos);
  span->max = MAX (span->max, pos);
}

static inline void
span_add (KvasirCells *self, guint bit, guint cell, gint32 pos)
{
  KvasirSeqSpan *span = &self->spans[bit];

  if (span->n_cells++ > 0 && pos == span->max + 1)
    {
      span->max = pos;
      span->is_rising &= cell > span->last_cell;
      span->last_cell = cell;
    }
  else
    span_add_apart (self, bit, cell, pos);
}

static inline void
span_remove (KvasirCells *self, guint bit, gint32 pos)
{
  KvasirSeqSpan *span = &self->spans[bit];

  if (--span->n_cells == 0)
    {
      span->min = span->max = -1;
      span->last_cell = G_MAXUINT;
      kvasir_seq_set_remove (&self->alive, bit);
    }
  else if (pos != span->min && pos != span->max)
    span->is_dense = FALSE;
  else if (!span->is_dense)
    kvasir_seq_set_add (&self->stale, bit);
  else if (pos == span->min)
    span->min++;
  else
    span->max--;
}

/* A word of a set of ids, counted from first_seq, which is not 0 only where it is the one id. */
static inline guint64
get_local_word (const KvasirCells *self, const KvasirSeqSet *seqs, guint w)
{
  if (G_LIKELY (self->first_seq == 0))
    return seqs->w[w];
  return kvasir_seq_set_has (seqs, self->first_seq);
}

/* The sequences of @set, the word @w of a cell's set, hold it from now on. */
static inline void
hold (KvasirCells *self, guint cell, guint w, guint64 set, gint32 pos)
{
  guint64 *owned = self->owned + cell / 64;

  self->sets[(gsize) cell * self->n_set_words + w] = set;
  for (; set != 0; set &= set - 1)
    {
      gsize bit = w * 64 + (guint) __builtin_ctzll (set);

      owned[bit * self->n_words] |= KVASIR_BIT (cell);
      span_add (self, (guint) bit, cell, pos);
    }
}

static inline void
write_cell (KvasirCells *self, guint cell, const KvasirCellEntry *entry)
{
  self->pos[cell] = entry->pos;
  self->origins[cell] = entry->origin;
}

/* Nearly every placement: the next position of one sequence goes to a cell behind its others, and
 * no word of the trees becomes zero or ceases to be. The cell is written first, which needs the
 * fewest registers. FALSE: not so, and nothing that place_any() does not write has changed. */
static inline gboolean
append (KvasirCells *self, guint cell, const KvasirCellEntry *entry)
{
  guint64 set = entry->seqs->w[0];
  gsize at = cell;
  gsize w = at / 64;
  KvasirSeqSpan *span;
  guint64 before;
  guint64 after;

  if (((set & (set - 1)) | self->is_special) != 0)
    return FALSE;
  span = &self->spans[(guint) __builtin_ctzll (set)];
  if (entry->pos != span->max + 1 || cell <= span->last_cell)
    return FALSE;
  write_cell (self, cell, entry);
  self->sets[at] = set;
  before = self->vacant.words[0][w];
  after = before & ~KVASIR_BIT (at);
  if (G_UNLIKELY (after == 0))
    return FALSE;
  if (G_UNLIKELY (after == before))
    return FALSE;
  if (G_UNLIKELY (before == ~G_GUINT64_CONSTANT (0)))
    return FALSE;

  self->vacant.words[0][w] = after;
  self->used.words[0][w] = ~after;
  span->words[w] |= KVASIR_BIT (at);
  span->n_cells++;
  span->max++;
  span->last_cell = cell;
  self->n_used++;
  return TRUE;
}

/* Kept out of line, so that the short way needs no registers saved. */
G_NO_INLINE static void
place_any (KvasirCells *self, guint cell, const KvasirCellEntry *entry)
{
  g_assert (kvasir_bit_tree_has (&self->vacant, cell));

  write_cell (self, cell, entry);
  if (self->places != NULL)
    {
      self->places[2 * cell] = entry->x;
      self->places[2 * cell + 1] = entry->y;
    }
  for (guint w = 0; w < self->n_set_words; w++)
    hold (self, cell, w, get_local_word (self, entry->seqs, w), entry->pos);
  kvasir_bit_tree_add (&self->used, cell);
  kvasir_bit_tree_remove (&self->vacant, cell);
  self->n_used++;
}

void
kvasir_cells_place (KvasirCells *self, guint cell, const KvasirCellEntry *entry)
{
  if (!append (self, cell, entry))
    place_any (self, cell, entry);
}

void
kvasir_cells_empty (KvasirCells *self, guint cell)
{
  guint64 *set = peek_set (self, cell);

  g_assert (self->pos[cell] >= 0);

  for (guint w = 0; w < self->n_set_words; w++)
    {
      for (guint64 left = set[w]; left != 0; left &= left - 1)
        {
          guint bit = w * 64 + (guint) __builtin_ctzll (left);

          *peek_owned_word (self, cell, bit) &= ~KVASIR_BIT (cell);
          span_remove (self, bit, self->pos[cell]);
        }
      set[w] = 0;
    }
  kvasir_cells_forget_bits (self, cell / 64, KVASIR_BIT (cell));
}

void
kvasir_cells_restore (KvasirCells *self, guint cell, const KvasirCell *state)
{
  kvasir_cells_place (self, cell,
                      &(KvasirCellEntry){ .pos = state->pos,
                                          .token = state->token,
                                          .step = state->step,
                                          .x = state->x,
                                          .y = state->y,
                                          .seqs = &state->seqs });
  self->shift[cell] = state->shift;
  if (state->shift != 0)
    self->n_shifted++;
}

void
kvasir_cells_move (KvasirCells *self, guint cell, gint64 pos)
{
  gint32 shift;

  g_assert (self->pos[cell] >= 0 && pos < KVASIR_POS_END);

  if (pos < 0)
    {
      kvasir_cells_empty (self, cell);
      return;
    }

  /* Any position may have become or ceased to be an extreme of any owner. */
  for (guint w = 0; w < self->n_set_words; w++)
    self->stale.w[w] |= peek_set (self, cell)[w];

  shift = self->shift[cell] + ((gint32) pos - self->pos[cell]);
  if ((shift != 0) != (self->shift[cell] != 0))
    self->n_shifted += shift != 0 ? 1u : -1u;
  self->shift[cell] = shift;
  self->pos[cell] = (gint32) pos;
}

void
kvasir_cells_settle_shift (KvasirCells *self, guint cell)
{
  if (self->shift[cell] != 0)
    self->n_shifted--;
  self->shift[cell] = 0;
}
