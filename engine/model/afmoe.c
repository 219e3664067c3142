/* afmoe: Trinity. Norms before and behind both halves of a layer, attention with a gate, experts
 * with shared ones beside them behind dense layers. x0 = sqrt (width) E, and with n = rms x:
 *
 *   x += rms (Wo (sigmoid (Wg n) * attn (rope (rms q), rope (rms k), v)))
 *   x += rms (down (silu (gate n) * up n), or experts + shared ones)
 *
 * Scores are sigmoids. Three of four layers see a window, and only these are turned.
 */
#include <math.h>

#include "engine/model/build.h"
#include "engine/model/sliding.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .may_be_off = TRUE, .period = 4 };
  KvasirHparams *hp = &model->hparams;

  hp->embedding_scale = sqrtf ((float) hp->n_embd);
  hp->head_norms = KVASIR_HEAD_NORMS_RMS;
  kvasir_hparams_set_neox (hp);
  if (!kvasir_read_sliding (model, &sliding, error))
    return FALSE;
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].is_swa)
      hp->layers[il].rope.n_rot = 0;
  return TRUE;
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .counts_dense = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SIGMOID },
                                   .shared = KVASIR_SHARED_EACH };

static gboolean
load_layer (KvasirModel *model, gint il, KvasirLayer *layer, GError **error)
{
  const KvasirLayerHparams *sizes = &model->hparams.layers[il];
  const gint64 n_embd = model->hparams.n_embd;
  const gint64 gate[2] = { n_embd, (gint64) sizes->head_dim_v * sizes->n_heads };
  KvasirAttentionBlock *attention = &layer->attention;

  return kvasir_load_vector (model, il, "attn_norm.weight", n_embd, &layer->attn_norm, error) &&
         kvasir_load_attention (model, il, attention, error) &&
         kvasir_load_matrix (model, il, "attn_gate.weight", gate, &attention->gate, error) &&
         kvasir_load_net (model, il, &net, layer, error) &&
         kvasir_load_post_norms (model, il, layer, error);
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

const KvasirArch kvasir_arch_afmoe = {
  .name = "afmoe",
  .setup = setup,
  .load = load,
  .build = kvasir_build_layers,
};
