#include "backends/cpu/ops.h"

#include <string.h>

#include "backends/cpu/acts.h"

size_t
kvasir_tensor_get_span (const KvasirTensor *tensor)
{
  size_t span = kvasir_type_get_row_bytes ((int) tensor->type, tensor->ne[0]);

  for (int i = 0; i < KVASIR_MAX_DIMS; i++)
    if (tensor->ne[i] == 0)
      return 0;
  for (int i = 1; i < KVASIR_MAX_DIMS; i++)
    span += (size_t) (tensor->ne[i] - 1) * tensor->nb[i];
  return span;
}

int64_t
kvasir_tensor_get_n_rows (const KvasirTensor *tensor)
{
  return tensor->ne[1] * tensor->ne[2] * tensor->ne[3];
}

bool
kvasir_tensor_is_float (const KvasirTensor *tensor)
{
  return tensor != NULL && tensor->type == KVASIR_TYPE_F32 && tensor->nb[0] == sizeof (float);
}

bool
kvasir_tensor_has_shape_of (const KvasirTensor *a, const KvasirTensor *b)
{
  return memcmp (a->ne, b->ne, sizeof a->ne) == 0;
}

uint8_t *
kvasir_tensor_get_row (const KvasirTensor *tensor, int64_t i1, int64_t i2, int64_t i3)
{
  return (uint8_t *) tensor->data + (size_t) i1 * tensor->nb[1] + (size_t) i2 * tensor->nb[2] +
         (size_t) i3 * tensor->nb[3];
}

void
kvasir_op_describe (const KvasirTensor *node, const KvasirCpuKernels *kernels, KvasirOpShape *shape)
{
  memset (shape, 0, sizeof *shape);
  switch (node->op)
    {
    case KVASIR_OP_NONE:
    case KVASIR_OP_VIEW:
    case KVASIR_N_OPS:
      return;
    case KVASIR_OP_MUL_MAT:
      if (kvasir_heads_have_matrices (node))
        kvasir_heads_describe (node, shape);
      else
        kvasir_mul_mat_describe (node, kernels, shape);
      return;
    case KVASIR_OP_MUL_MAT_ID:
      kvasir_experts_describe (node, kernels, shape);
      return;
    case KVASIR_OP_CONV:
      kvasir_conv_describe (node, shape);
      return;
    case KVASIR_OP_SSM_SCAN:
    case KVASIR_OP_WKV7:
    case KVASIR_OP_DELTA:
      kvasir_scan_describe (node, shape);
      return;
    case KVASIR_OP_ROPE:
      kvasir_rope_describe (node, shape);
      return;
    case KVASIR_OP_ROPE_SHIFT:
      kvasir_rope_shift_describe (node, shape);
      return;
    case KVASIR_OP_ATTENTION:
      kvasir_attention_describe (node, shape);
      return;
    case KVASIR_OP_GLU:
    case KVASIR_OP_UNARY:
      shape->n_stages = 1;
      shape->stages[0] = &kvasir_elements_stage;
      return;
    default:
      shape->n_stages = 1;
      shape->stages[0] = &kvasir_rows_stage;
      return;
    }
}

bool
kvasir_op_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  switch (node->op)
    {
    case KVASIR_OP_NONE:
    case KVASIR_OP_VIEW:
      return true;
    case KVASIR_OP_MUL_MAT:
      return kvasir_heads_have_matrices (node) ? kvasir_heads_is_supported (node, kernels)
                                               : kvasir_mul_mat_is_supported (node, kernels);
    case KVASIR_OP_MUL_MAT_ID:
      return kvasir_experts_is_supported (node, kernels);
    case KVASIR_OP_CONV:
      return kvasir_conv_is_supported (node);
    case KVASIR_OP_SSM_SCAN:
    case KVASIR_OP_WKV7:
    case KVASIR_OP_DELTA:
      return kvasir_scan_is_supported (node);
    case KVASIR_OP_ROPE:
      return kvasir_rope_is_supported (node);
    case KVASIR_OP_ROPE_SHIFT:
      return kvasir_rope_shift_is_supported (node, kernels);
    case KVASIR_OP_ATTENTION:
      return kvasir_attention_is_supported (node, kernels);
    default:
      return kvasir_rows_is_supported (node, kernels);
    }
}

bool
kvasir_op_shares_slot (const KvasirTensor *a, const KvasirTensor *b)
{
  const KvasirTensor *x = a->src[1], *y = b->src[1];

  if (a->op != b->op)
    return false;
  if (a->op == KVASIR_OP_ROPE || a->op == KVASIR_OP_ROPE_SHIFT)
    return kvasir_rope_shares_angles (a, b);
  /* Rounded to halves, or to integers. */
  if (kvasir_acts_are_halves (a->src[0]->type) != kvasir_acts_are_halves (b->src[0]->type))
    return false;
  if (a->op == KVASIR_OP_MUL_MAT_ID)
    return x->data == y->data && kvasir_tensor_has_shape_of (x, y) &&
           memcmp (x->nb, y->nb, sizeof x->nb) == 0 && memcmp (x->dyn, y->dyn, sizeof x->dyn) == 0;
  return a->op == KVASIR_OP_MUL_MAT && x->data == y->data && x->ne[0] == y->ne[0] &&
         x->ne[1] == y->ne[1] && x->nb[1] == y->nb[1] &&
         memcmp (x->dyn, y->dyn, sizeof x->dyn) == 0;
}

bool
kvasir_op_is_rough (const KvasirTensor *node)
{
  const KvasirTensor *source = node->src[0];

  while (source != NULL && source->op != KVASIR_OP_MUL_MAT)
    source = source->src[0];
  return source != NULL && kvasir_type_get_block_len ((int) source->src[0]->type) > 1;
}
