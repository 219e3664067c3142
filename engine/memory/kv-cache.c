#include "engine/memory/kv-cache.h"

#include "engine/memory/kv-cache-private.h"

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
  .init_batch = kvasir_kv_cache_init_batch,
  .apply_next = kvasir_kv_cache_apply_next,
  .rollback = kvasir_kv_cache_rollback,
  .get_room = kvasir_kv_cache_get_room,
  .get_n_caches = get_n_caches,
  .get_layer = get_layer,
  .get_n_kv = kvasir_kv_cache_get_n_kv,
  .fill_slots = kvasir_kv_cache_fill_slots,
  .fill_mask = kvasir_kv_cache_fill_mask,
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
  g_return_val_if_fail (params->kv_size > 0 && params->kv_size % KVASIR_N_KV_STEP == 0, NULL);
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
