#include "desk.h"

#include <time.h>

#include "backends/cpu/cpu.h"

#define PATIENCE_S 60

static void
wakeup_cb (gpointer user_data)
{
  Desk *self = user_data;
  pthread_mutex_lock (&self->mu);
  self->n_doubled += self->n_pending > 0;
  self->n_pending++;
  pthread_cond_signal (&self->woken);
  pthread_mutex_unlock (&self->mu);
}

static void
notice_free (gpointer data)
{
  kvasir_notice_free (data);
}

Desk *
desk_new (void)
{
  Desk *self = g_new0 (Desk, 1);
  KvasirCpuOptions options = { .isa = KVASIR_CPU_ISA_SCALAR, .n_threads = 1 };
  self->device = kvasir_cpu_device_new (&options);
  self->notices = g_ptr_array_new_with_free_func (notice_free);
  self->event_types = g_array_new (FALSE, FALSE, sizeof (gint));
  pthread_mutex_init (&self->mu, NULL);
  pthread_cond_init (&self->woken, NULL);
  self->worker = kvasir_worker_new (self->device, wakeup_cb, self);
  return self;
}

void
desk_free (Desk *self)
{
  kvasir_worker_free (self->worker);
  g_assert_cmpint (self->n_doubled, ==, 0);
  self->device->vtable->free (self->device);
  g_ptr_array_unref (self->notices);
  g_array_unref (self->event_types);
  g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
  pthread_mutex_destroy (&self->mu);
  pthread_cond_destroy (&self->woken);
  g_free (self);
}

guint64
desk_load (Desk *self, guint n_ctx)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
  KvasirContextParams params;
  kvasir_context_params_init (&params);
  params.n_ctx = n_ctx;
  params.n_seq_max = 4;
  params.n_ubatch = 16;
  return kvasir_worker_load (self->worker, path, &params);
}

void
desk_load_and_wait (Desk *self, guint n_ctx)
{
  desk_wait (self, KVASIR_NOTICE_LOADED, desk_load (self, n_ctx));
}

static void
take_events (Desk *self, const KvasirMail *mail)
{
  gsize offset = 0;
  const KvasirEvent *event;
  while ((event = kvasir_mail_next_event (mail, &offset, NULL, NULL)) != NULL)
    {
      gint type = event->type;
      g_assert_cmpint (event->time_us, >, 0);
      g_array_append_val (self->event_types, type);
    }
  self->events_lost |= mail->events_lost;
}

void
desk_drain (Desk *self)
{
  KvasirMail mail;
  pthread_mutex_lock (&self->mu);
  self->n_pending = 0;
  pthread_mutex_unlock (&self->mu);
  kvasir_mail_init (&mail);
  kvasir_worker_drain (self->worker, &mail);
  for (guint i = 0; i < mail.notices->len; i++)
    g_ptr_array_add (self->notices, g_ptr_array_index (mail.notices, i));
  g_ptr_array_set_free_func (mail.notices, NULL);
  take_events (self, &mail);
  if (mail.snapshot != NULL)
    {
      g_assert_cmpuint (mail.snapshot->sequence, >, self->last_sequence);
      self->last_sequence = mail.snapshot->sequence;
      g_clear_pointer (&self->snapshot, kvasir_snapshot_unref);
      self->snapshot = kvasir_snapshot_ref (mail.snapshot);
    }
  kvasir_mail_clear (&mail);
}

/* Waits until woken, then drains. */
static void
wait_and_drain (Desk *self)
{
  struct timespec deadline;
  int result = 0;
  clock_gettime (CLOCK_REALTIME, &deadline);
  deadline.tv_sec += PATIENCE_S;
  pthread_mutex_lock (&self->mu);
  while (self->n_pending == 0 && result == 0)
    result = pthread_cond_timedwait (&self->woken, &self->mu, &deadline);
  pthread_mutex_unlock (&self->mu);
  g_assert_cmpint (result, ==, 0);
  desk_drain (self);
}

const KvasirNotice *
desk_find (const Desk *self, KvasirNoticeKind kind, guint64 id)
{
  for (guint i = 0; i < self->notices->len; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (self->notices, i);
      if (notice->kind == kind && (id == 0 || notice->request_id == id))
        return notice;
    }
  return NULL;
}

guint
desk_count (const Desk *self, KvasirNoticeKind kind, guint64 id)
{
  guint n = 0;
  for (guint i = 0; i < self->notices->len; i++)
    {
      const KvasirNotice *notice = g_ptr_array_index (self->notices, i);
      n += notice->kind == kind && (id == 0 || notice->request_id == id);
    }
  return n;
}

const KvasirNotice *
desk_wait (Desk *self, KvasirNoticeKind kind, guint64 id)
{
  while (desk_find (self, kind, id) == NULL)
    wait_and_drain (self);
  return desk_find (self, kind, id);
}

const KvasirNotice *
desk_wait_end (Desk *self, guint64 id)
{
  for (;;)
    {
      const KvasirNotice *done = desk_find (self, KVASIR_NOTICE_DONE, id);
      const KvasirNotice *failed = desk_find (self, KVASIR_NOTICE_FAILED, id);
      if (done != NULL || failed != NULL)
        return done != NULL ? done : failed;
      wait_and_drain (self);
    }
}

void
desk_wait_rest (Desk *self)
{
  while (self->snapshot == NULL || self->snapshot->request_id != 0)
    wait_and_drain (self);
}

KvasirRequest *
desk_new_request (guint64 chat_id, const char *text, guint max_tokens)
{
  KvasirRequest *request = kvasir_request_new (chat_id, chat_id * 10 + 1);
  g_ptr_array_add (request->messages, kvasir_message_new (chat_id * 10, KVASIR_ROLE_USER, text));
  request->sampling.temperature = 0.0f;
  request->max_tokens = max_tokens;
  return request;
}
