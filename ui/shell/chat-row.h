/* ui/shell/chat-row.h - a chat in the list: title, where it is kept, rename and delete
 *
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/chat.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_CHAT_ROW (kvasir_chat_row_get_type ())
G_DECLARE_FINAL_TYPE (KvasirChatRow, kvasir_chat_row, KVASIR, CHAT_ROW, GtkListBoxRow)

GtkWidget *kvasir_chat_row_new (KvasirChat *chat) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer none) */
KvasirChat *kvasir_chat_row_get_chat (KvasirChatRow *self);

G_END_DECLS
