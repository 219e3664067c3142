/* The decode loop: updates, prepare, then apply, fill and compute part by part. */
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

/* ---- pending shifts */

/* Returns: whether any key has to be turned; positions may have come back to where they were. */
static gboolean
fill_shifts (KvasirContext *self)
{
  gboolean any = FALSE;

  for (guint c = 0; c < kvasir_memory_get_n_caches (self->memory); c++)
    {
      gint32 *shifts = self->shifts[c]->data;
      guint size = kvasir_memory_get_size (self->memory, c);
      kvasir_memory_fill_shifts (self->memory, c, shifts);
      for (guint i = 0; i < size; i++)
        any |= shifts[i] != 0;
    }
  return any;
}

/* Not stopped half-way: keys of some layers would be turned and those of others not. */
static KvasirStatus
apply_updates (KvasirContext *self)
{
  KvasirStatus status = KVASIR_STATUS_OK;
  gint64 start = g_get_monotonic_time ();

  if (!kvasir_memory_has_update (self->memory))
    return KVASIR_STATUS_OK;
  if (fill_shifts (self))
    {
      const KvasirStep step = { .n_tokens = 1,
                                .n_outputs = 1,
                                .n_kv = { (gint32) kvasir_memory_get_size (self->memory, 0) } };
      status = kvasir_graph_plan_compute_body (self->shift_plan, &step);
    }
  if (status != KVASIR_STATUS_OK)
    return status;
  kvasir_memory_update_done (self->memory, g_get_monotonic_time () - start);
  return KVASIR_STATUS_OK;
}

gboolean
kvasir_context_update (KvasirContext *self)
{
  gboolean pending;

  g_return_val_if_fail (self != NULL && !self->params.no_alloc, FALSE);
  pending = kvasir_memory_has_update (self->memory);
  (void) apply_updates (self);
  return pending;
}

/* ---- one part */

static void
fill_inputs (KvasirContext *self, const KvasirUbatch *ubatch)
{
  KvasirModelBuild *in = &self->step;

  memcpy (in->tokens->data, ubatch->tokens, ubatch->n_tokens * sizeof (gint32));
  memcpy (in->positions->data, ubatch->pos, ubatch->n_tokens * sizeof (gint32));
  for (guint c = 0; c < kvasir_memory_get_n_caches (self->memory); c++)
    {
      kvasir_memory_fill_slots (self->memory, c, in->caches[c].slots->data);
      kvasir_memory_fill_mask (self->memory, c, in->caches[c].mask->data,
                               kvasir_memory_get_size (self->memory, c) / 64);
    }
}

/* The head over the next group of output rows, starting the search at token @*token; their logits
 * follow those that are stored. */
static KvasirStatus
compute_outputs (KvasirContext *self, const KvasirUbatch *ubatch, guint *token, KvasirStep *step)
{
  gint32 *ids = self->step.out_ids->data;
  const gsize row_bytes = self->model->hparams.n_vocab * sizeof (float);
  KvasirStatus status;
  guint i, n = 0;

  for (i = *token; i < ubatch->n_tokens && n < KVASIR_HEAD_ROWS; i++)
    if (ubatch->outputs[i])
      {
        self->row_of_token[ubatch->index[i]] = (gint32) (self->n_outputs + n);
        ids[n++] = (gint32) i;
      }
  *token = i;
  if (n == 0)
    return KVASIR_STATUS_OK;
  step->n_outputs = (gint32) n;
  status = kvasir_graph_plan_compute_head (self->step_plan, step);
  if (status != KVASIR_STATUS_OK)
    return status;
  kvasir_graph_plan_read (self->step_plan, self->step.logits,
                          (char *) self->output->base + self->n_outputs * row_bytes, n * row_bytes);
  self->n_outputs += n;
  return KVASIR_STATUS_OK;
}

static KvasirStatus
compute_ubatch (KvasirContext *self, const KvasirUbatch *ubatch)
{
  KvasirStep step = { .n_tokens = (gint32) ubatch->n_tokens,
                      .n_outputs = 1,
                      .n_kv = { (gint32) kvasir_memory_get_n_kv (self->memory, 0) },
                      .abort_flag = self->abort_flag };
  KvasirStatus status;

  fill_inputs (self, ubatch);
  status = kvasir_graph_plan_compute_body (self->step_plan, &step);
  for (guint token = 0; status == KVASIR_STATUS_OK && token < ubatch->n_tokens;)
    status = compute_outputs (self, ubatch, &token, &step);
  return status;
}

/* The part that was applied last, or the code that takes it back. */
static KvasirDecode
run_ubatch (KvasirContext *self, const KvasirUbatch *ubatch, GError **error)
{
  KvasirStatus status;
  guint n_outputs = self->n_outputs;

  status = compute_ubatch (self, ubatch);
  if (status == KVASIR_STATUS_OK && kvasir_model_is_intact (self->model))
    return KVASIR_DECODE_OK;
  self->n_outputs = n_outputs;
  for (guint i = 0; i < ubatch->n_tokens; i++)
    self->row_of_token[ubatch->index[i]] = -1;
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

static KvasirDecode
set_no_room (KvasirContext *self, KvasirPrepare prepared, GError **error)
{
  KvasirRoom room = kvasir_memory_get_room (self->memory, 0, self->n_batch_tokens);

  if (prepared == KVASIR_PREPARE_UNSUPPORTED)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
                 "this memory cannot split a batch of %u tokens of these sequences",
                 self->n_batch_tokens);
  else
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM,
                 "%u tokens need as many cells, %u of %u are free", self->n_batch_tokens,
                 room.n_free, self->params.n_ctx);
  return KVASIR_DECODE_NO_ROOM;
}

static KvasirDecode
decode_plan (KvasirContext *self, guint n_outputs, GError **error)
{
  KvasirPrepare prepared;
  KvasirStatus status;

  self->n_batch_tokens = kvasir_batch_plan_get_n_tokens (self->batch_plan);
  if (n_outputs > self->n_output_rows && !kvasir_context_reserve_output (self, n_outputs, error))
    return KVASIR_DECODE_NO_MEMORY;
  status = apply_updates (self);
  if (status != KVASIR_STATUS_OK)
    return fail (self, status, "turning the keys of moved cells", error);
  prepared = kvasir_memory_init_batch (self->memory, self->batch_plan);
  if (prepared != KVASIR_PREPARE_OK)
    return set_no_room (self, prepared, error);
  for (guint i = 0; i < self->n_batch_tokens; i++)
    self->row_of_token[i] = -1;
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
  self->n_outputs = self->n_batch_tokens = 0;
  kvasir_memory_set_step (self->memory, self->step_number);
  is_right = kvasir_batch_plan_init (self->batch_plan, batch, self->memory, error);
  event.step = self->step_number;
  event.n = (gint32) batch->n_tokens;
  event.a = is_right ? kvasir_batch_plan_get_n_outputs (self->batch_plan) : 0;
  emit (self, &event);
  if (is_right)
    code = decode_plan (self, (guint) event.a, error);
  event.type = KVASIR_EVENT_STEP_END;
  event.a = code;
  event.b = g_get_monotonic_time () - start;
  emit (self, &event);
  return code;
}
