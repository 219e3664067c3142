/* ui/shell/model-entry.h - a model file found on this computer, and what the planner says of it
 *
 * Owner:  KvasirModelLibrary's list. Thread: main thread.
 */
#pragma once

#include <glib-object.h>

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_MODEL_MEASURING,
  KVASIR_MODEL_FITS,
  KVASIR_MODEL_TOO_LARGE,
  KVASIR_MODEL_UNUSABLE /* the error says why */
} KvasirModelState;

/* Property "state" (int, KvasirModelState), read-only, notified when the measure has come. */
#define KVASIR_TYPE_MODEL_ENTRY (kvasir_model_entry_get_type ())
G_DECLARE_FINAL_TYPE (KvasirModelEntry, kvasir_model_entry, KVASIR, MODEL_ENTRY, GObject)

KvasirModelEntry *kvasir_model_entry_new (const char *path,
                                          guint64 file_bytes) G_GNUC_WARN_UNUSED_RESULT;
/* The answer of kvasir_engine_client_measure(): FIT or FAILED. */
void kvasir_model_entry_take_measure (KvasirModelEntry *self, const KvasirNotice *notice);

const char *kvasir_model_entry_get_path (KvasirModelEntry *self);
const char *kvasir_model_entry_get_title (KvasirModelEntry *self);
KvasirModelState kvasir_model_entry_get_state (KvasirModelEntry *self);
guint64 kvasir_model_entry_get_file_bytes (KvasirModelEntry *self);
guint64 kvasir_model_entry_get_free_bytes (KvasirModelEntry *self);
/* "Q4_1 · 4 096 cells planned", or "" while it is measured. (transfer full) */
char *kvasir_model_entry_describe (KvasirModelEntry *self) G_GNUC_WARN_UNUSED_RESULT;
/* "full attention" */
const char *kvasir_model_entry_get_memory_kind (KvasirModelEntry *self);
/* "211.8 MiB on CPU", "needs 41.5 GiB, 20.7 GiB are free", or what is wrong. (transfer full) */
char *kvasir_model_entry_describe_fit (KvasirModelEntry *self) G_GNUC_WARN_UNUSED_RESULT;
/* "93.8 MiB file · needs 211.8 MiB with 4 096 cells", as far as it is known. (transfer full) */
char *kvasir_model_entry_describe_need (KvasirModelEntry *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
