/* Makes a memory of the kind that its layers ask for. */
#include "engine/memory/memory-params.h"

#include "engine/memory/kv-cache.h"
#include "engine/memory/memory-private.h"

KvasirMemory *
kvasir_memory_new (const KvasirMemoryParams *params, GError **error)
{
  g_autofree KvasirKvLayer *layers = NULL;
  KvasirKvCacheParams kv;

  g_return_val_if_fail (params != NULL, NULL);
  if (params->klass != KVASIR_MEMORY_KV || params->n_streams > 1 || params->v_transposed)
    {
      kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                          "memory of kind %s is not supported",
                          kvasir_memory_class_get_name (params->klass));
      return NULL;
    }
  layers = g_new0 (KvasirKvLayer, params->n_layers);
  for (guint i = 0; i < params->n_layers; i++)
    layers[i] = (KvasirKvLayer){ .layer = (gint) i,
                                 .n_embd_k = params->layers[i].n_embd_k,
                                 .n_embd_v = params->layers[i].n_embd_v,
                                 .head_dim_k = params->layers[i].head_dim_k,
                                 .head_dim_v = params->layers[i].head_dim_v,
                                 .buffer_type = params->layers[i].buffer_type };
  kv = (KvasirKvCacheParams){ .kv_size = params->kv_size,
                              .n_seq_max = params->n_seq_max,
                              .n_ubatch = params->n_ubatch,
                              .type_k = params->type_k,
                              .type_v = params->type_v,
                              .n_layers = params->n_layers,
                              .layers = layers,
                              .no_alloc = params->no_alloc,
                              .shift_obstacle = params->shift_obstacle,
                              .arch = params->arch,
                              .rope_hash = params->rope_hash };
  return kvasir_kv_cache_new (&kv, error);
}
