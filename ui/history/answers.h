/* ui/history/answers.h - asks the engine and writes its answers down
 *
 * A person's message is on the disk before the engine hears of it. The growing answer is saved at
 * most every 250 ms and when it ends. An answer that the engine refuses before its first token
 * leaves the tree as it was, and whoever listens to "refused" gives the text back.
 *
 * Owner:  KvasirApplication. Thread: main thread.
 */
#pragma once

#include "ui/engine-client.h"
#include "ui/history/history.h"

G_BEGIN_DECLS

/* Signals:
 *   "ended"   (KvasirConversation *, KvasirMessageNode *answer, const KvasirNotice *)
 *   "refused" (KvasirConversation *, const char *text, guint64 edited_id, const KvasirNotice *):
 *             @text: the message that was taken back, NULL where only an answer was asked for;
 *             @edited_id: the message that it was a version of, 0: none */
#define KVASIR_TYPE_ANSWERS (kvasir_answers_get_type ())
G_DECLARE_FINAL_TYPE (KvasirAnswers, kvasir_answers, KVASIR, ANSWERS, GObject)

KvasirAnswers *kvasir_answers_new (KvasirEngineClient *client,
                                   KvasirHistory *history) G_GNUC_WARN_UNUSED_RESULT;

/* @text goes to the end of the path, or with @edited becomes another version of that message. */
void kvasir_answers_send (KvasirAnswers *self,
                          KvasirConversation *conversation,
                          const char *text,
                          KvasirMessageNode *edited);
/* One more answer beside @answer. */
void kvasir_answers_try_again (KvasirAnswers *self,
                               KvasirConversation *conversation,
                               KvasirMessageNode *answer);
/* Ends what is being read or written; what is there stays. */
void kvasir_answers_stop (KvasirAnswers *self);
/* Answers that are being written are saved as stopped: the app ends. */
void kvasir_answers_stop_all (KvasirAnswers *self);

G_END_DECLS
