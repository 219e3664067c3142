/* viz/memory-sums.h - the memory rows added up once for every picture of them
 *
 * Every figure of the memory page and of the side column comes from here: the parts of a device, of
 * a buffer type and of the kinds add up to the same total.
 * Owner: the view. Thread: one at a time. Borrows the names in the shot.
 */
#pragma once

#include <glib.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

typedef struct
{
  const char *device; /* (unowned) */
  const char *name;   /* (unowned): the buffer type */
  gboolean mapped;    /* of a file: address space, not necessarily resident */
  guint64 kinds[KVASIR_N_KINDS];
  guint64 total;
} KvasirBufferTypeSum;

typedef struct
{
  guint64 k;
  guint64 v;
  gboolean window; /* of the sliding half */
} KvasirLayerSum;

typedef struct
{
  const KvasirMemoryShot *shot; /* (unowned) */
  KvasirBufferTypeSum *types;   /* (owned) [n_types], in the order of the rows */
  guint n_types;
  KvasirLayerSum *layers; /* (owned) [n_layers]: bytes of the KV cache of each layer */
  guint n_layers;
  guint64 measured[KVASIR_N_KINDS];
  guint64 planned[KVASIR_N_KINDS];
  guint64 total;
  guint64 total_planned;
  guint64 kv_bytes; /* all kinds of KV */
} KvasirMemorySums;

KvasirMemorySums *kvasir_memory_sums_new (const KvasirMemoryShot *shot) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_memory_sums_free (KvasirMemorySums *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMemorySums, kvasir_memory_sums_free)

/* A device's memory in parts that add up to it. */
typedef struct
{
  guint64 kinds[KVASIR_N_KINDS]; /* ours; of mapped weights only what is resident */
  guint64 ours;
  guint64 other; /* other programs, and what the system holds */
  guint64 free;
  guint64 total;
  guint64 disagreement; /* counters of the device say less than we hold: by this much */
} KvasirDeviceSum;

void kvasir_memory_sums_get_device (const KvasirMemorySums *self,
                                    const KvasirDeviceShot *device,
                                    KvasirDeviceSum *sum);

/* The name for people: "KV K". */
const char *kvasir_memory_sums_get_kind_label (KvasirMemoryKind kind);
gboolean kvasir_memory_sums_is_kv (KvasirMemoryKind kind);

G_END_DECLS
