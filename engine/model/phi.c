/* phi3: Phi-3, Phi-3.5, Phi-4-mini. formats.md 5.3. With n = rms x:
 *
 *   x += Wo attn (rope q, rope k, v)        (q, k, v) = Wqkv n, in one tensor
 *   x += down (silu (g) * u)                (g, u) = up n, in one tensor
 *
 * The rope divides each frequency by a factor, of one set up to the original context and of another
 * one beyond. A window that the file may name is not used: the models were made to read everything.
 */
#include "engine/model/build.h"

static gboolean
setup (KvasirModel *model, GError **error)
{
  kvasir_hparams_set_neox (&model->hparams);
  return TRUE;
}

const KvasirArch kvasir_arch_phi3 = {
  .name = "phi3",
  .setup = setup,
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
