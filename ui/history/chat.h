/* ui/history/chat.h - what the chat list knows of a chat
 *
 * Owner:  KvasirHistory's list. Thread: main thread.
 */
#pragma once

#include <glib-object.h>

#include "ui/history/sampling.h"
#include "ui/store/records.h"

G_BEGIN_DECLS

/* Properties, read-write, notified:
 *   "title" (string), "draft" (string), "system-prompt" (string), "sampling" (string),
 *   "updated-us" (int64, Unix time), "selected-root" (uint64)
 * and what only this run knows:
 *   "busy" (boolean): an answer is being written
 *   "n-sequences" (uint): sequences that hold cells for it
 *   "snippet" (string, nullable): where the text searched for stands */
#define KVASIR_TYPE_CHAT (kvasir_chat_get_type ())
G_DECLARE_FINAL_TYPE (KvasirChat, kvasir_chat, KVASIR, CHAT, GObject)

KvasirChat *kvasir_chat_new (const KvasirChatRecord *record) G_GNUC_WARN_UNUSED_RESULT;
KvasirChatRecord *kvasir_chat_to_record (KvasirChat *self) G_GNUC_WARN_UNUSED_RESULT;

guint64 kvasir_chat_get_id (KvasirChat *self);
const char *kvasir_chat_get_title (KvasirChat *self);
/* @fixed: a person named it, so that the first message does not. */
void kvasir_chat_set_title (KvasirChat *self, const char *title, gboolean fixed);
gboolean kvasir_chat_get_title_fixed (KvasirChat *self);
const char *kvasir_chat_get_draft (KvasirChat *self);
const char *kvasir_chat_get_system_prompt (KvasirChat *self);
gint64 kvasir_chat_get_updated_us (KvasirChat *self);
guint64 kvasir_chat_get_selected_root (KvasirChat *self);
gboolean kvasir_chat_get_busy (KvasirChat *self);
guint kvasir_chat_get_n_sequences (KvasirChat *self);
/* @sampling need not be initialised, and holds what the caller clears. */
void kvasir_chat_get_sampling (KvasirChat *self, KvasirSampling *sampling);
void kvasir_chat_set_sampling (KvasirChat *self, const KvasirSampling *sampling);

G_END_DECLS
