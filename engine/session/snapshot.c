#include "engine/session/snapshot.h"

#include "engine/session/snapshot-build.h"

const KvasirSnapshot *
kvasir_snapshot_ref (const KvasirSnapshot *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_int_inc (&((KvasirSnapshotOwned *) self)->n_refs);
  return self;
}

static void
cells_shot_free (KvasirCellsShot *self)
{
  for (guint i = 0; i < self->n_caches; i++)
    {
      KvasirCacheShot *cache = &self->caches[i];
      g_free (cache->streams);
      g_free (cache->spans);
      g_free (cache->sets);
      g_free (cache->tokens);
      g_free (cache->steps);
    }
  g_free (self->caches);
  g_free (self->seqs);
  g_free (self->message_runs);
  g_free (self);
}

static void
mask_shot_free (KvasirMaskShot *first)
{
  for (KvasirMaskShot *self = first, *next; self != NULL; self = next)
    {
      next = self->next;
      g_free (self->row_tokens);
      g_free (self->row_pos);
      g_free (self->row_seqs);
      g_free (self->words);
      g_free (self->cell_pos);
      g_free (self->cell_seqs);
      g_free (self->waterfall);
      g_free (self);
    }
}

static void
memory_shot_free (KvasirMemoryShot *self)
{
  g_free (self->rows);
  g_free (self->planned);
  g_free (self->devices);
  g_free (self);
}

void
kvasir_snapshot_unref (const KvasirSnapshot *self)
{
  g_return_if_fail (self != NULL);

  KvasirSnapshotOwned *owned = (KvasirSnapshotOwned *) self;
  if (!g_atomic_int_dec_and_test (&owned->n_refs))
    return;
  g_clear_pointer (&owned->shot.cells, cells_shot_free);
  g_clear_pointer (&owned->shot.mask, mask_shot_free);
  g_clear_pointer (&owned->shot.memory, memory_shot_free);
  g_free (owned);
}

const KvasirSpan *
kvasir_cache_shot_find (const KvasirCacheShot *self, guint stream, guint cell)
{
  g_return_val_if_fail (self != NULL, NULL);
  g_return_val_if_fail (stream < self->n_streams, NULL);

  const KvasirStreamShot *shot = &self->streams[stream];
  const KvasirSpan *spans = self->spans + shot->first_span;
  guint from = 0;
  guint to = shot->n_spans;
  while (from < to)
    {
      guint mid = from + (to - from) / 2;
      if (cell < spans[mid].cell)
        to = mid;
      else if (cell - spans[mid].cell >= spans[mid].n)
        from = mid + 1;
      else
        return &spans[mid];
    }
  return NULL;
}

/* -1: the run lies before the position, 1: behind it. */
static gint
compare_run (const KvasirMessageRun *run, gint seq, gint32 pos)
{
  if (run->seq != seq)
    return run->seq < seq ? -1 : 1;
  if (pos < run->pos)
    return 1;
  return pos - run->pos >= run->n ? -1 : 0;
}

const KvasirMessageRun *
kvasir_cells_shot_find_message (const KvasirCellsShot *self, gint seq, gint32 pos)
{
  g_return_val_if_fail (self != NULL, NULL);

  guint from = 0;
  guint to = self->n_message_runs;
  while (from < to)
    {
      guint mid = from + (to - from) / 2;
      gint where = compare_run (&self->message_runs[mid], seq, pos);
      if (where == 0)
        return &self->message_runs[mid];
      if (where > 0)
        to = mid;
      else
        from = mid + 1;
    }
  return NULL;
}

static gboolean
is_above_last_used (const KvasirMaskShot *self, guint cell)
{
  for (guint i = cell; i < self->n_kv; i++)
    if (self->cell_pos[i] >= 0)
      return FALSE;
  return TRUE;
}

KvasirMaskReason
kvasir_mask_shot_get_reason (const KvasirMaskShot *self, guint row, guint cell)
{
  g_return_val_if_fail (self != NULL, KVASIR_MASK_EMPTY);
  g_return_val_if_fail (row < self->n_rows && cell < self->n_kv, KVASIR_MASK_EMPTY);

  if ((self->words[row * self->words_per_row + cell / 64] >> (cell % 64)) & 1)
    return KVASIR_MASK_OPEN;
  gint32 pos = self->cell_pos[cell];
  if (pos < 0)
    return is_above_last_used (self, cell) ? KVASIR_MASK_PADDING : KVASIR_MASK_EMPTY;
  /* The mask looks at the first sequence of a token, as they all see the same. */
  gint seq = kvasir_seq_set_next (&self->row_seqs[row], 0);
  if (seq < 0 || !kvasir_seq_set_has (&self->cell_seqs[cell], (guint) seq))
    return KVASIR_MASK_OTHER_SEQUENCE;
  if (pos > self->row_pos[row])
    return KVASIR_MASK_FUTURE;
  return KVASIR_MASK_OUTSIDE_WINDOW;
}
