/* engine/model/model.h - a model file made ready: hyper-parameters, weights, vocabulary, template
 *
 * Weights stay where the file is mapped ("CPU_Mapped") when the device can read host memory.
 * With no_alloc nothing but the header is read: the planner uses that. With weights_later the pages
 * are read ahead too, and what was made can be measured before they are waited for.
 * Owner:  reference counted; contexts hold one. Thread: made on the engine thread (or any one
 * thread), immutable afterwards. Errors: KVASIR_ENGINE_ERROR_FILE, _BAD_FILE (a tensor is missing
 * or has another shape: name, expected, found), _UNSUPPORTED (architecture or type, by name),
 * _NO_MEMORY.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/memory/memory.h"
#include "engine/template/stability.h"
#include "engine/vocab/vocab.h"

G_BEGIN_DECLS

typedef struct _KvasirModel KvasirModel;

/* Called now and then while loading, on the loading thread; FALSE cancels. @fraction 0 ... 1. */
typedef gboolean (*KvasirProgress) (double fraction, gpointer user_data);

typedef struct
{
  KvasirDevice *device;
  gboolean vocab_only; /* the file may hold no tensors */
  gboolean no_alloc;
  gboolean weights_later;  /* instead: until kvasir_model_load_weights() */
  KvasirProgress progress; /* (nullable) */
  gpointer user_data;
} KvasirModelParams;

/* What a person asks of a model. Strings live as long as the model. */
typedef struct
{
  const char *path;
  const char *title;     /* the file name made readable: "SmolLM2 135M Instruct" */
  const char *arch;      /* "llama" */
  const char *type_name; /* most common weight type: "Q4_1" */
  KvasirMemoryClass memory_class;
  guint64 file_bytes;
  guint64 n_params;
  guint n_layers;
  guint n_embd;
  guint n_heads;
  guint n_kv_heads;
  guint head_dim;
  guint n_ff;
  guint n_vocab;
  guint n_ctx_train;
  guint64 kv_bytes_per_token_f16; /* all layers, K + V */
  /* How much of a prompt is still there a turn later; UNKNOWN where there is no template. */
  KvasirPrefixStability prefix_stability;
} KvasirModelInfo;

KvasirModel *kvasir_model_new (const char *path,
                               const KvasirModelParams *params,
                               GError **error) G_GNUC_WARN_UNUSED_RESULT;
/* Once, of a model made with weights_later, before anything is computed. Errors as above, and
 * _ABORTED where @progress (nullable) stopped it. */
gboolean kvasir_model_load_weights (KvasirModel *self,
                                    KvasirProgress progress,
                                    gpointer user_data,
                                    GError **error);
KvasirModel *kvasir_model_ref (KvasirModel *self);
void kvasir_model_unref (KvasirModel *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirModel, kvasir_model_unref)

const KvasirModelInfo *kvasir_model_get_info (const KvasirModel *self);
KvasirVocab *kvasir_model_get_vocab (KvasirModel *self);
/* The parsed chat template, or NULL with @error where the model has none or it does not parse. */
const KvasirTemplate *kvasir_model_get_template (const KvasirModel *self, GError **error);
/* FALSE once the mapped file was cut short: results can't be trusted any more. */
gboolean kvasir_model_is_intact (const KvasirModel *self);
/* Appends KvasirMemoryRow lines for the weights. */
void kvasir_model_append_breakdown (const KvasirModel *self, GArray *rows);
/* Of the mapped weights, what is in memory now. */
guint64 kvasir_model_get_resident_bytes (const KvasirModel *self);

/* "SmolLM2-135M-Instruct.Q4_1.gguf" -> "SmolLM2 135M Instruct". Returns: (transfer full) */
char *kvasir_model_make_title (const char *path) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
