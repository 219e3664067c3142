/* The mask of the ubatch in hand. A row of 131 072 cells is written once; while a sequence goes on
 * token by token only the words are written again whose cells were taken, given up, or left by the
 * window since. */
#include "engine/memory/kv-cache-private.h"
#include "engine/memory/mask.h"

static KvasirMaskRows
get_rows (const KvasirKvCache *self, const KvasirKvSlice *slice)
{
  return (KvasirMaskRows){ .cells = &self->cells[slice->stream],
                           .window = &self->window,
                           .ubatch = self->ubatch,
                           .first = slice->first,
                           .n = slice->n,
                           .n_pos = self->n_pos,
                           .has_later = self->has_later,
                           .slots = self->slots + self->planned[self->index].first_slot,
                           .n_kv = self->n_kv };
}

void
kvasir_kv_cache_fill_mask (const KvasirPart *part, guint64 *words, gsize words_per_row)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  if (self->ubatch == NULL)
    return;
  for (guint k = 0; k < kvasir_kv_cache_get_n_slices (self, self->ubatch); k++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, self->ubatch, k);
      KvasirMaskRows rows = get_rows (self, &slice);

      kvasir_mask_fill (&rows, words + slice.first * words_per_row, words_per_row);
    }
}

/* ---- the row that is followed */

void
kvasir_kv_trace_break (KvasirKvTrace *self)
{
  self->stamp_valid = 0;
}

static void
touch (KvasirKvTrace *self, guint cell)
{
  if (self->n_touched == G_N_ELEMENTS (self->touched))
    kvasir_kv_trace_break (self);
  else
    self->touched[self->n_touched++] = cell / 64;
}

void
kvasir_kv_trace_apply (KvasirKvCache *self, const KvasirKvSlice *slice)
{
  KvasirKvTrace *trace = &self->trace;

  if (trace->stamp_valid == 0)
    return;
  if (self->ubatch->n_tokens > 1 || self->has_later || self->is_borrower)
    kvasir_kv_trace_break (trace);
  else if (kvasir_kv_cache_get_stream (self, trace->seq) == slice->stream)
    {
      touch (trace, self->slots[self->planned[self->index].first_slot]);
      for (guint i = 0; i < self->memos->len; i++)
        touch (trace, g_array_index (self->memos, KvasirKvMemo, i).cell);
    }
}

/* The words of the cells at positions from the one where the window began on, up to where it begins
 * now; they mostly follow each other. FALSE: they do not, or a position may have several cells, and
 * have to be looked for. */
static gboolean
touch_left (KvasirKvCache *self, const KvasirCells *cells, gint32 first)
{
  KvasirKvTrace *trace = &self->trace;

  if (trace->first < first && !kvasir_cells_get_span (cells, trace->seq).is_dense)
    return FALSE;
  for (; trace->first < first; trace->first++)
    {
      guint cell = trace->edge;

      if (!kvasir_cells_has (cells, cell, trace->seq) || cells->pos[cell] != trace->first)
        return FALSE;
      touch (trace, cell);
      trace->edge = cell + 1 < cells->size ? cell + 1 : 0;
    }
  return TRUE;
}

/* Where the window begins, a position that the sequence may not hold. */
static void
find_edge (KvasirKvCache *self, const KvasirCells *cells, gint32 first)
{
  gint edge = kvasir_kv_cache_find_held (self, self->trace.seq, first, 0);

  self->trace.first = first;
  self->trace.edge = edge >= 0 ? (guint) edge : cells->size - 1;
}

static gboolean
patch (KvasirKvCache *self, const KvasirMaskRows *rows, guint64 *words)
{
  KvasirKvTrace *trace = &self->trace;
  gint32 first = kvasir_window_get_first (&self->window, self->ubatch->pos[0]);

  if (self->ubatch->n_tokens > 1 || (guint) self->ubatch->leads[0] != trace->seq ||
      self->n_kv < trace->n_kv || !touch_left (self, rows->cells, first) || trace->stamp_valid == 0)
    return FALSE;
  for (guint i = 0; i < trace->n_touched; i++)
    if (trace->touched[i] < self->n_kv / 64)
      kvasir_mask_fill_word (rows, words, trace->touched[i]);
  for (guint w = trace->n_kv / 64; w < self->n_kv / 64; w++)
    kvasir_mask_fill_word (rows, words, w);
  return TRUE;
}

guint64
kvasir_kv_cache_refresh_mask (KvasirPart *part, guint64 *words, gsize words_per_row, guint64 stamp)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  KvasirKvTrace *trace = &self->trace;
  KvasirKvSlice slice;
  KvasirMaskRows rows;

  if (self->ubatch == NULL)
    return 0;
  slice = kvasir_kv_cache_get_slice (self, self->ubatch, 0);
  rows = get_rows (self, &slice);
  if (stamp == 0 || stamp != trace->stamp_valid || !patch (self, &rows, words))
    {
      kvasir_kv_cache_fill_mask (part, words, words_per_row);
      kvasir_kv_trace_break (trace);
      if (self->ubatch->n_tokens > 1 || self->has_later || !self->window.is_causal)
        return 0;
      trace->seq = (guint) self->ubatch->leads[0];
      if (kvasir_kv_cache_is_sliding (self))
        find_edge (self, rows.cells, kvasir_window_get_first (&self->window, self->ubatch->pos[0]));
    }
  trace->n_kv = self->n_kv;
  trace->n_touched = 0;
  trace->stamp_valid = ++trace->n_stamps;
  return trace->stamp_valid;
}
