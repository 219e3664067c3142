/* Rotary position embedding.
 *
 * Angles are computed in double, because at position 100000 a float angle is off by a hundredth of
 * a radian, and once per step, because every layer turns by the same ones. */
#include <math.h>
#include <string.h>

#include "backends/cpu/ops.h"
#include "backends/cpu/rope-angles.h"

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

/* The positions that turn pair @i, one for each token. */
static const int32_t *
get_positions (const KvasirTensor *node, int i)
{
  const KvasirRopeParams *p = &node->params.rope;
  const int32_t *positions = node->src[1]->data;

  return kvasir_rope_has_planes (p) ? positions + kvasir_rope_get_plane (p, i) * node->ne[2]
                                    : positions;
}

/* The cosines and sines of pair @i at @n positions, a row of n_rot for each. */
static void
fill_pair (const KvasirRopeTurn *turn, int i, const int32_t *positions, int64_t n, float *table)
{
  int n_pairs = turn->params->n_rot / 2;
  double frequency = kvasir_rope_get_frequency (turn, i);

  for (int64_t t = 0; t < n; t++)
    {
      double theta = turn->as_traces ? kvasir_rope_get_float_angle (turn, i, positions[t])
                                     : positions[t] * frequency;
      table[t * 2 * n_pairs + i] = (float) (cos (theta) * turn->magnitude);
      table[t * 2 * n_pairs + n_pairs + i] = (float) (sin (theta) * turn->magnitude);
    }
}

static void
run_angles (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  int64_t per_piece = get_tokens_per_piece (node), first = piece * per_piece;
  int64_t n = node->ne[2] - first < per_piece ? node->ne[2] - first : per_piece;
  float *table = (float *) (void *) item->slot + first * node->params.rope.n_rot;
  KvasirRopeTurn turn = kvasir_rope_get_turn (node);

  turn.as_traces = run->as_traces && !kvasir_op_is_rough (node);
  for (int i = 0; i < node->params.rope.n_rot / 2; i++)
    fill_pair (&turn, i, get_positions (node, i) + first, n, table);
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
turn_head (const KvasirOpItem *item, const KvasirOpRun *run, int64_t head, int64_t token)
{
  const KvasirTensor *node = item->node;
  const KvasirRopeParams *p = &node->params.rope;
  const float *x = (const void *) kvasir_tensor_get_row (node->src[0], head, token, 0);
  float *y = (void *) kvasir_tensor_get_row (node, head, token, 0);
  const float *table = (const float *) (const void *) item->slot + token * p->n_rot;
  int32_t end = p->offset + p->n_rot;

  run->kernels->rotate (x + p->offset, table, p->n_rot, p->neox != 0, y + p->offset);
  if (y == x)
    return;
  memcpy (y, x, (size_t) p->offset * sizeof *y);
  memcpy (y + end, x + end, (size_t) (node->ne[0] - end) * sizeof *y);
}

static void
run_turn (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  int64_t per_piece = get_heads_per_piece (node), n = node->ne[1] * node->ne[2];
  int64_t end = (piece + 1) * per_piece < n ? (piece + 1) * per_piece : n;

  for (int64_t i = piece * per_piece; i < end; i++)
    turn_head (item, run, i % node->ne[1], i / node->ne[1]);
}

static const KvasirOpStage angles_stage = {
  .count = count_angles,
  .run = run_angles,
  .reads_sources = true,
  .first_source = 1, /* positions; what is turned is new in every layer */
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

void
kvasir_rope_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  shape->stages[shape->n_stages++] = &angles_stage;
  shape->stages[shape->n_stages++] = &turn_stage;
  shape->slot_kind = KVASIR_SLOT_ANGLES;
  shape->slot_bytes = (size_t) node->ne[2] * (size_t) node->params.rope.n_rot * sizeof (float);
}

/* Where the turned elements lie makes no difference to their angles. */
bool
kvasir_rope_shares_angles (const KvasirTensor *a, const KvasirTensor *b)
{
  KvasirRopeParams p = a->params.rope;

  p.offset = b->params.rope.offset;
  if (a->op != b->op || a->src[1] != b->src[1] || a->src[2] != b->src[2] ||
      memcmp (&p, &b->params.rope, sizeof p) != 0)
    return false;
  return a->op == KVASIR_OP_ROPE_SHIFT || a->ne[2] == b->ne[2];
}

static bool
are_sections_supported (const KvasirRopeParams *p)
{
  for (int i = 0; i < 4; i++)
    if (p->sections[i] < 0 || p->sections[i] > INT32_MAX / 4)
      return false;
  return true;
}

bool
kvasir_rope_are_params_supported (const KvasirTensor *node)
{
  const KvasirRopeParams *p = &node->params.rope;
  const KvasirTensor *positions = node->src[1], *factors = node->src[2];

  if (node->src[0] == NULL || positions == NULL || positions->type != KVASIR_TYPE_I32 ||
      p->n_rot <= 0 || p->n_rot % 2 != 0 || p->offset < 0 || !are_sections_supported (p))
    return false;
  return factors == NULL || (factors->type == KVASIR_TYPE_F32 && factors->ne[0] >= p->n_rot / 2);
}

bool
kvasir_rope_is_supported (const KvasirTensor *node)
{
  const KvasirRopeParams *p = &node->params.rope;
  const KvasirTensor *s0 = node->src[0];

  if (!kvasir_rope_are_params_supported (node))
    return false;
  int64_t n_positions = node->ne[2] * (kvasir_rope_has_planes (p) ? 4 : 1);
  return kvasir_tensor_is_float (node) && kvasir_tensor_is_float (s0) &&
         kvasir_tensor_has_shape_of (s0, node) && node->ne[3] == 1 &&
         (int64_t) p->offset + p->n_rot <= node->ne[0] && node->src[1]->ne[0] == n_positions;
}
