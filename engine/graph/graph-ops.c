/* Operations that only some architectures need. */
#include "engine/graph/graph-private.h"

KvasirTensor *
kvasir_graph_set_columns (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *slots, KvasirTensor *cache)
{
  KvasirTensor *t = kvasir_graph_view_of (self, name, KVASIR_OP_SET_ROWS, cache);
  g_return_val_if_fail (x->ne[0] == cache->ne[1], NULL);
  t->src[0] = x;
  t->src[1] = slots;
  t->src[2] = cache;
  t->params.set_rows.transposed = 1;
  kvasir_graph_add_view_node (self, t);
  return t;
}

KvasirTensor *
kvasir_graph_mul (KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_MUL, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, a);
  t->src[0] = a;
  t->src[1] = b;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_spread (KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *factors)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_MUL, KVASIR_TYPE_F32);
  g_return_val_if_fail (x->ne[1] == 1 && factors->ne[0] == 1, NULL);
  kvasir_graph_copy_shape (t, x);
  t->ne[1] = factors->ne[1];
  t->src[0] = x;
  t->src[1] = factors;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_scale (KvasirGraph *self, const char *name, KvasirTensor *x, float scale, float bias)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_SCALE, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.scale.scale = scale;
  t->params.scale.bias = bias;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_unary (KvasirGraph *self, const char *name, KvasirUnary kind, KvasirTensor *x)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_UNARY, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.unary.kind = kind;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_norm (KvasirGraph *self,
                   const char *name,
                   KvasirTensor *x,
                   KvasirTensor *weight,
                   KvasirTensor *bias,
                   float eps)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_NORM, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->src[1] = weight;
  t->src[2] = bias;
  t->params.norm.eps = eps;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_l2_norm (KvasirGraph *self, const char *name, KvasirTensor *x, float eps)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_L2_NORM, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.norm.eps = eps;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_match_norm (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *like, float eps)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_MATCH_NORM, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->src[1] = like;
  t->params.norm.eps = eps;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_softmax (KvasirGraph *self, const char *name, KvasirTensor *x)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_SOFTMAX, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_shares (KvasirGraph *self, const char *name, KvasirTensor *x, float eps)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_SHARES, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.norm.eps = eps;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_clamp (KvasirGraph *self, const char *name, KvasirTensor *x, float lo, float hi)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_CLAMP, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.clamp.lo = lo;
  t->params.clamp.hi = hi;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_hadamard (KvasirGraph *self, const char *name, KvasirTensor *x, gint n)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_HADAMARD, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.hadamard.n = n;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_gauss_relu (KvasirGraph *self, const char *name, KvasirTensor *x, float z)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_GAUSS_RELU, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->params.gauss.z = z;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_temperature (KvasirGraph *self,
                          const char *name,
                          KvasirTensor *x,
                          KvasirTensor *positions,
                          const KvasirTemperatureParams *params)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_TEMPERATURE, KVASIR_TYPE_F32);
  g_return_val_if_fail (params->length > 0, NULL);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->src[1] = positions;
  t->params.temperature = *params;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_concat (
    KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b, gint dim)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_CONCAT, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, a);
  g_return_val_if_fail (dim >= 0 && dim < KVASIR_MAX_DIMS, NULL);
  t->ne[dim] = a->ne[dim] + b->ne[dim];
  t->src[0] = a;
  t->src[1] = b;
  t->params.concat.dim = dim;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_dense (KvasirGraph *self, const char *name, KvasirTensor *x)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_CPY, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_top_k (KvasirGraph *self,
                    const char *name,
                    KvasirTensor *x,
                    gint64 k,
                    gint n_groups,
                    gint n_groups_used)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_TOP_K, KVASIR_TYPE_I32);
  kvasir_graph_copy_shape (t, x);
  t->ne[0] = k;
  t->src[0] = x;
  t->params.top_k.n_groups = n_groups;
  t->params.top_k.n_groups_used = n_groups_used;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_gather (KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *ids)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_GATHER, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, ids);
  t->src[0] = x;
  t->src[1] = ids;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_mul_mat_id (KvasirGraph *self,
                         const char *name,
                         KvasirTensor *weight,
                         KvasirTensor *x,
                         KvasirTensor *ids,
                         KvasirTensor *bias)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_MUL_MAT_ID, KVASIR_TYPE_F32);
  g_return_val_if_fail (weight->ne[0] == x->ne[0], NULL);
  t->ne[0] = weight->ne[1];
  t->ne[1] = ids->ne[0];
  t->ne[2] = ids->ne[1];
  t->dyn[2] = ids->dyn[1];
  t->src[0] = weight;
  t->src[1] = x;
  t->src[2] = ids;
  t->src[3] = bias;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_weighted_sum (KvasirGraph *self,
                           const char *name,
                           KvasirTensor *x,
                           KvasirTensor *weights)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_WEIGHTED_SUM, KVASIR_TYPE_F32);
  g_return_val_if_fail (weights->ne[0] == x->ne[1], NULL);
  t->ne[0] = x->ne[0];
  t->ne[1] = x->ne[2];
  t->dyn[1] = x->dyn[2];
  t->src[0] = x;
  t->src[1] = weights;
  return kvasir_graph_add_node (self, t);
}

/* A node of the shape of @like whose sources end with a state and its rows. */
static KvasirTensor *
new_stateful (KvasirGraph *self,
              const char *name,
              KvasirOp op,
              const KvasirTensor *like,
              const KvasirStateSource *state)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, op, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, like);
  t->params.state.offset = state->offset;
  t->params.state.by_group = state->by_group;
  return t;
}

KvasirTensor *
kvasir_graph_conv (KvasirGraph *self,
                   const char *name,
                   KvasirTensor *x,
                   KvasirTensor *weight,
                   KvasirTensor *bias,
                   const KvasirStateSource *state)
{
  KvasirTensor *t = new_stateful (self, name, KVASIR_OP_CONV, x, state);
  t->src[0] = x;
  t->src[1] = weight;
  t->src[2] = state->state;
  t->src[3] = state->rows;
  t->src[4] = bias;
  return kvasir_graph_add_node (self, t);
}

static KvasirTensor *
add_scan (KvasirGraph *self,
          KvasirTensor *t,
          KvasirTensor *const *sources,
          guint n,
          const KvasirStateSource *state)
{
  for (guint i = 0; i < n; i++)
    t->src[i] = sources[i];
  t->src[n] = state->state;
  t->src[n + 1] = state->rows;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_ssm_scan (KvasirGraph *self,
                       const char *name,
                       KvasirTensor *const sources[6],
                       const KvasirStateSource *state)
{
  return add_scan (self, new_stateful (self, name, KVASIR_OP_SSM_SCAN, sources[0], state), sources,
                   6, state);
}

KvasirTensor *
kvasir_graph_wkv7 (KvasirGraph *self,
                   const char *name,
                   KvasirTensor *const sources[6],
                   const KvasirStateSource *state)
{
  return add_scan (self, new_stateful (self, name, KVASIR_OP_WKV7, sources[0], state), sources, 6,
                   state);
}

KvasirTensor *
kvasir_graph_delta (KvasirGraph *self,
                    const char *name,
                    KvasirTensor *const sources[5],
                    const KvasirStateSource *state)
{
  return add_scan (self, new_stateful (self, name, KVASIR_OP_DELTA, sources[2], state), sources, 5,
                   state);
}
