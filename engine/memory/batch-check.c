/* What a batch may be, and what is filled in where the caller left it out. Each refusal names the
 * token and its sequence, what was found and what was expected; none has changed anything. */
#include <string.h>

#include "engine/memory/batch-private.h"
#include "engine/memory/memory-private.h"

/* The sequence that an untested batch names first for token @i, for messages. */
static gint32
get_lead (const KvasirBatch *batch, guint i)
{
  return batch->seqs != NULL && batch->n_seqs[i] > 0 ? batch->seqs[i][0] : 0;
}

static gboolean
copy_tokens (KvasirBatchPlan *self, const KvasirBatch *batch, GError **error)
{
  guint n_vocab = self->limits.n_vocab;

  if (batch->n_tokens == 0)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                               "The batch has no tokens, expected 1 to %u", self->limits.n_batch);
  if (batch->n_tokens > self->limits.n_batch)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                               "The batch has %u tokens, expected at most n_batch = %u",
                               batch->n_tokens, self->limits.n_batch);
  for (guint i = 0; i < batch->n_tokens; i++)
    if (batch->tokens[i] < 0 || (guint) batch->tokens[i] >= n_vocab)
      return kvasir_memory_fail (
          error, KVASIR_ENGINE_ERROR_BAD_BATCH,
          "Token %u of the batch, in sequence %d, has the id %d, expected 0 to %u", i,
          get_lead (batch, i), batch->tokens[i], n_vocab - 1);
  memcpy (self->given.tokens, batch->tokens, batch->n_tokens * sizeof *batch->tokens);
  return TRUE;
}

static gboolean
copy_seqs_of (KvasirBatchPlan *self, const KvasirBatch *batch, guint i, GError **error)
{
  guint n_seq_max = self->limits.n_seq_max;

  self->given.seqs[i] = (KvasirSeqSet){ 0 };
  self->given.leads[i] = get_lead (batch, i);
  if (batch->seqs == NULL)
    {
      kvasir_seq_set_add (&self->given.seqs[i], 0);
      return TRUE;
    }
  if (batch->n_seqs[i] == 0)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                               "Token %u of the batch has no sequence, expected at least one", i);
  for (guint k = 0; k < batch->n_seqs[i]; k++)
    {
      gint32 seq = batch->seqs[i][k];

      if (seq < 0 || (guint) seq >= n_seq_max)
        return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                                   "Token %u of the batch belongs to sequence %d, expected 0 to %u",
                                   i, seq, n_seq_max - 1);
      kvasir_seq_set_add (&self->given.seqs[i], (guint) seq);
    }
  return TRUE;
}

static gint32
get_last (const KvasirMemory *memory, gint seq)
{
  return memory != NULL ? kvasir_memory_seq_pos_max (memory, seq) : -1;
}

static gint32
get_first (const KvasirMemory *memory, gint seq)
{
  return memory != NULL ? kvasir_memory_seq_pos_min (memory, seq) : -1;
}

/* Each sequence goes on after its last position; a token of several follows the first one named. */
static void
continue_positions (KvasirBatchPlan *self, const KvasirBatch *batch, const KvasirMemory *memory)
{
  KvasirSeqSet known = { 0 };

  for (guint i = 0; i < batch->n_tokens; i++)
    {
      const KvasirSeqSet *seqs = &self->given.seqs[i];
      gint lead = self->given.leads[i];

      if (!kvasir_seq_set_has (&known, (guint) lead))
        self->reached[lead] = get_last (memory, lead);
      self->given.pos[i] = (gint32) MIN (self->reached[lead] + 1, KVASIR_POS_END);
      for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
           seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
        {
          kvasir_seq_set_add (&known, (guint) seq);
          self->reached[seq] = self->given.pos[i];
        }
    }
}

/* Where the plain caches want exactly one more than the last position, models with four planes may
 * jump ahead. */
static gboolean
check_position (KvasirBatchPlan *self, guint i, guint seq, gboolean first_in_batch, GError **error)
{
  gint64 last = self->reached[seq];
  gint32 pos = self->given.pos[i];
  gboolean may_jump = self->limits.n_pos_per_token > 1;
  const char *where = first_in_batch ? "holds" : "has come in the batch to";

  if (last < 0)
    return TRUE;
  if (pos < last + (first_in_batch ? 1 : 0))
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_BATCH,
        "Token %u of the batch has position %d in sequence %u, which %s position %d: "
        "expected %s %d",
        i, pos, seq, where, (gint32) last, may_jump || !first_in_batch ? "at least" : "exactly",
        (gint32) last + (first_in_batch ? 1 : 0));
  if (pos > last + 1 && !may_jump)
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_BATCH,
        "Token %u of the batch has position %d in sequence %u, which %s position %d: "
        "expected %d, no gap",
        i, pos, seq, where, (gint32) last, (gint32) last + 1);
  return TRUE;
}

/* One past the last position that a token may have. */
static gint32
get_pos_end (const KvasirBatchPlan *self)
{
  guint n = self->limits.n_positions;

  return n > 0 && n < KVASIR_POS_END ? (gint32) n : KVASIR_POS_END;
}

/* Checks token @i in each of its sequences; @seen are those that came in the batch before. */
static gboolean
check_positions_of (
    KvasirBatchPlan *self, guint i, const KvasirMemory *memory, KvasirSeqSet *seen, GError **error)
{
  const KvasirSeqSet *seqs = &self->given.seqs[i];

  if (self->given.pos[i] < 0 || self->given.pos[i] >= get_pos_end (self))
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_BATCH,
        "Token %u of the batch has position %d in sequence %d, expected 0 to %d", i,
        self->given.pos[i], kvasir_seq_set_next (seqs, 0), get_pos_end (self) - 1);
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    {
      gboolean first_in_batch = !kvasir_seq_set_has (seen, (guint) seq);

      if (first_in_batch)
        self->reached[seq] = get_last (memory, seq);
      if (!check_position (self, i, (guint) seq, first_in_batch, error))
        return FALSE;
      self->reached[seq] = self->given.pos[i];
      kvasir_seq_set_add (seen, (guint) seq);
    }
  return TRUE;
}

static gboolean
check_positions (KvasirBatchPlan *self, guint n_tokens, const KvasirMemory *memory, GError **error)
{
  KvasirSeqSet seen = { 0 };

  for (guint i = 0; i < n_tokens; i++)
    if (!check_positions_of (self, i, memory, &seen, error))
      return FALSE;
  return TRUE;
}

/* Sequences that share a token must reach from the same first to the same last position. */
static gboolean
check_sharers (const KvasirBatchPlan *self, guint i, const KvasirMemory *memory, GError **error)
{
  const KvasirSeqSet *seqs = &self->given.seqs[i];
  gint lead = kvasir_seq_set_next (seqs, 0);
  gint32 first = get_first (memory, lead);
  gint32 last = get_last (memory, lead);

  for (gint seq = kvasir_seq_set_next (seqs, (guint) lead + 1); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    if (get_first (memory, seq) != first || get_last (memory, seq) != last)
      return kvasir_memory_fail (
          error, KVASIR_ENGINE_ERROR_BAD_BATCH,
          "Token %u of the batch is shared by sequences %d and %d, which hold positions "
          "%d to %d and %d to %d: expected the same",
          i, lead, seq, first, last, get_first (memory, seq), get_last (memory, seq));
  return TRUE;
}

/* Adds @seqs to @ended. Returns: whether one of them was not in there */
static gboolean
end_seqs (KvasirSeqSet *ended, const KvasirSeqSet *seqs)
{
  guint64 new_ones = 0;

  for (guint w = 0; w < G_N_ELEMENTS (ended->w); w++)
    {
      new_ones |= seqs->w[w] & ~ended->w[w];
      ended->w[w] |= seqs->w[w];
    }
  return new_ones != 0;
}

static void
choose_outputs (KvasirBatchPlan *self, const KvasirBatch *batch)
{
  KvasirSeqSet ended = { 0 };

  self->n_outputs = 0;
  for (guint i = batch->n_tokens; i-- > 0;)
    {
      gboolean is_last = end_seqs (&ended, &self->given.seqs[i]);

      self->given.outputs[i] = batch->outputs != NULL ? batch->outputs[i] != 0 : is_last;
      self->n_outputs += self->given.outputs[i];
    }
}

/* Text has the same position in the first three planes and 0 in the fourth. */
static gboolean
complete_planes (KvasirBatchPlan *self, const KvasirBatch *batch, GError **error)
{
  static const char names[] = { 'h', 'w', 'e' };
  guint n = batch->n_tokens;

  if (self->limits.n_pos_per_token == 1)
    return TRUE;
  for (guint p = 0; p < G_N_ELEMENTS (names); p++)
    {
      gint32 *to = self->given.pos + (gsize) (p + 1) * self->limits.n_batch;

      if (batch->planes != NULL)
        memcpy (to, batch->planes + (gsize) p * n, n * sizeof *to);
      else if (p < 2)
        memcpy (to, self->given.pos, n * sizeof *to);
      else
        memset (to, 0, n * sizeof *to);
      for (guint i = 0; i < n; i++)
        if (to[i] < 0 || to[i] >= KVASIR_POS_END)
          return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                                     "Token %u of the batch, in sequence %d, has position %d in "
                                     "plane %c, expected 0 to %d",
                                     i, self->given.leads[i], to[i], names[p], KVASIR_POS_END - 1);
    }
  return TRUE;
}

/* Where tokens see those behind them, all of a sequence must be in one ubatch. */
static gboolean
check_lengths (KvasirBatchPlan *self, guint n_tokens, GError **error)
{
  guint n_ubatch = self->limits.n_ubatch;

  memset (self->recent, 0, self->limits.n_seq_max * sizeof *self->recent);
  for (guint i = 0; i < n_tokens; i++)
    for (gint seq = kvasir_seq_set_next (&self->given.seqs[i], 0); seq >= 0;
         seq = kvasir_seq_set_next (&self->given.seqs[i], (guint) seq + 1))
      if (++self->recent[seq] > n_ubatch)
        return kvasir_memory_fail (
            error, KVASIR_ENGINE_ERROR_BAD_BATCH,
            "Token %u of the batch is number %u of sequence %d, expected at most n_ubatch = %u: "
            "this model reads a sequence in one piece",
            i, self->recent[seq], seq, n_ubatch);
  return TRUE;
}

static gboolean
complete_positions (KvasirBatchPlan *self,
                    const KvasirBatch *batch,
                    const KvasirMemory *memory,
                    GError **error)
{
  if (batch->pos != NULL)
    memcpy (self->given.pos, batch->pos, batch->n_tokens * sizeof *batch->pos);
  else
    continue_positions (self, batch, memory);
  return check_positions (self, batch->n_tokens, memory, error) &&
         complete_planes (self, batch, error);
}

gboolean
kvasir_batch_plan_complete (KvasirBatchPlan *self,
                            const KvasirBatch *batch,
                            const KvasirMemory *memory,
                            GError **error)
{
  if (!copy_tokens (self, batch, error))
    return FALSE;
  self->is_coupled = FALSE;
  for (guint i = 0; i < batch->n_tokens; i++)
    {
      if (!copy_seqs_of (self, batch, i, error))
        return FALSE;
      self->is_coupled |= batch->n_seqs != NULL && batch->n_seqs[i] > 1;
    }
  if (!complete_positions (self, batch, memory, error))
    return FALSE;
  for (guint i = 0; i < batch->n_tokens; i++)
    if (!check_sharers (self, i, memory, error))
      return FALSE;
  if (memory != NULL && kvasir_memory_get_class (memory) == KVASIR_MEMORY_NONE &&
      !check_lengths (self, batch->n_tokens, error))
    return FALSE;
  choose_outputs (self, batch);
  return TRUE;
}
