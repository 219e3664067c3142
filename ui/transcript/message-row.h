/* ui/transcript/message-row.h - one message in the transcript
 *
 * Follows its node. What a person does here is asked of the window by actions with the message's
 * id: win.message-copy, -edit, -retry, -branch, -cells (t) and win.message-version (ti).
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "ui/history/message-node.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_MESSAGE_ROW (kvasir_message_row_get_type ())
G_DECLARE_FINAL_TYPE (KvasirMessageRow, kvasir_message_row, KVASIR, MESSAGE_ROW, GtkWidget)

GtkWidget *kvasir_message_row_new (KvasirMessageNode *node) G_GNUC_WARN_UNUSED_RESULT;
/* (transfer none) */
KvasirMessageNode *kvasir_message_row_get_node (KvasirMessageRow *self);
/* Cells that hold it now; 0: none, nothing is shown then. */
void kvasir_message_row_set_price (KvasirMessageRow *self, guint n_cells, guint64 bytes_per_cell);

G_END_DECLS
