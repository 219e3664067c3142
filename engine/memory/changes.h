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
#include "engine/memory/part.h"

G_BEGIN_DECLS

typedef struct
{
  const KvasirPart *part;    /* (unowned) whose cells they are */
  guint16 stream;            /* of the operation in hand */
  gboolean is_muted;         /* nothing is reported: what happens will be taken back */
  KvasirEvent run;           /* the run so far; n is 0 where there is none */
  KvasirRunState before[64]; /* of the cells in hand */
  gint32 tokens_before[64];  /* the same */
  /* (owned) [2 * size]: the run's tokens before it changed, and in the second half after */
  gint32 *tokens;
  guint size;
} KvasirChanges;

/* FALSE: no memory; clear it all the same. */
gboolean kvasir_changes_init (KvasirChanges *self, const KvasirPart *part, guint size);
void kvasir_changes_clear (KvasirChanges *self);

void kvasir_changes_before (KvasirChanges *self, const KvasirCells *cells, guint cell);
void kvasir_changes_after (KvasirChanges *self, const KvasirCells *cells, guint cell);
/* The same for cells 64 @w + i, for every bit i of @bits. */
void
kvasir_changes_before_bits (KvasirChanges *self, const KvasirCells *cells, guint w, guint64 bits);
void
kvasir_changes_after_bits (KvasirChanges *self, const KvasirCells *cells, guint w, guint64 bits);
/* FALSE: nothing is reported. */
gboolean kvasir_changes_are_watched (const KvasirChanges *self);
/* Emits the run that is still open. */
void kvasir_changes_flush (KvasirChanges *self);

G_END_DECLS
