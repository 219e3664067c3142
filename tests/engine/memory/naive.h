/* tests/engine/memory/naive.h - the placement rules a second time, written to be read
 *
 * Every question is answered by a walk over all cells; nothing is kept up to date. Random tests
 * compare the engine's cells with these after every operation.
 */
#pragma once

#include "engine/memory/batch.h"

typedef struct
{
  gint32 pos; /* -1: empty */
  gint32 shift;
  gint32 token;
  KvasirSeqSet seqs;
} NaiveCell;

typedef struct
{
  guint size;
  guint n_seqs;
  guint head;
  NaiveCell *cells; /* (owned) [size] */
} Naive;

Naive *naive_new (guint size, guint n_seqs);
Naive *naive_copy (const Naive *self);
void naive_free (Naive *self);

gint32 naive_first (const Naive *self, guint seq);
gint32 naive_last (const Naive *self, guint seq);
guint naive_used (const Naive *self);
guint naive_n_kv (const Naive *self);
guint naive_largest_free_run (const Naive *self);
gboolean naive_has_shift (const Naive *self);

/* One token of a batch. */
typedef struct
{
  gint32 token;
  gint32 pos;
  KvasirSeqSet seqs;
} NaiveToken;

/* Whether a decode would take the batch at all. */
gboolean naive_accepts (const Naive *self, const NaiveToken *batch, guint n);
/* Searches and places one physical batch; FALSE and unchanged where it does not fit. */
gboolean naive_place (Naive *self, const NaiveToken *tokens, guint n, guint32 *slots);
/* Whether @token may read @cell. */
gboolean naive_sees (const Naive *self, const NaiveToken *token, guint cell);

/* p0 and p1 as given by a caller: below 0 they are open. */
void naive_rm (Naive *self, gint seq, gint32 p0, gint32 p1);
void naive_cp (Naive *self, guint src, guint dst, gint32 p0, gint32 p1);
void naive_keep (Naive *self, guint seq);
void naive_add (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
void naive_div (Naive *self, guint seq, gint32 p0, gint32 p1, gint d);
void naive_update (Naive *self);
void naive_clear (Naive *self);

/* Cells of a sequence, or with -1 of all, as a save would keep them: (transfer full), of NaiveCell.
 */
GArray *naive_save (const Naive *self, gint seq);
gboolean naive_load (Naive *self, gint seq, GArray *saved);
