#include "engine/session/context-private.h"

#include "engine/error.h"
#include "engine/memory/memory-params.h"

static guint32
hash_bytes (guint32 hash, gconstpointer data, gsize n)
{
  const guint8 *bytes = data;

  for (gsize i = 0; i < n; i++)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash;
}

/* States are only portable between equal settings of what turns keys: FNV-1a over all of them. */
static guint32
hash_rope (const KvasirContext *self)
{
  const KvasirHparams *hp = &self->model->hparams;
  const guint8 settings[2] = { self->step.long_context != FALSE, self->step.rotate != FALSE };
  guint32 hash = 2166136261u;

  for (guint i = 0; i < hp->n_layers; i++)
    hash = hash_bytes (hash, &hp->layers[i].rope, sizeof hp->layers[i].rope);
  return hash_bytes (hash, settings, sizeof settings);
}

static guint
count_attention_caches (const KvasirMemory *memory)
{
  const guint n = kvasir_memory_get_n_caches (memory);
  guint i = 0;

  for (; i < n; i++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (memory, i, &info);
      if (info.is_recurrent)
        break;
    }
  return i;
}

static gboolean
make_memory (KvasirContext *self, GError **error)
{
  const KvasirHparams *hp = &self->model->hparams;
  g_autofree KvasirMemoryLayer *layers = g_new0 (KvasirMemoryLayer, hp->n_layers);
  const KvasirMemoryParams params = {
    .klass = hp->memory_class,
    .kv_size = self->n_ctx_seq,
    .n_streams = self->n_streams,
    .unified = self->params.kv_unified,
    .n_seq_max = self->params.n_seq_max,
    .n_ubatch = self->params.n_ubatch,
    .n_batch = self->params.n_batch,
    .type_k = self->params.type_k,
    .type_v = self->params.type_v,
    .v_transposed = !self->params.flash_attn,
    .swa_full = self->params.swa_full,
    .window = hp->window,
    .n_swa = hp->n_swa,
    .is_causal = hp->is_causal,
    .n_pos_per_token = hp->n_pos_per_token,
    .n_rs_seq = self->params.n_rs_seq,
    .n_layers = hp->n_layers,
    .layers = layers,
    .no_alloc = self->params.no_alloc,
    .shift_obstacle = hp->n_pos_per_token > 1
                          ? "each token of this model has four positions, which one number "
                            "cannot move"
                          : NULL,
    .arch = self->model->info.arch,
    .rope_hash = hash_rope (self),
    .n_ctx_seq = self->n_ctx_seq,
  };

  kvasir_model_fill_memory_layers (self->model, layers);
  self->memory = kvasir_memory_new (&params, error);
  if (self->memory == NULL)
    return FALSE;
  self->n_attention = count_attention_caches (self->memory);
  return TRUE;
}

static void
make_batch_plan (KvasirContext *self)
{
  const KvasirHparams *hp = &self->model->hparams;
  const KvasirBatchLimits limits = {
    .n_batch = self->params.n_batch,
    .n_ubatch = self->params.n_ubatch,
    .n_seq_max = self->params.n_seq_max,
    .n_vocab = hp->n_vocab,
    .n_pos_per_token = hp->n_pos_per_token,
    .n_positions = hp->n_position_rows,
  };

  self->batch_plan = kvasir_batch_plan_new (&limits);
  self->row_of_token = g_new (gint32, limits.n_batch);
  self->n_row = hp->n_vocab;
  if (!self->model->arch->is_encoder)
    return;
  self->n_row = hp->n_embd;
  self->n_pool_rows = hp->pooling != KVASIR_POOLING_NONE ? limits.n_seq_max : 0;
  self->n_pooled = g_new0 (guint, self->n_pool_rows);
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
  if (!kvasir_context_settle (self, error))
    return NULL;
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
  g_free (self->n_pooled);
  kvasir_model_unref (self->model);
  g_free (self);
}

KvasirModel *
kvasir_context_get_model (KvasirContext *self)
{
  return self->model;
}

const KvasirDevice *
kvasir_context_get_device (const KvasirContext *self)
{
  return self->model->device;
}

const KvasirContextParams *
kvasir_context_get_params (const KvasirContext *self)
{
  return &self->params;
}

guint
kvasir_context_get_n_ctx_seq (const KvasirContext *self)
{
  return self->n_ctx_seq;
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
  return ((gsize) self->n_pool_rows + self->n_output_rows) * self->n_row * sizeof (float);
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

void
kvasir_context_append_breakdown (KvasirContext *self, GArray *rows)
{
  kvasir_model_append_breakdown (self->model, rows);
  kvasir_memory_append_breakdown (self->memory, rows);
  append_own (self, rows);
}
