/* engine/memory/changes.h - turns changed cells into CELLS events, run by run
 *
 * An operation goes through its cells in ascending order and brackets each change between
 * kvasir_changes_before() and kvasir_changes_after(). Neighbouring cells that changed in the same
 * way make one event; cells that did not change make none. Where nobody listens both do nothing.
 *
 * Owner: a cache. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirMemory *memory; /* (unowned) whose sink and step the events get */
  guint16 cache;
  KvasirEvent run;       /* the run so far; n is 0 where there is none */
  KvasirRunState before; /* of the cell in hand */
  gint32 token;          /* the same */
  /* (owned) [2 * size]: the run's tokens before it changed, and in the second half after */
  gint32 *tokens;
  guint size;
} KvasirChanges;

/* FALSE: no memory; clear it all the same. */
gboolean kvasir_changes_init (KvasirChanges *self, KvasirMemory *memory, guint16 cache, guint size);
void kvasir_changes_clear (KvasirChanges *self);

void kvasir_changes_before (KvasirChanges *self, const KvasirCells *cells, guint cell);
void kvasir_changes_after (KvasirChanges *self, const KvasirCells *cells, guint cell);
/* Emits the run that is still open. */
void kvasir_changes_flush (KvasirChanges *self);

G_END_DECLS
