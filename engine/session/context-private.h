/* engine/session/context-private.h - what the files of the context share
 *
 * context.c makes and frees it, context-params.c settles its parameters, context-graph.c reserves
 * its graphs, context-decode.c runs it, context-update.c carries out what is pending, and
 * context-rows.c keeps what a decode gives.
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
  guint n_ctx_seq;                        /* cells that one sequence may hold */
  guint n_streams;                        /* 1, or one for each sequence */
  KvasirMemory *memory;                   /* (owned) */
  guint n_attention;                      /* of its caches, the first ones, that attention reads */
  guint64 mask_stamps[KVASIR_MAX_CACHES]; /* what the memory knows of the masks as they stand */
  KvasirBatchPlan *batch_plan;            /* (owned) */

  KvasirModelBuild step;      /* tensors of the step graph; the graph itself belongs to its plan */
  KvasirGraphPlan *step_plan; /* (owned) */
  KvasirTensor *shifts[KVASIR_MAX_CACHES]; /* inputs of the shift graph, I32 [cells * streams] */
  KvasirGraphPlan *shift_plan;             /* (owned) (nullable): NULL where nothing can shift */

  guint n_row;          /* values of an output row: n_vocab, or n_embd of encoders */
  guint n_pool_rows;    /* n_seq_max of encoders that pool, else 0 */
  KvasirBuffer *output; /* (owned) (nullable): F32 [n_row, n_pool_rows + n_output_rows], on the
                           host; a row for each sequence, if they are pooled, then the tokens' */
  guint n_output_rows;  /* reserved */
  guint n_outputs;      /* of the last decode */
  gint32 *row_of_token; /* (owned) [n_batch], -1: no output */
  guint n_batch_tokens; /* of the last decode */
  guint *n_pooled;      /* (owned) [n_pool_rows] tokens that went into each, 0: none */

  KvasirEventSink sink;
  guint32 step_number;
  const int *abort_flag; /* (unowned) (nullable) */
  KvasirUbatchDone ubatch_done;
  gpointer ubatch_done_data;
};

/* ---- context-params.c. Pads and clamps by the rules of scenario files, and refuses by name what
 * does not go together or not with this model. */
gboolean kvasir_context_settle (KvasirContext *self, GError **error);

/* ---- context-graph.c. Builds the graphs for the worst case and reserves them, or measures. */
gboolean kvasir_context_reserve (KvasirContext *self, GError **error);

/* ---- context-update.c. Pending copies and shifts, if there are any. */
KvasirStatus kvasir_context_apply_updates (KvasirContext *self);

/* ---- context-rows.c */
/* Makes room for @n output rows; what was there is lost. */
gboolean kvasir_context_reserve_output (KvasirContext *self, guint n, GError **error);
/* The rows of a new decode: none yet. */
void kvasir_context_begin_rows (KvasirContext *self);
/* The tokens of @ubatch whose rows are wanted, up to KVASIR_HEAD_ROWS of them from token @*token
 * on, which moves on: their numbers in the ubatch go to @ids. Returns: how many */
guint kvasir_context_choose_rows (KvasirContext *self,
                                  const KvasirUbatch *ubatch,
                                  guint *token,
                                  gint32 *ids);
/* The @n rows chosen last were computed: keeps them. */
void kvasir_context_take_rows (KvasirContext *self, guint n);
/* Forgets the rows of @ubatch, before which there were @n_before. */
void kvasir_context_drop_rows (KvasirContext *self, const KvasirUbatch *ubatch, guint n_before);
/* All tokens of @ubatch are there: pools the rows of its sequences, for encoders that do. */
void kvasir_context_pool_rows (KvasirContext *self, const KvasirUbatch *ubatch);

/* ---- context.c. Tells the log of the buffers that are not the memory's: there (1) or gone (-1).
 */
void kvasir_context_emit_buffers (KvasirContext *self, gint sign);
/* Of the logits alone, which may grow. */
void kvasir_context_emit_output (KvasirContext *self, gint sign);

G_END_DECLS
