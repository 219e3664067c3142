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
#include "engine/memory/kv-cache.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirTensor tensor; /* [n_embd, size], one row per cell */
  gsize row_bytes;     /* of one cell */
  gsize n_bytes;       /* in the buffer, with padding; 0: the layer has no such tensor */
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

typedef struct
{
  KvasirType type_k;
  KvasirType type_v;
  guint n_layers;
  KvasirKvRows *rows; /* (owned) [n_layers] */
  GArray *chunks;     /* (owned) of KvasirKvChunk */
} KvasirKvStore;

/* FALSE: @error is set; clear it all the same. */
gboolean
kvasir_kv_store_init (KvasirKvStore *self, const KvasirKvCacheParams *params, GError **error);
void kvasir_kv_store_clear (KvasirKvStore *self);

/* The layer's rows, or NULL where it has none. */
KvasirKvRows *kvasir_kv_store_find (const KvasirKvStore *self, guint layer);
/* The buffer that @tensor lies in. */
KvasirBuffer *kvasir_kv_store_peek_buffer (const KvasirKvStore *self, const KvasirKvTensor *tensor);
/* K and V of one cell over all layers, without padding. */
guint64 kvasir_kv_store_get_bytes_per_cell (const KvasirKvStore *self);
void kvasir_kv_store_zero (KvasirKvStore *self);
/* Bytes of K or of V in one chunk. */
guint64 kvasir_kv_store_get_chunk_bytes (const KvasirKvStore *self, guint chunk, gboolean of_v);
/* Appends KvasirMemoryRow lines. */
void kvasir_kv_store_append_breakdown (const KvasirKvStore *self, GArray *rows);

G_END_DECLS
