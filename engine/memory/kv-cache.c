#include "engine/memory/kv-cache.h"

#include "engine/memory/kv-cache-private.h"
#include "engine/memory/mask.h"
#include "engine/memory/slots.h"

/* Attention reads at least so many cells, and in steps of so many. */
#define N_KV_STEP 256
/* Cells are counted in gint32, in events with room to spare. */
#define MAX_CELLS (1u << 28)

void
kvasir_kv_cache_emit (KvasirKvCache *self, KvasirEventType type, const KvasirEvent *arguments)
{
  KvasirEvent event;

  if (!kvasir_memory_is_watched (&self->parent))
    return;
  event = *arguments;
  event.type = type;
  kvasir_memory_emit (&self->parent, &event, NULL, 0);
}

void
kvasir_kv_cache_set_head (KvasirKvCache *self, guint head)
{
  guint before = self->cells.head;

  self->cells.head = head;
  if (head != before)
    kvasir_kv_cache_emit (self, KVASIR_EVENT_HEAD,
                          &(KvasirEvent){ .seq = -1, .cell = (gint32) head, .a = before });
}

void
kvasir_kv_cache_place (KvasirKvCache *self, guint cell, const KvasirCellEntry *entry)
{
  kvasir_changes_before (&self->changes, &self->cells, cell);
  kvasir_cells_place (&self->cells, cell, entry);
  kvasir_changes_after (&self->changes, &self->cells, cell);
}

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

static KvasirPrepare
init_batch (KvasirMemory *memory, KvasirBatchPlan *plan)
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
  return MIN (self->cells.size, (end + N_KV_STEP - 1) / N_KV_STEP * N_KV_STEP);
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

static gboolean
apply_next (KvasirMemory *memory, const KvasirUbatch **ubatch)
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
static void
rollback (KvasirMemory *memory)
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

static KvasirRoom
get_room (const KvasirMemory *memory, guint n_tokens)
{
  const KvasirCells *cells = &((const KvasirKvCache *) memory)->cells;

  return (KvasirRoom){ .n_needed = n_tokens,
                       .n_free = cells->size - cells->n_used,
                       .largest_free_run = kvasir_cells_get_largest_vacant_run (cells),
                       .fits = n_tokens == 0 || kvasir_slots_find (cells, n_tokens, NULL) };
}

static guint
get_n_caches (const KvasirMemory *memory)
{
  return 1;
}

static void
get_layer (
    const KvasirMemory *memory, guint layer, KvasirTensor **k, KvasirTensor **v, guint *cache)
{
  KvasirKvRows *rows = kvasir_kv_store_find (&((const KvasirKvCache *) memory)->store, layer);

  *k = rows != NULL && rows->k.n_bytes > 0 ? &rows->k.tensor : NULL;
  *v = rows != NULL && rows->v.n_bytes > 0 ? &rows->v.tensor : NULL;
  *cache = 0;
}

static guint
get_n_kv (const KvasirMemory *memory, guint cache)
{
  return ((const KvasirKvCache *) memory)->n_kv;
}

static void
fill_slots (const KvasirMemory *memory, guint cache, gint64 *slots)
{
  const KvasirKvCache *self = (const KvasirKvCache *) memory;
  const guint32 *applied = peek_slots (self);

  for (guint i = 0; i < self->ubatch.n_tokens; i++)
    slots[i] = applied[i];
}

static void
fill_mask (const KvasirMemory *memory, guint cache, guint64 *words, gsize words_per_row)
{
  const KvasirKvCache *self = (const KvasirKvCache *) memory;

  kvasir_mask_fill (&self->cells, &self->ubatch, peek_slots (self), self->n_kv, words,
                    words_per_row);
}

static gint32
seq_pos_min (const KvasirMemory *memory, guint seq)
{
  return ((const KvasirKvCache *) memory)->cells.spans[seq].min;
}

static gint32
seq_pos_max (const KvasirMemory *memory, guint seq)
{
  return ((const KvasirKvCache *) memory)->cells.spans[seq].max;
}

static const char *
get_shift_obstacle (const KvasirMemory *memory)
{
  return ((const KvasirKvCache *) memory)->shift_obstacle;
}

static void
get_cache_info (const KvasirMemory *memory, guint cache, KvasirCacheInfo *info)
{
  const KvasirKvCache *self = (const KvasirKvCache *) memory;

  *info = (KvasirCacheInfo){ .name = "base",
                             .size = self->cells.size,
                             .n_streams = 1,
                             .n_layers = self->store.n_layers,
                             .bytes_per_cell = kvasir_kv_store_get_bytes_per_cell (&self->store),
                             .type_k = self->store.type_k,
                             .type_v = self->store.type_v };
}

static const KvasirCells *
peek_cells (const KvasirMemory *memory, guint cache, guint stream)
{
  g_return_val_if_fail (stream == 0, NULL);
  return &((const KvasirKvCache *) memory)->cells;
}

static guint
get_stream (const KvasirMemory *memory, guint cache, guint seq)
{
  return 0;
}

static void
append_breakdown (const KvasirMemory *memory, GArray *rows)
{
  kvasir_kv_store_append_breakdown (&((const KvasirKvCache *) memory)->store, rows);
}

static void
report_buffers (KvasirMemory *memory, gint sign)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  for (guint i = 0; i < 2 * self->store.chunks->len; i++)
    {
      gboolean of_v = i % 2;
      const KvasirKvChunk *chunk = &g_array_index (self->store.chunks, KvasirKvChunk, i / 2);
      KvasirEvent event = { .seq = -1, .b = of_v ? KVASIR_KIND_KV_V : KVASIR_KIND_KV_K };

      event.a = sign * (gint64) kvasir_kv_store_get_chunk_bytes (&self->store, i / 2, of_v);
      g_strlcpy (event.text, chunk->type->name, sizeof event.text);
      kvasir_kv_cache_emit (self, KVASIR_EVENT_BUFFER, &event);
    }
}

static void
free_cache (KvasirMemory *memory)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  kvasir_kv_store_clear (&self->store);
  kvasir_cells_clear (&self->cells);
  kvasir_changes_clear (&self->changes);
  g_free (self->numbers);
  g_free (self->slots);
  g_free (self->arch);
  g_free (self);
}

static const KvasirMemoryVtable kv_cache_vtable = {
  .free = free_cache,
  .report_buffers = report_buffers,
  .seq_rm = kvasir_kv_cache_seq_rm,
  .seq_cp = kvasir_kv_cache_seq_cp,
  .seq_keep = kvasir_kv_cache_seq_keep,
  .seq_add = kvasir_kv_cache_seq_add,
  .seq_div = kvasir_kv_cache_seq_div,
  .clear = kvasir_kv_cache_clear_cells,
  .seq_pos_min = seq_pos_min,
  .seq_pos_max = seq_pos_max,
  .get_shift_obstacle = get_shift_obstacle,
  .init_batch = init_batch,
  .apply_next = apply_next,
  .rollback = rollback,
  .get_room = get_room,
  .get_n_caches = get_n_caches,
  .get_layer = get_layer,
  .get_n_kv = get_n_kv,
  .fill_slots = fill_slots,
  .fill_mask = fill_mask,
  .has_update = kvasir_kv_cache_has_update,
  .update_done = kvasir_kv_cache_update_done,
  .state_write = kvasir_kv_cache_state_write,
  .state_read = kvasir_kv_cache_state_read,
  .get_cache_info = get_cache_info,
  .peek_cells = peek_cells,
  .get_stream = get_stream,
  .append_breakdown = append_breakdown,
};

/* The books of the cells: everything but the rows. */
static gboolean
allocate_books (KvasirKvCache *self, const KvasirKvCacheParams *params, GError **error)
{
  guint size = params->kv_size;
  gboolean ok = kvasir_cells_init (&self->cells, size, params->n_seq_max);

  ok = kvasir_changes_init (&self->changes, &self->parent, 0, size) && ok;
  self->numbers = g_try_new (gint32, (gsize) 3 * size);
  self->slots = g_try_new (guint32, size);
  if (ok && self->numbers != NULL && self->slots != NULL)
    return TRUE;
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_MEMORY,
                             "KV cache: no memory for the books of %u cells and %u sequences", size,
                             params->n_seq_max);
}

static gboolean
check_size (guint kv_size, GError **error)
{
  if (kv_size <= MAX_CELLS)
    return TRUE;
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                             "KV cache: %u cells asked for, expected at most %u", kv_size,
                             MAX_CELLS);
}

KvasirMemory *
kvasir_kv_cache_new (const KvasirKvCacheParams *params, GError **error)
{
  KvasirKvCache *self;

  g_return_val_if_fail (params != NULL && params->arch != NULL, NULL);
  g_return_val_if_fail (params->kv_size > 0 && params->kv_size % N_KV_STEP == 0, NULL);
  g_return_val_if_fail (params->n_seq_max > 0 && params->n_seq_max <= KVASIR_MAX_SEQS, NULL);

  if (!check_size (params->kv_size, error))
    return NULL;
  self = g_new0 (KvasirKvCache, 1);
  self->parent = (KvasirMemory){ .vtable = &kv_cache_vtable,
                                 .klass = KVASIR_MEMORY_KV,
                                 .n_seq_max = params->n_seq_max };
  self->arch = g_strdup (params->arch);
  self->rope_hash = params->rope_hash;
  self->shift_obstacle = params->shift_obstacle;
  if (kvasir_kv_store_init (&self->store, params, error) && allocate_books (self, params, error))
    return &self->parent;
  free_cache (&self->parent);
  return NULL;
}
