/* Files of every architecture with one lie each: a key or tensor that is missing, of another type,
 * too small or too large, or a file without its end. Each is refused with a message that says what
 * was expected and what was found, before memory is taken for it; or, where the lie does no harm,
 * it runs. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "engine/session/context.h"
#include "tests/engine/model/arch-sketch.h"
#include "tests/engine/model/model-sketch.h"
#include "tests/engine/model/model-writer.h"

/* Far above what these models need, far below what the lies ask for. */
#define MAX_BYTES (4ull << 30)

#define MAX_LIES 12

typedef struct
{
  KvasirDevice *device;
  const char *sketch;
  const char *lie;
} Case;

static KvasirContext *
make_context (KvasirModel *model, GError **error)
{
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  params.n_ctx = 64;
  params.n_seq_max = 2;
  params.n_batch = params.n_ubatch = 8;
  params.n_threads = 1;
  return kvasir_context_new (model, &params, error);
}

/* Values do not count: a context that can't be made says why, and all else computes. */
static void
check_runs (const Case *self, KvasirModel *model)
{
  static const gint32 tokens[3] = { 1, 2, 3 };
  const KvasirBatch batch = { .n_tokens = G_N_ELEMENTS (tokens), .tokens = tokens };
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirContext) context = make_context (model, &error);

  if (context == NULL)
    {
      g_assert_nonnull (error);
      g_test_message ("%s: no context: %s", self->lie, error->message);
      return;
    }
  g_assert_cmpint (kvasir_context_decode (context, &batch, &error), ==, KVASIR_DECODE_OK);
  g_assert_no_error (error);
}

static void
check_lie (const Case *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = load_sketch (self->device, self->sketch, self->lie, &error);

  if (model != NULL)
    {
      check_runs (self, model);
      return;
    }
  g_assert_nonnull (error);
  if (strstr (error->message, "expected") == NULL && strstr (error->message, "supported") == NULL)
    g_error ("%s: %s", self->lie, error->message);
  if (strstr (error->message, "found") == NULL && strstr (error->message, "missing") == NULL)
    g_error ("%s: %s", self->lie, error->message);
}

static guint
make_key_lies (const char *name, char *lies[MAX_LIES])
{
  static const char *const forms[] = {
    "drop %s",    "u32 %s 0",  "u32 %s 4294967295", "u32 %s 3",  "text %s x",
    "f32 %s nan", "f32 %s -1", "bool %s true",      "i32s %s 1", "i32s %s -1 -1 -1 -1 -1"
  };

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_auto (GStrv) halves = g_strsplit (forms[i], "%s", 2);
      lies[i] = g_strconcat (halves[0], name, halves[1], NULL);
    }
  return G_N_ELEMENTS (forms);
}

/* @words: tensor, name, extents */
static guint
make_tensor_lies (char **words, char *lies[MAX_LIES])
{
  const char *name = words[1];
  const char *ne0 = words[2], *ne1 = words[3] != NULL ? words[3] : "";
  const char *ne2 = words[3] != NULL && words[4] != NULL ? words[4] : "";
  guint64 first = g_ascii_strtoull (ne0, NULL, 10);
  guint n = 0;

  lies[n++] = g_strdup_printf ("drop %s", name);
  lies[n++] = g_strdup_printf ("tensor %s %" G_GUINT64_FORMAT " %s %s", name, first + 1, ne1, ne2);
  lies[n++] = g_strdup_printf ("tensor %s %s 5 %s", name, ne0, ne2);
  lies[n++] = g_strdup_printf ("tensor %s 1", name);
  lies[n++] = g_strdup_printf ("tensor %s %s %s %s f16", name, ne0, ne1, ne2);
  for (guint i = 0; i < n; i++)
    {
      g_auto (GStrv) parts = g_strsplit (lies[i], " ", -1);
      GString *out = g_string_new (NULL);

      for (guint j = 0; parts[j] != NULL; j++)
        if (parts[j][0] != '\0')
          g_string_append_printf (out, "%s%s", out->len > 0 ? " " : "", parts[j]);
      g_free (lies[i]);
      lies[i] = g_string_free (out, FALSE);
    }
  return n;
}

static void
check_line (Case *self, const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);
  char *lies[MAX_LIES];
  guint n;

  if (g_strv_length (words) < 3)
    return;
  n = strcmp (words[0], "tensor") == 0 ? make_tensor_lies (words, lies)
                                       : make_key_lies (words[1], lies);
  for (guint i = 0; i < n; i++)
    {
      self->lie = lies[i];
      check_lie (self);
      g_free (lies[i]);
    }
}

/* Tensors of the first two layers speak for the others. */
static gboolean
is_told (const char *line)
{
  return strstr (line, " blk.") == NULL || strstr (line, " blk.0.") != NULL ||
         strstr (line, " blk.1.") != NULL;
}

/* The file without its end. */
static void
check_cut (const Case *self, guint n_eighths)
{
  const KvasirModelParams params = { .device = self->device };
  char *path = write_sketch (self->sketch, NULL);
  g_autoptr (GError) error = NULL;
  GStatBuf info;

  g_assert_cmpint (g_stat (path, &info), ==, 0);
  g_assert_cmpint (truncate (path, info.st_size * n_eighths / 8), ==, 0);
  g_assert_null (kvasir_model_new (path, &params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE);
  g_assert_nonnull (strstr (error->message, path));
  delete_model (path);
}

static void
test_lies (gconstpointer name)
{
  const KvasirCpuOptions options = { KVASIR_CPU_ISA_SCALAR, 1 };
  g_autofree char *sketch = read_arch_sketch (name, 0);
  g_auto (GStrv) lines = g_strsplit (sketch, "\n", -1);
  Case self = { .device = kvasir_cpu_device_new (&options), .sketch = sketch };

  for (guint i = 1; lines[i] != NULL; i++)
    if (is_told (lines[i]))
      check_line (&self, lines[i]);
  for (guint i = 0; i < 8; i++)
    check_cut (&self, i);
  self.device->vtable->free (self.device);
}

static void
limit_memory (void)
{
#ifndef __SANITIZE_ADDRESS__
  const struct rlimit limit = { MAX_BYTES, MAX_BYTES };

  g_assert_cmpint (setrlimit (RLIMIT_AS, &limit), ==, 0);
#endif
}

int
main (int argc, char **argv)
{
  g_autoptr (GPtrArray) names = find_sketches ();

  g_test_init (&argc, &argv, NULL);
  limit_memory ();
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/model/hostile/%s", (char *) names->pdata[i]);
      g_test_add_data_func (path, names->pdata[i], test_lies);
    }
  return g_test_run ();
}
