/* qwen2 (biases on q, k and v), qwen3 (norms over the heads of q and k), qwen3moe (the same with
 * experts in place of the feed-forward net), qwen2vl (qwen2 with four positions per token),
 * qwen2moe (qwen2 with experts, and a shared one times sigmoid (w n) beside them), qwen3vl and
 * qwen3vlmoe (qwen3 and qwen3moe with four positions, whose planes take turns).
 * formats.md 5.3. With n = rms x:
 *
 *   x += Wo attn (rope (norm (Wq n + bq)), rope (norm (Wk n + bk)), Wv n + bv)
 *   x += down (silu (gate n) * up n), or the sum of the best experts, whose softmax shares add up
 * to one, but not those of qwen2moe
 */
#include "engine/model/build.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

static gboolean
setup_normed (KvasirModel *model, GError **error)
{
  model->hparams.head_norms = KVASIR_HEAD_NORMS_RMS;
  return setup (model, error);
}

/* Every pair turns by one of the positions (time, row, column, other); text has (p, p, p, 0). */
static gboolean
setup_vl (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  return kvasir_hparams_read_sections (&model->hparams, &keys, error);
}

static gboolean
setup_interleaved (KvasirModel *model, GError **error)
{
  KvasirHparams *hp = &model->hparams;

  hp->head_norms = KVASIR_HEAD_NORMS_RMS;
  hp->rope.interleaved = 1;
  return setup_vl (model, error);
}

static const KvasirNetForm qwen2moe_net = {
  .kind = KVASIR_UNARY_SILU, .has_gate = TRUE, .shared = KVASIR_SHARED_IF_ANY, .gates_shared = TRUE
};

const KvasirArch kvasir_arch_qwen2 = {
  .name = "qwen2",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen2moe = {
  .name = "qwen2moe",
  .setup = setup,
  .load = kvasir_load_layers,
  .net = &qwen2moe_net,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen2vl = {
  .name = "qwen2vl",
  .setup = setup_vl,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3 = {
  .name = "qwen3",
  .setup = setup_normed,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3moe = {
  .name = "qwen3moe",
  .setup = setup_normed,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3vl = {
  .name = "qwen3vl",
  .setup = setup_interleaved,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3vlmoe = {
  .name = "qwen3vlmoe",
  .setup = setup_interleaved,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
