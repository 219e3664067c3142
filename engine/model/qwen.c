/* qwen2 (biases on q, k and v), qwen3 (norms over the heads of q and k), qwen3moe (the same with
 * experts in place of the feed-forward net), qwen2vl (qwen2 with four positions per token),
 * qwen2moe (qwen2 with experts, and a shared one times sigmoid (w n) beside them).
 * formats.md 5.3. With n = rms x:
 *
 *   x += Wo attn (rope (norm (Wq n + bq)), rope (norm (Wk n + bk)), Wv n + bv)
 *   x += down (silu (gate n) * up n), or the sum of the best experts, whose softmax shares add up
 * to one, but not those of qwen2moe
 */
#include "engine/model/hybrid.h"

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

static gboolean
load_mixer (KvasirModel *model, gint il, GError **error)
{
  KvasirLayer *layers = model->layers;

  return kvasir_load_attention (model, il, &layers[il].attention, error);
}

static KvasirTensor *
build_mixer (const KvasirModel *model, KvasirModelBuild *step, guint il, KvasirTensor *x)
{
  const KvasirLayer *layers = model->layers;

  return kvasir_build_self_attention (model, step, il, &layers[il].attention, x);
}

static const KvasirHybrid qwen2moe = { .load_mixer = load_mixer,
                                       .build_mixer = build_mixer,
                                       .ffn_norm = "ffn_norm.weight",
                                       .moe = { .gating = KVASIR_GATING_SOFTMAX },
                                       .may_have_shared = TRUE,
                                       .gates_shared = TRUE };

static gboolean
load_qwen2moe (KvasirModel *model, GError **error)
{
  return kvasir_load_hybrid (model, &qwen2moe, error);
}

static void
build_qwen2moe (const KvasirModel *model, KvasirModelBuild *step)
{
  kvasir_build_hybrid (model, step, &qwen2moe, kvasir_build_embedding (model, step), 1);
}

const KvasirArch kvasir_arch_qwen2 = {
  .name = "qwen2",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen2moe = {
  .name = "qwen2moe",
  .setup = setup,
  .load = load_qwen2moe,
  .build = build_qwen2moe,
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
