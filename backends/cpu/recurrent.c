#include "backends/cpu/recurrent.h"

/* Which sources of an operation are its state and the rows of that. */
static int
get_state_index (KvasirOp op)
{
  switch (op)
    {
    case KVASIR_OP_CONV:
      return 2;
    case KVASIR_OP_SSM_SCAN:
    case KVASIR_OP_WKV7:
      return 6;
    case KVASIR_OP_DELTA:
      return 5;
    default:
      return -1;
    }
}

const KvasirTensor *
kvasir_op_get_state (const KvasirTensor *node)
{
  int index = get_state_index (node->op);

  return index < 0 ? NULL : node->src[index];
}

const KvasirTensor *
kvasir_op_get_state_rows (const KvasirTensor *node)
{
  int index = get_state_index (node->op);

  return index < 0 ? NULL : node->src[index + 1];
}

bool
kvasir_op_is_state_supported (const KvasirTensor *node, int64_t n_floats)
{
  const KvasirTensor *state = kvasir_op_get_state (node);
  const KvasirTensor *rows = kvasir_op_get_state_rows (node);
  int64_t offset = node->params.state.offset;

  return kvasir_tensor_is_float (state) && rows != NULL && rows->type == KVASIR_TYPE_I32 &&
         rows->nb[0] == sizeof (int32_t) && rows->ne[0] >= 2 && offset >= 0 &&
         offset + n_floats <= state->ne[0];
}

int64_t
kvasir_step_get_n_seqs (const KvasirStep *step)
{
  return step->n_seqs > 0 ? step->n_seqs : 1;
}

/* The tokens are the last extent: a convolution has one below it, the others two. */
KvasirSequence
kvasir_sequence_get (const KvasirTensor *node, const KvasirStep *step, int64_t sequence)
{
  const KvasirTensor *rows = kvasir_op_get_state_rows (node);
  int64_t n_tokens = node->ne[node->op == KVASIR_OP_CONV ? 1 : 2] / kvasir_step_get_n_seqs (step);

  return (KvasirSequence){
    .state = kvasir_op_get_state (node),
    .rows = (const int32_t *) (const void *) kvasir_tensor_get_row (rows, sequence, 0, 0),
    .n_written = rows->ne[0] - 1,
    .offset = node->params.state.offset,
    .first = sequence * n_tokens,
    .n_tokens = n_tokens,
  };
}

static float *
get_state_row (const KvasirSequence *self, int32_t row)
{
  if (row < 0)
    return NULL;
  return (float *) (void *) kvasir_tensor_get_row (self->state, row, 0, 0) + self->offset;
}

const float *
kvasir_sequence_get_old (const KvasirSequence *self)
{
  return get_state_row (self, self->rows[0]);
}

float *
kvasir_sequence_get_new (const KvasirSequence *self, int64_t token)
{
  int64_t left = self->n_tokens - 1 - token;

  return left < self->n_written ? get_state_row (self, self->rows[1 + left]) : NULL;
}
