/* Plain decoders (llama.c) with experts in most layers, and shared ones beside them. A score is a
 * softmax of the router's logits but where it says sigmoid, and the chosen ones' add up to 1 where
 * it or the file says shares. With n = rms x:
 *
 *   x += Wo attn (rope q, rope k, v);  x += down (silu (gate n) * up n), or experts + shared
 *
 * bailingmoe    neighbouring pairs
 * bailingmoe2   norms over heads, sigmoid, groups of experts
 * dots1         norms over heads, sigmoid
 * ernie4_5-moe  neighbouring pairs, shares; every so many layers have experts
 * glm4moe       norms over heads of some, sigmoid; the second norm is called post_attention_norm
 * hunyuan-moe   norms over heads behind the rotation, shares
 * minimax-m2    norms over all heads together, sigmoid, shares; no shared experts
 * olmoe         norms over all heads together; no shared experts
 *
 * Dense layers come first. Pairs are NEOX ones but where it says neighbouring.
 */
#include "engine/model/build.h"

static gboolean
setup_neox (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_normed (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_RMS;
  return setup_neox (model, error);
}

static gboolean
setup_behind (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_BEHIND;
  return setup_neox (model, error);
}

static gboolean
setup_wide (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_WIDE;
  return setup_neox (model, error);
}

static gboolean
setup_bailingmoe2 (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  return kvasir_hparams_skip_drafts (&model->hparams, &keys, error) && setup_normed (model, error);
}

static gboolean
setup_glm4moe (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  kvasir_hparams_set_neox (hp);
  return kvasir_hparams_skip_drafts (hp, &keys, error) &&
         (!kvasir_keys_has (&keys, "rope.dimension_sections") ||
          kvasir_hparams_read_sections (hp, &keys, error));
}

static const KvasirNetForm bailingmoe_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .shared = KVASIR_SHARED_EACH,
};

static const KvasirNetForm sigmoid_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .moe = { .gating = KVASIR_GATING_SIGMOID },
  .shared = KVASIR_SHARED_EACH,
};

static const KvasirNetForm ernie_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .moe = { .normalised = TRUE },
  .shared = KVASIR_SHARED_IF_ANY,
};

static const KvasirNetForm glm4moe_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .moe = { .gating = KVASIR_GATING_SIGMOID },
  .shared = KVASIR_SHARED_EACH,
  .norm = "post_attention_norm.weight",
};

static const KvasirNetForm hunyuan_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .moe = { .normalised = TRUE },
  .shared = KVASIR_SHARED_ONE,
};

static const KvasirNetForm minimax_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
  .moe = { .gating = KVASIR_GATING_SIGMOID, .normalised = TRUE },
};

static const KvasirNetForm olmoe_net = {
  .kind = KVASIR_UNARY_SILU,
  .has_gate = TRUE,
  .counts_dense = TRUE,
};

const KvasirArch kvasir_arch_bailingmoe = {
  .name = "bailingmoe",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &bailingmoe_net,
};

const KvasirArch kvasir_arch_bailingmoe2 = {
  .name = "bailingmoe2",
  .setup = setup_bailingmoe2,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &sigmoid_net,
};

const KvasirArch kvasir_arch_dots1 = {
  .name = "dots1",
  .setup = setup_normed,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &sigmoid_net,
};

const KvasirArch kvasir_arch_ernie4_5_moe = {
  .name = "ernie4_5-moe",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &ernie_net,
};

const KvasirArch kvasir_arch_glm4moe = {
  .name = "glm4moe",
  .setup = setup_glm4moe,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &glm4moe_net,
};

const KvasirArch kvasir_arch_hunyuan_moe = {
  .name = "hunyuan-moe",
  .setup = setup_behind,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &hunyuan_net,
};

const KvasirArch kvasir_arch_minimax_m2 = {
  .name = "minimax-m2",
  .setup = setup_wide,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &minimax_net,
};

const KvasirArch kvasir_arch_olmoe = {
  .name = "olmoe",
  .setup = setup_wide,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
  .net = &olmoe_net,
};
