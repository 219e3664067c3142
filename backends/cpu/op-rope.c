/* Rotary position embedding, and turning cached keys on.
 *
 * Pair i of n_rot / 2 turns by theta_i = pos * freq_base^(-2 i / n_rot) / factor_i; yarn mixes
 * theta and theta * freq_scale by a ramp over the pairs. Angles are computed in double, because
 * at position 100000 a float angle is off by a hundredth of a radian, and once per step, because
 * every layer turns by the same ones. */
#include <math.h>
#include <string.h>

#include "backends/cpu/ops.h"

/* Pair at which the wavelength fits @beta times into the original context. */
static double
get_corner (const KvasirRopeParams *p, double beta)
{
  return p->n_rot * log (p->n_ctx_orig / (beta * 2 * M_PI)) / (2 * log (p->freq_base));
}

typedef struct
{
  const KvasirRopeParams *params;
  const float *factors; /* [n_rot / 2] or NULL */
  double low, high;     /* yarn's ramp, in pairs */
  double magnitude;
} Turn;

static Turn
get_turn (const KvasirTensor *node)
{
  const KvasirRopeParams *p = &node->params.rope;
  Turn turn = { .params = p, .magnitude = p->attn_factor };

  if (node->src[2] != NULL)
    turn.factors = node->src[2]->data;
  if (p->ext_factor != 0)
    {
      turn.low = fmin (fmax (floor (get_corner (p, p->beta_fast)), 0), p->n_rot - 1);
      turn.high = fmin (fmax (ceil (get_corner (p, p->beta_slow)), 0), p->n_rot - 1);
      turn.magnitude *= 1 + 0.1 * log (1 / (double) p->freq_scale);
    }
  /* The magnitude is in the keys already when they are turned on. */
  if (node->op == KVASIR_OP_ROPE_SHIFT && !p->shift_scales)
    turn.magnitude = 1;
  return turn;
}

/* Angle of pair @i for one position. */
static double
get_frequency (const Turn *turn, int i)
{
  const KvasirRopeParams *p = turn->params;
  double theta = pow (p->freq_base, -2.0 * i / p->n_rot);

  if (turn->factors != NULL)
    theta /= (double) turn->factors[i];
  double scaled = theta * (double) p->freq_scale;
  if (p->ext_factor == 0)
    return scaled;
  double ramp = (i - turn->low) / fmax (0.001, turn->high - turn->low);
  double mix = (1 - fmin (fmax (ramp, 0), 1)) * (double) p->ext_factor;
  return scaled * (1 - mix) + theta * mix;
}

/* The cosines and sines of pair @i at @n positions, a row of n_rot for each. */
static void
fill_pair (const Turn *turn, int i, const int32_t *positions, int64_t n, float *table)
{
  int n_pairs = turn->params->n_rot / 2;
  double frequency = get_frequency (turn, i);

  for (int64_t t = 0; t < n; t++)
    {
      double theta = positions[t] * frequency;
      table[t * 2 * n_pairs + i] = (float) (cos (theta) * turn->magnitude);
      table[t * 2 * n_pairs + n_pairs + i] = (float) (sin (theta) * turn->magnitude);
    }
}

static void
fill_angles (const Turn *turn, const int32_t *positions, int64_t n, float *table)
{
  for (int i = 0; i < turn->params->n_rot / 2; i++)
    fill_pair (turn, i, positions, n, table);
}

static int64_t
get_tokens_per_piece (const KvasirTensor *node)
{
  /* A pair of sine and cosine costs about as much as 16 simple operations. */
  int64_t n = KVASIR_PIECE_ELEMENTS / (16 * (node->params.rope.n_rot / 2) + 1);

  return n > 0 ? n : 1;
}

static int64_t
count_angles (const KvasirOpItem *item, const KvasirOpRun *run)
{
  int64_t per_piece = get_tokens_per_piece (item->node);

  (void) run;
  return (item->node->ne[2] + per_piece - 1) / per_piece;
}

static void
run_angles (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const int32_t *positions = node->src[1]->data;
  int64_t per_piece = get_tokens_per_piece (node), first = piece * per_piece;
  int64_t n = node->ne[2] - first < per_piece ? node->ne[2] - first : per_piece;
  Turn turn = get_turn (node);

  (void) run;
  fill_angles (&turn, positions + first, n,
               (float *) (void *) item->slot + first * node->params.rope.n_rot);
}

static int64_t
get_heads_per_piece (const KvasirTensor *node)
{
  int64_t n = KVASIR_PIECE_ELEMENTS / node->ne[0];

  return n > 0 ? n : 1;
}

static int64_t
count_turn (const KvasirOpItem *item, const KvasirOpRun *run)
{
  int64_t per_piece = get_heads_per_piece (item->node);

  (void) run;
  return (item->node->ne[1] * item->node->ne[2] + per_piece - 1) / per_piece;
}

static void
run_turn (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node, *src = node->src[0];
  const KvasirRopeParams *p = &node->params.rope;
  int64_t per_piece = get_heads_per_piece (node), n = node->ne[1] * node->ne[2];
  int64_t end = (piece + 1) * per_piece < n ? (piece + 1) * per_piece : n;

  for (int64_t i = piece * per_piece; i < end; i++)
    {
      int64_t head = i % node->ne[1], token = i / node->ne[1];
      const float *x = (const void *) kvasir_tensor_get_row (src, head, token, 0);
      float *y = (void *) kvasir_tensor_get_row (node, head, token, 0);
      const float *table = (const float *) (const void *) item->slot + token * p->n_rot;
      run->kernels->rotate (x, table, p->n_rot, p->neox != 0, y);
      if (y != x)
        memcpy (y + p->n_rot, x + p->n_rot, (size_t) (node->ne[0] - p->n_rot) * sizeof *y);
    }
}

/* Cells of a K cache, which keep no place for the heads' extent, by rows. */
#define CELLS_PER_PIECE 64

static int64_t
get_head_dim (const KvasirRopeParams *params)
{
  return params->head_dim != 0 ? params->head_dim : params->n_rot;
}

static int64_t
count_shift (const KvasirOpItem *item, const KvasirOpRun *run)
{
  (void) run;
  return (item->node->src[1]->ne[0] + CELLS_PER_PIECE - 1) / CELLS_PER_PIECE;
}

static void
run_shift (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node, *cache = node->src[0];
  const KvasirRopeParams *p = &node->params.rope;
  const int32_t *deltas = node->src[1]->data;
  int64_t head_dim = get_head_dim (p), width = cache->ne[0];
  int64_t end = (piece + 1) * CELLS_PER_PIECE;
  Turn turn = get_turn (node);
  float *row = (float *) (void *) run->scratch, *table = row + width;
  int32_t delta = 0;

  fill_angles (&turn, &delta, 1, table);
  end = end < node->src[1]->ne[0] ? end : node->src[1]->ne[0];
  for (int64_t cell = piece * CELLS_PER_PIECE; cell < end; cell++)
    {
      uint8_t *data = kvasir_tensor_get_row (cache, cell, 0, 0);
      if (deltas[cell] == 0 && !p->shift_scales)
        continue;
      /* Cells mostly move together, so the last angles serve again. */
      if (deltas[cell] != delta)
        fill_angles (&turn, &deltas[cell], 1, table);
      delta = deltas[cell];
      run->kernels->to_float[cache->type](data, row, width);
      for (int64_t head = 0; head < width / head_dim; head++)
        run->kernels->rotate (row + head * head_dim, table, p->n_rot, p->neox != 0,
                              row + head * head_dim);
      run->kernels->from_float[cache->type](row, data, width);
    }
}

static const KvasirOpStage angles_stage = {
  .count = count_angles,
  .run = run_angles,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage turn_stage = {
  .count = count_turn,
  .run = run_turn,
  .reads_sources = true,
  .writes_dst = true,
  .reads_slot = true,
};

static const KvasirOpStage shift_stage = {
  .count = count_shift,
  .run = run_shift,
  .reads_sources = true,
  .writes_dst = true,
};

void
kvasir_rope_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  size_t n_rot = (size_t) node->params.rope.n_rot;

  if (node->op == KVASIR_OP_ROPE_SHIFT)
    {
      shape->stages[shape->n_stages++] = &shift_stage;
      shape->scratch_bytes = ((size_t) node->src[0]->ne[0] + n_rot) * sizeof (float);
      return;
    }
  shape->stages[shape->n_stages++] = &angles_stage;
  shape->stages[shape->n_stages++] = &turn_stage;
  shape->slot_kind = KVASIR_SLOT_ANGLES;
  shape->slot_bytes = (size_t) node->ne[2] * n_rot * sizeof (float);
}

bool
kvasir_rope_shares_angles (const KvasirTensor *a, const KvasirTensor *b)
{
  return memcmp (&a->params.rope, &b->params.rope, sizeof a->params.rope) == 0 &&
         a->src[1] == b->src[1] && a->src[2] == b->src[2] && a->ne[2] == b->ne[2];
}

static bool
is_shift_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *cache = node->src[0];
  int64_t head_dim = get_head_dim (&node->params.rope);

  return kernels->to_float[cache->type] != NULL && kernels->from_float[cache->type] != NULL &&
         cache->ne[0] % kvasir_type_get_block_len ((int) cache->type) == 0 &&
         head_dim >= node->params.rope.n_rot && cache->ne[0] % head_dim == 0;
}

bool
kvasir_rope_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *s0 = node->src[0], *positions = node->src[1], *factors = node->src[2];
  int32_t n_rot = node->params.rope.n_rot;

  if (s0 == NULL || positions == NULL || positions->type != KVASIR_TYPE_I32 || n_rot <= 0 ||
      n_rot % 2 != 0)
    return false;
  if (factors != NULL && (factors->type != KVASIR_TYPE_F32 || factors->ne[0] < n_rot / 2))
    return false;
  if (node->op == KVASIR_OP_ROPE_SHIFT)
    return is_shift_supported (node, kernels);
  return node->type == KVASIR_TYPE_F32 && s0->type == KVASIR_TYPE_F32 &&
         node->nb[0] == sizeof (float) && s0->nb[0] == sizeof (float) && n_rot <= node->ne[0] &&
         memcmp (s0->ne, node->ne, sizeof s0->ne) == 0 && node->ne[3] == 1 &&
         positions->ne[0] == node->ne[2];
}
