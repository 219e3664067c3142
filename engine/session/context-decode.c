/* The decode loop: updates, prepare, then apply, fill and compute part by part. On "no room" the
 * memory itself has tried a second, looser search, so that nothing is left to try here. */
#include <string.h>

#include "engine/error.h"
#include "engine/session/context-private.h"

static void
emit (KvasirContext *self, const KvasirEvent *event)
{
  if (self->sink.emit != NULL)
    self->sink.emit (self->sink.user_data, event, NULL, 0);
}

static gboolean
is_aborted (const KvasirContext *self)
{
  return self->abort_flag != NULL && __atomic_load_n (self->abort_flag, __ATOMIC_RELAXED) != 0;
}

/* Turns a status of the backend into a code and a message. */
static KvasirDecode
fail (KvasirContext *self, KvasirStatus status, const char *what, GError **error)
{
  const char *device = self->model->device->name;

  if (status == KVASIR_STATUS_ABORTED)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED, "%s was stopped", what);
      return KVASIR_DECODE_ABORTED;
    }
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_COMPUTE, "%s on %s: %s", what,
               device, kvasir_status_get_text (status));
  return status == KVASIR_STATUS_NO_MEMORY ? KVASIR_DECODE_NO_MEMORY : KVASIR_DECODE_FAILED;
}

/* ---- one part */

/* The cells' positions, then the tokens'. */
static void
fill_distances (KvasirContext *self, const KvasirUbatch *ubatch, guint cache)
{
  KvasirTensor *distances = self->step.caches[cache].distances;
  gint32 *values;

  if (distances == NULL)
    return;
  values = distances->data;
  kvasir_memory_fill_cell_pos (self->memory, cache, values);
  memcpy (values + distances->ne[0] - self->params.n_ubatch, ubatch->pos,
          ubatch->n_tokens * sizeof (gint32));
}

static void
fill_inputs (KvasirContext *self, const KvasirUbatch *ubatch)
{
  KvasirModelBuild *in = &self->step;
  const guint n_planes = self->model->hparams.n_pos_per_token;

  memcpy (in->tokens->data, ubatch->tokens, ubatch->n_tokens * sizeof (gint32));
  memcpy (in->positions->data, ubatch->pos, (gsize) n_planes * ubatch->n_tokens * sizeof (gint32));
  for (guint c = 0; c < self->n_attention; c++)
    {
      kvasir_memory_fill_slots (self->memory, c, in->caches[c].slots->data);
      self->mask_stamps[c] = kvasir_memory_refresh_mask (
          self->memory, c, in->caches[c].mask->data, kvasir_memory_get_size (self->memory, c) / 64,
          self->mask_stamps[c]);
      fill_distances (self, ubatch, c);
    }
  if (in->state_rows != NULL)
    kvasir_memory_fill_state_rows (self->memory, in->state_rows->data);
}

static KvasirStep
make_step (const KvasirContext *self, const KvasirUbatch *ubatch)
{
  guint first_stream = 0, n_streams = 1;
  KvasirStep step = { .n_tokens = (gint32) ubatch->n_tokens,
                      .n_outputs = 1,
                      .n_seqs = (gint32) ubatch->n_seqs,
                      .abort_flag = self->abort_flag };

  kvasir_memory_get_streams (self->memory, &first_stream, &n_streams);
  step.first_stream = (gint32) first_stream;
  step.n_streams = (gint32) n_streams;
  for (guint c = 0; c < self->n_attention; c++)
    step.n_kv[c] = (gint32) kvasir_memory_get_n_kv (self->memory, c);
  return step;
}

/* The head over the next group of output rows, starting the search at token @*token; their results
 * follow those that are stored. */
static KvasirStatus
compute_outputs (KvasirContext *self, const KvasirUbatch *ubatch, guint *token, KvasirStep *step)
{
  const guint n = kvasir_context_choose_rows (self, ubatch, token, self->step.out_ids->data);
  KvasirStatus status;

  if (n == 0)
    return KVASIR_STATUS_OK;
  step->n_outputs = (gint32) n;
  status = kvasir_graph_plan_compute_head (self->step_plan, step);
  if (status == KVASIR_STATUS_OK)
    kvasir_context_take_rows (self, n);
  return status;
}

static KvasirStatus
compute_ubatch (KvasirContext *self, const KvasirUbatch *ubatch)
{
  KvasirStep step = make_step (self, ubatch);
  KvasirStatus status;

  fill_inputs (self, ubatch);
  status = kvasir_graph_plan_compute_body (self->step_plan, &step);
  for (guint token = 0; status == KVASIR_STATUS_OK && token < ubatch->n_tokens;)
    status = compute_outputs (self, ubatch, &token, &step);
  if (status == KVASIR_STATUS_OK)
    kvasir_context_pool_rows (self, ubatch);
  return status;
}

/* The part that was applied last, or the code that takes it back. */
static KvasirDecode
run_ubatch (KvasirContext *self, const KvasirUbatch *ubatch, GError **error)
{
  KvasirStatus status;
  const guint n_outputs = self->n_outputs;

  status = compute_ubatch (self, ubatch);
  if (status == KVASIR_STATUS_OK && kvasir_model_is_intact (self->model))
    return KVASIR_DECODE_OK;
  kvasir_context_drop_rows (self, ubatch, n_outputs);
  /* Last, since it takes the ubatch away. */
  kvasir_memory_rollback (self->memory);
  if (status != KVASIR_STATUS_OK)
    return fail (self, status, "computing", error);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
               "%s was cut short while it was in use; load the model again",
               self->model->info.path);
  return KVASIR_DECODE_FAILED;
}

/* ---- a whole call */

static KvasirDecode
run_ubatches (KvasirContext *self, GError **error)
{
  const KvasirUbatch *ubatch;
  KvasirDecode code = KVASIR_DECODE_OK;
  guint n_done = 0;

  while (code == KVASIR_DECODE_OK)
    {
      /* Asked before the part is applied, so that a stop costs no work that is taken back. */
      if (n_done < self->n_batch_tokens && is_aborted (self))
        return fail (self, KVASIR_STATUS_ABORTED, "computing", error);
      if (!kvasir_memory_apply_next (self->memory, &ubatch))
        break;
      code = run_ubatch (self, ubatch, error);
      if (code != KVASIR_DECODE_OK)
        break;
      n_done += ubatch->n_tokens;
      if (self->ubatch_done != NULL)
        self->ubatch_done (ubatch, n_done, self->ubatch_done_data);
    }
  return code;
}

/* @seq: the first one of the batch: of several streams its own counts. */
static KvasirDecode
set_no_room (KvasirContext *self, KvasirPrepare prepared, gint seq, GError **error)
{
  const guint n = self->n_batch_tokens;
  KvasirRoom room;

  if (prepared == KVASIR_PREPARE_UNSUPPORTED)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
                   "this memory cannot split a batch of %u tokens of these sequences", n);
      return KVASIR_DECODE_NO_ROOM;
    }
  if (prepared == KVASIR_PREPARE_INCOMPLETE)
    {
      g_set_error (
          error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
          "a sliding window no longer holds what the next token looks for: sequence %d must "
          "be read again from position %d",
          seq,
          kvasir_memory_get_rewind (self->memory, seq,
                                    kvasir_memory_seq_pos_max (self->memory, seq) + 1));
      return KVASIR_DECODE_NO_ROOM;
    }
  room = kvasir_memory_get_room (self->memory, seq, n);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
               "%u tokens need as many cells, %u of %u are free", n, room.n_free, self->n_ctx_seq);
  return KVASIR_DECODE_NO_ROOM;
}

static KvasirDecode
decode_plan (KvasirContext *self, guint n_outputs, gint seq, GError **error)
{
  KvasirPrepare prepared;
  KvasirStatus status;

  self->n_batch_tokens = kvasir_batch_plan_get_n_tokens (self->batch_plan);
  if (self->n_pool_rows > 0)
    n_outputs = self->n_batch_tokens;
  if (!kvasir_context_reserve_rows (self, n_outputs, error))
    return KVASIR_DECODE_NO_MEMORY;
  kvasir_context_begin_rows (self);
  status = kvasir_context_apply_updates (self);
  if (status != KVASIR_STATUS_OK)
    return fail (self, status, "turning the keys of moved cells", error);
  prepared = kvasir_memory_init_batch (self->memory, self->batch_plan);
  if (prepared != KVASIR_PREPARE_OK)
    return set_no_room (self, prepared, seq, error);
  return run_ubatches (self, error);
}

KvasirDecode
kvasir_context_decode (KvasirContext *self, const KvasirBatch *batch, GError **error)
{
  KvasirEvent event = { .type = KVASIR_EVENT_STEP_BEGIN };
  gint64 start = g_get_monotonic_time ();
  KvasirDecode code = KVASIR_DECODE_BAD_BATCH;
  gboolean is_right;

  g_return_val_if_fail (self != NULL && batch != NULL, KVASIR_DECODE_BAD_BATCH);
  g_return_val_if_fail (!self->params.no_alloc, KVASIR_DECODE_BAD_BATCH);
  self->step_number++;
  self->n_batch_tokens = 0;
  kvasir_context_begin_rows (self);
  kvasir_memory_set_step (self->memory, self->step_number);
  is_right = kvasir_batch_plan_init (self->batch_plan, batch, self->memory, error);
  event.step = self->step_number;
  event.n = (gint32) batch->n_tokens;
  event.a = is_right ? kvasir_batch_plan_get_n_outputs (self->batch_plan) : 0;
  emit (self, &event);
  if (is_right)
    code = decode_plan (self, (guint) event.a, batch->seqs != NULL ? batch->seqs[0][0] : 0, error);
  event.type = KVASIR_EVENT_STEP_END;
  event.a = code;
  event.b = g_get_monotonic_time () - start;
  emit (self, &event);
  return code;
}
