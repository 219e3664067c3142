#include "engine/session/context-private.h"

#include "engine/error.h"
#include "engine/memory/memory-params.h"

#define CELL_PADDING 256

void
kvasir_context_params_init (KvasirContextParams *params)
{
  *params = (KvasirContextParams){
    .n_ctx = 4096,
    .n_seq_max = 16,
    .n_batch = 2048,
    .n_ubatch = 512,
    .type_k = KVASIR_TYPE_F16,
    .type_v = KVASIR_TYPE_F16,
    .kv_unified = TRUE,
    .flash_attn = TRUE,
    .offload_kqv = TRUE,
  };
}

static gboolean
set_argument_error (GError **error, const char *name, guint64 max, guint64 found)
{
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "%s: 1 to %" G_GUINT64_FORMAT " expected, %" G_GUINT64_FORMAT " found", name, max,
               found);
  return FALSE;
}

static gboolean
set_unsupported (GError **error, const char *text)
{
  g_set_error_literal (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED, text);
  return FALSE;
}

static gboolean
check_supported (const KvasirContextParams *params, GError **error)
{
  gboolean is_quantised = kvasir_type_get_block_len (params->type_k) > 1 ||
                          kvasir_type_get_block_len (params->type_v) > 1;

  if (!params->kv_unified)
    return set_unsupported (error, "kv_unified: one stream for all sequences (true) supported, "
                                   "one stream for each (false) found");
  if (!params->flash_attn)
    return set_unsupported (error, "flash_attn: true supported, false (values stored transposed) "
                                   "found");
  if (params->kv_rotate && is_quantised)
    return set_unsupported (error, "kv_rotate: false supported for quantised K and V, true found");
  return TRUE;
}

/* Pads and clamps by the rules of scenario files. */
static gboolean
settle_params (KvasirContextParams *params, const KvasirModelInfo *info, GError **error)
{
  const guint max_ctx = G_MAXINT32 / CELL_PADDING * CELL_PADDING;

  if (params->n_ctx == 0)
    params->n_ctx = info->n_ctx_train;
  if (params->n_ctx > max_ctx)
    return set_argument_error (error, "n_ctx", max_ctx, params->n_ctx);
  if (params->n_seq_max < 1 || params->n_seq_max > KVASIR_MAX_SEQS)
    return set_argument_error (error, "n_seq_max", KVASIR_MAX_SEQS, params->n_seq_max);
  if (params->n_batch < 1 || params->n_batch > max_ctx)
    return set_argument_error (error, "n_batch", max_ctx, params->n_batch);
  if (params->n_ubatch < 1 || params->n_ubatch > max_ctx)
    return set_argument_error (error, "n_ubatch", max_ctx, params->n_ubatch);
  params->n_ctx = (params->n_ctx + CELL_PADDING - 1) / CELL_PADDING * CELL_PADDING;
  params->n_batch = MIN (params->n_batch, params->n_ctx);
  params->n_ubatch = MIN (params->n_ubatch, params->n_batch);
  return TRUE;
}

/* States are only portable between equal rope settings: FNV-1a over everything that turns keys. */
static guint32
hash_rope (const KvasirContext *self)
{
  const KvasirRopeParams *rope = &self->model->hparams.rope;
  const guint8 *bytes = (const guint8 *) rope;
  guint32 hash = 2166136261u;

  for (gsize i = 0; i < sizeof *rope; i++)
    hash = (hash ^ bytes[i]) * 16777619u;
  return (hash ^ (guint32) (self->step.long_context ? 1 : 0)) * 16777619u;
}

static gboolean
make_memory (KvasirContext *self, GError **error)
{
  const KvasirHparams *hp = &self->model->hparams;
  g_autofree KvasirMemoryLayer *layers = g_new0 (KvasirMemoryLayer, hp->n_layers);
  const KvasirMemoryParams params = {
    .klass = hp->memory_class,
    .kv_size = self->params.n_ctx,
    .n_streams = 1,
    .unified = self->params.kv_unified,
    .n_seq_max = self->params.n_seq_max,
    .n_ubatch = self->params.n_ubatch,
    .type_k = self->params.type_k,
    .type_v = self->params.type_v,
    .v_transposed = !self->params.flash_attn,
    .swa_full = self->params.swa_full,
    .window = hp->window,
    .n_swa = hp->n_swa,
    .is_causal = hp->is_causal,
    .n_pos_per_token = hp->n_pos_per_token,
    .n_rs_seq = hp->can_keep_states ? self->params.n_rs_seq : 0,
    .n_layers = hp->n_layers,
    .layers = layers,
    .no_alloc = self->params.no_alloc,
    .arch = self->model->info.arch,
    .rope_hash = hash_rope (self),
    .n_ctx_seq = self->params.n_ctx,
  };

  kvasir_model_fill_memory_layers (self->model, layers);
  self->memory = kvasir_memory_new (&params, error);
  return self->memory != NULL;
}

static void
make_batch_plan (KvasirContext *self)
{
  const KvasirBatchLimits limits = {
    .n_batch = self->params.n_batch,
    .n_ubatch = self->params.n_ubatch,
    .n_seq_max = self->params.n_seq_max,
    .n_vocab = self->model->hparams.n_vocab,
    .n_pos_per_token = 1,
  };

  self->batch_plan = kvasir_batch_plan_new (&limits);
  self->row_of_token = g_new (gint32, limits.n_batch);
}

KvasirContext *
kvasir_context_new (KvasirModel *model, const KvasirContextParams *params, GError **error)
{
  g_autoptr (KvasirContext) self = NULL;
  KvasirDevice *device;

  g_return_val_if_fail (model != NULL && params != NULL, NULL);
  g_return_val_if_fail (model->arch != NULL, NULL);
  self = g_new0 (KvasirContext, 1);
  self->model = kvasir_model_ref (model);
  self->params = *params;
  device = model->device;
  if (!settle_params (&self->params, &model->info, error) ||
      !check_supported (&self->params, error))
    return NULL;
  self->step.long_context = self->params.n_ctx > (guint) model->hparams.rope.n_ctx_orig;
  if (self->params.n_threads > 0 && !self->params.no_alloc)
    device->vtable->set_n_threads (device, (int) self->params.n_threads,
                                   (int) self->params.n_threads);
  if (!make_memory (self, error))
    return NULL;
  make_batch_plan (self);
  if (!kvasir_context_reserve (self, error) ||
      !kvasir_context_reserve_output (self, MIN (self->params.n_seq_max, self->params.n_batch),
                                      error))
    return NULL;
  return g_steal_pointer (&self);
}

void
kvasir_context_free (KvasirContext *self)
{
  g_return_if_fail (self != NULL);
  if (self->memory != NULL && self->step_plan != NULL)
    kvasir_context_emit_buffers (self, -1);
  g_clear_pointer (&self->step_plan, kvasir_graph_plan_free);
  g_clear_pointer (&self->shift_plan, kvasir_graph_plan_free);
  g_clear_pointer (&self->batch_plan, kvasir_batch_plan_free);
  g_clear_pointer (&self->memory, kvasir_memory_free);
  kvasir_buffer_free (self->output);
  g_free (self->row_of_token);
  kvasir_model_unref (self->model);
  g_free (self);
}

KvasirModel *
kvasir_context_get_model (KvasirContext *self)
{
  return self->model;
}

const KvasirContextParams *
kvasir_context_get_params (const KvasirContext *self)
{
  return &self->params;
}

KvasirMemory *
kvasir_context_get_memory (KvasirContext *self)
{
  return self->memory;
}

void
kvasir_context_set_abort_flag (KvasirContext *self, const int *flag)
{
  self->abort_flag = flag;
}

void
kvasir_context_set_ubatch_callback (KvasirContext *self,
                                    KvasirUbatchDone callback,
                                    gpointer user_data)
{
  self->ubatch_done = callback;
  self->ubatch_done_data = user_data;
}

void
kvasir_context_set_sink (KvasirContext *self, const KvasirEventSink *sink)
{
  self->sink = sink != NULL ? *sink : (KvasirEventSink){ NULL, NULL };
  kvasir_memory_set_sink (self->memory, sink);
  kvasir_context_emit_buffers (self, 1);
}

static void
append_row (
    GArray *rows, const KvasirDevice *device, const char *type, KvasirMemoryKind kind, gsize n)
{
  const KvasirMemoryRow row = { device->name, type, kind, -1, n };
  if (n > 0)
    g_array_append_val (rows, row);
}

static gsize
get_output_bytes (const KvasirContext *self)
{
  return (gsize) self->n_output_rows * self->model->hparams.n_vocab * sizeof (float);
}

static void
append_own (const KvasirContext *self, GArray *rows)
{
  const KvasirDevice *device = self->model->device;
  const char *type = device->buffer_type->name;
  const char *host_type = device->host_buffer_type->name;
  KvasirGraphPlanBytes step = kvasir_graph_plan_get_bytes (self->step_plan);
  KvasirGraphPlanBytes shift = { 0, 0, 0 };

  if (self->shift_plan != NULL)
    shift = kvasir_graph_plan_get_bytes (self->shift_plan);
  append_row (rows, device, type, KVASIR_KIND_COMPUTE,
              step.results + step.program + shift.results + shift.program);
  append_row (rows, device, host_type, KVASIR_KIND_COMPUTE, step.inputs + shift.inputs);
  append_row (rows, device, host_type, KVASIR_KIND_OUTPUT, get_output_bytes (self));
}

static void
emit_buffer (
    const KvasirContext *self, gint sign, gsize n_bytes, KvasirMemoryKind kind, const char *type)
{
  KvasirEvent event = { .type = KVASIR_EVENT_BUFFER, .step = self->step_number };

  if (self->sink.emit == NULL || n_bytes == 0)
    return;
  event.a = sign * (gint64) n_bytes;
  event.b = kind;
  g_strlcpy (event.text, type, sizeof event.text);
  self->sink.emit (self->sink.user_data, &event, NULL, 0);
}

void
kvasir_context_emit_buffers (KvasirContext *self, gint sign)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));

  kvasir_model_append_breakdown (self->model, rows);
  append_own (self, rows);
  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      emit_buffer (self, sign, row->n_bytes, row->kind, row->buffer_type);
    }
}

void
kvasir_context_emit_output (KvasirContext *self, gint sign)
{
  emit_buffer (self, sign, get_output_bytes (self), KVASIR_KIND_OUTPUT,
               self->model->device->host_buffer_type->name);
}

const float *
kvasir_context_get_logits_of_token (const KvasirContext *self, guint index)
{
  if (index >= self->n_batch_tokens || self->row_of_token[index] < 0)
    return NULL;
  return (const float *) self->output->base +
         (gsize) self->row_of_token[index] * self->model->hparams.n_vocab;
}

void
kvasir_context_append_breakdown (KvasirContext *self, GArray *rows)
{
  kvasir_model_append_breakdown (self->model, rows);
  kvasir_memory_append_breakdown (self->memory, rows);
  append_own (self, rows);
}
