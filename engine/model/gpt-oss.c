/* gpt-oss. formats.md 5.3.
 *
 *   x += Wo attention (rms x) + bo        biases on q, k and v too; a sink per head
 *   x += experts (rms x)                  softmax over the chosen ones' logits; every matrix has a
 *                                         bias; the activation is g sigmoid (1.702 g) (u + 1) with
 *                                         bounds
 *
 * Every second layer sees all tokens, the others a window. The norm of the second half is called
 * post_attention_norm. */
#include "engine/model/build.h"
#include "engine/model/sliding.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .period = 2 };

  kvasir_hparams_set_neox (&model->hparams);
  return kvasir_read_sliding (model, &sliding, error);
}

static gboolean
load_layer (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const gint64 n_embd = model->hparams.n_embd;

  layer->moe.kind = KVASIR_GLU_OAI;
  layer->moe.gating = KVASIR_GATING_SOFTMAX_CHOSEN;
  return kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) &&
         kvasir_load_attention (model, il, &layer->attention, error) &&
         kvasir_load_vector (model, il, "post_attention_norm.weight", n_embd, &layer->ffn_norm,
                             error) &&
         kvasir_load_gated_moe (model, il, &layer->moe, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  KvasirLayer *layers = g_new0 (KvasirLayer, model->hparams.n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) model->hparams.n_layers; il++)
    if (!load_layer (model, il, &layers[il], error))
      return FALSE;
  return TRUE;
}

const KvasirArch kvasir_arch_gpt_oss = {
  .name = "gpt-oss",
  .setup = setup,
  .load = load,
  .build = kvasir_build_layers,
};
