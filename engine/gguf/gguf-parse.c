#include "engine/gguf/gguf-private.h"

#include "backends/backend.h"
#include "engine/error.h"
#include "engine/gguf/reader.h"

#include <string.h>

/* Limits of the format, and for the two counts of this reader: real files have a few hundred keys
 * and up to some thousand tensors. */
enum
{
  MAX_ENTRIES = 65536,
  MAX_TENSORS = 65536,
  MAX_KEY_BYTES = 65535,
  MAX_STRING_BYTES = 1 << 30,
  MAX_ELEMENTS = 1 << 30,
  MAX_NAME_BYTES = 63,
  MIN_ALIGNMENT = 8,
  MAX_ALIGNMENT = 65536,
  DEFAULT_ALIGNMENT = 32,
  /* The least that one of them takes in the file: lengths and types with empty texts. */
  MIN_ENTRY_BYTES = 8 + 4 + 1,
  MIN_TENSOR_BYTES = 8 + 4 + 4 + 8,
  STRING_LENGTH_BYTES = 8,
};

gsize
kvasir_gguf_get_type_bytes (KvasirGgufType type)
{
  static const guint8 type_bytes[] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

  return type_bytes[type];
}

static const char *
get_entry_name (gconstpointer owner, guint32 i, gsize *len)
{
  const KvasirGguf *self = owner;

  *len = self->entries[i].key_len;
  return (const char *) self->bytes + self->entries[i].key;
}

static const char *
get_tensor_name (gconstpointer owner, guint32 i, gsize *len)
{
  const KvasirGguf *self = owner;

  *len = strlen (self->tensors[i].name);
  return self->tensors[i].name;
}

static gboolean
set_no_memory (const KvasirGguf *self, const char *what, guint64 n, GError **error)
{
  g_set_error (error,
               KVASIR_ENGINE_ERROR,
               KVASIR_ENGINE_ERROR_NO_MEMORY,
               "%s: no memory for %" G_GUINT64_FORMAT " %s",
               self->path,
               n,
               what);
  return FALSE;
}

static gboolean
check_count (const KvasirGgufReader *reader,
             const char *what,
             guint64 n,
             guint64 max,
             gsize min_bytes,
             GError **error)
{
  gsize n_left = reader->file_bytes - reader->pos;

  if (n > max)
    return kvasir_gguf_reader_fail (reader,
                                    reader->pos - sizeof n,
                                    error,
                                    "number of %s: expected at most %" G_GUINT64_FORMAT
                                    ", found %" G_GUINT64_FORMAT,
                                    what,
                                    max,
                                    n);
  if (n > n_left / min_bytes)
    return kvasir_gguf_reader_fail (reader,
                                    reader->pos - sizeof n,
                                    error,
                                    "number of %s: expected at most %" G_GSIZE_FORMAT
                                    " in the %" G_GSIZE_FORMAT
                                    " bytes left in the file, found %" G_GUINT64_FORMAT,
                                    what,
                                    n_left / min_bytes,
                                    n_left,
                                    n);
  return TRUE;
}

static gboolean
parse_version (KvasirGguf *self, KvasirGgufReader *reader, GError **error)
{
  gsize offset = 0;
  guint32 version = 0;

  if (!kvasir_gguf_reader_skip (reader, 4, "magic", &offset, error))
    return FALSE;
  if (memcmp (reader->bytes, "GGUF", 4) != 0)
    {
      g_autofree char *found = kvasir_gguf_quote (reader->bytes, 4);

      return kvasir_gguf_reader_fail (reader, 0, error, "magic: expected \"GGUF\", found %s", found);
    }
  if (!kvasir_gguf_reader_u32 (reader, "version", &version, error))
    return FALSE;
  if ((version & 0xffff) == 0)
    return kvasir_gguf_reader_fail (reader,
                                    4,
                                    error,
                                    "version: expected 2 or 3 in little-endian order, found 0x%08x: "
                                    "big-endian files are not supported",
                                    version);
  if (version != 2 && version != 3)
    return kvasir_gguf_reader_fail (
        reader, 4, error, "version: expected 2 or 3, found %" G_GUINT32_FORMAT, version);
  self->version = version;
  return TRUE;
}

/* A length and that many bytes. */
static gboolean
parse_string (KvasirGgufReader *reader,
              const char *what,
              guint64 max,
              gsize *offset,
              guint64 *len,
              GError **error)
{
  if (!kvasir_gguf_reader_u64 (reader, what, len, error))
    return FALSE;
  if (*len > max)
    return kvasir_gguf_reader_fail (reader,
                                    reader->pos - sizeof *len,
                                    error,
                                    "%s: expected a length of at most %" G_GUINT64_FORMAT
                                    " bytes, found %" G_GUINT64_FORMAT,
                                    what,
                                    max,
                                    *len);
  return kvasir_gguf_reader_skip (reader, *len, what, offset, error);
}

static gboolean
parse_key (KvasirGgufReader *reader, KvasirGgufEntry *entry, const char *what, GError **error)
{
  guint64 len = 0;

  if (!parse_string (reader, what, MAX_KEY_BYTES, &entry->key, &len, error))
    return FALSE;
  entry->key_len = (guint32) len;
  if (len == 0)
    return kvasir_gguf_reader_fail (
        reader, entry->key, error, "%s: expected a name, found an empty one", what);
  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isgraph (reader->bytes[entry->key + i]))
      return kvasir_gguf_reader_fail (reader,
                                      entry->key + i,
                                      error,
                                      "%s: expected printable ASCII, found 0x%02x",
                                      what,
                                      reader->bytes[entry->key + i]);
  return TRUE;
}

static gboolean
parse_type (KvasirGgufReader *reader, const char *what, KvasirGgufType *type, GError **error)
{
  guint32 value = 0;

  if (!kvasir_gguf_reader_u32 (reader, what, &value, error))
    return FALSE;
  if (value > KVASIR_GGUF_F64)
    return kvasir_gguf_reader_fail (reader,
                                    reader->pos - sizeof value,
                                    error,
                                    "%s: expected a value type of 0 to %d, found %" G_GUINT32_FORMAT,
                                    what,
                                    KVASIR_GGUF_F64,
                                    value);
  *type = (KvasirGgufType) value;
  return TRUE;
}

static gboolean
parse_array_strings (KvasirGguf *self,
                     KvasirGgufReader *reader,
                     KvasirGgufEntry *entry,
                     const char *what,
                     GError **error)
{
  entry->strings = g_try_new (gsize, MAX (entry->n, 1));
  if (!entry->strings)
    return set_no_memory (self, "strings", entry->n, error);
  for (guint64 i = 0; i < entry->n; i++)
    {
      guint64 len = 0;

      if (!parse_string (reader, what, MAX_STRING_BYTES, &entry->strings[i], &len, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
parse_array (KvasirGguf *self,
             KvasirGgufReader *reader,
             KvasirGgufEntry *entry,
             const char *what,
             GError **error)
{
  gsize element_bytes;

  if (!parse_type (reader, what, &entry->element_type, error))
    return FALSE;
  if (entry->element_type == KVASIR_GGUF_ARRAY)
    return kvasir_gguf_reader_fail (reader,
                                    reader->pos - 4,
                                    error,
                                    "%s: expected an array of plain values, found one of arrays",
                                    what);
  element_bytes = kvasir_gguf_get_type_bytes (entry->element_type);
  if (!kvasir_gguf_reader_u64 (reader, what, &entry->n, error) ||
      !check_count (reader,
                    what,
                    entry->n,
                    MAX_ELEMENTS,
                    element_bytes > 0 ? element_bytes : STRING_LENGTH_BYTES,
                    error))
    return FALSE;
  entry->value = reader->pos;
  if (entry->element_type == KVASIR_GGUF_STRING)
    return parse_array_strings (self, reader, entry, what, error);
  return kvasir_gguf_reader_skip (reader, entry->n * element_bytes, what, NULL, error);
}

static gboolean
parse_value (KvasirGguf *self,
             KvasirGgufReader *reader,
             KvasirGgufEntry *entry,
             const char *what,
             GError **error)
{
  if (!parse_type (reader, what, &entry->type, error))
    return FALSE;
  if (entry->type == KVASIR_GGUF_ARRAY)
    return parse_array (self, reader, entry, what, error);
  if (entry->type == KVASIR_GGUF_STRING)
    return parse_string (reader, what, MAX_STRING_BYTES, &entry->value, &entry->n, error);
  return kvasir_gguf_reader_skip (
      reader, kvasir_gguf_get_type_bytes (entry->type), what, &entry->value, error);
}

static gboolean
parse_entry (KvasirGguf *self, KvasirGgufReader *reader, guint64 i, GError **error)
{
  KvasirGgufEntry *entry = &self->entries[i];
  char number[48];
  g_autofree char *name = NULL;
  gint64 first;

  g_snprintf (number, sizeof number, "key %" G_GUINT64_FORMAT, i);
  if (!parse_key (reader, entry, number, error))
    return FALSE;
  /* From here on the entry exists, so that its strings are freed with the rest. */
  self->n_entries++;
  self->bytes = reader->bytes;
  name = kvasir_gguf_quote (self->bytes + entry->key, entry->key_len);
  first = kvasir_name_index_insert (&self->entry_index, (guint32) i);
  if (first >= 0)
    return kvasir_gguf_reader_fail (reader,
                                    entry->key,
                                    error,
                                    "key %" G_GUINT64_FORMAT
                                    ": expected each key once, found %s again (first at byte "
                                    "%" G_GSIZE_FORMAT ")",
                                    i,
                                    name,
                                    self->entries[first].key);
  return parse_value (self, reader, entry, name, error);
}
