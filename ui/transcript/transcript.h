/* ui/transcript/transcript.h - the path of a conversation, scrolled
 *
 * Rows are built for the newest messages; earlier ones follow when a person scrolls up to them, so
 * a chat of thousands opens as fast as a short one. Stays at the end while text streams unless the
 * person scrolled away; a button leads back.
 * Thread: main thread.
 */
#pragma once

#include <gtk/gtk.h>

#include "engine/session/snapshot.h"
#include "ui/history/conversation.h"

G_BEGIN_DECLS

#define KVASIR_TYPE_TRANSCRIPT (kvasir_transcript_get_type ())
G_DECLARE_FINAL_TYPE (KvasirTranscript, kvasir_transcript, KVASIR, TRANSCRIPT, GtkWidget)

GtkWidget *kvasir_transcript_new (void) G_GNUC_WARN_UNUSED_RESULT;
/* (nullable) */
void kvasir_transcript_set_conversation (KvasirTranscript *self, KvasirConversation *conversation);
/* Prices of messages come from the cells that hold them. NULL: nothing is known. */
void kvasir_transcript_set_snapshot (KvasirTranscript *self, const KvasirSnapshot *snapshot);
void kvasir_transcript_scroll_to_end (KvasirTranscript *self);
/* Scrolls by pages and focuses nothing. */
void kvasir_transcript_scroll_pages (KvasirTranscript *self, double n_pages);
/* The message that has the focus, or the last of its role. (transfer none) (nullable) */
KvasirMessageNode *kvasir_transcript_find_message (KvasirTranscript *self, KvasirRole role);

G_END_DECLS
