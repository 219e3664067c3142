/* llama: Llama 1 to 3, Mistral, SmolLM 1 and 2, TinyLlama and their kin. formats.md 5.3.
 * The converter has permuted the rows of q and k for neighbouring pairs. */
#include "engine/model/model-private.h"

const KvasirArch kvasir_arch_llama = {
  .name = "llama",
  .memory_class = KVASIR_MEMORY_KV,
  .load = kvasir_arch_load_layers,
  .build = kvasir_arch_build_layers,
};
