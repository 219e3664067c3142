/* Causal convolution of each channel over the tokens of its sequence. */
#include <string.h>

#include "backends/cpu/recurrent.h"

/* Channels of a piece: at least, and at most, which is what scratch is kept for. */
#define LEAST_CHANNELS 64
#define MOST_CHANNELS 1024

/* Some channels of one sequence. */
typedef struct
{
  const KvasirTensor *node;
  KvasirSequence sequence;
  int64_t first, n;     /* channels */
  int64_t c;            /* columns that a result sees */
  const float *weights; /* [c][n], NULL: the previous token as it is */
  const float *old;     /* [n][c - 1] or NULL: zeros */
} Conv;

static int64_t
get_n_columns (const KvasirTensor *node)
{
  return node->src[1] != NULL ? node->src[1]->ne[0] : 2;
}

static int64_t
get_channels_per_piece (const KvasirTensor *node, int64_t n_tokens)
{
  int64_t n = KVASIR_PIECE_ELEMENTS / n_tokens / LEAST_CHANNELS * LEAST_CHANNELS;
  int64_t most = node->ne[0] < MOST_CHANNELS ? node->ne[0] : MOST_CHANNELS;

  n = n > LEAST_CHANNELS ? n : LEAST_CHANNELS;
  return n < most ? n : most;
}

static int64_t
get_pieces_per_sequence (const KvasirTensor *node, int64_t n_tokens)
{
  int64_t per_piece = get_channels_per_piece (node, n_tokens);

  return (node->ne[0] + per_piece - 1) / per_piece;
}

static int64_t
count_conv (const KvasirOpItem *item, const KvasirOpRun *run)
{
  int64_t n_seqs = kvasir_step_get_n_seqs (run->step), n_tokens = item->node->ne[1] / n_seqs;

  return n_tokens > 0 ? n_seqs * get_pieces_per_sequence (item->node, n_tokens) : 0;
}

/* The channels' inputs at a token of the sequence. */
static const float *
get_input (const Conv *conv, int64_t token)
{
  const uint8_t *row =
      kvasir_tensor_get_row (conv->node->src[0], conv->sequence.first + token, 0, 0);

  return (const float *) (const void *) row + conv->first;
}

static void
add_products (float *restrict y, const float *restrict w, const float *restrict x, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] += w[i] * x[i];
}

/* The same with column @column of the state. */
static void
add_old (const Conv *conv, const float *weights, int64_t column, float *y)
{
  if (conv->old != NULL)
    for (int64_t i = 0; i < conv->n; i++)
      y[i] += weights[i] * conv->old[i * (conv->c - 1) + column];
}

static void
convolve (const Conv *conv, int64_t token, float *y)
{
  const KvasirTensor *bias = conv->node->src[4];
  int64_t start = token - conv->c + 1;
  size_t n_bytes = (size_t) conv->n * sizeof (float);

  if (bias != NULL)
    memcpy (y, (const float *) bias->data + conv->first, n_bytes);
  else
    memset (y, 0, n_bytes);
  for (int64_t i = 0; i < conv->c; i++)
    {
      const float *weights = conv->weights + i * conv->n;
      if (start + i < 0)
        add_old (conv, weights, conv->c - 1 + start + i, y);
      else
        add_products (y, weights, get_input (conv, start + i), conv->n);
    }
}

static void
shift (const Conv *conv, int64_t token, float *y)
{
  const float *previous = token > 0 ? get_input (conv, token - 1) : conv->old;

  if (previous != NULL)
    memcpy (y, previous, (size_t) conv->n * sizeof (float));
  else
    memset (y, 0, (size_t) conv->n * sizeof (float));
}

/* The last c - 1 columns up to @token. */
static void
store_state (const Conv *conv, int64_t token, float *state)
{
  int64_t n_columns = conv->c - 1, start = token - n_columns + 1;

  state += conv->first * n_columns;
  for (int64_t column = 0; column < n_columns; column++)
    {
      const float *x = start + column >= 0 ? get_input (conv, start + column) : NULL;
      int64_t before = n_columns + start + column;
      for (int64_t i = 0; i < conv->n; i++)
        state[i * n_columns + column] = x != NULL           ? x[i]
                                        : conv->old != NULL ? conv->old[i * n_columns + before]
                                                            : 0;
    }
}

/* Channel by channel for each column, so that channels are neighbours. */
static const float *
turn_weights (const Conv *conv, float *out)
{
  const KvasirTensor *w = conv->node->src[1];

  if (w == NULL)
    return NULL;
  for (int64_t d = 0; d < conv->n; d++)
    {
      const uint8_t *row = kvasir_tensor_get_row (w, conv->first + d, 0, 0);
      for (int64_t i = 0; i < conv->c; i++)
        out[i * conv->n + d] = ((const float *) (const void *) row)[i];
    }
  return out;
}

static void
run_conv (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  int64_t n_tokens = node->ne[1] / kvasir_step_get_n_seqs (run->step);
  int64_t n_pieces = get_pieces_per_sequence (node, n_tokens);
  int64_t per_piece = get_channels_per_piece (node, n_tokens);
  Conv conv = { .node = node, .c = get_n_columns (node) };

  conv.sequence = kvasir_sequence_get (node, run->step, piece / n_pieces);
  conv.first = piece % n_pieces * per_piece;
  conv.n = node->ne[0] - conv.first < per_piece ? node->ne[0] - conv.first : per_piece;
  conv.weights = turn_weights (&conv, (float *) (void *) run->scratch);
  conv.old = kvasir_sequence_get_old (&conv.sequence);
  if (conv.old != NULL)
    conv.old += conv.first * (conv.c - 1);
  for (int64_t t = 0; t < n_tokens; t++)
    {
      uint8_t *row = kvasir_tensor_get_row (node, conv.sequence.first + t, 0, 0);
      float *state = kvasir_sequence_get_new (&conv.sequence, t);
      (conv.weights != NULL ? convolve : shift) (&conv, t, (float *) (void *) row + conv.first);
      if (state != NULL)
        store_state (&conv, t, state);
    }
}

static const KvasirOpStage conv_stage = {
  .count = count_conv,
  .run = run_conv,
  .reads_sources = true,
  .writes_dst = true,
};

void
kvasir_conv_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  shape->n_stages = 1;
  shape->stages[0] = &conv_stage;
  shape->scratch_bytes = (size_t) get_n_columns (node) * MOST_CHANNELS * sizeof (float);
}

bool
kvasir_conv_is_supported (const KvasirTensor *node)
{
  const KvasirTensor *x = node->src[0], *w = node->src[1], *bias = node->src[4];

  if (!kvasir_tensor_is_float (node) || !kvasir_tensor_is_float (x) ||
      !kvasir_tensor_has_shape_of (x, node) || node->ne[2] != 1 || node->ne[3] != 1)
    return false;
  if (w != NULL && (!kvasir_tensor_is_float (w) || w->ne[0] < 1 || w->ne[1] != node->ne[0]))
    return false;
  if (bias != NULL && (w == NULL || !kvasir_tensor_is_float (bias) || bias->ne[0] != node->ne[0]))
    return false;
  return kvasir_op_is_state_supported (node, node->ne[0] * (get_n_columns (node) - 1));
}
