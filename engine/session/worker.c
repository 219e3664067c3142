#include "engine/session/worker-private.h"

#include "engine/error.h"

/* A few hundred tokens' worth; beyond that the reader has long fallen behind. */
#define EVENT_BYTES (1024 * 1024)

void
kvasir_command_free (KvasirCommand *self)
{
  kvasir_request_free (self->request);
  g_free (self->path);
  g_free (self);
}

static void
command_free (gpointer data)
{
  kvasir_command_free (data);
}

/* ---- the engine thread */

void
kvasir_worker_enter (KvasirWorker *self, guint64 id)
{
  pthread_mutex_lock (&self->mu);
  self->running = TRUE;
  g_atomic_int_set (&self->abort_flag, self->quit || id <= self->stop_id);
  pthread_mutex_unlock (&self->mu);
}

void
kvasir_worker_leave (KvasirWorker *self)
{
  pthread_mutex_lock (&self->mu);
  self->running = FALSE;
  g_atomic_int_set (&self->abort_flag, 0);
  pthread_mutex_unlock (&self->mu);
}

/* The next command that may be carried out now. While a request runs only cheap ones are, and those
 * overtake. */
static KvasirCommand *
take_command (KvasirWorker *self, gboolean busy)
{
  for (GList *l = self->commands.head; l != NULL; l = l->next)
    {
      KvasirCommand *command = l->data;
      if (busy && !kvasir_worker_is_cheap (command))
        continue;
      g_queue_delete_link (&self->commands, l);
      return command;
    }
  return NULL;
}

/* Waits for a command unless there is a request to go on with. FALSE: quit. */
static gboolean
next_command (KvasirWorker *self, gboolean busy, KvasirCommand **command)
{
  pthread_mutex_lock (&self->mu);
  *command = take_command (self, busy);
  while (*command == NULL && !busy && !self->quit)
    {
      pthread_cond_wait (&self->changed, &self->mu);
      *command = take_command (self, busy);
    }
  gboolean quit = self->quit;
  pthread_mutex_unlock (&self->mu);
  return !quit;
}

static gpointer
run_thread (gpointer data)
{
  KvasirWorker *self = data;
  KvasirCommand *command = NULL;
  gboolean busy = FALSE;
  while (next_command (self, busy, &command))
    {
      if (command != NULL)
        kvasir_worker_carry_out (self, command);
      else
        kvasir_worker_step (self);
      g_clear_pointer (&command, kvasir_command_free);
      busy = self->session != NULL && kvasir_session_get_request (self->session) != 0;
      kvasir_worker_show (self, !busy);
    }
  g_clear_pointer (&command, kvasir_command_free);
  kvasir_worker_drop_model (self);
  return NULL;
}

/* ---- the main thread */

KvasirWorker *
kvasir_worker_new (KvasirDevice *device, KvasirWakeup wakeup, gpointer user_data)
{
  g_return_val_if_fail (device != NULL, NULL);
  g_return_val_if_fail (wakeup != NULL, NULL);

  KvasirWorker *self = g_new0 (KvasirWorker, 1);
  self->device = device;
  self->mailbox = kvasir_mailbox_new (EVENT_BYTES, wakeup, user_data);
  g_queue_init (&self->commands);
  pthread_mutex_init (&self->mu, NULL);
  pthread_cond_init (&self->changed, NULL);
  /* Made on first use, without a lock: better before there are two threads. */
  kvasir_engine_error_quark ();
  int result = pthread_create (&self->thread, NULL, run_thread, self);
  g_assert (result == 0);
  return self;
}

void
kvasir_worker_free (KvasirWorker *self)
{
  if (self == NULL)
    return;
  pthread_mutex_lock (&self->mu);
  self->quit = TRUE;
  g_atomic_int_set (&self->abort_flag, 1);
  pthread_cond_signal (&self->changed);
  pthread_mutex_unlock (&self->mu);
  pthread_join (self->thread, NULL);

  g_queue_clear_full (&self->commands, command_free);
  g_free (self->guess_path);
  kvasir_mailbox_free (self->mailbox);
  pthread_cond_destroy (&self->changed);
  pthread_mutex_destroy (&self->mu);
  g_free (self);
}

/* Called with the lock held. Ids rise, so what runs was asked for before. */
static void
stop_up_to (KvasirWorker *self, guint64 id)
{
  self->stop_id = id;
  if (self->running)
    g_atomic_int_set (&self->abort_flag, 1);
}

/* Called with the lock held. A count that has not started is worth nothing once a newer one is
 * there. */
static void
forget_counts (KvasirWorker *self)
{
  GList *next;
  for (GList *l = self->commands.head; l != NULL; l = next)
    {
      KvasirCommand *command = l->data;
      next = l->next;
      if (command->kind != KVASIR_COMMAND_COUNT)
        continue;
      g_queue_delete_link (&self->commands, l);
      kvasir_command_free (command);
    }
}

/* (transfer full) command */
static guint64
push (KvasirWorker *self, KvasirCommand *command)
{
  pthread_mutex_lock (&self->mu);
  guint64 id = command->id = ++self->last_id;
  if (command->kind == KVASIR_COMMAND_COUNT)
    forget_counts (self);
  if (command->kind == KVASIR_COMMAND_LOAD || command->kind == KVASIR_COMMAND_UNLOAD)
    stop_up_to (self, id - 1);
  g_queue_push_tail (&self->commands, command);
  pthread_cond_signal (&self->changed);
  pthread_mutex_unlock (&self->mu);
  return id;
}

static KvasirCommand *
new_command (KvasirCommandKind kind)
{
  KvasirCommand *command = g_new0 (KvasirCommand, 1);
  command->kind = kind;
  return command;
}

static guint64
push_with_path (KvasirWorker *self, KvasirCommandKind kind, guint64 chat_id, const char *path)
{
  KvasirCommand *command = new_command (kind);
  command->chat_id = chat_id;
  command->path = g_strdup (path);
  return push (self, command);
}

static guint64
push_with_params (KvasirWorker *self,
                  KvasirCommandKind kind,
                  const char *path,
                  const KvasirContextParams *params)
{
  KvasirCommand *command = new_command (kind);
  command->path = g_strdup (path);
  command->params = *params;
  return push (self, command);
}

static guint64
push_with_request (KvasirWorker *self, KvasirCommandKind kind, KvasirRequest *request)
{
  KvasirCommand *command = new_command (kind);
  command->request = request;
  return push (self, command);
}

guint64
kvasir_worker_load (KvasirWorker *self, const char *path, const KvasirContextParams *params)
{
  g_return_val_if_fail (self != NULL && path != NULL && params != NULL, 0);
  return push_with_params (self, KVASIR_COMMAND_LOAD, path, params);
}

guint64
kvasir_worker_set_guesses (KvasirWorker *self, const KvasirGuessParams *params)
{
  g_return_val_if_fail (self != NULL && params != NULL, 0);
  g_return_val_if_fail (params->kind != KVASIR_GUESS_MODEL || params->path != NULL, 0);

  KvasirCommand *command = new_command (KVASIR_COMMAND_SET_GUESSES);
  command->path = g_strdup (params->path);
  command->guesses = *params;
  command->guesses.path = NULL;
  return push (self, command);
}

guint64
kvasir_worker_unload (KvasirWorker *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return push (self, new_command (KVASIR_COMMAND_UNLOAD));
}

guint64
kvasir_worker_send (KvasirWorker *self, KvasirRequest *request)
{
  g_return_val_if_fail (self != NULL && request != NULL, 0);
  return push_with_request (self, KVASIR_COMMAND_SEND, request);
}

void
kvasir_worker_stop (KvasirWorker *self)
{
  g_return_if_fail (self != NULL);

  pthread_mutex_lock (&self->mu);
  stop_up_to (self, self->last_id);
  pthread_mutex_unlock (&self->mu);
}

guint64
kvasir_worker_count (KvasirWorker *self, KvasirRequest *request)
{
  g_return_val_if_fail (self != NULL && request != NULL, 0);
  return push_with_request (self, KVASIR_COMMAND_COUNT, request);
}

guint64
kvasir_worker_measure (KvasirWorker *self, const char *path, const KvasirContextParams *params)
{
  g_return_val_if_fail (self != NULL && path != NULL && params != NULL, 0);
  return push_with_params (self, KVASIR_COMMAND_MEASURE, path, params);
}

guint64
kvasir_worker_drop_chat (KvasirWorker *self, guint64 chat_id)
{
  g_return_val_if_fail (self != NULL && chat_id != 0, 0);
  return push_with_path (self, KVASIR_COMMAND_DROP_CHAT, chat_id, NULL);
}

guint64
kvasir_worker_clear (KvasirWorker *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return push (self, new_command (KVASIR_COMMAND_CLEAR));
}

void
kvasir_worker_subscribe (KvasirWorker *self, KvasirViews views)
{
  g_return_if_fail (self != NULL);

  KvasirCommand *command = new_command (KVASIR_COMMAND_SUBSCRIBE);
  command->views = views;
  push (self, command);
}

void
kvasir_worker_make_way (KvasirWorker *self, gboolean wanted)
{
  if (self->device->vtable->lend_threads != NULL)
    self->device->vtable->lend_threads (self->device, wanted ? 1 : 0);
}

guint64
kvasir_worker_seq_op (KvasirWorker *self, const KvasirSeqOp *op)
{
  g_return_val_if_fail (self != NULL && op != NULL, 0);

  KvasirCommand *command = new_command (KVASIR_COMMAND_SEQ_OP);
  command->op = *op;
  return push (self, command);
}

guint64
kvasir_worker_save_state (KvasirWorker *self, guint64 chat_id, const char *path)
{
  g_return_val_if_fail (self != NULL && path != NULL, 0);
  return push_with_path (self, KVASIR_COMMAND_SAVE_STATE, chat_id, path);
}

guint64
kvasir_worker_load_state (KvasirWorker *self, guint64 chat_id, const char *path)
{
  g_return_val_if_fail (self != NULL && path != NULL, 0);
  return push_with_path (self, KVASIR_COMMAND_LOAD_STATE, chat_id, path);
}

void
kvasir_worker_drain (KvasirWorker *self, KvasirMail *mail)
{
  g_return_if_fail (self != NULL && mail != NULL);
  kvasir_mailbox_drain (self->mailbox, mail);
}
