/* engine/memory/row-store.h - F32 tensors of rows and the buffers they lie in
 *
 * For what is kept per row but not per cell of a cache: states of recurrent layers, and what
 * encoders write for one ubatch. Tensors of one buffer type lie one behind the other, each padded
 * to the type's alignment, in as few buffers as the type's largest size allows. Measuring is the
 * same code without kvasir_row_store_allocate().
 *
 * Owner:  a part of a memory. Thread: engine thread.
 * Errors: KVASIR_ENGINE_ERROR_NO_MEMORY naming tensor or kind, bytes and buffer type.
 */
#pragma once

#include "engine/memory/memory.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirTensor tensor; /* [width, rows] */
  gint layer;          /* -1: not of one layer */
  KvasirBufferType *buffer_type;
  gsize n_bytes; /* in the buffer, with padding */
  guint chunk;
  gsize offset; /* in the chunk's buffer */
} KvasirStoredRows;

/* One buffer. */
typedef struct
{
  KvasirBufferType *type;
  gsize n_bytes;
  KvasirBuffer *buffer; /* (owned) NULL where only measured */
} KvasirRowChunk;

typedef struct
{
  KvasirMemoryKind kind;
  GArray *stored; /* (owned) of KvasirStoredRows */
  GArray *chunks; /* (owned) of KvasirRowChunk */
} KvasirRowStore;

void kvasir_row_store_init (KvasirRowStore *self, KvasirMemoryKind kind);
void kvasir_row_store_clear (KvasirRowStore *self);

/* What a tensor is to be. */
typedef struct
{
  const char *name; /* "state_r", the layer is put behind it */
  gint layer;
  guint width;
  guint n_rows;
  KvasirBufferType *buffer_type;
} KvasirRowShape;

/* Plans one more tensor, the number of which is that of tensors before it. FALSE: too large. */
gboolean kvasir_row_store_add (KvasirRowStore *self, const KvasirRowShape *shape, GError **error);
/* Takes the buffers, cleared. No tensor can be added afterwards. */
gboolean kvasir_row_store_allocate (KvasirRowStore *self, GError **error);

KvasirTensor *kvasir_row_store_get (const KvasirRowStore *self, guint i);
/* The buffer that tensor @i lies in and where in it row 0 starts. */
KvasirBuffer *kvasir_row_store_peek_buffer (const KvasirRowStore *self, guint i, gsize *offset);
void kvasir_row_store_zero (KvasirRowStore *self);
/* Bytes of one row over all tensors, without padding. */
guint64 kvasir_row_store_get_row_bytes (const KvasirRowStore *self);
/* Appends KvasirMemoryRow lines. */
void kvasir_row_store_append_breakdown (const KvasirRowStore *self, GArray *rows);
/* Emits BUFFER events of @memory: 1 they are there, -1 they go. */
void kvasir_row_store_report (const KvasirRowStore *self, KvasirMemory *memory, gint sign);

G_END_DECLS
