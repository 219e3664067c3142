/* What recurrent and hybrid models keep: state widths by the formulas of the format's description
 * and its worked sizes, which layers attend, and the settings that are refused. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/model-private.h"
#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/model/model-sketch.h"

#define MAX_KEYS 20

/* A key of the architecture: a number, numbers for n layers, or "false". */
typedef struct
{
  const char *name;
  guint32 value;
  guint n;
  const gint32 *values; /* NULL with n > 0: "false" */
} Key;

typedef struct
{
  const char *arch;
  Key keys[MAX_KEYS];
} File;

static void
put (GByteArray *bytes, const char *arch, const Key *key)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", arch, key->name);

  if (key->values != NULL)
    put_key_i32s (bytes, name, key->values, key->n);
  else if (key->n > 0)
    put_key_bool (bytes, name, FALSE);
  else
    put_key_u32 (bytes, name, key->value);
}

static void
put_epsilon (GByteArray *bytes, const char *arch)
{
  g_autofree char *name = g_strdup_printf ("%s.attention.layer_norm_epsilon", arch);

  put_key_f32 (bytes, name, 1e-5f);
}

/* @change: (nullable): a key that replaces the file's, or comes behind them */
static KvasirGguf *
make_file (const File *file, const Key *change)
{
  g_autoptr (GByteArray) keys = g_byte_array_new ();
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  gboolean is_put = change == NULL;
  guint n = 0;
  KvasirGguf *gguf;

  for (guint i = 0; i < MAX_KEYS && file->keys[i].name != NULL; i++, n++)
    {
      const gboolean is_same = change != NULL && strcmp (file->keys[i].name, change->name) == 0;
      put (keys, file->arch, is_same ? change : &file->keys[i]);
      is_put = is_put || is_same;
    }
  if (!is_put)
    {
      put (keys, file->arch, change);
      n++;
    }
  put_epsilon (keys, file->arch);
  put_header (bytes, 3, 0, n + 1);
  g_byte_array_append (bytes, keys->data, keys->len);
  gguf = open_bytes (bytes->data, bytes->len, &error);
  g_assert_no_error (error);
  return gguf;
}

/* A model as far as its numbers go, or NULL. */
static KvasirModel *
read_model (const File *file, const Key *change, GError **error)
{
  g_autoptr (KvasirModel) model = g_new0 (KvasirModel, 1);

  g_atomic_ref_count_init (&model->ref_count);
  model->gguf = make_file (file, change);
  model->info.arch = file->arch;
  model->arch = kvasir_arch_find (file->arch, NULL);
  g_assert_nonnull (model->arch);
  if (!kvasir_hparams_read (&model->hparams, model->gguf, file->arch, 0,
                            model->arch->may_lack_attention ? 0 : 1, error) ||
      !model->arch->setup (model, error))
    return NULL;
  return g_steal_pointer (&model);
}

static KvasirModel *
read_right (const File *file, const Key *change)
{
  g_autoptr (GError) error = NULL;
  KvasirModel *model = read_model (file, change, &error);

  g_assert_no_error (error);
  g_assert_nonnull (model);
  return model;
}

#define PUBLISHED(layers, width)                                                                   \
  { "vocab_size", 1000 }, { "context_length", 2048 }, { "block_count", layers },                   \
  {                                                                                                \
    "embedding_length", width                                                                      \
  }

#define NO_HEADS                                                                                   \
  { "attention.head_count", 0 }, { "feed_forward_length", 0 }

static const File mamba_130m = { "mamba",
                                 { PUBLISHED (24, 768),
                                   NO_HEADS,
                                   { "ssm.conv_kernel", 4 },
                                   { "ssm.inner_size", 1536 },
                                   { "ssm.state_size", 16 },
                                   { "ssm.time_step_rank", 48 } } };

static const File mamba2_130m = { "mamba2",
                                  { PUBLISHED (24, 768),
                                    NO_HEADS,
                                    { "ssm.conv_kernel", 4 },
                                    { "ssm.inner_size", 1536 },
                                    { "ssm.state_size", 128 },
                                    { "ssm.time_step_rank", 24 },
                                    { "ssm.group_count", 1 } } };

static const File rwkv7_01b = { "rwkv7",
                                { PUBLISHED (12, 768),
                                  { "attention.head_count", 0 },
                                  { "feed_forward_length", 3072 },
                                  { "wkv.head_size", 64 },
                                  { "attention.decay_lora_rank", 64 },
                                  { "attention.iclr_lora_rank", 64 },
                                  { "attention.value_residual_mix_lora_rank", 32 },
                                  { "attention.gate_lora_rank", 128 } } };

static const gint32 lfm2_heads[16] = { 0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0 };

static const File lfm2_350m = { "lfm2",
                                { PUBLISHED (16, 1024),
                                  { "attention.head_count", 16 },
                                  { "attention.head_count_kv", 0, 16, lfm2_heads },
                                  { "feed_forward_length", 4608 },
                                  { "shortconv.l_cache", 3 } } };

static const File falcon_h1 = { "falcon-h1",
                                { PUBLISHED (3, 64),
                                  { "attention.head_count", 4 },
                                  { "attention.head_count_kv", 2 },
                                  { "feed_forward_length", 96 },
                                  { "ssm.conv_kernel", 4 },
                                  { "ssm.inner_size", 96 },
                                  { "ssm.state_size", 16 },
                                  { "ssm.time_step_rank", 6 },
                                  { "ssm.group_count", 1 } } };

static const gint32 granite_heads[4] = { 0, 0, 2, 0 };

static const File granite = { "granitehybrid",
                              { PUBLISHED (4, 64),
                                { "attention.head_count", 4 },
                                { "attention.head_count_kv", 0, 4, granite_heads },
                                { "feed_forward_length", 96 },
                                { "ssm.conv_kernel", 4 },
                                { "ssm.inner_size", 128 },
                                { "ssm.state_size", 16 },
                                { "ssm.time_step_rank", 8 },
                                { "ssm.group_count", 1 } } };

static const gint32 jamba_heads[4] = { 0, 2, 0, 0 };

static const File jamba = { "jamba",
                            { PUBLISHED (4, 64),
                              { "attention.head_count", 4 },
                              { "attention.head_count_kv", 0, 4, jamba_heads },
                              { "feed_forward_length", 48 },
                              { "ssm.conv_kernel", 4 },
                              { "ssm.inner_size", 128 },
                              { "ssm.state_size", 8 },
                              { "ssm.time_step_rank", 8 } } };

static const gint32 nemotron_heads[6] = { 0, 2, 0, 0, 2, 0 };
static const gint32 nemotron_widths[6] = { 0, 0, 96, 0, 0, 96 };

static const File nemotron = { "nemotron_h",
                               { PUBLISHED (6, 64),
                                 { "attention.head_count", 4 },
                                 { "attention.head_count_kv", 0, 6, nemotron_heads },
                                 { "feed_forward_length", 0, 6, nemotron_widths },
                                 { "ssm.conv_kernel", 4 },
                                 { "ssm.inner_size", 128 },
                                 { "ssm.state_size", 16 },
                                 { "ssm.time_step_rank", 8 },
                                 { "ssm.group_count", 2 } } };

static const gint32 qwen35_sections[4] = { 3, 3, 2, 0 };

static const File qwen35 = { "qwen35",
                             { PUBLISHED (9, 64),
                               { "attention.head_count", 4 },
                               { "attention.head_count_kv", 2 },
                               { "feed_forward_length", 64 },
                               { "rope.dimension_count", 16 },
                               { "rope.dimension_sections", 0, 4, qwen35_sections },
                               { "ssm.conv_kernel", 4 },
                               { "ssm.inner_size", 64 },
                               { "ssm.state_size", 16 },
                               { "ssm.time_step_rank", 4 },
                               { "ssm.group_count", 2 } } };

/* ---- widths ----------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  const File *file;
  KvasirMemoryClass klass;
  guint64 state_bytes; /* of a sequence, over all layers */
  guint64 kv_bytes;    /* of a token, f16 */
  gboolean can_keep_states;
} Size;

/* Those with published widths are the worked sizes of the description, the others its formulas. */
static const Size sizes[] = {
  { "mamba-130m", &mamba_130m, KVASIR_MEMORY_RECURRENT, 2801664, 0, FALSE },
  { "mamba2-130m", &mamba2_130m, KVASIR_MEMORY_RECURRENT, 19390464, 0, FALSE },
  { "rwkv7-0.1b", &rwkv7_01b, KVASIR_MEMORY_RECURRENT, 2433024, 0, FALSE },
  { "lfm2-350m", &lfm2_350m, KVASIR_MEMORY_HYBRID, 81920, 12288, TRUE },
  { "falcon-h1", &falcon_h1, KVASIR_MEMORY_HYBRID, 3 * 4 * (3 * (96 + 2 * 16) + 16 * 96),
    3 * 2 * 2 * (2 * 16), FALSE },
  { "granitehybrid", &granite, KVASIR_MEMORY_HYBRID, 3 * 4 * (3 * (128 + 2 * 16) + 16 * 128),
    1 * 2 * 2 * (2 * 16), FALSE },
  { "jamba", &jamba, KVASIR_MEMORY_HYBRID, 3 * 4 * (3 * 128 + 8 * 128), 1 * 2 * 2 * (2 * 16),
    FALSE },
  { "nemotron_h", &nemotron, KVASIR_MEMORY_HYBRID, 2 * 4 * (3 * (128 + 2 * 2 * 16) + 16 * 128),
    2 * 2 * 2 * (2 * 16), TRUE },
  { "qwen35", &qwen35, KVASIR_MEMORY_HYBRID, 7 * 4 * (3 * (64 + 2 * 2 * 16) + 16 * 64),
    2 * 2 * 2 * (2 * 16), TRUE },
};

static void
test_size (gconstpointer data)
{
  const Size *size = data;
  g_autoptr (KvasirModel) model = read_right (size->file, NULL);
  guint64 state_bytes = 0, kv_bytes = 0;

  for (guint i = 0; i < model->hparams.n_layers; i++)
    {
      const KvasirLayerHparams *layer = &model->hparams.layers[i];
      state_bytes += 4 * (guint64) (layer->n_embd_r + layer->n_embd_s);
      kv_bytes += 2 * (guint64) (layer->n_embd_k + layer->n_embd_v);
      g_assert_cmpuint (layer->n_embd_k > 0, ==, layer->has_attention != FALSE);
    }
  g_assert_cmpint (model->hparams.memory_class, ==, size->klass);
  g_assert_cmpuint (state_bytes, ==, size->state_bytes);
  g_assert_cmpuint (kv_bytes, ==, size->kv_bytes);
  g_assert_cmpint (model->hparams.can_keep_states, ==, size->can_keep_states);
}

/* ---- kinds of layers -------------------------------------------------------------------- */

/* 'a': attends, 'r': keeps a state, 'b': both, '-': neither. */
static void
assert_kinds (const File *file, const Key *change, const char *kinds)
{
  g_autoptr (KvasirModel) model = read_right (file, change);

  g_assert_cmpuint (model->hparams.n_layers, ==, strlen (kinds));
  for (guint i = 0; i < model->hparams.n_layers; i++)
    {
      const KvasirLayerHparams *layer = &model->hparams.layers[i];
      const char kind = layer->has_attention ? (layer->n_embd_r > 0 ? 'b' : 'a')
                                             : (layer->n_embd_r > 0 ? 'r' : '-');
      g_assert_cmpint (kind, ==, kinds[i]);
    }
}

static void
test_kinds (void)
{
  static const gint32 listed[9] = { 0, 1, 1, 0, 1, 1, 1, 1, 1 };

  assert_kinds (&falcon_h1, NULL, "bbb");
  assert_kinds (&granite, NULL, "rrar");
  assert_kinds (&jamba, NULL, "rarr");
  assert_kinds (&nemotron, NULL, "ra-ra-");
  assert_kinds (&lfm2_350m, NULL, "rrarrarrarararar");
  assert_kinds (&qwen35, NULL, "rrrarrrar");
  assert_kinds (&qwen35, &(Key){ "full_attention_interval", 3 }, "rrarrarra");
  assert_kinds (&qwen35, &(Key){ "attention.recurrent_layers", 0, 9, listed }, "arrarrrrr");
  /* Blocks that draft are not part of the model. */
  assert_kinds (&qwen35, &(Key){ "nextn_predict_layers", 1 }, "rrrarrra");
}

static void
test_window (void)
{
  g_autoptr (KvasirModel) model = read_right (&lfm2_350m, &(Key){ "attention.sliding_window", 32 });
  g_autoptr (KvasirModel) full = read_right (&lfm2_350m, &(Key){ "attention.sliding_window", 0 });

  g_assert_cmpint (model->hparams.memory_class, ==, KVASIR_MEMORY_HYBRID_ISWA);
  g_assert_cmpint (model->hparams.window, ==, KVASIR_WINDOW_STANDARD);
  g_assert_cmpuint (model->hparams.n_swa, ==, 32);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpint (model->hparams.layers[i].is_swa, ==, lfm2_heads[i] > 0);
  g_assert_cmpint (full->hparams.memory_class, ==, KVASIR_MEMORY_HYBRID);
}

static void
test_turns (void)
{
  g_autoptr (KvasirModel) with_planes = read_right (&qwen35, NULL);
  g_autoptr (KvasirModel) not_turned = read_right (&jamba, NULL);
  g_autoptr (KvasirModel) turned = read_right (&granite, NULL);
  g_autoptr (KvasirModel) told_not_to =
      read_right (&granite, &(Key){ "rope.scaling.finetuned", 0, 1, NULL });
  const KvasirRopeParams *rope = &with_planes->hparams.layers[3].rope;

  g_assert_cmpuint (with_planes->hparams.n_pos_per_token, ==, 4);
  g_assert_cmpint (rope->interleaved, ==, 1);
  g_assert_cmpint (rope->sections[2], ==, 2);
  g_assert_cmpint (rope->n_rot, ==, 16);
  g_assert_cmpint (not_turned->hparams.layers[1].rope.n_rot, ==, 0);
  g_assert_cmpint (turned->hparams.layers[2].rope.n_rot, ==, 16);
  g_assert_cmpint (told_not_to->hparams.layers[2].rope.n_rot, ==, 0);
}

/* ---- refusals --------------------------------------------------------------------------- */

typedef struct
{
  const char *name;
  const File *file;
  Key change;
  int code;
  const char *messages[2];
} Refusal;

static const Refusal refusals[] = {
  { "heads-that-do-not-divide",
    &mamba2_130m,
    { "ssm.time_step_rank", 23 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mamba2.ssm.time_step_rank", "a divisor of 1536 expected, 23 found" } },
  { "groups-that-do-not-divide",
    &mamba2_130m,
    { "ssm.group_count", 5 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mamba2.ssm.group_count", "a divisor of 24 expected, 5 found" } },
  { "one-tap",
    &mamba_130m,
    { "ssm.conv_kernel", 1 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mamba.ssm.conv_kernel", "2 or more expected, 1 found" } },
  { "huge-state",
    &mamba_130m,
    { "ssm.state_size", 1u << 23 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "mamba.ssm.state_size", "12884901888 found" } },
  { "other-shifts",
    &rwkv7_01b,
    { "token_shift_count", 1 },
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "rwkv7.token_shift_count", "2 expected, 1 found" } },
  { "heads-beside-the-width",
    &rwkv7_01b,
    { "wkv.head_size", 100 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "rwkv7.wkv.head_size", "a divisor of 768 expected, 100 found" } },
  { "looking-ahead",
    &lfm2_350m,
    { "attention.causal", 0, 1, NULL },
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "lfm2.attention.causal", "true expected, false found" } },
  { "no-query-heads",
    &lfm2_350m,
    { "attention.head_count", 0 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "lfm2.attention.head_count", "layer 2" } },
  { "key-heads",
    &qwen35,
    { "ssm.group_count", 3 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen35.ssm.group_count", "a divisor of 4 value heads expected, 3 found" } },
  { "nothing-but-drafts",
    &qwen35,
    { "nextn_predict_layers", 9 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "qwen35.nextn_predict_layers", "0 to 8 expected, 9 found" } },
};

static void
test_refusal (gconstpointer data)
{
  const Refusal *refusal = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = read_model (refusal->file, &refusal->change, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, refusal->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (refusal->messages); i++)
    g_assert_nonnull (strstr (error->message, refusal->messages[i]));
}

/* ---- tensors ---------------------------------------------------------------------------- */

#define ENDS                                                                                       \
  "u32 vocab_size 6\n"                                                                             \
  "f32 attention.layer_norm_rms_epsilon 1e-5\n"                                                    \
  "u32 context_length 64\n"                                                                        \
  "u32 embedding_length 8\n"                                                                       \
  "tensor token_embd.weight 8 6\n"                                                                 \
  "tensor output_norm.weight 8\n"

#define NET(il)                                                                                    \
  "tensor blk." il ".attn_norm.weight 8\n"                                                         \
  "tensor blk." il ".ffn_norm.weight 8\n"                                                          \
  "tensor blk." il ".ffn_gate.weight 8 16\n"                                                       \
  "tensor blk." il ".ffn_up.weight 8 16\n"                                                         \
  "tensor blk." il ".ffn_down.weight 16 8\n"

#define ATTENTION(il)                                                                              \
  "tensor blk." il ".attn_q.weight 8 8\n"                                                          \
  "tensor blk." il ".attn_k.weight 8 4\n"                                                          \
  "tensor blk." il ".attn_v.weight 8 4\n"                                                          \
  "tensor blk." il ".attn_output.weight 8 8\n"

/* Two taps, inner width 16, states of 4, rank 3. */
static const char jamba_sketch[] =
    "arch jamba\n" ENDS "u32 block_count 2\n"
    "u32 attention.head_count 2\n"
    "i32s attention.head_count_kv 0 1\n"
    "u32 feed_forward_length 16\n"
    "u32 ssm.conv_kernel 2\n"
    "u32 ssm.inner_size 16\n"
    "u32 ssm.state_size 4\n"
    "u32 ssm.time_step_rank 3\n" NET ("0") "tensor blk.0.ssm_in.weight 8 32\n"
                                           "tensor blk.0.ssm_conv1d.weight 2 16\n"
                                           "tensor blk.0.ssm_conv1d.bias 16\n"
                                           "tensor blk.0.ssm_x.weight 16 11\n"
                                           "tensor blk.0.ssm_dt.weight 3 16\n"
                                           "tensor blk.0.ssm_dt.bias 16\n"
                                           "tensor blk.0.ssm_a 4 16\n"
                                           "tensor blk.0.ssm_d 16\n"
                                           "tensor blk.0.ssm_out.weight 16 8\n"
                                           "tensor blk.0.ssm_dt_norm.weight 3\n"
                                           "tensor blk.0.ssm_b_norm.weight 4\n"
                                           "tensor blk.0.ssm_c_norm.weight 4\n" NET ("1")
                                               ATTENTION ("1");

static const char lfm2_sketch[] =
    "arch lfm2\n" ENDS "drop output_norm.weight\n"
    "tensor token_embd_norm.weight 8\n"
    "u32 block_count 2\n"
    "u32 attention.head_count 2\n"
    "i32s attention.head_count_kv 0 1\n"
    "u32 feed_forward_length 16\n"
    "u32 shortconv.l_cache 3\n" NET ("0") "tensor blk.0.shortconv.in_proj.weight 8 24\n"
                                          "tensor blk.0.shortconv.conv.weight 3 8\n"
                                          "tensor blk.0.shortconv.out_proj.weight 8 8\n" NET ("1")
                                              ATTENTION ("1") "tensor blk.1.attn_q_norm.weight 4\n"
                                                              "tensor blk.1.attn_k_norm.weight 4\n";

typedef struct
{
  const char *name;
  const char *sketch;
  const char *changes;
  int code;
  const char *messages[2]; /* NULL: it loads */
} Tensors;

static const Tensors tensors[] = {
  { "jamba", jamba_sketch, NULL, 0, { NULL } },
  { "lfm2", lfm2_sketch, NULL, 0, { NULL } },
  /* Some files write extents of 1 between the others. */
  { "extents-of-one", lfm2_sketch, "tensor blk.0.shortconv.conv.weight 3 1 8", 0, { NULL } },
  { "jamba-without-a-norm",
    jamba_sketch,
    "drop blk.0.ssm_b_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ssm_b_norm.weight", "a tensor [4] expected, none found" } },
  { "lfm2-without-a-norm",
    lfm2_sketch,
    "drop blk.1.attn_q_norm.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.attn_q_norm.weight", "a tensor [4] expected, none found" } },
  { "no-gate",
    jamba_sketch,
    "drop blk.1.ffn_gate.weight",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.1.ffn_up.weight", "shape [8, 32] expected, [8, 16] found" } },
  { "no-width",
    lfm2_sketch,
    "i32s feed_forward_length 16 0",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "lfm2.feed_forward_length", "layer 1: 1 or more expected, 0 found" } },
  { "taps-that-are-not-plain",
    jamba_sketch,
    "tensor blk.0.ssm_conv1d.weight 2 16 f16",
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "blk.0.ssm_conv1d.weight", "type f32 expected, f16 found" } },
  { "other-taps",
    lfm2_sketch,
    "tensor blk.0.shortconv.conv.weight 4 8",
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.shortconv.conv.weight", "shape [3, 8] expected, [4, 8] found" } },
};

static void
test_tensors (gconstpointer data)
{
  const Tensors *test = data;
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load_sketch (device, test->sketch, test->changes, &error);

  if (test->messages[0] == NULL)
    g_assert_no_error (error);
  else
    {
      g_assert_null (model);
      g_assert_error (error, KVASIR_ENGINE_ERROR, test->code);
      g_test_message ("%s", error->message);
      for (guint i = 0; i < G_N_ELEMENTS (test->messages); i++)
        g_assert_nonnull (strstr (error->message, test->messages[i]));
    }
  g_clear_pointer (&model, kvasir_model_unref);
  device->vtable->free (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/engine/model/recurrent/keeps/%s", sizes[i].name);
      g_test_add_data_func (path, &sizes[i], test_size);
    }
  g_test_add_func ("/engine/model/recurrent/kinds-of-layers", test_kinds);
  g_test_add_func ("/engine/model/recurrent/window", test_window);
  g_test_add_func ("/engine/model/recurrent/turns", test_turns);
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/model/recurrent/refuses/%s", refusals[i].name);
      g_test_add_data_func (path, &refusals[i], test_refusal);
    }
  for (guint i = 0; i < G_N_ELEMENTS (tensors); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/model/recurrent/tensors/%s", tensors[i].name);
      g_test_add_data_func (path, &tensors[i], test_tensors);
    }
  return g_test_run ();
}
