#include "engine/memory/kv-store.h"

#include "engine/memory/memory-private.h"

static gboolean
is_cache_type (KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_F32:
    case KVASIR_TYPE_F16:
    case KVASIR_TYPE_BF16:
    case KVASIR_TYPE_Q8_0:
    case KVASIR_TYPE_Q4_0:
    case KVASIR_TYPE_Q4_1:
    case KVASIR_TYPE_IQ4_NL:
    case KVASIR_TYPE_Q5_0:
    case KVASIR_TYPE_Q5_1:
      return TRUE;
    default:
      return FALSE;
    }
}

static gboolean
check_type (KvasirType type, char letter, guint head_dim, gint layer, GError **error)
{
  const char *name = kvasir_type_get_name (type);
  gint64 block_len;

  if (!is_cache_type (type))
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
        "The %c cache cannot be of type %s: expected f32, f16, bf16, q8_0, q4_0, q4_1, "
        "iq4_nl, q5_0 or q5_1",
        letter, name != NULL ? name : "(unknown)");
  block_len = kvasir_type_get_block_len (type);
  if (head_dim % block_len == 0)
    return TRUE;
  return kvasir_memory_fail (
      error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
      "The %c cache of layer %d cannot be of type %s: its blocks hold %d values, which "
      "does not divide the head width %u",
      letter, layer, name, (gint) block_len, head_dim);
}

static gboolean
fail_no_memory (const KvasirBufferType *type, const char *what, gsize n_bytes, GError **error)
{
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_MEMORY,
                             "%s: no memory for %" G_GSIZE_FORMAT " bytes of buffer type %s", what,
                             n_bytes, type->name);
}

static void
set_strides (KvasirTensor *tensor, gsize element_bytes, gsize stream_bytes, guint n_streams)
{
  tensor->nb[0] = element_bytes;
  tensor->nb[1] = stream_bytes / (gsize) tensor->ne[1];
  tensor->nb[2] = stream_bytes;
  tensor->nb[3] = stream_bytes * n_streams;
}

/* Shape, strides and the bytes in the buffer of a tensor with @n_embd values per cell. */
static gboolean
shape_tensor (KvasirKvTensor *self,
              const KvasirKvStoreParams *params,
              guint n_embd,
              const KvasirBufferType *buffer_type,
              GError **error)
{
  KvasirTensor *tensor = &self->tensor;
  gsize n_bytes;
  gsize total;

  for (guint i = 0; i < KVASIR_MAX_DIMS; i++)
    tensor->ne[i] = 1;
  if (n_embd == 0)
    return TRUE;

  self->n_embd = n_embd;
  self->row_bytes = kvasir_type_get_row_bytes (tensor->type, n_embd);
  if (!g_size_checked_mul (&n_bytes, self->row_bytes, params->size) ||
      !g_size_checked_mul (&total, n_bytes, params->n_streams))
    return fail_no_memory (buffer_type, tensor->name, G_MAXSIZE, error);
  tensor->ne[0] = self->is_transposed ? params->size : n_embd;
  tensor->ne[1] = self->is_transposed ? n_embd : params->size;
  tensor->ne[2] = params->n_streams;
  set_strides (tensor, kvasir_type_get_block_bytes (tensor->type), n_bytes, params->n_streams);

  n_bytes = buffer_type->get_alloc_bytes (buffer_type, tensor);
  if (!g_size_checked_add (&self->n_bytes, n_bytes, buffer_type->alignment - 1))
    return fail_no_memory (buffer_type, tensor->name, n_bytes, error);
  self->n_bytes &= ~(buffer_type->alignment - 1);
  if (self->n_bytes > buffer_type->max_bytes)
    return fail_no_memory (buffer_type, tensor->name, self->n_bytes, error);
  return TRUE;
}

static gboolean
check_layer (const KvasirKvStoreParams *params, guint number, GError **error)
{
  const KvasirMemoryLayer *layer = &params->layers[number];
  gint il = (gint) number;

  if (!check_type (params->type_k, 'K', layer->head_dim_k, il, error))
    return FALSE;
  if (layer->n_embd_v == 0 && params->type_v != params->type_k)
    return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                               "The V cache of layer %d is a part of its K cache and cannot be of "
                               "type %s: expected %s as for K",
                               il, kvasir_type_get_name (params->type_v),
                               kvasir_type_get_name (params->type_k));
  if (layer->n_embd_v == 0)
    return TRUE;
  if (!check_type (params->type_v, 'V', layer->head_dim_v, il, error))
    return FALSE;
  if (params->v_transposed && kvasir_type_get_block_len (params->type_v) > 1)
    return kvasir_memory_fail (
        error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
        "The V cache cannot be of type %s without flash attention: V is then "
        "kept transposed, and blocks cannot be written value by value",
        kvasir_type_get_name (params->type_v));
  return TRUE;
}

static gboolean
shape_layer (KvasirKvStore *self, guint i, const KvasirKvStoreParams *params, GError **error)
{
  guint number = params->numbers[i];
  const KvasirMemoryLayer *layer = &params->layers[number];
  KvasirKvRows *rows = &self->rows[i];

  rows->layer = (gint) number;
  rows->buffer_type = layer->buffer_type;
  rows->k.tensor.type = params->type_k;
  rows->v.tensor.type = params->type_v;
  rows->v.is_transposed = params->v_transposed;
  g_snprintf (rows->k.tensor.name, KVASIR_MAX_NAME, "cache_k_l%u", number);
  g_snprintf (rows->v.tensor.name, KVASIR_MAX_NAME, "cache_v_l%u", number);
  return check_layer (params, number, error) &&
         shape_tensor (&rows->k, params, layer->n_embd_k, layer->buffer_type, error) &&
         shape_tensor (&rows->v, params, layer->n_embd_v, layer->buffer_type, error);
}

/* Puts @tensor behind what lies in the last chunk of its type, or into a new one. */
static void
place_tensor (KvasirKvStore *self, KvasirKvTensor *tensor, KvasirBufferType *type)
{
  KvasirKvChunk *last = NULL;

  if (tensor->n_bytes == 0)
    return;
  for (guint i = self->chunks->len; i-- > 0 && last == NULL;)
    if (g_array_index (self->chunks, KvasirKvChunk, i).type == type)
      {
        last = &g_array_index (self->chunks, KvasirKvChunk, i);
        tensor->chunk = i;
      }
  if (last == NULL || last->n_bytes > type->max_bytes - tensor->n_bytes)
    {
      KvasirKvChunk chunk = { .type = type };

      tensor->chunk = self->chunks->len;
      g_array_append_val (self->chunks, chunk);
      last = &g_array_index (self->chunks, KvasirKvChunk, tensor->chunk);
    }
  tensor->offset = last->n_bytes;
  last->n_bytes += tensor->n_bytes;
}

static void
bind_tensor (KvasirKvStore *self, KvasirKvTensor *tensor)
{
  KvasirBuffer *buffer;

  if (tensor->n_bytes == 0)
    return;
  buffer = kvasir_kv_store_peek_buffer (self, tensor);
  tensor->tensor.buffer = buffer;
  tensor->tensor.data = (guint8 *) buffer->base + tensor->offset;
}

static gboolean
allocate (KvasirKvStore *self, GError **error)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirKvChunk *chunk = &g_array_index (self->chunks, KvasirKvChunk, i);

      chunk->buffer = chunk->type->alloc (chunk->type, chunk->n_bytes);
      if (chunk->buffer == NULL)
        return fail_no_memory (chunk->type, "KV cache", chunk->n_bytes, error);
    }
  for (guint i = 0; i < self->n_layers; i++)
    {
      bind_tensor (self, &self->rows[i].k);
      bind_tensor (self, &self->rows[i].v);
    }
  return TRUE;
}

gboolean
kvasir_kv_store_init (KvasirKvStore *self, const KvasirKvStoreParams *params, GError **error)
{
  *self = (KvasirKvStore){ .type_k = params->type_k,
                           .type_v = params->type_v,
                           .v_transposed = params->v_transposed,
                           .is_swa = params->is_swa,
                           .size = params->size,
                           .n_streams = params->n_streams,
                           .n_layers = params->n_layers };
  self->rows = g_new0 (KvasirKvRows, params->n_layers);
  self->chunks = g_array_new (FALSE, TRUE, sizeof (KvasirKvChunk));

  for (guint i = 0; i < params->n_layers; i++)
    {
      if (!shape_layer (self, i, params, error))
        return FALSE;
      place_tensor (self, &self->rows[i].k, self->rows[i].buffer_type);
      place_tensor (self, &self->rows[i].v, self->rows[i].buffer_type);
    }
  return params->no_alloc || allocate (self, error);
}

void
kvasir_kv_store_clear (KvasirKvStore *self)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirBuffer *buffer = g_array_index (self->chunks, KvasirKvChunk, i).buffer;

      if (buffer != NULL)
        buffer->vtable->free (buffer);
    }
  g_clear_pointer (&self->chunks, g_array_unref);
  g_clear_pointer (&self->rows, g_free);
}

KvasirKvRows *
kvasir_kv_store_find (const KvasirKvStore *self, guint layer)
{
  for (guint i = 0; i < self->n_layers; i++)
    if (self->rows[i].layer == (gint) layer)
      return &self->rows[i];
  return NULL;
}

KvasirBuffer *
kvasir_kv_store_peek_buffer (const KvasirKvStore *self, const KvasirKvTensor *tensor)
{
  return g_array_index (self->chunks, KvasirKvChunk, tensor->chunk).buffer;
}

guint64
kvasir_kv_store_get_bytes_per_cell (const KvasirKvStore *self)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < self->n_layers; i++)
    n_bytes += self->rows[i].k.row_bytes + self->rows[i].v.row_bytes;
  return n_bytes;
}

guint64
kvasir_kv_store_get_k_bytes_per_cell (const KvasirKvStore *self)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < self->n_layers; i++)
    n_bytes += self->rows[i].k.row_bytes;
  return n_bytes;
}

void
kvasir_kv_store_zero (KvasirKvStore *self)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirBuffer *buffer = g_array_index (self->chunks, KvasirKvChunk, i).buffer;

      if (buffer != NULL)
        buffer->vtable->clear (buffer, 0);
    }
}

void
kvasir_kv_store_settle (KvasirKvStore *self)
{
  if (self->is_settled)
    return;
  self->is_settled = TRUE;
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirBuffer *buffer = g_array_index (self->chunks, KvasirKvChunk, i).buffer;

      if (buffer != NULL && buffer->vtable->settle != NULL)
        buffer->vtable->settle (buffer);
    }
}

/* Where the buffer cannot copy within itself, the bytes go through the host in pieces. */
#define COPY_PIECE 65536

static void
copy_bytes (KvasirBuffer *buffer, gsize from, gsize to, gsize n_bytes)
{
  g_autofree guint8 *piece = NULL;
  gsize n;

  if (buffer->vtable->copy != NULL && buffer->vtable->copy (buffer, from, buffer, to, n_bytes))
    return;
  piece = g_malloc (COPY_PIECE);
  for (gsize done = 0; done < n_bytes; done += n)
    {
      n = MIN (n_bytes - done, COPY_PIECE);
      buffer->vtable->get (buffer, from + done, piece, n);
      buffer->vtable->set (buffer, to + done, piece, n);
    }
}

static void
copy_tensor (KvasirKvStore *self, const KvasirKvTensor *tensor, guint src, guint dst, guint n_cells)
{
  gsize stream_bytes = tensor->tensor.nb[2];
  gsize from = tensor->offset + src * stream_bytes;
  gsize to = tensor->offset + dst * stream_bytes;

  /* The cells of a transposed stream lie all over it. */
  if (tensor->n_bytes > 0 && n_cells > 0)
    copy_bytes (kvasir_kv_store_peek_buffer (self, tensor), from, to,
                tensor->is_transposed ? stream_bytes : n_cells * tensor->row_bytes);
}

void
kvasir_kv_store_copy_stream (KvasirKvStore *self, guint src, guint dst, guint n_cells)
{
  for (guint i = 0; i < self->n_layers; i++)
    {
      copy_tensor (self, &self->rows[i].k, src, dst, n_cells);
      copy_tensor (self, &self->rows[i].v, src, dst, n_cells);
    }
}

guint64
kvasir_kv_store_get_chunk_bytes (const KvasirKvStore *self, guint chunk, gboolean of_v)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < self->n_layers; i++)
    {
      const KvasirKvTensor *tensor = of_v ? &self->rows[i].v : &self->rows[i].k;

      if (tensor->chunk == chunk)
        n_bytes += tensor->n_bytes;
    }
  return n_bytes;
}

KvasirMemoryKind
kvasir_kv_store_get_kind (const KvasirKvStore *self, gboolean of_v)
{
  if (self->is_swa)
    return of_v ? KVASIR_KIND_SWA_V : KVASIR_KIND_SWA_K;
  return of_v ? KVASIR_KIND_KV_V : KVASIR_KIND_KV_K;
}

static void
append_row (const KvasirKvStore *self, GArray *rows, const KvasirKvRows *layer, gboolean of_v)
{
  const KvasirBufferType *type = layer->buffer_type;
  KvasirMemoryRow row = { .device = type->device != NULL ? type->device->name : type->name,
                          .buffer_type = type->name,
                          .kind = kvasir_kv_store_get_kind (self, of_v),
                          .layer = layer->layer,
                          .n_bytes = of_v ? layer->v.n_bytes : layer->k.n_bytes };

  if (row.n_bytes > 0)
    g_array_append_val (rows, row);
}

void
kvasir_kv_store_append_breakdown (const KvasirKvStore *self, GArray *rows)
{
  for (guint i = 0; i < self->n_layers; i++)
    {
      append_row (self, rows, &self->rows[i], FALSE);
      append_row (self, rows, &self->rows[i], TRUE);
    }
}
