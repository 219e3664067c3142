/* The planner: a model and a context in measuring mode. */
#include "engine/session/context-private.h"

static void
describe_memory (KvasirContext *context, KvasirFit *fit)
{
  const KvasirMemory *memory = kvasir_context_get_memory (context);
  guint n_caches = kvasir_memory_get_n_caches (memory);

  fit->memory_class = kvasir_memory_get_class (memory);
  fit->n_ctx_seq = kvasir_context_get_n_ctx_seq (context);
  fit->caches = g_array_new (FALSE, FALSE, sizeof (KvasirCacheInfo));
  if (fit->memory_class == KVASIR_MEMORY_NONE)
    n_caches = 0;
  for (guint i = 0; i < n_caches; i++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, i, &info);
      g_array_append_val (fit->caches, info);
    }
}

gboolean
kvasir_fit_measure_model (KvasirModel *model,
                          const KvasirContextParams *params,
                          KvasirFit *fit,
                          GError **error)
{
  KvasirDevice *device = model->device;
  KvasirContextParams measured = *params;
  g_autoptr (KvasirContext) context = NULL;
  gsize free_bytes = 0, total_bytes = 0;

  *fit = (KvasirFit){ 0 };
  measured.no_alloc = TRUE;
  context = kvasir_context_new (model, &measured, error);
  if (context == NULL)
    return FALSE;
  fit->rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  fit->params = *kvasir_context_get_params (context);
  describe_memory (context, fit);
  kvasir_context_append_breakdown (context, fit->rows);
  for (guint i = 0; i < fit->rows->len; i++)
    fit->need_bytes += g_array_index (fit->rows, KvasirMemoryRow, i).n_bytes;
  device->vtable->get_memory (device, &free_bytes, &total_bytes);
  fit->free_bytes = free_bytes;
  fit->fits = fit->need_bytes <= free_bytes;
  return TRUE;
}

gboolean
kvasir_fit_measure (KvasirDevice *device,
                    const char *path,
                    const KvasirContextParams *params,
                    KvasirFit *fit,
                    KvasirModel **model,
                    GError **error)
{
  const KvasirModelParams model_params = { .device = device, .no_alloc = TRUE };
  g_autoptr (KvasirModel) made = kvasir_model_new (path, &model_params, error);

  *fit = (KvasirFit){ 0 };
  if (made == NULL || !kvasir_fit_measure_model (made, params, fit, error))
    return FALSE;
  if (model != NULL)
    *model = g_steal_pointer (&made);
  return TRUE;
}

void
kvasir_fit_clear (KvasirFit *fit)
{
  g_clear_pointer (&fit->rows, g_array_unref);
  g_clear_pointer (&fit->caches, g_array_unref);
}
