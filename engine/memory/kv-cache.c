#include "engine/memory/kv-cache.h"

#include "engine/memory/kv-cache-private.h"

/* Cells are counted in gint32, in events with room to spare. */
#define MAX_CELLS (1u << 28)

void
kvasir_kv_cache_emit (KvasirKvCache *self, KvasirEventType type, const KvasirEvent *arguments)
{
  KvasirEvent event;

  if (!kvasir_memory_is_watched (self->parent.memory))
    return;
  event = *arguments;
  event.type = type;
  event.cache = self->parent.cache;
  kvasir_memory_emit (self->parent.memory, &event, NULL, 0);
}

void
kvasir_kv_cache_set_head (KvasirKvCache *self, guint stream, guint head)
{
  guint before = self->cells[stream].head;

  self->cells[stream].head = head;
  if (head != before)
    kvasir_kv_cache_emit (
        self, KVASIR_EVENT_HEAD,
        &(KvasirEvent){
            .stream = (guint16) stream, .seq = -1, .cell = (gint32) head, .a = before });
}

static void
get_layer (const KvasirPart *part, guint layer, KvasirTensor **k, KvasirTensor **v)
{
  KvasirKvRows *rows = kvasir_kv_store_find (&((const KvasirKvCache *) part)->store, layer);

  *k = rows != NULL && rows->k.n_bytes > 0 ? &rows->k.tensor : NULL;
  *v = rows != NULL && rows->v.n_bytes > 0 ? &rows->v.tensor : NULL;
}

static KvasirSeqSpan
get_span (const KvasirPart *part, guint seq)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  if (self->cells == NULL)
    return (KvasirSeqSpan){ .min = -1, .max = -1 };
  return kvasir_cells_get_span (kvasir_kv_cache_peek_cells_of (self, seq), seq);
}

static gint32
pos_min (const KvasirPart *part, guint seq)
{
  return get_span (part, seq).min;
}

static gint32
pos_max (const KvasirPart *part, guint seq)
{
  return get_span (part, seq).max;
}

static void
get_info (const KvasirPart *part, KvasirCacheInfo *info)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  *info =
      (KvasirCacheInfo){ .name = part->name,
                         .size = self->size,
                         .n_streams = self->n_streams,
                         .n_swa = self->window.n_swa,
                         .n_layers = self->store.n_layers,
                         .bytes_per_cell = kvasir_kv_store_get_bytes_per_cell (&self->store),
                         .k_bytes_per_cell = kvasir_kv_store_get_k_bytes_per_cell (&self->store),
                         .type_k = self->store.type_k,
                         .type_v = self->store.type_v };
}

static const KvasirCells *
peek_cells (const KvasirPart *part, guint stream)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  g_return_val_if_fail (stream < self->n_streams, NULL);
  return self->cells != NULL ? &self->cells[stream] : NULL;
}

static void
append_breakdown (const KvasirPart *part, GArray *rows)
{
  kvasir_kv_store_append_breakdown (&((const KvasirKvCache *) part)->store, rows);
}

static void
report_buffers (KvasirPart *part, gint sign)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  for (guint i = 0; i < 2 * self->store.chunks->len; i++)
    {
      gboolean of_v = i % 2;
      const KvasirKvChunk *chunk = &g_array_index (self->store.chunks, KvasirKvChunk, i / 2);
      KvasirEvent event = { .seq = -1, .b = kvasir_kv_store_get_kind (&self->store, of_v) };

      event.a = sign * (gint64) kvasir_kv_store_get_chunk_bytes (&self->store, i / 2, of_v);
      g_strlcpy (event.text, chunk->type->name, sizeof event.text);
      if (event.a != 0)
        kvasir_kv_cache_emit (self, KVASIR_EVENT_BUFFER, &event);
    }
}

static void
free_cache (KvasirPart *part)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  kvasir_kv_store_clear (&self->store);
  for (guint s = 0; self->cells != NULL && !self->is_borrower && s < self->n_streams; s++)
    kvasir_cells_clear (&self->cells[s]);
  if (!self->is_borrower)
    g_free (self->cells);
  kvasir_changes_clear (&self->changes);
  g_array_unref (self->copies);
  g_array_unref (self->memos);
  g_free (self->numbers);
  g_free (self->slots);
  g_free (self->mirrored);
  g_free (self->planned);
  g_free (self->heads);
  g_free (self->overwritten);
  g_free (self);
}

static const KvasirPartVtable kv_cache_vtable = {
  .free = free_cache,
  .report_buffers = report_buffers,
  .append_breakdown = append_breakdown,
  .get_info = get_info,
  .can_rm = kvasir_kv_cache_can_rm,
  .rm = kvasir_kv_cache_rm,
  .can_cp = kvasir_kv_cache_can_cp,
  .cp = kvasir_kv_cache_cp,
  .keep = kvasir_kv_cache_keep,
  .can_add = kvasir_kv_cache_can_add,
  .can_div = kvasir_kv_cache_can_div,
  .add = kvasir_kv_cache_add,
  .div = kvasir_kv_cache_div,
  .clear = kvasir_kv_cache_clear_cells,
  .pos_min = pos_min,
  .pos_max = pos_max,
  .get_rewind = kvasir_kv_cache_get_rewind,
  .prepare = kvasir_kv_cache_prepare,
  .report_failure = kvasir_kv_cache_report_failure,
  .get_planned_n_kv = kvasir_kv_cache_get_planned_n_kv,
  .apply = kvasir_kv_cache_apply,
  .rollback = kvasir_kv_cache_rollback,
  .get_room = kvasir_kv_cache_get_room,
  .get_layer = get_layer,
  .get_n_kv = kvasir_kv_cache_get_n_kv,
  .fill_slots = kvasir_kv_cache_fill_slots,
  .fill_mask = kvasir_kv_cache_fill_mask,
  .refresh_mask = kvasir_kv_cache_refresh_mask,
  .has_update = kvasir_kv_cache_has_update,
  .apply_copies = kvasir_kv_cache_apply_copies,
  .update_done = kvasir_kv_cache_update_done,
  .state_write = kvasir_kv_cache_state_write,
  .state_check = kvasir_kv_cache_state_check,
  .state_apply = kvasir_kv_cache_state_apply,
  .peek_cells = peek_cells,
};

static gboolean
allocate_cells (KvasirKvCache *self)
{
  gboolean ok = TRUE;

  self->cells = g_try_new0 (KvasirCells, self->n_streams);
  if (self->cells == NULL)
    return FALSE;
  for (guint s = 0; s < self->n_streams; s++)
    {
      KvasirCells *cells = &self->cells[s];

      ok = kvasir_cells_init (cells, self->size, self->n_streams == 1 ? self->n_seq_max : 1) && ok;
      kvasir_cells_set_first_seq (cells, self->n_streams == 1 ? 0 : s);
      if (self->n_pos > 1)
        ok = kvasir_cells_add_places (cells) && ok;
    }
  return ok;
}

/* The books of the cells: everything but the rows. */
static gboolean
allocate_books (KvasirKvCache *self, const KvasirMemoryParams *params, GError **error)
{
  guint n_batch = params->n_batch > 0 ? params->n_batch : params->kv_size * params->n_streams;
  gboolean ok = self->is_borrower || allocate_cells (self);

  ok = kvasir_changes_init (&self->changes, &self->parent, self->size) && ok;
  self->numbers = g_try_new (gint32, (gsize) 3 * MIN (n_batch, self->n_ubatch));
  self->slots = g_try_new (guint32, n_batch);
  self->mirrored = self->is_borrower ? g_try_new0 (guint8, n_batch) : NULL;
  ok = ok && (!self->is_borrower || self->mirrored != NULL);
  self->planned = g_try_new (KvasirKvPlanned, n_batch);
  self->heads = g_try_new0 (guint, self->n_streams);
  self->overwritten = g_try_new (gint32, self->n_seq_max);
  if (ok && self->numbers != NULL && self->slots != NULL && self->planned != NULL &&
      self->heads != NULL && self->overwritten != NULL)
    return TRUE;
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_NO_MEMORY,
                             "KV cache: no memory for the books of %u cells and %u sequences",
                             self->size * self->n_streams, self->n_seq_max);
}

static gboolean
check_size (guint64 n_cells, GError **error)
{
  if (n_cells <= MAX_CELLS)
    return TRUE;
  return kvasir_memory_fail (error, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                             "KV cache: %" G_GUINT64_FORMAT " cells asked for, expected at most %u",
                             n_cells, MAX_CELLS);
}

static void
borrow_cells (KvasirKvCache *self, const KvasirKvCache *lender)
{
  self->is_borrower = TRUE;
  self->cells = lender->cells;
  self->size = lender->size;
}

static gboolean
make_store (KvasirKvCache *self, const KvasirKvCacheParams *params, GError **error)
{
  const KvasirMemoryParams *memory = params->memory;
  KvasirKvStoreParams store = { .size = self->size,
                                .n_streams = memory->n_streams,
                                .type_k = memory->type_k,
                                .type_v = memory->type_v,
                                .v_transposed = memory->v_transposed,
                                .is_swa = params->is_swa,
                                .no_alloc = memory->no_alloc,
                                .n_layers = params->n_layers,
                                .numbers = params->layers,
                                .layers = memory->layers };

  return kvasir_kv_store_init (&self->store, &store, error);
}

KvasirPart *
kvasir_kv_cache_new (const KvasirKvCacheParams *params, GError **error)
{
  const KvasirMemoryParams *memory = params->memory;
  KvasirKvCache *self;

  g_return_val_if_fail (params->size > 0 && params->size % KVASIR_N_KV_STEP == 0, NULL);

  if (!check_size ((guint64) params->size * memory->n_streams, error))
    return NULL;
  self = g_new0 (KvasirKvCache, 1);
  self->parent.vtable = &kv_cache_vtable;
  self->size = params->size;
  self->n_streams = memory->n_streams;
  self->n_seq_max = memory->n_seq_max;
  self->n_ubatch = memory->n_ubatch;
  self->n_pos = memory->n_pos_per_token;
  self->window.is_causal = memory->is_causal;
  if (params->is_swa)
    {
      self->window.kind = memory->window;
      self->window.n_swa = memory->n_swa;
    }
  if (params->lender != NULL)
    borrow_cells (self, (const KvasirKvCache *) params->lender);
  self->copies = g_array_new (FALSE, FALSE, sizeof (KvasirKvCopy));
  self->memos = g_array_sized_new (FALSE, FALSE, sizeof (KvasirKvMemo), 64);
  if (make_store (self, params, error) &&
      (memory->no_alloc || allocate_books (self, memory, error)))
    return &self->parent;
  free_cache (&self->parent);
  return NULL;
}

void
kvasir_kv_cache_set_base (KvasirPart *sliding, KvasirPart *base)
{
  g_return_if_fail (sliding->vtable == &kv_cache_vtable && base->vtable == &kv_cache_vtable);
  ((KvasirKvCache *) sliding)->base = (KvasirKvCache *) base;
}
