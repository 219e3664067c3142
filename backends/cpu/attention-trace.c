/* A tile in the arithmetic of recorded traces
 *
 * There F16 values are summed cell by cell in order, each sum is rounded to halves, and so is what
 * was summed before whenever a cell raises the maximum. This is less exact than sums of f32, but
 * choices that hang on a rounding (which expert comes second) fall as in the trace. */
#include "backends/cpu/attention-trace.h"

#include <math.h>

/* Steps of as many tokens were recorded by another path, with sums of f32. */
#define LONG_STEP 64

bool
kvasir_attention_is_as_traces (const KvasirTensor *node, const KvasirOpRun *run)
{
  return run->as_traces && node->src[0]->ne[2] < LONG_STEP && !kvasir_op_is_rough (node);
}

bool
kvasir_attention_sums_halves (const KvasirTensor *node, const KvasirOpRun *run)
{
  return kvasir_attention_is_as_traces (node, run) && node->src[2]->type == KVASIR_TYPE_F16 &&
         !node->params.attention.v_transposed;
}

typedef struct
{
  const KvasirCpuKernels *kernels;
  uint8_t *halves; /* [n] halves of scratch */
  float *out;
  int64_t n;
} HalfSums;

static void
round_sums (const HalfSums *sums)
{
  sums->kernels->from_float[KVASIR_TYPE_F16](sums->out, sums->halves, sums->n);
  sums->kernels->to_float[KVASIR_TYPE_F16](sums->halves, sums->out, sums->n);
}

/* One cell with @score and the values @value. */
static void
add_cell (const HalfSums *sums, float score, const float *value, float *max, float *sum)
{
  float weight = 1;

  if (score > *max)
    {
      float factor = expf (*max - score);
      *max = score;
      *sum *= factor;
      for (int64_t i = 0; i < sums->n; i++)
        sums->out[i] *= factor;
      round_sums (sums);
    }
  else
    weight = expf (score - *max);
  *sum += weight;
  for (int64_t i = 0; i < sums->n; i++)
    sums->out[i] += weight * value[i];
  round_sums (sums);
}

void
kvasir_attention_sum_halves (const KvasirTensor *node,
                             const KvasirOpRun *run,
                             const KvasirAttentionTile *tile,
                             int64_t i,
                             const float *values,
                             const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirAttentionState *state = &tile->state;
  int64_t group = kvasir_attention_get_group (p);

  for (int64_t row = 0; row < tile->n_rows; row++)
    {
      /* The keys of this tile were read: their place holds the halves. */
      int64_t at = i * tile->head_stride + row;
      HalfSums sums = { run->kernels, (uint8_t *) scratch->keys, state->out + at * p->head_dim_v,
                        p->head_dim_v };
      int64_t token = tile->part.token + row / group;
      uint64_t open = kvasir_attention_get_word (node, token, tile->part.cell);
      for (int64_t cell = 0; cell < KVASIR_TILE; cell++)
        if (open >> cell & 1)
          add_cell (&sums, scratch->scores[(i * tile->n_rows + row) * KVASIR_TILE + cell],
                    values + cell * scratch->row_width, &state->max[at], &state->sum[at]);
    }
}
