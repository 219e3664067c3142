#include "tests/engine/model/arch-sketch.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "engine/gguf/gguf.h"
#include "tests/engine/model/model-sketch.h"
#include "tests/engine/model/model-writer.h"

static guint
find_n_layers (const char *text)
{
  const char *line = strstr (text, "u32 block_count ");

  g_assert_nonnull (line);
  return (guint) g_ascii_strtoull (line + strlen ("u32 block_count "), NULL, 10);
}

static void
add_line (GString *out, const char *line, guint n_layers)
{
  g_auto (GStrv) parts = g_strsplit (line, "blk.N.", 2);

  if (parts[0] == NULL || parts[1] == NULL)
    g_string_append_printf (out, "%s\n", line);
  else
    for (guint il = 0; il < n_layers; il++)
      g_string_append_printf (out, "%sblk.%u.%s\n", parts[0], il, parts[1]);
}

char *
read_arch_sketch (const char *name, guint n_layers)
{
  g_autofree char *file = g_strconcat (name, ".sketch", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "archs", file, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  GString *out = g_string_new (NULL);

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (n_layers > 0 && g_str_has_prefix (lines[i], "u32 block_count "))
      g_string_append_printf (out, "u32 block_count %u\n", n_layers);
    else
      add_line (out, lines[i], n_layers > 0 ? n_layers : find_n_layers (text));
  return g_string_free (out, FALSE);
}

static gint
compare_names (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

GPtrArray *
find_sketches (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *folder = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "archs", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  g_assert_nonnull (dir);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".sketch"))
      g_ptr_array_add (names, g_strndup (name, strlen (name) - strlen (".sketch")));
  g_ptr_array_sort (names, compare_names);
  return names;
}

/* FNV-1a */
static guint64
hash_name (const char *name)
{
  guint64 hash = 0xcbf29ce484222325;

  for (; *name != '\0'; name++)
    hash = (hash ^ (guint8) *name) * 0x100000001b3;
  return hash;
}

/* splitmix64: a number from -1 to 1 */
static double
draw (guint64 seed, gsize i)
{
  guint64 z = seed + (i + 1) * 0x9e3779b97f4a7c15;

  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return (double) (z >> 40) / (1 << 23) - 1;
}

/* What keeps scores and logits of all tensors in the range of real models. */
static void
find_range (const KvasirGgufTensor *t, double *centre, double *scale)
{
  *centre = 0;
  *scale = 2 / sqrt ((double) t->ne[0]);
  if (g_str_has_suffix (t->name, "ssm_a"))
    {
      *centre = -0.45;
      *scale = -0.4;
    }
  else if (g_str_has_prefix (t->name, "rope_f"))
    {
      *centre = 1.5;
      *scale = 0.5;
    }
  else if (strstr (t->name, "norm") != NULL && g_str_has_suffix (t->name, ".weight"))
    {
      *centre = 1;
      *scale = 0.5;
    }
  else if (g_str_has_suffix (t->name, ".scale"))
    {
      *centre = 1;
      *scale = 0.5;
    }
  else if (g_str_has_suffix (t->name, ".bias"))
    *scale = 0.3;
  else if (strstr (t->name, "_embd.") != NULL || strstr (t->name, "token_types") != NULL)
    *scale = 1;
}

static void
fill_plain (const KvasirGgufTensor *t, float *values)
{
  const gsize n = t->n_bytes / sizeof (float);
  const guint64 seed = hash_name (t->name);
  double centre, scale;

  g_assert_cmpint (t->type, ==, KVASIR_TYPE_F32);
  find_range (t, &centre, &scale);
  for (gsize i = 0; i < n; i++)
    values[i] = (float) (centre + scale * draw (seed, i));
}

/* Blocks of 64 values: four scales from 1/128 to 15/256, then any half bytes. */
static void
fill_nvfp4 (const KvasirGgufTensor *t, guint8 *bytes)
{
  const guint64 seed = hash_name (t->name);

  for (gsize i = 0; i < t->n_bytes; i++)
    {
      bytes[i] = (guint8) ((draw (seed, i) + 1) * 128);
      if (i % 36 < 4)
        bytes[i] = 16 + bytes[i] % 16;
    }
}

static void
fill_tensor (int fd, const KvasirGgufTensor *t)
{
  g_autofree guint8 *bytes = g_malloc (t->n_bytes);

  if (t->type == KVASIR_TYPE_NVFP4)
    fill_nvfp4 (t, bytes);
  else
    fill_plain (t, (float *) (void *) bytes);
  g_assert_cmpint (pwrite (fd, bytes, t->n_bytes, (off_t) t->offset), ==, (gssize) t->n_bytes);
}

static void
fill_with_noise (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);
  int fd = open (path, O_WRONLY | O_CLOEXEC);

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  for (guint i = 0; i < kvasir_gguf_get_n_tensors (gguf); i++)
    fill_tensor (fd, kvasir_gguf_get_tensor (gguf, i));
  close (fd);
}

KvasirModel *
load_arch (KvasirDevice *device, const char *sketch)
{
  const KvasirModelParams params = { .device = device };
  g_autoptr (GError) error = NULL;
  char *path = write_sketch (sketch, NULL);
  KvasirModel *model;

  fill_with_noise (path);
  model = kvasir_model_new (path, &params, &error);
  g_assert_no_error (error);
  delete_model (path);
  return model;
}
