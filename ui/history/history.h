/* ui/history/history.h - all chats: the list, their messages, deletion that can be taken back
 *
 * As a GListModel it is the chats, latest first, without those that are being deleted. What a chat
 * or a draft changes is written within 250 ms.
 *
 * Owner:  KvasirApplication. Thread: main thread.
 */
#pragma once

#include <gio/gio.h>

#include "ui/history/chat.h"
#include "ui/history/conversation.h"
#include "ui/store/store.h"

G_BEGIN_DECLS

/* Property "loaded" (boolean, read-only): the list has come from the store.
 * Signal "found" (): the answer of kvasir_history_search() is in the chats' snippets and in
 * kvasir_history_is_found(). */
#define KVASIR_TYPE_HISTORY (kvasir_history_get_type ())
G_DECLARE_FINAL_TYPE (KvasirHistory, kvasir_history, KVASIR, HISTORY, GObject)

/* Begins to load. */
KvasirHistory *kvasir_history_new (KvasirStore *store) G_GNUC_WARN_UNUSED_RESULT;

gboolean kvasir_history_get_loaded (KvasirHistory *self);
/* How opening went; NULL until "loaded". */
const KvasirStoreOpening *kvasir_history_get_opening (KvasirHistory *self);
KvasirStore *kvasir_history_get_store (KvasirHistory *self);

/* A chat that is in the list but not written before it holds a message or a draft.
 * Returns: (transfer none) */
KvasirChat *kvasir_history_add_chat (KvasirHistory *self, const char *sampling);
/* (transfer none) (nullable) */
KvasirChat *kvasir_history_find_chat (KvasirHistory *self, guint64 id);
/* Its messages; empty until they have come. Returns: (transfer none) */
KvasirConversation *kvasir_history_open_chat (KvasirHistory *self, KvasirChat *chat);
/* Puts the chat on top and names it after its first message if nobody did. */
void kvasir_history_touch (KvasirHistory *self, KvasirChat *chat, const char *first_message);

/* The chat leaves the list; it is deleted by the second call, or comes back by the third. */
void kvasir_history_delete_chat (KvasirHistory *self, KvasirChat *chat);
void kvasir_history_finish_delete (KvasirHistory *self, KvasirChat *chat);
void kvasir_history_undo_delete (KvasirHistory *self, KvasirChat *chat);

/* Looks for @text in titles and messages; "" finds all. */
void kvasir_history_search (KvasirHistory *self, const char *text);
gboolean kvasir_history_is_found (KvasirHistory *self, KvasirChat *chat);

/* Writes everything, deletes what is being deleted, closes the store. */
void kvasir_history_close (KvasirHistory *self);

G_END_DECLS
