/* tests/engine/memory/state-rig.h - a recurrent part with a scan that can be checked by hand
 *
 * The scan keeps in every value of a state a number that depends on all tokens read, in order:
 * next = (31 * last + token + value's place) mod 65521, small enough to be exact in F32. What a
 * state must hold is then told by the list of tokens that it has read.
 */
#pragma once

#include "engine/memory/memory-private.h"
#include "engine/memory/recurrent.h"
#include "tests/engine/memory/support.h"

#define RIG_MAX_TOKENS 64
#define RIG_N_LAYERS 3

typedef struct
{
  TestHeap heap;
  KvasirMemory memory; /* has the sink and the step of the part */
  KvasirPart *part;
  KvasirBatchPlan *plan;
  guint n_seq_max;
  guint n_keep;
  KvasirCell *mirror; /* (owned) what the CELLS events have told */
} StateRig;

void state_rig_init (StateRig *self, guint n_seq_max, guint n_rs_seq, guint n_ubatch);
void state_rig_clear (StateRig *self);
/* Layer 0 keeps r and s, layer 1 only r, layer 2 nothing. */
void state_rig_get_params (TestHeap *heap,
                           KvasirMemoryParams *params,
                           KvasirMemoryLayer layers[RIG_N_LAYERS]);

/* A batch whose positions are given. */
typedef struct
{
  guint n;
  gint32 tokens[RIG_MAX_TOKENS];
  gint32 pos[RIG_MAX_TOKENS];
  gint32 seqs[RIG_MAX_TOKENS][4];
  guint n_seqs[RIG_MAX_TOKENS];
} StateBatch;

void state_batch_add (StateBatch *self, gint32 token, gint32 pos, gint seq);
/* Splits, prepares. Returns: the number of ubatches */
guint state_rig_prepare (StateRig *self, const StateBatch *batch);
/* Applies ubatch @i and runs the scan, which may then be committed or taken back. */
const KvasirUbatch *state_rig_apply (StateRig *self, guint i);
/* All of it. */
void state_rig_decode (StateRig *self, const StateBatch *batch);
/* @n tokens of one sequence from @pos on, with ids @first and up. */
void state_rig_read (StateRig *self, gint seq, gint32 pos, gint32 first, guint n);

/* Whether the sequence's state is that of exactly these tokens; n 0: of none. */
void state_rig_assert_state (StateRig *self, gint seq, const gint32 *tokens, guint n_tokens);
/* The row of its state in the tensors, -1: none. */
gint32 state_rig_get_row (StateRig *self, gint seq);
/* What events told is what can be seen. */
void state_rig_assert_mirror (StateRig *self);
