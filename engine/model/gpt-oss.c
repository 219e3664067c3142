/* gpt-oss. formats.md 5.3.
 *
 *   x += Wo attention (rms x) + bo        biases on q, k and v too; a sink per head
 *   x += experts (rms x)                  softmax over the chosen ones' logits; every matrix has a
 *                                         bias; the activation is g sigmoid (1.702 g) (u + 1) with
 *                                         bounds
 *
 * Every second layer sees all tokens, the others a window. The norm of the second half is called
 * post_attention_norm. */
#include "engine/model/build.h"
#include "engine/model/sliding.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  const KvasirSliding sliding = { KVASIR_WINDOW_STANDARD, .period = 2 };

  kvasir_hparams_set_neox (&model->hparams);
  return kvasir_read_sliding (model, &sliding, error);
}

static const KvasirNetForm net = { .kind = KVASIR_GLU_OAI,
                                   .has_gate = TRUE,
                                   .moe = { .gating = KVASIR_GATING_SOFTMAX_CHOSEN },
                                   .norm = "post_attention_norm.weight" };

const KvasirArch kvasir_arch_gpt_oss = {
  .name = "gpt-oss",
  .setup = setup,
  .load = kvasir_load_layers,
  .net = &net,
  .build = kvasir_build_layers,
};
