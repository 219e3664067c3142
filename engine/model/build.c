#include "engine/model/build.h"

/* Blocks of the Hadamard rotation of V, and the least ones of K. */
#define ROTATE_BLOCK 64

/* @factor 0: none */
static KvasirTensor *
scale (KvasirModelBuild *build, const char *name, KvasirTensor *x, float factor)
{
  return factor != 0 ? kvasir_graph_scale (build->graph, name, x, factor, 0) : x;
}

KvasirTensor *
kvasir_build_embedding (const KvasirModel *model, KvasirModelBuild *build)
{
  KvasirTensor *x = kvasir_graph_get_rows (build->graph, "embd", model->token_embd, build->tokens);

  return scale (build, "embd_scaled", x, model->hparams.embedding_scale);
}

KvasirTensor *
kvasir_build_input (const KvasirModel *model,
                    KvasirModelBuild *build,
                    const KvasirInputBlock *input)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_build_embedding (model, build);

  if (input->type != NULL)
    x = kvasir_graph_add (g, "embd_type", x, input->type);
  if (input->positions != NULL)
    x = kvasir_graph_add (g, "embd_pos", x,
                          kvasir_graph_get_rows (g, "pos", input->positions, build->positions));
  if (input->norm != NULL)
    x = kvasir_graph_norm (g, "embd_norm", x, input->norm, input->norm_bias,
                           model->hparams.norm_eps);
  return x;
}

KvasirTensor *
kvasir_build_norm (const KvasirModel *model,
                   KvasirModelBuild *build,
                   const char *name,
                   KvasirTensor *x,
                   KvasirTensor *weight,
                   KvasirTensor *bias)
{
  const KvasirHparams *hp = &model->hparams;

  if (hp->has_layer_norms)
    return kvasir_graph_norm (build->graph, name, x, weight, bias, hp->norm_eps);
  return kvasir_graph_rms_norm (build->graph, name, x, weight, hp->rms_eps);
}

KvasirTensor *
kvasir_build_rope (
    const KvasirModel *model, KvasirModelBuild *build, const char *name, guint il, KvasirTensor *x)
{
  const KvasirLayerHparams *layer = &model->hparams.layers[il];
  KvasirTensor *factors = NULL;

  if (layer->rope.n_rot == 0)
    return x;
  if (layer->has_rope_factors)
    factors = kvasir_model_get_rope_factors (model, build->long_context);
  return kvasir_graph_rope (build->graph, name, x, build->positions, factors, &layer->rope);
}

gint
kvasir_model_get_rotation (KvasirType type, guint head_dim)
{
  gint n = ROTATE_BLOCK;

  if (kvasir_type_get_block_len ((int) type) == 1 || head_dim % ROTATE_BLOCK != 0)
    return 0;
  while (head_dim % (2 * (guint) n) == 0)
    n *= 2;
  return n;
}

/* The blocks that the rows of the layer's caches lie under, 0: plain. */
static gint
get_rotation (const KvasirModelBuild *build,
              const KvasirTensor *cache,
              guint head_dim,
              gboolean of_v)
{
  gint n = build->rotate ? kvasir_model_get_rotation (cache->type, head_dim) : 0;

  return of_v ? MIN (n, ROTATE_BLOCK) : n;
}

static KvasirTensor *
rotate (KvasirModelBuild *build, const char *name, KvasirTensor *x, gint n)
{
  return n > 0 ? kvasir_graph_hadamard (build->graph, name, x, n) : x;
}

/* [w * m, n] of [w, m, n] or of what is so already. */
static KvasirTensor *
flatten (KvasirModelBuild *build, KvasirTensor *x)
{
  return x->ne[2] > 1 || x->dyn[2] != KVASIR_DYN_NONE ? kvasir_graph_join (build->graph, x) : x;
}

static KvasirTensor *
store_v (KvasirModelBuild *build, const KvasirCacheInputs *in, KvasirTensor *v, KvasirTensor *cache)
{
  v = flatten (build, v);
  if (kvasir_memory_is_v_transposed (build->memory))
    return kvasir_graph_set_columns (build->graph, "v_cache", v, in->slots, cache);
  return kvasir_graph_set_rows (build->graph, "v_cache", v, in->slots, cache);
}

/* The keys that the layer reads, after the step's own were stored. */
static KvasirTensor *
attach_keys (KvasirModelBuild *build,
             const KvasirCacheInputs *in,
             KvasirTensor *k,
             KvasirTensor *cache,
             gint turn)
{
  if (k == NULL)
    return cache;
  k = flatten (build, rotate (build, "k_rot", k, turn));
  return kvasir_graph_set_rows (build->graph, "k_cache", k, in->slots, cache);
}

/* The same for values, which are the first elements of the keys where they have no cache.
 * Returns: the blocks that they lie under */
static gint
attach_values (KvasirModelBuild *build,
               const KvasirLayerHparams *layer,
               KvasirTensor *v,
               KvasirTensor *cache,
               KvasirAttentionSources *sources,
               KvasirAttentionParams *params)
{
  gint turn;

  if (cache == NULL)
    {
      sources->v = kvasir_graph_slice (build->graph, sources->k, 0, params->head_dim_v);
      return get_rotation (build, sources->k, layer->head_dim_k, FALSE);
    }
  turn = get_rotation (build, cache, layer->head_dim_v, TRUE);
  params->v_transposed = kvasir_memory_is_v_transposed (build->memory);
  sources->v = cache;
  if (v != NULL)
    sources->v =
        store_v (build, &build->caches[params->cache], rotate (build, "v_rot", v, turn), cache);
  return turn;
}

KvasirTensor *
kvasir_build_attend (const KvasirModel *model,
                     KvasirModelBuild *build,
                     guint il,
                     const KvasirAttend *attend)
{
  const KvasirLayerHparams *layer = &model->hparams.layers[il];
  const guint head_dim_v = attend->head_dim_v > 0 ? attend->head_dim_v : layer->head_dim_v;
  KvasirAttentionParams params = { .head_dim_k = (gint32) layer->head_dim_k,
                                   .head_dim_v = (gint32) head_dim_v,
                                   .n_heads = (gint32) layer->n_heads,
                                   .n_kv_heads = (gint32) layer->n_kv_heads,
                                   .scale = attend->scale,
                                   .softcap = attend->softcap,
                                   .max_bias = model->hparams.max_bias };
  KvasirAttentionSources sources = { .sinks = attend->sinks };
  KvasirTensor *k_cache, *v_cache, *out;
  guint cache = 0;
  gint turn_k, turn_v;

  kvasir_memory_get_layer (build->memory, il, &k_cache, &v_cache, &cache);
  const KvasirCacheInputs *in = &build->caches[cache];
  params.cache = (gint32) cache;
  turn_k = get_rotation (build, k_cache, layer->head_dim_k, FALSE);
  sources.q = rotate (build, "q_rot", attend->q, turn_k);
  sources.k = attach_keys (build, in, attend->k, k_cache, turn_k);
  turn_v = attach_values (build, layer, attend->v, v_cache, &sources, &params);
  sources.mask = in->mask;
  sources.distances = params.max_bias != 0 ? in->distances : NULL;
  out = kvasir_graph_attention (build->graph, &sources, &params);
  return rotate (build, "attn_rot", out, turn_v);
}

/* @x [d, heads, n] with its norm; those of all heads together are settled before. */
static KvasirTensor *
norm_heads (const KvasirModel *model,
            KvasirModelBuild *build,
            const char *name,
            KvasirTensor *x,
            KvasirTensor *norm)
{
  const KvasirHparams *hp = &model->hparams;

  if (norm == NULL || hp->head_norms == KVASIR_HEAD_NORMS_WIDE)
    return x;
  if (hp->head_norms != KVASIR_HEAD_NORMS_OWN)
    return kvasir_graph_rms_norm (build->graph, name, x, norm, hp->rms_eps);
  x = kvasir_graph_norm (build->graph, name, x, NULL, NULL, hp->norm_eps);
  return kvasir_graph_mul (build->graph, name, x, norm);
}

/* [d, heads, n] of a projection, with the norm of its heads where the model has one, turned by its
 * positions. */
static KvasirTensor *
turn_heads (const KvasirModel *model,
            KvasirModelBuild *build,
            guint il,
            KvasirTensor *x,
            KvasirTensor *norm,
            gboolean is_query)
{
  const KvasirHparams *hp = &model->hparams;
  const char *name = is_query ? "q_norm" : "k_norm", *turned = is_query ? "q_rope" : "k_rope";

  if (norm != NULL && hp->head_norms == KVASIR_HEAD_NORMS_WIDE)
    x = kvasir_graph_rms_norm (build->graph, name, x, norm, hp->rms_eps);
  x = kvasir_graph_split (build->graph, x, hp->layers[il].head_dim_k);
  if (hp->head_norms == KVASIR_HEAD_NORMS_BEHIND)
    return kvasir_graph_rms_norm (build->graph, name,
                                  kvasir_build_rope (model, build, turned, il, x),
                                  is_query ? norm : NULL, hp->rms_eps);
  return kvasir_build_rope (model, build, turned, il, norm_heads (model, build, name, x, norm));
}

/* @weight . @x + @bias, within the model's bounds. */
static KvasirTensor *
project (const KvasirModel *model,
         KvasirModelBuild *build,
         const char *name,
         KvasirTensor *weight,
         KvasirTensor *bias,
         KvasirTensor *x)
{
  const float bound = model->hparams.clamp_qkv;

  x = kvasir_graph_mul_mat (build->graph, name, weight, x, bias);
  return bound > 0 ? kvasir_graph_clamp (build->graph, name, x, -bound, bound) : x;
}

static KvasirTensor *
build_gate (KvasirModelBuild *build, KvasirTensor *weight, KvasirTensor *x)
{
  x = kvasir_graph_mul_mat (build->graph, "attn_gate_in", weight, x, NULL);
  return kvasir_graph_unary (build->graph, "attn_gate", KVASIR_UNARY_SIGMOID, x);
}

KvasirTensor *
kvasir_build_self_attention (const KvasirModel *model,
                             KvasirModelBuild *build,
                             guint il,
                             const KvasirAttentionBlock *block,
                             KvasirTensor *x)
{
  KvasirGraph *g = build->graph;
  KvasirAttend attend = { .sinks = block->sinks, .scale = model->hparams.attention_scale };
  KvasirTensor *q = project (model, build, "q", block->wq, block->bq, x), *k = NULL, *y;

  if (block->wk != NULL)
    {
      k = project (model, build, "k", block->wk, block->bk, x);
      attend.v = project (model, build, "v", block->wv, block->bv, x);
    }
  attend.q = turn_heads (model, build, il, q, block->q_norm, TRUE);
  if (k != NULL)
    attend.k = turn_heads (model, build, il, k, block->k_norm, FALSE);
  if (model->hparams.temperature.length > 0)
    attend.q = kvasir_graph_temperature (g, "q_temperature", attend.q, build->positions,
                                         &model->hparams.temperature);
  /* Keys with the weights of a norm behind the rotation could not be turned once more in a shift:
   * the queries carry them. */
  if (model->hparams.head_norms == KVASIR_HEAD_NORMS_BEHIND)
    attend.q = kvasir_graph_mul (g, "q_weighted", attend.q, block->k_norm);
  y = kvasir_build_attend (model, build, il, &attend);
  if (block->gate != NULL)
    y = kvasir_graph_mul (g, "attn_gated", y, build_gate (build, block->gate, x));
  return kvasir_graph_mul_mat (g, "attn_out", block->wo, y, block->bo);
}

KvasirTensor *
kvasir_build_ffn (KvasirModelBuild *build, const KvasirLayer *layer, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;
  KvasirTensor *y, *gate;

  if (layer->moe.router == NULL)
    return kvasir_block_glu (g, &layer->ffn, x);
  if (layer->shared.down == NULL)
    return kvasir_block_moe (g, &layer->moe, x, NULL);
  y = kvasir_block_glu (g, &layer->shared, x);
  if (layer->shared_gate != NULL)
    {
      gate = kvasir_graph_mul_mat (g, "shared_gate_in", layer->shared_gate, x, NULL);
      gate = kvasir_graph_unary (g, "shared_gate", KVASIR_UNARY_SIGMOID, gate);
      y = kvasir_graph_mul (g, "shared_gated", y, gate);
    }
  return kvasir_graph_add (g, "ffn_shared", kvasir_block_moe (g, &layer->moe, x, NULL), y);
}

KvasirTensor *
kvasir_build_residual (const KvasirModel *model,
                       KvasirModelBuild *build,
                       const char *name,
                       KvasirTensor *x,
                       KvasirTensor *y)
{
  return kvasir_graph_add (build->graph, name, x,
                           scale (build, "scaled", y, model->hparams.residual_scale));
}

void
kvasir_build_begin_outputs (KvasirModelBuild *build)
{
  kvasir_graph_begin_head (build->graph);
}

KvasirTensor *
kvasir_build_take_outputs (KvasirModelBuild *build, KvasirTensor *x)
{
  return kvasir_graph_get_rows (build->graph, "out_rows", x, build->out_ids);
}

void
kvasir_build_logits (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  kvasir_graph_set_layer (g, -1);
  x = kvasir_build_norm (model, build, "output_norm", x, model->output_norm,
                         model->output_norm_bias);
  x = kvasir_graph_mul_mat (g, "logits", model->output, x, model->output_bias);
  build->logits = scale (build, "logits_scaled", x, model->hparams.logit_scale);
}

static KvasirStateSource
get_state (KvasirModelBuild *build, guint il, gboolean of_scan, guint offset)
{
  KvasirTensor *r, *s;

  kvasir_memory_get_state_layer (build->memory, il, &r, &s);
  return (KvasirStateSource){ .state = of_scan ? s : r,
                              .rows = build->state_rows,
                              .offset = (gint) offset };
}

KvasirStateSource
kvasir_build_state_r (KvasirModelBuild *build, guint il, guint offset)
{
  return get_state (build, il, FALSE, offset);
}

KvasirStateSource
kvasir_build_state_s (KvasirModelBuild *build, guint il)
{
  return get_state (build, il, TRUE, 0);
}

void
kvasir_build_layers (const KvasirModel *model, KvasirModelBuild *build)
{
  kvasir_build_layers_on (model, build, kvasir_build_embedding (model, build));
}

/* In front of a half of a layer. */
static KvasirTensor *
norm_before (const KvasirModel *model,
             KvasirModelBuild *build,
             const char *name,
             KvasirTensor *x,
             KvasirTensor *weight,
             KvasirTensor *bias)
{
  if (weight == NULL && !model->hparams.has_weightless_norms)
    return x;
  return kvasir_build_norm (model, build, name, x, weight, bias);
}

static KvasirTensor *
norm_behind (const KvasirModel *model,
             KvasirModelBuild *build,
             const char *name,
             KvasirTensor *x,
             KvasirTensor *weight)
{
  if (weight == NULL)
    return x;
  return kvasir_graph_rms_norm (build->graph, name, x, weight, model->hparams.rms_eps);
}

/* What the first half of layer @il adds to @x. */
static KvasirTensor *
build_attention (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;

  x = norm_before (model, build, "attn_norm", x, layer->attn_norm, layer->attn_norm_bias);
  if (model->arch->build_attention != NULL)
    x = model->arch->build_attention (model, build, il, x);
  else
    x = kvasir_build_self_attention (model, build, il, &layer->attention, x);
  return norm_behind (model, build, "attn_post_norm", x, layer->attn_post_norm);
}

static KvasirTensor *
build_net (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layer = (const KvasirLayer *) model->layers + il;

  x = norm_before (model, build, "ffn_norm", x, layer->ffn_norm, layer->ffn_norm_bias);
  if (model->arch->build_net != NULL)
    x = model->arch->build_net (model, build, il, x);
  else
    x = kvasir_build_ffn (build, layer, x);
  return norm_behind (model, build, "ffn_post_norm", x, layer->ffn_post_norm);
}

void
kvasir_build_layers_on (const KvasirModel *model, KvasirModelBuild *build, KvasirTensor *x)
{
  KvasirGraph *g = build->graph;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      kvasir_graph_set_layer (g, (gint) il);
      x = kvasir_build_residual (model, build, "attn_res", x,
                                 build_attention (model, build, il, x));
      if (il == model->hparams.n_layers - 1)
        {
          kvasir_build_begin_outputs (build);
          x = kvasir_build_take_outputs (build, x);
        }
      x = kvasir_build_residual (model, build, "ffn_res", x, build_net (model, build, il, x));
    }
  kvasir_build_logits (model, build, x);
}
