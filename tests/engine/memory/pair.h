/* tests/engine/memory/pair.h - a memory beside the naive one and a player of its event log
 *
 * Every operation is done on the memory and on the naive one, which must answer the same. After
 * each, pair_check() compares all that can be seen: cells, heads, reported positions, states, the
 * cells that the event log tells of, and every few times the bytes of every row.
 * Rows hold what a computation of their token would write (a pattern that tells the token and the
 * layer), states the number that naive_scan() makes of all tokens read.
 */
#pragma once

#include "tests/engine/memory/naive.h"
#include "tests/engine/memory/replay.h"
#include "tests/engine/memory/support.h"

#define PAIR_N_LAYERS 3
#define PAIR_NEVER G_MAXUINT

typedef struct
{
  NaiveShape rules;
  guint n_batch;
  KvasirType type;
  gboolean v_transposed;
  const char *shift_obstacle;
  gboolean unwatched; /* nobody listens to events, so that the fast ways are taken */
} PairShape;

typedef struct
{
  PairShape shape;
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  Naive *naive;
  Replay *replay;
  guint32 step;
  guint n_checks;
  guint64
      *masks[2]; /* (owned) [n_batch][size / 64 + 1] as a graph keeps them from ubatch to ubatch */
  guint64 stamps[2];
  GArray *marks;  /* (owned) of guint: events before each check */
  GArray *hashes; /* (owned) of guint64: what had been played then */
} Pair;

/* Called after each ubatch was applied. */
typedef void (*PairSeen) (const Pair *self,
                          const NaiveToken *batch,
                          const NaiveUbatch *ubatch,
                          gpointer data);

void pair_init (Pair *self, const PairShape *shape);
void pair_clear (Pair *self);
void pair_check (Pair *self);
/* The log, played back, passes through every state that there was, and forward again. */
void pair_check_time_travel (Pair *self);

/* @fail_at: the ubatch that is computed, but taken back. @seen: (nullable).
 * Returns: what decode does: 0, 1, -1, or -3 where an ubatch was taken back */
gint pair_decode (
    Pair *self, const NaiveToken *batch, guint n, guint fail_at, PairSeen seen, gpointer data);
/* @n tokens of @seq behind its last position. */
gint pair_read (Pair *self, gint seq, guint n, gint32 first_token);

/* Each answers what both answered. */
gboolean pair_rm (Pair *self, gint seq, gint32 p0, gint32 p1);
gboolean pair_cp (Pair *self, gint src, gint dst, gint32 p0, gint32 p1);
void pair_keep (Pair *self, gint seq);
gboolean pair_add (Pair *self, gint seq, gint32 p0, gint32 p1, gint32 delta);
gboolean pair_div (Pair *self, gint seq, gint32 p0, gint32 p1, gint d);
gboolean pair_update (Pair *self);
void pair_empty (Pair *self, gboolean data);

typedef struct
{
  GByteArray *blob; /* (owned) */
  NaiveSave *naive; /* (owned) */
} PairSave;

PairSave pair_save (Pair *self, gint seq, gboolean partial);
void pair_save_clear (PairSave *self);
gboolean pair_load (Pair *self, gint seq, gboolean partial, const PairSave *saved);
