/* engine/memory/batch-private.h - what the files of the batch plan share
 *
 * batch.c makes it, batch-check.c fills the completed batch in, batch-split.c lays it out in
 * ubatches. Thread: engine thread.
 */
#pragma once

#include "engine/memory/batch.h"

G_BEGIN_DECLS

/* Tokens by field. */
typedef struct
{
  gint32 *tokens;     /* (owned) [n_batch] */
  gint32 *pos;        /* (owned) [n_pos_per_token * n_batch], see below */
  gint32 *leads;      /* (owned) [n_batch] */
  KvasirSeqSet *seqs; /* (owned) [n_batch] */
  guint8 *outputs;    /* (owned) [n_batch] */
} KvasirBatchRows;

/* Tokens with the same sequences, in batch order. */
typedef struct
{
  guint next;   /* the first token that no ubatch has */
  guint last;   /* the last one of all */
  guint n_left; /* how many no ubatch has */
} KvasirBatchGroup;

struct _KvasirBatchPlan
{
  KvasirBatchLimits limits;
  guint n_tokens; /* 0: nothing is planned */
  guint n_outputs;
  gboolean is_coupled; /* a token names more than one sequence */

  KvasirBatchRows given; /* in batch order; pos has n_batch elements for each plane */
  KvasirBatchRows laid;  /* ubatch after ubatch; pos has the planes of each ubatch together */
  guint32 *index;        /* (owned) [n_batch] token of the batch that each laid one is */

  guint n_ubatches;
  guint n_laid;           /* tokens that have an ubatch */
  KvasirUbatch *ubatches; /* (owned) [n_batch] */
  guint8 *used;           /* (owned) [n_batch] it has an ubatch */
  guint first_unused;     /* no unused token lies before it */
  guint n_groups;         /* those with tokens left are n_groups_left */
  guint n_groups_left;
  KvasirBatchGroup *groups; /* (owned) [n_batch] */
  guint32 *group_of;        /* (owned) [n_batch] */
  guint32 *follower;        /* (owned) [n_batch] next token of the same group */
  guint32 *collected;       /* (owned) [n_batch] groups of the ubatch in hand */
  guint32 *recent;          /* (owned) [n_seq_max] scratch: one number for each sequence */
  gint64 *reached;          /* (owned) [n_seq_max] scratch: a position of each sequence */
};

/* Checks and completes @batch into given, n_outputs and is_coupled. */
gboolean kvasir_batch_plan_complete (KvasirBatchPlan *self,
                                     const KvasirBatch *batch,
                                     const KvasirMemory *memory,
                                     GError **error);

G_END_DECLS
