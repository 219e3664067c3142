/* qwen2 (biases on q, k and v) and qwen3 (norms over the heads of q and k). formats.md 5.3. */
#include "engine/model/model-private.h"

static gboolean
load_neox (KvasirModel *model, GError **error)
{
  model->hparams.rope.neox = 1;
  return kvasir_arch_load_layers (model, error);
}

const KvasirArch kvasir_arch_qwen2 = {
  .name = "qwen2",
  .memory_class = KVASIR_MEMORY_KV,
  .load = load_neox,
  .build = kvasir_arch_build_layers,
};

const KvasirArch kvasir_arch_qwen3 = {
  .name = "qwen3",
  .memory_class = KVASIR_MEMORY_KV,
  .load = load_neox,
  .build = kvasir_arch_build_layers,
};
