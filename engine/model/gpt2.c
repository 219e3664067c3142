/* gpt2 and starcoder2: layer norms, biases everywhere, plain nets. With n = ln x:
 *
 *   x0 = E + P[position] (gpt2), E (starcoder2, whose rope turns NEOX pairs)
 *   x += Wo attn (q, k, v) + bo;  x += down (gelu (up n + bu)) + bd
 */
#include "engine/model/build.h"

static gboolean
setup_gpt2 (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  kvasir_hparams_drop_rope (&model->hparams);
  return TRUE;
}

/* Without its table the model would not know of positions at all. */
static gboolean
load_gpt2 (KvasirModel *model, GError **error)
{
  const gint64 positions[2] = { model->hparams.n_embd, model->hparams.n_ctx_train };
  KvasirTensor *table;

  return kvasir_load_matrix (model, -1, "position_embd.weight", positions, &table, error) &&
         kvasir_load_input (model, error) &&
         kvasir_load_layers_of (model, KVASIR_UNARY_GELU, FALSE, error);
}

static void
build_gpt2 (const KvasirModel *model, KvasirModelBuild *step)
{
  kvasir_build_layers_on (model, step, kvasir_build_input (model, step, model->extra));
}

static gboolean
setup_starcoder2 (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
load_starcoder2 (KvasirModel *model, GError **error)
{
  return kvasir_load_layers_of (model, KVASIR_UNARY_GELU, FALSE, error);
}

const KvasirArch kvasir_arch_gpt2 = {
  .name = "gpt2",
  .setup = setup_gpt2,
  .load = load_gpt2,
  .build = build_gpt2,
};

const KvasirArch kvasir_arch_starcoder2 = {
  .name = "starcoder2",
  .setup = setup_starcoder2,
  .load = load_starcoder2,
  .build = kvasir_build_layers,
};
