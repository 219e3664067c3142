/* engine/model/archs.h - which architectures there are
 *
 * A line ROW (id) for each: the row itself is kvasir_arch_ID, in the file of its family.
 */
#pragma once

/* clang-format off */
#define KVASIR_ARCHS(ROW) \
  ROW (afmoe) \
  ROW (apertus) \
  ROW (arcee) \
  ROW (baichuan) \
  ROW (bailingmoe) \
  ROW (bailingmoe2) \
  ROW (bert) \
  ROW (bloom) \
  ROW (chatglm) \
  ROW (codeshell) \
  ROW (cohere2) \
  ROW (command_r) \
  ROW (deci) \
  ROW (deepseek) \
  ROW (deepseek2) \
  ROW (dots1) \
  ROW (ernie4_5) \
  ROW (ernie4_5_moe) \
  ROW (exaone) \
  ROW (exaone4) \
  ROW (falcon) \
  ROW (falcon_h1) \
  ROW (gemma) \
  ROW (gemma2) \
  ROW (gemma3) \
  ROW (gemma3n) \
  ROW (gemma4) \
  ROW (gemma_embedding) \
  ROW (glm4) \
  ROW (glm4moe) \
  ROW (gpt2) \
  ROW (gpt_oss) \
  ROW (gptneox) \
  ROW (granite) \
  ROW (granitehybrid) \
  ROW (granitemoe) \
  ROW (hunyuan_dense) \
  ROW (hunyuan_moe) \
  ROW (internlm2) \
  ROW (jamba) \
  ROW (lfm2) \
  ROW (lfm2moe) \
  ROW (llama) \
  ROW (llama4) \
  ROW (mamba) \
  ROW (mamba2) \
  ROW (minicpm) \
  ROW (minicpm3) \
  ROW (minimax_m2) \
  ROW (mistral3) \
  ROW (modern_bert) \
  ROW (mpt) \
  ROW (nemotron) \
  ROW (nemotron_h) \
  ROW (nemotron_h_moe) \
  ROW (nomic_bert) \
  ROW (olmo) \
  ROW (olmo2) \
  ROW (olmoe) \
  ROW (openelm) \
  ROW (orion) \
  ROW (phi2) \
  ROW (phi3) \
  ROW (plamo) \
  ROW (qwen2) \
  ROW (qwen2moe) \
  ROW (qwen2vl) \
  ROW (qwen3) \
  ROW (qwen35) \
  ROW (qwen35moe) \
  ROW (qwen3moe) \
  ROW (qwen3next) \
  ROW (qwen3vl) \
  ROW (qwen3vlmoe) \
  ROW (refact) \
  ROW (rwkv7) \
  ROW (seed_oss) \
  ROW (smallthinker) \
  ROW (smollm3) \
  ROW (stablelm) \
  ROW (starcoder) \
  ROW (starcoder2) \
  ROW (xverse)
/* clang-format on */
