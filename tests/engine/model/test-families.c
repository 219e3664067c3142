/* What files of the smaller families may not lack or say, and numbers that they may leave out. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/model-private.h"
#include "tests/engine/model/arch-sketch.h"
#include "tests/engine/model/model-sketch.h"

typedef struct
{
  KvasirDevice *device;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };

  self->device = kvasir_cpu_device_new (&options);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  self->device->vtable->free (self->device);
}

typedef struct
{
  const char *sketch;
  const char *name; /* of the test */
  const char *changes;
  int code;
  const char *messages[2];
} Broken;

static const Broken broken_files[] = {
  { "afmoe",
    "gate-missing",
    "drop blk.4.attn_gate.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.4.attn_gate.weight: a tensor [16, 16] expected, none found" } },
  { "afmoe",
    "norm-behind-missing",
    "drop blk.0.post_ffw_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.post_ffw_norm.weight: a tensor [16] expected, none found" } },
  { "apertus",
    "curve-missing",
    "drop xielu.beta",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "xielu.beta: this key is expected and missing" } },
  { "apertus",
    "curve-short",
    "f32s xielu.beta 0.5",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "xielu.beta: 2 numbers expected, 1 found" } },
  { "apertus",
    "curve-endless",
    "f32s xielu.alpha_p 0.5 inf",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "xielu.alpha_p: element 1: a finite number expected, inf found" } },
  { "apertus",
    "curve-of-integers",
    "i32s xielu.alpha_n 1 1",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "xielu.alpha_n: values of type f32 expected, others found" } },
  { "baichuan-7b",
    "size-unknown",
    "u32 block_count 31",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "baichuan.block_count: 32 (rope) or 40 (ALiBi) layers supported, 31 found" } },
  { "bailingmoe2",
    "groups-above-experts",
    "u32 expert_group_count 9",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "bailingmoe2.expert_group_count: 1 to 8 expected, 9 found" } },
  { "bailingmoe2",
    "fused-too-short",
    "tensor blk.0.attn_qkv.weight 16 24",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_qkv.weight: shape [16, 32] expected, [16, 24] found" } },
  { "cohere2",
    "window-missing",
    "drop attention.sliding_window",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "cohere2.attention.sliding_window: this key is expected and missing" } },
  { "command-r",
    "scale-missing",
    "drop logit_scale",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "command-r.logit_scale: this key is expected and missing" } },
  { "command-r-plus",
    "norm-missing",
    "drop blk.63.attn_k_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.63.attn_k_norm.weight: a tensor [4, 1] expected, none found" } },
  { "deci",
    "rows-without-heads",
    "i32s attention.head_count 4 0 4 0 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deci.attention.head_count: layer 4: heads for 4 key and value heads expected, none "
      "found" } },
  { "deci",
    "net-missing",
    "i32s feed_forward_length 24 24 0 0 12",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "deci.feed_forward_length: layer 2: 1 or more with 4 heads supported, 0 found" } },
  { "deci",
    "linear-missing",
    "drop blk.2.attn_output.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.attn_output.weight: a tensor [16, 16] expected, none found" } },
  { "deepseek",
    "too-many-dense-layers",
    "u32 leading_dense_block_count 3",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek.leading_dense_block_count: 0 to 2 expected, 3 found" } },
  { "deepseek",
    "router-missing",
    "drop blk.1.ffn_gate_inp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_gate_inp.weight: a tensor [16, 4] expected, none found" } },
  { "deepseek",
    "shared-missing",
    "drop blk.1.ffn_down_shexp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_down_shexp.weight: a tensor [24, 16] expected, none found" } },
  { "deepseek2-plain",
    "other-heads",
    "u32 attention.head_count_kv 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.head_count_kv: layer 0: 4 (attention.head_count) expected, 2 found" } },
  { "deepseek2-plain",
    "all-turned",
    "u32 attention.key_length 4",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.key_length: above 4 (rope.dimension_count) expected, 4 found" } },
  { "deepseek2-plain",
    "matrix-of-the-other-form",
    "drop blk.3.attn_kv_b.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.3.attn_kv_b.weight: a tensor [8, 36] expected, none found" } },
  { "dots1",
    "norm-missing",
    "drop blk.1.attn_q_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_q_norm.weight: a tensor [4] expected, none found" } },
  { "dots1",
    "no-experts",
    "u32 expert_count 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "dots1.expert_count: 1 to 65536 expected, 0 found" } },
  { "ernie4_5-moe",
    "step-of-zero",
    "u32 interleave_moe_layer_step 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "ernie4_5-moe.interleave_moe_layer_step: 1 to 512 expected, 0 found" } },
  { "exaone4",
    "norm-missing",
    "drop blk.0.attn_k_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k_norm.weight: a tensor [4] expected, none found" } },
  { "falcon-40b",
    "norm-missing",
    "drop blk.1.attn_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_norm.weight: a tensor [16] expected, none found" } },
  { "gemma-embedding",
    "matrix-missing",
    "drop dense_3.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "dense_3.weight: a tensor [24, 16] expected, none found" } },
  { "gemma-embedding",
    "other-width",
    "u32 dense_3_feat_out 8",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "gemma-embedding.dense_3_feat_out: 16 (embedding_length) supported, 8 found" } },
  { "glm4",
    "norm-missing",
    "drop blk.0.post_ffw_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.post_ffw_norm.weight: a tensor [16] expected, none found" } },
  { "glm4",
    "norm-before-missing",
    "drop blk.0.ffn_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_norm.weight: a tensor [16] expected, none found" } },
  { "glm4-sections",
    "sections-empty",
    "i32s rope.dimension_sections 0 0 0 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "glm4.rope.dimension_sections: sections of 1 to 2 pairs expected, none found" } },
  { "glm4moe",
    "half-norms",
    "drop blk.0.attn_k_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k_norm.weight: a tensor beside the other norm expected, none found" } },
  { "glm4moe",
    "shared-of-many",
    "u32 expert_shared_count 4000000000",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "glm4moe.expert_shared_count: 0 to 1024 expected, 4000000000 found" } },
  { "glm4moe",
    "norm-missing",
    "drop blk.1.post_attention_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.post_attention_norm.weight: a tensor [16] expected, none found" } },
  { "glm4moe",
    "all-drafts",
    "u32 nextn_predict_layers 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "glm4moe.nextn_predict_layers: 0 to 1 expected, 2 found" } },
  { "gpt2",
    "positions-missing",
    "drop position_embd.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "position_embd.weight: a tensor [16, 256] expected, none found" } },
  { "gpt2",
    "bias-missing",
    "drop blk.1.attn_qkv.bias",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_qkv.bias: a tensor [48] expected, none found" } },
  { "gptneox",
    "norm-missing",
    "drop blk.1.ffn_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_norm.weight: a tensor [16] expected, none found" } },
  { "granite",
    "divisor-of-zero",
    "f32 logit_scale 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "granite.logit_scale: a divisor of the logits expected, 0 found" } },
  { "hunyuan-dense",
    "norm-missing",
    "drop blk.1.attn_k_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_k_norm.weight: a tensor [4] expected, none found" } },
  { "hunyuan-moe",
    "shared-missing",
    "drop blk.0.ffn_up_shexp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_up_shexp.weight: a tensor [16, 20] expected, none found" } },
  { "llama",
    "another-tensor",
    "tensor blk.1.attn_gate.weight 16 16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.1.attn_gate.weight: no such tensor supported in a layer of llama, one found" } },
  { "llama",
    "epsilon-missing",
    "drop attention.layer_norm_rms_epsilon",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.attention.layer_norm_rms_epsilon: this key is expected and missing" } },
  { "llama",
    "epsilon-negative",
    "f32 attention.layer_norm_rms_epsilon -1",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.attention.layer_norm_rms_epsilon: 0 or more expected, -1 found" } },
  { "llama",
    "scaling-of-a-number",
    "u32 rope.scaling.type 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.rope.scaling.type: a text expected, a whole number found" } },
  { "llama",
    "width-of-a-text",
    "text embedding_length x",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.embedding_length: a whole number expected, a text found" } },
  { "llama",
    "no-heads",
    "u32 attention.head_count 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.attention.head_count: layer 0: 1 to 16777216 expected, 0 found" } },
  { "minicpm3",
    "rank-missing",
    "drop attention.kv_lora_rank",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "minicpm3.attention.kv_lora_rank: this key is expected and missing" } },
  { "minimax-m2",
    "norm-of-one-head",
    "tensor blk.0.attn_q_norm.weight 4",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_q_norm.weight: shape [16] expected, [4] found" } },
  { "mistral3",
    "ramp-of-zero",
    "f32 rope.scaling.yarn_beta_slow 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mistral3.rope.scaling.yarn_beta_slow: above 0 expected, 0 found" } },
  { "mistral3",
    "negative-magnitude",
    "f32 rope.scaling.yarn_log_multiplier -1",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mistral3.rope.scaling.yarn_log_multiplier: 0 or more expected, -1 found" } },
  { "modern-bert",
    "norm-missing",
    "drop blk.1.attn_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_norm.weight: a tensor [16] expected, none found" } },
  { "modern-bert",
    "causal",
    "bool attention.causal true",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "modern-bert.attention.causal: false supported, true found" } },
  { "modern-bert",
    "pooling",
    "u32 pooling_type 4",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "modern-bert.pooling_type", "4 found" } },
  { "modern-bert",
    "function-unknown",
    "text hidden_activation relu",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "modern-bert.hidden_activation: gelu or silu supported, \"relu\" found" } },
  { "nemotron_h_moe",
    "latent-experts",
    "u32 moe_latent_size 8",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "nemotron_h_moe.moe_latent_size: 0 supported, 8 found" } },
  { "nemotron_h_moe",
    "shared-missing",
    "drop blk.2.ffn_down_shexp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.ffn_down_shexp.weight: a tensor [20, 16] expected, none found" } },
  { "orion",
    "bias-missing",
    "drop blk.0.ffn_norm.bias",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_norm.bias: a tensor [16] expected, none found" } },
  { "orion",
    "last-bias-missing",
    "drop output_norm.bias",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "output_norm.bias: a tensor [16] expected, none found" } },
  { "phi3",
    "half-factors",
    "drop rope_factors_short.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "rope_factors_short.weight: a tensor beside the other factors expected, none found" } },
  { "bailingmoe",
    "shared-not-counted",
    "u32 expert_shared_count 0",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.ffn_gate_shexp.weight: no such tensor supported in a layer of bailingmoe, one "
      "found" } },
  { "nomic-bert",
    "gate-missing",
    "drop blk.0.ffn_gate.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_gate.weight: a tensor [16, 24] expected, none found" } },
  { "olmo2",
    "norm-of-one-head",
    "tensor blk.0.attn_k_norm.weight 4",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k_norm.weight: shape [8] expected, [4] found" } },
  { "olmo",
    "negative-bounds",
    "f32 attention.clamp_kqv -1",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "olmo.attention.clamp_kqv: 0 or more expected, -1 found" } },
  { "openelm",
    "heads-not-divided",
    "i32s attention.head_count 2 3",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "openelm.attention.head_count_kv: layer 1: a divisor of 3 heads expected, 2 found" } },
  { "openelm",
    "widths-short",
    "i32s feed_forward_length 16",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "openelm.feed_forward_length: 2 whole numbers expected, 1 values found" } },
  { "qwen3vl",
    "sections-missing",
    "drop rope.dimension_sections",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen3vl.rope.dimension_sections" } },
  { "qwen3moe",
    "norm-missing",
    "drop blk.0.attn_k_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k_norm.weight: a tensor [6] expected, none found" } },
  { "seed_oss",
    "output-as-wide-as-the-model",
    "tensor blk.0.attn_output.weight 16 16",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_output.weight: shape [32, 16] expected, [16, 16] found" } },
  { "qwen2moe",
    "shared-gate-missing",
    "drop blk.1.ffn_gate_inp_shexp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_gate_inp_shexp.weight: a tensor [16] expected, none found" } },
  { "qwen3next",
    "rates-missing",
    "drop blk.2.ssm_ba.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.ssm_ba.weight: a tensor [16, 8] expected, none found" } },
  { "qwen3next",
    "old-form",
    "tensor blk.0.ssm_in.weight 16 48",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.attn_qkv.weight and blk.0.attn_gate.weight supported", "ssm_in.weight found" } },
  { "stablelm2",
    "half-norms",
    "tensor blk.0.attn_q_norm.weight 8 4 f16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.attn_q_norm.weight: type f32 expected, f16 found" } },
};

static void
test_broken (Fixture *self, gconstpointer data)
{
  const Broken *broken = data;
  g_autofree char *sketch = read_arch_sketch (broken->sketch, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load_sketch (self->device, sketch, broken->changes, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, broken->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (broken->messages) && broken->messages[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, broken->messages[i]));
}

static KvasirModel *
load (Fixture *self, const char *name, const char *changes)
{
  g_autofree char *sketch = read_arch_sketch (name, 0);
  g_autoptr (GError) error = NULL;
  KvasirModel *model = load_sketch (self->device, sketch, changes, &error);

  g_assert_no_error (error);
  return model;
}

/* The scales of its papers: 12, 1.4 / sqrt (layers), and logits times 256 / width. */
static void
test_minicpm (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, "minicpm", "drop embedding_scale\ndrop residual_scale\ndrop logit_scale");
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpfloat (hp->embedding_scale, ==, 12);
  g_assert_cmpfloat_with_epsilon (hp->residual_scale, 1.4 / sqrt (2), 1e-6);
  g_assert_cmpfloat_with_epsilon (hp->logit_scale, 256.0 / 16, 1e-6);
}

/* The switch of models that were made without rope. */
static void
test_granite (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, "granite", "bool rope.scaling.finetuned false");

  g_assert_cmpint (model->hparams.layers[1].rope.n_rot, ==, 0);
}

/* The block behind the others only drafts. */
static void
test_glm4 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, "glm4", "u32 nextn_predict_layers 1");

  g_assert_cmpuint (model->hparams.n_layers, ==, 1);
}

/* Positions beyond its table can't be read. */
static void
test_gpt2 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, "gpt2", NULL);

  g_assert_cmpuint (model->hparams.n_position_rows, ==, 256);
}

/* Without a window all layers are full ones, and turn alike. */
static void
test_modern_bert (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, "modern-bert", "u32 attention.sliding_window 0");
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpint (hp->window, ==, KVASIR_WINDOW_NONE);
  for (guint il = 0; il < hp->n_layers; il++)
    {
      g_assert_false (hp->layers[il].is_swa);
      g_assert_cmpfloat (hp->layers[il].rope.freq_base, ==, 160000);
    }
}

static void
add (const char *name, gconstpointer data, void (*test) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/model/families/%s", name);

  g_test_add (path, Fixture, data, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("minicpm-without-scales", NULL, test_minicpm);
  add ("granite-may-not-turn", NULL, test_granite);
  add ("glm4-skips-drafts", NULL, test_glm4);
  add ("gpt2-has-a-table", NULL, test_gpt2);
  add ("modern-bert-without-window", NULL, test_modern_bert);
  for (guint i = 0; i < G_N_ELEMENTS (broken_files); i++)
    {
      g_autofree char *name =
          g_strdup_printf ("refuses-%s-%s", broken_files[i].sketch, broken_files[i].name);
      add (name, &broken_files[i], test_broken);
    }
  return g_test_run ();
}
