#include "engine/memory/batch.h"

#include "engine/memory/batch-private.h"

static void
rows_init (KvasirBatchRows *self, const KvasirBatchLimits *limits)
{
  gsize n = limits->n_batch;

  self->tokens = g_new (gint32, n);
  self->pos = g_new (gint32, n * limits->n_pos_per_token);
  self->leads = g_new (gint32, n);
  self->seqs = g_new (KvasirSeqSet, n);
  self->outputs = g_new (guint8, n);
}

static void
rows_clear (KvasirBatchRows *self)
{
  g_free (self->tokens);
  g_free (self->pos);
  g_free (self->leads);
  g_free (self->seqs);
  g_free (self->outputs);
}

KvasirBatchPlan *
kvasir_batch_plan_new (const KvasirBatchLimits *limits)
{
  KvasirBatchPlan *self;
  guint n_batch;

  g_return_val_if_fail (limits != NULL && limits->n_batch > 0 && limits->n_ubatch > 0, NULL);
  g_return_val_if_fail (limits->n_seq_max > 0 && limits->n_seq_max <= KVASIR_MAX_SEQS, NULL);
  g_return_val_if_fail (limits->n_pos_per_token == 1 || limits->n_pos_per_token == 4, NULL);

  n_batch = limits->n_batch;
  self = g_new0 (KvasirBatchPlan, 1);
  self->limits = *limits;
  rows_init (&self->given, limits);
  rows_init (&self->laid, limits);
  self->index = g_new (guint32, n_batch);
  self->ubatches = g_new (KvasirUbatch, n_batch);
  self->used = g_new (guint8, n_batch);
  self->groups = g_new (KvasirBatchGroup, n_batch);
  self->group_of = g_new (guint32, n_batch);
  self->follower = g_new (guint32, n_batch);
  self->collected = g_new (guint32, n_batch);
  self->recent = g_new (guint32, limits->n_seq_max);
  self->reached = g_new (gint64, limits->n_seq_max);
  return self;
}

void
kvasir_batch_plan_free (KvasirBatchPlan *self)
{
  if (self == NULL)
    return;
  rows_clear (&self->given);
  rows_clear (&self->laid);
  g_free (self->index);
  g_free (self->ubatches);
  g_free (self->used);
  g_free (self->groups);
  g_free (self->group_of);
  g_free (self->follower);
  g_free (self->collected);
  g_free (self->recent);
  g_free (self->reached);
  g_free (self);
}

gboolean
kvasir_batch_plan_init (KvasirBatchPlan *self,
                        const KvasirBatch *batch,
                        const KvasirMemory *memory,
                        GError **error)
{
  g_return_val_if_fail (self != NULL && batch != NULL, FALSE);
  g_return_val_if_fail ((batch->seqs == NULL) == (batch->n_seqs == NULL), FALSE);
  g_return_val_if_fail (
      batch->planes == NULL || (batch->pos != NULL && self->limits.n_pos_per_token == 4), FALSE);

  self->n_ubatches = 0;
  self->n_tokens = kvasir_batch_plan_complete (self, batch, memory, error) ? batch->n_tokens : 0;
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

guint
kvasir_batch_plan_get_n_ubatches (const KvasirBatchPlan *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->n_ubatches;
}

const KvasirUbatch *
kvasir_batch_plan_get_ubatch (const KvasirBatchPlan *self, guint i)
{
  g_return_val_if_fail (self != NULL && i < self->n_ubatches, NULL);
  return &self->ubatches[i];
}
