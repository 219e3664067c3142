/* ui/shell/chat-list.h - all chats by day, with a search over titles and texts
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/history.h"

G_BEGIN_DECLS

/* Signal "chosen" (KvasirChat *): a person wants to see it. */
#define KVASIR_TYPE_CHAT_LIST (kvasir_chat_list_get_type ())
G_DECLARE_FINAL_TYPE (KvasirChatList, kvasir_chat_list, KVASIR, CHAT_LIST, GtkWidget)

void kvasir_chat_list_set_history (KvasirChatList *self, KvasirHistory *history);
/* Marks the chat that is shown; NULL: none. */
void kvasir_chat_list_select (KvasirChatList *self, KvasirChat *chat);
void kvasir_chat_list_focus_search (KvasirChatList *self);
/* The chat @delta rows below the selected one. (transfer none) (nullable) */
KvasirChat *kvasir_chat_list_get_neighbour (KvasirChatList *self, int delta);

/* "Today", "Yesterday", "Last 7 days", "Last 30 days", a month, a year; @then and @now in Unix
 * microseconds, in the person's time zone. Returns: (transfer full) */
char *kvasir_chat_list_name_day (gint64 then, gint64 now) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
