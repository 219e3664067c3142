/* The architectures that can run. Another one is a file with a row of its own, named here. */
#include <string.h>

#include "engine/error.h"
#include "engine/model/model-private.h"

static const KvasirArch *const archs[] = {
  &kvasir_arch_arcee,
  &kvasir_arch_baichuan,
  &kvasir_arch_bert,
  &kvasir_arch_bloom,
  &kvasir_arch_cohere2,
  &kvasir_arch_command_r,
  &kvasir_arch_deepseek,
  &kvasir_arch_deepseek2,
  &kvasir_arch_ernie4_5,
  &kvasir_arch_exaone,
  &kvasir_arch_falcon,
  &kvasir_arch_falcon_h1,
  &kvasir_arch_gemma,
  &kvasir_arch_gemma2,
  &kvasir_arch_gemma3,
  &kvasir_arch_gemma3n,
  &kvasir_arch_gemma4,
  &kvasir_arch_gemma_embedding,
  &kvasir_arch_glm4,
  &kvasir_arch_gpt2,
  &kvasir_arch_gpt_oss,
  &kvasir_arch_gptneox,
  &kvasir_arch_granite,
  &kvasir_arch_granitehybrid,
  &kvasir_arch_granitemoe,
  &kvasir_arch_hunyuan_dense,
  &kvasir_arch_internlm2,
  &kvasir_arch_jamba,
  &kvasir_arch_lfm2,
  &kvasir_arch_lfm2moe,
  &kvasir_arch_llama,
  &kvasir_arch_llama4,
  &kvasir_arch_mamba,
  &kvasir_arch_mamba2,
  &kvasir_arch_minicpm,
  &kvasir_arch_modern_bert,
  &kvasir_arch_mpt,
  &kvasir_arch_nemotron_h,
  &kvasir_arch_nomic_bert,
  &kvasir_arch_olmo2,
  &kvasir_arch_phi2,
  &kvasir_arch_phi3,
  &kvasir_arch_qwen2,
  &kvasir_arch_qwen2moe,
  &kvasir_arch_qwen2vl,
  &kvasir_arch_qwen3,
  &kvasir_arch_qwen35,
  &kvasir_arch_qwen35moe,
  &kvasir_arch_qwen3moe,
  &kvasir_arch_qwen3next,
  &kvasir_arch_rwkv7,
  &kvasir_arch_smollm3,
  &kvasir_arch_stablelm,
  &kvasir_arch_starcoder2,
};

const KvasirArch *
kvasir_arch_find (const char *name, GError **error)
{
  g_autoptr (GString) supported = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (archs); i++)
    {
      if (strcmp (archs[i]->name, name) == 0)
        return archs[i];
      g_string_append_printf (supported, "%s%s", i > 0 ? ", " : "", archs[i]->name);
    }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "architecture \"%s\" is not supported; supported: %s", name, supported->str);
  return NULL;
}
