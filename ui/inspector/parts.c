#include "ui/inspector/parts.h"

static void
replace (const KvasirSnapshot **slot, const KvasirSnapshot *snapshot)
{
  if (snapshot != NULL)
    kvasir_snapshot_ref (snapshot);
  g_clear_pointer (slot, kvasir_snapshot_unref);
  *slot = snapshot;
}

void
kvasir_parts_clear (KvasirParts *self)
{
  replace (&self->cells, NULL);
  replace (&self->mask, NULL);
  replace (&self->memory, NULL);
}

static void
drop_stale (const KvasirSnapshot **slot, guint64 model_id)
{
  if (*slot != NULL && (*slot)->model_id != model_id)
    replace (slot, NULL);
}

void
kvasir_parts_update (KvasirParts *self, const KvasirSnapshot *snapshot)
{
  drop_stale (&self->cells, snapshot->model_id);
  drop_stale (&self->mask, snapshot->model_id);
  drop_stale (&self->memory, snapshot->model_id);
  if (snapshot->cells != NULL)
    replace (&self->cells, snapshot);
  if (snapshot->mask != NULL)
    replace (&self->mask, snapshot);
  if (snapshot->memory != NULL)
    replace (&self->memory, snapshot);
}

void
kvasir_parts_copy (KvasirParts *self, const KvasirParts *other)
{
  replace (&self->cells, other->cells);
  replace (&self->mask, other->mask);
  replace (&self->memory, other->memory);
}

KvasirVizData
kvasir_parts_get_data (const KvasirParts *self)
{
  return (KvasirVizData){
    .cells = self->cells != NULL ? self->cells->cells : NULL,
    .mask = self->mask != NULL ? self->mask->mask : NULL,
    .memory = self->memory != NULL ? self->memory->memory : NULL,
    .step = self->cells != NULL ? self->cells->step : 0,
  };
}
