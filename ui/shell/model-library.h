/* ui/shell/model-library.h - the model files in the app's own folder
 *
 * As a GListModel: one KvasirModelEntry for each, by title. The folder is watched; files are
 * measured one after the other by the engine's planner and never changed.
 * Thread: main thread.
 */
#pragma once

#include <gio/gio.h>

#include "ui/engine-client.h"
#include "ui/shell/model-entry.h"

G_BEGIN_DECLS

/* Signal "measured" (): an entry's state changed. */
#define KVASIR_TYPE_MODEL_LIBRARY (kvasir_model_library_get_type ())
G_DECLARE_FINAL_TYPE (KvasirModelLibrary, kvasir_model_library, KVASIR, MODEL_LIBRARY, GObject)

KvasirModelLibrary *kvasir_model_library_new (KvasirEngineClient *client,
                                              const char *folder) G_GNUC_WARN_UNUSED_RESULT;
/* Looks again. */
void kvasir_model_library_refresh (KvasirModelLibrary *self);
/* The default model's file, if it is there. (transfer none) (nullable) */
KvasirModelEntry *kvasir_model_library_find_default (KvasirModelLibrary *self);

G_END_DECLS
