/* tests/engine/memory/naive.h - the placement rules a second time, written to be read
 *
 * A memory of any kind: caches of cells, a pair of them, states, or a mixture. Every question is
 * answered by a walk over all cells, planning plays a batch on a copy, and nothing is kept up to
 * date. Random tests compare the engine with it after every operation; it is itself compared with
 * outputs of a third implementation (tests/data/memory/README.md).
 *
 * naive.c makes it and answers questions, naive-cells.c holds the operations on the cells of a
 * cache, naive-states.c those on states, naive-plan.c splits, searches, places and masks,
 * naive-ops.c has the operations on the whole, naive-save.c saves and loads.
 */
#pragma once

#include "engine/memory/memory-params.h"

#define NAIVE_NO_END G_MAXINT32
#define NAIVE_MAX_KEPT 8

typedef struct
{
  KvasirMemoryClass klass;
  guint size;     /* cells of a stream */
  guint swa_size; /* of the sliding half */
  guint n_streams;
  gboolean unified;
  guint n_seqs;
  guint n_ubatch;
  guint n_rs_seq;
  KvasirWindow window;
  guint n_swa;
  guint n_pos; /* planes of positions, 1 or 4 */
} NaiveShape;

typedef struct
{
  gint32 pos; /* -1: empty */
  gint32 shift;
  gint32 token;
  gint32 x, y; /* place in an image, with four planes */
  KvasirSeqSet seqs;
} NaiveCell;

typedef struct
{
  guint head;
  NaiveCell *cells; /* (owned) */
} NaiveStream;

typedef struct
{
  const NaiveShape *shape; /* (unowned) */
  guint size;
  gboolean slides;
  guint n_streams;
  NaiveStream *streams; /* (owned) */
  gboolean has_copies;  /* between streams, pending */
} NaiveCache;

/* What was read: the last entry is kept[0]. A value is a number that depends on all tokens read. */
typedef struct
{
  guint n_kept; /* 0: this one is free */
  gint32 pos[NAIVE_MAX_KEPT];
  guint32 value[NAIVE_MAX_KEPT];
} NaiveState;

typedef struct
{
  NaiveShape shape;
  guint n_caches;
  NaiveCache caches[2];
  gboolean has_states;
  NaiveState *states; /* (owned) [n_seqs] */
  gint *state_of;     /* (owned) [n_seqs], -1: none */
} Naive;

/* One token of a batch. */
typedef struct
{
  gint32 token;
  gint32 pos;
  gint32 y, x; /* with four planes */
  gint lead;   /* the sequence that is named first */
  KvasirSeqSet seqs;
} NaiveToken;

/* One physical batch: indices into the batch, and for each cache where every token goes. */
typedef struct
{
  guint n;
  guint n_seq_tokens;
  guint n_seqs;
  guint *index;    /* (owned) [n] */
  guint *slots[2]; /* (owned) [n], in the token's stream */
} NaiveUbatch;

/* ---- naive.c */
Naive *naive_new (const NaiveShape *shape);
Naive *naive_copy (const Naive *self);
/* @self becomes @other, which is freed. */
void naive_take (Naive *self, Naive *other);
void naive_free (Naive *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Naive, naive_free)
/* As traces report them. */
gint32 naive_first (const Naive *self, guint seq);
gint32 naive_last (const Naive *self, guint seq);
/* Whether @seq holds cells of which no state tells. */
gboolean naive_lacks_state (const Naive *self, guint seq);
gboolean naive_has_update (const Naive *self);
guint naive_cache_used (const NaiveCache *self, guint stream);
guint naive_cache_largest_free_run (const NaiveCache *self, guint stream);
guint naive_cache_get_stream (const NaiveCache *self, guint seq);
gint32 naive_cache_first (const NaiveCache *self, guint seq);
gint32 naive_cache_last (const NaiveCache *self, guint seq);
/* Whether @cell of the stream of @seq is held by it at a position in [p0, p1). */
gboolean naive_cache_meets (const NaiveCache *self, guint seq, guint cell, gint32 p0, gint32 p1);
/* Whether a token at @query no longer reads a cell at @pos. */
gboolean naive_cache_masks (const NaiveCache *self, gint32 pos, gint32 query);
NaiveCell *naive_cache_peek (const NaiveCache *self, guint seq, guint cell);
void naive_cache_copy (NaiveCache *self, const NaiveCache *other);

/* ---- naive-cells.c: ranges with 0 <= p0, an open end is NAIVE_NO_END */
void naive_cache_remove (NaiveCache *self, gint seq, gint32 p0, gint32 p1);
void naive_cache_keep (NaiveCache *self, guint seq);
void naive_cache_cp (NaiveCache *self, guint src, guint dst, gint32 p0, gint32 p1);
void naive_cache_add (NaiveCache *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
void naive_cache_div (NaiveCache *self, guint seq, gint32 p0, gint32 p1, gint d);
void naive_cache_clear (NaiveCache *self);
gboolean naive_cache_update (NaiveCache *self);

/* ---- naive-states.c */
NaiveState *naive_find_state (const Naive *self, guint seq);
guint32 naive_scan (guint32 value, gint32 token);
void naive_states_apply (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch);
gboolean naive_states_can_remove (const Naive *self, gint seq, gint32 p0, gint32 p1);
void naive_states_remove (Naive *self, guint seq, gint32 p0, gint32 p1);
void naive_states_keep (Naive *self, gint seq);
void naive_states_cp (Naive *self, guint src, guint dst);
void naive_states_move (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta, gint d);
/* @seq gets a state of its own that holds what @state did, without what could be taken back. */
void naive_states_set (Naive *self, guint seq, const NaiveState *state);

/* ---- naive-plan.c */
/* Whether a decode would take the batch at all. */
gboolean naive_accepts (const Naive *self, const NaiveToken *batch, guint n);
/* The physical batches (of NaiveUbatch) with their cells, or NULL where there is no room. */
GPtrArray *naive_plan (const Naive *self, const NaiveToken *batch, guint n);
void naive_apply (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch);
/* @self is what was before @ubatch, which was computed and failed: the cells that it overwrote have
 * lost their rows, and their owners all positions up to them. */
void naive_lose (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch);
/* Whether no window of the batch's sequences misses what its first token looks for. */
gboolean naive_is_complete (const Naive *self, const NaiveToken *batch, guint n);
/* One past the last used cell of the ubatch's streams, padded: what attention looks at. */
guint
naive_get_n_kv (const Naive *self, guint cache, const NaiveToken *batch, const NaiveUbatch *ubatch);
/* Whether @token may read @cell of its own stream. */
gboolean naive_sees (const Naive *self, guint cache, const NaiveToken *token, guint cell);
/* The plain search and placing of one batch in one stream. @all_owners: cells outside the window
 * of all their owners are usable too, where the plain rule finds too few. */
gboolean naive_cache_search (
    const NaiveCache *self, guint stream, guint n, gboolean all_owners, guint *slots);
void
naive_cache_place (NaiveCache *self, guint stream, const NaiveCell *cells, guint n, guint *slots);

/* ---- naive-ops.c: ranges as callers give them. FALSE: refused, nothing changed */
gboolean naive_rm (Naive *self, gint seq, gint32 p0, gint32 p1);
gboolean naive_cp (Naive *self, guint src, guint dst, gint32 p0, gint32 p1);
void naive_keep (Naive *self, guint seq);
gboolean naive_add (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
gboolean naive_div (Naive *self, guint seq, gint32 p0, gint32 p1, gint d);
gboolean naive_update (Naive *self);
void naive_clear (Naive *self);
gboolean naive_can_shift (const Naive *self);
/* Whether the window of a token of @seq at @p0 finds all that it looks for. */
gboolean naive_has_window (const Naive *self, guint seq, gint32 p0);
/* Whether going on at @p0 after a cut there gives what reading all before it gives. */
gboolean naive_cut_is_exact (const Naive *self, guint seq, gint32 p0);

/* ---- naive-save.c */
typedef struct _NaiveSave NaiveSave;
NaiveSave *naive_save (const Naive *self, gint seq, gboolean partial);
void naive_save_free (NaiveSave *self);
/* FALSE: refused, nothing changed. */
gboolean naive_load (Naive *self, gint seq, gboolean partial, const NaiveSave *saved);
