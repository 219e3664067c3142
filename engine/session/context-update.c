/* What is done before a decode: copies between streams, then the keys of cells that moved. */
#include "engine/session/context-private.h"

/* Returns: whether any key has to be turned; positions may have come back to where they were. */
static gboolean
fill_shifts (KvasirContext *self)
{
  gboolean any = FALSE;

  for (guint c = 0; c < self->n_attention; c++)
    if (self->shifts[c] != NULL)
      {
        gint32 *shifts = self->shifts[c]->data;
        kvasir_memory_fill_shifts (self->memory, c, shifts);
        for (gint64 i = 0; i < self->shifts[c]->ne[0]; i++)
          any |= shifts[i] != 0;
      }
  return any;
}

/* Not stopped half-way: keys of some layers would be turned and those of others not. */
KvasirStatus
kvasir_context_apply_updates (KvasirContext *self)
{
  const KvasirStep step = { .n_tokens = 1, .n_outputs = 1 };
  const gint64 start = g_get_monotonic_time ();
  KvasirStatus status = KVASIR_STATUS_OK;

  if (!kvasir_memory_has_update (self->memory))
    return KVASIR_STATUS_OK;
  /* Copied keys are turned where they have come to. */
  kvasir_memory_apply_copies (self->memory);
  if (self->shift_plan != NULL && fill_shifts (self))
    status = kvasir_graph_plan_compute_body (self->shift_plan, &step);
  if (status != KVASIR_STATUS_OK)
    return status;
  kvasir_memory_update_done (self->memory, g_get_monotonic_time () - start);
  return KVASIR_STATUS_OK;
}

gboolean
kvasir_context_update (KvasirContext *self)
{
  gboolean pending;

  g_return_val_if_fail (self != NULL && !self->params.no_alloc, FALSE);
  pending = kvasir_memory_has_update (self->memory);
  (void) kvasir_context_apply_updates (self);
  return pending;
}
