/* engine/session/mailbox.h - what the engine thread has to say, kept until the main thread asks
 *
 * Notices are appended and never lost. Events are packed into a buffer allocated once; where it is
 * full, what is in it is dropped and a gap is marked, so that the newest events survive. Of
 * snapshots only the latest is kept. The wake-up function is called once, then not again before a
 * drain.
 *
 * Owner:  KvasirWorker. Thread: kvasir_mailbox_drain() on the main thread, all others on the engine
 * thread. The wake-up is called with nothing locked.
 */
#pragma once

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef struct _KvasirMailbox KvasirMailbox;

KvasirMailbox *kvasir_mailbox_new (gsize n_event_bytes,
                                   KvasirWakeup wakeup,
                                   gpointer user_data) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_mailbox_free (KvasirMailbox *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMailbox, kvasir_mailbox_free)

/* (transfer full) notice. Wakes. */
void kvasir_mailbox_post (KvasirMailbox *self, KvasirNotice *notice);
/* (transfer full) snapshot. Wakes. */
void kvasir_mailbox_publish (KvasirMailbox *self, const KvasirSnapshot *snapshot);
/* Does not wake: many come in one step. */
void kvasir_mailbox_put_event (KvasirMailbox *self,
                               const KvasirEvent *event,
                               const gint32 *data,
                               guint n_data);
/* Wakes if events wait. */
void kvasir_mailbox_flush (KvasirMailbox *self);
/* Whether events were lost since the last drain: snapshots must then tell all. */
gboolean kvasir_mailbox_has_gap (KvasirMailbox *self);

void kvasir_mailbox_drain (KvasirMailbox *self, KvasirMail *mail);

G_END_DECLS
