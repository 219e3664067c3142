/* engine/memory/kv-cache-private.h - the inside of a KV cache, shared by its files
 *
 * kv-cache.c makes it, kv-plan.c finds cells for a batch, kv-batch.c plays its ubatches, kv-ops.c
 * changes sequences, kv-copy.c copies streams, kv-window.c says what a window would miss,
 * kv-store.c holds tensors and buffers, kv-save.c, kv-restore.c and kv-rows.c write and read
 * states. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/changes.h"
#include "engine/memory/kv-cache.h"
#include "engine/memory/kv-store.h"
#include "engine/memory/memory-private.h"
#include "engine/memory/part.h"
#include "engine/memory/state-io.h"
#include "engine/memory/window.h"

G_BEGIN_DECLS

/* Attention reads at least so many cells, and in steps of so many. */
#define KVASIR_N_KV_STEP 256

/* One ubatch of the batch in flight. */
typedef struct
{
  guint first_slot; /* its first one in slots */
  guint first_memo; /* and in memos, while the batch is planned */
  guint n_kv;       /* once it is placed */
} KvasirKvPlanned;

/* A cell as it was before a ubatch overwrote or purged it. */
typedef struct
{
  guint stream;
  guint cell;
  KvasirCell state;
} KvasirKvMemo;

/* A copy between streams that waits for the next update. */
typedef struct
{
  guint src;
  guint dst;
  guint n_cells; /* cells 0 ... n_cells - 1 */
} KvasirKvCopy;

/* A row of the mask that somebody keeps, and what has changed since it was written. */
typedef struct
{
  guint64 n_stamps;    /* given out so far */
  guint64 stamp_valid; /* 0: no row can be followed */
  guint seq;
  guint n_kv;
  gint32 first; /* position where the window begins ... */
  guint edge;   /* ... and the cell where it is, or was thought to be */
  guint n_touched;
  guint touched[32]; /* words of the row */
} KvasirKvTrace;

typedef struct _KvasirKvCache KvasirKvCache;
struct _KvasirKvCache
{
  KvasirPart parent;
  guint size; /* cells per stream */
  guint n_streams;
  guint n_seq_max;
  guint n_ubatch;
  guint n_pos; /* positions of a token */
  KvasirWindowRule window;
  KvasirKvStore store;
  KvasirCells *cells;   /* (owned unless lent) [n_streams], NULL where only measured */
  gboolean is_borrower; /* the cells are those of another memory's part */
  KvasirKvCache *base;  /* (unowned) (nullable): the full half beside this sliding one */
  KvasirChanges changes;
  gint32 *numbers; /* (owned) [3 * n_ubatch], data of the event in hand */
  GArray *copies;  /* (owned) of KvasirKvCopy, in order */
  guint n_copied;  /* of these are done already */

  /* The batch in flight. */
  guint32 *slots;   /* (owned) [n_batch], cells of all its ubatches in order */
  guint8 *mirrored; /* (owned) (nullable) [n_batch] the lender has placed it there already */
  KvasirKvPlanned *planned;   /* (owned) [n_batch] */
  GArray *memos;              /* (owned) of KvasirKvMemo, of the ubatch in hand */
  guint *heads;               /* (owned) [n_streams], before the ubatch in hand */
  gint32 *overwritten;        /* (owned) [n_seq_max], highest position per sequence */
  const KvasirUbatch *ubatch; /* (unowned) applied last, NULL: none, or taken back */
  guint index;                /* its number */
  gboolean has_later;         /* cells from before it lie at positions not below its tokens' */
  guint failed_stream;        /* where the last search failed */
  guint n_kv_before;
  guint n_kv;
  KvasirKvTrace trace;
};

/* The tokens of a ubatch that go to one stream. */
typedef struct
{
  guint stream;
  guint first; /* token of the ubatch */
  guint n;
} KvasirKvSlice;

static inline gboolean
kvasir_kv_cache_is_sliding (const KvasirKvCache *self)
{
  return self->window.kind != KVASIR_WINDOW_NONE;
}

static inline guint
kvasir_kv_cache_get_stream (const KvasirKvCache *self, guint seq)
{
  return self->n_streams == 1 ? 0 : seq;
}

static inline KvasirCells *
kvasir_kv_cache_peek_cells_of (const KvasirKvCache *self, guint seq)
{
  return &self->cells[kvasir_kv_cache_get_stream (self, seq)];
}

/* Whether the token of @slot, one of slots, lies where the lender has put it. */
static inline gboolean
kvasir_kv_cache_is_mirrored (const KvasirKvCache *self, const guint32 *slot)
{
  return self->mirrored != NULL && self->mirrored[slot - self->slots];
}

/* Completes and emits. */
void kvasir_kv_cache_emit (KvasirKvCache *self, KvasirEventType type, const KvasirEvent *arguments);
void kvasir_kv_cache_set_head (KvasirKvCache *self, guint stream, guint head);
/* kv-plan.c */
guint kvasir_kv_cache_get_n_slices (const KvasirKvCache *self, const KvasirUbatch *ubatch);
KvasirKvSlice
kvasir_kv_cache_get_slice (const KvasirKvCache *self, const KvasirUbatch *ubatch, guint i);
gboolean kvasir_kv_cache_prepare (KvasirPart *part, const KvasirBatchPlan *plan, gboolean relaxed);
void kvasir_kv_cache_report_failure (KvasirPart *part, guint n_tokens);
guint kvasir_kv_cache_get_planned_n_kv (const KvasirPart *part, guint i);
KvasirRoom kvasir_kv_cache_get_room (const KvasirPart *part, guint seq, guint n_tokens);

/* kv-borrow.c. Finds cells as the borrower of a lender's: those that hold the tokens already, and
 * others for the rest. */
gboolean kvasir_kv_cache_find_mirrored (KvasirKvCache *self,
                                        const KvasirUbatch *ubatch,
                                        const KvasirKvSlice *slice,
                                        gboolean relaxed,
                                        guint32 *slots);
/* Where @seq holds @pos, or -1; looked for from cell @from on first. */
gint kvasir_kv_cache_find_held (const KvasirKvCache *self, guint seq, gint32 pos, guint from);

/* kv-batch.c. Occupies the cells of a slice and purges what would be left before an overwritten
 * position; remembers in memos what that takes away. */
void kvasir_kv_cache_occupy (KvasirKvCache *self,
                             const KvasirUbatch *ubatch,
                             const KvasirKvSlice *slice,
                             const guint32 *slots);
/* Where the next search starts once @slice is placed. */
guint kvasir_kv_cache_get_next_head (const KvasirKvCache *self,
                                     const KvasirKvSlice *slice,
                                     const guint32 *slots);
/* Puts back what the memos from @first on hold, and forgets them. */
void kvasir_kv_cache_recall (KvasirKvCache *self, guint first);
void kvasir_kv_cache_apply (KvasirPart *part, const KvasirUbatch *ubatch, guint i);
void kvasir_kv_cache_rollback (KvasirPart *part);
guint kvasir_kv_cache_get_n_kv (const KvasirPart *part);
void kvasir_kv_cache_fill_slots (const KvasirPart *part, gint64 *slots);

/* kv-mask.c */
void kvasir_kv_cache_fill_mask (const KvasirPart *part, guint64 *words, gsize words_per_row);
guint64
kvasir_kv_cache_refresh_mask (KvasirPart *part, guint64 *words, gsize words_per_row, guint64 stamp);
/* The slice in hand was placed. */
void kvasir_kv_trace_apply (KvasirKvCache *self, const KvasirKvSlice *slice);
/* Cells have changed in other ways. */
void kvasir_kv_trace_break (KvasirKvTrace *self);

/* kv-ops.c */
void kvasir_kv_cache_rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1);
void kvasir_kv_cache_keep (KvasirPart *part, guint seq);
void kvasir_kv_cache_add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta);
void kvasir_kv_cache_div (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d);
void kvasir_kv_cache_clear_cells (KvasirPart *part, gboolean data);
gboolean kvasir_kv_cache_has_update (const KvasirPart *part);
void kvasir_kv_cache_update_done (KvasirPart *part, gint64 duration_us);
/* The destination joins the cells of the source in its stream. */
void kvasir_kv_cache_join (KvasirKvCache *self, guint src, guint dst, gint32 p0, gint32 p1);
/* Removes [p0, p1) of @seq from its stream, as part of another operation. What is taken away goes
 * to the memos if @remember. Returns: the first cell that became empty, G_MAXUINT: none */
guint
kvasir_kv_cache_remove (KvasirKvCache *self, guint seq, gint32 p0, gint32 p1, gboolean remember);

/* kv-copy.c */
gboolean
kvasir_kv_cache_can_cp (const KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1);
void kvasir_kv_cache_cp (KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1);
gboolean kvasir_kv_cache_apply_copies (KvasirPart *part);
/* Does the copies that wait, which stay pending: their streams are about to be written. */
void kvasir_kv_cache_flush_copies (KvasirKvCache *self);

/* kv-window.c: whether what an operation leaves is complete within the window. Always, in a cache
 * that does not slide. */
gboolean kvasir_kv_cache_can_rm (const KvasirPart *part, gint seq, gint32 p0, gint32 p1);
gboolean
kvasir_kv_cache_can_add (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta);
gboolean kvasir_kv_cache_can_div (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d);
gboolean
kvasir_kv_cache_can_join (const KvasirKvCache *self, guint src, guint dst, gint32 p0, gint32 p1);
gint32 kvasir_kv_cache_get_rewind (const KvasirPart *part, guint seq, gint32 p0);

/* kv-rows.c: the rows of cells, on their way. */
typedef struct
{
  const guint32 *cells; /* [n_cells], numbered through all streams */
  guint n_cells;
  guint8 *to;         /* out of the buffers, or NULL ... */
  const guint8 *from; /* ... into them */
} KvasirRowMove;

/* All layers, K then V, in the order of @rows->cells. */
void kvasir_kv_rows_move (const KvasirKvStore *store, KvasirRowMove *rows);

/* kv-save.c. Bytes of a section before its cells, and of a cell without its rows. */
guint64 kvasir_kv_section_get_head_bytes (const KvasirKvCache *self, guint n_streams);
guint64 kvasir_kv_section_get_cell_bytes (const KvasirKvCache *self, guint n_set_words);
gboolean kvasir_kv_cache_state_write (KvasirPart *part, gint seq, GByteArray *out, GError **error);
/* kv-restore.c */
gpointer
kvasir_kv_cache_state_check (KvasirPart *part, gint seq, KvasirStateReader *reader, GError **error);
void kvasir_kv_cache_state_apply (KvasirPart *part, gint seq, gpointer data, gboolean apply);

G_END_DECLS
