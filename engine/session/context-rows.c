/* What a decode gives: rows of logits, or of an encoder's embeddings, on the host. */
#include <string.h>

#include "engine/error.h"
#include "engine/session/context-private.h"

gboolean
kvasir_context_reserve_output (KvasirContext *self, guint n, GError **error)
{
  KvasirBufferType *type = self->model->device->host_buffer_type;
  const gsize row_bytes = self->n_row * sizeof (float);
  KvasirBuffer *buffer;
  gsize n_rows, n_bytes;

  if (!g_size_checked_add (&n_rows, self->n_pool_rows, n) ||
      !g_size_checked_mul (&n_bytes, row_bytes, n_rows))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "%u rows of %u values do not fit into memory", n, self->n_row);
      return FALSE;
    }
  if (!self->params.no_alloc)
    {
      buffer = kvasir_buffer_alloc (type, n_bytes, "results", error);
      if (buffer == NULL)
        return FALSE;
      kvasir_context_emit_output (self, -1);
      kvasir_buffer_free (self->output);
      self->output = buffer;
    }
  self->n_output_rows = n;
  kvasir_context_emit_output (self, 1);
  return TRUE;
}

gboolean
kvasir_context_reserve_rows (KvasirContext *self, guint n, GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return n <= self->n_output_rows || kvasir_context_reserve_output (self, n, error);
}

static float *
get_row (const KvasirContext *self, gsize row)
{
  return (float *) self->output->base + row * self->n_row;
}

static float *
get_token_row (const KvasirContext *self, gsize row)
{
  return get_row (self, self->n_pool_rows + row);
}

void
kvasir_context_begin_rows (KvasirContext *self)
{
  self->n_outputs = 0;
  for (guint i = 0; i < self->n_batch_tokens; i++)
    self->row_of_token[i] = -1;
  for (guint i = 0; i < self->n_pool_rows; i++)
    self->n_pooled[i] = 0;
}

guint
kvasir_context_choose_rows (KvasirContext *self,
                            const KvasirUbatch *ubatch,
                            guint *token,
                            gint32 *ids)
{
  guint i, n = 0;

  for (i = *token; i < ubatch->n_tokens && n < KVASIR_HEAD_ROWS; i++)
    if (ubatch->outputs[i] || self->n_pool_rows > 0)
      {
        self->row_of_token[ubatch->index[i]] = (gint32) (self->n_outputs + n);
        ids[n++] = (gint32) i;
      }
  *token = i;
  return n;
}

void
kvasir_context_take_rows (KvasirContext *self, guint n)
{
  kvasir_graph_plan_read (self->step_plan, self->step.logits, get_token_row (self, self->n_outputs),
                          (gsize) n * self->n_row * sizeof (float));
  self->n_outputs += n;
}

void
kvasir_context_drop_rows (KvasirContext *self, const KvasirUbatch *ubatch, guint n_before)
{
  self->n_outputs = n_before;
  for (guint i = 0; i < ubatch->n_tokens; i++)
    self->row_of_token[ubatch->index[i]] = -1;
}

/* Rows come in the order of the sequence's tokens. */
static void
pool_row (KvasirContext *self, const float *row, guint seq)
{
  float *pooled = get_row (self, seq);
  const guint n = self->n_pooled[seq]++;

  switch (self->model->hparams.pooling)
    {
    case KVASIR_POOLING_MEAN:
      for (guint i = 0; i < self->n_row; i++)
        pooled[i] = n == 0 ? row[i] : pooled[i] + (row[i] - pooled[i]) / (float) (n + 1);
      break;
    case KVASIR_POOLING_CLS:
      if (n == 0)
        memcpy (pooled, row, self->n_row * sizeof (float));
      break;
    case KVASIR_POOLING_LAST:
      memcpy (pooled, row, self->n_row * sizeof (float));
      break;
    case KVASIR_POOLING_NONE:
      break;
    }
}

void
kvasir_context_pool_rows (KvasirContext *self, const KvasirUbatch *ubatch)
{
  if (self->n_pool_rows == 0)
    return;
  for (guint i = 0; i < ubatch->n_tokens; i++)
    {
      const float *row = get_token_row (self, (gsize) self->row_of_token[ubatch->index[i]]);
      for (gint seq = kvasir_seq_set_next (&ubatch->seqs[i], 0); seq >= 0;
           seq = kvasir_seq_set_next (&ubatch->seqs[i], (guint) seq + 1))
        pool_row (self, row, (guint) seq);
    }
}

static const float *
find_token_row (const KvasirContext *self, guint index)
{
  if (index >= self->n_batch_tokens || self->row_of_token[index] < 0)
    return NULL;
  return get_token_row (self, (gsize) self->row_of_token[index]);
}

const float *
kvasir_context_get_logits_of_token (const KvasirContext *self, guint index)
{
  return self->model->arch->is_encoder ? NULL : find_token_row (self, index);
}

const float *
kvasir_context_get_embedding_of_token (const KvasirContext *self, guint index)
{
  if (!self->model->arch->is_encoder || self->n_pool_rows > 0)
    return NULL;
  return find_token_row (self, index);
}

const float *
kvasir_context_get_embedding_of_seq (const KvasirContext *self, gint seq)
{
  if (seq < 0 || (guint) seq >= self->n_pool_rows || self->n_pooled[seq] == 0)
    return NULL;
  return get_row (self, (gsize) seq);
}

guint
kvasir_context_get_n_embd (const KvasirContext *self)
{
  return self->model->hparams.n_embd;
}
