/* Models with windows: which layers slide, how wide their rows are, whose rows they read, and what
 * wrong files are told. Expected values are worked out by hand from the format's description. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/model-private.h"
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
  g_assert_nonnull (self->device);
}

static void
tear_down (Fixture *self, gconstpointer data)
{
  self->device->vtable->free (self->device);
}

/* Width 8, two heads of 4 over one. */
static void
begin (GString *text, const char *arch, guint n_layers)
{
  g_string_append_printf (text,
                          "arch %s\nu32 vocab_size 6\nu32 block_count %u\nu32 context_length 64\n"
                          "u32 embedding_length 8\nu32 feed_forward_length 16\n"
                          "u32 attention.head_count 2\nu32 attention.head_count_kv 1\n"
                          "tensor token_embd.weight 8 6\ntensor output_norm.weight 8\n",
                          arch, n_layers);
}

/* Lines whose tensors stand in layer @il. */
static void
add_layer (GString *text, guint il, const char *tensors)
{
  g_auto (GStrv) lines = g_strsplit (tensors, "\n", -1);

  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      g_string_append_printf (text, "tensor blk.%u.%s\n", il, lines[i]);
}

static const char attention[] = "attn_norm.weight 8\nattn_q.weight 8 8\nattn_k.weight 8 4\n"
                                "attn_v.weight 8 4\nattn_output.weight 8 8\n";
static const char net[] = "ffn_norm.weight 8\nffn_gate.weight 8 16\nffn_up.weight 8 16\n"
                          "ffn_down.weight 16 8\n";
static const char post_norms[] = "post_attention_norm.weight 8\npost_ffw_norm.weight 8\n";
static const char experts[] = "ffn_gate_inp.weight 8 4\nffn_gate_exps.weight 8 16 4\n"
                              "ffn_up_exps.weight 8 16 4\nffn_down_exps.weight 16 8 4\n";

static char *
sketch_gemma (const char *arch, guint n_layers)
{
  GString *text = g_string_new (NULL);

  begin (text, arch, n_layers);
  for (guint il = 0; il < n_layers; il++)
    {
      add_layer (text, il, attention);
      add_layer (text, il, net);
      add_layer (text, il, post_norms);
    }
  return g_string_free (text, FALSE);
}

static char *
sketch_gemma3n (guint n_layers)
{
  GString *text = g_string_new (NULL);
  static const char more[] =
      "inp_gate.weight 8 2\nproj.weight 2 8\npost_norm.weight 8\naltup_correct_coef.weight 4 4\n"
      "altup_correct_scale.weight 8\naltup_predict_coef.weight 4 16\naltup_router.weight 8 4\n"
      "altup_router_norm.weight 8\nlaurel_l.weight 8 3\nlaurel_r.weight 3 8\n"
      "laurel_post_norm.weight 8\n";

  begin (text, "gemma3n", n_layers);
  g_string_append_printf (text,
                          "u32 attention.sliding_window 32\n"
                          "u32 embedding_length_per_layer_input 2\n"
                          "tensor per_layer_token_embd.weight %u 6\n"
                          "tensor per_layer_model_proj.weight 8 %u\n"
                          "tensor per_layer_proj_norm.weight 2\n"
                          "tensor altup_proj.weight 8 8 3\ntensor altup_unembd_proj.weight 8 8 3\n",
                          2 * n_layers, 2 * n_layers);
  for (guint il = 0; il < n_layers; il++)
    {
      add_layer (text, il, attention);
      add_layer (text, il, net);
      add_layer (text, il, post_norms);
      add_layer (text, il, more);
    }
  return g_string_free (text, FALSE);
}

/* Layers 1 and 3 are full ones, with heads of 4; those of the others are 2 wide. The last two have
 * no rows. */
static char *
sketch_gemma4 (void)
{
  GString *text = g_string_new (NULL);
  static const char sliding[] = "attn_norm.weight 8\nattn_q.weight 8 4\nattn_k.weight 8 2\n"
                                "attn_v.weight 8 2\nattn_output.weight 4 8\n";
  static const char without_v[] = "attn_norm.weight 8\nattn_q.weight 8 8\nattn_k.weight 8 4\n"
                                  "attn_output.weight 8 8\n";

  begin (text, "gemma4", 4);
  g_string_append (text, "u32 attention.sliding_window 32\n"
                         "i32s attention.sliding_window_pattern 1 0 1 0\n"
                         "u32 attention.key_length 4\nu32 attention.value_length 4\n"
                         "u32 attention.key_length_swa 2\nu32 attention.value_length_swa 2\n"
                         "u32 attention.shared_kv_layers 2\nf32 rope.freq_base 1000000\n"
                         "tensor rope_freqs.weight 2\n");
  for (guint il = 0; il < 4; il++)
    {
      add_layer (text, il, il % 2 == 0 ? sliding : without_v);
      add_layer (text, il, net);
      add_layer (text, il, post_norms);
    }
  return g_string_free (text, FALSE);
}

static char *
sketch_gpt_oss (void)
{
  GString *text = g_string_new (NULL);

  begin (text, "gpt-oss", 4);
  g_string_append (text, "u32 attention.sliding_window 128\nu32 expert_count 4\n"
                         "u32 expert_used_count 2\nu32 expert_feed_forward_length 16\n");
  for (guint il = 0; il < 4; il++)
    {
      add_layer (text, il, attention);
      add_layer (text, il, experts);
      add_layer (text, il,
                 "post_attention_norm.weight 8\nattn_sinks.weight 2\n"
                 "ffn_gate_inp.bias 4\nffn_up_exps.bias 16 4\nffn_gate_exps.bias 16 4\n"
                 "ffn_down_exps.bias 8 4\n");
    }
  return g_string_free (text, FALSE);
}

static char *
sketch_llama4 (void)
{
  GString *text = g_string_new (NULL);

  begin (text, "llama4", 4);
  g_string_append (text, "u32 expert_count 4\nu32 expert_used_count 1\n"
                         "u32 expert_feed_forward_length 16\nu32 interleave_moe_layer_step 2\n");
  for (guint il = 0; il < 4; il++)
    {
      add_layer (text, il, attention);
      add_layer (text, il, il % 2 == 0 ? net : experts);
      if (il % 2 == 1)
        add_layer (text, il,
                   "ffn_norm.weight 8\nffn_gate_shexp.weight 8 16\n"
                   "ffn_up_shexp.weight 8 16\nffn_down_shexp.weight 16 8\n");
    }
  return g_string_free (text, FALSE);
}

static KvasirModel *
load (Fixture *self, char *sketch, const char *changes)
{
  g_autofree char *text = sketch;
  g_autoptr (GError) error = NULL;
  KvasirModel *model = load_sketch (self->device, text, changes, &error);

  g_assert_no_error (error);
  return model;
}

/* @expected: a letter for each layer, s: it slides, f: it is full */
static void
assert_slides (const KvasirModel *model, const char *expected)
{
  const KvasirHparams *hp = &model->hparams;

  g_assert_cmpuint (hp->n_layers, ==, strlen (expected));
  for (guint i = 0; i < hp->n_layers; i++)
    g_assert_cmpint (hp->layers[i].is_swa, ==, expected[i] == 's');
}

static void
assert_class (const KvasirModel *model, KvasirMemoryClass klass, KvasirWindow window, guint n_swa)
{
  g_assert_cmpint (model->hparams.memory_class, ==, klass);
  g_assert_cmpint (kvasir_model_get_info (model)->memory_class, ==, klass);
  g_assert_cmpint (model->hparams.window, ==, window);
  g_assert_cmpuint (model->hparams.n_swa, ==, n_swa);
}

static void
test_gemma2 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma ("gemma2", 5), NULL);

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 4096);
  assert_slides (model, "sfsfs");
  g_assert_cmpfloat_with_epsilon (model->hparams.attention_scale, 0.5, 1e-7);
  g_assert_cmpint (model->hparams.layers[0].rope.neox, ==, 1);
}

/* The 27B goes by the width of the model over the heads: 8 / 2, where a head is 16 wide. */
static void
test_gemma2_27b (Fixture *self, gconstpointer data)
{
  g_autofree char *sketch = sketch_gemma ("gemma2", 46);
  g_autoptr (GString) changes =
      g_string_new ("u32 attention.key_length 16\nu32 attention.value_length 16\n");
  g_autoptr (KvasirModel) model = NULL;

  for (guint il = 0; il < 46; il++)
    add_layer (changes, il,
               "attn_q.weight 8 32\nattn_k.weight 8 16\nattn_v.weight 8 16\n"
               "attn_output.weight 32 8\n");
  model = load (self, g_steal_pointer (&sketch), changes->str);
  g_assert_cmpfloat_with_epsilon (model->hparams.attention_scale, 0.5, 1e-7);
}

static void
test_patterns (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) period = load (self, sketch_gemma ("gemma2", 5),
                                         "u32 attention.sliding_window_pattern 3\n"
                                         "u32 attention.sliding_window 7\n");
  g_autoptr (KvasirModel) array =
      load (self, sketch_gemma ("gemma2", 5), "i32s attention.sliding_window_pattern 0 1 1 0 1\n");

  assert_class (period, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 7);
  assert_slides (period, "ssfss");
  assert_slides (array, "fssfs");
}

static void
test_gemma3 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma ("gemma3", 7),
            "u32 attention.sliding_window 32\nf32 rope.freq_base 1000000\n"
            "f32 rope.scaling.factor 8\n");
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 32);
  assert_slides (model, "sssssfs");
  g_assert_cmpfloat (layers[0].rope.freq_base, ==, 10000);
  g_assert_cmpfloat (layers[0].rope.freq_scale, ==, 1);
  g_assert_cmpfloat (layers[5].rope.freq_base, ==, 1000000);
  g_assert_cmpfloat (layers[5].rope.freq_scale, ==, 0.125);
  g_assert_cmpint (layers[6].rope.neox, ==, 1);
}

static void
test_gemma3_base (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma ("gemma3", 1),
            "u32 attention.sliding_window 32\nf32 rope.freq_base_swa 5\n");

  g_assert_cmpfloat (model->hparams.layers[0].rope.freq_base, ==, 5);
}

static void
test_gemma3_plain (Fixture *self, gconstpointer data)
{
  static const char *const changes[] = { NULL, "u32 attention.sliding_window 0\n" };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      g_autoptr (KvasirModel) model = load (self, sketch_gemma ("gemma3", 7), changes[i]);
      assert_class (model, KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, 0);
      assert_slides (model, "fffffff");
    }
}

static void
test_gemma3n (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model =
      load (self, sketch_gemma3n (10), "u32 attention.shared_kv_layers 5\n");
  const KvasirLayerHparams *layers = model->hparams.layers;
  static const gint expected[] = { -1, -1, -1, -1, -1, 3, 3, 3, 3, 4 };

  assert_slides (model, "ssssfssssf");
  for (guint i = 0; i < 10; i++)
    g_assert_cmpint (layers[i].share, ==, expected[i]);
  g_assert_cmpfloat (model->hparams.attention_scale, ==, 1);
  /* Five layers, a head of four for keys and one for values, two bytes each. */
  g_assert_cmpuint (kvasir_model_get_info (model)->kv_bytes_per_token_f16, ==, 5 * (4 + 4) * 2);
}

static void
test_gemma3n_default (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma3n (25), NULL);

  g_assert_cmpint (model->hparams.layers[19].share, ==, -1);
  g_assert_cmpint (model->hparams.layers[20].share, ==, 18);
  g_assert_cmpint (model->hparams.layers[24].share, ==, 19);
}

static void
test_gemma4 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gemma4 (), NULL);
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 32);
  assert_slides (model, "sfsf");
  g_assert_cmpuint (layers[0].head_dim_k, ==, 2);
  g_assert_cmpuint (layers[0].n_embd_k, ==, 2);
  g_assert_cmpint (layers[0].rope.n_rot, ==, 2);
  g_assert_cmpfloat (layers[0].rope.freq_base, ==, 10000);
  g_assert_false (layers[0].has_rope_factors);
  g_assert_cmpuint (layers[1].head_dim_v, ==, 4);
  g_assert_cmpuint (layers[1].n_embd_v, ==, 4);
  g_assert_cmpint (layers[1].rope.n_rot, ==, 4);
  g_assert_cmpfloat (layers[1].rope.freq_base, ==, 1000000);
  g_assert_true (layers[1].has_rope_factors);
  g_assert_cmpint (layers[0].share, ==, -1);
  g_assert_cmpint (layers[1].share, ==, -1);
  g_assert_cmpint (layers[2].share, ==, 0);
  g_assert_cmpint (layers[3].share, ==, 1);
}

static void
test_gpt_oss (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_gpt_oss (), NULL);

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_STANDARD, 128);
  assert_slides (model, "sfsf");
  g_assert_cmpint (model->hparams.layers[0].rope.neox, ==, 1);
}

static void
test_llama4 (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_llama4 (), NULL);
  const KvasirLayerHparams *layers = model->hparams.layers;

  assert_class (model, KVASIR_MEMORY_KV_ISWA, KVASIR_WINDOW_CHUNKED, 8192);
  assert_slides (model, "sssf");
  g_assert_cmpint (layers[2].rope.n_rot, ==, 4);
  g_assert_cmpint (layers[2].rope.neox, ==, 0);
  g_assert_cmpint (layers[3].rope.n_rot, ==, 0);
}

static void
test_llama4_plain (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirModel) model = load (self, sketch_llama4 (), "u32 attention.sliding_window 0\n");

  assert_class (model, KVASIR_MEMORY_KV, KVASIR_WINDOW_NONE, 0);
  assert_slides (model, "ffff");
  g_assert_cmpint (model->hparams.layers[3].rope.n_rot, ==, 4);
}

typedef enum
{
  GEMMA2,
  GEMMA3N,
  GEMMA4,
  GPT_OSS,
  LLAMA4
} Kind;

typedef struct
{
  const char *name;
  Kind kind;
  const char *changes;
  int code;
  const char *messages[3];
} Wrong;

static const Wrong wrong_files[] = {
  { "negative-cap",
    GEMMA2,
    "f32 final_logit_softcapping -1\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma2.final_logit_softcapping", "0 or more expected", "-1 found" } },
  { "window-of-none",
    GEMMA2,
    "u32 attention.sliding_window 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma2.attention.sliding_window", "1 to", "0 found" } },
  { "period-of-none",
    GEMMA2,
    "u32 attention.sliding_window_pattern 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma2.attention.sliding_window_pattern", "1 to 512 expected", "0 found" } },
  { "short-pattern",
    GEMMA2,
    "i32s attention.sliding_window_pattern 1 0 1\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma2.attention.sliding_window_pattern", "5 whole numbers expected", "3 values found" } },
  { "pattern-of-numbers",
    GEMMA2,
    "i32s attention.sliding_window_pattern 1 0 2 0 1\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma2.attention.sliding_window_pattern", "0 to 1 expected", "2 found" } },
  { "no-post-norm",
    GEMMA2,
    "drop blk.3.post_ffw_norm.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.3.post_ffw_norm.weight", "[8] expected", "none found" } },
  { "no-v",
    GEMMA2,
    "drop blk.1.attn_v.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_v.weight", "[8, 4] expected", "none found" } },
  { "three-streams",
    GEMMA3N,
    "u32 altup.num_inputs 3\n",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "gemma3n.altup.num_inputs", "4 expected", "3 found" } },
  { "other-stream",
    GEMMA3N,
    "u32 altup.active_idx 1\n",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "gemma3n.altup.active_idx", "0 expected", "1 found" } },
  { "no-layer-values",
    GEMMA3N,
    "u32 embedding_length_per_layer_input 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma3n.embedding_length_per_layer_input", "1 to", "0 found" } },
  { "laurel-ranks",
    GEMMA3N,
    "tensor blk.2.laurel_r.weight 4 8\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.laurel_r.weight", "[3, 8] expected", "[4, 8] found" } },
  { "no-laurel",
    GEMMA3N,
    "drop blk.2.laurel_l.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.laurel_l.weight", "none found" } },
  { "no-window",
    GEMMA3N,
    "drop attention.sliding_window\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma3n.attention.sliding_window", "expected and missing" } },
  { "no-pattern",
    GEMMA4,
    "drop attention.sliding_window_pattern\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.sliding_window_pattern", "expected and missing" } },
  { "share-of-full",
    GEMMA4,
    "u32 attention.shared_kv_layers 1\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "layer 3 reads the rows of layer 2",
      "a full layer expected there, a sliding one found" } },
  { "share-of-sliding",
    GEMMA4,
    "i32s attention.sliding_window_pattern 0 0 1 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "layer 2 reads the rows of layer 0",
      "a sliding layer expected there, a full one found" } },
  { "share-of-nothing",
    GEMMA4,
    "u32 attention.shared_kv_layers 3\ni32s attention.sliding_window_pattern 0 1 0 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "layer 1 reads",
      "at least 2 layers with rows expected" } },
  { "all-share",
    GEMMA4,
    "u32 attention.shared_kv_layers 4\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "0 of 4 found" } },
  { "share-of-more",
    GEMMA4,
    "u32 attention.shared_kv_layers 5\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "0 to 4 expected", "5 found" } },
  { "share-of-other-heads",
    GEMMA4,
    "i32s attention.head_count_kv 1 1 2 1\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.shared_kv_layers", "layer 2 reads the rows of layer 0",
      "its 1 heads expected, 2 found" } },
  { "wide-sliding-heads",
    GEMMA4,
    "u32 attention.key_length_swa 16777216\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.attention.key_length_swa", "2 times 16777216 found" } },
  { "odd-sliding-rope",
    GEMMA4,
    "u32 attention.key_length_swa 3\nu32 attention.value_length_swa 3\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.rope.dimension_count_swa", "an even number expected", "3 found" } },
  { "sliding-base",
    GEMMA4,
    "f32 rope.freq_base_swa 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gemma4.rope.freq_base_swa", "above 0 expected", "0 found" } },
  { "no-rope-factors",
    GEMMA4,
    "drop rope_freqs.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "rope_freqs.weight", "[2] expected", "none found" } },
  { "no-v-of-other-width",
    GEMMA4,
    "u32 attention.value_length 8\ntensor blk.1.attn_output.weight 16 8\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_v.weight", "keys are 4 and values 8 wide", "none found" } },
  { "gpt-oss-without-window",
    GPT_OSS,
    "drop attention.sliding_window\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "gpt-oss.attention.sliding_window", "expected and missing" } },
  { "experts-without-gate",
    GPT_OSS,
    "drop blk.2.ffn_gate_exps.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.2.ffn_gate_exps.weight", "[8, 16, 4] expected", "none found" } },
  { "sinks",
    GPT_OSS,
    "tensor blk.0.attn_sinks.weight 3\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_sinks.weight", "[2] expected", "[3] found" } },
  { "no-step",
    LLAMA4,
    "drop interleave_moe_layer_step\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama4.interleave_moe_layer_step", "expected and missing" } },
  { "no-shared-gate",
    LLAMA4,
    "drop blk.1.ffn_gate_shexp.weight\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_gate_shexp.weight", "[8, 16] expected", "none found" } },
  { "no-temperature-length",
    LLAMA4,
    "u32 attention.temperature_length 0\n",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama4.attention.temperature_length", "1 to", "0 found" } },
};

static char *
sketch (Kind kind)
{
  switch (kind)
    {
    case GEMMA3N:
      return sketch_gemma3n (5);
    case GEMMA4:
      return sketch_gemma4 ();
    case GPT_OSS:
      return sketch_gpt_oss ();
    case LLAMA4:
      return sketch_llama4 ();
    default:
      return sketch_gemma ("gemma2", 5);
    }
}

static void
test_wrong (Fixture *self, gconstpointer data)
{
  const Wrong *wrong = data;
  g_autofree char *text = sketch (wrong->kind);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load_sketch (self->device, text, wrong->changes, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, wrong->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (wrong->messages) && wrong->messages[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, wrong->messages[i]));
}

static void
add (const char *name, gconstpointer data, void (*test) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/model/sliding/%s", name);

  g_test_add (path, Fixture, data, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("gemma2-slides-first-of-two", NULL, test_gemma2);
  add ("gemma2-27b-scales-by-width", NULL, test_gemma2_27b);
  add ("patterns", NULL, test_patterns);
  add ("gemma3-has-two-ropes", NULL, test_gemma3);
  add ("gemma3-reads-base-of-sliding-layers", NULL, test_gemma3_base);
  add ("gemma3-without-window-is-plain", NULL, test_gemma3_plain);
  add ("gemma3n-shares-rows", NULL, test_gemma3n);
  add ("gemma3n-keeps-rows-of-twenty-layers", NULL, test_gemma3n_default);
  add ("gemma4-has-two-widths", NULL, test_gemma4);
  add ("gpt-oss-slides-first-of-two", NULL, test_gpt_oss);
  add ("llama4-sees-chunks", NULL, test_llama4);
  add ("llama4-without-window-is-plain", NULL, test_llama4_plain);
  for (guint i = 0; i < G_N_ELEMENTS (wrong_files); i++)
    {
      g_autofree char *name = g_strdup_printf ("refuses-%s", wrong_files[i].name);
      add (name, &wrong_files[i], test_wrong);
    }
  return g_test_run ();
}
