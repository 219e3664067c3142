/* Small models of every architecture against what llama.cpp computes with the same weights: a text
 * read at once and in parts, an earlier row of it, two texts in turn, and a token after a middle
 * part was taken away and the rest moved down. The files are made by
 * tests/tools/make-arch-goldens.py. */
#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/session/context.h"
#include "tests/engine/model/arch-sketch.h"

#define N_TOKENS 24
#define EARLY 9
#define REMOVED_FROM 4
#define REMOVED_TO 10

/* What another order of summation may change. */
#define TOLERANCE 1e-4

/* llama.cpp reads GELU from a table of half floats. */
#define TABLE_TOLERANCE 0.005
static const char *const with_table[] = {
  "codeshell", "falcon",    "falcon-40b",     "gemma",       "gemma-embedding",
  "gpt2",      "gptneox",   "gptneox-serial", "modern-bert", "mpt",
  "phi2",      "starcoder", "starcoder2",     NULL
};

typedef struct
{
  KvasirDevice *device;
  KvasirModel *model;
  GHashTable *expected; /* (owned): name of a row -> its numbers as words */
  double tolerance;
} Fixture;

static char *
make_path (const char *name, const char *suffix)
{
  g_autofree char *file = g_strconcat (name, suffix, NULL);
  return g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "archs", file, NULL);
}

static void
read_expected (Fixture *self, const char *name)
{
  g_autofree char *path = make_path (name, ".expected");
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) lines = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  self->expected = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      char **words = g_strsplit (lines[i], " ", 2);

      g_hash_table_insert (self->expected, words[0], words[1]);
      g_free (words);
    }
}

static void
set_up (Fixture *self, gconstpointer name)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  g_autofree char *sketch = read_arch_sketch (name, 0);

  self->device = kvasir_cpu_device_new (&options);
  self->model = load_arch (self->device, sketch);
  read_expected (self, name);
  self->tolerance = g_strv_contains (with_table, name) ? TABLE_TOLERANCE : TOLERANCE;
}

static void
tear_down (Fixture *self, gconstpointer name)
{
  g_hash_table_unref (self->expected);
  kvasir_model_unref (self->model);
  self->device->vtable->free (self->device);
}

/* The traces turn what has no rope in a shift, too. */
static KvasirContext *
make_context (Fixture *self, guint n_ubatch)
{
  KvasirContextParams params;
  g_autoptr (GError) error = NULL;
  KvasirContext *context;

  kvasir_context_params_init (&params);
  params.n_ctx = 256;
  params.n_seq_max = 2;
  params.n_batch = 64;
  params.n_ubatch = n_ubatch;
  params.n_threads = 1;
  params.type_k = params.type_v = KVASIR_TYPE_F32;
  params.swa_full = params.shift_as_traces = TRUE;
  context = kvasir_context_new (self->model, &params, &error);
  g_assert_no_error (error);
  return context;
}

static gint32
get_token (const Fixture *self, guint i)
{
  return (gint32) ((7 * i + 3) % kvasir_model_get_info (self->model)->n_vocab);
}

static void
assert_row (Fixture *self, const char *name, const float *row, guint n)
{
  g_auto (GStrv) words = g_strsplit (g_hash_table_lookup (self->expected, name), " ", -1);
  double worst = 0;

  g_assert_nonnull (row);
  g_assert_cmpuint (g_strv_length (words), ==, n);
  for (guint i = 0; i < n; i++)
    worst = MAX (worst, fabs (g_ascii_strtod (words[i], NULL) - (double) row[i]));
  g_test_message ("%s: differs by up to %g", name, worst);
  g_assert_cmpfloat (worst, <=, self->tolerance);
}

static void
assert_logits (Fixture *self, KvasirContext *context, const char *name, guint token)
{
  assert_row (self, name, kvasir_context_get_logits_of_token (context, token),
              kvasir_model_get_info (self->model)->n_vocab);
}

static void
decode (KvasirContext *context, const KvasirBatch *batch)
{
  g_autoptr (GError) error = NULL;
  KvasirDecode code = kvasir_context_decode (context, batch, &error);

  g_assert_no_error (error);
  g_assert_cmpint (code, ==, KVASIR_DECODE_OK);
}

static void
decode_text (Fixture *self, KvasirContext *context)
{
  gint32 tokens[N_TOKENS];
  guint8 outputs[N_TOKENS] = { 0 };
  const KvasirBatch batch = { .n_tokens = N_TOKENS, .tokens = tokens, .outputs = outputs };

  for (guint i = 0; i < N_TOKENS; i++)
    tokens[i] = get_token (self, i);
  outputs[EARLY] = outputs[N_TOKENS - 1] = 1;
  decode (context, &batch);
}

static void
check_shift (Fixture *self, KvasirContext *context)
{
  const gint32 token = get_token (self, N_TOKENS);
  const KvasirBatch batch = { .n_tokens = 1, .tokens = &token };
  KvasirMemory *memory = kvasir_context_get_memory (context);

  g_assert_true (kvasir_memory_seq_rm (memory, 0, REMOVED_FROM, REMOVED_TO));
  g_assert_true (kvasir_memory_seq_add (memory, 0, REMOVED_TO, -1, REMOVED_FROM - REMOVED_TO));
  decode (context, &batch);
  assert_logits (self, context, "shifted", 0);
}

/* Two texts that are read in turn. */
static void
check_two (Fixture *self)
{
  g_autoptr (KvasirContext) context = make_context (self, 8);
  static const gint32 ids[2] = { 0, 1 };
  gint32 tokens[2 * N_TOKENS], pos[2 * N_TOKENS];
  const gint32 *seqs[2 * N_TOKENS];
  guint n_seqs[2 * N_TOKENS];
  guint8 outputs[2 * N_TOKENS] = { 0 };
  const KvasirBatch batch = { .n_tokens = 2 * N_TOKENS,
                              .tokens = tokens,
                              .pos = pos,
                              .seqs = seqs,
                              .n_seqs = n_seqs,
                              .outputs = outputs };

  for (guint i = 0; i < 2 * N_TOKENS; i++)
    {
      tokens[i] = get_token (self, i / 2 + i % 2 * N_TOKENS);
      pos[i] = (gint32) i / 2;
      seqs[i] = &ids[i % 2];
      n_seqs[i] = 1;
    }
  outputs[2 * N_TOKENS - 2] = outputs[2 * N_TOKENS - 1] = 1;
  decode (context, &batch);
  assert_logits (self, context, "first", 2 * N_TOKENS - 2);
  assert_logits (self, context, "second", 2 * N_TOKENS - 1);
}

static void
check_decoder (Fixture *self)
{
  g_autoptr (KvasirContext) at_once = make_context (self, 64), in_parts = make_context (self, 8);

  decode_text (self, at_once);
  assert_logits (self, at_once, "early", EARLY);
  assert_logits (self, at_once, "plain", N_TOKENS - 1);
  decode_text (self, in_parts);
  assert_logits (self, in_parts, "parts", N_TOKENS - 1);
  check_two (self);
  if (g_hash_table_contains (self->expected, "shifted"))
    check_shift (self, in_parts);
}

/* Two texts in one batch. */
static void
check_encoder (Fixture *self)
{
  g_autoptr (KvasirContext) context = make_context (self, 64);
  static const gint32 ids[2] = { 0, 1 };
  gint32 tokens[N_TOKENS + EARLY], pos[N_TOKENS + EARLY];
  const gint32 *seqs[N_TOKENS + EARLY];
  guint n_seqs[N_TOKENS + EARLY];
  const guint n_embd = kvasir_context_get_n_embd (context);
  const KvasirBatch batch = {
    .n_tokens = N_TOKENS + EARLY, .tokens = tokens, .pos = pos, .seqs = seqs, .n_seqs = n_seqs
  };

  for (guint i = 0; i < N_TOKENS + EARLY; i++)
    {
      tokens[i] = get_token (self, i);
      pos[i] = (gint32) (i < N_TOKENS ? i : i - N_TOKENS);
      seqs[i] = &ids[i < N_TOKENS ? 0 : 1];
      n_seqs[i] = 1;
    }
  decode (context, &batch);
  assert_row (self, "text0", kvasir_context_get_embedding_of_seq (context, 0), n_embd);
  assert_row (self, "text1", kvasir_context_get_embedding_of_seq (context, 1), n_embd);
}

static void
test_arch (Fixture *self, gconstpointer name)
{
  if (g_hash_table_contains (self->expected, "text0"))
    check_encoder (self);
  else
    check_decoder (self);
}

/* ---- a shift against a fresh read ------------------------------------------------------- */

/* @n tokens of the text from @first on, the last of which gives logits. */
static void
decode_some (Fixture *self, KvasirContext *context, guint first, guint n)
{
  gint32 tokens[N_TOKENS];
  const KvasirBatch batch = { .n_tokens = n, .tokens = tokens };

  for (guint i = 0; i < n; i++)
    tokens[i] = get_token (self, first + i);
  decode (context, &batch);
}

/* The rows of the only layer depend on their own token alone, so a text without its beginning gives
 * the same as what is left of the whole. */
static void
test_fresh_read (gconstpointer name)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  g_autofree char *sketch = read_arch_sketch (name, 1);
  Fixture self = { .device = kvasir_cpu_device_new (&options) };
  const float *shifted, *fresh;

  self.model = load_arch (self.device, sketch);
  {
    g_autoptr (KvasirContext) whole = make_context (&self, 64), rest = make_context (&self, 64);
    KvasirMemory *memory = kvasir_context_get_memory (whole);

    decode_some (&self, whole, 0, N_TOKENS);
    g_assert_true (kvasir_memory_seq_rm (memory, 0, 0, REMOVED_TO));
    g_assert_true (kvasir_memory_seq_add (memory, 0, REMOVED_TO, -1, -REMOVED_TO));
    decode_some (&self, whole, N_TOKENS, 1);
    decode_some (&self, rest, REMOVED_TO, N_TOKENS - REMOVED_TO);
    decode_some (&self, rest, N_TOKENS, 1);
    shifted = kvasir_context_get_logits_of_token (whole, 0);
    fresh = kvasir_context_get_logits_of_token (rest, 0);
    for (guint i = 0; i < kvasir_model_get_info (self.model)->n_vocab; i++)
      g_assert_cmpfloat_with_epsilon (shifted[i], fresh[i], 1e-4);
  }
  kvasir_model_unref (self.model);
  self.device->vtable->free (self.device);
}

static void
add_test (gpointer name, gpointer user_data)
{
  g_autofree char *path = g_strdup_printf ("/engine/model/archs/%s", (char *) name);
  g_test_add (path, Fixture, name, set_up, test_arch, tear_down);
}

int
main (int argc, char **argv)
{
  static const char *const shifted[] = { "gptneox", "hunyuan-dense", "olmo2", "stablelm2" };
  g_autoptr (GPtrArray) names = find_sketches ();

  g_test_init (&argc, &argv, NULL);
  g_ptr_array_foreach (names, add_test, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (shifted); i++)
    {
      g_autofree char *path = g_strdup_printf ("/engine/model/archs/fresh-read/%s", shifted[i]);
      g_test_add_data_func (path, shifted[i], test_fresh_read);
    }
  return g_test_run ();
}
