/* deepseek: the first of its family, a plain decoder (llama.c) with experts + shared experts in all
 * but the first layers; the experts' softmax shares are taken as they are.
 *
 * deepseek2: DeepSeek V2, V3, R1, Kimi K2 and their kin. formats.md 5.3. The same with attention by
 * latent rows (latent.h).
 *
 * minicpm3: latent attention with plain keys and values, dense nets, NEOX pairs, and the scales of
 * minicpm (granite.c), which no key tells.
 */
#include <math.h>

#include "engine/model/build.h"
#include "engine/model/latent.h"

#define MINICPM_EMBEDDING_SCALE 12
#define MINICPM_DEPTH_SCALE 1.4f
#define MINICPM_BASE_WIDTH 256

static gboolean
setup (KvasirModel *model, GError **error)
{
  return kvasir_latent_setup (model, error) && kvasir_latent_settle_yarn (model, error);
}

static gboolean
setup_minicpm (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  hp->embedding_scale = MINICPM_EMBEDDING_SCALE;
  hp->residual_scale = MINICPM_DEPTH_SCALE / sqrtf ((float) hp->n_layers);
  hp->logit_scale = (float) MINICPM_BASE_WIDTH / (float) hp->n_embd;
  kvasir_hparams_set_neox (hp);
  return kvasir_latent_setup (model, error);
}

static gboolean
load (KvasirModel *model, GError **error)
{
  const KvasirHparams *hp = &model->hparams;
  KvasirLayer *layers = g_new0 (KvasirLayer, hp->n_layers);

  model->layers = layers;
  for (gint il = 0; il < (gint) hp->n_layers; il++)
    if (!kvasir_load_vector (model, il, "attn_norm.weight", hp->n_embd, &layers[il].attn_norm,
                             error) ||
        !kvasir_load_latent (model, il, error) ||
        !kvasir_load_net (model, il, model->arch->net, &layers[il], error))
      return FALSE;
  return TRUE;
}

static const KvasirNetForm net = {
  .kind = KVASIR_UNARY_SILU, .has_gate = TRUE, .counts_dense = TRUE, .shared = KVASIR_SHARED_EACH
};

static const KvasirNetForm dense_net = { .kind = KVASIR_UNARY_SILU, .has_gate = TRUE };

const KvasirArch kvasir_arch_deepseek = {
  .name = "deepseek",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &net,
};

const KvasirArch kvasir_arch_deepseek2 = {
  .name = "deepseek2",
  .setup = setup,
  .load = load,
  .build = kvasir_build_layers,
  .net = &net,
  .build_attention = kvasir_build_latent,
};

const KvasirArch kvasir_arch_minicpm3 = {
  .name = "minicpm3",
  .setup = setup_minicpm,
  .load = load,
  .build = kvasir_build_layers,
  .net = &dense_net,
  .build_attention = kvasir_build_latent,
};
