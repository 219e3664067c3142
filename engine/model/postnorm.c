/* Models with norms behind the halves of a layer:
 *
 *   x += norm (Wo attn (q, k, v));  x += norm (down (silu (gate m) * up m))
 *
 * olmo2   q, k and v of x as it is, and m = x; a norm over all heads of q together, and one over
 *         those of k; NEOX pairs. With a window (Olmo 3) the last layer of each four sees
 *         everything, and the others turn without yarn.
 * exaone4 as olmo2, but with norms over each head; with a window only the layers that slide turn
 * glm4    q, k, v and m of rms x; gate and up in one tensor; a part of each head is turned, by four
 *         positions where the file has sections of them
 */
#include "engine/model/build.h"
#include "engine/model/sliding.h"

typedef struct
{
  KvasirLayer plain;                  /* attn_norm and ffn_norm NULL: none before the halves */
  KvasirTensor *attn_post, *ffn_post; /* [n_embd] */
} Layer;

static gboolean
setup_olmo2 (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .may_be_off = TRUE, .period = 4 };
  KvasirHparams *hp = &model->hparams;

  hp->head_norms = KVASIR_HEAD_NORMS_WIDE;
  kvasir_hparams_set_neox (hp);
  return kvasir_read_sliding (model, &sliding, error) &&
         kvasir_read_sliding_rope (model, hp->rope.freq_base, error);
}

static gboolean
setup_exaone4 (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .may_be_off = TRUE, .period = 4 };
  KvasirHparams *hp = &model->hparams;

  hp->head_norms = KVASIR_HEAD_NORMS_RMS;
  kvasir_hparams_set_neox (hp);
  if (!kvasir_read_sliding (model, &sliding, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers && hp->n_swa > 0; il++)
    if (!hp->layers[il].is_swa)
      hp->layers[il].rope.n_rot = 0;
  return TRUE;
}

static gboolean
setup_glm4 (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  return kvasir_hparams_skip_drafts (hp, &keys, error) &&
         (!kvasir_keys_has (&keys, "rope.dimension_sections") ||
          kvasir_hparams_read_sections (hp, &keys, error));
}

static gboolean
load_pre_norms (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  return kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) &&
         kvasir_load_vector (model, il, "ffn_norm.weight", n_embd, &layer->ffn_norm, error);
}

static gboolean
load_layer (KvasirModel *model, gint il, Layer *layer, GError **error)
{
  const KvasirHparams *hp = &model->hparams;

  layer->plain.ffn.kind = KVASIR_UNARY_SILU;
  return kvasir_load_attention (model, il, &layer->plain.attention, error) &&
         kvasir_load_ffn (model, il, hp->layers[il].n_ff, TRUE, &layer->plain.ffn, error) &&
         kvasir_load_vector (model, il, "post_attention_norm.weight", hp->n_embd, &layer->attn_post,
                             error) &&
         kvasir_load_vector (model, il, "post_ffw_norm.weight", hp->n_embd, &layer->ffn_post,
                             error);
}

static gboolean
load_layers (KvasirModel *model, gboolean has_pre_norms, GError **error)
{
  Layer *layers = g_new0 (Layer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_layer (model, il, &layers[il], error) ||
        (has_pre_norms && !load_pre_norms (model, il, &layers[il].plain, error)))
      return FALSE;
  return TRUE;
}

static gboolean
load_behind (KvasirModel *model, GError **error)
{
  return load_layers (model, FALSE, error);
}

static gboolean
load_glm4 (KvasirModel *model, GError **error)
{
  return load_layers (model, TRUE, error);
}

static KvasirTensor *
norm (const KvasirModel *model,
      KvasirModelBuild *step,
      const char *name,
      KvasirTensor *x,
      KvasirTensor *weight)
{
  return weight != NULL ? kvasir_build_norm (model, step, name, x, weight, NULL) : x;
}

static void
build (const KvasirModel *model, KvasirModelBuild *step)
{
  const Layer *layers = model->layers;
  KvasirGraph *g = step->graph;
  KvasirTensor *x = kvasir_build_embedding (model, step), *y;

  for (guint il = 0; il < model->hparams.n_layers; il++)
    {
      const KvasirLayer *layer = &layers[il].plain;

      kvasir_graph_set_layer (g, (gint) il);
      y = norm (model, step, "attn_norm", x, layer->attn_norm);
      y = kvasir_build_self_attention (model, step, il, &layer->attention, y);
      if (il == model->hparams.n_layers - 1)
        {
          kvasir_build_begin_outputs (step);
          x = kvasir_build_take_outputs (step, x);
          y = kvasir_build_take_outputs (step, y);
        }
      y = norm (model, step, "attn_post_norm", y, layers[il].attn_post);
      x = kvasir_graph_add (g, "attn_res", x, y);
      y = kvasir_build_ffn (step, layer, norm (model, step, "ffn_norm", x, layer->ffn_norm));
      y = norm (model, step, "ffn_post_norm", y, layers[il].ffn_post);
      x = kvasir_graph_add (g, "ffn_res", x, y);
    }
  kvasir_build_logits (model, step, x);
}

const KvasirArch kvasir_arch_exaone4 = {
  .name = "exaone4",
  .setup = setup_exaone4,
  .load = load_behind,
  .build = build,
};

const KvasirArch kvasir_arch_glm4 = {
  .name = "glm4",
  .setup = setup_glm4,
  .load = load_glm4,
  .build = build,
};

const KvasirArch kvasir_arch_olmo2 = {
  .name = "olmo2",
  .setup = setup_olmo2,
  .load = load_behind,
  .build = build,
};
