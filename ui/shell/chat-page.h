/* ui/shell/chat-page.h - one chat: transcript, what went wrong, composer
 *
 * Counts the draft while a person types, says what the engine does, sends, edits and stops.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/answers.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_CHAT_PAGE (kvasir_chat_page_get_type ())
G_DECLARE_FINAL_TYPE (KvasirChatPage, kvasir_chat_page, KVASIR, CHAT_PAGE, GtkWidget)

/* Once. */
void kvasir_chat_page_set_engine (KvasirChatPage *self,
                                  KvasirEngineClient *client,
                                  KvasirAnswers *answers);
/* (nullable) */
void kvasir_chat_page_set_conversation (KvasirChatPage *self, KvasirConversation *conversation);
/* (transfer none) (nullable) */
KvasirConversation *kvasir_chat_page_get_conversation (KvasirChatPage *self);
void kvasir_chat_page_set_snapshot (KvasirChatPage *self, const KvasirSnapshot *snapshot);

/* The message goes into the composer; sending makes another version of it. */
void kvasir_chat_page_begin_edit (KvasirChatPage *self, KvasirMessageNode *node);
/* One more answer beside the last one, or beside @answer. */
void kvasir_chat_page_try_again (KvasirChatPage *self, KvasirMessageNode *answer);
/* Lets the chat take a simpler form where the model's template refuses it, and sends the draft. */
void kvasir_chat_page_adapt (KvasirChatPage *self);
/* Ends an edit, or stops. Returns: FALSE where there was nothing to end */
gboolean kvasir_chat_page_escape (KvasirChatPage *self);
/* The message with the focus, or the last answer. (transfer none) (nullable) */
KvasirMessageNode *kvasir_chat_page_find_message (KvasirChatPage *self, KvasirRole role);
void kvasir_chat_page_scroll_pages (KvasirChatPage *self, double n_pages);
void kvasir_chat_page_focus_composer (KvasirChatPage *self);
void kvasir_chat_page_show_sampling (KvasirChatPage *self);

G_END_DECLS
