/* Carrying commands out on the engine thread. */
#include "engine/error.h"
#include "engine/session/worker-private.h"

KvasirNotice *
kvasir_worker_new_notice (KvasirNoticeKind kind, guint64 id)
{
  KvasirNotice *notice = g_new0 (KvasirNotice, 1);
  notice->kind = kind;
  notice->request_id = id;
  notice->seq = -1;
  return notice;
}

/* (transfer full) error */
void
kvasir_worker_post_failed (KvasirWorker *self, const KvasirCommand *command, GError *error)
{
  KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_FAILED, command->id);
  notice->chat_id = command->chat_id;
  if (command->request != NULL)
    {
      notice->chat_id = command->request->chat_id;
      notice->message_id = command->request->answer_id;
    }
  notice->error = error;
  kvasir_mailbox_post (self->mailbox, notice);
}

void
kvasir_worker_step (KvasirWorker *self)
{
  if (!kvasir_session_step (self->session))
    kvasir_worker_leave (self);
}

void
kvasir_worker_drop_model (KvasirWorker *self)
{
  g_clear_pointer (&self->session, kvasir_session_free);
  g_clear_pointer (&self->planned, g_array_unref);
  self->model_id = 0;
  self->step = 0;
  self->changed_since = TRUE;
}

static void
unload (KvasirWorker *self, const KvasirCommand *command)
{
  kvasir_worker_drop_model (self);
  kvasir_mailbox_post (self->mailbox,
                       kvasir_worker_new_notice (KVASIR_NOTICE_UNLOADED, command->id));
}

/* ---- requests and the rest */

static gboolean
is_forgotten (KvasirWorker *self, const KvasirCommand *command)
{
  pthread_mutex_lock (&self->mu);
  gboolean forgotten = command->id <= self->stop_id;
  pthread_mutex_unlock (&self->mu);
  return forgotten;
}

static void
send (KvasirWorker *self, KvasirCommand *command)
{
  if (is_forgotten (self, command))
    {
      KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_DONE, command->id);
      notice->chat_id = command->request->chat_id;
      notice->message_id = command->request->answer_id;
      notice->reason = KVASIR_DONE_STOPPED;
      kvasir_mailbox_post (self->mailbox, notice);
      return;
    }
  kvasir_worker_enter (self, command->id);
  if (!kvasir_session_start (self->session, command->id, g_steal_pointer (&command->request)))
    kvasir_worker_leave (self);
}

static void
drop_chat (KvasirWorker *self, const KvasirCommand *command)
{
  kvasir_session_drop_chat (self->session, command->chat_id);
  if (kvasir_session_get_request (self->session) == 0)
    kvasir_worker_leave (self);
}

static void
change_state (KvasirWorker *self, const KvasirCommand *command)
{
  GError *error = NULL;
  gboolean ok = FALSE;
  if (command->kind == KVASIR_COMMAND_SEQ_OP)
    ok = kvasir_session_seq_op (self->session, &command->op, &error);
  else if (command->kind == KVASIR_COMMAND_SAVE_STATE)
    ok = kvasir_session_save (self->session, command->chat_id, command->path, &error);
  else
    ok = kvasir_session_load (self->session, command->chat_id, command->path, &error);
  if (!ok)
    {
      kvasir_worker_post_failed (self, command, error);
      return;
    }
  if (command->kind == KVASIR_COMMAND_SEQ_OP)
    return;
  KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_SAVED, command->id);
  notice->chat_id = command->chat_id;
  kvasir_mailbox_post (self->mailbox, notice);
}

/* What needs a model. */
static void
carry_out_with_model (KvasirWorker *self, KvasirCommand *command)
{
  switch (command->kind)
    {
    case KVASIR_COMMAND_SEND:
      send (self, command);
      break;
    case KVASIR_COMMAND_COUNT:
      kvasir_session_count (self->session, command->id, command->request);
      break;
    case KVASIR_COMMAND_DROP_CHAT:
      drop_chat (self, command);
      break;
    case KVASIR_COMMAND_CLEAR:
      kvasir_session_clear (self->session);
      break;
    default:
      change_state (self, command);
      break;
    }
}

/* Nothing to drop or to clear is no failure. */
static gboolean
fails_without_model (const KvasirCommand *command)
{
  return command->kind != KVASIR_COMMAND_DROP_CHAT && command->kind != KVASIR_COMMAND_CLEAR;
}

gboolean
kvasir_worker_is_cheap (const KvasirCommand *command)
{
  return command->kind == KVASIR_COMMAND_COUNT || command->kind == KVASIR_COMMAND_DROP_CHAT ||
         command->kind == KVASIR_COMMAND_SUBSCRIBE;
}

void
kvasir_worker_carry_out (KvasirWorker *self, KvasirCommand *command)
{
  switch (command->kind)
    {
    case KVASIR_COMMAND_LOAD:
      kvasir_worker_load_model (self, command);
      break;
    case KVASIR_COMMAND_SET_GUESSES:
      kvasir_worker_take_guesses (self, command);
      break;
    case KVASIR_COMMAND_UNLOAD:
      unload (self, command);
      break;
    case KVASIR_COMMAND_MEASURE:
      kvasir_worker_measure_model (self, command);
      break;
    case KVASIR_COMMAND_SUBSCRIBE:
      kvasir_worker_set_views (self, command->views);
      break;
    default:
      if (self->session != NULL)
        carry_out_with_model (self, command);
      else if (fails_without_model (command))
        kvasir_worker_post_failed (self, command,
                                   g_error_new (KVASIR_ENGINE_ERROR,
                                                KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                                                "No model is loaded"));
      break;
    }
}
