/* The two phases of a batch: prepare without a trace, then part by part apply, give the graph its
 * inputs, and take back what failed. */
#include "engine/memory/kv-cache-private.h"
#include "engine/memory/mask.h"
#include "engine/memory/slots.h"

static void
set_n_kv (KvasirKvCache *self, guint n_kv)
{
  guint before = self->n_kv;

  self->n_kv = n_kv;
  if (n_kv != before)
    kvasir_kv_cache_emit (self, KVASIR_EVENT_HORIZON,
                          &(KvasirEvent){ .seq = -1, .a = n_kv, .b = before });
}

static void
report_failed_search (KvasirKvCache *self, guint n_tokens)
{
  const KvasirCells *cells = &self->cells;

  if (!kvasir_memory_is_watched (&self->parent))
    return;
  kvasir_kv_cache_emit (self, KVASIR_EVENT_SEARCH_FAILED,
                        &(KvasirEvent){ .seq = -1,
                                        .cell = (gint32) cells->head,
                                        .n = (gint32) n_tokens,
                                        .a = cells->size - cells->n_used,
                                        .b = kvasir_cells_get_largest_vacant_run (cells) });
}

/* Searches cells for one part after the other, each reserved before the next search. Returns:
 * whether all parts have their cells; @n_found: how many cells are reserved */
static gboolean
play (KvasirKvCache *self, KvasirBatchPlan *plan, guint *n_found)
{
  KvasirCells *cells = &self->cells;
  KvasirUbatch ubatch;

  kvasir_batch_plan_rewind (plan);
  while (kvasir_batch_plan_split_simple (plan, &ubatch))
    {
      guint32 *slots = self->slots + *n_found;

      if (!kvasir_slots_find (cells, ubatch.n_tokens, slots))
        return FALSE;
      kvasir_cells_reserve (cells, slots, ubatch.n_tokens);
      *n_found += ubatch.n_tokens;
      cells->head = slots[ubatch.n_tokens - 1] + 1;
    }
  return TRUE;
}

KvasirPrepare
kvasir_kv_cache_init_batch (KvasirMemory *memory, KvasirBatchPlan *plan)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;
  guint head = self->cells.head;
  guint n_found = 0;
  gboolean fits = play (self, plan, &n_found);

  kvasir_cells_release (&self->cells, self->slots, n_found);
  self->cells.head = head;
  self->ubatch.n_tokens = 0;
  self->n_applied = 0;
  self->n_parts = 0;
  self->plan = fits ? plan : NULL;
  kvasir_batch_plan_rewind (plan);
  if (fits)
    return KVASIR_PREPARE_OK;
  report_failed_search (self, kvasir_batch_plan_get_n_tokens (plan));
  return KVASIR_PREPARE_NO_ROOM;
}

static const guint32 *
peek_slots (const KvasirKvCache *self)
{
  return self->slots + self->n_applied - self->ubatch.n_tokens;
}

/* How many cells attention reads once the current part is placed. */
static guint
measure_n_kv (const KvasirKvCache *self)
{
  const guint32 *slots = peek_slots (self);
  guint end = kvasir_cells_get_end (&self->cells);

  for (guint i = 0; i < self->ubatch.n_tokens; i++)
    end = MAX (end, slots[i] + 1);
  return MIN (self->cells.size, (end + KVASIR_N_KV_STEP - 1) / KVASIR_N_KV_STEP * KVASIR_N_KV_STEP);
}

static void
report_ubatch (KvasirKvCache *self)
{
  const KvasirUbatch *ubatch = &self->ubatch;
  guint n = ubatch->n_tokens;
  KvasirEvent event = { .type = KVASIR_EVENT_UBATCH,
                        .seq = -1,
                        .n = (gint32) n,
                        .a = self->n_parts - 1,
                        .b = measure_n_kv (self) };

  for (guint i = 0; i < n; i++)
    {
      self->numbers[3 * i] = ubatch->tokens[i];
      self->numbers[3 * i + 1] = ubatch->pos[i];
      self->numbers[3 * i + 2] = kvasir_seq_set_next (&ubatch->seqs[i], 0);
    }
  kvasir_memory_emit (&self->parent, &event, self->numbers, 3 * n);
}

/* How many cells the search looked at is told by where it started and ended. */
static void
report_search (KvasirKvCache *self)
{
  const KvasirCells *cells = &self->cells;
  const guint32 *slots = peek_slots (self);
  guint n = self->ubatch.n_tokens;
  gboolean restarted;
  guint start = kvasir_slots_get_start (cells, n, &restarted);
  guint n_tested = (slots[n - 1] + cells->size - start) % cells->size + 1;
  guint n_data = 0;
  KvasirEvent event = { .type = KVASIR_EVENT_SEARCH,
                        .seq = -1,
                        .cell = (gint32) cells->head,
                        .n = (gint32) n,
                        .a = n_tested,
                        .b = restarted ? 1 : 0 };

  for (guint i = 0; i < n; i++)
    if (i > 0 && slots[i] == slots[i - 1] + 1)
      self->numbers[n_data - 1]++;
    else
      {
        self->numbers[n_data++] = (gint32) slots[i];
        self->numbers[n_data++] = 1;
      }
  kvasir_memory_emit (&self->parent, &event, self->numbers, n_data);
}

static void
occupy (KvasirKvCache *self)
{
  const KvasirUbatch *ubatch = &self->ubatch;
  const guint32 *slots = peek_slots (self);

  for (guint i = 0; i < ubatch->n_tokens; i++)
    {
      KvasirCellEntry entry = { .pos = ubatch->pos[i],
                                .token = ubatch->tokens[i],
                                .step = self->parent.step,
                                .seqs = &ubatch->seqs[i] };

      kvasir_kv_cache_place (self, slots[i], &entry);
    }
  kvasir_changes_flush (&self->changes);
}

gboolean
kvasir_kv_cache_apply_next (KvasirMemory *memory, const KvasirUbatch **ubatch)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  if (self->plan == NULL || !kvasir_batch_plan_split_simple (self->plan, &self->ubatch))
    {
      self->plan = NULL;
      return FALSE;
    }
  self->n_applied += self->ubatch.n_tokens;
  self->n_parts++;
  self->head_before = self->cells.head;
  self->n_kv_before = self->n_kv;

  if (kvasir_memory_is_watched (memory))
    {
      report_ubatch (self);
      report_search (self);
    }
  occupy (self);
  kvasir_kv_cache_set_head (self, peek_slots (self)[self->ubatch.n_tokens - 1] + 1);
  set_n_kv (self, measure_n_kv (self));
  *ubatch = &self->ubatch;
  return TRUE;
}

/* The cells were empty before, so that their list is all there is to undo. */
void
kvasir_kv_cache_rollback (KvasirMemory *memory)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;
  const guint32 *slots = peek_slots (self);
  guint n = self->ubatch.n_tokens;

  g_return_if_fail (n > 0);

  kvasir_kv_cache_emit (self, KVASIR_EVENT_ROLLBACK, &(KvasirEvent){ .seq = -1, .n = (gint32) n });
  for (guint i = 0; i < n; i++)
    {
      kvasir_changes_before (&self->changes, &self->cells, slots[i]);
      kvasir_cells_empty (&self->cells, slots[i]);
      kvasir_changes_after (&self->changes, &self->cells, slots[i]);
    }
  kvasir_changes_flush (&self->changes);
  kvasir_cells_settle (&self->cells);
  kvasir_kv_cache_set_head (self, self->head_before);
  set_n_kv (self, self->n_kv_before);
  self->ubatch.n_tokens = 0;
  self->plan = NULL;
}

KvasirRoom
kvasir_kv_cache_get_room (const KvasirMemory *memory, guint n_tokens)
{
  const KvasirCells *cells = &((const KvasirKvCache *) memory)->cells;

  return (KvasirRoom){ .n_needed = n_tokens,
                       .n_free = cells->size - cells->n_used,
                       .largest_free_run = kvasir_cells_get_largest_vacant_run (cells),
                       .fits = n_tokens == 0 || kvasir_slots_find (cells, n_tokens, NULL) };
}

guint
kvasir_kv_cache_get_n_kv (const KvasirMemory *memory, guint cache)
{
  return ((const KvasirKvCache *) memory)->n_kv;
}

void
kvasir_kv_cache_fill_slots (const KvasirMemory *memory, guint cache, gint64 *slots)
{
  const KvasirKvCache *self = (const KvasirKvCache *) memory;
  const guint32 *applied = peek_slots (self);

  for (guint i = 0; i < self->ubatch.n_tokens; i++)
    slots[i] = applied[i];
}

void
kvasir_kv_cache_fill_mask (const KvasirMemory *memory,
                           guint cache,
                           guint64 *words,
                           gsize words_per_row)
{
  const KvasirKvCache *self = (const KvasirKvCache *) memory;

  kvasir_mask_fill (&self->cells, &self->ubatch, peek_slots (self), self->n_kv, words,
                    words_per_row);
}
