/* ui/inspector/parts.h - the newest parts of snapshots, each held by its own
 *
 * A snapshot carries the views that were subscribed when it was made, so the cells may be newer
 * than the mask. Thread: main thread.
 */
#pragma once

#include "engine/session/snapshot.h"
#include "viz/view.h"

G_BEGIN_DECLS

typedef struct
{
  const KvasirSnapshot *cells;  /* (owned) (nullable) */
  const KvasirSnapshot *mask;   /* (owned) (nullable) */
  const KvasirSnapshot *memory; /* (owned) (nullable) */
} KvasirParts;

void kvasir_parts_clear (KvasirParts *self);
/* Takes what @snapshot brings; parts of another model are dropped. */
void kvasir_parts_update (KvasirParts *self, const KvasirSnapshot *snapshot);
void kvasir_parts_copy (KvasirParts *self, const KvasirParts *other);
KvasirVizData kvasir_parts_get_data (const KvasirParts *self);

G_END_DECLS
