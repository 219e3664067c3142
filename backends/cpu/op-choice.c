/* Which experts a token goes to, and what becomes of their results. */
#include "backends/cpu/ops.h"

#define MAX_GROUPS 64

static const float *
get_floats (const KvasirTensor *tensor, int64_t row)
{
  return (const float *) (const void *) kvasir_tensor_get_row (tensor, row, 0, 0);
}

/* The two largest together; of a single one that one. */
static float
get_group_score (const float *x, int64_t n)
{
  float best = x[0], second = n > 1 ? x[1] : 0;

  if (second > best && n > 1)
    {
      best = x[1];
      second = x[0];
    }
  for (int64_t i = 2; i < n; i++)
    if (x[i] > best)
      {
        second = best;
        best = x[i];
      }
    else if (x[i] > second)
      second = x[i];
  return best + second;
}

/* Bit g is set where fewer than @n_used groups are better than group g. */
static uint64_t
choose_groups (const float *x, int64_t n, int n_groups, int n_used)
{
  float scores[MAX_GROUPS];
  uint64_t chosen = 0;

  for (int g = 0; g < n_groups; g++)
    scores[g] = get_group_score (x + n / n_groups * g, n / n_groups);
  for (int g = 0; g < n_groups; g++)
    {
      int n_better = 0;
      for (int other = 0; other < n_groups; other++)
        if (scores[other] > scores[g] || (scores[other] == scores[g] && other < g))
          n_better++;
      if (n_better < n_used)
        chosen |= (uint64_t) 1 << g;
    }
  return chosen;
}

/* Puts @index where it belongs among the @n best so far, of which @max are kept. */
static int64_t
insert (int32_t *best, int64_t n, int64_t max, const float *x, int64_t index)
{
  int64_t at = n < max ? n : max - 1;

  if (n == max && !(x[index] > x[best[at]]))
    return n;
  for (; at > 0 && x[index] > x[best[at - 1]]; at--)
    best[at] = best[at - 1];
  best[at] = (int32_t) index;
  return n < max ? n + 1 : n;
}

static void
top_k_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *s0 = dst->src[0];
  const float *x = get_floats (s0, at[0]);
  int32_t *best = (int32_t *) (void *) kvasir_tensor_get_row (dst, at[0], 0, 0);
  int n_groups = dst->params.top_k.n_groups > 1 ? dst->params.top_k.n_groups : 1;
  int64_t width = s0->ne[0] / n_groups, n = 0;
  uint64_t chosen = 1;

  (void) run;
  if (n_groups > 1)
    chosen = choose_groups (x, s0->ne[0], n_groups, dst->params.top_k.n_groups_used);
  for (int g = 0; g < n_groups; g++)
    if (chosen >> g & 1)
      for (int64_t i = g * width; i < (g + 1) * width; i++)
        n = insert (best, n, dst->ne[0], x, i);
}

static void
gather_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const float *x = get_floats (dst->src[0], at[0]);
  const int32_t *ids = (const int32_t *) (const void *) get_floats (dst->src[1], at[0]);
  float *y = (float *) (void *) kvasir_tensor_get_row (dst, at[0], 0, 0);

  (void) run;
  for (int64_t j = 0; j < dst->ne[0]; j++)
    y[j] = x[ids[j]];
}

static void
weighted_sum_row (const KvasirTensor *dst, const KvasirOpRun *run, const int64_t at[3])
{
  const KvasirTensor *s0 = dst->src[0], *s1 = dst->src[1];
  const uint8_t *weights = kvasir_tensor_get_row (s1, at[0], 0, 0);
  float *y = (float *) (void *) kvasir_tensor_get_row (dst, at[0], 0, 0);

  for (int64_t j = 0; j < s0->ne[1]; j++)
    {
      const float *x = (const float *) (const void *) kvasir_tensor_get_row (s0, j, at[0], 0);
      float weight = *(const float *) (const void *) (weights + (size_t) j * s1->nb[0]);
      if (j == 0)
        run->kernels->scale (x, weight, 0, y, dst->ne[0]);
      else
        run->kernels->add_scaled (x, weight, y, dst->ne[0]);
    }
}

KvasirRowFn
kvasir_choice_get_row_fn (KvasirOp op)
{
  switch (op)
    {
    case KVASIR_OP_TOP_K:
      return top_k_row;
    case KVASIR_OP_GATHER:
      return gather_row;
    case KVASIR_OP_WEIGHTED_SUM:
      return weighted_sum_row;
    default:
      return NULL;
    }
}

static bool
is_ids (const KvasirTensor *tensor)
{
  return tensor != NULL && tensor->type == KVASIR_TYPE_I32 && tensor->nb[0] == sizeof (int32_t);
}

/* Rows (., n) and no further extents. */
static bool
is_list_of (const KvasirTensor *tensor, int64_t n)
{
  return tensor->ne[1] == n && tensor->ne[2] == 1 && tensor->ne[3] == 1;
}

static bool
is_top_k_supported (const KvasirTensor *node)
{
  const KvasirTensor *s0 = node->src[0];
  int64_t n_groups = node->params.top_k.n_groups, n_used = node->params.top_k.n_groups_used;

  if (!is_ids (node) || !kvasir_tensor_is_float (s0) || !is_list_of (s0, node->ne[1]) ||
      !is_list_of (node, node->ne[1]) || node->ne[0] < 1)
    return false;
  if (n_groups <= 1)
    return node->ne[0] <= s0->ne[0];
  return n_groups <= MAX_GROUPS && s0->ne[0] % n_groups == 0 && n_used >= 1 && n_used <= n_groups &&
         node->ne[0] <= s0->ne[0] / n_groups * n_used;
}

bool
kvasir_choice_is_supported (const KvasirTensor *node)
{
  const KvasirTensor *s0 = node->src[0], *s1 = node->src[1];
  int64_t n = node->ne[1];

  if (node->op == KVASIR_OP_TOP_K)
    return is_top_k_supported (node);
  if (!kvasir_tensor_is_float (node) || !kvasir_tensor_is_float (s0) || s1 == NULL ||
      !is_list_of (node, n) || !is_list_of (s1, n))
    return false;
  if (node->op == KVASIR_OP_GATHER)
    return is_ids (s1) && s1->ne[0] == node->ne[0] && is_list_of (s0, n);
  return s1->type == KVASIR_TYPE_F32 && s0->ne[0] == node->ne[0] && s0->ne[1] == s1->ne[0] &&
         s0->ne[1] > 0 && s0->ne[2] == n && s0->ne[3] == 1;
}
