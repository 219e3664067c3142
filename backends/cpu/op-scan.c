/* Recurrent layers whose state is a matrix per head. Its lines never meet: each is changed, and
 * multiplied with what reads it, token after token, so that pieces are some lines of a sequence. */
#include <math.h>
#include <string.h>

#include "backends/cpu/recurrent.h"

/* Lines of a piece: few enough to stay in the first cache. */
#define LINES 32

/* A state is [width, per_head, n_heads]. */
typedef struct
{
  int64_t width;
  int64_t per_head;
  int64_t n_heads;
} Shape;

/* Lines of one sequence. A piece has several heads only if it has them whole. */
typedef struct
{
  const KvasirTensor *node;
  const KvasirOpRun *run;
  Shape shape;
  int64_t begin, end; /* lines, counted through all heads */
  float *lines;       /* [end - begin][width] */
  float *vectors;     /* [2][width], for what all lines of a head share */
} Block;

/* Lines [begin, end) of one head at a token of the step. */
typedef struct
{
  int64_t head;
  int64_t begin, end; /* counted in the head */
  int64_t token;
  float *lines;
} Segment;

typedef void (*StepFn) (const Block *block, const Segment *segment);

static const float *
get_floats (const KvasirTensor *tensor, int64_t i1, int64_t i2)
{
  return (const float *) (const void *) kvasir_tensor_get_row (tensor, i1, i2, 0);
}

/* Of the segment's head at its token. */
static const float *
get_source (const Block *block, const Segment *segment, int i)
{
  return get_floats (block->node->src[i], segment->head, segment->token);
}

static float *
get_dst (const Block *block, const Segment *segment)
{
  return (float *) (void *) kvasir_tensor_get_row (block->node, segment->head, segment->token, 0);
}

static float
get_softplus (float x)
{
  return fmaxf (x, 0) + log1pf (expf (-fabsf (x)));
}

/* How much of each element stays: exp (dt A), A of the head one number or one for each element. */
static void
get_ssm_decay (const Block *block, const Segment *segment, float dt, float *decay)
{
  const KvasirTensor *a = block->node->src[2];
  const KvasirCpuKernels *kernels = block->run->kernels;
  const float *row = get_floats (a, segment->head, 0);

  if (a->ne[0] == 1)
    {
      float same = expf (dt * *row);
      for (int64_t i = 0; i < block->shape.width; i++)
        decay[i] = same;
    }
  else
    {
      kernels->scale (row, dt, 0, decay, a->ne[0]);
      kernels->unary (KVASIR_UNARY_EXP, decay, decay, a->ne[0]);
    }
}

static void
step_ssm (const Block *block, const Segment *segment)
{
  const KvasirTensor *b = block->node->src[3], *c = block->node->src[4];
  int64_t group = segment->head / (block->shape.n_heads / b->ne[1]);
  const float *x = get_source (block, segment, 0);
  float dt = get_softplus (get_floats (block->node->src[1], segment->token, 0)[segment->head]);
  float d = ((const float *) block->node->src[5]->data)[segment->head];
  float *y = get_dst (block, segment), *line = segment->lines;
  KvasirUpdate update = { .n = block->shape.width,
                          .decay = block->vectors,
                          .u = get_floats (b, group, segment->token),
                          .read = get_floats (c, group, segment->token) };

  get_ssm_decay (block, segment, dt, block->vectors);
  for (int64_t i = segment->begin; i < segment->end; i++, line += update.n)
    y[i] = block->run->kernels->update (&update, dt * x[i], 0, line) + d * x[i];
}

static void
step_wkv7 (const Block *block, const Segment *segment)
{
  const KvasirCpuKernels *kernels = block->run->kernels;
  const float *v = get_source (block, segment, 3), *kappa = get_source (block, segment, 4);
  float *y = get_dst (block, segment), *line = segment->lines;
  KvasirUpdate update = { .n = block->shape.width,
                          .decay = get_source (block, segment, 1),
                          .u = get_source (block, segment, 2),
                          .v = block->vectors,
                          .read = get_source (block, segment, 0) };

  kernels->mul (kappa, get_source (block, segment, 5), block->vectors, update.n);
  for (int64_t i = segment->begin; i < segment->end; i++, line += update.n)
    {
      float removed = kernels->dot (line, kappa, update.n);
      y[i] = kernels->update (&update, v[i], -removed, line);
    }
}

static void
step_delta (const Block *block, const Segment *segment)
{
  const KvasirTensor *node = block->node, *q = node->src[0], *k = node->src[1];
  const KvasirCpuKernels *kernels = block->run->kernels;
  int64_t head = segment->head, token = segment->token;
  int64_t key_head =
      node->params.state.by_group ? head / (block->shape.n_heads / k->ne[1]) : head % k->ne[1];
  const float *v = get_source (block, segment, 2);
  float decay = expf (get_floats (node->src[3], token, 0)[head]);
  float beta = get_floats (node->src[4], token, 0)[head];
  float factor = 1 / sqrtf ((float) block->shape.width);
  float *y = get_dst (block, segment), *line = segment->lines;
  KvasirUpdate update = { .n = block->shape.width,
                          .decay = block->vectors,
                          .u = get_floats (k, key_head, token),
                          .read = get_floats (q, key_head, token) };

  for (int64_t i = 0; i < update.n; i++)
    block->vectors[i] = decay;
  for (int64_t i = segment->begin; i < segment->end; i++, line += update.n)
    {
      float known = decay * kernels->dot (line, update.u, update.n);
      y[i] = factor * kernels->update (&update, beta * (v[i] - known), 0, line);
    }
}

static StepFn
get_step_fn (KvasirOp op)
{
  switch (op)
    {
    case KVASIR_OP_SSM_SCAN:
      return step_ssm;
    case KVASIR_OP_WKV7:
      return step_wkv7;
    default:
      return step_delta;
    }
}

/* dst is [per_head, n_heads, n]. */
static Shape
get_shape (const KvasirTensor *node)
{
  const KvasirTensor *read = node->src[node->op == KVASIR_OP_SSM_SCAN ? 4 : 0];

  return (Shape){ read->ne[0], node->ne[0], node->ne[1] };
}

/* Pieces of a head, or -n where n heads are a piece. */
static int64_t
get_cut (const Shape *shape)
{
  if (shape->per_head > LINES)
    return (shape->per_head + LINES - 1) / LINES;
  return -(LINES / shape->per_head);
}

static int64_t
get_pieces_per_sequence (const Shape *shape)
{
  int64_t cut = get_cut (shape);

  return cut > 0 ? cut * shape->n_heads : (shape->n_heads - cut - 1) / -cut;
}

static void
set_lines (Block *block, int64_t piece)
{
  const Shape *shape = &block->shape;
  int64_t cut = get_cut (shape), all = shape->per_head * shape->n_heads;

  if (cut > 0)
    {
      int64_t head = piece / cut * shape->per_head, part = piece % cut;
      block->begin = head + shape->per_head * part / cut;
      block->end = head + shape->per_head * (part + 1) / cut;
    }
  else
    {
      block->begin = piece * -cut * shape->per_head;
      block->end = block->begin - cut * shape->per_head;
      block->end = block->end < all ? block->end : all;
    }
}

static int64_t
count_scan (const KvasirOpItem *item, const KvasirOpRun *run)
{
  Shape shape = get_shape (item->node);

  if (item->node->ne[2] == 0)
    return 0;
  return kvasir_step_get_n_seqs (run->step) * get_pieces_per_sequence (&shape);
}

static void
step_block (const Block *block, int64_t token)
{
  StepFn step_fn = get_step_fn (block->node->op);
  int64_t per_head = block->shape.per_head, end;

  for (int64_t line = block->begin; line < block->end; line = end)
    {
      Segment segment = { .head = line / per_head, .token = token };
      end = (segment.head + 1) * per_head < block->end ? (segment.head + 1) * per_head : block->end;
      segment.begin = line - segment.head * per_head;
      segment.end = end - segment.head * per_head;
      segment.lines = block->lines + (line - block->begin) * block->shape.width;
      step_fn (block, &segment);
    }
}

static void
run_scan (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  Block block = { .node = item->node, .run = run, .shape = get_shape (item->node) };
  int64_t n_pieces = get_pieces_per_sequence (&block.shape), width = block.shape.width;
  KvasirSequence sequence = kvasir_sequence_get (item->node, run->step, piece / n_pieces);
  const float *old = kvasir_sequence_get_old (&sequence);

  block.lines = (float *) (void *) run->scratch;
  block.vectors = block.lines + LINES * width;
  set_lines (&block, piece % n_pieces);
  size_t n_bytes = (size_t) ((block.end - block.begin) * width) * sizeof (float);
  if (old != NULL)
    memcpy (block.lines, old + block.begin * width, n_bytes);
  else
    memset (block.lines, 0, n_bytes);
  for (int64_t t = 0; t < sequence.n_tokens; t++)
    {
      float *state = kvasir_sequence_get_new (&sequence, t);
      step_block (&block, sequence.first + t);
      if (state != NULL)
        memcpy (state + block.begin * width, block.lines, n_bytes);
    }
}

static const KvasirOpStage scan_stage = {
  .count = count_scan,
  .run = run_scan,
  .reads_sources = true,
  .writes_dst = true,
};

void
kvasir_scan_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  shape->n_stages = 1;
  shape->stages[0] = &scan_stage;
  shape->scratch_bytes = (size_t) ((LINES + 2) * get_shape (node).width) * sizeof (float);
}

static bool
has_extents (const KvasirTensor *tensor, int64_t ne0, int64_t ne1, int64_t ne2)
{
  return kvasir_tensor_is_float (tensor) && tensor->ne[0] == ne0 && tensor->ne[1] == ne1 &&
         tensor->ne[2] == ne2 && tensor->ne[3] == 1;
}

/* Numbers one behind the other, be they a row or a column. */
static bool
is_vector (const KvasirTensor *tensor, int64_t n)
{
  return has_extents (tensor, n, 1, 1) ||
         (has_extents (tensor, 1, n, 1) && tensor->nb[1] == sizeof (float));
}

static bool
is_ssm_supported (const KvasirTensor *node)
{
  const KvasirTensor *a = node->src[2], *b = node->src[3];
  int64_t p = node->ne[0], n_heads = node->ne[1], n = node->ne[2];

  if (!kvasir_tensor_is_float (a) || !kvasir_tensor_is_float (b))
    return false;
  int64_t width = b->ne[0], n_groups = b->ne[1];
  return has_extents (node->src[0], p, n_heads, n) && has_extents (node->src[1], n_heads, n, 1) &&
         (a->ne[0] == 1 || a->ne[0] == width) && a->ne[1] == n_heads &&
         is_vector (node->src[5], n_heads) && n_groups > 0 && n_heads % n_groups == 0 &&
         has_extents (b, width, n_groups, n) && has_extents (node->src[4], width, n_groups, n) &&
         kvasir_op_is_state_supported (node, width * p * n_heads);
}

static bool
is_wkv7_supported (const KvasirTensor *node)
{
  for (int i = 0; i < 6; i++)
    if (!has_extents (node->src[i], node->ne[0], node->ne[1], node->ne[2]))
      return false;
  return kvasir_op_is_state_supported (node, node->ne[0] * node->ne[0] * node->ne[1]);
}

static bool
is_delta_supported (const KvasirTensor *node)
{
  const KvasirTensor *k = node->src[1];
  int64_t n_heads = node->ne[1], n = node->ne[2];

  return kvasir_tensor_is_float (k) && k->ne[1] > 0 && n_heads % k->ne[1] == 0 &&
         has_extents (k, k->ne[0], k->ne[1], n) &&
         has_extents (node->src[0], k->ne[0], k->ne[1], n) &&
         has_extents (node->src[2], node->ne[0], n_heads, n) &&
         has_extents (node->src[3], n_heads, n, 1) && has_extents (node->src[4], n_heads, n, 1) &&
         kvasir_op_is_state_supported (node, k->ne[0] * node->ne[0] * n_heads);
}

bool
kvasir_scan_is_supported (const KvasirTensor *node)
{
  if (!kvasir_tensor_is_float (node) || node->ne[0] == 0 || node->ne[3] != 1)
    return false;
  switch (node->op)
    {
    case KVASIR_OP_SSM_SCAN:
      return is_ssm_supported (node);
    case KVASIR_OP_WKV7:
      return is_wkv7_supported (node);
    default:
      return is_delta_supported (node);
    }
}
