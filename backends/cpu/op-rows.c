/* Operations whose rows are independent of each other. */
#include <string.h>

#include "backends/cpu/ops.h"
#include "backends/cpu/packed.h"

static const float *
get_floats (const KvasirTensor *tensor, const int64_t at[3])
{
  return (const float *) (const void *) kvasir_tensor_get_row (tensor, at[0], at[1], at[2]);
}

/* As get_floats, of a tensor that is repeated along its extents of 1. */
static const float *
get_repeated (const KvasirTensor *tensor, const int64_t at[3])
{
  int64_t in[3];

  for (int i = 0; i < 3; i++)
    in[i] = tensor->ne[i + 1] == 1 ? 0 : at[i];
  return get_floats (tensor, in);
}

static float *
get_dst (const KvasirTensor *dst, const int64_t at[3])
{
  return (float *) (void *) kvasir_tensor_get_row (dst, at[0], at[1], at[2]);
}

static void
rms_norm_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *weight = dst->src[1] ? dst->src[1]->data : NULL;

  run->kernels->rms_norm (get_floats (dst->src[0], at), weight, dst->params.norm.eps,
                          get_dst (dst, at), dst->ne[0]);
}

static void
binary_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *a = get_repeated (dst->src[0], at);
  const float *b = get_repeated (dst->src[1], at);
  float *y = get_dst (dst, at);

  if (dst->src[1]->ne[0] != dst->ne[0])
    {
      bool is_add = dst->op == KVASIR_OP_ADD;
      run->kernels->scale (a, is_add ? 1 : *b, is_add ? *b : 0, y, dst->ne[0]);
    }
  else if (dst->op == KVASIR_OP_ADD)
    run->kernels->add (a, b, y, dst->ne[0]);
  else
    run->kernels->mul (a, b, y, dst->ne[0]);
}

static void
scale_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  run->kernels->scale (get_floats (dst->src[0], at), dst->params.scale.scale,
                       dst->params.scale.bias, get_dst (dst, at), dst->ne[0]);
}

static void
unary_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  KvasirUnary kind = (KvasirUnary) dst->params.unary.kind;

  if (dst->op == KVASIR_OP_UNARY)
    run->kernels->unary (kind, get_floats (dst->src[0], at), get_dst (dst, at), dst->ne[0]);
  else
    run->kernels->glu (kind, get_floats (dst->src[0], at), get_floats (dst->src[1], at),
                       get_dst (dst, at), dst->ne[0]);
}

static void
get_rows_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *table = dst->src[0];
  const int32_t *ids = dst->src[1]->data;

  if (!kvasir_packed_to_float (table, ids[at[0]], run->kernels->to_float[table->type],
                               get_dst (dst, at)))
    run->kernels->to_float[table->type](kvasir_tensor_get_row (table, ids[at[0]], 0, 0),
                                        get_dst (dst, at), dst->ne[0]);
}

/* Values in one column of a transposed cache: a row of it holds one value of every cell. */
static void
set_column (const KvasirTensor *table, const KvasirOpRun *run, const float *row, int64_t cell)
{
  size_t size = kvasir_type_get_block_bytes ((int) table->type);
  size_t column = (size_t) (cell % table->ne[0]) * size;
  int64_t stream = cell / table->ne[0], n;
  uint8_t piece[256 * sizeof (float)];

  for (int64_t i = 0; i < table->ne[1]; i += n)
    {
      n = table->ne[1] - i < 256 ? table->ne[1] - i : 256;
      run->kernels->from_float[table->type](row + i, piece, n);
      for (int64_t j = 0; j < n; j++)
        memcpy (kvasir_tensor_get_row (table, i + j, stream, 0) + column, piece + (size_t) j * size,
                size);
    }
}

static void
set_rows_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *table = dst->src[2];
  const int64_t *ids = dst->src[1]->data;
  int64_t id = ids[at[0]];

  if (dst->params.set_rows.transposed)
    set_column (table, run, get_floats (dst->src[0], at), id);
  else
    run->kernels->from_float[table->type](
        get_floats (dst->src[0], at),
        kvasir_tensor_get_row (table, id % table->ne[1], id / table->ne[1], 0), dst->src[0]->ne[0]);
}

static void
hadamard_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_floats (dst->src[0], at);
  float *y = get_dst (dst, at);
  int n = dst->params.hadamard.n;

  for (int64_t i = 0; i < dst->ne[0]; i += n)
    run->kernels->hadamard (x + i, n, y + i);
}

/* Conversions go through f32, a piece at a time. */
static void
cpy_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *src = dst->src[0];
  const uint8_t *in = kvasir_tensor_get_row (src, at[0], at[1], at[2]);
  uint8_t *out = kvasir_tensor_get_row (dst, at[0], at[1], at[2]);
  float piece[256];
  int64_t n;

  if (src->type == dst->type)
    {
      memcpy (out, in, kvasir_type_get_row_bytes ((int) dst->type, dst->ne[0]));
      return;
    }
  for (int64_t i = 0; i < dst->ne[0]; i += n)
    {
      n = dst->ne[0] - i < 256 ? dst->ne[0] - i : 256;
      run->kernels->to_float[src->type](in, piece, n);
      run->kernels->from_float[dst->type](piece, out, n);
      in += kvasir_type_get_row_bytes ((int) src->type, n);
      out += kvasir_type_get_row_bytes ((int) dst->type, n);
    }
}

static KvasirRowFn
get_row_fn (KvasirOp op)
{
  switch (op)
    {
    case KVASIR_OP_RMS_NORM:
      return rms_norm_row;
    case KVASIR_OP_ADD:
    case KVASIR_OP_MUL:
      return binary_row;
    case KVASIR_OP_SCALE:
      return scale_row;
    case KVASIR_OP_UNARY:
    case KVASIR_OP_GLU:
      return unary_row;
    case KVASIR_OP_GET_ROWS:
      return get_rows_row;
    case KVASIR_OP_SET_ROWS:
      return set_rows_row;
    case KVASIR_OP_HADAMARD:
      return hadamard_row;
    case KVASIR_OP_CPY:
      return cpy_row;
    default:
      return kvasir_norm_get_row_fn (op) ? kvasir_norm_get_row_fn (op)
                                         : kvasir_choice_get_row_fn (op);
    }
}

/* The tensor whose rows are the work: dst of SET_ROWS is the whole cache, that of TOP_K much
 * shorter than what is looked at. */
static const KvasirTensor *
get_extent (const KvasirTensor *node)
{
  return node->op == KVASIR_OP_SET_ROWS || node->op == KVASIR_OP_TOP_K ? node->src[0] : node;
}

static int64_t
get_rows_per_piece (const KvasirTensor *extent)
{
  int64_t n_rows = extent->ne[0] > 0 ? KVASIR_PIECE_ELEMENTS / extent->ne[0] : 1;

  return n_rows > 0 ? n_rows : 1;
}

static int64_t
count_rows (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *extent = get_extent (item->node);
  int64_t per_piece = get_rows_per_piece (extent);

  (void) run;
  if (extent->ne[0] == 0)
    return 0;
  return (kvasir_tensor_get_n_rows (extent) + per_piece - 1) / per_piece;
}

static void
run_rows (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *extent = get_extent (item->node);
  int64_t n_rows = kvasir_tensor_get_n_rows (extent);
  int64_t per_piece = get_rows_per_piece (extent);
  int64_t end = (piece + 1) * per_piece < n_rows ? (piece + 1) * per_piece : n_rows;
  KvasirRowFn row_fn = get_row_fn (item->node->op);

  for (int64_t i = piece * per_piece; i < end; i++)
    {
      int64_t at[3] = { i % extent->ne[1], i / extent->ne[1] % extent->ne[2],
                        i / (extent->ne[1] * extent->ne[2]) };
      row_fn (item->node, run, at);
    }
}

/* Tables and caches, and what is much longer than a token of a small model, are left alone. */
static void
claim_rows (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *node = item->node;

  (void) run;
  for (int i = 0; i < 2; i++)
    if (node->src[i] != NULL && node->src[i]->op != KVASIR_OP_NONE)
      kvasir_claim (node->src[i]->data, kvasir_tensor_get_span (node->src[i]), false);
  if (node->op != KVASIR_OP_SET_ROWS)
    kvasir_claim (node->data, kvasir_tensor_get_span (node), true);
}

const KvasirOpStage kvasir_rows_stage = {
  .count = count_rows,
  .run = run_rows,
  .claim = claim_rows,
  .reads_sources = true,
  .writes_dst = true,
};

static void
run_row_part (const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end)
{
  const KvasirTensor *node = item->node;
  KvasirUnary kind = (KvasirUnary) node->params.unary.kind;
  const float *a = node->src[0]->data, *b = node->src[1] != NULL ? node->src[1]->data : NULL;
  float *y = (float *) node->data + begin;

  if (node->op == KVASIR_OP_GLU)
    run->kernels->glu (kind, a + begin, b + begin, y, end - begin);
  else
    run->kernels->unary (kind, a + begin, y, end - begin);
}

const KvasirOpStage kvasir_elements_stage = {
  .count = count_rows,
  .run = run_rows,
  .run_part = run_row_part,
  .claim = claim_rows,
  .is_elementwise = true,
  .reads_sources = true,
  .writes_dst = true,
};

static bool
is_repeatable (const KvasirTensor *a, const KvasirTensor *to)
{
  for (int i = 0; i < KVASIR_MAX_DIMS; i++)
    if (a->ne[i] != to->ne[i] && a->ne[i] != 1)
      return false;
  return true;
}

static bool
is_cpy_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *src = node->src[0];

  if (src == NULL || !kvasir_tensor_has_shape_of (src, node) ||
      node->ne[0] % kvasir_type_get_block_len ((int) node->type) != 0)
    return false;
  return src->type == node->type ||
         (kernels->to_float[src->type] != NULL && kernels->from_float[node->type] != NULL);
}

static bool
is_get_rows_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1];

  return s0 != NULL && s1 != NULL && kvasir_tensor_is_float (node) && s1->type == KVASIR_TYPE_I32 &&
         kernels->to_float[s0->type] != NULL && s0->ne[0] == node->ne[0];
}

static bool
is_set_rows_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1], *s2 = node->src[2];

  if (!kvasir_tensor_is_float (s0) || s1 == NULL || s2 == NULL || s1->type != KVASIR_TYPE_I64 ||
      kernels->from_float[s2->type] == NULL)
    return false;
  if (s0->ne[1] != s1->ne[0] || s0->ne[2] != 1 || s0->ne[3] != 1 || s2->ne[3] != 1)
    return false;
  int64_t block = kvasir_type_get_block_len ((int) s2->type);
  if (node->params.set_rows.transposed)
    return block == 1 && s0->ne[0] == s2->ne[1];
  return s0->ne[0] == s2->ne[0] && s0->ne[0] % block == 0;
}

static bool
is_kind (const KvasirTensor *node, KvasirUnary last)
{
  return node->params.unary.kind >= 0 && node->params.unary.kind <= (int) last;
}

static bool
is_hadamard_supported (const KvasirTensor *node)
{
  int32_t n = node->params.hadamard.n;

  return n > 0 && (n & (n - 1)) == 0 && node->ne[0] % n == 0;
}

bool
kvasir_rows_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1];
  KvasirOp op = node->op;

  if (op == KVASIR_OP_CPY)
    return is_cpy_supported (node, kernels);
  if (kvasir_norm_get_row_fn (op) != NULL)
    return kvasir_norm_is_supported (node);
  if (kvasir_choice_get_row_fn (op) != NULL)
    return kvasir_choice_is_supported (node);
  if (op == KVASIR_OP_GET_ROWS)
    return is_get_rows_supported (node, kernels);
  if (op == KVASIR_OP_SET_ROWS)
    return is_set_rows_supported (node, kernels);
  if (!kvasir_tensor_is_float (node) || !kvasir_tensor_is_float (s0))
    return false;
  if (op == KVASIR_OP_ADD || op == KVASIR_OP_MUL)
    return kvasir_tensor_is_float (s1) && is_repeatable (s1, node) && is_repeatable (s0, node) &&
           s0->ne[0] == node->ne[0];
  if (!kvasir_tensor_has_shape_of (s0, node))
    return false;
  switch (op)
    {
    case KVASIR_OP_HADAMARD:
      return is_hadamard_supported (node);
    case KVASIR_OP_RMS_NORM:
      return s1 == NULL || (kvasir_tensor_is_float (s1) && s1->ne[0] == node->ne[0]);
    case KVASIR_OP_GLU:
      return kvasir_tensor_is_float (s1) && kvasir_tensor_has_shape_of (s1, node) &&
             is_kind (node, KVASIR_GLU_OAI);
    case KVASIR_OP_UNARY:
      return is_kind (node, KVASIR_UNARY_EXP);
    case KVASIR_OP_SCALE:
      return true;
    default:
      return false;
    }
}
