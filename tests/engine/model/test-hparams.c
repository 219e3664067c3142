/* Hyper-parameters: the defaults of the format's description, and values worked out by its
 * formulas. */
#include <math.h>

#include "engine/error.h"
#include "engine/model/hparams.h"
#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/model/model-writer.h"

static gboolean
read_hparams (const ModelLie *lie, KvasirHparams *hp, GError **error)
{
  g_autoptr (GByteArray) bytes = make_model (lie);
  g_autoptr (GError) file_error = NULL;
  g_autoptr (KvasirGguf) gguf = open_bytes (bytes->data, bytes->len, &file_error);

  g_assert_no_error (file_error);
  return kvasir_hparams_read (hp, gguf, "llama", 0, 1, error);
}

static KvasirHparams
read_right (const ModelLie *lie)
{
  g_autoptr (GError) error = NULL;
  KvasirHparams hp;

  g_assert_true (read_hparams (lie, &hp, &error));
  g_assert_no_error (error);
  return hp;
}

static void
test_defaults (void)
{
  KvasirHparams hp = read_right (NULL);

  g_assert_cmpuint (hp.n_vocab, ==, 6);
  g_assert_cmpuint (hp.head_dim_k, ==, 8 / 2);
  g_assert_cmpuint (hp.head_dim_v, ==, 8 / 2);
  g_assert_cmpuint (hp.layers[0].n_kv_heads, ==, 1);
  g_assert_cmpint (hp.rope.n_rot, ==, 4);
  g_assert_cmpfloat (hp.rope.freq_base, ==, 10000);
  g_assert_cmpfloat (hp.rope.freq_scale, ==, 1);
  g_assert_cmpfloat (hp.rope.ext_factor, ==, 0);
  g_assert_cmpint (hp.rope.n_ctx_orig, ==, 64);
  g_assert_cmpfloat_with_epsilon (hp.attention_scale, 1 / sqrt (4), 1e-7);
}

static void
test_kv_heads_default (void)
{
  KvasirHparams hp = read_right (&(ModelLie){ .drop = "attention.head_count_kv" });
  g_assert_cmpuint (hp.layers[0].n_kv_heads, ==, 2);
}

static void
test_linear (void)
{
  KvasirHparams hp =
      read_right (&(ModelLie){ .float_key = "llama.rope.scaling.factor", .float_value = 4 });
  g_assert_cmpfloat (hp.rope.freq_scale, ==, 0.25);
  g_assert_cmpfloat (hp.rope.ext_factor, ==, 0);
}

static void
test_yarn (void)
{
  KvasirHparams hp = read_right (&(ModelLie){ .text_key = "llama.rope.scaling.type",
                                              .text = "yarn",
                                              .float_key = "llama.rope.scaling.factor",
                                              .float_value = 8 });
  g_assert_cmpfloat (hp.rope.freq_scale, ==, 0.125);
  g_assert_cmpfloat (hp.rope.ext_factor, ==, 1);
  g_assert_cmpfloat (hp.rope.beta_fast, ==, 32);
  g_assert_cmpfloat (hp.rope.beta_slow, ==, 1);
  g_assert_cmpfloat (hp.rope.attn_factor, ==, 1);
}

static void
test_attention_scale (void)
{
  KvasirHparams hp =
      read_right (&(ModelLie){ .float_key = "llama.attention.scale", .float_value = 0.5f });
  g_assert_cmpfloat (hp.attention_scale, ==, 0.5);
}

typedef struct
{
  const char *name;
  ModelLie lie;
  int code;
  const char *message;
} Wrong;

static const Wrong wrong_files[] = {
  { "no-layers", { .drop = "block_count" }, KVASIR_ENGINE_ERROR_BAD_FILE, "llama.block_count" },
  { "zero-layers",
    { .key = "block_count", .value = 0 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "1 to 512 expected, 0 found" },
  { "too-many-layers",
    { .key = "block_count", .value = 513 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "1 to 512 expected, 513 found" },
  { "wide",
    { .key = "embedding_length", .value = 1u << 31 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "llama.embedding_length" },
  { "kv-heads",
    { .key = "attention.head_count_kv", .value = 3 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "a divisor of 2 heads expected, 3 found" },
  { "many-heads",
    { .key = "attention.head_count", .value = 16 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "llama.attention.key_length" },
  { "freq-base",
    { .float_key = "llama.rope.freq_base", .float_value = 0 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "above 0 expected, 0 found" },
  { "infinite",
    { .float_key = "llama.rope.freq_base", .float_value = INFINITY },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "a finite number expected" },
  { "scaling",
    { .text_key = "llama.rope.scaling.type", .text = "other" },
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    "\"other\" found" },
  { "text",
    { .text_key = "llama.attention.key_length", .text = "8" },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    "llama.attention.key_length: a whole number expected" },
};

static void
test_wrong (gconstpointer data)
{
  const Wrong *wrong = data;
  g_autoptr (GError) error = NULL;
  KvasirHparams hp;

  g_assert_false (read_hparams (&wrong->lie, &hp, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, wrong->code);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, wrong->message));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/model/hparams/defaults", test_defaults);
  g_test_add_func ("/engine/model/hparams/kv-heads-default-to-heads", test_kv_heads_default);
  g_test_add_func ("/engine/model/hparams/linear-scaling", test_linear);
  g_test_add_func ("/engine/model/hparams/yarn", test_yarn);
  g_test_add_func ("/engine/model/hparams/attention-scale", test_attention_scale);
  for (guint i = 0; i < G_N_ELEMENTS (wrong_files); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/model/hparams/refuses-%s", wrong_files[i].name);
      g_test_add_data_func (path, &wrong_files[i], test_wrong);
    }
  return g_test_run ();
}
