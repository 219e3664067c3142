#include "engine/model/layers.h"

#include "engine/error.h"

gboolean
kvasir_load_vector (
    KvasirModel *model, gint il, const char *name, gint64 n, KvasirTensor **t, GError **error)
{
  const gint64 ne[2] = { n, 0 };
  return kvasir_weights_get (model->weights, il, name, ne, t, error);
}

gboolean
kvasir_load_optional (
    KvasirModel *model, gint il, const char *name, gint64 n, KvasirTensor **t, GError **error)
{
  const gint64 ne[2] = { n, 0 };
  return kvasir_weights_get_optional (model->weights, il, name, ne, t, error);
}

gboolean
kvasir_load_bias (KvasirModel *model,
                  gint il,
                  const char *name,
                  gint64 n,
                  gboolean is_needed,
                  KvasirTensor **t,
                  GError **error)
{
  return is_needed ? kvasir_load_vector (model, il, name, n, t, error)
                   : kvasir_load_optional (model, il, name, n, t, error);
}

gboolean
kvasir_load_matrix (KvasirModel *model,
                    gint il,
                    const char *name,
                    const gint64 ne[2],
                    KvasirTensor **t,
                    GError **error)
{
  return kvasir_weights_get (model->weights, il, name, ne, t, error);
}

gboolean
kvasir_load_post_norms (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  return kvasir_load_vector (model, il, "post_attention_norm.weight", n_embd,
                             &layer->attn_post_norm, error) &&
         kvasir_load_vector (model, il, "post_ffw_norm.weight", n_embd, &layer->ffn_post_norm,
                             error);
}

/* A matrix whose rows are added or multiplied must be plain. */
static gboolean
check_plain (KvasirModel *model, const KvasirTensor *t, GError **error)
{
  if (t == NULL || t->type == KVASIR_TYPE_F32)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: type f32 expected, %s found", model->info.path, t->name,
               kvasir_type_get_name ((int) t->type));
  return FALSE;
}

/* The rows of a fused tensor are q, then k, then v. */
static gboolean
load_fused (
    KvasirModel *model, gint il, const gint64 rows[3], KvasirAttentionBlock *block, GError **error)
{
  const gint64 ne[2] = { model->hparams.n_embd, rows[0] + rows[1] + rows[2] };
  KvasirTensor *whole, *bias;

  if (!kvasir_weights_get (model->weights, il, "attn_qkv.weight", ne, &whole, error) ||
      !kvasir_load_bias (model, il, "attn_qkv.bias", ne[1], model->arch->needs_biases, &bias,
                         error))
    return FALSE;
  block->wq = kvasir_weights_slice (model->weights, whole, 0, rows[0]);
  block->wk = kvasir_weights_slice (model->weights, whole, rows[0], rows[1]);
  block->wv = kvasir_weights_slice (model->weights, whole, rows[0] + rows[1], rows[2]);
  if (bias != NULL)
    {
      block->bq = kvasir_weights_slice (model->weights, bias, 0, rows[0]);
      block->bk = kvasir_weights_slice (model->weights, bias, rows[0], rows[1]);
      block->bv = kvasir_weights_slice (model->weights, bias, rows[0] + rows[1], rows[2]);
    }
  return TRUE;
}

static gboolean
load_projections (
    KvasirModel *model, gint il, const gint64 rows[3], KvasirAttentionBlock *block, GError **error)
{
  KvasirWeights *w = model->weights;
  const gboolean needs_biases = model->arch->needs_biases;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 q[2] = { n_embd, rows[0] }, k[2] = { n_embd, rows[1] }, v[2] = { n_embd, rows[2] };

  if (kvasir_weights_has (w, il, "attn_qkv.weight"))
    return load_fused (model, il, rows, block, error);
  if (!kvasir_weights_get (w, il, "attn_q.weight", q, &block->wq, error) ||
      !kvasir_load_bias (model, il, "attn_q.bias", rows[0], needs_biases, &block->bq, error))
    return FALSE;
  /* A layer that reads the rows of another one needs only queries. */
  if (model->hparams.layers[il].share >= 0)
    {
      kvasir_weights_leave (w, il, "attn_k.");
      kvasir_weights_leave (w, il, "attn_v.");
      return TRUE;
    }
  return kvasir_weights_get (w, il, "attn_k.weight", k, &block->wk, error) &&
         kvasir_weights_get_optional (w, il, "attn_v.weight", v, &block->wv, error) &&
         (block->wv != NULL || model->arch->may_lack_v ||
          kvasir_weights_get (w, il, "attn_v.weight", v, &block->wv, error)) &&
         kvasir_load_bias (model, il, "attn_k.bias", rows[1], needs_biases, &block->bk, error) &&
         kvasir_load_bias (model, il, "attn_v.bias", rows[2], needs_biases, &block->bv, error);
}

/* The norm of @n_heads heads of q or k. */
static gboolean
load_head_norm (KvasirModel *model,
                gint il,
                const char *name,
                guint n_heads,
                KvasirTensor **norm,
                GError **error)
{
  const gint64 width = model->hparams.layers[il].head_dim_k;
  const gint64 own[2] = { width, n_heads };

  switch (model->hparams.head_norms)
    {
    case KVASIR_HEAD_NORMS_IF_ANY:
      return kvasir_load_optional (model, il, name, width, norm, error);
    case KVASIR_HEAD_NORMS_RMS:
    case KVASIR_HEAD_NORMS_BEHIND:
      return kvasir_load_vector (model, il, name, width, norm, error);
    case KVASIR_HEAD_NORMS_WIDE:
      return kvasir_load_vector (model, il, name, width * n_heads, norm, error);
    case KVASIR_HEAD_NORMS_OWN:
      return kvasir_weights_get_optional (model->weights, il, name, own, norm, error) &&
             check_plain (model, *norm, error);
    }
  g_assert_not_reached ();
}

/* Files have the norms of both or of none. */
static gboolean
load_head_norms (KvasirModel *model, gint il, KvasirAttentionBlock *block, GError **error)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  const char *missing = NULL;

  if (!load_head_norm (model, il, "attn_q_norm.weight", sizes->n_heads, &block->q_norm, error) ||
      !load_head_norm (model, il, "attn_k_norm.weight", sizes->n_kv_heads, &block->k_norm, error))
    return FALSE;
  if ((block->q_norm == NULL) != (block->k_norm == NULL) && sizes->share < 0)
    missing = block->q_norm == NULL ? "q" : "k";
  if (missing == NULL)
    return TRUE;
  g_set_error (
      error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
      "%s: blk.%d.attn_%s_norm.weight: a tensor beside the other norm expected, none found",
      model->info.path, il, missing);
  return FALSE;
}

gboolean
kvasir_load_attention (KvasirModel *model, gint il, KvasirAttentionBlock *block, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  const KvasirLayerHparams *sizes = &hp->layers[il];
  const gint64 n_q = (gint64) sizes->head_dim_k * sizes->n_heads;
  const gint64 n_out = (gint64) sizes->head_dim_v * sizes->n_heads;
  const gint64 rows[3] = { n_q, (gint64) sizes->head_dim_k * sizes->n_kv_heads,
                           (gint64) sizes->head_dim_v * sizes->n_kv_heads };
  const gint64 ne[2] = { n_out, hp->n_embd };

  return load_projections (model, il, rows, block, error) &&
         load_head_norms (model, il, block, error) &&
         kvasir_load_optional (model, il, "attn_sinks.weight", sizes->n_heads, &block->sinks,
                               error) &&
         kvasir_load_matrix (model, il, "attn_output.weight", ne, &block->wo, error) &&
         kvasir_load_bias (model, il, "attn_output.bias", hp->n_embd, model->arch->needs_biases,
                           &block->bo, error);
}

static gboolean
load_attn_norm (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  if (model->hparams.has_weightless_norms)
    return TRUE;
  return kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) &&
         (!model->hparams.has_layer_norms ||
          kvasir_load_bias (model, il, "attn_norm.bias", n_embd, model->arch->needs_norm_biases,
                            &layer->attn_norm_bias, error));
}

gboolean
kvasir_load_layers (KvasirModel *model, GError **error)
{
  static const KvasirNetForm usual = { .kind = KVASIR_UNARY_SILU,
                                       .has_gate = TRUE,
                                       .moe = { .normalised = TRUE } };
  const KvasirNetForm *form = model->arch->net != NULL ? model->arch->net : &usual;
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_attn_norm (model, il, &layers[il], error) ||
        !kvasir_load_attention (model, il, &layers[il].attention, error) ||
        !kvasir_load_net (model, il, form, &layers[il], error))
      return FALSE;
  return TRUE;
}

/* Texts of one kind only: the row of the others is never used. */
static gboolean
load_type_row (KvasirModel *model, KvasirInputBlock *input, GError **error)
{
  KvasirKeys keys = { model->gguf, "tokenizer.ggml", "" };
  guint n_types = 2;
  KvasirTensor *whole;

  if (!kvasir_keys_get_size (&keys, "token_type_count", KVASIR_MAX_WIDTH, &n_types, error))
    return FALSE;

  const gint64 ne[2] = { model->hparams.n_embd, n_types };
  if (!kvasir_weights_get_optional (model->weights, -1, "token_types.weight", ne, &whole, error) ||
      !check_plain (model, whole, error))
    return FALSE;
  if (whole != NULL)
    input->type = kvasir_weights_slice (model->weights, whole, 0, 1);
  return TRUE;
}

gboolean
kvasir_load_input (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirInputBlock *input = g_new0 (KvasirInputBlock, 1);
  const gint64 positions[2] = { hp->n_embd, hp->n_ctx_train };

  model->extra = input;
  if (!load_type_row (model, input, error) ||
      !kvasir_weights_get_optional (model->weights, -1, "position_embd.weight", positions,
                                    &input->positions, error) ||
      !kvasir_load_optional (model, -1, "token_embd_norm.weight", hp->n_embd, &input->norm,
                             error) ||
      !kvasir_load_optional (model, -1, "token_embd_norm.bias", hp->n_embd, &input->norm_bias,
                             error))
    return FALSE;
  if (input->positions != NULL)
    hp->n_position_rows = hp->n_ctx_train;
  return TRUE;
}
