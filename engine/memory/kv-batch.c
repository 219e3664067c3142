/* Plays a planned batch, ubatch by ubatch: occupies cells, gives the graph its inputs, and takes
 * back what failed. */
#include "engine/memory/kv-cache-private.h"
#include "engine/memory/slots.h"

/* From about here reading the cells takes most of the time of a step. */
#define MANY_CELLS 1024

static void
set_n_kv (KvasirKvCache *self, guint n_kv)
{
  guint before = self->n_kv;

  self->n_kv = n_kv;
  if (n_kv > MANY_CELLS)
    kvasir_kv_store_settle (&self->store);
  if (n_kv != before)
    kvasir_kv_cache_emit (self, KVASIR_EVENT_HORIZON,
                          &(KvasirEvent){ .seq = -1, .a = n_kv, .b = before });
}

static const guint32 *
peek_slots (const KvasirKvCache *self)
{
  return self->slots + self->planned[self->index].first_slot;
}

/* How many cells the search looked at is told by where it started and ended. */
static void
report_search (KvasirKvCache *self, const KvasirKvSlice *slice)
{
  const KvasirCells *cells = &self->cells[slice->stream];
  const guint32 *slots = peek_slots (self) + slice->first;
  guint n = slice->n;
  gboolean restarted;
  guint start = kvasir_slots_get_start (cells, n, &restarted);
  guint n_tested = (slots[n - 1] + cells->size - start) % cells->size + 1;
  guint n_data = 0;
  KvasirEvent event = { .type = KVASIR_EVENT_SEARCH,
                        .cache = self->parent.cache,
                        .stream = (guint16) slice->stream,
                        .seq = -1,
                        .cell = (gint32) cells->head,
                        .n = (gint32) n,
                        .a = n_tested,
                        .b = restarted ? 1 : 0 };

  /* A borrower looks where the lender has looked. */
  if (!kvasir_memory_is_watched (self->parent.memory) || self->is_borrower)
    return;
  for (guint i = 0; i < n; i++)
    if (i > 0 && slots[i] == slots[i - 1] + 1)
      self->numbers[n_data - 1]++;
    else
      {
        self->numbers[n_data++] = (gint32) slots[i];
        self->numbers[n_data++] = 1;
      }
  kvasir_memory_emit (self->parent.memory, &event, self->numbers, n_data);
}

/* ---- overwriting */

/* Remembers an occupied cell that goes, and adds its position to those its owners lose. */
static void
give_up (KvasirKvCache *self, guint stream, guint cell, KvasirSeqSet *losers)
{
  KvasirCells *cells = &self->cells[stream];
  KvasirKvMemo memo = { .stream = stream, .cell = cell };
  const KvasirSeqSet *seqs = &memo.state.seqs;

  kvasir_cells_get (cells, cell, &memo.state);
  g_array_append_val (self->memos, memo);
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    {
      gint32 before = kvasir_seq_set_has (losers, (guint) seq) ? self->overwritten[seq] : -1;

      kvasir_seq_set_add (losers, (guint) seq);
      self->overwritten[seq] = MAX (before, memo.state.pos);
    }
  kvasir_cells_empty (cells, cell);
}

/* The first position at which @seq gets a cell. */
static gint32
get_first_new (const KvasirUbatch *ubatch, const KvasirKvSlice *slice, guint seq)
{
  for (guint t = slice->first; t < slice->first + slice->n; t++)
    if (kvasir_seq_set_has (&ubatch->seqs[t], seq))
      return ubatch->pos[t];
  return KVASIR_POS_END;
}

/* A sequence whose cell was overwritten keeps no positions before that one, but what it has just
 * got. @cause: the last cell that was taken from it */
static void
purge (KvasirKvCache *self, guint stream, guint seq, gint32 first_new, guint cause)
{
  gint32 first = kvasir_cells_get_span (&self->cells[stream], seq).min;
  gint32 end = MIN (self->overwritten[seq] + 1, first_new);

  if (first < 0 || first >= end)
    return;
  if (!self->changes.is_muted)
    kvasir_kv_cache_emit (self, KVASIR_EVENT_PURGE,
                          &(KvasirEvent){ .stream = (guint16) stream,
                                          .seq = (gint32) seq,
                                          .cell = (gint32) cause,
                                          .pos = first,
                                          .a = end });
  kvasir_kv_cache_remove (self, seq, first, end, TRUE);
}

/* The cell among @memos that held the highest position that @seq lost. */
static guint
find_cause (const KvasirKvCache *self, guint first_memo, guint seq)
{
  for (guint i = first_memo; i < self->memos->len; i++)
    {
      const KvasirKvMemo *memo = &g_array_index (self->memos, KvasirKvMemo, i);

      if (memo->state.pos == self->overwritten[seq] && kvasir_seq_set_has (&memo->state.seqs, seq))
        return memo->cell;
    }
  return 0;
}

static void
occupy_one (KvasirKvCache *self,
            const KvasirUbatch *ubatch,
            guint t,
            guint stream,
            guint cell,
            KvasirSeqSet *losers)
{
  KvasirCells *cells = &self->cells[stream];
  KvasirCellEntry entry = { .pos = ubatch->pos[t],
                            .token = ubatch->tokens[t],
                            .step = self->parent.memory->step,
                            .seqs = &ubatch->seqs[t] };

  if (self->n_pos > 1)
    {
      entry.y = ubatch->pos[ubatch->n_tokens + t];
      entry.x = ubatch->pos[2 * ubatch->n_tokens + t];
    }
  kvasir_changes_before (&self->changes, cells, cell);
  if (cells->pos[cell] >= 0)
    give_up (self, stream, cell, losers);
  kvasir_cells_place (cells, cell, &entry);
  kvasir_changes_after (&self->changes, cells, cell);
}

/* How many tokens from @t on, at most @n, make a run: one after the other of one sequence go to one
 * cell after the other, all of them empty. */
static guint
measure_run (
    const KvasirUbatch *ubatch, const KvasirCells *cells, guint t, guint n, const guint32 *slots)
{
  guint i = 1;

  if (kvasir_seq_set_count (&ubatch->seqs[t]) > 1 || cells->pos[slots[0]] >= 0)
    return 1;
  while (i < n && slots[i] == slots[0] + i && cells->pos[slots[i]] < 0 &&
         ubatch->pos[t + i] == ubatch->pos[t] + (gint32) i &&
         kvasir_seq_set_equal (&ubatch->seqs[t + i], &ubatch->seqs[t]))
    i++;
  return i;
}

void
kvasir_kv_cache_occupy (KvasirKvCache *self,
                        const KvasirUbatch *ubatch,
                        const KvasirKvSlice *slice,
                        const guint32 *slots)
{
  KvasirCells *cells = &self->cells[slice->stream];
  gboolean by_run =
      self->n_pos == 1 && !self->is_borrower && !kvasir_changes_are_watched (&self->changes);
  KvasirSeqSet losers = { 0 };
  guint first_memo = self->memos->len;
  guint n_run;

  self->changes.stream = (guint16) slice->stream;
  for (guint i = 0; i < slice->n; i += n_run)
    {
      guint t = slice->first + i;

      n_run = by_run ? measure_run (ubatch, cells, t, slice->n - i, slots + i) : 1;
      if (n_run > 1)
        kvasir_cells_place_run (cells, slots[i], n_run,
                                &(KvasirCellEntry){ .pos = ubatch->pos[t],
                                                    .step = self->parent.memory->step,
                                                    .seqs = &ubatch->seqs[t] },
                                ubatch->tokens + t);
      else if (!kvasir_kv_cache_is_mirrored (self, slots + i))
        occupy_one (self, ubatch, t, slice->stream, slots[i], &losers);
    }
  kvasir_changes_flush (&self->changes);
  kvasir_cells_settle (cells);
  for (gint seq = kvasir_seq_set_next (&losers, 0); seq >= 0;
       seq = kvasir_seq_set_next (&losers, (guint) seq + 1))
    purge (self, slice->stream, (guint) seq, get_first_new (ubatch, slice, (guint) seq),
           find_cause (self, first_memo, (guint) seq));
}

void
kvasir_kv_cache_recall (KvasirKvCache *self, guint first)
{
  for (guint i = self->memos->len; i-- > first;)
    {
      const KvasirKvMemo *memo = &g_array_index (self->memos, KvasirKvMemo, i);
      KvasirCells *cells = &self->cells[memo->stream];

      self->changes.stream = (guint16) memo->stream;
      kvasir_changes_before (&self->changes, cells, memo->cell);
      if (cells->pos[memo->cell] >= 0)
        kvasir_cells_empty (cells, memo->cell);
      kvasir_cells_restore (cells, memo->cell, &memo->state);
      kvasir_changes_after (&self->changes, cells, memo->cell);
      kvasir_changes_flush (&self->changes);
    }
  g_array_set_size (self->memos, first);
}

/* ---- one ubatch */

guint
kvasir_kv_cache_get_next_head (const KvasirKvCache *self,
                               const KvasirKvSlice *slice,
                               const guint32 *slots)
{
  for (guint i = slice->n; i-- > 0;)
    if (!kvasir_kv_cache_is_mirrored (self, slots + i))
      return slots[i] + 1;
  return self->cells[slice->stream].head;
}

/* A batch goes on behind the last position of what is reported; a half may hold more than that. */
static gboolean
has_later_cells (const KvasirKvCache *self, const KvasirUbatch *ubatch, const KvasirKvSlice *slice)
{
  for (guint t = slice->first; t < slice->first + slice->n; t++)
    if (kvasir_cells_get_span (&self->cells[slice->stream], (guint) ubatch->leads[t]).max >=
        ubatch->pos[t])
      return TRUE;
  return FALSE;
}

void
kvasir_kv_cache_apply (KvasirPart *part, const KvasirUbatch *ubatch, guint i)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  const guint32 *slots;

  self->ubatch = ubatch;
  self->index = i;
  self->has_later = FALSE;
  self->n_kv_before = self->n_kv;
  slots = peek_slots (self);
  g_array_set_size (self->memos, 0);

  for (guint k = 0; k < kvasir_kv_cache_get_n_slices (self, ubatch); k++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, ubatch, k);

      self->heads[slice.stream] = self->cells[slice.stream].head;
      self->has_later |= has_later_cells (self, ubatch, &slice);
      report_search (self, &slice);
      kvasir_kv_cache_occupy (self, ubatch, &slice, slots + slice.first);
      kvasir_kv_trace_apply (self, &slice);
      kvasir_kv_cache_set_head (self, slice.stream,
                                kvasir_kv_cache_get_next_head (self, &slice, slots + slice.first));
    }
  set_n_kv (self, self->planned[i].n_kv);
}

static void
empty_slice (KvasirKvCache *self, const KvasirKvSlice *slice)
{
  KvasirCells *cells = &self->cells[slice->stream];
  const guint32 *slots = peek_slots (self) + slice->first;

  self->changes.stream = (guint16) slice->stream;
  for (guint i = 0; i < slice->n; i++)
    {
      if (kvasir_kv_cache_is_mirrored (self, slots + i))
        continue;
      kvasir_changes_before (&self->changes, cells, slots[i]);
      kvasir_cells_empty (cells, slots[i]);
      kvasir_changes_after (&self->changes, cells, slots[i]);
    }
  kvasir_changes_flush (&self->changes);
}

/* Rows of the ubatch may have been written already. Cells that were overwritten had slid out of all
 * windows; what they held is lost, so that they stay empty and what was purged stays away. */
void
kvasir_kv_cache_rollback (KvasirPart *part)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  const KvasirUbatch *ubatch = self->ubatch;
  guint n_slices = kvasir_kv_cache_get_n_slices (self, ubatch);

  kvasir_kv_trace_break (&self->trace);
  for (guint k = 0; k < n_slices; k++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, ubatch, k);

      empty_slice (self, &slice);
    }
  g_array_set_size (self->memos, 0);
  for (guint k = 0; k < n_slices; k++)
    {
      guint stream = kvasir_kv_cache_get_slice (self, ubatch, k).stream;

      kvasir_cells_settle (&self->cells[stream]);
      kvasir_kv_cache_set_head (self, stream, self->heads[stream]);
    }
  set_n_kv (self, self->n_kv_before);
  self->ubatch = NULL;
}

guint
kvasir_kv_cache_get_n_kv (const KvasirPart *part)
{
  return ((const KvasirKvCache *) part)->n_kv;
}

void
kvasir_kv_cache_fill_slots (const KvasirPart *part, gint64 *slots)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;
  const guint32 *applied;

  if (self->ubatch == NULL)
    return;
  applied = peek_slots (self);
  for (guint k = 0; k < kvasir_kv_cache_get_n_slices (self, self->ubatch); k++)
    {
      KvasirKvSlice slice = kvasir_kv_cache_get_slice (self, self->ubatch, k);
      gint64 offset = (gint64) slice.stream * self->size;

      for (guint t = slice.first; t < slice.first + slice.n; t++)
        slots[t] = offset + applied[t];
    }
}
