/* qwen2 (biases on q, k and v), qwen3 (norms over the heads of q and k), qwen3moe (the same with
 * experts in place of the feed-forward net), qwen2vl (qwen2 with four positions per token).
 * formats.md 5.3. With n = rms x:
 *
 *   x += Wo attn (rope (norm (Wq n + bq)), rope (norm (Wk n + bk)), Wv n + bv)
 *   x += down (silu (gate n) * up n), or the sum of the best experts, whose softmax shares add up
 * to one
 */
#include "engine/model/build.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

/* Every pair turns by one of the positions (time, row, column, other); text has (p, p, p, 0). */
static gboolean
setup_vl (KvasirModel *model, GError **error)
{
  KvasirKeys keys = { model->gguf, model->info.arch, "" };

  return kvasir_hparams_read_sections (&model->hparams, &keys, error);
}

const KvasirArch kvasir_arch_qwen2 = {
  .name = "qwen2",
  .setup = setup,
  .load = kvasir_load_layers,
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
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3moe = {
  .name = "qwen3moe",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
