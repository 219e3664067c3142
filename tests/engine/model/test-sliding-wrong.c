/* What wrong files of models with windows are told: key or tensor, expected and found. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/model.h"
#include "tests/engine/model/model-sketch.h"
#include "tests/engine/model/sliding-sketches.h"

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
    { "gemma3n.altup.num_inputs", "4 supported", "3 found" } },
  { "other-stream",
    GEMMA3N,
    "u32 altup.active_idx 1\n",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "gemma3n.altup.active_idx", "0 supported", "1 found" } },
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
make_sketch (Kind kind)
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
test_wrong (gconstpointer data)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  const Wrong *wrong = data;
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  g_autofree char *text = make_sketch (wrong->kind);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load_sketch (device, text, wrong->changes, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, wrong->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (wrong->messages) && wrong->messages[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, wrong->messages[i]));
  device->vtable->free (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (wrong_files); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/model/sliding/refuses-%s", wrong_files[i].name);
      g_test_add_data_func (path, &wrong_files[i], test_wrong);
    }
  return g_test_run ();
}
