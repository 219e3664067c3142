#include "viz/memory-sums.h"

#include <glib/gi18n.h>
#include <string.h>

gboolean
kvasir_memory_sums_is_kv (KvasirMemoryKind kind)
{
  return kind == KVASIR_KIND_KV_K || kind == KVASIR_KIND_KV_V || kind == KVASIR_KIND_SWA_K ||
         kind == KVASIR_KIND_SWA_V;
}

const char *
kvasir_memory_sums_get_kind_label (KvasirMemoryKind kind)
{
  switch (kind)
    {
    case KVASIR_KIND_WEIGHTS:
      return _ ("weights");
    case KVASIR_KIND_KV_K:
      return _ ("KV cache, K");
    case KVASIR_KIND_KV_V:
      return _ ("KV cache, V");
    case KVASIR_KIND_SWA_K:
      return _ ("sliding, K");
    case KVASIR_KIND_SWA_V:
      return _ ("sliding, V");
    case KVASIR_KIND_RECURRENT:
      return _ ("recurrent state");
    case KVASIR_KIND_COMPUTE:
      return _ ("compute");
    case KVASIR_KIND_OUTPUT:
      return _ ("output");
    case KVASIR_KIND_CHECKPOINTS:
      return _ ("checkpoints");
    case KVASIR_KIND_GUESSING:
      return _ ("guessing model");
    case KVASIR_N_KINDS:
      break;
    }
  g_return_val_if_reached ("");
}

static KvasirBufferTypeSum *
find_type (KvasirMemorySums *self, const KvasirMemoryRow *row)
{
  for (guint i = 0; i < self->n_types; i++)
    if (strcmp (self->types[i].name, row->buffer_type) == 0 &&
        strcmp (self->types[i].device, row->device) == 0)
      return &self->types[i];
  KvasirBufferTypeSum *type = &self->types[self->n_types++];
  type->device = row->device;
  type->name = row->buffer_type;
  type->mapped = g_str_has_suffix (row->buffer_type, "_Mapped");
  return type;
}

static void
add_layer (KvasirMemorySums *self, const KvasirMemoryRow *row)
{
  if (row->layer < 0 || !kvasir_memory_sums_is_kv (row->kind))
    return;
  KvasirLayerSum *layer = &self->layers[row->layer];
  if (row->kind == KVASIR_KIND_KV_K || row->kind == KVASIR_KIND_SWA_K)
    layer->k += row->n_bytes;
  else
    layer->v += row->n_bytes;
  layer->window = row->kind == KVASIR_KIND_SWA_K || row->kind == KVASIR_KIND_SWA_V;
}

static guint
count_layers (const KvasirMemoryShot *shot)
{
  gint last = -1;
  for (guint i = 0; i < shot->n_rows; i++)
    if (kvasir_memory_sums_is_kv (shot->rows[i].kind))
      last = MAX (last, shot->rows[i].layer);
  return (guint) (last + 1);
}

static void
add_row (KvasirMemorySums *self, const KvasirMemoryRow *row)
{
  KvasirBufferTypeSum *type = find_type (self, row);
  type->kinds[row->kind] += row->n_bytes;
  type->total += row->n_bytes;
  self->measured[row->kind] += row->n_bytes;
  self->total += row->n_bytes;
  self->kv_bytes += kvasir_memory_sums_is_kv (row->kind) ? row->n_bytes : 0;
  add_layer (self, row);
}

KvasirMemorySums *
kvasir_memory_sums_new (const KvasirMemoryShot *shot)
{
  KvasirMemorySums *self = g_new0 (KvasirMemorySums, 1);
  self->shot = shot;
  self->n_layers = count_layers (shot);
  self->layers = g_new0 (KvasirLayerSum, self->n_layers + 1);
  self->types = g_new0 (KvasirBufferTypeSum, shot->n_rows + 1);
  for (guint i = 0; i < shot->n_rows; i++)
    add_row (self, &shot->rows[i]);
  for (guint i = 0; i < shot->n_planned; i++)
    {
      self->planned[shot->planned[i].kind] += shot->planned[i].n_bytes;
      self->total_planned += shot->planned[i].n_bytes;
    }
  return self;
}

void
kvasir_memory_sums_free (KvasirMemorySums *self)
{
  if (self == NULL)
    return;
  g_free (self->types);
  g_free (self->layers);
  g_free (self);
}

/* Of a mapped file only @mapped_left bytes are in memory. */
static void
add_type (KvasirDeviceSum *sum, const KvasirBufferTypeSum *type, guint64 *mapped_left)
{
  for (guint kind = 0; kind < KVASIR_N_KINDS; kind++)
    {
      guint64 bytes = type->mapped ? MIN (type->kinds[kind], *mapped_left) : type->kinds[kind];
      *mapped_left -= type->mapped ? bytes : 0;
      sum->kinds[kind] += bytes;
      sum->ours += bytes;
    }
}

void
kvasir_memory_sums_get_device (const KvasirMemorySums *self,
                               const KvasirDeviceShot *device,
                               KvasirDeviceSum *sum)
{
  guint64 mapped_left = self->shot->weights_resident_bytes;
  *sum = (KvasirDeviceSum){ .total = device->total_bytes, .free = device->free_bytes };
  for (guint i = 0; i < self->n_types; i++)
    if (strcmp (self->types[i].device, device->device) == 0)
      add_type (sum, &self->types[i], &mapped_left);
  guint64 known = sum->ours + sum->free;
  if (known > sum->total)
    sum->disagreement = known - sum->total;
  else
    sum->other = sum->total - known;
}
