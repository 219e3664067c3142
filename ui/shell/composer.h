/* ui/shell/composer.h - where a person writes
 *
 * Knows texts and states, not chats: the chat page tells it what to say. Return sends,
 * Shift+Return makes a line, Ctrl+Return sends too; nothing is sent while an input method composes.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/sampling.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_COMPOSER_PLAIN,
  KVASIR_COMPOSER_TOO_MANY /* the draft does not fit */
} KvasirComposerTone;

/* Signals:
 *   "submit" (): the text is to be sent        "stop" (): what runs is to stop
 *   "text-changed" (): by a person or not      "cancel-edit" ()
 *   "sampling-changed" ()                      "edit-last" (): Up was pressed in an empty draft */
#define KVASIR_TYPE_COMPOSER (kvasir_composer_get_type ())
G_DECLARE_FINAL_TYPE (KvasirComposer, kvasir_composer, KVASIR, COMPOSER, GtkWidget)

char *kvasir_composer_dup_text (KvasirComposer *self) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_composer_set_text (KvasirComposer *self, const char *text);
void kvasir_composer_set_status (KvasirComposer *self, const char *status, KvasirComposerTone tone);
/* @fraction: of what is read or loaded; < 0: no bar. */
void kvasir_composer_set_progress (KvasirComposer *self, double fraction);
/* The button stops instead of sending. */
void kvasir_composer_set_busy (KvasirComposer *self, gboolean busy);
/* Whether there is somebody to send to. An empty draft can't be sent anyway. */
void kvasir_composer_set_can_send (KvasirComposer *self, gboolean can_send);
void kvasir_composer_set_editing (KvasirComposer *self, gboolean editing);
void kvasir_composer_set_sampling (KvasirComposer *self, const KvasirSampling *sampling);
const KvasirSampling *kvasir_composer_get_sampling (KvasirComposer *self);
/* What the model's template may be asked about thinking; see kvasir_thinking_get_choices(). */
void kvasir_composer_set_thinking_choices (KvasirComposer *self, guint choices);
/* Opens the controls for it. */
void kvasir_composer_show_sampling (KvasirComposer *self);
void kvasir_composer_focus (KvasirComposer *self);

G_END_DECLS
