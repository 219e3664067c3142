/* Makes a memory of the kind that its layers ask for. */
#include "engine/memory/memory-params.h"

#include <string.h>

#include "engine/memory/kv-cache.h"
#include "engine/memory/memory-private.h"
#include "engine/memory/none.h"
#include "engine/memory/recurrent.h"

#define PADDING 256

static guint
get_sliding_size (const KvasirMemoryParams *params)
{
  guint n_seqs = params->n_streams == 1 ? params->n_seq_max : 1;
  guint64 n = (guint64) params->n_swa * n_seqs + params->n_ubatch;

  if (params->swa_full)
    return params->kv_size;
  return (guint) MIN (params->kv_size, (n + PADDING - 1) / PADDING * PADDING);
}

/* Makes @part, which may be NULL, the next one of @self. */
static gboolean
add_part (KvasirMemory *self, KvasirPart *part, const char *name)
{
  if (part == NULL)
    return FALSE;
  part->memory = self;
  part->cache = (guint16) self->n_parts;
  part->name = name;
  self->parts[self->n_parts++] = part;
  return TRUE;
}

/* @of_pair: only layers that slide or do not, as @is_swa says */
static gboolean
add_kv_cache (KvasirMemory *self,
              const KvasirMemoryParams *params,
              gboolean of_pair,
              gboolean is_swa,
              const char *name,
              GError **error)
{
  g_autofree guint *layers = g_new (guint, params->n_layers);
  KvasirKvCacheParams kv = { .memory = params,
                             .is_swa = is_swa,
                             .size = is_swa ? get_sliding_size (params) : params->kv_size,
                             .lender =
                                 self->other != NULL ? self->other->parts[self->n_parts] : NULL,
                             .layers = layers };

  for (guint i = 0; i < params->n_layers; i++)
    {
      const KvasirMemoryLayer *layer = &params->layers[i];

      if (self->lent_layers != NULL && self->lent_layers[i] >= 0)
        continue;
      if (layer->has_attention && layer->share < 0 && (!of_pair || !layer->is_swa == !is_swa))
        layers[kv.n_layers++] = i;
    }
  return add_part (self, kvasir_kv_cache_new (&kv, error), name);
}

static gboolean
add_pair (KvasirMemory *self, const KvasirMemoryParams *params, gboolean is_hybrid, GError **error)
{
  if (!add_kv_cache (self, params, TRUE, FALSE, is_hybrid ? "attn_base" : "base", error) ||
      !add_kv_cache (self, params, TRUE, TRUE, is_hybrid ? "attn_swa" : "swa", error))
    return FALSE;
  kvasir_kv_cache_set_base (self->parts[1], self->parts[0]);
  if (self->shift_obstacle == NULL && get_sliding_size (params) != params->kv_size)
    self->shift_obstacle =
        "the sliding layers keep fewer cells than the full ones, so that they no "
        "longer hold what moved positions would bring back into the window";
  return TRUE;
}

static gboolean
add_recurrent (KvasirMemory *self, const KvasirMemoryParams *params, GError **error)
{
  return add_part (self, kvasir_recurrent_new (params, error), "recurrent");
}

static gboolean
add_scratch (KvasirMemory *self, const KvasirMemoryParams *params, GError **error)
{
  gboolean has[2] = { FALSE, FALSE };

  for (guint i = 0; i < params->n_layers; i++)
    if (params->layers[i].has_attention)
      has[params->layers[i].is_swa ? 1 : 0] = TRUE;
  if (!has[1])
    return add_part (self, kvasir_none_new (params, FALSE, error), "base");
  return add_part (self, kvasir_none_new (params, FALSE, error), "base") &&
         add_part (self, kvasir_none_new (params, TRUE, error), "swa");
}

static gboolean
add_parts (KvasirMemory *self, const KvasirMemoryParams *params, GError **error)
{
  switch (params->klass)
    {
    case KVASIR_MEMORY_NONE:
      return add_scratch (self, params, error);
    case KVASIR_MEMORY_KV:
      return add_kv_cache (self, params, FALSE, FALSE, "base", error);
    case KVASIR_MEMORY_KV_ISWA:
      return add_pair (self, params, FALSE, error);
    case KVASIR_MEMORY_RECURRENT:
      return add_recurrent (self, params, error);
    case KVASIR_MEMORY_HYBRID:
      return add_kv_cache (self, params, FALSE, FALSE, "attn", error) &&
             add_recurrent (self, params, error);
    case KVASIR_MEMORY_HYBRID_ISWA:
      return add_pair (self, params, TRUE, error) && add_recurrent (self, params, error);
    }
  g_return_val_if_reached (FALSE);
}

static gboolean
is_recurrent (KvasirMemoryClass klass)
{
  return klass == KVASIR_MEMORY_RECURRENT || klass == KVASIR_MEMORY_HYBRID ||
         klass == KVASIR_MEMORY_HYBRID_ISWA;
}

KvasirMemory *
kvasir_memory_new (const KvasirMemoryParams *params, GError **error)
{
  g_autoptr (KvasirMemory) self = NULL;

  g_return_val_if_fail (params != NULL && params->arch != NULL, NULL);
  g_return_val_if_fail (params->n_seq_max > 0 && params->n_seq_max <= KVASIR_MAX_SEQS, NULL);
  g_return_val_if_fail (params->n_streams == 1 || params->n_streams == params->n_seq_max, NULL);

  self = g_new0 (KvasirMemory, 1);
  self->klass = params->klass;
  self->n_seq_max = params->n_seq_max;
  self->n_streams = params->n_streams;
  self->n_ubatch = params->n_ubatch;
  self->n_rs_seq = is_recurrent (params->klass) ? params->n_rs_seq : 0;
  self->is_unified = params->unified;
  self->is_sliding =
      params->klass == KVASIR_MEMORY_KV_ISWA || params->klass == KVASIR_MEMORY_HYBRID_ISWA;
  self->v_transposed = params->v_transposed;
  self->n_layers = params->n_layers;
  self->layers = g_memdup2 (params->layers, params->n_layers * sizeof *params->layers);
  self->shift_obstacle = params->klass != KVASIR_MEMORY_RECURRENT ? params->shift_obstacle : NULL;
  self->arch = g_strdup (params->arch);
  self->rope_hash = params->rope_hash;
  self->n_ctx_seq = params->n_ctx_seq;
  self->n_pos_per_token = params->n_pos_per_token;
  self->numbers = g_new (gint32, (gsize) 3 * params->n_ubatch);
  if (!kvasir_memory_borrow (self, params, error))
    return NULL;
  return add_parts (self, params, error) ? g_steal_pointer (&self) : NULL;
}
