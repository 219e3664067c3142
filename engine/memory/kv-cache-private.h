/* engine/memory/kv-cache-private.h - the inside of the unified KV cache, shared by its files
 *
 * kv-cache.c makes it and plays batches, kv-ops.c changes sequences, kv-store.c holds tensors and
 * buffers, kv-state.c saves and restores. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/changes.h"
#include "engine/memory/kv-cache.h"
#include "engine/memory/kv-store.h"
#include "engine/memory/memory-private.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirMemory parent;
  char *arch; /* (owned) */
  guint32 rope_hash;
  const char *shift_obstacle; /* static, NULL: can shift */
  KvasirKvStore store;
  KvasirCells cells;
  KvasirChanges changes;
  gint32 *numbers; /* (owned) [3 * size], data of the event in hand */

  /* The batch in flight. */
  KvasirBatchPlan *plan; /* (unowned) NULL: no part is left */
  guint32 *slots;        /* (owned) [size], of all its parts in order */
  guint n_applied;       /* slots of the parts that were applied, the last one included */
  guint n_parts;         /* applied so far */
  KvasirUbatch ubatch;   /* the part applied last; n_tokens 0: none, or taken back */
  guint head_before;     /* before that part */
  guint n_kv_before;
  guint n_kv;
} KvasirKvCache;

/* Completes and emits. */
void kvasir_kv_cache_emit (KvasirKvCache *self, KvasirEventType type, const KvasirEvent *arguments);
void kvasir_kv_cache_set_head (KvasirKvCache *self, guint head);
/* Occupies an empty cell and reports it. */
void kvasir_kv_cache_place (KvasirKvCache *self, guint cell, const KvasirCellEntry *entry);

/* kv-ops.c */
gboolean kvasir_kv_cache_seq_rm (KvasirMemory *memory, gint seq, gint32 p0, gint32 p1);
gboolean kvasir_kv_cache_seq_cp (KvasirMemory *memory, guint src, guint dst, gint32 p0, gint32 p1);
void kvasir_kv_cache_seq_keep (KvasirMemory *memory, guint seq);
gboolean
kvasir_kv_cache_seq_add (KvasirMemory *memory, guint seq, gint32 p0, gint32 p1, gint32 delta);
gboolean kvasir_kv_cache_seq_div (KvasirMemory *memory, guint seq, gint32 p0, gint32 p1, gint d);
void kvasir_kv_cache_clear_cells (KvasirMemory *memory, gboolean data);
gboolean kvasir_kv_cache_has_update (const KvasirMemory *memory);
void kvasir_kv_cache_update_done (KvasirMemory *memory, gint64 duration_us);
/* Removes [p0, p1) of @seq, -1 of all, as part of another operation. */
void kvasir_kv_cache_remove (KvasirKvCache *self, gint seq, gint32 p0, gint32 p1);

/* kv-state.c */
gboolean kvasir_kv_cache_state_write (
    KvasirMemory *memory, gint seq, gboolean partial, GByteArray *out, GError **error);
gboolean kvasir_kv_cache_state_read (KvasirMemory *memory,
                                     gint seq,
                                     gboolean partial,
                                     const guint8 *bytes,
                                     gsize n_bytes,
                                     GError **error);

G_END_DECLS
