#include "engine/graph/graph-private.h"

/* Tensors are handed out by address, so the arena grows by blocks and never moves one. */
#define BLOCK_TENSORS 128

struct _KvasirGraph
{
  GPtrArray *blocks;  /* (owned) of KvasirTensor[BLOCK_TENSORS] */
  guint n_in_block;   /* used of the last block */
  GPtrArray *tensors; /* (unowned) every tensor, in the order of making */
  GPtrArray *nodes;   /* (unowned) */
  gint layer;
  gint head; /* index of the first node of the head, -1: none yet */
};

KvasirGraph *
kvasir_graph_new (void)
{
  KvasirGraph *self = g_new0 (KvasirGraph, 1);
  self->blocks = g_ptr_array_new_with_free_func (g_free);
  self->n_in_block = BLOCK_TENSORS;
  self->tensors = g_ptr_array_new ();
  self->nodes = g_ptr_array_new ();
  self->layer = -1;
  self->head = -1;
  return self;
}

void
kvasir_graph_free (KvasirGraph *self)
{
  g_return_if_fail (self != NULL);
  g_ptr_array_unref (self->blocks);
  g_ptr_array_unref (self->tensors);
  g_ptr_array_unref (self->nodes);
  g_free (self);
}

void
kvasir_graph_set_layer (KvasirGraph *self, gint layer)
{
  self->layer = layer;
}

void
kvasir_graph_begin_head (KvasirGraph *self)
{
  g_return_if_fail (self->head < 0);
  self->head = (gint) self->nodes->len;
}

KvasirTensor *
kvasir_graph_new_tensor (KvasirGraph *self, const char *name, KvasirOp op, KvasirType type)
{
  KvasirTensor *t;

  if (self->n_in_block == BLOCK_TENSORS)
    {
      g_ptr_array_add (self->blocks, g_new0 (KvasirTensor, BLOCK_TENSORS));
      self->n_in_block = 0;
    }
  t = (KvasirTensor *) g_ptr_array_index (self->blocks, self->blocks->len - 1) + self->n_in_block++;
  t->type = type;
  t->op = op;
  for (guint i = 0; i < KVASIR_MAX_DIMS; i++)
    t->ne[i] = 1;
  if (self->layer >= 0)
    g_snprintf (t->name, sizeof t->name, "%s-%d", name, self->layer);
  else
    g_strlcpy (t->name, name, sizeof t->name);
  g_ptr_array_add (self->tensors, t);
  return t;
}

/* Rows without gaps; nb[0] of a block type is the block. */
static void
set_dense_strides (KvasirTensor *t)
{
  t->nb[0] = kvasir_type_get_block_bytes (t->type);
  t->nb[1] = kvasir_type_get_row_bytes (t->type, t->ne[0]);
  t->nb[2] = t->nb[1] * (gsize) t->ne[1];
  t->nb[3] = t->nb[2] * (gsize) t->ne[2];
}

void
kvasir_graph_copy_shape (KvasirTensor *t, const KvasirTensor *from)
{
  for (guint i = 0; i < KVASIR_MAX_DIMS; i++)
    {
      t->ne[i] = from->ne[i];
      t->dyn[i] = from->dyn[i];
    }
}

KvasirTensor *
kvasir_graph_add_node (KvasirGraph *self, KvasirTensor *t)
{
  set_dense_strides (t);
  g_ptr_array_add (self->nodes, t);
  return t;
}

void
kvasir_graph_add_view_node (KvasirGraph *self, KvasirTensor *t)
{
  g_ptr_array_add (self->nodes, t);
}

KvasirTensor *
kvasir_graph_view_of (KvasirGraph *self, const char *name, KvasirOp op, KvasirTensor *source)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, op, source->type);
  kvasir_graph_copy_shape (t, source);
  for (guint i = 0; i < KVASIR_MAX_DIMS; i++)
    t->nb[i] = source->nb[i];
  t->view_src = source->view_src != NULL ? source->view_src : source;
  t->view_offset = source->view_src != NULL ? source->view_offset : 0;
  t->buffer = source->buffer;
  t->data = source->data;
  return t;
}

KvasirTensor *
kvasir_graph_input (
    KvasirGraph *self, const char *name, KvasirType type, gint64 ne0, gint64 ne1, KvasirDyn dyn)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_NONE, type);
  t->ne[0] = ne0;
  t->ne[1] = MAX (ne1, 1);
  t->dyn[ne1 > 0 ? 1 : 0] = dyn;
  set_dense_strides (t);
  return t;
}

KvasirTensor *
kvasir_graph_get_rows (KvasirGraph *self, const char *name, KvasirTensor *table, KvasirTensor *ids)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_GET_ROWS, KVASIR_TYPE_F32);
  t->ne[0] = table->ne[0];
  t->ne[1] = ids->ne[0];
  t->dyn[1] = ids->dyn[0];
  t->src[0] = table;
  t->src[1] = ids;
  kvasir_graph_add_node (self, t);
  return table->scale != NULL ? kvasir_graph_mul (self, name, t, table->scale) : t;
}

KvasirTensor *
kvasir_graph_rms_norm (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *weight, float eps)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_RMS_NORM, KVASIR_TYPE_F32);
  g_return_val_if_fail (weight == NULL || weight->ne[0] == x->ne[0], NULL);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->src[1] = weight;
  t->params.norm.eps = eps;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_mul_mat (
    KvasirGraph *self, const char *name, KvasirTensor *weight, KvasirTensor *x, KvasirTensor *bias)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_MUL_MAT, KVASIR_TYPE_F32);
  g_return_val_if_fail (weight->ne[0] == x->ne[0], NULL);
  g_return_val_if_fail (weight->ne[2] == 1 || weight->ne[2] == x->ne[1], NULL);
  kvasir_graph_copy_shape (t, x);
  t->ne[0] = weight->ne[1];
  t->src[0] = weight;
  t->src[1] = x;
  t->src[2] = weight->scale == NULL ? bias : NULL;
  kvasir_graph_add_node (self, t);
  if (weight->scale == NULL)
    return t;
  t = kvasir_graph_mul (self, name, t, weight->scale);
  return bias != NULL ? kvasir_graph_add (self, name, t, bias) : t;
}

KvasirTensor *
kvasir_graph_add (KvasirGraph *self, const char *name, KvasirTensor *a, KvasirTensor *b)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_ADD, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, a);
  t->src[0] = a;
  t->src[1] = b;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_glu (
    KvasirGraph *self, const char *name, KvasirUnary kind, KvasirTensor *gate, KvasirTensor *up)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_GLU, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, gate);
  t->src[0] = gate;
  t->src[1] = up;
  t->params.unary.kind = kind;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_rope (KvasirGraph *self,
                   const char *name,
                   KvasirTensor *x,
                   KvasirTensor *positions,
                   KvasirTensor *factors,
                   const KvasirRopeParams *params)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, name, KVASIR_OP_ROPE, KVASIR_TYPE_F32);
  kvasir_graph_copy_shape (t, x);
  t->src[0] = x;
  t->src[1] = positions;
  t->src[2] = factors;
  t->params.rope = *params;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_set_rows (
    KvasirGraph *self, const char *name, KvasirTensor *x, KvasirTensor *slots, KvasirTensor *cache)
{
  KvasirTensor *t = kvasir_graph_view_of (self, name, KVASIR_OP_SET_ROWS, cache);
  g_return_val_if_fail (x->ne[0] == cache->ne[0], NULL);
  t->src[0] = x;
  t->src[1] = slots;
  t->src[2] = cache;
  kvasir_graph_add_view_node (self, t);
  return t;
}

KvasirTensor *
kvasir_graph_attention (KvasirGraph *self,
                        const KvasirAttentionSources *sources,
                        const KvasirAttentionParams *params)
{
  KvasirTensor *t = kvasir_graph_new_tensor (self, "attn", KVASIR_OP_ATTENTION, KVASIR_TYPE_F32);
  t->ne[0] = (gint64) params->head_dim_v * params->n_heads;
  t->ne[1] = sources->q->ne[2];
  t->dyn[1] = sources->q->dyn[2];
  t->src[0] = sources->q;
  t->src[1] = sources->k;
  t->src[2] = sources->v;
  t->src[3] = sources->mask;
  t->src[4] = sources->sinks;
  t->src[5] = sources->distances;
  t->params.attention = *params;
  return kvasir_graph_add_node (self, t);
}

KvasirTensor *
kvasir_graph_rope_shift (KvasirGraph *self,
                         const char *name,
                         KvasirTensor *cache,
                         KvasirTensor *shifts,
                         KvasirTensor *factors,
                         const KvasirRopeParams *params)
{
  KvasirTensor *t = kvasir_graph_view_of (self, name, KVASIR_OP_ROPE_SHIFT, cache);
  t->src[0] = cache;
  t->src[1] = shifts;
  t->src[2] = factors;
  t->params.rope = *params;
  kvasir_graph_add_view_node (self, t);
  return t;
}

KvasirTensor *const *
kvasir_graph_get_nodes (const KvasirGraph *self, guint *n)
{
  *n = self->nodes->len;
  return (KvasirTensor *const *) self->nodes->pdata;
}

guint
kvasir_graph_get_head (const KvasirGraph *self)
{
  return self->head < 0 ? self->nodes->len : (guint) self->head;
}

KvasirTensor *const *
kvasir_graph_get_tensors (const KvasirGraph *self, guint *n)
{
  *n = self->tensors->len;
  return (KvasirTensor *const *) self->tensors->pdata;
}
