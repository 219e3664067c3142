/* engine/session/context.h - a model with a memory: decodes batches, gives logits
 *
 * The loop is: pending updates, prepare the batch (on "no room" nothing has changed), then per
 * ubatch apply, fill inputs, compute; a failed or aborted ubatch is taken back.
 * Graph, plan and buffers are made once for the worst case; decoding allocates nothing.
 *
 * Owner:  session or scenario runner. Thread: engine thread; the abort flag may be set by any.
 */
#pragma once

#include <glib.h>

#include "engine/memory/memory.h"
#include "engine/model/model.h"

G_BEGIN_DECLS

typedef struct
{
  guint n_ctx; /* cells of all streams, padded up to 256; 0: the model's training length */
  guint n_seq_max;
  guint n_batch;
  guint n_ubatch;
  KvasirType type_k;
  KvasirType type_v;
  gboolean kv_unified; /* one stream for all sequences; else one for each, and n_ctx grows so that
                          every one has the same whole number of 256 cells */
  gboolean flash_attn; /* FALSE: values are kept transposed, and cannot be quantised */
  gboolean swa_full;   /* sliding layers keep as many cells as the others */
  gboolean offload_kqv;
  gboolean kv_rotate;       /* quantised K and V lie under a Hadamard rotation */
  gboolean shift_as_traces; /* a K-shift multiplies all keys by yarn's magnitude once more, and
                               turns those of layers without rope too: only for comparing with
                               traces that were made so */
  guint n_rs_seq;    /* earlier states that a sequence keeps; 0 in force where a model can't */
  guint n_threads;   /* 0: the device's default */
  gboolean no_alloc; /* measure only; decode is a caller's mistake then */
} KvasirContextParams;

/* The defaults of the app: 4 096 cells, 16 sequences, unified, f16. */
void kvasir_context_params_init (KvasirContextParams *params);

/* Decode's return codes. */
typedef enum
{
  KVASIR_DECODE_OK = 0,
  KVASIR_DECODE_NO_ROOM = 1,
  KVASIR_DECODE_ABORTED = 2,
  KVASIR_DECODE_BAD_BATCH = -1,
  KVASIR_DECODE_NO_MEMORY = -2,
  KVASIR_DECODE_FAILED = -3
} KvasirDecode;

typedef struct _KvasirContext KvasirContext;

/* Errors: _NO_MEMORY with the bytes and the buffer type, _BAD_ARGUMENT naming a setting that this
 * model can't have or that does not go with another one. */
KvasirContext *kvasir_context_new (KvasirModel *model,
                                   const KvasirContextParams *params,
                                   GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_context_free (KvasirContext *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirContext, kvasir_context_free)

KvasirModel *kvasir_context_get_model (KvasirContext *self);
const KvasirDevice *kvasir_context_get_device (const KvasirContext *self);
/* The settings in force, after padding and clamping. */
const KvasirContextParams *kvasir_context_get_params (const KvasirContext *self);
/* Cells that one sequence may hold. */
guint kvasir_context_get_n_ctx_seq (const KvasirContext *self);
/* Of encoders one of class NONE. */
KvasirMemory *kvasir_context_get_memory (KvasirContext *self);
void kvasir_context_set_sink (KvasirContext *self, const KvasirEventSink *sink);
/* Read with atomics between phases; not owned; NULL: never aborts. */
void kvasir_context_set_abort_flag (KvasirContext *self, const int *flag);
/* Called after each ubatch that succeeded, with the tokens of this call done so far; may be NULL.
 */
typedef void (*KvasirUbatchDone) (const KvasirUbatch *ubatch, guint n_done, gpointer user_data);
void kvasir_context_set_ubatch_callback (KvasirContext *self,
                                         KvasirUbatchDone callback,
                                         gpointer user_data);

/* @error, where given, says what for every code but OK. After ABORTED and FAILED the ubatches
 * before the failed one stay. */
KvasirDecode kvasir_context_decode (KvasirContext *self,
                                    const KvasirBatch *batch,
                                    GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Pending copies between streams and shifts now, as a decode would before it starts. TRUE where
 * something was pending. */
gboolean kvasir_context_update (KvasirContext *self);

/* Makes sure that a decode with @n outputs allocates nothing; what the last one gave may be lost.
 */
gboolean kvasir_context_reserve_rows (KvasirContext *self, guint n, GError **error);
/* What the last decode gave, valid until the next one. Logits [n_vocab] by the token's index in the
 * batch, NULL where that token was no output, and of encoders. */
const float *kvasir_context_get_logits_of_token (const KvasirContext *self, guint index);
/* Encoders, rows [n_embd]: of a token that was an output; of a sequence, pooled over its tokens.
 * NULL where the last decode has none, and the one or the other always, as the model pools or not.
 */
const float *kvasir_context_get_embedding_of_token (const KvasirContext *self, guint index);
const float *kvasir_context_get_embedding_of_seq (const KvasirContext *self, gint seq);
guint kvasir_context_get_n_embd (const KvasirContext *self);

/* Every byte: weights, cache, compute, output; the rows' sum is what was allocated (or, with
 * no_alloc, what would be). Appends KvasirMemoryRow lines. */
void kvasir_context_append_breakdown (KvasirContext *self, GArray *rows);

/* ---- planning: the same code in measuring mode */
typedef struct
{
  guint64 need_bytes; /* all rows, mapped weights included */
  guint64 free_bytes; /* of the device now */
  gboolean fits;
  GArray *rows;               /* (owned) of KvasirMemoryRow */
  KvasirContextParams params; /* in force */
  KvasirMemoryClass memory_class;
  guint n_ctx_seq; /* cells that one sequence may hold */
  GArray *caches;  /* (owned) of KvasirCacheInfo; none of encoders, which keep nothing */
} KvasirFit;

/* What a model at @path would take with @params, without loading it. @info: (out) (nullable): a
 * model that holds the description. */
gboolean kvasir_fit_measure (KvasirDevice *device,
                             const char *path,
                             const KvasirContextParams *params,
                             KvasirFit *fit,
                             KvasirModel **model,
                             GError **error);
/* The same of a model that is there already. */
gboolean kvasir_fit_measure_model (KvasirModel *model,
                                   const KvasirContextParams *params,
                                   KvasirFit *fit,
                                   GError **error);
void kvasir_fit_clear (KvasirFit *fit);

G_END_DECLS
