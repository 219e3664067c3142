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
kvasir_load_matrix (KvasirModel *model,
                    gint il,
                    const char *name,
                    const gint64 ne[2],
                    KvasirTensor **t,
                    GError **error)
{
  return kvasir_weights_get (model->weights, il, name, ne, t, error);
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
      !kvasir_load_optional (model, il, "attn_qkv.bias", ne[1], &bias, error))
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
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 q[2] = { n_embd, rows[0] }, k[2] = { n_embd, rows[1] }, v[2] = { n_embd, rows[2] };

  if (kvasir_weights_has (w, il, "attn_qkv.weight"))
    return load_fused (model, il, rows, block, error);
  if (!kvasir_weights_get (w, il, "attn_q.weight", q, &block->wq, error) ||
      !kvasir_load_optional (model, il, "attn_q.bias", rows[0], &block->bq, error))
    return FALSE;
  /* A layer that reads the rows of another one has only queries. */
  if (model->hparams.layers[il].share >= 0)
    return TRUE;
  return kvasir_weights_get (w, il, "attn_k.weight", k, &block->wk, error) &&
         kvasir_weights_get_optional (w, il, "attn_v.weight", v, &block->wv, error) &&
         (block->wv != NULL || model->arch->may_lack_v ||
          kvasir_weights_get (w, il, "attn_v.weight", v, &block->wv, error)) &&
         kvasir_load_optional (model, il, "attn_k.bias", rows[1], &block->bk, error) &&
         kvasir_load_optional (model, il, "attn_v.bias", rows[2], &block->bv, error);
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
    case KVASIR_HEAD_NORMS_RMS:
      return kvasir_load_optional (model, il, name, width, norm, error);
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
         load_head_norm (model, il, "attn_q_norm.weight", sizes->n_heads, &block->q_norm, error) &&
         load_head_norm (model, il, "attn_k_norm.weight", sizes->n_kv_heads, &block->k_norm,
                         error) &&
         kvasir_load_optional (model, il, "attn_sinks.weight", sizes->n_heads, &block->sinks,
                               error) &&
         kvasir_load_matrix (model, il, "attn_output.weight", ne, &block->wo, error) &&
         kvasir_load_optional (model, il, "attn_output.bias", hp->n_embd, &block->bo, error);
}

/* Gate and up in one tensor, the gate first. */
static gboolean
load_fused_up (KvasirModel *model, gint il, guint n_ff, KvasirGluBlock *ffn, GError **error)
{
  const gint64 ne[2] = { model->hparams.n_embd, 2 * (gint64) n_ff };
  KvasirTensor *whole;

  if (!kvasir_load_matrix (model, il, "ffn_up.weight", ne, &whole, error))
    return FALSE;
  ffn->gate = kvasir_weights_slice (model->weights, whole, 0, n_ff);
  ffn->up = kvasir_weights_slice (model->weights, whole, n_ff, n_ff);
  return TRUE;
}

gboolean
kvasir_load_ffn (
    KvasirModel *model, gint il, guint n_ff, gboolean fused, KvasirGluBlock *ffn, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 up[2] = { n_embd, n_ff }, down[2] = { n_ff, n_embd };
  gboolean ok;

  ok = kvasir_weights_get_optional (w, il, "ffn_gate.weight", up, &ffn->gate, error);
  if (ok && ffn->gate == NULL && fused)
    ok = load_fused_up (model, il, n_ff, ffn, error);
  else
    ok = ok && kvasir_weights_get (w, il, "ffn_up.weight", up, &ffn->up, error);
  return ok && kvasir_weights_get (w, il, "ffn_down.weight", down, &ffn->down, error) &&
         kvasir_load_optional (model, il, "ffn_gate.bias", n_ff, &ffn->gate_bias, error) &&
         kvasir_load_optional (model, il, "ffn_up.bias", n_ff, &ffn->up_bias, error) &&
         kvasir_load_optional (model, il, "ffn_down.bias", n_embd, &ffn->down_bias, error);
}

/* Numbers of the mixture; those that are 0 in @block are expected in the file. */
static gboolean
read_moe (KvasirModel *model, KvasirMoeBlock *moe, guint *n_experts, guint *n_ff, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint gating = moe->gating != 0 ? moe->gating : KVASIR_GATING_SOFTMAX;

  *n_experts = 0;
  *n_ff = model->hparams.layers[0].n_ff;
  moe->n_groups = moe->n_groups_used = 1;
  if (!kvasir_keys_get_size (&keys, "expert_count", 1u << 16, n_experts, error) ||
      !kvasir_keys_get_size (&keys, "expert_used_count", *n_experts, &moe->n_used, error) ||
      !kvasir_keys_get_size (&keys, "expert_feed_forward_length", KVASIR_MAX_WIDTH, n_ff, error) ||
      !kvasir_keys_get_size (&keys, "expert_group_count", *n_experts, &moe->n_groups, error) ||
      !kvasir_keys_get_size (&keys, "expert_group_used_count", moe->n_groups, &moe->n_groups_used,
                             error) ||
      !kvasir_keys_get_float (&keys, "expert_weights_scale", &moe->scale, error) ||
      !kvasir_keys_get_bool (&keys, "expert_weights_norm", &moe->normalised, error) ||
      !kvasir_keys_get_size (&keys, "expert_gating_func", KVASIR_GATING_SOFTMAX_CHOSEN, &gating,
                             error))
    return FALSE;
  moe->gating = (KvasirGating) gating;
  return TRUE;
}

static gboolean
load_experts (
    KvasirModel *model, gint il, const gint64 sizes[3], KvasirMoeBlock *moe, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 up[3] = { sizes[0], sizes[1], sizes[2] };
  const gint64 down[3] = { sizes[1], sizes[0], sizes[2] };
  const gint64 both[3] = { sizes[0], 2 * sizes[1], sizes[2] };
  KvasirTensor *whole;

  if (kvasir_weights_has (w, il, "ffn_gate_up_exps.weight"))
    {
      if (!kvasir_weights_get_stack (w, il, "ffn_gate_up_exps.weight", both, FALSE, &whole, error))
        return FALSE;
      moe->gate = kvasir_weights_slice (w, whole, 0, sizes[1]);
      moe->up = kvasir_weights_slice (w, whole, sizes[1], sizes[1]);
    }
  else if (!kvasir_weights_get_stack (w, il, "ffn_gate_exps.weight", up, TRUE, &moe->gate, error) ||
           !kvasir_weights_get_stack (w, il, "ffn_up_exps.weight", up, FALSE, &moe->up, error))
    return FALSE;
  return kvasir_weights_get_stack (w, il, "ffn_down_exps.weight", down, FALSE, &moe->down, error);
}

/* The sum of experts has no place for a bias behind a scale. */
static gboolean
check_scaled (KvasirModel *model, const KvasirTensor *t, const KvasirTensor *bias, GError **error)
{
  if (t == NULL || t->scale == NULL || bias == NULL)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: %s: experts with a scale and without a bias expected, %s found",
               model->info.path, t->scale->name, bias->name);
  return FALSE;
}

static gboolean
load_expert_biases (
    KvasirModel *model, gint il, const gint64 sizes[3], KvasirMoeBlock *moe, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 wide[2] = { sizes[1], sizes[2] }, narrow[2] = { sizes[0], sizes[2] };

  return kvasir_weights_get_optional (w, il, "ffn_gate_exps.bias", wide, &moe->gate_bias, error) &&
         kvasir_weights_get_optional (w, il, "ffn_up_exps.bias", wide, &moe->up_bias, error) &&
         kvasir_weights_get_optional (w, il, "ffn_down_exps.bias", narrow, &moe->down_bias,
                                      error) &&
         check_scaled (model, moe->gate, moe->gate_bias, error) &&
         check_scaled (model, moe->up, moe->up_bias, error) &&
         check_scaled (model, moe->down, moe->down_bias, error);
}

gboolean
kvasir_load_moe (KvasirModel *model, gint il, KvasirMoeBlock *moe, GError **error)
{
  guint n_experts, n_ff;

  if (!read_moe (model, moe, &n_experts, &n_ff, error))
    return FALSE;

  const gint64 n_embd = model->hparams.n_embd;
  const gint64 router[2] = { n_embd, n_experts };
  const gint64 sizes[3] = { n_embd, n_ff, n_experts };

  return kvasir_load_matrix (model, il, "ffn_gate_inp.weight", router, &moe->router, error) &&
         kvasir_load_optional (model, il, "ffn_gate_inp.bias", n_experts, &moe->router_bias,
                               error) &&
         kvasir_load_optional (model, il, "exp_probs_b.bias", n_experts, &moe->choice_bias,
                               error) &&
         load_experts (model, il, sizes, moe, error) &&
         load_expert_biases (model, il, sizes, moe, error);
}

gboolean
kvasir_load_gated_moe (KvasirModel *model, gint il, KvasirMoeBlock *moe, GError **error)
{
  if (!kvasir_load_moe (model, il, moe, error))
    return FALSE;
  return moe->gate != NULL || kvasir_weights_get_stack (model->weights, il, "ffn_gate_exps.weight",
                                                        moe->up->ne, FALSE, &moe->gate, error);
}

gboolean
kvasir_load_shared (KvasirModel *model, gint il, guint n_ff, KvasirGluBlock *block, GError **error)
{
  KvasirWeights *w = model->weights;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 up[2] = { n_embd, n_ff }, down[2] = { n_ff, n_embd };

  return kvasir_weights_get_optional (w, il, "ffn_gate_shexp.weight", up, &block->gate, error) &&
         kvasir_weights_get (w, il, "ffn_up_shexp.weight", up, &block->up, error) &&
         kvasir_weights_get (w, il, "ffn_down_shexp.weight", down, &block->down, error);
}

static gboolean
load_norms (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  if (!kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) ||
      !kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layer->ffn_norm, error))
    return FALSE;
  return !model->hparams.has_layer_norms ||
         (kvasir_load_optional (model, il, "attn_norm.bias", n_embd, &layer->attn_norm_bias,
                                error) &&
          kvasir_load_optional (model, il, "ffn_norm.bias", n_embd, &layer->ffn_norm_bias, error));
}

static gboolean
load_layer (KvasirModel *model, gint il, gboolean has_gate, KvasirLayer *layer, GError **error)
{
  if (!load_norms (model, il, layer, error) ||
      !kvasir_load_attention (model, il, &layer->attention, error))
    return FALSE;
  if (!kvasir_weights_has (model->weights, il, "ffn_gate_inp.weight"))
    return kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, has_gate, &layer->ffn,
                            error);
  layer->moe.normalised = TRUE;
  return has_gate ? kvasir_load_gated_moe (model, il, &layer->moe, error)
                  : kvasir_load_moe (model, il, &layer->moe, error);
}

gboolean
kvasir_load_layers_of (KvasirModel *model, KvasirUnary kind, gboolean has_gate, GError **error)
{
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      layers[il].ffn.kind = layers[il].moe.kind = layers[il].shared.kind = kind;
      if (!load_layer (model, il, has_gate, &layers[il], error))
        return FALSE;
    }
  return TRUE;
}

gboolean
kvasir_load_layers (KvasirModel *model, GError **error)
{
  return kvasir_load_layers_of (model, KVASIR_UNARY_SILU, TRUE, error);
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
