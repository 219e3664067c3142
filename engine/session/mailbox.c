#include "engine/session/mailbox.h"

#include <pthread.h>
#include <string.h>

/* How an event lies in the buffer: this, the event, its numbers, filled up to eight bytes. */
typedef struct
{
  guint32 n_bytes; /* of the whole record */
  guint32 n_data;
} Record;

#define RECORD_HEAD (sizeof (Record) + sizeof (KvasirEvent))

G_STATIC_ASSERT (sizeof (Record) % 8 == 0);
G_STATIC_ASSERT (sizeof (KvasirEvent) % 8 == 0);

struct _KvasirMailbox
{
  KvasirWakeup wakeup;
  gpointer user_data;
  gsize n_event_bytes;

  pthread_mutex_t mu;
  /* protected by mu */
  GPtrArray *notices; /* (owned) of KvasirNotice */
  guint8 *events;     /* (owned) [n_event_bytes] */
  gsize events_used;
  gboolean events_lost;
  const KvasirSnapshot *snapshot; /* (owned) (nullable) */
  gboolean awake;                 /* a wake-up was sent and no drain came yet */
};

static void
notice_free (gpointer data)
{
  kvasir_notice_free (data);
}

KvasirMailbox *
kvasir_mailbox_new (gsize n_event_bytes, KvasirWakeup wakeup, gpointer user_data)
{
  g_return_val_if_fail (wakeup != NULL, NULL);

  KvasirMailbox *self = g_new0 (KvasirMailbox, 1);
  self->wakeup = wakeup;
  self->user_data = user_data;
  self->n_event_bytes = n_event_bytes;
  self->events = g_malloc (n_event_bytes);
  self->notices = g_ptr_array_new_with_free_func (notice_free);
  pthread_mutex_init (&self->mu, NULL);
  return self;
}

void
kvasir_mailbox_free (KvasirMailbox *self)
{
  if (self == NULL)
    return;
  pthread_mutex_destroy (&self->mu);
  g_ptr_array_unref (self->notices);
  if (self->snapshot != NULL)
    kvasir_snapshot_unref (self->snapshot);
  g_free (self->events);
  g_free (self);
}

/* Called with the lock held; whether the caller has to wake after unlocking. */
static gboolean
claim_wakeup (KvasirMailbox *self)
{
  gboolean was_awake = self->awake;
  self->awake = TRUE;
  return !was_awake;
}

void
kvasir_mailbox_post (KvasirMailbox *self, KvasirNotice *notice)
{
  pthread_mutex_lock (&self->mu);
  g_ptr_array_add (self->notices, notice);
  gboolean wake = claim_wakeup (self);
  pthread_mutex_unlock (&self->mu);
  if (wake)
    self->wakeup (self->user_data);
}

void
kvasir_mailbox_publish (KvasirMailbox *self, const KvasirSnapshot *snapshot)
{
  pthread_mutex_lock (&self->mu);
  const KvasirSnapshot *old = self->snapshot;
  self->snapshot = snapshot;
  gboolean wake = claim_wakeup (self);
  pthread_mutex_unlock (&self->mu);
  if (old != NULL)
    kvasir_snapshot_unref (old);
  if (wake)
    self->wakeup (self->user_data);
}

void
kvasir_mailbox_put_event (KvasirMailbox *self,
                          const KvasirEvent *event,
                          const gint32 *data,
                          guint n_data)
{
  gsize n_bytes = (RECORD_HEAD + n_data * sizeof (gint32) + 7) & ~(gsize) 7;
  Record record = { .n_bytes = (guint32) n_bytes, .n_data = n_data };

  pthread_mutex_lock (&self->mu);
  if (n_bytes > self->n_event_bytes - self->events_used)
    {
      self->events_used = 0;
      self->events_lost = TRUE;
    }
  if (n_bytes <= self->n_event_bytes)
    {
      guint8 *p = self->events + self->events_used;
      memcpy (p, &record, sizeof record);
      memcpy (p + sizeof record, event, sizeof *event);
      if (n_data > 0)
        memcpy (p + RECORD_HEAD, data, n_data * sizeof *data);
      self->events_used += n_bytes;
    }
  pthread_mutex_unlock (&self->mu);
}

void
kvasir_mailbox_flush (KvasirMailbox *self)
{
  pthread_mutex_lock (&self->mu);
  gboolean wake = (self->events_used > 0 || self->events_lost) && claim_wakeup (self);
  pthread_mutex_unlock (&self->mu);
  if (wake)
    self->wakeup (self->user_data);
}

gboolean
kvasir_mailbox_has_gap (KvasirMailbox *self)
{
  pthread_mutex_lock (&self->mu);
  gboolean lost = self->events_lost;
  pthread_mutex_unlock (&self->mu);
  return lost;
}

void
kvasir_mailbox_drain (KvasirMailbox *self, KvasirMail *mail)
{
  GPtrArray *empty = mail->notices;

  pthread_mutex_lock (&self->mu);
  mail->notices = self->notices;
  self->notices = empty;
  g_byte_array_append (mail->events, self->events, (guint) self->events_used);
  mail->events_lost = self->events_lost;
  mail->snapshot = self->snapshot;
  self->events_used = 0;
  self->events_lost = FALSE;
  self->snapshot = NULL;
  self->awake = FALSE;
  pthread_mutex_unlock (&self->mu);
}

void
kvasir_mail_init (KvasirMail *mail)
{
  g_return_if_fail (mail != NULL);

  *mail = (KvasirMail){
    .notices = g_ptr_array_new_with_free_func (notice_free),
    .events = g_byte_array_new (),
  };
}

void
kvasir_mail_clear (KvasirMail *mail)
{
  g_return_if_fail (mail != NULL);

  g_clear_pointer (&mail->notices, g_ptr_array_unref);
  g_clear_pointer (&mail->events, g_byte_array_unref);
  g_clear_pointer (&mail->snapshot, kvasir_snapshot_unref);
}

const KvasirEvent *
kvasir_mail_next_event (const KvasirMail *mail, gsize *offset, const gint32 **data, guint *n_data)
{
  g_return_val_if_fail (mail != NULL && offset != NULL, NULL);

  if (*offset + RECORD_HEAD > mail->events->len)
    return NULL;
  /* Records are multiples of eight bytes and the array's start is aligned for anything. */
  const guint8 *p = mail->events->data + *offset;
  const Record *record = (const void *) p;
  *offset += record->n_bytes;
  if (data != NULL)
    *data = (const void *) (p + RECORD_HEAD);
  if (n_data != NULL)
    *n_data = record->n_data;
  return (const void *) (p + sizeof *record);
}
