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
load_layer (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  layer->ffn.kind = KVASIR_UNARY_SILU;
  return kvasir_load_attention (model, il, &layer->attention, error) &&
         kvasir_load_ffn (model, il, model->hparams.layers[il].n_ff, TRUE, &layer->ffn, error) &&
         kvasir_load_post_norms (model, il, layer, error);
}

static gboolean
load_layers (KvasirModel *model, gboolean has_pre_norms, GError **error)
{
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_layer (model, il, &layers[il], error) ||
        (has_pre_norms && !load_pre_norms (model, il, &layers[il], error)))
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

const KvasirArch kvasir_arch_exaone4 = {
  .name = "exaone4",
  .setup = setup_exaone4,
  .load = load_behind,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_glm4 = {
  .name = "glm4",
  .setup = setup_glm4,
  .load = load_glm4,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_olmo2 = {
  .name = "olmo2",
  .setup = setup_olmo2,
  .load = load_behind,
  .build = kvasir_build_layers,
};
