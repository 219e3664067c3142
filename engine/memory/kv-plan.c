/* Finds cells for all ubatches of a batch and leaves no trace: each is played, so that the next one
 * finds what it would find, and in the end all of them are taken back. */
#include <string.h>

#include "engine/memory/kv-cache-private.h"
#include "engine/memory/slots.h"

guint
kvasir_kv_cache_get_n_slices (const KvasirKvCache *self, const KvasirUbatch *ubatch)
{
  return self->n_streams == 1 ? 1 : ubatch->n_seqs;
}

KvasirKvSlice
kvasir_kv_cache_get_slice (const KvasirKvCache *self, const KvasirUbatch *ubatch, guint i)
{
  guint first = i * ubatch->n_seq_tokens;

  if (self->n_streams == 1)
    return (KvasirKvSlice){ .n = ubatch->n_tokens };
  return (KvasirKvSlice){ .stream = (guint) ubatch->leads[first],
                          .first = first,
                          .n = ubatch->n_seq_tokens };
}

/* Plain caches only mark the cells as taken; where cells are overwritten the search depends on
 * everything that changes. */
static gboolean
is_played (const KvasirKvCache *self)
{
  return kvasir_kv_cache_is_sliding (self) || self->is_borrower;
}

static gboolean
find_slots (KvasirKvCache *self, const KvasirUbatch *ubatch, gboolean relaxed, guint32 *slots)
{
  for (guint i = 0; i < kvasir_kv_cache_get_n_slices (self, ubatch); i++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, ubatch, i);
      const KvasirCells *cells = &self->cells[slice.stream];
      gboolean found;

      if (self->is_borrower)
        found = kvasir_kv_cache_find_mirrored (self, ubatch, &slice, relaxed, slots + slice.first);
      else if (kvasir_kv_cache_is_sliding (self))
        found =
            kvasir_slots_find_sliding (cells, &self->window, relaxed, slice.n, slots + slice.first);
      else
        found = kvasir_slots_find (cells, slice.n, slots + slice.first);
      if (!found)
        {
          self->failed_stream = slice.stream;
          return FALSE;
        }
    }
  return TRUE;
}

/* Returns: n_kv afterwards */
static guint
play_ubatch (KvasirKvCache *self, const KvasirUbatch *ubatch, const guint32 *slots)
{
  guint end = KVASIR_N_KV_STEP;

  for (guint i = 0; i < kvasir_kv_cache_get_n_slices (self, ubatch); i++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, ubatch, i);
      KvasirCells *cells = &self->cells[slice.stream];

      if (is_played (self))
        kvasir_kv_cache_occupy (self, ubatch, &slice, slots + slice.first);
      else
        kvasir_cells_reserve (cells, slots + slice.first, slice.n);
      cells->head = kvasir_kv_cache_get_next_head (self, &slice, slots + slice.first);
      end = MAX (end, kvasir_cells_get_end (cells));
    }
  end = (end + KVASIR_N_KV_STEP - 1) / KVASIR_N_KV_STEP * KVASIR_N_KV_STEP;
  return MIN (end, self->size);
}

/* Returns: how many ubatches found their cells */
static guint
play (KvasirKvCache *self, const KvasirBatchPlan *plan, gboolean relaxed)
{
  guint n_ubatches = kvasir_batch_plan_get_n_ubatches (plan);
  guint first_slot = 0;

  for (guint i = 0; i < n_ubatches; i++)
    {
      const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (plan, i);
      guint32 *slots = self->slots + first_slot;

      if (!find_slots (self, ubatch, relaxed, slots))
        return i;
      self->planned[i] =
          (KvasirKvPlanned){ .first_slot = first_slot, .first_memo = self->memos->len };
      self->planned[i].n_kv = play_ubatch (self, ubatch, slots);
      first_slot += ubatch->n_tokens;
    }
  return n_ubatches;
}

static void
take_back (KvasirKvCache *self, const KvasirUbatch *ubatch, const KvasirKvPlanned *planned)
{
  const guint32 *slots = self->slots + planned->first_slot;

  for (guint i = kvasir_kv_cache_get_n_slices (self, ubatch); i-- > 0;)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, ubatch, i);
      KvasirCells *cells = &self->cells[slice.stream];

      if (!is_played (self))
        kvasir_cells_release (cells, slots + slice.first, slice.n);
      else
        for (guint t = slice.n; t-- > 0;)
          if (!kvasir_kv_cache_is_mirrored (self, &slots[slice.first + t]))
            kvasir_cells_empty (cells, slots[slice.first + t]);
    }
  kvasir_kv_cache_recall (self, planned->first_memo);
}

gboolean
kvasir_kv_cache_prepare (KvasirPart *part, const KvasirBatchPlan *plan, gboolean relaxed)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint heads[KVASIR_MAX_SEQS];
  guint n_played;

  self->ubatch = NULL;
  g_array_set_size (self->memos, 0);
  for (guint s = 0; s < self->n_streams; s++)
    heads[s] = self->cells[s].head;

  self->changes.is_muted = TRUE;
  n_played = play (self, plan, relaxed);
  for (guint i = n_played; i-- > 0;)
    take_back (self, kvasir_batch_plan_get_ubatch (plan, i), &self->planned[i]);
  self->changes.is_muted = FALSE;

  for (guint s = 0; s < self->n_streams; s++)
    {
      self->cells[s].head = heads[s];
      kvasir_cells_settle (&self->cells[s]);
    }
  return n_played == kvasir_batch_plan_get_n_ubatches (plan);
}

void
kvasir_kv_cache_report_failure (KvasirPart *part, guint n_tokens)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  const KvasirCells *cells = &self->cells[self->failed_stream];

  if (!kvasir_memory_is_watched (part->memory))
    return;
  kvasir_kv_cache_emit (self, KVASIR_EVENT_SEARCH_FAILED,
                        &(KvasirEvent){ .stream = (guint16) self->failed_stream,
                                        .seq = -1,
                                        .cell = (gint32) cells->head,
                                        .n = (gint32) n_tokens,
                                        .a = cells->size - cells->n_used,
                                        .b = kvasir_cells_get_largest_vacant_run (cells) });
}

guint
kvasir_kv_cache_get_planned_n_kv (const KvasirPart *part, guint i)
{
  return ((const KvasirKvCache *) part)->planned[i].n_kv;
}

KvasirRoom
kvasir_kv_cache_get_room (const KvasirPart *part, guint seq, guint n_tokens)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;
  const KvasirCells *cells;
  gboolean fits = TRUE;

  if (self->cells == NULL)
    return (KvasirRoom){ .n_needed = n_tokens, .fits = n_tokens <= self->size };
  cells = kvasir_kv_cache_peek_cells_of (self, seq);
  /* What slides out of the window while a batch is played makes room for the rest of it. */
  if (n_tokens > 0 && kvasir_kv_cache_is_sliding (self))
    fits = kvasir_slots_find_sliding (cells, &self->window, TRUE, MIN (n_tokens, self->n_ubatch),
                                      NULL);
  else if (n_tokens > 0)
    fits = kvasir_slots_find (cells, n_tokens, NULL);
  return (KvasirRoom){ .n_needed = n_tokens,
                       .n_free = kvasir_slots_count_usable (cells, &self->window),
                       .largest_free_run = kvasir_cells_get_largest_vacant_run (cells),
                       .fits = fits };
}
