/* llama: Llama 1 to 3, Mistral, SmolLM 1 and 2, TinyLlama and their kin. formats.md 5.3.
 * The converter has permuted the rows of q and k for neighbouring pairs. */
#include "engine/model/build.h"

const KvasirArch kvasir_arch_llama = {
  .name = "llama",
  .load = kvasir_load_layers,
  .build = kvasir_build_layers,
};
