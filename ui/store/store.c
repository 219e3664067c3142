#include "ui/store/store.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#define RETRY_SECONDS 2

/* One call, on its way to the thread and back. Held by its task. */
typedef struct
{
  gboolean is_write;
  /* Each returns FALSE with @error set; reads leave their rows in @rows. */
  gboolean (*run) (KvasirDatabase *db, gpointer job, GError **error);
  KvasirChatRecord *chat;       /* (owned) (nullable) */
  KvasirMessageRecord *message; /* (owned) (nullable) */
  guint64 id;                   /* of a chat or message */
  char *text;                   /* (owned) (nullable) */
  GPtrArray *rows;              /* (owned) (nullable) */
  gboolean answered;
} Job;

struct _KvasirStore
{
  GObject parent_instance;

  char *path; /* (owned) */
  pthread_t thread;
  gboolean running;
  guint64 last_id;

  pthread_mutex_t mu;
  pthread_cond_t changed;
  /* protected by mu */
  GQueue jobs;    /* of GTask (owned) */
  char *trouble;  /* (owned) (nullable): what was told last */
  guint idle_id;  /* tells of trouble on the main loop, 0: none pending */
  gboolean ended; /* no more jobs come */
};

G_DEFINE_FINAL_TYPE (KvasirStore, kvasir_store, G_TYPE_OBJECT)

enum
{
  TROUBLE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static void
job_free (gpointer data)
{
  Job *job = data;

  g_clear_pointer (&job->chat, kvasir_chat_record_free);
  g_clear_pointer (&job->message, kvasir_message_record_free);
  g_clear_pointer (&job->rows, g_ptr_array_unref);
  g_free (job->text);
  g_free (job);
}

/* ---- the store's thread */

static gboolean
tell_trouble_cb (gpointer user_data)
{
  KvasirStore *self = user_data;
  g_autofree char *message = NULL;

  pthread_mutex_lock (&self->mu);
  self->idle_id = 0;
  message = g_strdup (self->trouble);
  pthread_mutex_unlock (&self->mu);
  g_signal_emit (self, signals[TROUBLE], 0, message);
  return G_SOURCE_REMOVE;
}

static void
set_trouble (KvasirStore *self, const char *message)
{
  pthread_mutex_lock (&self->mu);
  if (g_strcmp0 (self->trouble, message) != 0)
    {
      g_free (self->trouble);
      self->trouble = g_strdup (message);
      if (self->idle_id == 0)
        self->idle_id = g_idle_add (tell_trouble_cb, self);
    }
  pthread_mutex_unlock (&self->mu);
}

static void
answer (GTask *task, Job *job, GError *error)
{
  if (job->answered)
    return;
  job->answered = TRUE;
  if (error != NULL)
    g_task_return_error (task, g_error_copy (error));
  else if (job->is_write)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_pointer (task, g_steal_pointer (&job->rows), (GDestroyNotify) g_ptr_array_unref);
}

/* Waits for space or rights to come back, unless the store is being closed. */
static void
wait_for_retry (KvasirStore *self)
{
  struct timespec until;

  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += RETRY_SECONDS;
  pthread_mutex_lock (&self->mu);
  while (!self->ended && pthread_cond_timedwait (&self->changed, &self->mu, &until) != ETIMEDOUT)
    ;
  pthread_mutex_unlock (&self->mu);
}

static gboolean
has_ended (KvasirStore *self)
{
  gboolean ended;

  pthread_mutex_lock (&self->mu);
  ended = self->ended;
  pthread_mutex_unlock (&self->mu);
  return ended;
}

static gboolean
is_worth_retrying (const GError *error)
{
  return g_error_matches (error, KVASIR_STORE_ERROR, KVASIR_STORE_ERROR_FULL) ||
         g_error_matches (error, KVASIR_STORE_ERROR, KVASIR_STORE_ERROR_IO);
}

static void
run_job (KvasirStore *self, KvasirDatabase *db, GTask *task)
{
  Job *job = g_task_get_task_data (task);

  for (;;)
    {
      g_autoptr (GError) error = NULL;
      gboolean last = has_ended (self);
      gboolean done = job->run (db, job, &error);

      answer (task, job, error);
      if (job->is_write)
        set_trouble (self, error != NULL ? error->message : NULL);
      if (done || !job->is_write || last || !is_worth_retrying (error))
        return;
      wait_for_retry (self);
    }
}

/* The next task, or NULL when the store was closed and everything is done. */
static GTask *
take_task (KvasirStore *self)
{
  GTask *task;

  pthread_mutex_lock (&self->mu);
  while (g_queue_is_empty (&self->jobs) && !self->ended)
    pthread_cond_wait (&self->changed, &self->mu);
  task = g_queue_pop_head (&self->jobs);
  pthread_mutex_unlock (&self->mu);
  return task;
}

/* The first task is the one that asks how opening went. */
static KvasirDatabase *
open_database (KvasirStore *self)
{
  KvasirStoreOpening *opening = g_new0 (KvasirStoreOpening, 1);
  KvasirDatabase *db = kvasir_database_new (self->path, opening);
  GTask *task = take_task (self);

  if (task == NULL)
    kvasir_store_opening_free (opening);
  else
    g_task_return_pointer (task, opening, (GDestroyNotify) kvasir_store_opening_free);
  g_clear_object (&task);
  return db;
}

static void *
store_main (void *data)
{
  KvasirStore *self = data;
  KvasirDatabase *db = open_database (self);
  GTask *task;

  while ((task = take_task (self)) != NULL)
    {
      run_job (self, db, task);
      g_object_unref (task);
    }
  kvasir_database_free (db);
  return NULL;
}

/* ---- the main thread */

static void
push (KvasirStore *self, GTask *task)
{
  pthread_mutex_lock (&self->mu);
  g_queue_push_tail (&self->jobs, task);
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->mu);
}

static Job *
job_new (gboolean (*run) (KvasirDatabase *, gpointer, GError **), gboolean is_write)
{
  Job *job = g_new0 (Job, 1);

  job->run = run;
  job->is_write = is_write;
  return job;
}

static void
start (KvasirStore *self,
       Job *job,
       GCancellable *cancellable,
       GAsyncReadyCallback callback,
       gpointer user_data)
{
  GTask *task = g_task_new (self, cancellable, callback, user_data);

  g_assert (self->running);
  g_task_set_task_data (task, job, job_free);
  push (self, task);
}

static gboolean
run_put_chat (KvasirDatabase *db, gpointer data, GError **error)
{
  return kvasir_database_put_chat (db, ((Job *) data)->chat, error);
}

static gboolean
run_put_message (KvasirDatabase *db, gpointer data, GError **error)
{
  return kvasir_database_put_message (db, ((Job *) data)->message, error);
}

static gboolean
run_delete_chat (KvasirDatabase *db, gpointer data, GError **error)
{
  return kvasir_database_delete_chat (db, ((Job *) data)->id, error);
}

static gboolean
run_delete_message (KvasirDatabase *db, gpointer data, GError **error)
{
  return kvasir_database_delete_message (db, ((Job *) data)->id, error);
}

static gboolean
run_list_chats (KvasirDatabase *db, gpointer data, GError **error)
{
  return (((Job *) data)->rows = kvasir_database_list_chats (db, error)) != NULL;
}

static gboolean
run_list_messages (KvasirDatabase *db, gpointer data, GError **error)
{
  Job *job = data;

  return (job->rows = kvasir_database_list_messages (db, job->id, error)) != NULL;
}

static gboolean
run_search (KvasirDatabase *db, gpointer data, GError **error)
{
  Job *job = data;

  return (job->rows = kvasir_database_search (db, job->text, error)) != NULL;
}

void
kvasir_store_open_async (KvasirStore *self, GAsyncReadyCallback callback, gpointer user_data)
{
  g_return_if_fail (KVASIR_IS_STORE (self));
  push (self, g_task_new (self, NULL, callback, user_data));
}

KvasirStoreOpening *
kvasir_store_open_finish (KvasirStore *self, GAsyncResult *result, GError **error)
{
  KvasirStoreOpening *opening = g_task_propagate_pointer (G_TASK (result), error);

  if (opening != NULL)
    self->last_id = opening->last_id;
  return opening;
}

guint64
kvasir_store_take_id (KvasirStore *self)
{
  return ++self->last_id;
}

void
kvasir_store_put_chat_async (KvasirStore *self,
                             const KvasirChatRecord *chat,
                             GAsyncReadyCallback callback,
                             gpointer user_data)
{
  Job *job = job_new (run_put_chat, TRUE);

  job->chat = kvasir_chat_record_copy (chat);
  start (self, job, NULL, callback, user_data);
}

void
kvasir_store_put_message_async (KvasirStore *self,
                                const KvasirMessageRecord *message,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  Job *job = job_new (run_put_message, TRUE);

  job->message = kvasir_message_record_copy (message);
  start (self, job, NULL, callback, user_data);
}

void
kvasir_store_delete_chat_async (KvasirStore *self,
                                guint64 chat_id,
                                GAsyncReadyCallback callback,
                                gpointer user_data)
{
  Job *job = job_new (run_delete_chat, TRUE);

  job->id = chat_id;
  start (self, job, NULL, callback, user_data);
}

void
kvasir_store_delete_message_async (KvasirStore *self,
                                   guint64 message_id,
                                   GAsyncReadyCallback callback,
                                   gpointer user_data)
{
  Job *job = job_new (run_delete_message, TRUE);

  job->id = message_id;
  start (self, job, NULL, callback, user_data);
}

gboolean
kvasir_store_write_finish (KvasirStore *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}

void
kvasir_store_list_chats_async (KvasirStore *self, GAsyncReadyCallback callback, gpointer user_data)
{
  start (self, job_new (run_list_chats, FALSE), NULL, callback, user_data);
}

void
kvasir_store_list_messages_async (KvasirStore *self,
                                  guint64 chat_id,
                                  GAsyncReadyCallback callback,
                                  gpointer user_data)
{
  Job *job = job_new (run_list_messages, FALSE);

  job->id = chat_id;
  start (self, job, NULL, callback, user_data);
}

void
kvasir_store_search_async (KvasirStore *self,
                           const char *text,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer user_data)
{
  Job *job = job_new (run_search, FALSE);

  job->text = g_strdup (text);
  start (self, job, cancellable, callback, user_data);
}

GPtrArray *
kvasir_store_read_finish (KvasirStore *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

void
kvasir_store_close (KvasirStore *self)
{
  g_return_if_fail (KVASIR_IS_STORE (self));
  if (!self->running)
    return;
  pthread_mutex_lock (&self->mu);
  self->ended = TRUE;
  pthread_cond_broadcast (&self->changed);
  pthread_mutex_unlock (&self->mu);
  pthread_join (self->thread, NULL);
  self->running = FALSE;
  g_clear_handle_id (&self->idle_id, g_source_remove);
}

static void
kvasir_store_dispose (GObject *object)
{
  kvasir_store_close (KVASIR_STORE (object));
  G_OBJECT_CLASS (kvasir_store_parent_class)->dispose (object);
}

static void
kvasir_store_finalize (GObject *object)
{
  KvasirStore *self = KVASIR_STORE (object);

  pthread_mutex_destroy (&self->mu);
  pthread_cond_destroy (&self->changed);
  g_free (self->trouble);
  g_free (self->path);
  G_OBJECT_CLASS (kvasir_store_parent_class)->finalize (object);
}

static void
kvasir_store_class_init (KvasirStoreClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = kvasir_store_dispose;
  object_class->finalize = kvasir_store_finalize;

  signals[TROUBLE] = g_signal_new ("trouble", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
kvasir_store_init (KvasirStore *self)
{
  pthread_mutex_init (&self->mu, NULL);
  pthread_cond_init (&self->changed, NULL);
  g_queue_init (&self->jobs);
}

KvasirStore *
kvasir_store_new (const char *path)
{
  KvasirStore *self = g_object_new (KVASIR_TYPE_STORE, NULL);

  self->path = g_strdup (path);
  self->running = pthread_create (&self->thread, NULL, store_main, self) == 0;
  g_assert (self->running);
  return self;
}
