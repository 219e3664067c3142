/* engine/memory/kv-cache.h - makes the unified KV cache
 *
 * K is [n_embd_k_gqa, kv_size] and V is [n_embd_v_gqa, kv_size] per layer, in the layer's buffer
 * type. Buffers are grouped by type, cleared at creation, and with no_alloc only measured: the
 * breakdown of both is the same. Errors: KVASIR_ENGINE_ERROR_NO_MEMORY naming bytes and buffer
 * type; _BAD_ARGUMENT for types that do not go with the head widths.
 */
#pragma once

#include "engine/memory/memory.h"

G_BEGIN_DECLS

typedef struct
{
  gint layer;     /* the model's layer number */
  guint n_embd_k; /* kv heads * head width */
  guint n_embd_v;
  guint head_dim_k;
  guint head_dim_v;
  KvasirBufferType *buffer_type;
} KvasirKvLayer;

typedef struct
{
  guint kv_size; /* cells, a multiple of 256 */
  guint n_seq_max;
  guint n_ubatch;
  KvasirType type_k;
  KvasirType type_v;
  guint n_layers;
  const KvasirKvLayer *layers;
  gboolean no_alloc;
  const char *shift_obstacle; /* static text, NULL: can shift */
  const char *arch;           /* for the state header */
  guint32 rope_hash;          /* rope settings, so that states of other settings are refused */
} KvasirKvCacheParams;

KvasirMemory *kvasir_kv_cache_new (const KvasirKvCacheParams *params,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
