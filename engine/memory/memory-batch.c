/* The two phases of a batch over all parts: prepare without a trace, then ubatch by ubatch apply,
 * and take back what failed. */
#include "engine/memory/memory-private.h"

/* The ways to cut a batch, in the order in which they are tried. Returns: how many */
static guint
list_splits (const KvasirMemory *self, KvasirSplit splits[2])
{
  gboolean has_recurrent =
      self->klass == KVASIR_MEMORY_HYBRID || self->klass == KVASIR_MEMORY_HYBRID_ISWA;
  gboolean one_stream = self->n_streams == 1;

  splits[1] = self->klass == KVASIR_MEMORY_NONE ? KVASIR_SPLIT_BY_SEQUENCE : KVASIR_SPLIT_EQUAL;
  if (self->klass == KVASIR_MEMORY_NONE)
    splits[0] = KVASIR_SPLIT_SIMPLE;
  else if (self->klass == KVASIR_MEMORY_RECURRENT || !one_stream)
    splits[0] = KVASIR_SPLIT_EQUAL_SEQUENTIAL;
  else if (has_recurrent)
    splits[0] = KVASIR_SPLIT_EQUAL;
  else if (self->klass == KVASIR_MEMORY_KV)
    splits[0] = KVASIR_SPLIT_SIMPLE;
  else
    splits[0] = self->is_unified ? KVASIR_SPLIT_SIMPLE : KVASIR_SPLIT_EQUAL_SEQUENTIAL;
  return self->klass != KVASIR_MEMORY_KV && splits[0] == KVASIR_SPLIT_SIMPLE ? 2 : 1;
}

/* Returns: the part that found no room, or NULL */
static KvasirPart *
prepare_parts (KvasirMemory *self, KvasirBatchPlan *plan, gboolean relaxed)
{
  for (guint i = 0; i < self->n_parts; i++)
    if (!self->parts[i]->vtable->prepare (self->parts[i], plan, relaxed))
      return self->parts[i];
  return NULL;
}

/* Tries all splits. @failed: the part that found no room last */
static KvasirPrepare
try_splits (KvasirMemory *self, KvasirBatchPlan *plan, gboolean relaxed, KvasirPart **failed)
{
  KvasirSplit splits[2];
  guint n_splits = list_splits (self, splits);
  guint n_tail = self->n_rs_seq > 0 ? self->n_rs_seq + 1 : 0;
  KvasirPrepare prepared = KVASIR_PREPARE_UNSUPPORTED;

  for (guint i = 0; i < n_splits; i++)
    {
      if (!kvasir_batch_plan_split (plan, splits[i], n_tail))
        continue;
      *failed = prepare_parts (self, plan, relaxed);
      if (*failed == NULL)
        return KVASIR_PREPARE_OK;
      prepared = KVASIR_PREPARE_NO_ROOM;
    }
  return prepared;
}

static gboolean
is_seq_complete (const KvasirMemory *self, guint seq, gint32 pos)
{
  const KvasirPart *sliding = self->is_sliding ? self->parts[1] : NULL;

  return !kvasir_memory_lacks_state (self, seq) &&
         (sliding == NULL || sliding->vtable->get_rewind (sliding, seq, pos) >= pos);
}

/* Whether all sequences of the batch have what its first tokens look for: windows and states. */
static gboolean
is_complete (const KvasirMemory *self, const KvasirBatchPlan *plan)
{
  KvasirSeqSet seen = { 0 };

  for (guint i = 0; i < kvasir_batch_plan_get_n_ubatches (plan); i++)
    {
      const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (plan, i);

      for (guint t = 0; t < ubatch->n_tokens; t++)
        {
          KvasirSeqSet fresh = kvasir_seq_set_subtract (&ubatch->seqs[t], &seen);

          for (gint seq = kvasir_seq_set_next (&fresh, 0); seq >= 0;
               seq = kvasir_seq_set_next (&fresh, (guint) seq + 1))
            {
              if (!is_seq_complete (self, (guint) seq, ubatch->pos[t]))
                return FALSE;
              kvasir_seq_set_add (&seen, (guint) seq);
            }
        }
    }
  return TRUE;
}

KvasirPrepare
kvasir_memory_init_batch (KvasirMemory *self, KvasirBatchPlan *plan)
{
  KvasirPart *failed = NULL;
  KvasirPrepare prepared;

  g_return_val_if_fail (self != NULL && plan != NULL, KVASIR_PREPARE_UNSUPPORTED);

  kvasir_memory_finish_batch (self);
  self->n_applied = 0;
  self->ubatch = NULL;
  prepared = try_splits (self, plan, FALSE, &failed);
  if (prepared == KVASIR_PREPARE_NO_ROOM && self->is_sliding)
    prepared = try_splits (self, plan, TRUE, &failed);
  if (prepared == KVASIR_PREPARE_OK && self->n_parts > 1 && !is_complete (self, plan))
    return KVASIR_PREPARE_INCOMPLETE;
  if (prepared == KVASIR_PREPARE_OK)
    self->plan = plan;
  else if (failed != NULL && failed->vtable->report_failure != NULL)
    failed->vtable->report_failure (failed, kvasir_batch_plan_get_n_tokens (plan));
  return prepared;
}

static void
report_ubatch (KvasirMemory *self, const KvasirUbatch *ubatch, guint index)
{
  const KvasirPart *part = self->n_parts > 0 ? self->parts[0] : NULL;
  guint n = ubatch->n_tokens;
  KvasirEvent event = { .type = KVASIR_EVENT_UBATCH, .seq = -1, .n = (gint32) n, .a = index };

  if (part != NULL && part->vtable->get_planned_n_kv != NULL)
    event.b = part->vtable->get_planned_n_kv (part, index);
  for (guint i = 0; i < n; i++)
    {
      self->numbers[3 * i] = ubatch->tokens[i];
      self->numbers[3 * i + 1] = ubatch->pos[i];
      self->numbers[3 * i + 2] = ubatch->leads[i];
    }
  kvasir_memory_emit (self, &event, self->numbers, 3 * n);
}

static void
commit (KvasirMemory *self)
{
  for (guint i = 0; self->is_in_flight && i < self->n_parts; i++)
    if (self->parts[i]->vtable->commit != NULL)
      self->parts[i]->vtable->commit (self->parts[i]);
  self->is_in_flight = FALSE;
}

void
kvasir_memory_finish_batch (KvasirMemory *self)
{
  commit (self);
  self->plan = NULL;
}

gboolean
kvasir_memory_apply_next (KvasirMemory *self, const KvasirUbatch **ubatch)
{
  guint i;

  g_return_val_if_fail (self != NULL && ubatch != NULL, FALSE);

  if (self->plan == NULL || self->n_applied == kvasir_batch_plan_get_n_ubatches (self->plan))
    {
      self->plan = NULL;
      return FALSE;
    }
  commit (self);
  i = self->n_applied++;
  self->ubatch = kvasir_batch_plan_get_ubatch (self->plan, i);
  self->is_in_flight = TRUE;
  if (kvasir_memory_is_watched (self))
    report_ubatch (self, self->ubatch, i);
  for (guint p = 0; p < self->n_parts; p++)
    self->parts[p]->vtable->apply (self->parts[p], self->ubatch, i);
  kvasir_memory_raise_reach (self, self->ubatch);
  *ubatch = self->ubatch;
  return TRUE;
}

void
kvasir_memory_rollback (KvasirMemory *self)
{
  KvasirEvent event = { .type = KVASIR_EVENT_ROLLBACK, .seq = -1 };

  g_return_if_fail (self != NULL && self->is_in_flight);

  event.n = (gint32) self->ubatch->n_tokens;
  kvasir_memory_emit (self, &event, NULL, 0);
  for (guint i = self->n_parts; i-- > 0;)
    self->parts[i]->vtable->rollback (self->parts[i]);
  kvasir_memory_lower_reach_to (self, self->ubatch);
  self->is_in_flight = FALSE;
  self->ubatch = NULL;
  self->plan = NULL;
}

KvasirRoom
kvasir_memory_get_room (const KvasirMemory *self, gint seq, guint n_tokens)
{
  KvasirRoom least = { .n_needed = n_tokens, .fits = TRUE };

  g_return_val_if_fail (self != NULL, ((KvasirRoom){ 0 }));
  g_return_val_if_fail (seq >= 0 && (guint) seq < self->n_seq_max, ((KvasirRoom){ 0 }));

  for (guint i = 0; i < self->n_parts; i++)
    {
      const KvasirPart *part = self->parts[i];
      KvasirRoom room = part->vtable->get_room (part, (guint) seq, n_tokens);

      if (i == 0 || (least.fits && !room.fits) ||
          (least.fits == room.fits && room.n_free < least.n_free))
        least = room;
    }
  return least;
}
