/* backends/cpu/recurrent.h - the sequences of a step and where their states lie
 *
 * Thread: any; states of different sequences, and different parts of one, by different threads.
 */
#pragma once

#include "backends/cpu/ops.h"

/* One sequence's part of a step and of a node that has a state. */
typedef struct
{
  const KvasirTensor *state;
  const int32_t *rows; /* [1 + n_written]: read, then written after the last token but 0, 1 ... */
  int64_t n_written;
  int64_t offset; /* of the state in its row, in floats */
  int64_t first;  /* of its tokens */
  int64_t n_tokens;
} KvasirSequence;

int64_t kvasir_step_get_n_seqs (const KvasirStep *step);
KvasirSequence
kvasir_sequence_get (const KvasirTensor *node, const KvasirStep *step, int64_t sequence);
/* The state before the first token, NULL where it is all zeros. */
const float *kvasir_sequence_get_old (const KvasirSequence *self);
/* Where the state after token @token of the sequence belongs, NULL if nowhere. */
float *kvasir_sequence_get_new (const KvasirSequence *self, int64_t token);
