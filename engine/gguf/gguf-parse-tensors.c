#include "engine/gguf/gguf-private.h"

#include "backends/backend.h"

#include <string.h>

enum
{
  MAX_TENSORS = 65536, /* this reader's own limit; real files have up to some thousand */
  MAX_NAME_BYTES = 63,
  MAX_DIMS = 4,
  /* The least that one takes in the file: length of the name, dimensions, type, offset. */
  MIN_TENSOR_BYTES = 8 + 4 + 4 + 8,
};

const char *
kvasir_gguf_get_tensor_name (gconstpointer owner, guint32 i, gsize *len)
{
  const KvasirGguf *self = owner;

  *len = strlen (self->tensors[i].name);
  return self->tensors[i].name;
}

static gboolean
parse_name (KvasirGguf *self, KvasirGgufReader *reader, guint32 i, GError **error)
{
  KvasirGgufTensor *tensor = &self->tensors[i];
  g_autofree char *number = g_strdup_printf ("name of tensor %" G_GUINT32_FORMAT, i);
  g_autofree char *quoted = NULL;
  guint64 len = 0;
  gsize offset = 0;

  if (!kvasir_gguf_reader_string (reader, number, MAX_NAME_BYTES, &offset, &len, error))
    return FALSE;
  memcpy (tensor->name, reader->bytes + offset, len);
  if (strlen (tensor->name) != len)
    return kvasir_gguf_reader_fail (reader, offset + strlen (tensor->name), error,
                                    "%s: expected text, found a byte of 0", number);
  if (kvasir_name_index_insert (&self->tensor_index, i) < 0)
    return TRUE;
  quoted = kvasir_gguf_quote (tensor->name, len);
  return kvasir_gguf_reader_fail (reader, offset, error,
                                  "%s: expected each name once, found %s again", number, quoted);
}

static gboolean
parse_extents (KvasirGgufTensor *tensor, KvasirGgufReader *reader, const char *what, GError **error)
{
  guint32 n_dims = 0;
  gint64 n_elements = 1;

  if (!kvasir_gguf_reader_u32 (reader, what, &n_dims, error))
    return FALSE;
  if (n_dims > MAX_DIMS)
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof n_dims, error,
                                    "%s: expected at most %d dimensions, found %" G_GUINT32_FORMAT,
                                    what, MAX_DIMS, n_dims);
  tensor->n_dims = n_dims;
  for (guint i = 0; i < MAX_DIMS; i++)
    {
      guint64 extent = 1;

      if (i < n_dims && !kvasir_gguf_reader_u64 (reader, what, &extent, error))
        return FALSE;
      tensor->ne[i] = (gint64) extent;
      if (tensor->ne[i] < 0)
        return kvasir_gguf_reader_fail (
            reader, reader->pos - sizeof extent, error,
            "%s: extent %u: expected 0 or more, found %" G_GINT64_FORMAT, what, i, tensor->ne[i]);
      if (__builtin_mul_overflow (n_elements, tensor->ne[i], &n_elements))
        return kvasir_gguf_reader_fail (reader, reader->pos - sizeof extent, error,
                                        "%s: expected below 2^63 elements, found more with extent "
                                        "%u of %" G_GINT64_FORMAT,
                                        what, i, tensor->ne[i]);
    }
  return TRUE;
}

/* The type, and with it the size. */
static gboolean
parse_tensor_type (KvasirGgufTensor *tensor,
                   KvasirGgufReader *reader,
                   const char *what,
                   GError **error)
{
  guint32 type = 0;
  gint64 n_blocks;
  gint64 block_len;

  if (!kvasir_gguf_reader_u32 (reader, what, &type, error))
    return FALSE;
  tensor->type = (int) type;
  if (!kvasir_type_get_name (tensor->type))
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof type, error,
                                    "%s: expected a tensor type of 0 to %d that is in use, found "
                                    "%" G_GUINT32_FORMAT,
                                    what, KVASIR_N_TYPES - 1, type);
  block_len = kvasir_type_get_block_len (tensor->type);
  if (tensor->ne[0] % block_len != 0)
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof type, error,
                                    "%s: expected rows of a multiple of %" G_GINT64_FORMAT
                                    " elements for type %s, found %" G_GINT64_FORMAT,
                                    what, block_len, kvasir_type_get_name (tensor->type),
                                    tensor->ne[0]);
  n_blocks = tensor->ne[0] / block_len * tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
  if (!g_size_checked_mul (&tensor->n_bytes, (gsize) n_blocks,
                           kvasir_type_get_block_bytes (tensor->type)))
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof type, error,
                                    "%s: expected below 2^64 bytes, found %" G_GINT64_FORMAT
                                    " blocks of type %s",
                                    what, n_blocks, kvasir_type_get_name (tensor->type));
  return TRUE;
}

/* @end is where the tensors so far end, padded, counted from the start of the data. */
static gboolean
parse_offset (KvasirGguf *self,
              KvasirGgufTensor *tensor,
              KvasirGgufReader *reader,
              const char *what,
              guint64 *end,
              GError **error)
{
  guint64 unpadded;

  if (!kvasir_gguf_reader_u64 (reader, what, &tensor->offset, error))
    return FALSE;
  if (tensor->offset != *end)
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof *end, error,
                                    "%s: expected an offset of %" G_GUINT64_FORMAT
                                    ", the end of the tensors before, found %" G_GUINT64_FORMAT,
                                    what, *end, tensor->offset);
  /* Sizes that add up past the file are reported at once, so no sum can wrap. */
  if (!g_uint64_checked_add (&unpadded, *end, tensor->n_bytes) || unpadded > self->file_bytes)
    return kvasir_gguf_reader_fail (reader, reader->pos - sizeof *end, error,
                                    "%s: expected its %" G_GSIZE_FORMAT
                                    " bytes from %" G_GUINT64_FORMAT
                                    " of the data on, found a file of only %" G_GUINT64_FORMAT
                                    " bytes; the download may be incomplete",
                                    what, tensor->n_bytes, tensor->offset, self->file_bytes);
  *end = (unpadded + self->alignment - 1) & ~(guint64) (self->alignment - 1);
  return TRUE;
}

static gboolean
parse_tensor (KvasirGguf *self, KvasirGgufReader *reader, guint32 i, guint64 *end, GError **error)
{
  KvasirGgufTensor *tensor = &self->tensors[i];
  g_autofree char *quoted = NULL;
  g_autofree char *what = NULL;

  if (!parse_name (self, reader, i, error))
    return FALSE;
  quoted = kvasir_gguf_quote (tensor->name, strlen (tensor->name));
  what = g_strconcat ("tensor ", quoted, NULL);
  return parse_extents (tensor, reader, what, error) &&
         parse_tensor_type (tensor, reader, what, error) &&
         parse_offset (self, tensor, reader, what, end, error);
}

/* Turns offsets into the data into offsets into the file and checks that the data is there. */
static gboolean
place_tensors (KvasirGguf *self, const KvasirGgufReader *reader, GError **error)
{
  guint64 padding = self->n_tensors > 0 ? self->alignment - 1 : 0;

  self->data_offset = (reader->pos + padding) & ~padding;
  for (guint i = 0; i < self->n_tensors; i++)
    {
      KvasirGgufTensor *tensor = &self->tensors[i];
      g_autofree char *quoted = NULL;

      tensor->offset += self->data_offset;
      if (tensor->n_bytes <= self->file_bytes &&
          tensor->offset <= self->file_bytes - tensor->n_bytes)
        continue;
      quoted = kvasir_gguf_quote (tensor->name, strlen (tensor->name));
      return kvasir_gguf_reader_fail (reader, tensor->offset, error,
                                      "tensor %s: expected %" G_GSIZE_FORMAT
                                      " bytes of data, found the end of the file at byte "
                                      "%" G_GUINT64_FORMAT "; the download may be incomplete",
                                      quoted, tensor->n_bytes, self->file_bytes);
    }
  return TRUE;
}

gboolean
kvasir_gguf_parse_tensors (KvasirGguf *self, KvasirGgufReader *reader, guint64 n, GError **error)
{
  guint64 end = 0;

  if (!kvasir_gguf_reader_check_count (reader, "number of tensors", n, MAX_TENSORS,
                                       MIN_TENSOR_BYTES, error))
    return FALSE;
  self->tensors = g_try_new0 (KvasirGgufTensor, MAX (n, 1));
  if (!self->tensors ||
      !kvasir_name_index_init (&self->tensor_index, n, kvasir_gguf_get_tensor_name, self))
    return kvasir_gguf_reader_no_memory (reader, "tensors", n, error);
  for (; self->n_tensors < n; self->n_tensors++)
    if (!parse_tensor (self, reader, self->n_tensors, &end, error))
      return FALSE;
  return place_tensors (self, reader, error);
}
