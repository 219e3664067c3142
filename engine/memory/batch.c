#include "engine/memory/batch.h"

#include <string.h>

#include "engine/memory/memory-private.h"

struct _KvasirBatchPlan
{
  KvasirBatchLimits limits;
  guint n_tokens; /* 0: nothing is planned */
  guint n_outputs;
  guint n_split; /* tokens given out as ubatches so far */

  gint32 *tokens;     /* (owned) [n_batch] */
  gint32 *pos;        /* (owned) [n_batch] */
  gint32 *planes;     /* (owned) [n_batch * n_pos_per_token], the planes of each ubatch together */
  KvasirSeqSet *seqs; /* (owned) [n_batch] */
  guint8 *outputs;    /* (owned) [n_batch] */
  guint32 *index;     /* (owned) [n_batch] */
  gint64 *reached;    /* (owned) [n_seq_max], scratch: a position of each sequence */
};

KvasirBatchPlan *
kvasir_batch_plan_new (const KvasirBatchLimits *limits)
{
  KvasirBatchPlan *self;

  g_return_val_if_fail (limits != NULL && limits->n_batch > 0 && limits->n_ubatch > 0, NULL);
  g_return_val_if_fail (limits->n_seq_max > 0 && limits->n_seq_max <= KVASIR_MAX_SEQS, NULL);
  g_return_val_if_fail (limits->n_pos_per_token == 1 || limits->n_pos_per_token == 4, NULL);

  self = g_new0 (KvasirBatchPlan, 1);
  self->limits = *limits;
  self->tokens = g_new (gint32, limits->n_batch);
  self->pos = g_new (gint32, limits->n_batch);
  self->planes = g_new (gint32, (gsize) limits->n_batch * limits->n_pos_per_token);
  self->seqs = g_new (KvasirSeqSet, limits->n_batch);
  self->outputs = g_new (guint8, limits->n_batch);
  self->index = g_new (guint32, limits->n_batch);
  self->reached = g_new (gint64, limits->n_seq_max);
  for (guint i = 0; i < limits->n_batch; i++)
    self->index[i] = i;
  return self;
}

void
kvasir_batch_plan_free (KvasirBatchPlan *self)
{
  if (self == NULL)
    return;
  g_free (self->tokens);
  g_free (self->pos);
  g_free (self->planes);
  g_free (self->seqs);
  g_free (self->outputs);
  g_free (self->index);
  g_free (self->reached);
  g_free (self);
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
      return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_BATCH,
                                 "Token %u of the batch has the id %d, expected 0 to %u", i,
                                 batch->tokens[i], n_vocab - 1);
  memcpy (self->tokens, batch->tokens, batch->n_tokens * sizeof *self->tokens);
  return TRUE;
}

static gboolean
copy_seqs_of (KvasirBatchPlan *self, const KvasirBatch *batch, guint i, GError **error)
{
  guint n_seq_max = self->limits.n_seq_max;

  self->seqs[i] = (KvasirSeqSet){ 0 };
  if (batch->seqs == NULL)
    {
      kvasir_seq_set_add (&self->seqs[i], 0);
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
      kvasir_seq_set_add (&self->seqs[i], (guint) seq);
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
      const KvasirSeqSet *seqs = &self->seqs[i];
      gint lead = batch->seqs != NULL ? batch->seqs[i][0] : 0;

      if (!kvasir_seq_set_has (&known, (guint) lead))
        self->reached[lead] = get_last (memory, lead);
      self->pos[i] = (gint32) MIN (self->reached[lead] + 1, KVASIR_POS_END);
      for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
           seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
        {
          kvasir_seq_set_add (&known, (guint) seq);
          self->reached[seq] = self->pos[i];
        }
    }
}

/* Where the plain caches want exactly one more than the last position, models with four planes may
 * jump ahead. */
static gboolean
check_position (KvasirBatchPlan *self, guint i, guint seq, gboolean first_in_batch, GError **error)
{
  gint64 last = self->reached[seq];
  gint32 pos = self->pos[i];
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

/* Checks token @i in each of its sequences; @seen are those that came in the batch before. */
static gboolean
check_positions_of (
    KvasirBatchPlan *self, guint i, const KvasirMemory *memory, KvasirSeqSet *seen, GError **error)
{
  const KvasirSeqSet *seqs = &self->seqs[i];

  if (self->pos[i] < 0 || self->pos[i] >= KVASIR_POS_END)
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_BATCH,
        "Token %u of the batch has position %d in sequence %d, expected 0 to %d", i, self->pos[i],
        kvasir_seq_set_next (seqs, 0), KVASIR_POS_END - 1);
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    {
      gboolean first_in_batch = !kvasir_seq_set_has (seen, (guint) seq);

      if (first_in_batch)
        self->reached[seq] = get_last (memory, seq);
      if (!check_position (self, i, (guint) seq, first_in_batch, error))
        return FALSE;
      self->reached[seq] = self->pos[i];
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
  const KvasirSeqSet *seqs = &self->seqs[i];
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
      gboolean is_last = end_seqs (&ended, &self->seqs[i]);

      self->outputs[i] = batch->outputs != NULL ? batch->outputs[i] != 0 : is_last;
      self->n_outputs += self->outputs[i];
    }
}

static gboolean
complete (KvasirBatchPlan *self,
          const KvasirBatch *batch,
          const KvasirMemory *memory,
          GError **error)
{
  if (!copy_tokens (self, batch, error))
    return FALSE;
  for (guint i = 0; i < batch->n_tokens; i++)
    if (!copy_seqs_of (self, batch, i, error))
      return FALSE;
  if (batch->pos != NULL)
    memcpy (self->pos, batch->pos, batch->n_tokens * sizeof *self->pos);
  else
    continue_positions (self, batch, memory);
  if (!check_positions (self, batch->n_tokens, memory, error))
    return FALSE;
  for (guint i = 0; i < batch->n_tokens; i++)
    if (!check_sharers (self, i, memory, error))
      return FALSE;
  choose_outputs (self, batch);
  return TRUE;
}

gboolean
kvasir_batch_plan_init (KvasirBatchPlan *self,
                        const KvasirBatch *batch,
                        const KvasirMemory *memory,
                        GError **error)
{
  g_return_val_if_fail (self != NULL && batch != NULL, FALSE);
  g_return_val_if_fail ((batch->seqs == NULL) == (batch->n_seqs == NULL), FALSE);

  self->n_split = 0;
  self->n_tokens = complete (self, batch, memory, error) ? batch->n_tokens : 0;
  return self->n_tokens > 0;
}

guint
kvasir_batch_plan_get_n_outputs (const KvasirBatchPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->n_tokens > 0 ? self->n_outputs : 0;
}

guint
kvasir_batch_plan_get_n_tokens (const KvasirBatchPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->n_tokens;
}

void
kvasir_batch_plan_rewind (KvasirBatchPlan *self)
{
  g_return_if_fail (self != NULL);
  self->n_split = 0;
}

/* Text has the same position in the first three planes and 0 in the fourth. */
static void
lay_planes (gint32 *planes, guint n_planes, const gint32 *pos, guint n)
{
  memcpy (planes, pos, n * sizeof *pos);
  if (n_planes == 1)
    return;
  memcpy (planes + n, pos, n * sizeof *pos);
  memcpy (planes + 2 * n, pos, n * sizeof *pos);
  memset (planes + 3 * n, 0, n * sizeof *pos);
}

gboolean
kvasir_batch_plan_split_simple (KvasirBatchPlan *self, KvasirUbatch *ubatch)
{
  guint first;
  guint n;
  gint32 *planes;

  g_return_val_if_fail (self != NULL && ubatch != NULL, FALSE);

  first = self->n_split;
  n = MIN (self->limits.n_ubatch, self->n_tokens - first);
  if (n == 0)
    return FALSE;

  planes = self->planes + (gsize) first * self->limits.n_pos_per_token;
  lay_planes (planes, self->limits.n_pos_per_token, self->pos + first, n);
  *ubatch = (KvasirUbatch){ .n_tokens = n,
                            .n_seq_tokens = 1,
                            .n_seqs = n,
                            .tokens = self->tokens + first,
                            .pos = planes,
                            .seqs = self->seqs + first,
                            .outputs = self->outputs + first,
                            .index = self->index + first };
  for (guint i = 0; i < n; i++)
    ubatch->n_outputs += ubatch->outputs[i];
  self->n_split = first + n;
  return TRUE;
}
