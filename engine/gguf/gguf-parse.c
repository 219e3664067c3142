#include "engine/gguf/gguf-private.h"

#include "backends/backend.h"
#include "engine/error.h"
#include "engine/gguf/reader.h"
#include "engine/huge-pages.h"

#include <string.h>

/* Limits of the format; the number of keys is this reader's own: real files have below a hundred.
 */
enum
{
  MAX_ENTRIES = 65536,
  MAX_KEY_BYTES = 65535,
  MAX_STRING_BYTES = 1 << 30,
  MAX_ELEMENTS = 1 << 30,
  MIN_ALIGNMENT = 8,
  MAX_ALIGNMENT = 65536,
  DEFAULT_ALIGNMENT = 32,
  /* The least that a key takes in the file: its length, one letter, a type and a byte. */
  MIN_ENTRY_BYTES = 8 + 1 + 4 + 1,
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

      return kvasir_gguf_reader_fail (reader, 0, error, "magic: expected \"GGUF\", found %s",
                                      found);
    }
  if (!kvasir_gguf_reader_u32 (reader, "version", &version, error))
    return FALSE;
  if ((version & 0xffff) == 0)
    return kvasir_gguf_reader_fail (
        reader, 4, error,
        "version: expected 2 or 3 in little-endian order, found 0x%08x: "
        "big-endian files are not supported",
        version);
  if (version != 2 && version != 3)
    return kvasir_gguf_reader_fail (reader, 4, error,
                                    "version: expected 2 or 3, found %" G_GUINT32_FORMAT, version);
  self->version = version;
  return TRUE;
}

static gboolean
parse_key (KvasirGgufReader *reader, KvasirGgufEntry *entry, const char *what, GError **error)
{
  guint64 len = 0;

  if (!kvasir_gguf_reader_string (reader, what, MAX_KEY_BYTES, &entry->key, &len, error))
    return FALSE;
  entry->key_len = (guint32) len;
  if (len == 0)
    return kvasir_gguf_reader_fail (reader, entry->key, error,
                                    "%s: expected a name, found an empty one", what);
  for (gsize i = 0; i < len; i++)
    if (!g_ascii_isgraph (reader->bytes[entry->key + i]))
      return kvasir_gguf_reader_fail (reader, entry->key + i, error,
                                      "%s: expected printable ASCII, found 0x%02x", what,
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
    return kvasir_gguf_reader_fail (
        reader, reader->pos - sizeof value, error,
        "%s: expected a value type of 0 to %d, found %" G_GUINT32_FORMAT, what, KVASIR_GGUF_F64,
        value);
  *type = (KvasirGgufType) value;
  return TRUE;
}

static gboolean
parse_array_strings (KvasirGgufReader *reader,
                     KvasirGgufEntry *entry,
                     const char *what,
                     GError **error)
{
  entry->strings = kvasir_huge_pages_alloc (entry->n * sizeof *entry->strings);
  if (!entry->strings)
    return kvasir_gguf_reader_no_memory (reader, "strings", entry->n, error);
  for (guint64 i = 0; i < entry->n; i++)
    {
      guint64 len = 0;

      if (!kvasir_gguf_reader_string (reader, what, MAX_STRING_BYTES, &entry->strings[i], &len,
                                      error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
parse_array (KvasirGgufReader *reader, KvasirGgufEntry *entry, const char *what, GError **error)
{
  gsize element_bytes;

  if (!parse_type (reader, what, &entry->element_type, error))
    return FALSE;
  if (entry->element_type == KVASIR_GGUF_ARRAY)
    return kvasir_gguf_reader_fail (reader, reader->pos - 4, error,
                                    "%s: expected an array of plain values, found one of arrays",
                                    what);
  element_bytes = kvasir_gguf_get_type_bytes (entry->element_type);
  if (!kvasir_gguf_reader_u64 (reader, what, &entry->n, error) ||
      !kvasir_gguf_reader_check_count (reader, what, entry->n, MAX_ELEMENTS,
                                       element_bytes > 0 ? element_bytes : STRING_LENGTH_BYTES,
                                       error))
    return FALSE;
  entry->value = reader->pos;
  if (entry->element_type == KVASIR_GGUF_STRING)
    return parse_array_strings (reader, entry, what, error);
  return kvasir_gguf_reader_skip (reader, entry->n * element_bytes, what, NULL, error);
}

static gboolean
parse_value (KvasirGgufReader *reader, KvasirGgufEntry *entry, const char *what, GError **error)
{
  if (!parse_type (reader, what, &entry->type, error))
    return FALSE;
  if (entry->type == KVASIR_GGUF_ARRAY)
    return parse_array (reader, entry, what, error);
  if (entry->type == KVASIR_GGUF_STRING)
    return kvasir_gguf_reader_string (reader, what, MAX_STRING_BYTES, &entry->value, &entry->n,
                                      error);
  return kvasir_gguf_reader_skip (reader, kvasir_gguf_get_type_bytes (entry->type), what,
                                  &entry->value, error);
}

static gboolean
parse_entry (KvasirGguf *self, KvasirGgufReader *reader, guint32 i, GError **error)
{
  KvasirGgufEntry *entry = &self->entries[i];
  g_autofree char *number = g_strdup_printf ("key %" G_GUINT32_FORMAT, i);
  g_autofree char *quoted = NULL;
  g_autofree char *name = NULL;
  gint64 first;

  if (!parse_key (reader, entry, number, error))
    return FALSE;
  /* Reading on may move the buffer, and the index looks at names that are in it. */
  self->bytes = reader->bytes;
  first = kvasir_name_index_insert (&self->entry_index, i);
  quoted = kvasir_gguf_quote (reader->bytes + entry->key, entry->key_len);
  if (first >= 0)
    return kvasir_gguf_reader_fail (reader, entry->key, error,
                                    "%s: expected each key once, found %s again (first at byte "
                                    "%" G_GSIZE_FORMAT ")",
                                    number, quoted, self->entries[first].key);
  name = g_strconcat ("key ", quoted, NULL);
  return parse_value (reader, entry, name, error);
}

static gboolean
parse_entries (KvasirGguf *self, KvasirGgufReader *reader, guint64 n, GError **error)
{
  self->entries = g_try_new0 (KvasirGgufEntry, MAX (n, 1));
  if (!self->entries || !kvasir_name_index_init (&self->entry_index, n, get_entry_name, self))
    return kvasir_gguf_reader_no_memory (reader, "keys", n, error);
  self->n_entries = (guint) n;
  for (guint32 i = 0; i < n; i++)
    if (!parse_entry (self, reader, i, error))
      return FALSE;
  self->bytes = reader->bytes;
  return TRUE;
}

static gboolean
parse_alignment (KvasirGguf *self, const KvasirGgufReader *reader, GError **error)
{
  static const char key[] = "general.alignment";
  gint64 i = kvasir_name_index_find (&self->entry_index, key, strlen (key));
  const KvasirGgufEntry *entry = i < 0 ? NULL : &self->entries[i];
  guint32 value = 0;

  self->alignment = DEFAULT_ALIGNMENT;
  if (!entry)
    return TRUE;
  if (entry->type != KVASIR_GGUF_U32)
    return kvasir_gguf_reader_fail (reader, entry->key, error,
                                    "%s: expected value type %d (u32), found %d", key,
                                    KVASIR_GGUF_U32, entry->type);
  memcpy (&value, reader->bytes + entry->value, sizeof value);
  value = GUINT32_FROM_LE (value);
  if (value < MIN_ALIGNMENT || value > MAX_ALIGNMENT || (value & (value - 1)) != 0)
    return kvasir_gguf_reader_fail (reader, entry->value, error,
                                    "%s: expected a power of two from %d to %d, found "
                                    "%" G_GUINT32_FORMAT,
                                    key, MIN_ALIGNMENT, MAX_ALIGNMENT, value);
  self->alignment = value;
  return TRUE;
}

/* The byte behind a text began the next field, which has been parsed. */
static void
terminate_strings (KvasirGguf *self)
{
  for (guint i = 0; i < self->n_entries; i++)
    {
      const KvasirGgufEntry *entry = &self->entries[i];

      self->bytes[entry->key + entry->key_len] = 0;
      if (entry->type == KVASIR_GGUF_STRING)
        self->bytes[entry->value + entry->n] = 0;
    }
}

static gboolean
parse_all (KvasirGguf *self, KvasirGgufReader *reader, GError **error)
{
  guint64 n_tensors = 0, n_entries = 0;

  return parse_version (self, reader, error) &&
         kvasir_gguf_reader_u64 (reader, "number of tensors", &n_tensors, error) &&
         kvasir_gguf_reader_u64 (reader, "number of keys", &n_entries, error) &&
         kvasir_gguf_reader_check_count (reader, "number of keys", n_entries, MAX_ENTRIES,
                                         MIN_ENTRY_BYTES, error) &&
         parse_entries (self, reader, n_entries, error) && parse_alignment (self, reader, error) &&
         kvasir_gguf_parse_tensors (self, reader, n_tensors, error);
}

gboolean
kvasir_gguf_parse (KvasirGguf *self, GError **error)
{
  g_auto (KvasirGgufReader) reader = { .fd = -1 };
  gboolean ok;

  if (!kvasir_gguf_reader_init (&reader, self->path, error))
    return FALSE;
  self->file_bytes = reader.file_bytes;
  ok = parse_all (self, &reader, error);
  /* What lies behind the header was only read ahead. */
  self->bytes = g_steal_pointer (&reader.bytes);
  if (ok && self->bytes)
    self->bytes = g_realloc (self->bytes, reader.pos + KVASIR_GGUF_PADDING);
  if (ok)
    terminate_strings (self);
  return ok;
}
