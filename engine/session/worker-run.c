/* Carrying commands out on the engine thread. */
#include "engine/error.h"
#include "engine/session/worker-private.h"

#define LOADING_NOTICE_STEP 0.01

static KvasirNotice *
new_notice (KvasirNoticeKind kind, guint64 id)
{
  KvasirNotice *notice = g_new0 (KvasirNotice, 1);
  notice->kind = kind;
  notice->request_id = id;
  notice->seq = -1;
  return notice;
}

/* (transfer full) error */
static void
post_failed (KvasirWorker *self, const KvasirCommand *command, GError *error)
{
  KvasirNotice *notice = new_notice (KVASIR_NOTICE_FAILED, command->id);
  notice->chat_id = command->chat_id;
  if (command->request != NULL)
    {
      notice->chat_id = command->request->chat_id;
      notice->message_id = command->request->answer_id;
    }
  notice->error = error;
  kvasir_mailbox_post (self->mailbox, notice);
}

/* ---- the session's side */

static void
post_cb (KvasirNotice *notice, gpointer user_data)
{
  KvasirWorker *self = user_data;
  kvasir_mailbox_post (self->mailbox, notice);
}

static void
ubatch_done_cb (gpointer user_data)
{
  kvasir_worker_show (user_data, FALSE);
}

void
kvasir_worker_step (KvasirWorker *self)
{
  if (!kvasir_session_step (self->session))
    kvasir_worker_leave (self);
}

/* ---- loading */

void
kvasir_worker_drop_model (KvasirWorker *self)
{
  g_clear_pointer (&self->session, kvasir_session_free);
  g_clear_pointer (&self->planned, g_array_unref);
  self->model_id = 0;
  self->step = 0;
  self->changed_since = TRUE;
}

static gboolean
progress_cb (double fraction, gpointer user_data)
{
  KvasirWorker *self = user_data;
  if (fraction - self->told_fraction >= LOADING_NOTICE_STEP)
    {
      KvasirNotice *notice = new_notice (KVASIR_NOTICE_LOADING, self->model_id);
      notice->fraction = fraction;
      self->told_fraction = fraction;
      kvasir_mailbox_post (self->mailbox, notice);
    }
  return g_atomic_int_get (&self->abort_flag) == 0;
}

/* What has to be held beside the mapped weights must be there; weights can be read again. */
static gboolean
check_fit (const KvasirFit *fit, const char *path, GError **error)
{
  guint64 n_bytes = 0;
  for (guint i = 0; i < fit->rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (fit->rows, KvasirMemoryRow, i);
      if (row->kind != KVASIR_KIND_WEIGHTS)
        n_bytes += row->n_bytes;
    }
  if (n_bytes <= fit->free_bytes)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY,
               "%s: cache and buffers for %u cells take %" G_GUINT64_FORMAT
               " bytes, %" G_GUINT64_FORMAT " are free",
               path, fit->params.n_ctx, n_bytes, fit->free_bytes);
  return FALSE;
}

/* Measured on the model itself, before its pages are waited for. */
static gboolean
measure_fit (KvasirWorker *self, KvasirModel *model, const KvasirCommand *command, GError **error)
{
  KvasirFit fit = { 0 };
  if (!kvasir_fit_measure_model (model, &command->params, &fit, error))
    return FALSE;
  self->planned = g_array_ref (fit.rows);
  gboolean fits = check_fit (&fit, command->path, error);
  kvasir_fit_clear (&fit);
  return fits;
}

static KvasirContext *
open_context (KvasirWorker *self, const KvasirCommand *command, GError **error)
{
  const KvasirModelParams params = { .device = self->device, .weights_later = TRUE };
  g_autoptr (KvasirModel) model = kvasir_model_new (command->path, &params, error);
  if (model == NULL || !measure_fit (self, model, command, error) ||
      !kvasir_model_load_weights (model, progress_cb, self, error))
    return NULL;
  g_autoptr (KvasirContext) context = kvasir_context_new (model, &command->params, error);
  if (context == NULL)
    return NULL;
  if (kvasir_memory_get_class (kvasir_context_get_memory (context)) == KVASIR_MEMORY_NONE)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                   "%s: models of architecture %s don't write text", command->path,
                   kvasir_model_get_info (model)->arch);
      return NULL;
    }
  return g_steal_pointer (&context);
}

static void
load (KvasirWorker *self, KvasirCommand *command)
{
  GError *error = NULL;
  kvasir_worker_drop_model (self);
  self->model_id = command->id;
  self->told_fraction = -1.0;
  kvasir_worker_enter (self, command->id);
  KvasirContext *context = NULL;
  if (progress_cb (0.0, self))
    context = open_context (self, command, &error);
  else
    error = g_error_new (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED,
                         "%s: loading was cancelled", command->path);
  kvasir_worker_leave (self);
  if (context == NULL)
    {
      kvasir_worker_drop_model (self);
      post_failed (self, command, error);
      return;
    }

  KvasirSessionHooks hooks = { post_cb, kvasir_worker_emit, ubatch_done_cb, self };
  KvasirEventSink sink = { kvasir_worker_emit, self };
  KvasirNotice *notice = new_notice (KVASIR_NOTICE_LOADED, command->id);
  notice->model = kvasir_model_ref (kvasir_context_get_model (context));
  kvasir_context_set_sink (context, &sink);
  self->session = kvasir_session_new (context, &self->abort_flag, &hooks);
  kvasir_worker_set_views (self, self->views);
  kvasir_mailbox_post (self->mailbox, notice);
}

static void
unload (KvasirWorker *self, const KvasirCommand *command)
{
  kvasir_worker_drop_model (self);
  kvasir_mailbox_post (self->mailbox, new_notice (KVASIR_NOTICE_UNLOADED, command->id));
}

static void
measure (KvasirWorker *self, const KvasirCommand *command)
{
  GError *error = NULL;
  KvasirModel *model = NULL;
  KvasirFit *fit = g_new0 (KvasirFit, 1);
  if (!kvasir_fit_measure (self->device, command->path, &command->params, fit, &model, &error))
    {
      g_free (fit);
      post_failed (self, command, error);
      return;
    }
  KvasirNotice *notice = new_notice (KVASIR_NOTICE_FIT, command->id);
  notice->fit = fit;
  notice->model = model;
  notice->fits = fit->fits;
  kvasir_mailbox_post (self->mailbox, notice);
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
      KvasirNotice *notice = new_notice (KVASIR_NOTICE_DONE, command->id);
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
      post_failed (self, command, error);
      return;
    }
  if (command->kind == KVASIR_COMMAND_SEQ_OP)
    return;
  KvasirNotice *notice = new_notice (KVASIR_NOTICE_SAVED, command->id);
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
      load (self, command);
      break;
    case KVASIR_COMMAND_UNLOAD:
      unload (self, command);
      break;
    case KVASIR_COMMAND_MEASURE:
      measure (self, command);
      break;
    case KVASIR_COMMAND_SUBSCRIBE:
      kvasir_worker_set_views (self, command->views);
      break;
    default:
      if (self->session != NULL)
        carry_out_with_model (self, command);
      else if (fails_without_model (command))
        post_failed (self, command,
                     g_error_new (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                                  "No model is loaded"));
      break;
    }
}
