/* Rows that are measured first: norms, softmax and their like; and what is put together of rows. */
#include <math.h>
#include <string.h>

#include "backends/cpu/ops.h"

static const float *
get_source (const KvasirTensor *dst, int i, const int64_t at[3])
{
  return (const float *) (const void *) kvasir_tensor_get_row (dst->src[i], at[0], at[1], at[2]);
}

static float *
get_dst (const KvasirTensor *dst, const int64_t at[3])
{
  return (float *) (void *) kvasir_tensor_get_row (dst, at[0], at[1], at[2]);
}

static void
norm_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirCpuKernels *kernels = run->kernels;
  const float *x = get_source (dst, 0, at);
  float *y = get_dst (dst, at);
  int64_t n = dst->ne[0];
  float mean = kernels->sum (x, n) / (float) n;
  float variance = kernels->squares (x, mean, n) / (float) n;

  /* The mean goes first: factor * x - factor * mean would round where both are large. */
  kernels->scale (x, 1, -mean, y, n);
  kernels->scale (y, 1 / sqrtf (variance + dst->params.norm.eps), 0, y, n);
  if (dst->src[1] != NULL)
    kernels->mul (y, dst->src[1]->data, y, n);
  if (dst->src[2] != NULL)
    kernels->add (y, dst->src[2]->data, y, n);
}

static void
l2_norm_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_source (dst, 0, at);
  float sum = run->kernels->squares (x, 0, dst->ne[0]);

  run->kernels->scale (x, 1 / sqrtf (sum + dst->params.norm.eps), 0, get_dst (dst, at), dst->ne[0]);
}

static void
match_norm_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_source (dst, 0, at);
  float eps = dst->params.norm.eps;
  float own = run->kernels->squares (x, 0, dst->ne[0]);
  float wanted = run->kernels->squares (get_source (dst, 1, at), 0, dst->ne[0]);

  run->kernels->scale (x, sqrtf (fmaxf (wanted, eps) / fmaxf (own, eps)), 0, get_dst (dst, at),
                       dst->ne[0]);
}

static void
softmax_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  run->kernels->softmax_row (get_source (dst, 0, at), get_dst (dst, at), dst->ne[0]);
}

static void
shares_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_source (dst, 0, at);
  float sum = run->kernels->sum (x, dst->ne[0]);

  run->kernels->scale (x, 1 / fmaxf (sum, dst->params.norm.eps), 0, get_dst (dst, at), dst->ne[0]);
}

static void
clamp_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_source (dst, 0, at);
  float lo = dst->params.clamp.lo, hi = dst->params.clamp.hi;
  float *y = get_dst (dst, at);

  (void) run;
  for (int64_t i = 0; i < dst->ne[0]; i++)
    {
      float raised = x[i] < lo ? lo : x[i];
      y[i] = raised > hi ? hi : raised;
    }
}

static void
gauss_relu_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirCpuKernels *kernels = run->kernels;
  const float *x = get_source (dst, 0, at);
  float *y = get_dst (dst, at);
  int64_t n = dst->ne[0];
  float mean = kernels->sum (x, n) / (float) n;
  float deviation = sqrtf (kernels->squares (x, mean, n) / (float) (n - 1));

  kernels->scale (x, 1, -(mean + dst->params.gauss.z * deviation), y, n);
  kernels->unary (KVASIR_UNARY_RELU, y, y, n);
}

static void
temperature_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const int32_t *positions = dst->src[1]->data;
  const KvasirTemperatureParams *params = &dst->params.temperature;
  int64_t period = ((int64_t) positions[at[1]] + params->offset) / params->length;
  float factor = 1 + params->scale * logf ((float) (period + 1));

  run->kernels->scale (get_source (dst, 0, at), factor, 0, get_dst (dst, at), dst->ne[0]);
}

static void
concat_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *s0 = dst->src[0];
  int dim = dst->params.concat.dim;
  uint8_t *out = kvasir_tensor_get_row (dst, at[0], at[1], at[2]);
  size_t n_bytes = (size_t) s0->ne[0] * s0->nb[0];

  (void) run;
  if (dim == 0)
    {
      memcpy (out, get_source (dst, 0, at), n_bytes);
      memcpy (out + n_bytes, get_source (dst, 1, at), (size_t) dst->src[1]->ne[0] * dst->nb[0]);
    }
  else if (at[dim - 1] < s0->ne[dim])
    memcpy (out, get_source (dst, 0, at), n_bytes);
  else
    {
      int64_t behind[3] = { at[0], at[1], at[2] };
      behind[dim - 1] -= s0->ne[dim];
      memcpy (out, get_source (dst, 1, behind), n_bytes);
    }
}

KvasirRowFn
kvasir_norm_get_row_fn (KvasirOp op)
{
  switch (op)
    {
    case KVASIR_OP_NORM:
      return norm_row;
    case KVASIR_OP_L2_NORM:
      return l2_norm_row;
    case KVASIR_OP_MATCH_NORM:
      return match_norm_row;
    case KVASIR_OP_SOFTMAX:
      return softmax_row;
    case KVASIR_OP_SHARES:
      return shares_row;
    case KVASIR_OP_CLAMP:
      return clamp_row;
    case KVASIR_OP_GAUSS_RELU:
      return gauss_relu_row;
    case KVASIR_OP_TEMPERATURE:
      return temperature_row;
    case KVASIR_OP_CONCAT:
      return concat_row;
    default:
      return NULL;
    }
}

static bool
is_concat_supported (const KvasirTensor *node)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1];
  int dim = node->params.concat.dim;

  if (s0 == NULL || s1 == NULL || dim < 0 || dim >= KVASIR_MAX_DIMS)
    return false;
  if (s0->type != node->type || s1->type != node->type ||
      kvasir_type_get_block_len ((int) node->type) != 1)
    return false;
  for (int i = 0; i < KVASIR_MAX_DIMS; i++)
    if (node->ne[i] != (i == dim ? s0->ne[i] + s1->ne[i] : s0->ne[i]) ||
        (i != dim && s1->ne[i] != s0->ne[i]))
      return false;
  return true;
}

/* A vector as long as the rows, or none. */
static bool
is_vector_for (const KvasirTensor *vector, const KvasirTensor *node)
{
  return vector == NULL || (kvasir_tensor_is_float (vector) && vector->ne[0] == node->ne[0]);
}

bool
kvasir_norm_is_supported (const KvasirTensor *node)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1];

  if (node->op == KVASIR_OP_CONCAT)
    return is_concat_supported (node);
  if (!kvasir_tensor_is_float (node) || !kvasir_tensor_is_float (s0) ||
      !kvasir_tensor_has_shape_of (s0, node))
    return false;
  if (node->op == KVASIR_OP_TEMPERATURE)
    return s1 != NULL && s1->type == KVASIR_TYPE_I32 && s1->ne[0] == node->ne[2] &&
           node->ne[3] == 1 && node->params.temperature.length > 0;
  if (node->op == KVASIR_OP_NORM)
    return is_vector_for (s1, node) && is_vector_for (node->src[2], node);
  if (node->op == KVASIR_OP_MATCH_NORM)
    return kvasir_tensor_is_float (s1) && kvasir_tensor_has_shape_of (s1, node);
  return true;
}
