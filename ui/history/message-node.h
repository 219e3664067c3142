/* ui/history/message-node.h - one message of a chat's tree
 *
 * Its children are the versions of what came next; one of them is on the path shown. The tree is
 * changed by KvasirConversation alone.
 *
 * Owner:  KvasirConversation; views hold references. Thread: main thread.
 */
#pragma once

#include <glib-object.h>

#include "engine/session/reasoning.h"
#include "ui/store/records.h"

G_BEGIN_DECLS

/* Properties, read-only, notified:
 *   "content"    (string)
 *   "state"      (int, KvasirMessageState)
 *   "version"    (uint): its place among its siblings, from 1
 *   "n-versions" (uint): how many siblings there are, itself included
 *   "progress"   (double): how much of the prompt has been read for it, 0 ... 1 */
#define KVASIR_TYPE_MESSAGE_NODE (kvasir_message_node_get_type ())
G_DECLARE_FINAL_TYPE (KvasirMessageNode, kvasir_message_node, KVASIR, MESSAGE_NODE, GObject)

/* What is known of an answer when it is over. */
typedef struct
{
  guint n_reused;
  guint n_read;
  gint64 prefill_us;
  gint64 generate_us;
  guint n_guessed; /* tokens guessed ahead and those that came right, of answers of this run */
  guint n_right;
} KvasirMessageCosts;

/* How far the reading of the prompt is. */
typedef struct
{
  guint n_done;
  guint n_total;
  gint64 us;
} KvasirMessageProgress;

guint64 kvasir_message_node_get_id (KvasirMessageNode *self);
KvasirRole kvasir_message_node_get_role (KvasirMessageNode *self);
KvasirMessageState kvasir_message_node_get_state (KvasirMessageNode *self);
const char *kvasir_message_node_get_content (KvasirMessageNode *self);
/* Ids that were generated; [*n_tokens], or NULL. */
const gint32 *kvasir_message_node_get_tokens (KvasirMessageNode *self, guint *n_tokens);
/* The prompt has opened the model's reasoning, so the text begins inside. */
gboolean kvasir_message_node_get_reasons (KvasirMessageNode *self);
/* Where an answer holds what the model thought before it; all 0 where it holds nothing. */
void kvasir_message_node_find_reasoning (KvasirMessageNode *self, KvasirReasoning *reasoning);
/* The content behind that; "" while the model still thinks. */
const char *kvasir_message_node_get_answer (KvasirMessageNode *self);
const KvasirMessageCosts *kvasir_message_node_get_costs (KvasirMessageNode *self);
/* (nullable) */
guint kvasir_message_node_get_version (KvasirMessageNode *self);
guint kvasir_message_node_get_n_versions (KvasirMessageNode *self);
/* (transfer none) (nullable) */
KvasirMessageNode *kvasir_message_node_get_parent (KvasirMessageNode *self);

/* ---- while it is written */
void kvasir_message_node_set_reasons (KvasirMessageNode *self, gboolean reasons);
/* @text: whole characters, may be empty. @token: -1 where the text stands for none. */
void kvasir_message_node_append (KvasirMessageNode *self, const char *text, gint32 token);
/* Forgets the tokens behind the first @n; the text stays. */
void kvasir_message_node_keep_tokens (KvasirMessageNode *self, guint n);
void kvasir_message_node_set_state (KvasirMessageNode *self, KvasirMessageState state);
const KvasirMessageProgress *kvasir_message_node_get_progress (KvasirMessageNode *self);
void kvasir_message_node_set_progress (KvasirMessageNode *self,
                                       const KvasirMessageProgress *progress);
void kvasir_message_node_set_costs (KvasirMessageNode *self, const KvasirMessageCosts *costs);

G_END_DECLS
