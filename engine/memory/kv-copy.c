/* Copies of sequences: inside a stream the cells are shared, between streams the books are copied
 * at once and the rows with the next update. */
#include "engine/memory/kv-cache-private.h"

static gboolean
is_between_streams (const KvasirKvCache *self, guint src, guint dst)
{
  return kvasir_kv_cache_get_stream (self, src) != kvasir_kv_cache_get_stream (self, dst);
}

gboolean
kvasir_kv_cache_can_cp (const KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  if (is_between_streams (self, src, dst))
    return p0 == 0 && p1 == KVASIR_POS_END;
  return kvasir_kv_cache_can_join (self, src, dst, p0, p1);
}

/* The cell becomes what it is in the source's stream, with another owner, or empty. */
static void
copy_cell (KvasirKvCache *self, guint src, guint dst, guint cell)
{
  const KvasirCells *from = kvasir_kv_cache_peek_cells_of (self, src);
  KvasirCells *to = kvasir_kv_cache_peek_cells_of (self, dst);
  KvasirCell state;

  kvasir_changes_before (&self->changes, to, cell);
  if (to->pos[cell] >= 0)
    kvasir_cells_empty (to, cell);
  if (kvasir_cells_has (from, cell, src))
    {
      kvasir_cells_get (from, cell, &state);
      state.seqs = (KvasirSeqSet){ 0 };
      kvasir_seq_set_add (&state.seqs, dst);
      kvasir_cells_restore (to, cell, &state);
    }
  kvasir_changes_after (&self->changes, to, cell);
}

static void
copy_stream (KvasirKvCache *self, guint src, guint dst)
{
  const KvasirCells *from = kvasir_kv_cache_peek_cells_of (self, src);
  KvasirCells *to = kvasir_kv_cache_peek_cells_of (self, dst);
  KvasirKvCopy copy = { .src = kvasir_kv_cache_get_stream (self, src),
                        .dst = kvasir_kv_cache_get_stream (self, dst),
                        .n_cells = kvasir_cells_get_end (from) };
  guint end = MAX (copy.n_cells, kvasir_cells_get_end (to));

  kvasir_kv_trace_break (&self->trace);
  self->changes.stream = (guint16) copy.dst;
  for (guint cell = 0; cell < end; cell++)
    copy_cell (self, src, dst, cell);
  kvasir_changes_flush (&self->changes);
  kvasir_cells_settle (to);
  kvasir_kv_cache_set_head (self, copy.dst, from->head);
  g_array_append_val (self->copies, copy);
}

void
kvasir_kv_cache_cp (KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  if (is_between_streams (self, src, dst))
    copy_stream (self, src, dst);
  else
    kvasir_kv_cache_join (self, src, dst, p0, p1);
}

void
kvasir_kv_cache_flush_copies (KvasirKvCache *self)
{
  for (; self->n_copied < self->copies->len; self->n_copied++)
    {
      const KvasirKvCopy *copy = &g_array_index (self->copies, KvasirKvCopy, self->n_copied);

      kvasir_kv_store_copy_stream (&self->store, copy->src, copy->dst, copy->n_cells);
    }
}

gboolean
kvasir_kv_cache_apply_copies (KvasirPart *part)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  gboolean any = self->copies->len > 0;

  kvasir_kv_cache_flush_copies (self);
  g_array_set_size (self->copies, 0);
  self->n_copied = 0;
  return any;
}
