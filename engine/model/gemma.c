/* gemma2 and gemma3. formats.md 5.3.
 *
 *   x = E sqrt (n_embd)
 *   in each layer
 *     x += rms_post (Wo attention (rms x))    gemma3: RMS norms over the heads of q and k
 *     x += rms_post (GEGLU (rms x))
 *   logits = cap tanh (E rms x / cap)         gemma2, and scores are capped too
 *
 * All layers but the last of each period see a window. Those of gemma3 turn with a base of their
 * own, without the scaling of the others; without a window all its layers are full ones. */
#include <math.h>

#include "engine/model/gemma-parts.h"
#include "engine/model/sliding.h"

/* The members whose scale goes by the width of the model over the heads. */
#define GEMMA2_27B_LAYERS 46
#define GEMMA3_27B_LAYERS 62

typedef struct
{
  KvasirLayer plain;
  KvasirGemmaPostNorms post;
} Layer;

static KvasirGemma *
add_gemma (KvasirModel *model, float attention_cap, float logit_cap)
{
  KvasirGemma *gemma = g_new0 (KvasirGemma, 1);

  gemma->attention_cap = attention_cap;
  gemma->logit_cap = logit_cap;
  model->extra = gemma;
  kvasir_hparams_set_neox (&model->hparams);
  return gemma;
}

static void
scale_by_width (KvasirHparams *hp)
{
  hp->attention_scale = 1 / sqrtf ((float) (hp->n_embd / hp->layers[0].n_heads));
}

static gboolean
setup_gemma2 (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .n_swa = 4096, .period = 2 };

  if (model->hparams.n_layers == GEMMA2_27B_LAYERS)
    scale_by_width (&model->hparams);
  return kvasir_gemma_read (model, add_gemma (model, 50, 30), error) &&
         kvasir_read_sliding (model, &sliding, error);
}

static gboolean
setup_gemma3 (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .may_be_off = TRUE, .period = 6 };

  if (model->hparams.n_layers == GEMMA3_27B_LAYERS)
    scale_by_width (&model->hparams);
  return kvasir_gemma_read (model, add_gemma (model, 0, 0), error) &&
         kvasir_read_sliding (model, &sliding, error) &&
         kvasir_read_sliding_rope (model, 10000, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  Layer *layers = g_new0 (Layer, hp->n_layers);

  model->layers = layers;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!kvasir_gemma_load_layer (model, (gint) il, &layers[il].plain, &layers[il].post, error) ||
        !kvasir_load_ffn (model, (gint) il, hp->layers[il].n_ff, TRUE, &layers[il].plain.ffn,
                          error))
      return FALSE;
  return TRUE;
}

static void
build (const KvasirModel *model, KvasirModelBuild *build)
{
  const float eps = model->hparams.rms_eps;
  const Layer *layers = model->layers;
  KvasirGraph *g = build->graph;
  KvasirTensor *x = kvasir_gemma_build_embedding (model, build), *y;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const KvasirLayer *layer = &layers[il].plain;

      kvasir_graph_set_layer (g, (gint) il);
      y = kvasir_graph_rms_norm (g, "attn_norm", x, layer->attn_norm, eps);
      y = kvasir_gemma_build_attention (model, build, il, &layer->attention, y);
      if (il == model->hparams.n_layers - 1)
        {
          kvasir_build_begin_outputs (build);
          x = kvasir_build_take_outputs (build, x);
          y = kvasir_build_take_outputs (build, y);
        }
      y = kvasir_graph_rms_norm (g, "attn_post_norm", y, layers[il].post.attention, eps);
      x = kvasir_graph_add (g, "attn_res", x, y);
      y = kvasir_graph_rms_norm (g, "ffn_norm", x, layer->ffn_norm, eps);
      y = kvasir_build_ffn (build, layer, y);
      y = kvasir_graph_rms_norm (g, "ffn_post_norm", y, layers[il].post.ffn, eps);
      x = kvasir_graph_add (g, "ffn_res", x, y);
    }
  kvasir_gemma_build_logits (model, build, x);
}

const KvasirArch kvasir_arch_gemma2 = {
  .name = "gemma2",
  .setup = setup_gemma2,
  .load = load,
  .build = build,
};

const KvasirArch kvasir_arch_gemma3 = {
  .name = "gemma3",
  .setup = setup_gemma3,
  .load = load,
  .build = build,
};
