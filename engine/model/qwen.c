/* qwen2 (biases on q, k and v) and qwen3 (norms over the heads of q and k). formats.md 5.3. */
#include "engine/model/build.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

const KvasirArch kvasir_arch_qwen2 = {
  .name = "qwen2",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};

const KvasirArch kvasir_arch_qwen3 = {
  .name = "qwen3",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
