/* engine/memory/kv-cache.h - makes a KV cache, a part of a memory
 *
 * K is [n_embd_k, size, streams] and V is [n_embd_v, size, streams] per layer, or [size, n_embd_v,
 * streams] where it is kept transposed, in the layer's buffer type. Buffers are grouped by type,
 * cleared at creation, and with no_alloc only measured: the breakdown of both is the same.
 * Errors: as in memory-params.h.
 */
#pragma once

#include "engine/memory/part.h"
#include "engine/memory/window.h"

G_BEGIN_DECLS

typedef struct
{
  const KvasirMemoryParams *memory;
  gboolean is_swa;    /* the sliding half of a pair: its layers, its window */
  guint size;         /* cells per stream, a multiple of 256 */
  KvasirPart *lender; /* (nullable): whose cells are used in place of its own */
  guint n_layers;
  const guint *layers; /* [n_layers], numbers of those that keep rows here */
} KvasirKvCacheParams;

KvasirPart *kvasir_kv_cache_new (const KvasirKvCacheParams *params,
                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Tells a sliding half of the full one beside it, which outlives it. */
void kvasir_kv_cache_set_base (KvasirPart *sliding, KvasirPart *base);

G_END_DECLS
