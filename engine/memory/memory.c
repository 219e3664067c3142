/* A memory is its parts: arguments are checked here, all parts are asked, then all are changed. */
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
    [KVASIR_KIND_GUESSING] = "guessing model",
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

static void
report_buffers (KvasirMemory *self, gint sign)
{
  for (guint i = 0; kvasir_memory_is_watched (self) && i < self->n_parts; i++)
    self->parts[i]->vtable->report_buffers (self->parts[i], sign);
}

void
kvasir_memory_free (KvasirMemory *self)
{
  if (self == NULL)
    return;
  report_buffers (self, -1);
  kvasir_memory_give_back (self);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->free (self->parts[i]);
  g_free (self->layers);
  g_free (self->arch);
  g_free (self->numbers);
  g_free (self);
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
  report_buffers (self, 1);
}

void
kvasir_memory_set_step (KvasirMemory *self, guint32 step)
{
  g_return_if_fail (self != NULL);
  self->step = step;
}

void
kvasir_memory_set_lenient (KvasirMemory *self, gboolean lenient)
{
  g_return_if_fail (self != NULL);
  self->is_lenient = lenient;
}

static gboolean
is_seq (const KvasirMemory *self, gint seq)
{
  return self != NULL && seq >= 0 && (guint) seq < self->n_seq_max;
}

/* A range of positions as callers give it, brought into order. */
typedef struct
{
  gint32 p0;
  gint32 p1;
} Range;

static Range
get_range (gint32 p0, gint32 p1)
{
  return (Range){ MAX (p0, 0), p1 < 0 ? KVASIR_POS_END : p1 };
}

/* The event that names an operation and its arguments. */
static void
report (KvasirMemory *self, KvasirEventType type, gint seq, const Range *range, gint64 b)
{
  KvasirEvent event = { .type = type, .seq = seq, .b = b };

  if (range != NULL)
    {
      event.pos = range->p0;
      event.a = range->p1 == KVASIR_POS_END ? -1 : range->p1;
    }
  kvasir_memory_emit (self, &event, NULL, 0);
}

gboolean
kvasir_memory_seq_rm (KvasirMemory *self, gint seq, gint32 p0, gint32 p1)
{
  Range range = get_range (p0, p1);

  g_return_val_if_fail (self != NULL && (seq == -1 || is_seq (self, seq)), FALSE);

  kvasir_memory_finish_batch (self);
  for (guint i = 0; i < self->n_parts; i++)
    if (!self->parts[i]->vtable->can_rm (self->parts[i], seq, range.p0, range.p1))
      return FALSE;
  report (self, KVASIR_EVENT_SEQ_RM, seq, &range, 0);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->rm (self->parts[i], seq, range.p0, range.p1);
  kvasir_memory_lower_reach (self, seq, range.p0);
  return TRUE;
}

gboolean
kvasir_memory_seq_cp (KvasirMemory *self, gint src, gint dst, gint32 p0, gint32 p1)
{
  Range range = get_range (p0, p1);
  guint from = (guint) src;
  guint to = (guint) dst;

  g_return_val_if_fail (is_seq (self, src) && is_seq (self, dst), FALSE);

  kvasir_memory_finish_batch (self);
  if (from == to)
    return TRUE;
  for (guint i = 0; i < self->n_parts; i++)
    if (!self->parts[i]->vtable->can_cp (self->parts[i], from, to, range.p0, range.p1))
      return FALSE;
  report (self, KVASIR_EVENT_SEQ_CP, src, &range, dst);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->cp (self->parts[i], from, to, range.p0, range.p1);
  kvasir_memory_lower_reach (self, dst, 0);
  return TRUE;
}

void
kvasir_memory_seq_keep (KvasirMemory *self, gint seq)
{
  g_return_if_fail (is_seq (self, seq));

  kvasir_memory_finish_batch (self);
  report (self, KVASIR_EVENT_SEQ_KEEP, seq, NULL, 0);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->keep (self->parts[i], (guint) seq);
  for (gint other = 0; other < (gint) self->n_seq_max; other++)
    if (other != seq)
      kvasir_memory_lower_reach (self, other, 0);
}

gboolean
kvasir_memory_seq_add (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint32 delta)
{
  Range range = get_range (p0, p1);

  g_return_val_if_fail (is_seq (self, seq), FALSE);

  kvasir_memory_finish_batch (self);
  if (self->shift_obstacle != NULL)
    return FALSE;
  for (guint i = 0; i < self->n_parts; i++)
    {
      KvasirPart *part = self->parts[i];

      if (part->vtable->can_add != NULL &&
          !part->vtable->can_add (part, (guint) seq, range.p0, range.p1, delta))
        return FALSE;
    }
  if (delta == 0 || range.p0 >= range.p1)
    return TRUE;
  report (self, KVASIR_EVENT_SEQ_ADD, seq, &range, delta);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->add (self->parts[i], (guint) seq, range.p0, range.p1, delta);
  kvasir_memory_lower_reach (self, -1, MAX (0, MIN (range.p0, range.p0 + delta)));
  return TRUE;
}

gboolean
kvasir_memory_seq_div (KvasirMemory *self, gint seq, gint32 p0, gint32 p1, gint d)
{
  Range range = get_range (p0, p1);

  g_return_val_if_fail (is_seq (self, seq) && d >= 1, FALSE);

  kvasir_memory_finish_batch (self);
  if (self->shift_obstacle != NULL)
    return FALSE;
  for (guint i = 0; i < self->n_parts; i++)
    {
      KvasirPart *part = self->parts[i];

      if (part->vtable->can_div != NULL &&
          !part->vtable->can_div (part, (guint) seq, range.p0, range.p1, d))
        return FALSE;
    }
  if (d == 1 || range.p0 >= range.p1)
    return TRUE;
  report (self, KVASIR_EVENT_SEQ_DIV, seq, &range, d);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->div (self->parts[i], (guint) seq, range.p0, range.p1, d);
  kvasir_memory_lower_reach (self, -1, range.p0 / d);
  return TRUE;
}

void
kvasir_memory_clear (KvasirMemory *self, gboolean data)
{
  KvasirEvent event = { .type = KVASIR_EVENT_CLEAR, .seq = -1, .a = data ? 1 : 0 };

  g_return_if_fail (self != NULL);

  kvasir_memory_finish_batch (self);
  kvasir_memory_emit (self, &event, NULL, 0);
  for (guint i = 0; i < self->n_parts; i++)
    self->parts[i]->vtable->clear (self->parts[i], data);
  kvasir_memory_lower_reach (self, -1, 0);
}

/* ---- pending updates */

gboolean
kvasir_memory_has_update (const KvasirMemory *self)
{
  g_return_val_if_fail (self != NULL, FALSE);
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->has_update != NULL &&
        self->parts[i]->vtable->has_update (self->parts[i]))
      return TRUE;
  return FALSE;
}

gboolean
kvasir_memory_apply_copies (KvasirMemory *self)
{
  gboolean any = FALSE;

  g_return_val_if_fail (self != NULL, FALSE);
  kvasir_memory_finish_batch (self);
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->apply_copies != NULL)
      any = self->parts[i]->vtable->apply_copies (self->parts[i]) || any;
  return any;
}

void
kvasir_memory_update_done (KvasirMemory *self, gint64 duration_us)
{
  g_return_if_fail (self != NULL);
  kvasir_memory_finish_batch (self);
  for (guint i = 0; i < self->n_parts; i++)
    if (self->parts[i]->vtable->update_done != NULL)
      self->parts[i]->vtable->update_done (self->parts[i], duration_us);
}
