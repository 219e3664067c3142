/* gemma4. formats.md 5.3.
 *
 *   x = E sqrt (n_embd); p as in gemma-parts.h, where the model has values for each layer
 *   in each layer
 *     x += rms_post (Wo attention (rms x))   RMS norms over the heads of q, k and v, scale 1; a
 *                                            layer without a V projection uses that of K
 *     f = GEGLU (rms x); with experts f = rms_1 (GEGLU (rms x)) + rms_2 (experts (rms_pre x)),
 *         where the router looks at scale * rms x / sqrt (n_embd), an RMS norm without weight
 *     x += rms_post (f)
 *     x += inlet (x, p)                      gemma-parts.h
 *     x *= layer_output_scale
 *   logits = cap tanh (E rms x / cap)
 *
 * Sliding layers have heads of their own width and a rope of their own; frequency factors count for
 * the others. The last layers read the rows of the last two that have some. */
#include <math.h>

#include "engine/error.h"
#include "engine/model/gemma-parts.h"
#include "engine/model/sliding.h"

/* What a layer with experts has besides. */
typedef struct
{
  KvasirTensor *router_scale; /* [n_embd] */
  KvasirTensor *norm;         /* [n_embd], before the experts */
  KvasirTensor *dense_norm;   /* [n_embd], behind the dense net */
  KvasirTensor *post_norm;    /* [n_embd], behind the experts */
} Experts;

typedef struct
{
  KvasirLayer plain;
  KvasirGemmaPostNorms post;
  Experts experts;
  KvasirGemmaInlet inlet;
  KvasirTensor *output_scale; /* [1] (nullable) */
} Layer;

static gboolean
read_widths (KvasirModel *model, guint widths[3], GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  widths[0] = hp->head_dim_k;
  widths[1] = hp->head_dim_v;
  if (!kvasir_keys_get_size (&keys, "attention.key_length_swa", KVASIR_MAX_WIDTH, &widths[0],
                             error) ||
      !kvasir_keys_get_size (&keys, "attention.value_length_swa", KVASIR_MAX_WIDTH, &widths[1],
                             error))
    return FALSE;
  kvasir_keys_name (&keys, widths[0] > widths[1] ? "attention.key_length_swa"
                                                 : "attention.value_length_swa");
  for (guint i = 0; i < hp->n_layers; i++)
    if ((guint64) hp->layers[i].n_heads * MAX (widths[0], widths[1]) > KVASIR_MAX_WIDTH)
      return kvasir_keys_fail (&keys, error,
                               "layer %u: at most %u values in all heads expected, %u times %u "
                               "found",
                               i, KVASIR_MAX_WIDTH, hp->layers[i].n_heads,
                               MAX (widths[0], widths[1]));
  widths[2] = widths[0];
  if (!kvasir_keys_get_size (&keys, "rope.dimension_count_swa", widths[0], &widths[2], error))
    return FALSE;
  return widths[2] % 2 == 0 ||
         kvasir_keys_fail (&keys, error, "an even number expected, %u found", widths[2]);
}

/* Heads of sliding layers. */
static gboolean
read_sliding_heads (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  guint widths[3];

  if (!read_widths (model, widths, error))
    return FALSE;
  for (guint i = 0; i < hp->n_layers; i++)
    if (hp->layers[i].is_swa)
      {
        hp->layers[i].head_dim_k = widths[0];
        hp->layers[i].head_dim_v = widths[1];
        hp->layers[i].rope.n_rot = (gint32) widths[2];
      }
  kvasir_hparams_fit_rows (hp);
  return TRUE;
}

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .period = 0 };
  KvasirGemma *gemma = g_new0 (KvasirGemma, 1);

  model->extra = gemma;
  gemma->norms_values = TRUE;
  model->hparams.attention_scale = 1;
  kvasir_hparams_set_neox (&model->hparams);
  return kvasir_gemma_read (model, gemma, error) && kvasir_read_sliding (model, &sliding, error) &&
         read_sliding_heads (model, error) && kvasir_read_sliding_rope (model, 10000, error) &&
         kvasir_read_sharing (model, 0, error);
}

static gboolean
load_experts (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;
  Experts *e = &layer->experts;

  layer->plain.moe.normalised = TRUE;
  return kvasir_load_gated_moe (model, il, &layer->plain.moe, error) &&
         kvasir_load_vector (model, il, "ffn_gate_inp.scale", n_embd, &e->router_scale, error) &&
         kvasir_load_vector (model, il, "pre_ffw_norm_2.weight", n_embd, &e->norm, error) &&
         kvasir_load_vector (model, il, "post_ffw_norm_1.weight", n_embd, &e->dense_norm, error) &&
         kvasir_load_vector (model, il, "post_ffw_norm_2.weight", n_embd, &e->post_norm, error);
}

/* V takes the projection of K, so its heads must be as wide. */
static gboolean
check_v (KvasirModel *model, guint il, const KvasirAttentionBlock *block, GError **error)
{
  const KvasirLayerHparams *layer = &model->hparams.layers[il];

  if (layer->share >= 0 || block->wv != NULL || layer->head_dim_k == layer->head_dim_v)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE,
               "%s: blk.%u.attn_v.weight: a tensor expected where keys are %u and values %u wide, "
               "none found",
               model->info.path, il, layer->head_dim_k, layer->head_dim_v);
  return FALSE;
}

static gboolean
load_layer (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const KvasirGemma *gemma = model->extra;

  return kvasir_gemma_load_layer (model, il, &layer->plain, &layer->post, error) &&
         check_v (model, (guint) il, &layer->plain.attention, error) &&
         kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, TRUE, &layer->plain.ffn,
                          error) &&
         (!kvasir_weights_has (model->weights, il, "ffn_gate_inp.weight") ||
          load_experts (model, il, layer, error)) &&
         (gemma->n_per_layer == 0 || kvasir_gemma_load_inlet (model, il, &layer->inlet, error)) &&
         kvasir_load_optional (model, il, "layer_output_scale.weight", 1, &layer->output_scale,
                               error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  KvasirGemma *gemma = model->extra;
  Layer *layers = g_new0 (Layer, model->hparams.n_layers);

  model->layers = layers;
  if (!kvasir_load_vector (model, -1, "rope_freqs.weight", model->hparams.rope.n_rot / 2,
                           &model->rope_freqs, error) ||
      (gemma->n_per_layer > 0 && !kvasir_gemma_load_layer_values (model, gemma, error)))
    return FALSE;
  for (guint il = 0; il < model->hparams.n_layers; il++)
    if (!load_layer (model, (gint) il, &layers[il], error))
      return FALSE;
  return TRUE;
}

static KvasirTensor *
build_experts (const KvasirModel *model,
               KvasirModelBuild *build,
               const Layer *layer,
               KvasirTensor *x)
{
  const float eps = model->hparams.rms_eps;
  const Experts *e = &layer->experts;
  KvasirGraph *g = build->graph;
  KvasirTensor *seen = kvasir_graph_rms_norm (g, "router_norm", x, e->router_scale, eps), *y;

  seen = kvasir_graph_scale (g, "router_in", seen, 1 / sqrtf ((float) model->hparams.n_embd), 0);
  y = kvasir_graph_rms_norm (g, "moe_norm", x, e->norm, eps);
  y = kvasir_block_moe (g, &layer->plain.moe, y, seen);
  return kvasir_graph_rms_norm (g, "moe_post_norm", y, e->post_norm, eps);
}

static KvasirTensor *
build_ffn (const KvasirModel *model, KvasirModelBuild *build, const Layer *layer, KvasirTensor *x)
{
  const float eps = model->hparams.rms_eps;
  KvasirGraph *g = build->graph;
  KvasirTensor *y = kvasir_graph_rms_norm (g, "ffn_norm", x, layer->plain.ffn_norm, eps);

  y = kvasir_block_glu (g, &layer->plain.ffn, y);
  if (layer->plain.moe.router != NULL)
    {
      y = kvasir_graph_rms_norm (g, "ffn_dense_norm", y, layer->experts.dense_norm, eps);
      y = kvasir_graph_add (g, "ffn_sum", y, build_experts (model, build, layer, x));
    }
  y = kvasir_graph_rms_norm (g, "ffn_post_norm", y, layer->post.ffn, eps);
  return kvasir_graph_add (g, "ffn_res", x, y);
}

/* All of a layer behind its attention. @y: what attention gave; @values [n_per_layer, n]
 * (nullable) */
static KvasirTensor *
build_rest (const KvasirModel *model,
            KvasirModelBuild *build,
            const Layer *layer,
            KvasirTensor *x,
            KvasirTensor *y,
            KvasirTensor *values)
{
  KvasirGraph *g = build->graph;

  y = kvasir_graph_rms_norm (g, "attn_post_norm", y, layer->post.attention, model->hparams.rms_eps);
  x = kvasir_graph_add (g, "attn_res", x, y);
  x = build_ffn (model, build, layer, x);
  if (values != NULL)
    x = kvasir_graph_add (g, "inlet_res", x,
                          kvasir_gemma_build_inlet (model, build, &layer->inlet, x, values));
  if (layer->output_scale != NULL)
    x = kvasir_graph_mul (g, "layer_scaled", x, layer->output_scale);
  return x;
}

static void
build (const KvasirModel *model, KvasirModelBuild *build)
{
  const Layer *layers = model->layers;
  const KvasirGemma *gemma = model->extra;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_gemma_build_embedding (model, build), *all = NULL;

  if (gemma->n_per_layer > 0)
    all = kvasir_gemma_build_layer_values (model, build, x);
  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const KvasirLayer *layer = &layers[il].plain;
      KvasirTensor *values = all != NULL ? kvasir_graph_pick (g, all, il) : NULL, *y;

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_graph_rms_norm (g, "attn_norm", x, layer->attn_norm, model->hparams.rms_eps);
      y = kvasir_gemma_build_attention (model, build, il, &layer->attention, y);
      if (il == model->hparams.n_layers - 1)
        {
          kvasir_build_begin_outputs (build);
          x = kvasir_build_take_outputs (build, x);
          y = kvasir_build_take_outputs (build, y);
          values = values != NULL ? kvasir_build_take_outputs (build, values) : NULL;
        }
      x = build_rest (model, build, &layers[il], x, y, values);
    }
  kvasir_gemma_build_logits (model, build, x);
}

const KvasirArch kvasir_arch_gemma4 = {
  .name = "gemma4",
  .may_lack_v = TRUE,
  .setup = setup,
  .load = load,
  .build = build,
};
