/* What needs a file of a model: loading it, and one that guesses for it, or measuring. */
#include "engine/error.h"
#include "engine/session/worker-private.h"

#define LOADING_NOTICE_STEP 0.01

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

static gboolean
progress_cb (double fraction, gpointer user_data)
{
  KvasirWorker *self = user_data;
  if (fraction - self->told_fraction >= LOADING_NOTICE_STEP)
    {
      KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_LOADING, self->model_id);
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

/* Measured on the model itself, before its pages are waited for. @planned: (out) (transfer full)
 * (nullable) */
static gboolean
measure_fit (KvasirModel *model,
             const char *path,
             const KvasirContextParams *params,
             GArray **planned,
             GError **error)
{
  KvasirFit fit = { 0 };
  if (!kvasir_fit_measure_model (model, params, &fit, error))
    return FALSE;
  if (planned != NULL)
    *planned = g_array_ref (fit.rows);
  gboolean fits = check_fit (&fit, path, error);
  kvasir_fit_clear (&fit);
  return fits;
}

static KvasirContext *
open_context (KvasirWorker *self,
              const char *path,
              const KvasirContextParams *context_params,
              GArray **planned,
              GError **error)
{
  const KvasirModelParams params = { .device = self->device, .weights_later = TRUE };
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, error);
  if (model == NULL || !measure_fit (model, path, context_params, planned, error) ||
      !kvasir_model_load_weights (model, progress_cb, self, error))
    return NULL;
  g_autoptr (KvasirContext) context = kvasir_context_new (model, context_params, error);
  if (context == NULL)
    return NULL;
  if (kvasir_memory_get_class (kvasir_context_get_memory (context)) == KVASIR_MEMORY_NONE)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                   "%s: models of architecture %s don't write text", path,
                   kvasir_model_get_info (model)->arch);
      return NULL;
    }
  return g_steal_pointer (&context);
}

/* ---- guessing */

/* States that a wrong guess goes back to; only as many as can be of use, since each takes room. */
static guint
get_n_states (const KvasirWorker *self, const KvasirContextParams *params)
{
  const guint n_most = MIN (params->n_ubatch, params->n_batch);
  guint n = MIN (self->guesses.width, (guint) MAX (self->device->n_alike, 1) - 1);

  if (self->guesses.kind == KVASIR_GUESS_OFF || n_most < 3)
    return params->n_rs_seq;
  return MAX (params->n_rs_seq, MIN (n, n_most - 2));
}

/* One sequence, as long as one of the model that writes may be. */
static KvasirContext *
open_guessing (KvasirWorker *self, GError **error)
{
  KvasirContext *writing = kvasir_session_get_context (self->session);
  KvasirContextParams params = *kvasir_context_get_params (writing);

  params.n_ctx = kvasir_context_get_n_ctx_seq (writing);
  params.n_seq_max = 1;
  params.n_rs_seq = 0;
  params.n_rs_seq = get_n_states (self, &params);
  /* Its progress is not that of the model. */
  self->told_fraction = G_MAXDOUBLE;
  return open_context (self, self->guess_path, &params, NULL, error);
}

/* Tells what came of it under the number @id. */
static void
set_guesses (KvasirWorker *self, guint64 id)
{
  const KvasirGuessParams off = { .kind = KVASIR_GUESS_OFF };
  KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_GUESSES, id);
  KvasirContext *context = NULL;

  /* Two second models need not be there at once, nor the last one where the new one fails. */
  kvasir_session_set_guesses (self->session, &off, NULL, NULL);
  if (self->guesses.kind == KVASIR_GUESS_MODEL)
    {
      kvasir_worker_enter (self, id);
      context = open_guessing (self, &notice->error);
      kvasir_worker_leave (self);
    }
  if (context != NULL)
    notice->model = kvasir_model_ref (kvasir_context_get_model (context));
  if (context != NULL || self->guesses.kind != KVASIR_GUESS_MODEL)
    kvasir_session_set_guesses (self->session, &self->guesses, context, &notice->error);
  notice->n_total = kvasir_session_get_guess_width (self->session);
  kvasir_mailbox_post (self->mailbox, notice);
}

void
kvasir_worker_take_guesses (KvasirWorker *self, KvasirCommand *command)
{
  g_free (self->guess_path);
  self->guess_path = g_steal_pointer (&command->path);
  self->guesses = command->guesses;
  self->guesses.path = self->guess_path;
  if (self->session != NULL)
    set_guesses (self, command->id);
}

/* ---- the model */

void
kvasir_worker_load_model (KvasirWorker *self, KvasirCommand *command)
{
  GError *error = NULL;
  kvasir_worker_drop_model (self);
  self->model_id = command->id;
  self->told_fraction = -1.0;
  command->params.n_rs_seq = get_n_states (self, &command->params);
  kvasir_worker_enter (self, command->id);
  KvasirContext *context = NULL;
  if (progress_cb (0.0, self))
    context = open_context (self, command->path, &command->params, &self->planned, &error);
  else
    error = g_error_new (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED,
                         "%s: loading was cancelled", command->path);
  kvasir_worker_leave (self);
  if (context == NULL)
    {
      kvasir_worker_drop_model (self);
      kvasir_worker_post_failed (self, command, error);
      return;
    }

  KvasirSessionHooks hooks = { post_cb, kvasir_worker_emit, ubatch_done_cb, self };
  KvasirEventSink sink = { kvasir_worker_emit, self };
  KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_LOADED, command->id);
  notice->model = kvasir_model_ref (kvasir_context_get_model (context));
  kvasir_context_set_sink (context, &sink);
  self->session = kvasir_session_new (context, &self->abort_flag, &hooks);
  kvasir_worker_set_views (self, self->views);
  kvasir_mailbox_post (self->mailbox, notice);
  if (self->guesses.kind != KVASIR_GUESS_OFF)
    set_guesses (self, command->id);
}

void
kvasir_worker_measure_model (KvasirWorker *self, const KvasirCommand *command)
{
  GError *error = NULL;
  KvasirModel *model = NULL;
  KvasirFit *fit = g_new0 (KvasirFit, 1);
  if (!kvasir_fit_measure (self->device, command->path, &command->params, fit, &model, &error))
    {
      g_free (fit);
      kvasir_worker_post_failed (self, command, error);
      return;
    }
  KvasirNotice *notice = kvasir_worker_new_notice (KVASIR_NOTICE_FIT, command->id);
  notice->fit = fit;
  notice->model = model;
  notice->fits = fit->fits;
  kvasir_mailbox_post (self->mailbox, notice);
}
