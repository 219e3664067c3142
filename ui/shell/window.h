/* ui/shell/window.h - the window: header, chat list, conversation, inspector
 *
 * Thread: main thread.
 */
#pragma once

#include <adwaita.h>

#include "ui/base/settings.h"
#include "ui/history/answers.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_WINDOW (kvasir_window_get_type ())
G_DECLARE_FINAL_TYPE (KvasirWindow, kvasir_window, KVASIR, WINDOW, AdwApplicationWindow)

/* What the window works with; it holds references. */
typedef struct
{
  KvasirEngineClient *client;
  KvasirHistory *history;
  KvasirAnswers *answers;
  KvasirSettings *settings;
  const char *models_folder; /* the app's own */
  const char *build_facts;   /* for the About window: versions, instruction set */
} KvasirWindowParts;

KvasirWindow *kvasir_window_new (GtkApplication *application,
                                 const KvasirWindowParts *parts) G_GNUC_WARN_UNUSED_RESULT;
/* Loads the model at @path. */
void kvasir_window_open_path (KvasirWindow *self, const char *path);
/* Keys of the window's actions. */
void kvasir_window_add_accels (GtkApplication *application);

G_END_DECLS
