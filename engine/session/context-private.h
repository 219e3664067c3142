/* engine/session/context-private.h - what the files of the context share
 *
 * context.c makes and frees it, context-graph.c reserves its graphs, context-decode.c runs it.
 * Thread: engine thread.
 */
#pragma once

#include "engine/graph/graph-plan.h"
#include "engine/model/model-private.h"
#include "engine/session/context.h"

G_BEGIN_DECLS

/* Output rows that pass through the head at once. The widest results of a model are its logits:
 * this bounds them whatever the size of a ubatch. */
#define KVASIR_HEAD_ROWS 32

struct _KvasirContext
{
  KvasirModel *model; /* (owned) */
  KvasirContextParams params;
  KvasirMemory *memory;        /* (owned) */
  KvasirBatchPlan *batch_plan; /* (owned) */

  KvasirModelBuild step;      /* tensors of the step graph; the graph itself belongs to its plan */
  KvasirGraphPlan *step_plan; /* (owned) */
  KvasirTensor *shifts[KVASIR_MAX_CACHES]; /* inputs of the shift graph, I32 [cells] */
  KvasirGraphPlan *shift_plan;             /* (owned) (nullable): NULL where nothing can shift */

  KvasirBuffer *output; /* (owned) (nullable): F32 [n_vocab, n_output_rows], on the host */
  guint n_output_rows;  /* reserved */
  guint n_outputs;      /* of the last decode */
  gint32 *row_of_token; /* (owned) [n_batch], -1: no output */
  guint n_batch_tokens; /* of the last decode */

  KvasirEventSink sink;
  guint32 step_number;
  const int *abort_flag; /* (unowned) (nullable) */
  KvasirUbatchDone ubatch_done;
  gpointer ubatch_done_data;
};

/* Builds the graphs for the worst case and reserves them, or measures. */
gboolean kvasir_context_reserve (KvasirContext *self, GError **error);
/* Makes room for @n rows of logits; what was there is lost. */
gboolean kvasir_context_reserve_output (KvasirContext *self, guint n, GError **error);
/* Tells the log of the buffers that are not the memory's: there (1) or gone (-1). */
void kvasir_context_emit_buffers (KvasirContext *self, gint sign);
/* Of the logits alone, which may grow. */
void kvasir_context_emit_output (KvasirContext *self, gint sign);

G_END_DECLS
