/* ui/history/message-node-private.h - what the conversation alone may do to a node */
#pragma once

#include "ui/history/message-node.h"

G_BEGIN_DECLS

KvasirMessageNode *
kvasir_message_node_new (const KvasirMessageRecord *record) G_GNUC_WARN_UNUSED_RESULT;
KvasirMessageRecord *kvasir_message_node_to_record (KvasirMessageNode *self,
                                                    guint64 chat_id) G_GNUC_WARN_UNUSED_RESULT;
/* Of KvasirMessageNode (unowned), in order of creation. */
GPtrArray *kvasir_message_node_get_children (KvasirMessageNode *self);
/* The child on the path; 0: the last one. */
guint64 kvasir_message_node_get_selected_child (KvasirMessageNode *self);
void kvasir_message_node_set_selected_child (KvasirMessageNode *self, guint64 id);
void kvasir_message_node_set_parent (KvasirMessageNode *self, KvasirMessageNode *parent);
void kvasir_message_node_set_version (KvasirMessageNode *self, guint version, guint n_versions);

G_END_DECLS
