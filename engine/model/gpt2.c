/* gpt2, starcoder, codeshell, starcoder2 and nemotron: layer norms, biases, plain nets. With n = ln
 * x:
 *
 *   x0 = E + P[position] (gpt2, starcoder), E (the others, whose rope turns NEOX pairs)
 *   x += Wo attn (q, k, v) + bo;  x += down (f (up n + bu)) + bd
 *
 * f is GELU, of nemotron max (0, u)^2, which turns a part of each head and has few biases.
 */
#include "engine/model/build.h"

static const KvasirNetForm net = { .kind = KVASIR_UNARY_GELU };
static const KvasirNetForm nemotron_net = { .kind = KVASIR_UNARY_RELU_SQR };

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
         kvasir_load_input (model, error) && kvasir_load_layers (model, error);
}

static void
build_gpt2 (const KvasirModel *model, KvasirModelBuild *step)
{
  kvasir_build_layers_on (model, step, kvasir_build_input (model, step, model->extra));
}

static gboolean
setup_neox (KvasirModel *model, GError **error)
{
  model->hparams.has_layer_norms = TRUE;
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

const KvasirArch kvasir_arch_codeshell = {
  .name = "codeshell",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_neox,
  .load = kvasir_load_layers,
  .net = &net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_gpt2 = {
  .name = "gpt2",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_gpt2,
  .load = load_gpt2,
  .build = build_gpt2,
  .net = &net,
};

const KvasirArch kvasir_arch_nemotron = {
  .name = "nemotron",
  .needs_norm_biases = TRUE,
  .setup = setup_neox,
  .load = kvasir_load_layers,
  .net = &nemotron_net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_starcoder = {
  .name = "starcoder",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_gpt2,
  .load = load_gpt2,
  .build = build_gpt2,
  .net = &net,
};

const KvasirArch kvasir_arch_starcoder2 = {
  .name = "starcoder2",
  .needs_norm_biases = TRUE,
  .needs_biases = TRUE,
  .setup = setup_neox,
  .load = kvasir_load_layers,
  .net = &net,
  .build = kvasir_build_layers,
};
