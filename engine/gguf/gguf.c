#include "engine/gguf/gguf-private.h"

#include <string.h>

enum
{
  /* A chat template is shown whole; what is longer than any of them is cut. */
  MAX_SHOWN_BYTES = 64 * 1024,
  MAX_SHOWN_ELEMENTS = 8,
};

static KvasirGguf *
open_one (const char *path, GError **error)
{
  g_autoptr (KvasirGguf) self = g_new0 (KvasirGguf, 1);

  self->path = g_strdup (path);
  return kvasir_gguf_parse (self, error) ? g_steal_pointer (&self) : NULL;
}

KvasirGguf *
kvasir_gguf_open (const char *path, GError **error)
{
  g_autoptr (KvasirGguf) self = NULL;
  g_autofree char *first = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  self = open_one (path, error);
  if (!self || !kvasir_gguf_find_first_part (self, &first, error))
    return NULL;
  if (first)
    {
      kvasir_gguf_free (self);
      self = open_one (first, error);
    }
  return self && kvasir_gguf_open_parts (self, error) ? g_steal_pointer (&self) : NULL;
}

void
kvasir_gguf_free (KvasirGguf *self)
{
  if (!self)
    return;
  for (guint i = 0; i < self->n_entries; i++)
    g_free (self->entries[i].strings);
  kvasir_name_index_clear (&self->entry_index);
  kvasir_name_index_clear (&self->tensor_index);
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_free (self->entries);
  g_free (self->tensors);
  g_free (self->bytes);
  g_free (self->path);
  g_free (self);
}

const char *
kvasir_gguf_get_path (const KvasirGguf *self)
{
  return self->path;
}

guint
kvasir_gguf_get_version (const KvasirGguf *self)
{
  return self->version;
}

guint64
kvasir_gguf_get_file_bytes (const KvasirGguf *self)
{
  return self->file_bytes;
}

guint64
kvasir_gguf_get_data_offset (const KvasirGguf *self)
{
  return self->data_offset;
}

guint
kvasir_gguf_get_alignment (const KvasirGguf *self)
{
  return self->alignment;
}

guint
kvasir_gguf_get_n_parts (const KvasirGguf *self)
{
  return self->parts ? self->parts->len + 1 : 1;
}

const KvasirGguf *
kvasir_gguf_get_part (const KvasirGguf *self, guint i)
{
  g_return_val_if_fail (i < kvasir_gguf_get_n_parts (self), NULL);

  return i == 0 ? self : g_ptr_array_index (self->parts, i - 1);
}

guint64
kvasir_gguf_get_total_bytes (const KvasirGguf *self)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < kvasir_gguf_get_n_parts (self); i++)
    n_bytes += kvasir_gguf_get_part (self, i)->file_bytes;
  return n_bytes;
}

guint
kvasir_gguf_get_n_keys (const KvasirGguf *self)
{
  return self->n_entries;
}

const char *
kvasir_gguf_get_key (const KvasirGguf *self, guint i, KvasirGgufType *type)
{
  g_return_val_if_fail (i < self->n_entries, NULL);

  if (type)
    *type = self->entries[i].type;
  return (const char *) self->bytes + self->entries[i].key;
}

static const KvasirGgufEntry *
find_entry (const KvasirGguf *self, const char *key)
{
  gint64 i = kvasir_name_index_find (&self->entry_index, key, strlen (key));

  return i < 0 ? NULL : &self->entries[i];
}

gboolean
kvasir_gguf_has_key (const KvasirGguf *self, const char *key)
{
  return find_entry (self, key) != NULL;
}

/* The scalar as 64 bits in host order, sign not extended. */
static guint64
load_bits (const guint8 *bytes, gsize n_bytes)
{
  guint64 bits = 0;

  for (gsize i = 0; i < n_bytes; i++)
    bits |= (guint64) bytes[i] << (8 * i);
  return bits;
}

/* FALSE where @type is no integer, or a u64 that a gint64 cannot hold. */
static gboolean
load_integer (const guint8 *bytes, KvasirGgufType type, gint64 *value)
{
  gsize n_bytes = kvasir_gguf_get_type_bytes (type);
  guint64 bits = load_bits (bytes, n_bytes);

  switch (type)
    {
    case KVASIR_GGUF_U8:
    case KVASIR_GGUF_U16:
    case KVASIR_GGUF_U32:
    case KVASIR_GGUF_I64:
      *value = (gint64) bits;
      return TRUE;
    case KVASIR_GGUF_I8:
      *value = (gint8) bits;
      return TRUE;
    case KVASIR_GGUF_I16:
      *value = (gint16) bits;
      return TRUE;
    case KVASIR_GGUF_I32:
      *value = (gint32) bits;
      return TRUE;
    case KVASIR_GGUF_U64:
      *value = (gint64) bits;
      return bits <= G_MAXINT64;
    default:
      return FALSE;
    }
}

static gboolean
load_float (const guint8 *bytes, KvasirGgufType type, double *value)
{
  guint64 bits = load_bits (bytes, kvasir_gguf_get_type_bytes (type));
  guint32 bits32 = (guint32) bits;
  float single;

  if (type == KVASIR_GGUF_F64)
    memcpy (value, &bits, sizeof *value);
  else if (type == KVASIR_GGUF_F32)
    {
      memcpy (&single, &bits32, sizeof single);
      *value = (double) single;
    }
  return type == KVASIR_GGUF_F64 || type == KVASIR_GGUF_F32;
}

gboolean
kvasir_gguf_get_i64 (const KvasirGguf *self, const char *key, gint64 *value)
{
  const KvasirGgufEntry *entry = find_entry (self, key);
  gint64 found;

  if (!entry || !load_integer (self->bytes + entry->value, entry->type, &found))
    return FALSE;
  *value = found;
  return TRUE;
}

gboolean
kvasir_gguf_get_u32 (const KvasirGguf *self, const char *key, guint32 *value)
{
  gint64 found;

  if (!kvasir_gguf_get_i64 (self, key, &found) || found < 0 || found > G_MAXUINT32)
    return FALSE;
  *value = (guint32) found;
  return TRUE;
}

gboolean
kvasir_gguf_get_f32 (const KvasirGguf *self, const char *key, float *value)
{
  const KvasirGgufEntry *entry = find_entry (self, key);
  double found;

  if (!entry || !load_float (self->bytes + entry->value, entry->type, &found))
    return FALSE;
  *value = (float) found;
  return TRUE;
}

gboolean
kvasir_gguf_get_bool (const KvasirGguf *self, const char *key, gboolean *value)
{
  const KvasirGgufEntry *entry = find_entry (self, key);

  if (!entry || entry->type != KVASIR_GGUF_BOOL)
    return FALSE;
  *value = self->bytes[entry->value] != 0;
  return TRUE;
}

const char *
kvasir_gguf_get_string (const KvasirGguf *self, const char *key, gsize *len)
{
  const KvasirGgufEntry *entry = find_entry (self, key);

  if (!entry || entry->type != KVASIR_GGUF_STRING)
    return NULL;
  if (len)
    *len = entry->n;
  return (const char *) self->bytes + entry->value;
}

static const KvasirGgufEntry *
find_array (const KvasirGguf *self, const char *key)
{
  const KvasirGgufEntry *entry = find_entry (self, key);

  return entry && entry->type == KVASIR_GGUF_ARRAY ? entry : NULL;
}

gboolean
kvasir_gguf_get_array (const KvasirGguf *self,
                       const char *key,
                       KvasirGgufType *type,
                       guint64 *n_out)
{
  const KvasirGgufEntry *entry = find_array (self, key);

  if (!entry)
    return FALSE;
  *type = entry->element_type;
  *n_out = entry->n;
  return TRUE;
}

const guint8 *
kvasir_gguf_get_array_data (const KvasirGguf *self, const char *key)
{
  const KvasirGgufEntry *entry = find_array (self, key);

  return entry ? self->bytes + entry->value : NULL;
}

static KvasirGgufStrings
get_strings (const KvasirGguf *self, const KvasirGgufEntry *entry)
{
  return (KvasirGgufStrings){ self->bytes, entry->strings, entry->n };
}

gboolean
kvasir_gguf_get_strings (const KvasirGguf *self, const char *key, KvasirGgufStrings *strings)
{
  const KvasirGgufEntry *entry = find_array (self, key);

  if (!entry || !entry->strings)
    return FALSE;
  *strings = get_strings (self, entry);
  return TRUE;
}

guint
kvasir_gguf_get_n_tensors (const KvasirGguf *self)
{
  return self->n_tensors;
}

const KvasirGgufTensor *
kvasir_gguf_get_tensor (const KvasirGguf *self, guint i)
{
  g_return_val_if_fail (i < self->n_tensors, NULL);

  return &self->tensors[i];
}

const KvasirGgufTensor *
kvasir_gguf_find_tensor (const KvasirGguf *self, const char *name)
{
  gint64 i = kvasir_name_index_find (&self->tensor_index, name, strlen (name));

  return i < 0 ? NULL : &self->tensors[i];
}

/* Control characters would reach a terminal, so they are shown by number; the line ends of a chat
 * template are left. */
static void
append_text (GString *out, const char *text, gsize len)
{
  gsize n_shown = MIN (len, MAX_SHOWN_BYTES);
  g_autofree char *valid = g_utf8_make_valid (text, (gssize) n_shown);

  for (const char *p = valid; *p != 0; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (c != '\n' && c != '\t' && g_unichar_iscntrl (c))
        g_string_append_printf (out, "\\x%02x", c);
      else
        g_string_append_unichar (out, c);
    }
  if (len > n_shown)
    g_string_append_printf (out, "... (%" G_GSIZE_FORMAT " bytes)", len);
}

static void
append_scalar (GString *out, const guint8 *bytes, KvasirGgufType type)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double number;
  gint64 integer;

  if (type == KVASIR_GGUF_BOOL)
    g_string_append (out, *bytes ? "true" : "false");
  else if (load_float (bytes, type, &number))
    g_string_append (out, g_ascii_formatd (text, sizeof text, "%.9g", number));
  else if (load_integer (bytes, type, &integer))
    g_string_append_printf (out, "%" G_GINT64_FORMAT, integer);
  else
    g_string_append_printf (out, "%" G_GUINT64_FORMAT, load_bits (bytes, sizeof (guint64)));
}

static void
append_array (GString *out, const KvasirGguf *self, const KvasirGgufEntry *entry)
{
  g_string_append_c (out, '[');
  for (guint64 i = 0; i < MIN (entry->n, MAX_SHOWN_ELEMENTS); i++)
    {
      gsize n_bytes = kvasir_gguf_get_type_bytes (entry->element_type);

      if (i > 0)
        g_string_append (out, ", ");
      if (entry->strings)
        {
          const KvasirGgufStrings strings = get_strings (self, entry);
          const char *text = kvasir_gguf_strings_get (&strings, i, &n_bytes);

          append_text (out, text, n_bytes);
        }
      else
        append_scalar (out, self->bytes + entry->value + i * n_bytes, entry->element_type);
    }
  if (entry->n > MAX_SHOWN_ELEMENTS)
    g_string_append_printf (out, ", ... (%" G_GUINT64_FORMAT " values)", entry->n);
  g_string_append_c (out, ']');
}

char *
kvasir_gguf_format_value (const KvasirGguf *self, guint i)
{
  const KvasirGgufEntry *entry;
  GString *out;

  g_return_val_if_fail (i < self->n_entries, NULL);

  entry = &self->entries[i];
  out = g_string_new (NULL);
  if (entry->type == KVASIR_GGUF_ARRAY)
    append_array (out, self, entry);
  else if (entry->type == KVASIR_GGUF_STRING)
    append_text (out, (const char *) self->bytes + entry->value, entry->n);
  else
    append_scalar (out, self->bytes + entry->value, entry->type);
  return g_string_free (out, FALSE);
}
