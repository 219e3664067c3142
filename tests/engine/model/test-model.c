/* Loading: what a right file gives, and what each broken one says. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/model/model-private.h"
#include "tests/engine/model/model-writer.h"

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
load (Fixture *self, const ModelLie *lie, GError **error)
{
  const KvasirModelParams params = { .device = self->device };
  char *path = write_model (lie);
  KvasirModel *model = kvasir_model_new (path, &params, error);

  delete_model (path);
  return model;
}

static void
test_describes (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load (self, NULL, &error);
  const KvasirModelInfo *info;

  g_assert_no_error (error);
  info = kvasir_model_get_info (model);
  g_assert_cmpstr (info->arch, ==, "llama");
  g_assert_cmpstr (info->type_name, ==, "f32");
  g_assert_cmpuint (info->n_vocab, ==, 6);
  /* One layer, one head of four for keys and one for values, two bytes each. */
  g_assert_cmpuint (info->kv_bytes_per_token_f16, ==, 1 * (4 + 4) * 2);
  g_assert_cmpuint (info->n_params, ==, 48 + 8 + 8 + 64 + 32 + 32 + 64 + 8 + 3 * 128);
  g_assert_true (kvasir_model_is_intact (model));
}

static void
test_shipped_sizes (Fixture *self, gconstpointer data)
{
  const KvasirModelParams params = { .device = self->device, .no_alloc = TRUE };
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama.gguf", NULL);
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);
  const KvasirModelInfo *info;

  g_assert_no_error (error);
  info = kvasir_model_get_info (model);
  g_assert_cmpuint (info->n_layers, ==, 3);
  g_assert_cmpuint (info->n_heads, ==, 4);
  g_assert_cmpuint (info->n_kv_heads, ==, 2);
  g_assert_cmpuint (info->kv_bytes_per_token_f16, ==, 3 * 2 * (16 + 16) * 2);
  g_assert_cmpstr (info->title, ==, "Tiny Llama");
}

static void
test_weights_stay_mapped (Fixture *self, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load (self, NULL, &error);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));

  g_assert_no_error (error);
  kvasir_model_append_breakdown (model, rows);
  g_assert_cmpuint (rows->len, ==, 1);
  g_assert_cmpstr (g_array_index (rows, KvasirMemoryRow, 0).buffer_type, ==, "CPU_Mapped");
}

static KvasirBuffer *
refuse_host (KvasirDevice *device, void *base, size_t n_bytes)
{
  return NULL;
}

/* Measured first, then read: what is there at the end is what a model has that was read at once. */
static void
check_later (Fixture *self, KvasirDevice *device, const char *buffer_type)
{
  const KvasirModelParams params = { .device = device, .weights_later = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  g_autoptr (KvasirModel) same = load (self, NULL, &error);
  char *path = write_model (NULL);
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);
  const KvasirMemoryRow *before, *after;

  delete_model (path);
  g_assert_no_error (error);
  kvasir_model_append_breakdown (model, rows);
  g_assert_true (kvasir_model_load_weights (model, NULL, NULL, &error));
  kvasir_model_append_breakdown (model, rows);
  before = &g_array_index (rows, KvasirMemoryRow, 0);
  after = &g_array_index (rows, KvasirMemoryRow, 1);
  g_assert_cmpstr (before->buffer_type, ==, buffer_type);
  g_assert_cmpuint (before->n_bytes, >, 0);
  g_assert_cmpuint (before->n_bytes, ==, after->n_bytes);
  g_assert_cmpmem (model->token_embd->data, model->token_embd->nb[3], same->token_embd->data,
                   same->token_embd->nb[3]);
}

static void
test_weights_later (Fixture *self, gconstpointer data)
{
  KvasirDeviceVtable vtable = *self->device->vtable;
  KvasirDevice copying = *self->device;

  check_later (self, self->device, "CPU_Mapped");
  vtable.buffer_from_host = refuse_host;
  copying.vtable = &vtable;
  check_later (self, &copying, "CPU");
}

typedef struct
{
  guint n_calls;
  double last;
} Progress;

static gboolean
note_progress (double fraction, gpointer user_data)
{
  Progress *progress = user_data;
  g_assert_cmpfloat (fraction, >=, progress->last);
  progress->last = fraction;
  progress->n_calls++;
  return TRUE;
}

static gboolean
cancel (double fraction, gpointer user_data)
{
  return FALSE;
}

static void
test_progress_ends_at_one (Fixture *self, gconstpointer data)
{
  Progress progress = { 0, 0 };
  const KvasirModelParams params = { .device = self->device,
                                     .progress = note_progress,
                                     .user_data = &progress };
  g_autoptr (GError) error = NULL;
  char *path = write_model (NULL);
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);

  delete_model (path);
  g_assert_no_error (error);
  g_assert_cmpuint (progress.n_calls, >, 0);
  g_assert_cmpfloat (progress.last, ==, 1);
}

static void
test_cancelled (Fixture *self, gconstpointer data)
{
  const KvasirModelParams params = { .device = self->device, .progress = cancel };
  g_autoptr (GError) error = NULL;
  char *path = write_model (NULL);
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);

  delete_model (path);
  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED);
}

static void
test_vocab_only (Fixture *self, gconstpointer data)
{
  const KvasirModelParams params = { .vocab_only = TRUE };
  g_autoptr (GError) error = NULL;
  char *path = write_model (&(ModelLie){ .arch = "unheard-of", .drop = "token_embd.weight" });
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);

  delete_model (path);
  g_assert_no_error (error);
  g_assert_cmpstr (kvasir_model_get_info (model)->arch, ==, "unheard-of");
}

typedef struct
{
  const char *name;
  ModelLie lie;
  int code;
  const char *messages[3];
} Broken;

static const Broken broken_files[] = {
  { "unknown-architecture",
    { .arch = "unheard-of" },
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "\"unheard-of\"", "llama" } },
  { "missing-tensor",
    { .drop = "blk.0.attn_k.weight" },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.attn_k.weight", "[8, 4] expected", "none found" } },
  { "missing-norm",
    { .drop = "output_norm.weight" },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "output_norm.weight", "[8] expected" } },
  { "wrong-shape",
    { .tensor = "blk.0.ffn_down.weight", .ne = { 8, 16 }, .type = KVASIR_TYPE_F32 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "blk.0.ffn_down.weight", "[16, 8] expected", "[8, 16] found" } },
  { "few-embeddings",
    { .tensor = "token_embd.weight", .ne = { 8, 5 }, .type = KVASIR_TYPE_F32 },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "token_embd.weight", "[8, 6] expected", "[8, 5] found" } },
  { "norm-of-wrong-type",
    { .tensor = "output_norm.weight", .ne = { 8, 0 }, .type = KVASIR_TYPE_F16 },
    KVASIR_ENGINE_ERROR_UNSUPPORTED,
    { "output_norm.weight", "f32 expected", "f16 found" } },
  { "experts-without-number",
    { .add_tensor = "blk.0.ffn_gate_inp.weight" },
    KVASIR_ENGINE_ERROR_BAD_FILE,
    { "llama.expert_count", "expected and missing" } },
  { "truncated", { .cut = 64 }, KVASIR_ENGINE_ERROR_BAD_FILE, { ".gguf" } },
};

static void
test_broken (Fixture *self, gconstpointer data)
{
  const Broken *broken = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load (self, &broken->lie, &error);

  g_assert_null (model);
  g_assert_error (error, KVASIR_ENGINE_ERROR, broken->code);
  g_test_message ("%s", error->message);
  for (guint i = 0; i < G_N_ELEMENTS (broken->messages) && broken->messages[i] != NULL; i++)
    g_assert_nonnull (strstr (error->message, broken->messages[i]));
}

static void
test_titles (void)
{
  static const char *const titles[][2] = {
    { "/models/SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2 135M Instruct" },
    { "gemma-3-270m-it-q4_k_m.gguf", "Gemma 3 270M it" },
    { "Qwen2.5-0.5B-Instruct-IQ2_XS.gguf", "Qwen2.5 0.5B Instruct" },
    { "mistral_7b.gguf", "Mistral 7B" },
    { "model.bf16.gguf", "Model" },
    { "quiet.gguf", "Quiet" },
    { "caf\xc3\xa9.gguf", "Caf\xc3\xa9" },
    { "b\xff.gguf", "B\xef\xbf\xbd" },
    { ".gguf", "?" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    {
      g_autofree char *title = kvasir_model_make_title (titles[i][0]);
      g_assert_cmpstr (title, ==, titles[i][1]);
    }
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
  add ("describes-itself", NULL, test_describes);
  add ("shipped-sizes", NULL, test_shipped_sizes);
  add ("weights-stay-mapped", NULL, test_weights_stay_mapped);
  add ("weights-later", NULL, test_weights_later);
  add ("progress-ends-at-one", NULL, test_progress_ends_at_one);
  add ("cancelled-load", NULL, test_cancelled);
  add ("vocabulary-alone", NULL, test_vocab_only);
  for (guint i = 0; i < G_N_ELEMENTS (broken_files); i++)
    {
      g_autofree char *name = g_strdup_printf ("refuses-%s", broken_files[i].name);
      add (name, &broken_files[i], test_broken);
    }
  g_test_add_func ("/engine/model/titles", test_titles);
  return g_test_run ();
}
