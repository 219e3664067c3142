#include "engine/gguf/gguf-private.h"

#include "engine/error.h"

#include <string.h>

/* PREFIX-00001-of-00003.gguf and so on. Each part is a whole GGUF file with tensors of its own;
 * keys count in the first one only, but for split.no (from 0) and split.count. */

/* As many as a writer of five digits would hardly reach; each part takes a mapping of its own. */
#define MAX_PARTS 512
/* "-00001-of-00003.gguf" */
#define NAME_END_BYTES 20

static gboolean G_GNUC_PRINTF (3, 4)
    fail (const KvasirGguf *self, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_FILE, "%s: %s", self->path,
               message);
  return FALSE;
}

/* @n: 1 where the model is whole. */
static gboolean
get_split (const KvasirGguf *self, guint *no, guint *n, GError **error)
{
  gint64 found_no = 0, found_n = 1;
  guint named_no, named_n;

  kvasir_gguf_get_i64 (self, "split.no", &found_no);
  /* A later part may leave the number of parts to its name; whole files have 0 or 1 there. */
  if (!kvasir_gguf_get_i64 (self, "split.count", &found_n) && found_no > 0 &&
      kvasir_gguf_parse_part_name (self->path, &named_no, &named_n) > 0)
    found_n = named_n;
  found_n = found_n == 0 ? 1 : found_n;
  if (found_n < 1 || found_n > MAX_PARTS)
    return fail (self, error, "split.count: expected 1 to %d, found %" G_GINT64_FORMAT, MAX_PARTS,
                 found_n);
  if (found_no < 0 || found_no >= found_n)
    return fail (self, error,
                 "split.no: expected 0 to %" G_GINT64_FORMAT ", found %" G_GINT64_FORMAT,
                 found_n - 1, found_no);
  *no = (guint) found_no;
  *n = (guint) found_n;
  return TRUE;
}

gsize
kvasir_gguf_parse_part_name (const char *path, guint *no, guint *n)
{
  gsize len = strlen (path);
  const char *end = len < NAME_END_BYTES ? "" : path + len - NAME_END_BYTES;

  if (end[0] != '-' || strspn (end + 1, "0123456789") != 5 || strncmp (end + 6, "-of-", 4) != 0 ||
      strspn (end + 10, "0123456789") != 5 || strcmp (end + 15, ".gguf") != 0)
    return 0;
  *no = (guint) g_ascii_strtoull (end + 1, NULL, 10) - 1;
  *n = (guint) g_ascii_strtoull (end + 10, NULL, 10);
  return NAME_END_BYTES;
}

/* The path of part @i, by the name of part @no. Returns: (transfer full) (nullable) */
static char *
find_part (const KvasirGguf *self, guint no, guint n, guint i, GError **error)
{
  guint named_no = 0, named_n = 0;
  gsize end = kvasir_gguf_parse_part_name (self->path, &named_no, &named_n);

  if (end > 0 && named_no == no && named_n == n)
    return g_strdup_printf ("%.*s-%05u-of-%05u.gguf", (int) (strlen (self->path) - end), self->path,
                            i + 1, n);
  fail (self, error,
        "part %u of %u: expected a name that ends in -%05u-of-%05u.gguf, by which the other parts "
        "are found, found another",
        no + 1, n, no + 1, n);
  return NULL;
}

gboolean
kvasir_gguf_find_first_part (const KvasirGguf *self, char **first, GError **error)
{
  guint no = 0, n = 1;

  *first = NULL;
  if (!get_split (self, &no, &n, error))
    return FALSE;
  if (no > 0)
    *first = find_part (self, no, n, 0, error);
  return no == 0 || *first;
}

static gboolean
check_part (const KvasirGguf *part, guint n, guint i, GError **error)
{
  guint found_no = 0, found_n = 1;

  if (!kvasir_gguf_has_key (part, "split.no"))
    return fail (part, error, "split.no: expected %u, found none", i);
  if (!get_split (part, &found_no, &found_n, error))
    return FALSE;
  if (found_no != i)
    return fail (part, error, "split.no: expected %u, found %u", i, found_no);
  return found_n == n || fail (part, error, "split.count: expected %u, found %u", n, found_n);
}

static KvasirGguf *
open_part (const KvasirGguf *self, guint n, guint i, GError **error)
{
  g_autoptr (KvasirGguf) part = g_new0 (KvasirGguf, 1);

  part->path = find_part (self, 0, n, i, error);
  if (!part->path)
    return NULL;
  if (!kvasir_gguf_parse (part, error))
    {
      g_prefix_error (error, "part %u of %u: ", i + 1, n);
      return NULL;
    }
  return check_part (part, n, i, error) ? g_steal_pointer (&part) : NULL;
}

/* Adds the tensors of the part that was opened last. */
static gboolean
add_tensors (KvasirGguf *self, const KvasirGguf *part, GError **error)
{
  guint n = self->n_tensors + part->n_tensors;
  KvasirGgufTensor *tensors = g_try_renew (KvasirGgufTensor, self->tensors, MAX (n, 1));

  if (tensors)
    self->tensors = tensors;
  if (!tensors || !kvasir_name_index_grow (&self->tensor_index, n))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "%s: no memory for %u tensors", self->path, n);
      return FALSE;
    }
  for (guint i = 0; i < part->n_tensors; i++)
    {
      self->tensors[self->n_tensors] = part->tensors[i];
      self->tensors[self->n_tensors].part = self->parts->len;
      if (kvasir_name_index_insert (&self->tensor_index, self->n_tensors++) >= 0)
        return fail (part, error, "tensor %s: expected each name once, found it in a part before",
                     part->tensors[i].name);
    }
  return TRUE;
}

static gboolean
check_n_tensors (const KvasirGguf *self, GError **error)
{
  gint64 n;

  if (!kvasir_gguf_get_i64 (self, "split.tensors.count", &n) || n == (gint64) self->n_tensors)
    return TRUE;
  return fail (self, error,
               "split.tensors.count: expected the %u tensors of all parts, found "
               "%" G_GINT64_FORMAT,
               self->n_tensors, n);
}

gboolean
kvasir_gguf_open_parts (KvasirGguf *self, GError **error)
{
  guint no = 0, n = 1;

  if (!get_split (self, &no, &n, error))
    return FALSE;
  if (n == 1)
    return TRUE;
  if (no != 0)
    return fail (self, error, "split.no: expected 0 in the first part, found %u", no);
  self->parts = g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_gguf_free);
  for (guint i = 1; i < n; i++)
    {
      KvasirGguf *part = open_part (self, n, i, error);

      if (!part)
        return FALSE;
      g_ptr_array_add (self->parts, part);
      if (!add_tensors (self, part, error))
        return FALSE;
    }
  return check_n_tensors (self, error);
}
