/* engine/graph/placement.h - puts the results of a graph into one buffer by when they are needed
 *
 * A result lives from its node to its last reader; results whose lives do not touch may share
 * bytes. Larger ones are placed first, each at the lowest offset where it disturbs nobody.
 * Pure but for the arrays given; the planner calls it without any buffer. Thread: any.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/graph/graph.h"

G_BEGIN_DECLS

/* Bytes of a buffer of @type that holds all results of @graph. @offsets: one for every tensor of
 * kvasir_graph_get_tensors(), written for results that own their bytes, G_MAXSIZE for the others.
 * G_MAXSIZE where the sum does not fit into a size. */
gsize
kvasir_placement_of_nodes (const KvasirGraph *graph, const KvasirBufferType *type, gsize *offsets);
/* The same for the inputs, side by side. */
gsize
kvasir_placement_of_inputs (const KvasirGraph *graph, const KvasirBufferType *type, gsize *offsets);

G_END_DECLS
