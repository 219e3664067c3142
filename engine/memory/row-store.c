#include "engine/memory/row-store.h"

#include "engine/memory/memory-private.h"

void
kvasir_row_store_init (KvasirRowStore *self, KvasirMemoryKind kind)
{
  *self = (KvasirRowStore){ .kind = kind };
  self->stored = g_array_new (FALSE, TRUE, sizeof (KvasirStoredRows));
  self->chunks = g_array_new (FALSE, TRUE, sizeof (KvasirRowChunk));
}

void
kvasir_row_store_clear (KvasirRowStore *self)
{
  for (guint i = 0; self->chunks != NULL && i < self->chunks->len; i++)
    {
      KvasirBuffer *buffer = g_array_index (self->chunks, KvasirRowChunk, i).buffer;

      if (buffer != NULL)
        buffer->vtable->free (buffer);
    }
  g_clear_pointer (&self->chunks, g_array_unref);
  g_clear_pointer (&self->stored, g_array_unref);
}

static KvasirStoredRows *
get_stored (const KvasirRowStore *self, guint i)
{
  return &g_array_index (self->stored, KvasirStoredRows, i);
}

static KvasirRowChunk *
get_chunk (const KvasirRowStore *self, guint i)
{
  return &g_array_index (self->chunks, KvasirRowChunk, i);
}

static gboolean
fail_no_memory (const KvasirBufferType *type, const char *what, gsize n_bytes, GError **error)
{
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_MEMORY,
                             "%s: no memory for %" G_GSIZE_FORMAT " bytes of buffer type %s", what,
                             n_bytes, type->name);
}

/* Shape, strides and the bytes in the buffer. */
static gboolean
shape_tensor (KvasirStoredRows *stored, const KvasirRowShape *shape, GError **error)
{
  const KvasirBufferType *type = shape->buffer_type;
  KvasirTensor *tensor = &stored->tensor;
  gsize row_bytes = kvasir_type_get_row_bytes (KVASIR_TYPE_F32, shape->width);
  gsize n_bytes;

  if (!g_size_checked_mul (&n_bytes, row_bytes, shape->n_rows))
    return fail_no_memory (type, tensor->name, G_MAXSIZE, error);
  tensor->type = KVASIR_TYPE_F32;
  tensor->op = KVASIR_OP_NONE;
  tensor->ne[0] = shape->width;
  tensor->ne[1] = shape->n_rows;
  tensor->ne[2] = tensor->ne[3] = 1;
  tensor->nb[0] = kvasir_type_get_block_bytes (KVASIR_TYPE_F32);
  tensor->nb[1] = row_bytes;
  tensor->nb[2] = tensor->nb[3] = n_bytes;

  n_bytes = type->get_alloc_bytes (type, tensor);
  if (!g_size_checked_add (&stored->n_bytes, n_bytes, type->alignment - 1))
    return fail_no_memory (type, tensor->name, n_bytes, error);
  stored->n_bytes &= ~(type->alignment - 1);
  return stored->n_bytes <= type->max_bytes ||
         fail_no_memory (type, tensor->name, stored->n_bytes, error);
}

/* Puts @stored behind what lies in the last chunk of its type, or into a new one. */
static void
place_tensor (KvasirRowStore *self, KvasirStoredRows *stored)
{
  KvasirBufferType *type = stored->buffer_type;
  guint i = self->chunks->len;
  KvasirRowChunk *chunk;

  while (i > 0 && get_chunk (self, i - 1)->type != type)
    i--;
  if (i == 0 || get_chunk (self, i - 1)->n_bytes > type->max_bytes - stored->n_bytes)
    {
      KvasirRowChunk fresh = { .type = type };

      g_array_append_val (self->chunks, fresh);
      i = self->chunks->len;
    }
  chunk = get_chunk (self, i - 1);
  stored->chunk = i - 1;
  stored->offset = chunk->n_bytes;
  chunk->n_bytes += stored->n_bytes;
}

gboolean
kvasir_row_store_add (KvasirRowStore *self, const KvasirRowShape *shape, GError **error)
{
  KvasirStoredRows stored = { .layer = shape->layer, .buffer_type = shape->buffer_type };

  g_return_val_if_fail (shape->width > 0 && shape->n_rows > 0, FALSE);

  if (shape->layer >= 0)
    g_snprintf (stored.tensor.name, KVASIR_MAX_NAME, "%s_l%d", shape->name, shape->layer);
  else
    g_strlcpy (stored.tensor.name, shape->name, KVASIR_MAX_NAME);
  if (!shape_tensor (&stored, shape, error))
    return FALSE;
  place_tensor (self, &stored);
  g_array_append_val (self->stored, stored);
  return TRUE;
}

gboolean
kvasir_row_store_allocate (KvasirRowStore *self, GError **error)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirRowChunk *chunk = get_chunk (self, i);

      chunk->buffer = chunk->type->alloc (chunk->type, chunk->n_bytes);
      if (chunk->buffer == NULL)
        return fail_no_memory (chunk->type, kvasir_memory_kind_get_name (self->kind),
                               chunk->n_bytes, error);
      if (chunk->buffer->vtable->settle != NULL)
        chunk->buffer->vtable->settle (chunk->buffer);
    }
  for (guint i = 0; i < self->stored->len; i++)
    {
      KvasirStoredRows *stored = get_stored (self, i);

      stored->tensor.buffer = get_chunk (self, stored->chunk)->buffer;
      stored->tensor.data = (guint8 *) stored->tensor.buffer->base + stored->offset;
    }
  return TRUE;
}

KvasirTensor *
kvasir_row_store_get (const KvasirRowStore *self, guint i)
{
  g_return_val_if_fail (i < self->stored->len, NULL);
  return &get_stored (self, i)->tensor;
}

KvasirBuffer *
kvasir_row_store_peek_buffer (const KvasirRowStore *self, guint i, gsize *offset)
{
  const KvasirStoredRows *stored = get_stored (self, i);

  *offset = stored->offset;
  return get_chunk (self, stored->chunk)->buffer;
}

void
kvasir_row_store_zero (KvasirRowStore *self)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      KvasirBuffer *buffer = get_chunk (self, i)->buffer;

      if (buffer != NULL)
        buffer->vtable->clear (buffer, 0);
    }
}

guint64
kvasir_row_store_get_row_bytes (const KvasirRowStore *self)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < self->stored->len; i++)
    n_bytes += get_stored (self, i)->tensor.nb[1];
  return n_bytes;
}

static const char *
get_device_name (const KvasirBufferType *type)
{
  return type->device != NULL ? type->device->name : type->name;
}

void
kvasir_row_store_append_breakdown (const KvasirRowStore *self, GArray *rows)
{
  for (guint i = 0; i < self->stored->len; i++)
    {
      const KvasirStoredRows *stored = get_stored (self, i);
      KvasirMemoryRow row = { .device = get_device_name (stored->buffer_type),
                              .buffer_type = stored->buffer_type->name,
                              .kind = self->kind,
                              .layer = stored->layer,
                              .n_bytes = stored->n_bytes };

      g_array_append_val (rows, row);
    }
}

void
kvasir_row_store_report (const KvasirRowStore *self, KvasirMemory *memory, gint sign)
{
  for (guint i = 0; i < self->chunks->len; i++)
    {
      const KvasirRowChunk *chunk = get_chunk (self, i);
      KvasirEvent event = {
        .type = KVASIR_EVENT_BUFFER, .seq = -1, .a = sign * (gint64) chunk->n_bytes, .b = self->kind
      };

      g_strlcpy (event.text, chunk->type->name, sizeof event.text);
      kvasir_memory_emit (memory, &event, NULL, 0);
    }
}
