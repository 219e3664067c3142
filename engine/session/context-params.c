/* What a context may be asked for, and what it then gets. */
#include "engine/error.h"
#include "engine/session/context-private.h"

#define CELL_PADDING 256

void
kvasir_context_params_init (KvasirContextParams *params)
{
  *params = (KvasirContextParams){
    .n_ctx = 4096,
    .n_seq_max = 16,
    .n_batch = 2048,
    .n_ubatch = 512,
    .type_k = KVASIR_TYPE_F16,
    .type_v = KVASIR_TYPE_F16,
    .kv_unified = TRUE,
    .flash_attn = TRUE,
    .offload_kqv = TRUE,
  };
}

static gboolean
set_argument_error (GError **error, const char *name, guint64 max, guint64 found)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "%s: 1 to %" G_GUINT64_FORMAT " expected, %" G_GUINT64_FORMAT " found", name, max,
               found);
  return FALSE;
}

static gboolean
check_counts (const KvasirContextParams *params, guint max_ctx, GError **error)
{
  if (params->n_ctx < 1 || params->n_ctx > max_ctx)
    return set_argument_error (error, "n_ctx", max_ctx, params->n_ctx);
  if (params->n_seq_max < 1 || params->n_seq_max > KVASIR_MAX_SEQS)
    return set_argument_error (error, "n_seq_max", KVASIR_MAX_SEQS, params->n_seq_max);
  if (params->n_batch < 1 || params->n_batch > max_ctx)
    return set_argument_error (error, "n_batch", max_ctx, params->n_batch);
  if (params->n_ubatch < 1 || params->n_ubatch > max_ctx)
    return set_argument_error (error, "n_ubatch", max_ctx, params->n_ubatch);
  return TRUE;
}

static guint
pad_cells (guint n)
{
  return (n + CELL_PADDING - 1) / CELL_PADDING * CELL_PADDING;
}

/* One stream for all sequences, or one for each; then each gets its share of the cells, padded. */
static gboolean
settle_cells (KvasirContext *self, guint max_ctx, GError **error)
{
  KvasirContextParams *p = &self->params;

  self->n_streams = p->kv_unified ? 1 : p->n_seq_max;
  self->n_ctx_seq = pad_cells (pad_cells (p->n_ctx) / self->n_streams);
  if (self->n_ctx_seq > max_ctx / self->n_streams)
    return set_argument_error (error, "n_ctx", max_ctx,
                               (guint64) self->n_ctx_seq * self->n_streams);
  p->n_ctx = self->n_ctx_seq * self->n_streams;
  return TRUE;
}

static gboolean
has_attention_caches (const KvasirContext *self)
{
  const KvasirMemoryClass klass = self->model->hparams.memory_class;

  return klass != KVASIR_MEMORY_NONE && klass != KVASIR_MEMORY_RECURRENT;
}

static gboolean
is_quantised (KvasirType type)
{
  return kvasir_type_get_block_len ((int) type) > 1;
}

static gboolean
check_together (const KvasirContext *self, GError **error)
{
  const KvasirContextParams *p = &self->params;

  if (has_attention_caches (self) && is_quantised (p->type_v) && !p->flash_attn)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "type_v: f32, f16 or bf16 expected with flash_attn false, which keeps values "
                   "transposed, %s found",
                   kvasir_type_get_name ((int) p->type_v));
      return FALSE;
    }
  if (p->n_rs_seq > 0 && p->n_ubatch - 1 <= p->n_rs_seq)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "n_ubatch must be greater than n_rs_seq + 1: more than %" G_GUINT64_FORMAT
                   " expected, %u found",
                   (guint64) p->n_rs_seq + 1, p->n_ubatch);
      return FALSE;
    }
  return TRUE;
}

gboolean
kvasir_context_settle (KvasirContext *self, GError **error)
{
  const guint max_ctx = G_MAXINT32 / CELL_PADDING * CELL_PADDING;
  const KvasirHparams *hp = &self->model->hparams;
  KvasirContextParams *p = &self->params;

  if (p->n_ctx == 0)
    p->n_ctx = hp->n_ctx_train;
  if (!check_counts (p, max_ctx, error) || !settle_cells (self, max_ctx, error))
    return FALSE;
  if (hp->is_causal)
    p->n_batch = MIN (p->n_batch, p->n_ctx);
  p->n_ubatch = MIN (p->n_ubatch, p->n_batch);
  if (!hp->can_keep_states)
    p->n_rs_seq = 0;
  self->step.long_context = self->n_ctx_seq > (guint) hp->rope.n_ctx_orig;
  self->step.rotate = p->kv_rotate && has_attention_caches (self) &&
                      (is_quantised (p->type_k) || is_quantised (p->type_v));
  return check_together (self, error);
}
