/* engine/memory/recurrent-private.h - what the files of the recurrent memory share
 *
 * recurrent.c makes it and lets it be looked at, recurrent-states.c keeps the books of states and
 * rows, recurrent-ops.c works on sequences, recurrent-batch.c has the two phases,
 * recurrent-save.c saves.
 * Thread: engine thread.
 */
#pragma once

#include "engine/memory/memory-private.h"
#include "engine/memory/recurrent.h"
#include "engine/memory/row-store.h"

G_BEGIN_DECLS

/* What was read when a row was written. */
typedef struct
{
  guint32 row;
  gint32 pos;   /* of the last token */
  gint32 token; /* its id, -1: unknown */
} KvasirKeptRow;

/* The state of the sequences that own it, and those before its last tokens. */
typedef struct
{
  KvasirSeqSet seqs;
  guint32 step;        /* at which it was written */
  guint n_kept;        /* rows, newest first; 0: this one is free */
  KvasirKeptRow *kept; /* [1 + n_rs_seq] */
} KvasirState;

#define KVASIR_NO_STATE G_MAXUINT32

typedef struct
{
  KvasirPart parent;
  guint n_seq_max;
  guint n_rs_seq;
  guint n_model_layers;
  gint *r_of; /* (owned) [n_model_layers] tensors in the store, -1: none */
  gint *s_of; /* (owned) the same */
  KvasirRowStore store;

  guint n_rows;
  guint32 *n_users; /* (owned) [n_rows] how many states keep it */
  guint n_free_rows;
  guint32 *free_rows; /* (owned) [n_rows] */

  guint n_states; /* 2 n_seq_max: those in force and those of the ubatch in flight */
  KvasirState *states;
  KvasirKeptRow *kept; /* (owned) of all states */
  guint32 *state_of;   /* (owned) [n_seq_max] */
  KvasirCell *shown;   /* (owned) [n_seq_max] as traces know them: a state is at its first owner */

  /* The ubatch applied last; nothing is in flight where n_written is 0. */
  guint n_written;
  guint32 *written;  /* (owned) [n_seq_max] its states */
  gint32 *read_rows; /* (owned) [n_seq_max] -1: zeros */
  guint n_moved;
  guint32 *moved;      /* (owned) [n_seq_max] sequences that have another state now ... */
  guint32 *moved_from; /* (owned) [n_seq_max] ... and which one they had */
} KvasirRecurrent;

/* ---- recurrent-states.c */
KvasirState *kvasir_recurrent_find (const KvasirRecurrent *self, guint seq);
/* A state without rows and owners. */
KvasirState *kvasir_recurrent_take_state (KvasirRecurrent *self);
/* Adds an unwritten row, or one that another state keeps too, as the oldest. */
void kvasir_recurrent_add_row (KvasirRecurrent *self, KvasirState *state, gint32 pos, gint32 token);
void
kvasir_recurrent_share_row (KvasirRecurrent *self, KvasirState *state, const KvasirKeptRow *kept);
/* @seq has no state. */
void kvasir_recurrent_join (KvasirRecurrent *self, KvasirState *state, guint seq);
/* @seq, if it has a state, leaves it; a state that nobody owns any more stays until it is dropped.
 * Returns: (nullable): the state left */
KvasirState *kvasir_recurrent_leave (KvasirRecurrent *self, guint seq);
/* Gives the rows of @state (NULL: nothing to do) back if nobody owns it. */
void kvasir_recurrent_drop_unowned (KvasirRecurrent *self, KvasirState *state);
/* Emits what has changed since it was called last. Ends every operation. */
void kvasir_recurrent_report (KvasirRecurrent *self);

/* ---- recurrent-ops.c: entries of the table, see part.h */
gboolean kvasir_recurrent_can_rm (const KvasirPart *part, gint seq, gint32 p0, gint32 p1);
void kvasir_recurrent_rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1);
gboolean
kvasir_recurrent_can_cp (const KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1);
void kvasir_recurrent_cp (KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1);
void kvasir_recurrent_keep (KvasirPart *part, guint seq);
gboolean
kvasir_recurrent_can_add (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta);
void kvasir_recurrent_add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta);
void kvasir_recurrent_div (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d);
void kvasir_recurrent_clear (KvasirPart *part, gboolean data);
gint32 kvasir_recurrent_get_pos (const KvasirPart *part, guint seq);
gint32 kvasir_recurrent_get_rewind (const KvasirPart *part, guint seq, gint32 p0);

/* ---- recurrent-batch.c: the same */
gboolean kvasir_recurrent_prepare (KvasirPart *part, const KvasirBatchPlan *plan, gboolean relaxed);
void kvasir_recurrent_apply (KvasirPart *part, const KvasirUbatch *ubatch, guint i);
void kvasir_recurrent_commit (KvasirPart *part);
void kvasir_recurrent_rollback (KvasirPart *part);
KvasirRoom kvasir_recurrent_get_room (const KvasirPart *part, guint seq, guint n_tokens);
void kvasir_recurrent_fill_state_rows (const KvasirPart *part, gint32 *rows);

/* ---- recurrent-save.c: the same */
gboolean kvasir_recurrent_state_write (KvasirPart *part, gint seq, GByteArray *out, GError **error);
gpointer kvasir_recurrent_state_check (KvasirPart *part,
                                       gint seq,
                                       KvasirStateReader *reader,
                                       GError **error);
void kvasir_recurrent_state_apply (KvasirPart *part, gint seq, gpointer data, gboolean apply);

G_END_DECLS
