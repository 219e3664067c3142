/* falcon-h1: every layer has attention and a Mamba 2 mixer side by side. formats.md 5.3.
 *   n = rms x;  x += attention n + mamba2 n;  x += SwiGLU (rms x)
 * Rope turns NEOX pairs. The converter has put all multipliers into the weights. */
#include "engine/model/hybrid.h"
#include "engine/model/mamba.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  if (!kvasir_setup_hybrid (model, error) || !kvasir_mamba_setup (model, TRUE, error))
    return FALSE;
  kvasir_hparams_set_neox (&model->hparams);
  for (guint il = 0; il < model->hparams.n_layers; il++)
    kvasir_mamba_keep_state (model, il);
  return TRUE;
}

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  KvasirLayer *layers = model->layers;

  return kvasir_load_attention (model, il, &layers[il].attention, error) &&
         kvasir_load_mamba2 (model, il, error);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *build, guint il, KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;
  KvasirTensor *attention =
      kvasir_build_self_attention (model, build, il, &layers[il].attention, x);
  return kvasir_graph_add (build->graph, "mixers", attention,
                           kvasir_build_mamba2 (model, build, il, x));
}

/* The tensor's name really has no ".weight" behind it. */
static const KvasirNetForm net = { .kind = KVASIR_UNARY_SILU,
                                   .has_gate = TRUE,
                                   .norm = "ffn_norm" };

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

/* Layers may not lack attention here: each has it. */
const KvasirArch kvasir_arch_falcon_h1 = {
  .name = "falcon-h1",
  .setup = setup,
  .load = load,
  .build = build_graph,
};
