/* ui/shell/thinking-button.h - whether the model thinks before it answers
 *
 * A menu of what the model's chat template can be asked for; hidden where that is nothing.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "engine/session/thinking.h"

G_BEGIN_DECLS

/* Signals:
 *   "changed" (): by a person */
#define KVASIR_TYPE_THINKING_BUTTON (kvasir_thinking_button_get_type ())
G_DECLARE_FINAL_TYPE (
    KvasirThinkingButton, kvasir_thinking_button, KVASIR, THINKING_BUTTON, GtkWidget)

/* @choices: see kvasir_thinking_get_choices() */
void kvasir_thinking_button_set_choices (KvasirThinkingButton *self, guint choices);
void kvasir_thinking_button_set (KvasirThinkingButton *self, KvasirThinking thinking);
KvasirThinking kvasir_thinking_button_get (KvasirThinkingButton *self);

G_END_DECLS
