#include "engine/memory/memory-private.h"

const char *
kvasir_memory_class_get_name (KvasirMemoryClass klass)
{
  static const char *const names[] = {
    [KVASIR_MEMORY_NONE] = "none",       [KVASIR_MEMORY_KV] = "kv",
    [KVASIR_MEMORY_KV_ISWA] = "kv_iswa", [KVASIR_MEMORY_RECURRENT] = "recurrent",
    [KVASIR_MEMORY_HYBRID] = "hybrid",   [KVASIR_MEMORY_HYBRID_ISWA] = "hybrid_iswa",
  };

  g_return_val_if_fail ((guint) klass < G_N_ELEMENTS (names), NULL);
  return names[klass];
}

const char *
kvasir_memory_kind_get_name (KvasirMemoryKind kind)
{
  static const char *const names[KVASIR_N_KINDS] = {
    [KVASIR_KIND_WEIGHTS] = "weights",
    [KVASIR_KIND_KV_K] = "KV K",
    [KVASIR_KIND_KV_V] = "KV V",
    [KVASIR_KIND_SWA_K] = "sliding K",
    [KVASIR_KIND_SWA_V] = "sliding V",
    [KVASIR_KIND_RECURRENT] = "recurrent",
    [KVASIR_KIND_COMPUTE] = "compute",
    [KVASIR_KIND_OUTPUT] = "output",
    [KVASIR_KIND_CHECKPOINTS] = "checkpoints",
  };

  g_return_val_if_fail ((guint) kind < KVASIR_N_KINDS, NULL);
  return names[kind];
}

gboolean
kvasir_memory_fail (GError **error, KvasirEngineError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  g_propagate_error (error, g_error_new_valist (KVASIR_ENGINE_ERROR, (gint) code, format, args));
  va_end (args);
  return FALSE;
}

void
kvasir_memory_emit (KvasirMemory *self, KvasirEvent *event, const gint32 *data, guint n_data)
{
  if (!kvasir_memory_is_watched (self))
    return;
  event->step = self->step;
  self->sink.emit (self->sink.user_data, event, data, n_data);
}

void
kvasir_memory_free (KvasirMemory *self)
{
  if (self == NULL)
    return;
  if (kvasir_memory_is_watched (self))
    self->vtable->report_buffers (self, -1);
  self->vtable->free (self);
}

KvasirMemoryClass
kvasir_memory_get_class (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, KVASIR_MEMORY_NONE);
  return self->klass;
}

void
kvasir_memory_set_sink (KvasirMemory *self, const KvasirEventSink *sink)
{
  g_return_if_fail (self != NULL);

  self->sink = sink != NULL ? *sink : (KvasirEventSink){ NULL, NULL };
  if (kvasir_memory_is_watched (self))
    self->vtable->report_buffers (self, 1);
}

void
kvasir_memory_set_step (KvasirMemory *self, guint32 step)
{
  g_return_if_fail (self != NULL);
  self->step = step;
}

static gboolean
is_seq (const KvasirMemory *self, gint seq)
{
  return self != NULL && seq >= 0 && (guint) seq < self->n_seq_max;
}

static gint32
get_start (gint32 p0)
{
  return MAX (p0, 0);
}

static gint32
get_end (gint32 p1)
{
  return p1 < 0 ? KVASIR_POS_END : p1;
}

gboolean
kvasir_memory_seq_rm (KvasirMemory *self, gint seq, gint32 p0, gint32 p1)
{
  g_return_val_if_fail (self != NULL && (seq == -1 || is_seq (self, seq)), FALSE);
  return self->vtable->seq_rm (self, seq, get_start (p0), get_end (p1));
}

gboolean
kvasir_memory_seq_cp (KvasirMemory *self, gint src, gint dst, gint32 p0, gint32 p1)
{
  g_return_val_if_fail (is_seq (self, src) && is_seq (self, dst), FALSE);
  return self->vtable->seq_cp (self, (guint) src, (guint) dst, get_start (p0), get_end (p1));
}

void
kvasir_memory_seq_keep (KvasirMemory *self, gint seq)
{
  g_return_if_fail (is_seq (self, seq));
  self->vtable->seq_keep (self, (guint) seq);
}

gboolean
kvasir_memory_seq_add (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint32 delta)
{
  g_return_val_if_fail (is_seq (self, seq), FALSE);
  return self->vtable->seq_add (self, (guint) seq, get_start (p0), get_end (p1), delta);
}

gboolean
kvasir_memory_seq_div (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint d)
{
  g_return_val_if_fail (is_seq (self, seq) && d >= 1, FALSE);
  return self->vtable->seq_div (self, (guint) seq, get_start (p0), get_end (p1), d);
}

void
kvasir_memory_clear (KvasirMemory *self, gboolean data)
{
  g_return_if_fail (self != NULL);
  self->vtable->clear (self, data);
}

gint32
kvasir_memory_seq_pos_min (const KvasirMemory *self, gint seq)
{
  g_return_val_if_fail (is_seq (self, seq), -1);
  return self->vtable->seq_pos_min (self, (guint) seq);
}

gint32
kvasir_memory_seq_pos_max (const KvasirMemory *self, gint seq)
{
  g_return_val_if_fail (is_seq (self, seq), -1);
  return self->vtable->seq_pos_max (self, (guint) seq);
}

const char *
kvasir_memory_get_shift_obstacle (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, NULL);
  return self->vtable->get_shift_obstacle (self);
}

KvasirPrepare
kvasir_memory_init_batch (KvasirMemory *self, KvasirBatchPlan *plan)
{
  g_return_val_if_fail (self != NULL && plan != NULL, KVASIR_PREPARE_UNSUPPORTED);
  return self->vtable->init_batch (self, plan);
}

gboolean
kvasir_memory_apply_next (KvasirMemory *self, const KvasirUbatch **ubatch)
{
  g_return_val_if_fail (self != NULL && ubatch != NULL, FALSE);
  return self->vtable->apply_next (self, ubatch);
}

void
kvasir_memory_rollback (KvasirMemory *self)
{
  g_return_if_fail (self != NULL);
  self->vtable->rollback (self);
}

KvasirRoom
kvasir_memory_get_room (const KvasirMemory *self, gint seq, guint n_tokens)
{
  g_return_val_if_fail (self != NULL, ((KvasirRoom){ 0 }));
  return self->vtable->get_room (self, n_tokens);
}

guint
kvasir_memory_get_n_caches (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, 0);
  return self->vtable->get_n_caches (self);
}

static gboolean
is_cache (const KvasirMemory *self, guint cache)
{
  return self != NULL && cache < self->vtable->get_n_caches (self);
}

void
kvasir_memory_get_layer (
    const KvasirMemory *self, guint layer, KvasirTensor **k, KvasirTensor **v, guint *cache)
{
  g_return_if_fail (self != NULL && k != NULL && v != NULL && cache != NULL);
  self->vtable->get_layer (self, layer, k, v, cache);
}

guint
kvasir_memory_get_n_kv (const KvasirMemory *self, guint cache)
{
  g_return_val_if_fail (is_cache (self, cache), 0);
  return self->vtable->get_n_kv (self, cache);
}

void
kvasir_memory_fill_slots (const KvasirMemory *self, guint cache, gint64 *slots)
{
  g_return_if_fail (is_cache (self, cache) && slots != NULL);
  self->vtable->fill_slots (self, cache, slots);
}

void
kvasir_memory_fill_mask (const KvasirMemory *self, guint cache, guint64 *words, gsize words_per_row)
{
  g_return_if_fail (is_cache (self, cache) && words != NULL);
  g_return_if_fail (words_per_row >= kvasir_memory_get_n_kv (self, cache) / 64);
  self->vtable->fill_mask (self, cache, words, words_per_row);
}

gboolean
kvasir_memory_has_update (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);
  return self->vtable->has_update (self);
}

void
kvasir_memory_update_done (KvasirMemory *self, gint64 duration_us)
{
  g_return_if_fail (self != NULL);
  self->vtable->update_done (self, duration_us);
}

gboolean
kvasir_memory_state_write (
    KvasirMemory *self, gint seq, gboolean partial, GByteArray *out, GError **error)
{
  g_return_val_if_fail (self != NULL && (seq == -1 || is_seq (self, seq)), FALSE);
  g_return_val_if_fail (out != NULL && !kvasir_memory_has_update (self), FALSE);
  return self->vtable->state_write (self, seq, partial, out, error);
}

gboolean
kvasir_memory_state_read (KvasirMemory *self,
                          gint seq,
                          gboolean partial,
                          const guint8 *bytes,
                          gsize n_bytes,
                          GError **error)
{
  g_return_val_if_fail (self != NULL && (seq == -1 || is_seq (self, seq)), FALSE);
  g_return_val_if_fail (bytes != NULL || n_bytes == 0, FALSE);
  return self->vtable->state_read (self, seq, partial, bytes, n_bytes, error);
}
