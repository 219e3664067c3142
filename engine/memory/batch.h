/* engine/memory/batch.h - tokens on their way into the memory
 *
 * KvasirBatch is what a caller gives (borrowed arrays). KvasirBatchPlan validates it against the
 * memory, fills in what is missing, and cuts it into ubatches by the rules of its memory kind.
 *
 * Owner:  KvasirContext, one plan, reused for every call; all of its memory is taken at creation.
 * Thread: engine thread.
 * Rules:  the batch checks and splits of the placement rules (engine/memory/DESIGN.md repeats
 * them).
 */
#pragma once

#include <glib.h>

#include "engine/memory/seq-set.h"

G_BEGIN_DECLS

typedef struct
{
  guint n_tokens;
  const gint32 *tokens;      /* [n_tokens] */
  const gint32 *pos;         /* [n_tokens], or NULL: each sequence goes on after its last */
  const gint32 *planes;      /* [3][n_tokens] (h, w, e of M-RoPE; pos is t), or NULL: text */
  const gint32 *const *seqs; /* [n_tokens][n_seqs[i]], or NULL: all sequence 0 */
  const guint *n_seqs;       /* [n_tokens], NULL iff seqs is */
  const guint8 *outputs;     /* [n_tokens] 0/1, or NULL: the last token of each sequence */
} KvasirBatch;

/* One physical batch. Arrays belong to the plan and hold until its next split or init. */
typedef struct
{
  guint n_tokens;
  guint n_seq_tokens; /* simple split: 1 */
  guint n_seqs;       /* simple split: n_tokens */
  const gint32 *tokens;
  const gint32 *pos;   /* [n_pos_per_token][n_tokens], plane after plane */
  const gint32 *leads; /* the sequence that the batch names first for each token: whose cells and
                          state it reads */
  const KvasirSeqSet *seqs;
  const guint8 *outputs;
  const guint32 *index; /* which token of the batch each one is */
  guint n_outputs;
} KvasirUbatch;

typedef struct _KvasirMemory KvasirMemory;
typedef struct _KvasirBatchPlan KvasirBatchPlan;

typedef struct
{
  guint n_batch;
  guint n_ubatch;
  guint n_seq_max;
  guint n_vocab;
  guint n_pos_per_token; /* 1, or 4 for M-RoPE */
  guint n_positions;     /* that a model's table of positions has; 0: any */
} KvasirBatchLimits;

KvasirBatchPlan *kvasir_batch_plan_new (const KvasirBatchLimits *limits);
void kvasir_batch_plan_free (KvasirBatchPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirBatchPlan, kvasir_batch_plan_free)

/* Checks @batch against @memory (NULL: models without one) and keeps a completed copy. FALSE with
 * KVASIR_ENGINE_ERROR_BAD_BATCH naming the first bad token and sequence; nothing has changed. */
gboolean kvasir_batch_plan_init (KvasirBatchPlan *self,
                                 const KvasirBatch *batch,
                                 const KvasirMemory *memory,
                                 GError **error);
guint kvasir_batch_plan_get_n_outputs (const KvasirBatchPlan *self);
guint kvasir_batch_plan_get_n_tokens (const KvasirBatchPlan *self);

/* The rules of DESIGN.md. */
typedef enum
{
  KVASIR_SPLIT_SIMPLE,
  KVASIR_SPLIT_EQUAL,
  KVASIR_SPLIT_EQUAL_SEQUENTIAL,
  KVASIR_SPLIT_BY_SEQUENCE
} KvasirSplit;

/* Cuts the whole batch into ubatches, which then live side by side. @n_tail: how many last tokens
 * of a sequence stay together, 0: any (equal splits only). FALSE: this split refuses the batch. */
gboolean kvasir_batch_plan_split (KvasirBatchPlan *self, KvasirSplit split, guint n_tail);
guint kvasir_batch_plan_get_n_ubatches (const KvasirBatchPlan *self);
const KvasirUbatch *kvasir_batch_plan_get_ubatch (const KvasirBatchPlan *self, guint i);

G_END_DECLS
