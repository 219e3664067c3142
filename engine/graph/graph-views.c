/* Tensors over bytes of others. */
#include "engine/graph/graph-private.h"

KvasirTensor *
kvasir_graph_split (KvasirGraph *self, KvasirTensor *x, gint64 w)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "split", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (x->ne[0] % w == 0 && x->ne[2] == 1, NULL);
  t->src[0] = x;
  t->ne[0] = w;
  t->ne[1] = x->ne[0] / w;
  t->ne[2] = x->ne[1];
  t->dyn[1] = KVASIR_DYN_NONE;
  t->dyn[2] = x->dyn[1];
  t->nb[1] = kvasir_type_get_row_bytes (x->type, w);
  t->nb[2] = x->nb[1];
  t->nb[3] = t->nb[2] * (gsize) t->ne[2];
  return t;
}

KvasirTensor *
kvasir_graph_join (KvasirGraph *self, KvasirTensor *x)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "join", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (x->nb[1] == kvasir_type_get_row_bytes (x->type, x->ne[0]), NULL);
  t->src[0] = x;
  t->ne[0] = x->ne[0] * x->ne[1];
  t->ne[1] = x->ne[2];
  t->ne[2] = 1;
  t->dyn[1] = x->dyn[2];
  t->dyn[2] = KVASIR_DYN_NONE;
  t->nb[1] = x->nb[2];
  t->nb[2] = t->nb[3] = t->nb[1] * (gsize) t->ne[1];
  return t;
}

KvasirTensor *
kvasir_graph_slice (KvasirGraph *self, KvasirTensor *x, gint64 first, gint64 n)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "slice", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (first >= 0 && n > 0 && first + n <= x->ne[0], NULL);
  t->src[0] = x;
  t->ne[0] = n;
  t->view_offset += kvasir_type_get_row_bytes (x->type, first);
  if (t->data != NULL)
    t->data = (guint8 *) t->data + kvasir_type_get_row_bytes (x->type, first);
  return t;
}

KvasirTensor *
kvasir_graph_pick (KvasirGraph *self, KvasirTensor *x, gint64 i)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "pick", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (i >= 0 && i < x->ne[1], NULL);
  t->src[0] = x;
  t->ne[1] = x->ne[2];
  t->ne[2] = 1;
  t->dyn[1] = x->dyn[2];
  t->dyn[2] = KVASIR_DYN_NONE;
  t->nb[1] = x->nb[2];
  t->nb[2] = t->nb[3] = t->nb[1] * (gsize) t->ne[1];
  t->view_offset += x->nb[1] * (gsize) i;
  if (t->data != NULL)
    t->data = (guint8 *) t->data + x->nb[1] * (gsize) i;
  return t;
}

KvasirTensor *
kvasir_graph_pick_some (KvasirGraph *self, KvasirTensor *x, gint64 first, gint64 n)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "pick", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (first >= 0 && n > 0 && first + n <= x->ne[1], NULL);
  t->src[0] = x;
  t->ne[1] = n;
  t->view_offset += x->nb[1] * (gsize) first;
  if (t->data != NULL)
    t->data = (guint8 *) t->data + x->nb[1] * (gsize) first;
  return t;
}

KvasirTensor *
kvasir_graph_as_factors (KvasirGraph *self, KvasirTensor *x)
{
  KvasirTensor *t = kvasir_graph_view_of (self, "factors", KVASIR_OP_VIEW, x);
  g_return_val_if_fail (x->ne[2] == 1, NULL);
  t->src[0] = x;
  t->ne[0] = 1;
  t->ne[1] = x->ne[0];
  t->ne[2] = x->ne[1];
  t->dyn[1] = KVASIR_DYN_NONE;
  t->dyn[2] = x->dyn[1];
  t->nb[1] = x->nb[0];
  t->nb[2] = x->nb[1];
  t->nb[3] = t->nb[2] * (gsize) t->ne[2];
  return t;
}
