/* engine/memory/kv-store.h - the K and V tensors of a cache and the buffers they lie in
 *
 * Tensors of one buffer type lie one behind the other, each padded to the type's alignment, in as
 * few buffers as the type's largest size allows. Measuring is the same code without the last step.
 *
 * Owner: a cache. Thread: engine thread.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/memory/memory-params.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirTensor tensor; /* [n_embd, size, streams], or [size, n_embd, streams] */
  gboolean is_transposed;
  guint n_embd;
  gsize row_bytes; /* of one cell, whether its values lie together or not */
  gsize n_bytes;   /* in the buffer, with padding; 0: the layer has no such tensor */
  guint chunk;
  gsize offset; /* in the chunk's buffer */
} KvasirKvTensor;

typedef struct
{
  gint layer; /* the model's layer number */
  KvasirBufferType *buffer_type;
  KvasirKvTensor k;
  KvasirKvTensor v;
} KvasirKvRows;

/* One buffer. */
typedef struct
{
  KvasirBufferType *type;
  gsize n_bytes;
  KvasirBuffer *buffer; /* (owned) NULL where only measured */
} KvasirKvChunk;

/* What the layers of one cache keep. */
typedef struct
{
  guint size; /* cells per stream */
  guint n_streams;
  KvasirType type_k;
  KvasirType type_v;
  gboolean v_transposed;
  gboolean is_swa; /* what the bytes are called */
  gboolean no_alloc;
  guint n_layers;
  const guint *numbers;            /* [n_layers], the model's layer numbers */
  const KvasirMemoryLayer *layers; /* by the model's layer number */
} KvasirKvStoreParams;

typedef struct
{
  KvasirType type_k;
  KvasirType type_v;
  gboolean v_transposed;
  gboolean is_swa;
  guint size;
  guint n_streams;
  guint n_layers;
  KvasirKvRows *rows; /* (owned) [n_layers] */
  GArray *chunks;     /* (owned) of KvasirKvChunk */
  gboolean is_settled;
} KvasirKvStore;

/* FALSE: @error is set; clear it all the same. */
gboolean
kvasir_kv_store_init (KvasirKvStore *self, const KvasirKvStoreParams *params, GError **error);
void kvasir_kv_store_clear (KvasirKvStore *self);

/* The layer's rows, or NULL where it has none. */
KvasirKvRows *kvasir_kv_store_find (const KvasirKvStore *self, guint layer);
/* The buffer that @tensor lies in. */
KvasirBuffer *kvasir_kv_store_peek_buffer (const KvasirKvStore *self, const KvasirKvTensor *tensor);
/* K and V of one cell over all layers, without padding. */
guint64 kvasir_kv_store_get_bytes_per_cell (const KvasirKvStore *self);
/* The keys' part of that. */
guint64 kvasir_kv_store_get_k_bytes_per_cell (const KvasirKvStore *self);
void kvasir_kv_store_zero (KvasirKvStore *self);
/* Many of the cells are in use. Only the first call does something. */
void kvasir_kv_store_settle (KvasirKvStore *self);
/* Copies the rows of cells 0 ... @n_cells - 1 of a stream to another one. */
void kvasir_kv_store_copy_stream (KvasirKvStore *self, guint src, guint dst, guint n_cells);
/* Bytes of K or of V in one chunk. */
guint64 kvasir_kv_store_get_chunk_bytes (const KvasirKvStore *self, guint chunk, gboolean of_v);
KvasirMemoryKind kvasir_kv_store_get_kind (const KvasirKvStore *self, gboolean of_v);
/* Appends KvasirMemoryRow lines. */
void kvasir_kv_store_append_breakdown (const KvasirKvStore *self, GArray *rows);

G_END_DECLS
