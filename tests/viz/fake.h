/* tests/viz/fake.h - made-up but consistent snapshots, without an engine
 *
 * A state is written cell by cell; the shots are derived from it by the plain rules (maximal runs,
 * the mask's tests one after the other), so that they can stand against what viz/ computes.
 */
#pragma once

#include <glib.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

typedef struct
{
  guint size;
  guint n_streams;
  guint n_swa;
  guint n_kv;   /* 0: by the rule, from the last used cell */
  guint head;   /* of every stream */
  guint32 step; /* newest */
  gint32 *pos;  /* [n_streams * size], -1: empty */
  gint32 *shift;
  KvasirSeqSet *sets;
  gint32 *tokens;
  guint32 *steps;
  gint parents[KVASIR_MAX_SEQS];
  gint32 parent_pos[KVASIR_MAX_SEQS];
  GArray *messages; /* of KvasirMessageRun */
} Fake;

Fake *fake_new (guint size, guint n_streams);
void fake_free (Fake *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Fake, fake_free)

/* Writes @n cells with rising positions; bit i of @seqs stands for sequence i. */
void fake_put (Fake *self, guint cell, guint n, gint32 pos, guint64 seqs, guint32 step);
void fake_add_message (Fake *self, gint seq, gint32 pos, gint32 n, guint64 id, guint8 role);
/* The state of the design's main picture: 4 096 cells, 1 755 used, 311 shared, two holes. */
Fake *fake_new_chat (void);
/* Four sequences with forks and holes, as in the picture of the positions. */
Fake *fake_new_forks (void);
/* Random runs of up to @n_seqs sequences, with shared parts, holes and pending shifts. */
Fake *fake_new_random (GRand *rand, guint size, guint n_streams, guint n_seqs);

/* Each is a copy with the layout of the engine's own shots; parts may be put into a snapshot. */
KvasirCellsShot *fake_make_cells (const Fake *self);
/* Mask of the last @n_rows tokens of each sequence in @seqs, over the first stream. */
KvasirMaskShot *fake_make_mask (const Fake *self, guint n_rows, guint64 seqs);
KvasirMemoryShot *fake_make_memory (guint64 live_bytes);

void fake_cells_free (KvasirCellsShot *shot);
void fake_mask_free (KvasirMaskShot *shot);
void fake_memory_free (KvasirMemoryShot *shot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirCellsShot, fake_cells_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMaskShot, fake_mask_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMemoryShot, fake_memory_free)

/* A word for every token id. */
char *fake_dup_token_text (gint32 token, gpointer user_data);

G_END_DECLS
