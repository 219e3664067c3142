/* ui/transcript/message-facts.h - the words beside a message: what it cost, how it ended
 *
 * Thread: main thread.
 */
#pragma once

#include "ui/history/message-node.h"

G_BEGIN_DECLS

/* "142 tokens · 41.2 tok/s · reused 311, read 12", or what is going on now. */
char *kvasir_message_facts_describe (KvasirMessageNode *node) G_GNUC_WARN_UNUSED_RESULT;
/* Why the answer ends where it does, or NULL where it simply is complete or still grows. */
const char *kvasir_message_facts_get_ending (KvasirMessageNode *node);
/* "You", "Assistant". */
const char *kvasir_message_facts_get_role (KvasirMessageNode *node);
/* "142 cells = 3.1 MiB" */
char *kvasir_message_facts_price (guint n_cells, guint64 bytes_per_cell) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
