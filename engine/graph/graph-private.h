/* engine/graph/graph-private.h - how the files of the graph make tensors
 *
 * graph.c holds the graph and the operations of every transformer, graph-ops.c the others,
 * graph-views.c views. Thread: engine thread.
 */
#pragma once

#include "engine/graph/graph.h"

G_BEGIN_DECLS

/* A tensor of extents 1, named for the current layer. */
KvasirTensor *
kvasir_graph_new_tensor (KvasirGraph *self, const char *name, KvasirOp op, KvasirType type);
/* Extents and what they follow. */
void kvasir_graph_copy_shape (KvasirTensor *t, const KvasirTensor *from);
/* Ends the making of a result that owns its bytes. Returns: @t */
KvasirTensor *kvasir_graph_add_node (KvasirGraph *self, KvasirTensor *t);
/* The bytes of @source under another name, for now in the same shape. */
KvasirTensor *
kvasir_graph_view_of (KvasirGraph *self, const char *name, KvasirOp op, KvasirTensor *source);
/* Ends the making of a result that is written into @t's source. */
void kvasir_graph_add_view_node (KvasirGraph *self, KvasirTensor *t);

G_END_DECLS
