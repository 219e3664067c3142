/* engine/gguf/gguf.h - reads the header of a GGUF file (versions 2 and 3)
 *
 * Owner:  KvasirModel, one each; the planner and `info` open their own.
 * Thread: any one thread at a time; immutable after opening.
 * Bounds: memory taken is bounded by the size of the file, whatever the header claims. Every check
 *   of the format's list is made (lengths, counts, duplicates, offsets, alignment, types).
 * A model in several files (split.count above 1) is read as one: any part may be opened, all of
 * them must lie beside it under the names of the format, and the tensors of all stand in one list.
 * Errors: KVASIR_ENGINE_ERROR_FILE or _BAD_FILE with the byte offset, what was expected and found.
 */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

/* So many bytes behind any text of the header can be read, whatever they are. */
#define KVASIR_GGUF_PADDING 16

typedef enum
{
  KVASIR_GGUF_U8 = 0,
  KVASIR_GGUF_I8,
  KVASIR_GGUF_U16,
  KVASIR_GGUF_I16,
  KVASIR_GGUF_U32,
  KVASIR_GGUF_I32,
  KVASIR_GGUF_F32,
  KVASIR_GGUF_BOOL,
  KVASIR_GGUF_STRING,
  KVASIR_GGUF_ARRAY,
  KVASIR_GGUF_U64,
  KVASIR_GGUF_I64,
  KVASIR_GGUF_F64
} KvasirGgufType;

typedef struct
{
  char name[64];
  int type; /* KvasirType */
  guint n_dims;
  gint64 ne[4];   /* fastest first, unused ones 1 */
  guint part;     /* the file that it lies in, 0 where there is one */
  guint64 offset; /* from the start of that file */
  gsize n_bytes;  /* without padding */
} KvasirGgufTensor;

typedef struct _KvasirGguf KvasirGguf;

/* Returns: (transfer full): the header, or NULL with @error set */
KvasirGguf *kvasir_gguf_open (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_gguf_free (KvasirGguf *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGguf, kvasir_gguf_free)

const char *kvasir_gguf_get_path (const KvasirGguf *self);
guint kvasir_gguf_get_version (const KvasirGguf *self);
guint64 kvasir_gguf_get_file_bytes (const KvasirGguf *self);
guint64 kvasir_gguf_get_data_offset (const KvasirGguf *self);
guint kvasir_gguf_get_alignment (const KvasirGguf *self);

/* The files of a split model, in order; 1 where it is whole. A part answers for its own path, size
 * and start of data; part 0 is @self. */
guint kvasir_gguf_get_n_parts (const KvasirGguf *self);
const KvasirGguf *kvasir_gguf_get_part (const KvasirGguf *self, guint i);
/* Of all parts. */
guint64 kvasir_gguf_get_total_bytes (const KvasirGguf *self);

/* Keys in file order. */
guint kvasir_gguf_get_n_keys (const KvasirGguf *self);
const char *kvasir_gguf_get_key (const KvasirGguf *self, guint i, KvasirGgufType *type);
gboolean kvasir_gguf_has_key (const KvasirGguf *self, const char *key);

/* Scalars. FALSE and @value untouched where the key is missing or has another kind of type or does
 * not fit: any integer type serves for the integer getters, f32 and f64 for the float one. */
gboolean kvasir_gguf_get_u32 (const KvasirGguf *self, const char *key, guint32 *value);
gboolean kvasir_gguf_get_i64 (const KvasirGguf *self, const char *key, gint64 *value);
gboolean kvasir_gguf_get_f32 (const KvasirGguf *self, const char *key, float *value);
gboolean kvasir_gguf_get_bool (const KvasirGguf *self, const char *key, gboolean *value);
/* (transfer none), NUL-terminated; @len may be NULL. NULL where there is none. */
const char *kvasir_gguf_get_string (const KvasirGguf *self, const char *key, gsize *len);

/* Arrays. @n_out elements of type @type; NULL where the key is no array. Numbers lie unaligned in
 * file byte order (little endian). */
gboolean kvasir_gguf_get_array (const KvasirGguf *self,
                                const char *key,
                                KvasirGgufType *type,
                                guint64 *n_out);
const guint8 *kvasir_gguf_get_array_data (const KvasirGguf *self, const char *key);

/* An array of strings, which belong to the header. */
typedef struct
{
  const guint8 *bytes;  /* (unowned) */
  const gsize *offsets; /* (unowned) [n] of the texts; 64 bits before each are its length */
  guint64 n;
} KvasirGgufStrings;

/* FALSE where the key is no array of strings. */
gboolean
kvasir_gguf_get_strings (const KvasirGguf *self, const char *key, KvasirGgufStrings *strings);

/* Returns: (transfer none): string @i < n, not NUL-terminated */
static inline const char *
kvasir_gguf_strings_get (const KvasirGgufStrings *self, guint64 i, gsize *len)
{
  const guint8 *text = self->bytes + self->offsets[i];
  guint64 n;

  memcpy (&n, text - sizeof n, sizeof n);
  *len = GUINT64_FROM_LE (n);
  return (const char *) text;
}

guint kvasir_gguf_get_n_tensors (const KvasirGguf *self);
const KvasirGgufTensor *kvasir_gguf_get_tensor (const KvasirGguf *self, guint i);
const KvasirGgufTensor *kvasir_gguf_find_tensor (const KvasirGguf *self, const char *name);

/* Of a path that ends like a part of a split model ("-00001-of-00003.gguf"): the number of the part
 * from 0 and of all. Returns: the bytes of that ending, 0 where there is none */
gsize kvasir_gguf_parse_part_name (const char *path, guint *no, guint *n);

/* Text of any value for people, arrays shortened. Returns: (transfer full) */
char *kvasir_gguf_format_value (const KvasirGguf *self, guint i) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
