#include "tests/engine/model/model-sketch.h"

#include <string.h>

#include "tests/engine/gguf/gguf-writer.h"
#include "tests/engine/model/model-writer.h"

#define MAX_WORDS 8

typedef struct
{
  char *words[MAX_WORDS + 1]; /* kind, name, values */
  guint n_words;
} Line;

static Line *
parse_line (const char *text)
{
  Line *line = g_new0 (Line, 1);
  g_auto (GStrv) words = g_strsplit (text, " ", MAX_WORDS);

  for (guint i = 0; words[i] != NULL; i++)
    line->words[line->n_words++] = g_strdup (words[i]);
  g_assert_cmpuint (line->n_words, >=, 2);
  return line;
}

static void
free_line (gpointer data)
{
  Line *line = data;

  for (guint i = 0; i < line->n_words; i++)
    g_free (line->words[i]);
  g_free (line);
}

static guint
find_line (const GPtrArray *lines, const char *name)
{
  guint i = 0;

  while (i < lines->len && strcmp (((Line *) lines->pdata[i])->words[1], name) != 0)
    i++;
  return i;
}

static void
add_lines (GPtrArray *lines, const char *text)
{
  g_auto (GStrv) texts = g_strsplit (text, "\n", -1);

  for (guint i = 0; texts[i] != NULL; i++)
    {
      guint at;
      Line *line;

      if (texts[i][0] == '\0')
        continue;
      line = parse_line (texts[i]);
      at = find_line (lines, line->words[1]);
      if (at < lines->len)
        g_ptr_array_remove_index (lines, at);
      if (strcmp (line->words[0], "drop") == 0)
        free_line (line);
      else
        g_ptr_array_insert (lines, (gint) MIN (at, lines->len), line);
    }
}

static void
put_line_of_key (GByteArray *out, const Line *line, const char *key)
{
  const char *kind = line->words[0], *value = line->words[2];
  gint32 values[MAX_WORDS];
  float numbers[MAX_WORDS];

  for (guint i = 2; i < line->n_words; i++)
    {
      values[i - 2] = (gint32) g_ascii_strtoll (line->words[i], NULL, 10);
      numbers[i - 2] = (float) g_ascii_strtod (line->words[i], NULL);
    }
  if (strcmp (kind, "u32") == 0)
    put_key_u32 (out, key, (guint32) g_ascii_strtoull (value, NULL, 10));
  else if (strcmp (kind, "f32") == 0)
    put_key_f32 (out, key, (float) g_ascii_strtod (value, NULL));
  else if (strcmp (kind, "bool") == 0)
    put_key_bool (out, key, strcmp (value, "true") == 0);
  else if (strcmp (kind, "text") == 0)
    put_key_text (out, key, value);
  else if (strcmp (kind, "i32s") == 0)
    put_key_i32s (out, key, values, line->n_words - 2);
  else
    {
      g_assert_cmpstr (kind, ==, "f32s");
      put_key_f32s (out, key, numbers, line->n_words - 2);
    }
}

static int
find_type (const char *name)
{
  for (int i = 0; i < KVASIR_N_TYPES; i++)
    if (g_strcmp0 (kvasir_type_get_name (i), name) == 0)
      return i;
  g_assert_not_reached ();
}

/* Returns: bytes of its values */
static guint64
put_line_of_tensor (GByteArray *out, const Line *line, guint64 offset)
{
  int type = KVASIR_TYPE_F32;
  guint n_dims = line->n_words - 2;
  guint64 ne[3] = { 1, 1, 1 };

  if (g_ascii_isalpha (line->words[line->n_words - 1][0]))
    type = find_type (line->words[--n_dims + 2]);
  g_assert_cmpuint (n_dims, >=, 1);
  g_assert_cmpuint (n_dims, <=, 3);
  put_text (out, line->words[1]);
  put_u32 (out, n_dims);
  for (guint i = 0; i < n_dims; i++)
    {
      ne[i] = g_ascii_strtoull (line->words[i + 2], NULL, 10);
      put_u64 (out, ne[i]);
    }
  put_u32 (out, (guint32) type);
  put_u64 (out, offset);
  return kvasir_type_get_row_bytes (type, (gint64) ne[0]) * ne[1] * ne[2];
}

static char *
make_key (const char *arch, const char *name)
{
  if (g_str_has_prefix (name, "tokenizer.") || g_str_has_prefix (name, "xielu."))
    return g_strdup (name);
  return g_strdup_printf ("%s.%s", arch, name);
}

static GByteArray *
make_sketch (const GPtrArray *lines)
{
  g_autoptr (GByteArray) keys = g_byte_array_new (), tensors = g_byte_array_new ();
  GByteArray *bytes = g_byte_array_new ();
  const Line *first = lines->pdata[0];
  guint64 n_data = 0;
  guint n_tensors = 0;

  g_assert_cmpstr (first->words[0], ==, "arch");
  put_key_text (keys, "general.architecture", first->words[1]);
  put_key_text (keys, "tokenizer.ggml.model", "none");
  for (guint i = 1; i < lines->len; i++)
    {
      const Line *line = lines->pdata[i];
      g_autofree char *key = make_key (first->words[1], line->words[1]);

      if (strcmp (line->words[0], "tensor") == 0)
        {
          n_data = (n_data + put_line_of_tensor (tensors, line, n_data) + 31) / 32 * 32;
          n_tensors++;
        }
      else
        put_line_of_key (keys, line, key);
    }
  put_header (bytes, 3, n_tensors, lines->len - 1 - n_tensors + 2);
  g_byte_array_append (bytes, keys->data, keys->len);
  g_byte_array_append (bytes, tensors->data, tensors->len);
  put_data (bytes, 32, n_data);
  return bytes;
}

char *
write_sketch (const char *sketch, const char *changes)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (free_line);
  g_autoptr (GByteArray) bytes = NULL;

  add_lines (lines, sketch);
  if (changes != NULL)
    add_lines (lines, changes);
  bytes = make_sketch (lines);
  return write_model_bytes (bytes);
}

KvasirModel *
load_sketch (KvasirDevice *device, const char *sketch, const char *changes, GError **error)
{
  const KvasirModelParams params = { .device = device };
  char *path = write_sketch (sketch, changes);
  KvasirModel *model = kvasir_model_new (path, &params, error);

  delete_model (path);
  return model;
}
