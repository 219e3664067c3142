/* llama4. formats.md 5.3.
 *
 *   in each layer
 *     x += Wo attention (rms x)
 *     x += f, SwiGLU (rms x), or, in every step-th layer, shared (rms x) + experts (rms x)
 *
 * Three of four layers see a chunk: the window starts again at its multiples. They turn q and k by
 * their positions, and then normalise both without weight, but for the model of 128 experts. The
 * fourth sees everything and is not turned; there q grows with its position,
 *   q (1 + scale ln (1 + floor ((position + 1) / length))).
 * The sigmoid of the router's logit multiplies what an expert reads. With a window of 0 all layers
 * are full, and turned. */
#include "engine/model/build.h"
#include "engine/model/sliding.h"

#define CHUNK 8192
/* The model whose queries and keys are not normalised. */
#define PLAIN_EXPERTS 128

/* KvasirModel.extra */
typedef struct
{
  guint moe_step;     /* layer il has experts where (il + 1) % moe_step is 0 */
  guint n_experts;    /* 0: none in any layer */
  guint n_ff_experts; /* of an expert, and of the shared one */
  KvasirTemperatureParams temperature;
} Extra;

static gboolean
read_extra (KvasirModel *model, Extra *extra, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };
  guint length = CHUNK;

  extra->temperature = (KvasirTemperatureParams){ .scale = 0.1f, .offset = 1 };
  extra->n_ff_experts = model->hparams.layers[0].n_ff;
  if (!kvasir_keys_get_size (&keys, "attention.temperature_length", KVASIR_MAX_CONTEXT, &length,
                             error) ||
      !kvasir_keys_get_float (&keys, "attention.temperature_scale", &extra->temperature.scale,
                              error) ||
      !kvasir_keys_get_count (&keys, "expert_count", KVASIR_MAX_WIDTH, &extra->n_experts, error) ||
      !kvasir_keys_get_size (&keys, "expert_feed_forward_length", KVASIR_MAX_WIDTH,
                             &extra->n_ff_experts, error))
    return FALSE;
  extra->temperature.length = (gint32) length;
  return extra->n_experts == 0 || kvasir_keys_get_size (&keys, "interleave_moe_layer_step",
                                                        KVASIR_MAX_LAYERS, &extra->moe_step, error);
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_CHUNKED, .n_swa = CHUNK, .may_be_off = TRUE,
                                  .period = 4 };
  KvasirHparams *hp = &model->hparams;
  Extra *extra = g_new0 (Extra, 1);

  model->extra = extra;
  if (!read_extra (model, extra, error) || !kvasir_read_sliding (model, &sliding, error))
    return FALSE;
  /* The file's window only says whether there are chunks; their size is the family's. */
  if (hp->n_swa > 0)
    hp->n_swa = CHUNK;
  for (guint i = 0; i < hp->n_layers && hp->n_swa > 0; i++)
    if (!hp->layers[i].is_swa)
      hp->layers[i].rope.n_rot = 0;
  return TRUE;
}

static gboolean
load_ffn (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const Extra *extra = model->extra;

  layer->ffn.kind = layer->moe.kind = layer->shared.kind = KVASIR_UNARY_SILU;
  if (extra->n_experts == 0 || ((guint) il + 1) % extra->moe_step != 0)
    return kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, TRUE, &layer->ffn, error);
  layer->moe.gating = KVASIR_GATING_SIGMOID;
  layer->moe.weighs_input = TRUE;
  return kvasir_load_gated_moe (model, il, &layer->moe, error) &&
         kvasir_load_shared (model, il, extra->n_ff_experts, TRUE, &layer->shared, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layers[il].attn_norm, error) ||
        !kvasir_load_attention (model, il, &layers[il].attention, error) ||
        !kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layers[il].ffn_norm, error) ||
        !load_ffn (model, il, &layers[il], error))
      return FALSE;
  return TRUE;
}

/* [dk, heads, n] of q or k. */
static KvasirTensor *
turn_heads (
    const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x, gboolean is_query)
{
  const KvasirLayerHparams *layer = &model->hparams.layers[il];
  const Extra *extra = model->extra;
  KvasirGraph *g = build->graph;

  x = kvasir_graph_split (g, x, layer->head_dim_k);
  if (layer->rope.n_rot == 0)
    return is_query ? kvasir_graph_temperature (g, "q_temperature", x, build->positions,
                                                &extra->temperature)
                    : x;
  x = kvasir_build_rope (model, build, is_query ? "q_rope" : "k_rope", il, x);
  if (extra->n_experts == PLAIN_EXPERTS)
    return x;
  return kvasir_graph_rms_norm (g, is_query ? "q_norm" : "k_norm", x, NULL, model->hparams.rms_eps);
}

static KvasirTensor *
build_attention (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirAttentionBlock *block = &((const KvasirLayer *) model->layers + il)->attention;
  KvasirGraph *g = build->graph;
  KvasirAttend attend = { .scale = model->hparams.attention_scale };

  attend.q =
      turn_heads (model, build, il, kvasir_graph_mul_mat (g, "q", block->wq, x, block->bq), TRUE);
  attend.k =
      turn_heads (model, build, il, kvasir_graph_mul_mat (g, "k", block->wk, x, block->bk), FALSE);
  attend.v = kvasir_graph_mul_mat (g, "v", block->wv, x, block->bv);
  return kvasir_graph_mul_mat (g, "attn_out", block->wo,
                               kvasir_build_attend (model, build, il, &attend), block->bo);
}

const KvasirArch kvasir_arch_llama4 = {
  .name = "llama4",
  .setup = setup,
  .load = load,
  .build = kvasir_build_layers,
  .build_attention = build_attention,
};
