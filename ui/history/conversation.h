/* ui/history/conversation.h - the messages of a chat: a tree, of which one path is shown
 *
 * As a GListModel it is that path, from the first message to the last. Every change is written to
 * the store at once, except the text of a growing answer, which kvasir_conversation_write() saves
 * when its writer says so.
 *
 * Owner:  KvasirHistory, shared with the window. Thread: main thread.
 */
#pragma once

#include <gio/gio.h>

#include "ui/history/chat.h"
#include "ui/history/message-node.h"
#include "ui/store/store.h"

G_BEGIN_DECLS

/* Property "loaded" (boolean, read-only): the messages have come from the store. */
#define KVASIR_TYPE_CONVERSATION (kvasir_conversation_get_type ())
G_DECLARE_FINAL_TYPE (KvasirConversation, kvasir_conversation, KVASIR, CONVERSATION, GObject)

KvasirConversation *kvasir_conversation_new (KvasirChat *chat,
                                             KvasirStore *store) G_GNUC_WARN_UNUSED_RESULT;
/* @records: of KvasirMessageRecord, parents first. Once, before anything else. Rows that make no
 * sense (a parent that isn't there) become first messages: nothing is left out. */
void kvasir_conversation_load (KvasirConversation *self, GPtrArray *records);

gboolean kvasir_conversation_get_loaded (KvasirConversation *self);
/* (transfer none) */
KvasirChat *kvasir_conversation_get_chat (KvasirConversation *self);
/* The last message of the path. (transfer none) (nullable) */
KvasirMessageNode *kvasir_conversation_get_leaf (KvasirConversation *self);
/* (transfer none) (nullable) */
KvasirMessageNode *kvasir_conversation_find (KvasirConversation *self, guint64 id);

/* ---- growing. All return (transfer none), the new message, on the path and written. */
/* A child of @parent (NULL: a first message), beside those that are there. */
KvasirMessageNode *kvasir_conversation_add (KvasirConversation *self,
                                            KvasirMessageNode *parent,
                                            KvasirRole role,
                                            const char *content);
/* An answer that is going to be written under @parent, by the model of that title. */
KvasirMessageNode *kvasir_conversation_add_answer (KvasirConversation *self,
                                                   KvasirMessageNode *parent,
                                                   const char *model_title);
/* The path down to and including @last, copied into @other, which is empty. */
void kvasir_conversation_copy_path (KvasirConversation *self,
                                    KvasirMessageNode *last,
                                    KvasirConversation *other);

/* ---- choosing */
/* The version @delta further along, if there is one, comes onto the path. */
void
kvasir_conversation_step_version (KvasirConversation *self, KvasirMessageNode *node, int delta);

/* Takes a message that was refused, and what hangs below it, out of the tree and the store; the
 * version before it comes back onto the path. */
void kvasir_conversation_take_back (KvasirConversation *self, KvasirMessageNode *node);

/* Saves what the message holds now. @callback (nullable): when it is on the disk. */
void kvasir_conversation_write (KvasirConversation *self,
                                KvasirMessageNode *node,
                                GAsyncReadyCallback callback,
                                gpointer user_data);

/* What the engine is asked for: the path down to @last, a person's message, with the chat's system
 * prompt and sampling. @answer (nullable): the message that it will be. With @draft, that text
 * comes after @last (nullable then). Returns: (transfer full) */
KvasirRequest *
kvasir_conversation_make_request (KvasirConversation *self,
                                  KvasirMessageNode *last,
                                  const char *draft,
                                  KvasirMessageNode *answer) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
