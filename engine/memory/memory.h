/* engine/memory/memory.h - what every kind of memory can do
 *
 * Two phases. Prepare: kvasir_memory_init_batch() splits the batch and finds cells for every part
 * while touching nothing. Then for each part: apply (cells are occupied), fill the inputs of the
 * graph, compute. A refused batch changes nothing. A part that fails is taken back by
 * kvasir_memory_rollback(); the parts before it stay.
 *
 * Owner:  KvasirContext, one each. Thread: engine thread only; nothing here locks.
 * Events: each change is reported to the sink (engine/memory/events.h).
 * Rules:  the placement rules, repeated in engine/memory/DESIGN.md.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/memory/batch.h"
#include "engine/memory/events.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_MEMORY_NONE,
  KVASIR_MEMORY_KV,
  KVASIR_MEMORY_KV_ISWA,
  KVASIR_MEMORY_RECURRENT,
  KVASIR_MEMORY_HYBRID,
  KVASIR_MEMORY_HYBRID_ISWA
} KvasirMemoryClass;

/* "kv", "kv_iswa", ...: the `kind` of traces. */
const char *kvasir_memory_class_get_name (KvasirMemoryClass klass);

/* What bytes are for. */
typedef enum
{
  KVASIR_KIND_WEIGHTS,
  KVASIR_KIND_KV_K,
  KVASIR_KIND_KV_V,
  KVASIR_KIND_SWA_K,
  KVASIR_KIND_SWA_V,
  KVASIR_KIND_RECURRENT,
  KVASIR_KIND_COMPUTE,
  KVASIR_KIND_OUTPUT,
  KVASIR_KIND_CHECKPOINTS,
  KVASIR_KIND_GUESSING, /* all of a second model that guesses */
  KVASIR_N_KINDS
} KvasirMemoryKind;

const char *kvasir_memory_kind_get_name (KvasirMemoryKind kind);

/* One line of the breakdown. The same lines come from a memory that was only measured. */
typedef struct
{
  const char *device;      /* "CPU" */
  const char *buffer_type; /* "CPU", "CPU_Mapped" */
  KvasirMemoryKind kind;
  gint layer; /* -1: not of one layer */
  guint64 n_bytes;
} KvasirMemoryRow;

typedef enum
{
  KVASIR_PREPARE_OK,
  KVASIR_PREPARE_NO_ROOM,     /* decode code 1 */
  KVASIR_PREPARE_UNSUPPORTED, /* a split that this kind refuses; decode code 1 */
  KVASIR_PREPARE_INCOMPLETE   /* a window misses cells that it needs: the sequence must be read
                                 again from kvasir_memory_get_rewind(); decode code 1 */
} KvasirPrepare;

/* One search, dry or real: which cells n tokens would take. */
typedef struct
{
  guint n_needed;
  guint n_free;
  guint largest_free_run;
  gboolean fits;
} KvasirRoom;

/* Takes the memory where it lies and frees it. */
void kvasir_memory_free (KvasirMemory *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMemory, kvasir_memory_free)

KvasirMemoryClass kvasir_memory_get_class (const KvasirMemory *self);
/* @sink is copied, NULL takes it away. A new sink is told of the buffers that there are, and, if it
 * is still set when the memory is freed, of their end. */
void kvasir_memory_set_sink (KvasirMemory *self, const KvasirEventSink *sink);
/* The step number that events carry; the context raises it with each decode. */
void kvasir_memory_set_step (KvasirMemory *self, guint32 step);

/* FALSE, the default: operations after which the next token of a sequence would look for cells that
 * its window has given up are refused. TRUE: they are carried out, as traces have them, and the
 * next batch of such a sequence is refused instead. */
void kvasir_memory_set_lenient (KvasirMemory *self, gboolean lenient);

/* ---- operations on sequences; p0 < 0 means 0, p1 < 0 means no end, seq -1 means all where stated
 */
/* FALSE: refused, nothing changed: a recurrent state can't go back there, or a window would miss
 * cells afterwards (see kvasir_memory_get_rewind()). */
gboolean kvasir_memory_seq_rm (KvasirMemory *self, gint seq, gint32 p0, gint32 p1);
/* FALSE: this kind cannot (part of a range between streams). */
gboolean kvasir_memory_seq_cp (KvasirMemory *self, gint src, gint dst, gint32 p0, gint32 p1);
void kvasir_memory_seq_keep (KvasirMemory *self, gint seq);
/* FALSE where there is an obstacle to shifts, or a position would leave the range of gint32; then
 * nothing changed. @d is at least 1. */
gboolean kvasir_memory_seq_add (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint32 delta);
gboolean kvasir_memory_seq_div (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint d);
void kvasir_memory_clear (KvasirMemory *self, gboolean data);
/* First and last position as traces report them; -1 where the sequence holds nothing. */
gint32 kvasir_memory_seq_pos_min (const KvasirMemory *self, gint seq);
gint32 kvasir_memory_seq_pos_max (const KvasirMemory *self, gint seq);
/* NULL: shifts work. Otherwise the reason why not, for people. */
const char *kvasir_memory_get_shift_obstacle (const KvasirMemory *self);

/* To which position @p0 or before the tail of @seq can be cut so that going on is exact: the
 * sequence then has to be read again from there. 0: from the start. */
gint32 kvasir_memory_get_rewind (const KvasirMemory *self, gint seq, gint32 p0);

/* ---- the two phases */
/* Splits and places the whole plan, then takes everything back; the found cells are kept inside. */
KvasirPrepare kvasir_memory_init_batch (KvasirMemory *self, KvasirBatchPlan *plan);
/* Moves to the next part, occupies its cells and gives its ubatch. FALSE: no part is left. Emits
 * UBATCH, SEARCH, CELLS, and HEAD and HORIZON where they move. The plan given to init_batch() must
 * still be as it was. */
gboolean kvasir_memory_apply_next (KvasirMemory *self, const KvasirUbatch **ubatch);
/* Takes the part applied last back, cells and heads as before it; only sliding cells that it had
 * overwritten come back empty, since their rows may be gone. */
void kvasir_memory_rollback (KvasirMemory *self);
/* Where n more tokens of @seq would go: the real search, nothing changed. Of several caches the one
 * with the least room answers. */
KvasirRoom kvasir_memory_get_room (const KvasirMemory *self, gint seq, guint n_tokens);

/* ---- what a graph needs. A memory has one or more caches, those of attention first: base,
 * sliding, recurrent. Recurrent ones have no slots, mask or n_kv (KvasirCacheInfo.is_recurrent). */
guint kvasir_memory_get_n_caches (const KvasirMemory *self);
/* The tensors of a layer, K [n_embd_k, cells, streams] and V [n_embd_v, cells, streams], or
 * [cells, n_embd_v, streams] where it is kept transposed; of a layer that shares, those of the
 * other one. NULL where the layer has none.
 * @cache: which cache's inputs (slots, mask) it uses. */
void kvasir_memory_get_layer (
    const KvasirMemory *self, guint layer, KvasirTensor **k, KvasirTensor **v, guint *cache);
/* TRUE: V is kept transposed. */
gboolean kvasir_memory_is_v_transposed (const KvasirMemory *self);
/* The states of a layer, F32 [width, rows]; NULL where it keeps none. */
void kvasir_memory_get_state_layer (const KvasirMemory *self,
                                    guint layer,
                                    KvasirTensor **r,
                                    KvasirTensor **s);
/* How many earlier states are kept beside the last one: n_rs_seq in force. */
guint kvasir_memory_get_n_keep (const KvasirMemory *self);
/* For the part applied last: "rows" as backend.h defines them, [n_seqs][2 + n_keep]. */
void kvasir_memory_fill_state_rows (const KvasirMemory *self, gint32 *rows);
/* For the part applied last: its tokens lie evenly in these streams. */
void kvasir_memory_get_streams (const KvasirMemory *self, guint *first, guint *n);
/* Cells of one stream of a cache. */
guint kvasir_memory_get_size (const KvasirMemory *self, guint cache);
/* For the part applied last: how many cells of each stream attention reads, and where each token is
 * written: stream * size + cell. */
guint kvasir_memory_get_n_kv (const KvasirMemory *self, guint cache);
void kvasir_memory_fill_slots (const KvasirMemory *self, guint cache, gint64 *slots);
/* The mask as backend.h defines it: @words [n_tokens][words_per_row], words_per_row >= n_kv / 64;
 * the words above n_kv / 64 are not written. */
void kvasir_memory_fill_mask (const KvasirMemory *self,
                              guint cache,
                              guint64 *words,
                              gsize words_per_row);
/* The same. Where @words still hold what the call that returned @stamp wrote, a step of one token
 * only writes the words that differ. @stamp 0: nothing is known of @words. Returns: the stamp for
 * the next call, or 0 */
guint64 kvasir_memory_refresh_mask (
    KvasirMemory *self, guint cache, guint64 *words, gsize words_per_row, guint64 stamp);
/* Positions of the cells of all streams, [streams * size], -1 where empty. */
void kvasir_memory_fill_cell_pos (const KvasirMemory *self, guint cache, gint32 *pos);

/* ---- pending updates, done before a decode */
gboolean kvasir_memory_has_update (const KvasirMemory *self);
/* Copies between streams, which come before shifts. TRUE where there were any. */
gboolean kvasir_memory_apply_copies (KvasirMemory *self);
/* Pending shift of each cell, [streams * size]; 0 where there is none. */
void kvasir_memory_fill_shifts (const KvasirMemory *self, guint cache, gint32 *shifts);
/* The keys have been turned, which took so long: pending shifts become 0. */
void kvasir_memory_update_done (KvasirMemory *self, gint64 duration_us);

/* ---- state. Blobs are versioned, carry a checksum and the fields that must agree. */
/* Pending updates must have been applied. Appends to @out. @seq -1: the whole memory. */
gboolean kvasir_memory_state_write (
    KvasirMemory *self, gint seq, gboolean partial, GByteArray *out, GError **error);
/* FALSE: refused, metadata and buffers are as before. */
gboolean kvasir_memory_state_read (KvasirMemory *self,
                                   gint seq,
                                   gboolean partial,
                                   const guint8 *bytes,
                                   gsize n_bytes,
                                   GError **error);

/* ---- looking. Read-only, for traces and snapshots; called on the engine thread. */
typedef struct
{
  gint32 pos;   /* -1: empty */
  gint32 shift; /* pending */
  gint32 token; /* -1: unknown */
  guint32 step; /* at which it was written */
  gint32 x, y;  /* M-RoPE: place in an image; 0 for text */
  KvasirSeqSet seqs;
} KvasirCell;

typedef struct
{
  const char *name; /* "base", "swa", "attn", ... */
  guint size;       /* cells per stream */
  guint n_streams;
  gboolean is_recurrent;    /* a cell is the state of a sequence */
  guint n_swa;              /* 0: full attention */
  guint n_layers;           /* that keep rows here */
  guint64 bytes_per_cell;   /* K + V over those layers */
  guint64 k_bytes_per_cell; /* K alone: all of it where V is a part of K; 0: states */
  KvasirType type_k;
  KvasirType type_v;
} KvasirCacheInfo;

void kvasir_memory_get_cache_info (const KvasirMemory *self, guint cache, KvasirCacheInfo *info);
void kvasir_memory_get_cell (
    const KvasirMemory *self, guint cache, guint stream, guint cell, KvasirCell *out);
guint kvasir_memory_get_head (const KvasirMemory *self, guint cache, guint stream);
guint kvasir_memory_get_used (const KvasirMemory *self, guint cache, guint stream);
/* One past the last occupied cell. */
guint kvasir_memory_get_used_max (const KvasirMemory *self, guint cache, guint stream);
/* Which stream a sequence lives in. */
guint kvasir_memory_get_stream (const KvasirMemory *self, guint cache, guint seq);
/* Appends KvasirMemoryRow lines. */
void kvasir_memory_append_breakdown (const KvasirMemory *self, GArray *rows);

G_END_DECLS
