/* engine/graph/graph-plan.h - a graph with its memory, ready to be computed again and again
 *
 * Making one places results and inputs, takes the buffers and compiles the nodes for the device,
 * all for the worst case. Computing patches the extents that changed and allocates nothing.
 * With no_alloc the same code measures: sizes are the same, nothing is taken.
 *
 * Owner:  KvasirContext. Thread: engine thread.
 * Errors: KVASIR_ENGINE_ERROR_UNSUPPORTED naming tensor, operation and types that the device can't
 *   compute; _NO_MEMORY with the bytes and the buffer type.
 */
#pragma once

#include <glib.h>

#include "engine/error.h"
#include "engine/graph/graph.h"

G_BEGIN_DECLS

typedef struct _KvasirGraphPlan KvasirGraphPlan;

/* What a plan holds, in bytes. */
typedef struct
{
  gsize results; /* in the device's buffer type */
  gsize inputs;  /* in its host buffer type */
  gsize program; /* beside the tensors, in the device's buffer type */
} KvasirGraphPlanBytes;

/* @graph: (transfer full): also where this fails */
KvasirGraphPlan *kvasir_graph_plan_new (KvasirDevice *device,
                                        KvasirGraph *graph,
                                        gboolean no_alloc,
                                        GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_graph_plan_free (KvasirGraphPlan *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirGraphPlan, kvasir_graph_plan_free)

KvasirGraphPlanBytes kvasir_graph_plan_get_bytes (const KvasirGraphPlan *self);

/* Body and head of the graph, with the extents of @step; waits until the results are there. */
KvasirStatus kvasir_graph_plan_compute_body (KvasirGraphPlan *self, const KvasirStep *step);
KvasirStatus kvasir_graph_plan_compute_head (KvasirGraphPlan *self, const KvasirStep *step);

/* Copies @n_bytes from the start of a result to the host. */
void kvasir_graph_plan_read (const KvasirGraphPlan *self,
                             const KvasirTensor *t,
                             void *to,
                             gsize n_bytes);

/* A buffer of @n_bytes, or NULL with KVASIR_ENGINE_ERROR_NO_MEMORY naming @what, bytes and type. */
KvasirBuffer *kvasir_buffer_alloc (KvasirBufferType *type,
                                   gsize n_bytes,
                                   const char *what,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_buffer_free (KvasirBuffer *buffer);

G_END_DECLS
