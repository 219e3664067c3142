#include "engine/session/mailbox.h"

#include <pthread.h>
#include <sched.h>

#define N_PUBLISHES 50000

/* What the wake-ups did: the mailbox must never send one while another is pending. */
typedef struct
{
  KvasirMailbox *mailbox;
  gint pending; /* atomic */
  gint n_wakeups;
  gint n_doubled;
} Wake;

static void
wakeup_cb (gpointer user_data)
{
  Wake *wake = user_data;
  g_atomic_int_inc (&wake->n_wakeups);
  if (g_atomic_int_add (&wake->pending, 1) > 0)
    g_atomic_int_inc (&wake->n_doubled);
}

static KvasirNotice *
new_notice (guint64 id)
{
  KvasirNotice *notice = g_new0 (KvasirNotice, 1);
  notice->kind = KVASIR_NOTICE_TOKEN;
  notice->request_id = id;
  notice->text = g_strdup ("x");
  return notice;
}

static void
test_in_order (void)
{
  Wake wake = { NULL };
  KvasirMail mail;
  g_autoptr (KvasirMailbox) mailbox = kvasir_mailbox_new (4096, wakeup_cb, &wake);
  for (guint64 i = 1; i <= 5; i++)
    kvasir_mailbox_post (mailbox, new_notice (i));
  g_assert_cmpint (wake.n_wakeups, ==, 1);

  kvasir_mail_init (&mail);
  kvasir_mailbox_drain (mailbox, &mail);
  g_assert_cmpuint (mail.notices->len, ==, 5);
  for (guint i = 0; i < 5; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (mail.notices, i);
      g_assert_cmpuint (notice->request_id, ==, i + 1);
    }
  g_assert_null (mail.snapshot);
  kvasir_mail_clear (&mail);

  kvasir_mailbox_flush (mailbox);
  g_assert_cmpint (wake.n_wakeups, ==, 1);
  kvasir_mailbox_post (mailbox, new_notice (6));
  g_assert_cmpint (wake.n_wakeups, ==, 2);
}

static void
put (KvasirMailbox *mailbox, gint32 n, guint n_data)
{
  gint32 data[100];
  KvasirEvent event = { .type = KVASIR_EVENT_CELLS, .n = n };
  for (guint i = 0; i < n_data; i++)
    data[i] = n * 1000 + (gint32) i;
  kvasir_mailbox_put_event (mailbox, &event, data, n_data);
}

static void
test_events (void)
{
  Wake wake = { NULL };
  KvasirMail mail;
  gsize offset = 0;
  const gint32 *data;
  guint n_data;
  const KvasirEvent *event;
  g_autoptr (KvasirMailbox) mailbox = kvasir_mailbox_new (65536, wakeup_cb, &wake);
  for (gint32 i = 0; i < 8; i++)
    put (mailbox, i, (guint) i);
  g_assert_cmpint (wake.n_wakeups, ==, 0);
  kvasir_mailbox_flush (mailbox);
  g_assert_cmpint (wake.n_wakeups, ==, 1);

  kvasir_mail_init (&mail);
  kvasir_mailbox_drain (mailbox, &mail);
  g_assert_false (mail.events_lost);
  for (gint32 i = 0; i < 8; i++)
    {
      event = kvasir_mail_next_event (&mail, &offset, &data, &n_data);
      g_assert_nonnull (event);
      g_assert_cmpint (event->n, ==, i);
      g_assert_cmpuint (n_data, ==, (guint) i);
      for (guint k = 0; k < n_data; k++)
        g_assert_cmpint (data[k], ==, i * 1000 + (gint32) k);
    }
  g_assert_null (kvasir_mail_next_event (&mail, &offset, &data, &n_data));
  kvasir_mail_clear (&mail);
}

static void
test_overflow (void)
{
  Wake wake = { NULL };
  KvasirMail mail;
  gsize offset = 0;
  gint32 last = -1;
  guint n = 0;
  const KvasirEvent *event;
  g_autoptr (KvasirMailbox) mailbox =
      kvasir_mailbox_new (10 * (sizeof (KvasirEvent) + 100), wakeup_cb, &wake);
  for (gint32 i = 0; i < 100; i++)
    put (mailbox, i, 3);
  g_assert_true (kvasir_mailbox_has_gap (mailbox));

  kvasir_mail_init (&mail);
  kvasir_mailbox_drain (mailbox, &mail);
  g_assert_true (mail.events_lost);
  while ((event = kvasir_mail_next_event (&mail, &offset, NULL, NULL)) != NULL)
    {
      /* What is left follows on without a gap of its own, up to the newest. */
      g_assert_true (last < 0 || event->n == last + 1);
      last = event->n;
      n++;
    }
  g_assert_cmpint (last, ==, 99);
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n, <=, 10);
  kvasir_mail_clear (&mail);
  g_assert_false (kvasir_mailbox_has_gap (mailbox));
}

/* ---- two threads */

static gpointer
post_many (gpointer data)
{
  Wake *wake = data;
  for (guint64 i = 1; i <= N_PUBLISHES; i++)
    {
      kvasir_mailbox_post (wake->mailbox, new_notice (i));
      put (wake->mailbox, (gint32) (i & 0xffff), 2);
    }
  kvasir_mailbox_flush (wake->mailbox);
  return NULL;
}

static void
test_many (void)
{
  Wake wake = { NULL };
  guint64 last = 0;
  pthread_t thread;
  g_autoptr (KvasirMailbox) mailbox = kvasir_mailbox_new (1 << 16, wakeup_cb, &wake);
  g_test_summary ("50 000 notices from another thread arrive in order, the last one too");
  wake.mailbox = mailbox;
  pthread_create (&thread, NULL, post_many, &wake);
  while (last < N_PUBLISHES)
    {
      KvasirMail mail;
      if (g_atomic_int_get (&wake.pending) == 0)
        {
          sched_yield ();
          continue;
        }
      g_atomic_int_set (&wake.pending, 0);
      kvasir_mail_init (&mail);
      kvasir_mailbox_drain (mailbox, &mail);
      for (guint i = 0; i < mail.notices->len; i++)
        {
          const KvasirNotice *notice = g_ptr_array_index (mail.notices, i);
          g_assert_cmpuint (notice->request_id, ==, ++last);
        }
      kvasir_mail_clear (&mail);
    }
  pthread_join (thread, NULL);
  g_assert_cmpint (wake.n_doubled, ==, 0);
  g_assert_cmpint (wake.n_wakeups, <=, N_PUBLISHES + 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/mailbox/notices-in-order-one-wakeup", test_in_order);
  g_test_add_func ("/engine/session/mailbox/events-with-their-numbers", test_events);
  g_test_add_func ("/engine/session/mailbox/overflow-keeps-the-newest", test_overflow);
  g_test_add_func ("/engine/session/mailbox/many-publishes", test_many);
  return g_test_run ();
}
