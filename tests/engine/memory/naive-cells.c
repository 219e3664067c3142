/* The operations on the cells of one cache, by the table of the placement rules. */
#include "tests/engine/memory/naive.h"

#define NO_CELL G_MAXUINT

static const NaiveCell empty_cell = { .pos = -1, .token = -1 };

static void
head_back_to (NaiveStream *stream, guint emptied)
{
  stream->head = MIN (stream->head, emptied);
}

static void
remove_from_stream (NaiveCache *self, guint stream, gint seq, gint32 p0, gint32 p1)
{
  guint first_emptied = NO_CELL;

  for (guint i = 0; i < self->size; i++)
    {
      NaiveCell *cell = &self->streams[stream].cells[i];

      if (cell->pos < 0 || cell->pos < p0 || cell->pos >= p1)
        continue;
      if (seq >= 0 && !kvasir_seq_set_has (&cell->seqs, (guint) seq))
        continue;
      if (seq >= 0)
        kvasir_seq_set_remove (&cell->seqs, (guint) seq);
      if (seq >= 0 && !kvasir_seq_set_is_empty (&cell->seqs))
        continue;
      *cell = empty_cell;
      first_emptied = MIN (first_emptied, i);
    }
  head_back_to (&self->streams[stream], first_emptied);
}

void
naive_cache_remove (NaiveCache *self, gint seq, gint32 p0, gint32 p1)
{
  if (seq >= 0)
    remove_from_stream (self, naive_cache_get_stream (self, (guint) seq), seq, p0, p1);
  else
    for (guint s = 0; s < self->n_streams; s++)
      remove_from_stream (self, s, -1, p0, p1);
}

void
naive_cache_keep (NaiveCache *self, guint seq)
{
  NaiveStream *stream = &self->streams[naive_cache_get_stream (self, seq)];
  guint first_emptied = NO_CELL;

  for (guint i = 0; i < self->size; i++)
    {
      NaiveCell *cell = &stream->cells[i];
      gboolean stays = kvasir_seq_set_has (&cell->seqs, seq);

      if (cell->pos < 0)
        continue;
      cell->seqs = (KvasirSeqSet){ 0 };
      if (stays)
        kvasir_seq_set_add (&cell->seqs, seq);
      else
        {
          *cell = empty_cell;
          first_emptied = MIN (first_emptied, i);
        }
    }
  head_back_to (stream, first_emptied);
}

static void
copy_stream (NaiveCache *self, guint src, guint dst)
{
  NaiveStream *from = &self->streams[src];
  NaiveStream *to = &self->streams[dst];

  for (guint i = 0; i < self->size; i++)
    {
      to->cells[i] = empty_cell;
      if (!naive_cache_meets (self, src, i, 0, NAIVE_NO_END))
        continue;
      to->cells[i] = from->cells[i];
      to->cells[i].seqs = (KvasirSeqSet){ 0 };
      kvasir_seq_set_add (&to->cells[i].seqs, dst);
    }
  to->head = from->head;
  self->has_copies = TRUE;
}

void
naive_cache_cp (NaiveCache *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  if (src == dst)
    return;
  if (self->n_streams > 1)
    copy_stream (self, src, dst);
  else
    for (guint i = 0; i < self->size; i++)
      if (naive_cache_meets (self, src, i, p0, p1))
        kvasir_seq_set_add (&self->streams[0].cells[i].seqs, dst);
}

void
naive_cache_add (NaiveCache *self, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  guint first_emptied = NO_CELL;

  if (delta == 0 || p0 >= p1)
    return;
  for (guint i = 0; i < self->size; i++)
    {
      NaiveCell *cell = naive_cache_peek (self, seq, i);

      if (!naive_cache_meets (self, seq, i, p0, p1))
        continue;
      cell->pos += delta;
      cell->shift += delta;
      if (cell->pos >= 0)
        continue;
      *cell = empty_cell;
      first_emptied = MIN (first_emptied, i);
    }
  self->streams[naive_cache_get_stream (self, seq)].head =
      first_emptied != NO_CELL ? first_emptied : 0;
}

void
naive_cache_div (NaiveCache *self, guint seq, gint32 p0, gint32 p1, gint d)
{
  for (guint i = 0; d > 1 && i < self->size; i++)
    if (naive_cache_meets (self, seq, i, p0, p1))
      {
        NaiveCell *cell = naive_cache_peek (self, seq, i);
        gint32 before = cell->pos;

        cell->pos = before / d;
        cell->shift += before / d - before;
      }
}

void
naive_cache_clear (NaiveCache *self)
{
  for (guint s = 0; s < self->n_streams; s++)
    {
      self->streams[s].head = 0;
      for (guint i = 0; i < self->size; i++)
        self->streams[s].cells[i] = empty_cell;
    }
}

gboolean
naive_cache_update (NaiveCache *self)
{
  gboolean any = self->has_copies;

  self->has_copies = FALSE;
  for (guint s = 0; s < self->n_streams; s++)
    for (guint i = 0; i < self->size; i++)
      {
        any |= self->streams[s].cells[i].shift != 0;
        self->streams[s].cells[i].shift = 0;
      }
  return any;
}
