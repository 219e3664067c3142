/* Two memories over the same cells: a draft model's context beside its target's. The cells are the
 * lender's; the borrower reads the lender's rows where its layers share them and has rows of its
 * own, at the same cells, where they do not. How far the latter follow the cells is counted per
 * sequence: whatever changes a sequence from some position on, on either side, lowers the count to
 * there, and the borrower's next batch begins behind it. */
#include "engine/memory/memory-private.h"

static gint
get_shared_layer (const KvasirMemoryParams *params, guint layer)
{
  return params->share != NULL ? params->share (params->share_data, layer) : -1;
}

static gboolean
has_own_rows (const KvasirMemoryParams *params)
{
  for (guint i = 0; i < params->n_layers; i++)
    if (params->layers[i].has_attention && get_shared_layer (params, i) < 0)
      return TRUE;
  return FALSE;
}

static gboolean
check_pair (const KvasirMemoryParams *params, GError **error)
{
  const KvasirMemory *other = params->other;

  if (other->klass != params->klass ||
      (other->klass != KVASIR_MEMORY_KV && other->klass != KVASIR_MEMORY_KV_ISWA))
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Cells of a memory of kind %s cannot be shared with one of kind %s: "
                               "expected kv or kv_iswa, the same for both",
                               kvasir_memory_class_get_name (other->klass),
                               kvasir_memory_class_get_name (params->klass));
  if (other->n_seq_max != params->n_seq_max || other->n_streams != params->n_streams)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "Cells of %u sequences in %u streams cannot be shared with %u "
                               "sequences in %u streams",
                               other->n_seq_max, other->n_streams, params->n_seq_max,
                               params->n_streams);
  if (other->other != NULL || other->borrower != NULL)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "The cells of this memory are shared already");
  return TRUE;
}

gboolean
kvasir_memory_borrow (KvasirMemory *self, const KvasirMemoryParams *params, GError **error)
{
  if (params->other == NULL)
    return TRUE;
  if (!check_pair (params, error))
    return FALSE;
  self->other = params->other;
  self->other->borrower = self;
  self->lent_layers = g_new (gint, self->n_layers);
  for (guint i = 0; i < self->n_layers; i++)
    self->lent_layers[i] = get_shared_layer (params, i);
  if (has_own_rows (params))
    {
      self->reached = g_new (gint32, self->n_seq_max);
      for (guint s = 0; s < self->n_seq_max; s++)
        self->reached[s] = -1;
    }
  return TRUE;
}

void
kvasir_memory_give_back (KvasirMemory *self)
{
  if (self->other != NULL)
    self->other->borrower = NULL;
  g_free (self->lent_layers);
  g_free (self->reached);
}

static void
lower (KvasirMemory *self, gint seq, gint32 pos)
{
  guint first = seq < 0 ? 0 : (guint) seq;
  guint end = seq < 0 ? self->n_seq_max : first + 1;

  for (guint s = first; self->reached != NULL && s < end; s++)
    self->reached[s] = MIN (self->reached[s], pos - 1);
}

void
kvasir_memory_lower_reach (KvasirMemory *self, gint seq, gint32 pos)
{
  lower (self, seq, pos);
  if (self->borrower != NULL)
    lower (self->borrower, seq, pos);
}

void
kvasir_memory_lower_reach_to (KvasirMemory *self, const KvasirUbatch *ubatch)
{
  for (guint t = 0; (self->reached != NULL || self->borrower != NULL) && t < ubatch->n_tokens; t++)
    for (gint seq = kvasir_seq_set_next (&ubatch->seqs[t], 0); seq >= 0;
         seq = kvasir_seq_set_next (&ubatch->seqs[t], (guint) seq + 1))
      kvasir_memory_lower_reach (self, seq, ubatch->pos[t]);
}

void
kvasir_memory_raise_reach (KvasirMemory *self, const KvasirUbatch *ubatch)
{
  for (guint t = 0; self->reached != NULL && t < ubatch->n_tokens; t++)
    for (gint seq = kvasir_seq_set_next (&ubatch->seqs[t], 0); seq >= 0;
         seq = kvasir_seq_set_next (&ubatch->seqs[t], (guint) seq + 1))
      self->reached[seq] = MAX (self->reached[seq], ubatch->pos[t]);
}
