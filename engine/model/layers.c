/* What the pre-norm decoder family shares: x += attention (norm x); x += feed-forward (norm x). */
#include "engine/error.h"
#include "engine/model/model-private.h"

static gboolean
load_bias (
    KvasirModel *model, gint il, const char *name, gint64 n, KvasirTensor **bias, GError **error)
{
  const gint64 ne[2] = { n, 0 };
  return kvasir_weights_get_optional (model->weights, il, name, ne, bias, error);
}

/* The rows of a fused tensor are q, then k, then v. */
static gboolean
load_fused (KvasirModel *model, gint il, const gint64 rows[3], GError **error)
{
  KvasirAttentionBlock *block = &model->layers[il].attention;
  const gint64 ne[2] = { model->hparams.n_embd, rows[0] + rows[1] + rows[2] };
  KvasirTensor *whole, *bias;

  if (!kvasir_weights_get (model->weights, il, "attn_qkv.weight", ne, &whole, error) ||
      !load_bias (model, il, "attn_qkv.bias", ne[1], &bias, error))
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
load_projections (KvasirModel *model, gint il, const gint64 rows[3], GError **error)
{
  KvasirWeights *w = model->weights;
  KvasirAttentionBlock *block = &model->layers[il].attention;
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 q[2] = { n_embd, rows[0] }, k[2] = { n_embd, rows[1] }, v[2] = { n_embd, rows[2] };

  if (kvasir_weights_has (w, il, "attn_qkv.weight"))
    return load_fused (model, il, rows, error);
  return kvasir_weights_get (w, il, "attn_q.weight", q, &block->wq, error) &&
         kvasir_weights_get (w, il, "attn_k.weight", k, &block->wk, error) &&
         kvasir_weights_get (w, il, "attn_v.weight", v, &block->wv, error) &&
         load_bias (model, il, "attn_q.bias", rows[0], &block->bq, error) &&
         load_bias (model, il, "attn_k.bias", rows[1], &block->bk, error) &&
         load_bias (model, il, "attn_v.bias", rows[2], &block->bv, error);
}

static gboolean
load_attention (KvasirModel *model, gint il, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  const KvasirLayerHparams *sizes = &hp->layers[il];
  KvasirAttentionBlock *block = &model->layers[il].attention;
  const gint64 n_q = (gint64) hp->head_dim_k * sizes->n_heads;
  const gint64 n_out = (gint64) hp->head_dim_v * sizes->n_heads;
  const gint64 rows[3] = { n_q, (gint64) hp->head_dim_k * sizes->n_kv_heads,
                           (gint64) hp->head_dim_v * sizes->n_kv_heads };
  const gint64 ne[2] = { n_out, hp->n_embd };

  block->norm_eps = hp->rms_eps;
  block->rope = hp->rope;
  block->attention.head_dim_k = (gint32) hp->head_dim_k;
  block->attention.head_dim_v = (gint32) hp->head_dim_v;
  block->attention.n_heads = (gint32) sizes->n_heads;
  block->attention.n_kv_heads = (gint32) sizes->n_kv_heads;
  block->attention.scale = hp->attention_scale;
  return load_projections (model, il, rows, error) &&
         load_bias (model, il, "attn_q_norm.weight", hp->head_dim_k, &block->q_norm, error) &&
         load_bias (model, il, "attn_k_norm.weight", hp->head_dim_k, &block->k_norm, error) &&
         kvasir_weights_get (model->weights, il, "attn_output.weight", ne, &block->wo, error) &&
         load_bias (model, il, "attn_output.bias", hp->n_embd, &block->bo, error);
}

static gboolean
load_ffn (KvasirModel *model, gint il, GError **error)
{
  KvasirWeights *w = model->weights;
  KvasirGluBlock *ffn = &model->layers[il].ffn;
  const gint64 n_embd = model->hparams.n_embd, n_ff = model->hparams.layers[il].n_ff;
  const gint64 up[2] = { n_embd, n_ff }, down[2] = { n_ff, n_embd };

  ffn->kind = KVASIR_UNARY_SILU;
  return kvasir_weights_get (w, il, "ffn_gate.weight", up, &ffn->gate, error) &&
         kvasir_weights_get (w, il, "ffn_up.weight", up, &ffn->up, error) &&
         kvasir_weights_get (w, il, "ffn_down.weight", down, &ffn->down, error) &&
         load_bias (model, il, "ffn_gate.bias", n_ff, &ffn->gate_bias, error) &&
         load_bias (model, il, "ffn_up.bias", n_ff, &ffn->up_bias, error) &&
         load_bias (model, il, "ffn_down.bias", n_embd, &ffn->down_bias, error);
}

gboolean
kvasir_arch_load_layers (KvasirModel *model, GError **error)
{
  const gint64 ne[2] = { model->hparams.n_embd, 0 };

  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    {
      KvasirLayer *layer = &model->layers[il];
      if (kvasir_weights_has (model->weights, il, "ffn_gate_inp.weight"))
        {
          g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                       "%s: blk.%d.ffn_gate_inp.weight: mixtures of experts are not supported",
                       model->info.path, il);
          return FALSE;
        }
      if (!kvasir_weights_get (model->weights, il, "attn_norm.weight", ne, &layer->attn_norm,
                               error) ||
          !load_attention (model, il, error) ||
          !kvasir_weights_get (model->weights, il, "ffn_norm.weight", ne, &layer->ffn_norm,
                               error) ||
          !load_ffn (model, il, error))
        return FALSE;
    }
  return TRUE;
}

static KvasirTensor *
build_attention (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = &model->layers[il];
  KvasirAttentionBlock block = layer->attention;
  KvasirAttentionInputs inputs = { .positions = build->positions };
  guint cache = 0;

  block.rope_factors = kvasir_model_get_rope_factors (model, build->long_context);
  kvasir_memory_get_layer (build->memory, il, &inputs.k, &inputs.v, &cache);
  inputs.slots = build->caches[cache].slots;
  inputs.mask = build->caches[cache].mask;
  x = kvasir_graph_rms_norm (build->graph, "attn_norm", x, layer->attn_norm,
                             model->hparams.rms_eps);
  return kvasir_block_attention (build->graph, &block, &inputs, x);
}

void
kvasir_arch_build_layers (const KvasirModel *model, KvasirModelBuild *build)
{
  const float eps = model->hparams.rms_eps;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_graph_get_rows (g, "embd", model->token_embd, build->tokens);

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const KvasirLayer *layer = &model->layers[il];
      KvasirTensor *y;

      kvasir_graph_set_layer (g, (gint) il);
      x = kvasir_graph_add (g, "attn_res", x, build_attention (model, build, il, x));
      /* Behind the last attention tokens no longer meet, so only those that are asked for go on. */
      if (il == model->hparams.n_layers - 1)
        {
          kvasir_graph_begin_head (g);
          x = kvasir_graph_get_rows (g, "out_rows", x, build->out_ids);
        }
      y = kvasir_graph_rms_norm (g, "ffn_norm", x, layer->ffn_norm, eps);
      x = kvasir_graph_add (g, "ffn_res", x, kvasir_block_glu (g, &layer->ffn, y));
    }
  kvasir_graph_set_layer (g, -1);
  x = kvasir_graph_rms_norm (g, "output_norm", x, model->output_norm, eps);
  build->logits = kvasir_graph_mul_mat (g, "logits", model->output, x, model->output_bias);
}
