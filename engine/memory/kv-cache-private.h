/* engine/memory/kv-cache-private.h - the inside of the unified KV cache, shared by its files
 *
 * kv-cache.c makes it, kv-batch.c plays batches, kv-ops.c changes sequences, kv-store.c holds
 * tensors and buffers, kv-save.c and kv-restore.c write and read states. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/changes.h"
#include "engine/memory/kv-cache.h"
#include "engine/memory/kv-store.h"
#include "engine/memory/memory-private.h"
#include "engine/memory/state-io.h"

G_BEGIN_DECLS

/* Attention reads at least so many cells, and in steps of so many. */
#define KVASIR_N_KV_STEP 256

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

/* kv-batch.c */
KvasirPrepare kvasir_kv_cache_init_batch (KvasirMemory *memory, KvasirBatchPlan *plan);
gboolean kvasir_kv_cache_apply_next (KvasirMemory *memory, const KvasirUbatch **ubatch);
void kvasir_kv_cache_rollback (KvasirMemory *memory);
KvasirRoom kvasir_kv_cache_get_room (const KvasirMemory *memory, guint n_tokens);
guint kvasir_kv_cache_get_n_kv (const KvasirMemory *memory, guint cache);
void kvasir_kv_cache_fill_slots (const KvasirMemory *memory, guint cache, gint64 *slots);
void kvasir_kv_cache_fill_mask (const KvasirMemory *memory,
                                guint cache,
                                guint64 *words,
                                gsize words_per_row);

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

/* kv-save.c. What the header of a state of @seq, -1 the whole memory, says. */
void kvasir_kv_cache_describe_state (const KvasirKvCache *self,
                                     gint seq,
                                     gboolean partial,
                                     KvasirStateHeader *header);
/* Bytes of a state with such a header; FALSE where they are too many to count. */
gboolean kvasir_kv_cache_measure_state (const KvasirKvCache *self,
                                        const KvasirStateHeader *header,
                                        gsize *n_bytes);
/* How many of @cells from the first on are neighbours. */
guint kvasir_kv_cache_measure_run (const guint32 *cells, guint n);
gboolean kvasir_kv_cache_state_write (
    KvasirMemory *memory, gint seq, gboolean partial, GByteArray *out, GError **error);
/* kv-restore.c */
gboolean kvasir_kv_cache_state_read (KvasirMemory *memory,
                                     gint seq,
                                     gboolean partial,
                                     const guint8 *bytes,
                                     gsize n_bytes,
                                     GError **error);

G_END_DECLS
