/* jamba: layers with key and value heads attend, the others have a Mamba 1 mixer whose delta, B and
 * C are normalised. formats.md 5.3.
 *   x += attention (rms x) or mamba (rms x);  x += SwiGLU (rms x) or experts (rms x)
 * Nothing is turned. The experts' weights are a softmax over all of them, as they are. */
#include "engine/model/hybrid.h"
#include "engine/model/mamba.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  if (!kvasir_setup_hybrid (model, error) || !kvasir_mamba_setup (model, FALSE, error))
    return FALSE;
  kvasir_hparams_drop_rope (hp);
  for (guint il = 0; il < hp->n_layers; il++)
    if (!hp->layers[il].has_attention)
      kvasir_mamba_keep_state (model, il);
  return TRUE;
}

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  KvasirLayer *layers = model->layers;

  if (model->hparams.layers[il].has_attention)
    return kvasir_load_attention (model, il, &layers[il].attention, error);
  return kvasir_load_mamba (model, il, error) && kvasir_mamba_require_norms (model, il, error);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;

  if (model->hparams.layers[il].has_attention)
    return kvasir_build_self_attention (model, build, il, &layers[il].attention, x);
  return kvasir_build_mamba (model, build, il, x);
}

static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SOFTMAX } };

static const KvasirHybrid hybrid = { .load_mixer = load_mixer,
                                     .build_mixer = build_mixer,
                                     .net = &net };

static gboolean
load (KvasirModel *model, GError **error)
{
  return kvasir_load_hybrid (model, &hybrid, error);
}

static void
build_graph (const KvasirModel *model, KvasirModelBuild *build)
{
  kvasir_build_hybrid (model, build, &hybrid, kvasir_build_embedding (model, build));
}

const KvasirArch kvasir_arch_jamba = {
  .name = "jamba",
  .may_lack_attention = TRUE,
  .setup = setup,
  .load = load,
  .build = build_graph,
};
