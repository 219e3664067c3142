/* What the architectures of one plain cache, and the encoder, make of their keys and tensors:
 * widths of rows, rope, scales by the formulas of their descriptions, and refusals by name. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/layers.h"
#include "engine/model/model-private.h"
#include "tests/engine/model/model-sketch.h"

#define SIZES                                                                                      \
  "u32 vocab_size 6\n"                                                                             \
  "u32 block_count 1\n"                                                                            \
  "u32 context_length 64\n"                                                                        \
  "u32 embedding_length 8\n"                                                                       \
  "u32 feed_forward_length 16\n"                                                                   \
  "u32 attention.head_count 2\n"                                                                   \
  "f32 attention.layer_norm_rms_epsilon 1e-5\n"                                                    \
  "tensor token_embd.weight 8 6\n"

#define NORMS                                                                                      \
  "tensor output_norm.weight 8\n"                                                                  \
  "tensor blk.0.attn_norm.weight 8\n"                                                              \
  "tensor blk.0.ffn_norm.weight 8\n"

#define PROJECTIONS                                                                                \
  "tensor blk.0.attn_q.weight 8 8\n"                                                               \
  "tensor blk.0.attn_k.weight 8 8\n"                                                               \
  "tensor blk.0.attn_v.weight 8 8\n"                                                               \
  "tensor blk.0.attn_output.weight 8 8\n"

#define FUSED                                                                                      \
  "tensor blk.0.attn_qkv.weight 8 24\n"                                                            \
  "tensor blk.0.attn_output.weight 8 8\n"

#define NET                                                                                        \
  "tensor blk.0.ffn_gate.weight 8 16\n"                                                            \
  "tensor blk.0.ffn_up.weight 8 16\n"                                                              \
  "tensor blk.0.ffn_down.weight 16 8\n"

#define PLAIN_NET                                                                                  \
  "tensor blk.0.ffn_up.weight 8 16\n"                                                              \
  "tensor blk.0.ffn_down.weight 16 8\n"

#define EXPERTS                                                                                    \
  "u32 expert_count 3\n"                                                                           \
  "u32 expert_used_count 2\n"                                                                      \
  "u32 expert_feed_forward_length 12\n"

static const char llama[] = "arch llama\n" SIZES NORMS PROJECTIONS NET;

static const char qwen3moe[] =
    "arch qwen3moe\n" SIZES NORMS PROJECTIONS EXPERTS "tensor blk.0.attn_q_norm.weight 4\n"
    "tensor blk.0.attn_k_norm.weight 4\n"
    "tensor blk.0.ffn_gate_inp.weight 8 3\n"
    "tensor blk.0.ffn_gate_exps.weight 8 12 3 f16\n"
    "tensor blk.0.ffn_up_exps.weight 8 12 3 f16\n"
    "tensor blk.0.ffn_down_exps.weight 12 8 3 f16\n";

static const char qwen2vl[] =
    "arch qwen2vl\n" SIZES NORMS PROJECTIONS NET "i32s rope.dimension_sections 1 1 0 0\n";

static const char phi3[] = "arch phi3\n" SIZES NORMS FUSED "text rope.scaling.type longrope\n"
                           "u32 rope.scaling.original_context_length 32\n"
                           "f32 rope.scaling.attn_factor 1.25\n"
                           "tensor rope_factors_short.weight 2\n"
                           "tensor rope_factors_long.weight 2\n"
                           "tensor blk.0.ffn_up.weight 8 32\n"
                           "tensor blk.0.ffn_down.weight 16 8\n";

static const char bloom[] =
    "arch bloom\n" SIZES NORMS FUSED PLAIN_NET "f32 attention.layer_norm_epsilon 0.125\n"
    "tensor token_embd_norm.weight 8\n"
    "tensor token_embd_norm.bias 8\n"
    "tensor output_norm.bias 8\n"
    "tensor blk.0.attn_norm.bias 8\n"
    "tensor blk.0.attn_qkv.bias 24\n"
    "tensor blk.0.attn_output.bias 8\n"
    "tensor blk.0.ffn_up.bias 16\n"
    "tensor blk.0.ffn_down.bias 8\n"
    "tensor blk.0.ffn_norm.bias 8\n";

static const char mpt[] =
    "arch mpt\n" SIZES NORMS FUSED PLAIN_NET "f32 attention.max_alibi_bias 4\n"
    "f32 attention.clamp_kqv 1.5\n";

/* Rows of 4 + 2 numbers, queries of 6 + 2, values of 5 per head. */
static const char deepseek2[] =
    "arch deepseek2\n" SIZES NORMS EXPERTS "u32 block_count 2\n"
    "u32 leading_dense_block_count 1\n"
    "u32 expert_shared_count 2\n"
    "u32 attention.head_count_kv 1\n"
    "u32 attention.q_lora_rank 3\n"
    "u32 attention.kv_lora_rank 4\n"
    "u32 attention.key_length 6\n"
    "u32 attention.value_length 4\n"
    "u32 attention.key_length_mla 8\n"
    "u32 attention.value_length_mla 5\n"
    "u32 rope.dimension_count 2\n"
    "tensor blk.0.attn_q_a.weight 8 3\n"
    "tensor blk.0.attn_q_a_norm.weight 3\n"
    "tensor blk.0.attn_q_b.weight 3 16\n"
    "tensor blk.0.attn_kv_a_mqa.weight 8 6\n"
    "tensor blk.0.attn_kv_a_norm.weight 4\n"
    "tensor blk.0.attn_k_b.weight 6 4 2\n"
    "tensor blk.0.attn_v_b.weight 4 5 2\n"
    "tensor blk.0.attn_output.weight 10 8\n" NET "tensor blk.1.attn_norm.weight 8\n"
    "tensor blk.1.attn_q_a.weight 8 3\n"
    "tensor blk.1.attn_q_a_norm.weight 3\n"
    "tensor blk.1.attn_q_b.weight 3 16\n"
    "tensor blk.1.attn_kv_a_mqa.weight 8 6\n"
    "tensor blk.1.attn_kv_a_norm.weight 4\n"
    "tensor blk.1.attn_k_b.weight 6 4 2\n"
    "tensor blk.1.attn_v_b.weight 4 5 2\n"
    "tensor blk.1.attn_output.weight 10 8\n"
    "tensor blk.1.ffn_norm.weight 8\n"
    "tensor blk.1.ffn_gate_inp.weight 8 3\n"
    "tensor blk.1.exp_probs_b.bias 3\n"
    "tensor blk.1.ffn_gate_exps.weight 8 12 3\n"
    "tensor blk.1.ffn_up_exps.weight 8 12 3\n"
    "tensor blk.1.ffn_down_exps.weight 12 8 3\n"
    "tensor blk.1.ffn_gate_shexp.weight 8 24\n"
    "tensor blk.1.ffn_up_shexp.weight 8 24\n"
    "tensor blk.1.ffn_down_shexp.weight 24 8\n";

static const char bert[] = "arch bert\n" SIZES PROJECTIONS PLAIN_NET "bool attention.causal false\n"
                           "u32 pooling_type 1\n"
                           "tensor token_types.weight 8 2\n"
                           "tensor position_embd.weight 8 64\n"
                           "tensor token_embd_norm.weight 8\n"
                           "tensor token_embd_norm.bias 8\n"
                           "tensor blk.0.attn_output_norm.weight 8\n"
                           "tensor blk.0.attn_output_norm.bias 8\n"
                           "tensor blk.0.layer_output_norm.weight 8\n"
                           "tensor blk.0.layer_output_norm.bias 8\n";

typedef struct
{
  KvasirDevice *device;
} Fixture;

static void
set_up (Fixture *self, gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  self->device = kvasir_cpu_device_new (&options);
  g_assert_nonnull (self->device);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  self->device->vtable->free (self->device);
}

static KvasirModel *
load (Fixture *self, const char *sketch, const char *changes)
{
  g_autoptr (GError) error = NULL;
  KvasirModel *model = load_sketch (self->device, sketch, changes, &error);

  g_assert_no_error (error);
  return model;
}

static void
test_qwen3moe (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, qwen3moe, NULL);
  const KvasirLayer *layer = model->layers;

  g_assert_cmpint (model->hparams.layers[0].rope.neox, ==, 1);
  g_assert_cmpint (layer->moe.gating, ==, KVASIR_GATING_SOFTMAX);
  g_assert_true (layer->moe.normalised);
  g_assert_cmpuint (layer->moe.n_used, ==, 2);
  g_assert_null (layer->ffn.down);
  g_assert_cmpint (layer->moe.up->type, ==, KVASIR_TYPE_F16);
}

static void
test_qwen2vl (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, qwen2vl, NULL);
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpuint (hp->n_pos_per_token, ==, 4);
  g_assert_cmpint (hp->layers[0].rope.neox, ==, 1);
  g_assert_cmpint (hp->layers[0].rope.sections[0], ==, 1);
  g_assert_cmpint (hp->layers[0].rope.sections[1], ==, 1);
  g_assert_cmpint (hp->layers[0].rope.sections[3], ==, 0);
  g_assert_cmpint (hp->layers[0].rope.interleaved, ==, 0);
}

static void
test_phi3 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, phi3, NULL);
  const KvasirLayer *layer = model->layers;

  g_assert_cmpint (model->hparams.rope.neox, ==, 1);
  g_assert_cmpint (model->hparams.rope.n_ctx_orig, ==, 32);
  g_assert_cmpfloat (model->hparams.rope.attn_factor, ==, 1.25);
  g_assert_cmpfloat (model->hparams.rope.ext_factor, ==, 0);
  g_assert_cmpstr (kvasir_model_get_rope_factors (model, FALSE)->name, ==,
                   "rope_factors_short.weight");
  g_assert_cmpstr (kvasir_model_get_rope_factors (model, TRUE)->name, ==,
                   "rope_factors_long.weight");
  /* The gate is the first half. */
  g_assert_cmpuint (layer->ffn.gate->view_offset, ==, 0);
  g_assert_cmpuint (layer->ffn.up->view_offset, ==, 16 * 8 * sizeof (float));
  g_assert_cmpuint (layer->attention.wv->view_offset, ==, 16 * 8 * sizeof (float));
}

/* All parts of a fused tensor count times the one number that it has. */
static void
test_fused_scale (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, phi3, "tensor blk.0.attn_qkv.scale 1");
  const KvasirLayer *layer = model->layers;

  g_assert_nonnull (layer->attention.wq->scale);
  g_assert_cmpstr (layer->attention.wq->scale->name, ==, "blk.0.attn_qkv.scale");
  g_assert_true (layer->attention.wv->scale == layer->attention.wq->scale);
  g_assert_null (layer->attention.wo->scale);
}

static void
test_bloom (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, bloom, NULL);
  const KvasirLayer *layer = model->layers;
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpfloat (hp->max_bias, ==, 8);
  g_assert_cmpint (hp->layers[0].rope.n_rot, ==, 0);
  g_assert_true (hp->has_layer_norms);
  g_assert_cmpfloat (hp->norm_eps, ==, 0.125);
  g_assert_cmpfloat (hp->clamp_qkv, ==, 0);
  g_assert_nonnull (layer->attn_norm_bias);
  g_assert_nonnull (layer->attention.bv);
  g_assert_null (layer->ffn.gate);
  g_assert_cmpint (layer->ffn.kind, ==, KVASIR_UNARY_GELU);
}

static void
test_mpt (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, mpt, NULL);
  g_autoptr (KvasirModel) with_table = load (self, mpt, "tensor position_embd.weight 8 64");

  g_assert_cmpfloat (model->hparams.max_bias, ==, 4);
  g_assert_cmpfloat (model->hparams.clamp_qkv, ==, 1.5);
  g_assert_cmpuint (model->hparams.n_position_rows, ==, 0);
  g_assert_cmpuint (with_table->hparams.n_position_rows, ==, 64);
}

static void
test_deepseek2 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, deepseek2, NULL);
  const KvasirHparams *hp = &model->hparams;

  for (guint i = 0; i < 2; i++)
    {
      g_assert_cmpuint (hp->layers[i].n_embd_k, ==, 4 + 2);
      g_assert_cmpuint (hp->layers[i].n_embd_v, ==, 0);
      g_assert_cmpuint (hp->layers[i].head_dim_v, ==, 4);
      g_assert_cmpint (hp->layers[i].rope.offset, ==, 4);
      g_assert_cmpint (hp->layers[i].rope.n_rot, ==, 2);
      g_assert_cmpint (hp->layers[i].rope.neox, ==, 0);
    }
  g_assert_cmpfloat_with_epsilon (hp->attention_scale, 1 / sqrt (8), 1e-7);
  g_assert_cmpuint (kvasir_model_get_info (model)->kv_bytes_per_token_f16, ==, 2 * (4 + 2) * 2);
}

/* The scores are scaled by m^2 and the rope keeps lengths: attn_factor (1 + 0.1 ln factor) is 1. */
static void
test_deepseek2_yarn (Fixture *self, gconstpointer data)
{
  const double factors[][2] = { { 0.1, 1 + 0.1 * log (40) }, { 0.0707, 1 + 0.0707 * log (40) } };
  g_autoptr (KvasirModel) plain =
      load (self, deepseek2, "text rope.scaling.type yarn\nf32 rope.scaling.factor 40");

  for (guint i = 0; i < G_N_ELEMENTS (factors); i++)
    {
      g_autofree char *changes =
          g_strdup_printf ("text rope.scaling.type yarn\nf32 rope.scaling.factor 40\n"
                           "f32 rope.scaling.yarn_log_multiplier %s",
                           i == 0 ? "0.1" : "0.0707");
      g_autoptr (KvasirModel) model = load (self, deepseek2, changes);
      const KvasirHparams *hp = &model->hparams;
      const double m = factors[i][1];

      g_assert_cmpfloat_with_epsilon (hp->attention_scale, m * m / sqrt (8), 1e-6);
      g_assert_cmpfloat_with_epsilon (hp->layers[1].rope.attn_factor * (1 + 0.1 * log (40)), 1,
                                      1e-6);
    }
  g_assert_cmpfloat_with_epsilon (plain->hparams.attention_scale, 1 / sqrt (8), 1e-6);
  g_assert_cmpfloat (plain->hparams.rope.attn_factor, ==, 1);
}

/* Without a rank of queries they come from one matrix. */
static void
test_deepseek2_lite (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, deepseek2,
            "drop attention.q_lora_rank\n"
            "drop blk.0.attn_q_a.weight\ndrop blk.0.attn_q_a_norm.weight\n"
            "drop blk.0.attn_q_b.weight\ndrop blk.1.attn_q_a.weight\n"
            "drop blk.1.attn_q_a_norm.weight\ndrop blk.1.attn_q_b.weight\n"
            "tensor blk.0.attn_q.weight 8 16\ntensor blk.1.attn_q.weight 8 16");

  g_assert_cmpuint (model->hparams.layers[1].n_embd_k, ==, 4 + 2);
}

static void
test_bert (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, bert, NULL);
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpint (hp->memory_class, ==, KVASIR_MEMORY_NONE);
  g_assert_false (hp->is_causal);
  g_assert_cmpint (hp->pooling, ==, KVASIR_POOLING_MEAN);
  g_assert_cmpint (hp->layers[0].rope.n_rot, ==, 0);
  g_assert_cmpuint (hp->layers[0].n_embd_k, ==, 8);
  g_assert_cmpuint (hp->n_position_rows, ==, 64);
  g_assert_null (model->output);
}

typedef struct
{
  const char *name;
  const char *sketch;
  const char *changes;
  int code;
  const char *messages[2];
} Broken;

static const Broken broken_files[] = {
  { "values-missing",
    llama,
    "drop blk.0.attn_v.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_v.weight: a tensor [8, 8] expected, none found" } },
  { "too-many-experts-used",
    qwen3moe,
    "u32 expert_used_count 4",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen3moe.expert_used_count: 1 to 3 expected, 4 found" } },
  { "experts-of-another-shape",
    qwen3moe,
    "tensor blk.0.ffn_up_exps.weight 8 12 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_up_exps.weight: shape [8, 12, 3] expected, [8, 12, 2] found" } },
  { "experts-without-gates",
    qwen3moe,
    "drop blk.0.ffn_gate_exps.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_gate_exps.weight: a tensor [8, 12, 3] expected, none found" } },
  { "net-without-gate",
    deepseek2,
    "drop blk.0.ffn_gate.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_up.weight: shape [8, 32] expected, [8, 16] found" } },
  { "shared-without-gate",
    deepseek2,
    "drop blk.1.ffn_gate_shexp.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_gate_shexp.weight: a tensor [8, 24] expected, none found" } },
  { "no-sections",
    qwen2vl,
    "drop rope.dimension_sections",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen2vl.rope.dimension_sections", "4 whole numbers expected" } },
  { "empty-sections",
    qwen2vl,
    "i32s rope.dimension_sections 0 0 0 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen2vl.rope.dimension_sections", "none found" } },
  { "wide-sections",
    qwen2vl,
    "i32s rope.dimension_sections 3 0 0 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "element 0: 0 to 2 expected, 3 found" } },
  { "fused-of-another-shape",
    phi3,
    "tensor blk.0.attn_qkv.weight 8 16",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_qkv.weight: shape [8, 24] expected, [8, 16] found" } },
  { "factors-of-another-shape",
    phi3,
    "tensor rope_factors_long.weight 4",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "rope_factors_long.weight: shape [2] expected, [4] found" } },
  { "negative-bounds",
    mpt,
    "f32 attention.clamp_kqv -1",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mpt.attention.clamp_kqv: 0 or more expected, -1 found" } },
  { "scaled-activations",
    mpt,
    "tensor blk.0.ffn_act.scales 16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.ffn_act.scales" } },
  { "both-latent-forms",
    deepseek2,
    "drop blk.0.attn_k_b.weight\ndrop blk.0.attn_v_b.weight\n"
    "tensor blk.0.attn_kv_b.weight 4 22",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k_b.weight: a tensor [6, 4, 2] expected, none found" } },
  { "latent-width",
    deepseek2,
    "u32 attention.key_length 8",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.key_length: 4", "8 found" } },
  { "latent-value-width",
    deepseek2,
    "u32 attention.value_length 5",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.value_length: 4", "5 found" } },
  { "latent-heads",
    deepseek2,
    "u32 attention.head_count_kv 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.head_count_kv", "layer 0: 1 expected, 2 found" } },
  { "narrow-queries",
    deepseek2,
    "u32 attention.key_length_mla 2",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "deepseek2.attention.key_length_mla: above 2", "2 found" } },
  { "no-matrices-of-heads",
    deepseek2,
    "drop blk.1.attn_v_b.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_v_b.weight: a tensor [4, 5, 2] expected, none found" } },
  { "causal-encoder",
    bert,
    "bool attention.causal true",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "bert.attention.causal: false supported, true found" } },
  { "pooling",
    bert,
    "u32 pooling_type 4",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "bert.pooling_type", "4 found" } },
  { "scales-of-another-shape",
    llama,
    "u32 feed_forward_length 64\ntensor blk.0.ffn_gate.weight 8 64\n"
    "tensor blk.0.ffn_up.weight 8 64\ntensor blk.0.ffn_down.weight 64 8 nvfp4\n"
    "tensor blk.0.ffn_down.scale 8",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_down.scale: shape [1] expected, [8] found" } },
  { "scales-nobody-counts",
    llama,
    "tensor blk.0.attn_v.scale 3",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.attn_v.scale: no such tensor supported" } },
  { "scales-of-too-many-experts",
    qwen3moe,
    "tensor blk.0.ffn_up_exps.scale 4",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.ffn_up_exps.scale: no such tensor supported" } },
  { "scales-of-another-type",
    llama,
    "tensor blk.0.attn_v.scale 1 f16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.attn_v.scale: type f32 expected, f16 found" } },
  { "biases-of-scaled-experts",
    qwen3moe,
    "tensor blk.0.ffn_up_exps.scale 3\ntensor blk.0.ffn_up_exps.bias 12 3",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.ffn_up_exps.scale", "blk.0.ffn_up_exps.bias found" } },
  { "types-of-another-type",
    bert,
    "tensor token_types.weight 8 2 f16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "token_types.weight", "f32 expected, f16 found" } },
};

static void
test_broken (Fixture *self, gconstpointer data)
{
  const Broken *broken = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model =
      load_sketch (self->device, broken->sketch, broken->changes, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, broken->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (broken->messages) && broken->messages[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, broken->messages[i]));
}

static void
add (const char *name, gconstpointer data, void (*test) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/model/%s", name);
  g_test_add (path, Fixture, data, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("qwen3moe/experts", NULL, test_qwen3moe);
  add ("qwen2vl/four-positions", NULL, test_qwen2vl);
  add ("phi3/fused-and-longrope", NULL, test_phi3);
  add ("phi3/fused-scale", NULL, test_fused_scale);
  add ("bloom/distances-and-biases", NULL, test_bloom);
  add ("mpt/bounds-and-positions", NULL, test_mpt);
  add ("deepseek2/rows-without-values", NULL, test_deepseek2);
  add ("deepseek2/yarn-scales-the-scores", NULL, test_deepseek2_yarn);
  add ("deepseek2/lite-form", NULL, test_deepseek2_lite);
  add ("bert/encoder", NULL, test_bert);
  for (guint i = 0; i < G_N_ELEMENTS (broken_files); i++)
    {
      g_autofree char *name = g_strdup_printf ("decoders/refuses-%s", broken_files[i].name);
      add (name, &broken_files[i], test_broken);
    }
  return g_test_run ();
}
