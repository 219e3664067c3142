/* A model in several files, written by another program, computes what the whole one does. */
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/session/context.h"

#define N_TOKENS 12

static KvasirModel *
load (KvasirDevice *device, const char *name)
{
  const KvasirModelParams params = { .device = device };
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", name, NULL);
  g_autoptr (GError) error = NULL;
  KvasirModel *model = kvasir_model_new (path, &params, &error);

  g_assert_no_error (error);
  return model;
}

/* Returns: (transfer full): the logits behind the last token */
static float *
compute (KvasirModel *model)
{
  KvasirContextParams params;
  gint32 tokens[N_TOKENS];
  guint8 outputs[N_TOKENS] = { [N_TOKENS - 1] = 1 };
  const KvasirBatch batch = { .n_tokens = N_TOKENS, .tokens = tokens, .outputs = outputs };
  g_autoptr (KvasirContext) context = NULL;
  g_autoptr (GError) error = NULL;

  for (gint32 i = 0; i < N_TOKENS; i++)
    tokens[i] = 5 * i + 7;
  kvasir_context_params_init (&params);
  params.n_ctx = 256;
  params.n_threads = 1;
  context = kvasir_context_new (model, &params, &error);
  g_assert_no_error (error);
  g_assert_cmpint (kvasir_context_decode (context, &batch, &error), ==, KVASIR_DECODE_OK);
  return g_memdup2 (kvasir_context_get_logits_of_token (context, N_TOKENS - 1),
                    kvasir_model_get_info (model)->n_vocab * sizeof (float));
}

static gboolean
add_progress (double share, gpointer user_data)
{
  double *last = user_data;

  g_assert_cmpfloat (share, >=, *last);
  *last = share;
  return TRUE;
}

/* @n_mapped: without the packed ones. Returns: the bytes of all weights */
static guint64
count_weights (KvasirModel *model, guint64 *n_mapped)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint64 n_bytes = 0;

  kvasir_model_append_breakdown (model, rows);
  for (guint i = 0; i < rows->len; i++)
    n_bytes += g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  *n_mapped = g_array_index (rows, KvasirMemoryRow, 0).n_bytes;
  return n_bytes;
}

static void
test_same_results (void)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  g_autoptr (KvasirModel) whole = load (device, "tiny-llama-tied.gguf");
  g_autoptr (KvasirModel) split = load (device, "split/tiny-llama-tied-00001-of-00004.gguf");
  const KvasirModelInfo *info = kvasir_model_get_info (split);
  const KvasirModelInfo *same = kvasir_model_get_info (whole);
  guint64 n_mapped;
  g_autofree float *expected = compute (whole);
  g_autofree float *found = compute (split);

  g_assert_cmpmem (found, info->n_vocab * sizeof (float), expected, same->n_vocab * sizeof (float));
  g_assert_cmpuint (info->n_params, ==, same->n_params);
  g_assert_cmpstr (info->title, ==, "Tiny Llama Tied");
  g_assert_cmpuint (info->file_bytes, >, same->file_bytes);
  g_assert_true (kvasir_model_is_intact (split));
  g_assert_cmpuint (count_weights (split, &n_mapped), ==, n_mapped);
  g_assert_cmpuint (kvasir_model_get_resident_bytes (split), <=, n_mapped);
  g_assert_cmpuint (kvasir_model_get_resident_bytes (split), >, n_mapped / 10 * 9);
  g_clear_pointer (&whole, kvasir_model_unref);
  g_clear_pointer (&split, kvasir_model_unref);
  device->vtable->free (device);
}

/* What was packed is not read from its file any more, whether or not the system still keeps that.
 */
static void
test_resident_without_packed (void)
{
  KvasirDevice *device = kvasir_cpu_device_new (NULL);
  g_autoptr (KvasirModel) model = load (device, "tiny-gpt-oss.gguf");
  guint64 n_mapped, n_all, n_before = G_MAXUINT64;

  if (device->packed_buffer_type == NULL)
    g_test_skip ("the device has no order of its own");
  /* Until a while passed without more. */
  while ((n_all = count_weights (model, &n_mapped)) > 0 && n_mapped < n_before)
    {
      n_before = n_mapped;
      g_usleep (100000);
    }
  g_assert_cmpuint (kvasir_model_get_resident_bytes (model), <=, n_mapped);
  g_assert_true (device->packed_buffer_type == NULL || n_mapped < n_all);
  g_clear_pointer (&model, kvasir_model_unref);
  device->vtable->free (device);
}

static void
test_progress (void)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  KvasirDevice *device = kvasir_cpu_device_new (&options);
  double last = 0;
  const KvasirModelParams params = { .device = device,
                                     .progress = add_progress,
                                     .user_data = &last };
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "split",
                                            "tiny-llama-tied-00003-of-00004.gguf", NULL);
  KvasirModel *model = kvasir_model_new (path, &params, NULL);

  g_assert_nonnull (model);
  g_assert_cmpfloat (last, ==, 1);
  kvasir_model_unref (model);
  device->vtable->free (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/model/split/what-was-packed-is-not-resident",
                   test_resident_without_packed);
  g_test_add_func ("/engine/model/split/same-results", test_same_results);
  g_test_add_func ("/engine/model/split/progress-over-all-parts", test_progress);
  return g_test_run ();
}
