#include "tests/engine/memory/naive.h"

#include <string.h>

static void
add_cache (Naive *self, guint size, gboolean slides)
{
  NaiveCache *cache = &self->caches[self->n_caches++];

  *cache = (NaiveCache){
    .shape = &self->shape, .size = size, .slides = slides, .n_streams = self->shape.n_streams
  };
  cache->streams = g_new0 (NaiveStream, cache->n_streams);
  for (guint s = 0; s < cache->n_streams; s++)
    cache->streams[s].cells = g_new0 (NaiveCell, size);
  naive_cache_clear (cache);
}

Naive *
naive_new (const NaiveShape *shape)
{
  Naive *self = g_new0 (Naive, 1);
  gboolean has_pair =
      shape->klass == KVASIR_MEMORY_KV_ISWA || shape->klass == KVASIR_MEMORY_HYBRID_ISWA;

  self->shape = *shape;
  self->has_states = shape->klass == KVASIR_MEMORY_RECURRENT ||
                     shape->klass == KVASIR_MEMORY_HYBRID ||
                     shape->klass == KVASIR_MEMORY_HYBRID_ISWA;
  if (shape->klass != KVASIR_MEMORY_RECURRENT)
    add_cache (self, shape->size, FALSE);
  if (has_pair)
    add_cache (self, shape->swa_size, TRUE);
  self->states = g_new0 (NaiveState, shape->n_seqs);
  self->state_of = g_new (gint, shape->n_seqs);
  for (guint seq = 0; seq < shape->n_seqs; seq++)
    self->state_of[seq] = -1;
  return self;
}

void
naive_cache_copy (NaiveCache *self, const NaiveCache *other)
{
  self->has_copies = other->has_copies;
  for (guint s = 0; s < self->n_streams; s++)
    {
      self->streams[s].head = other->streams[s].head;
      memcpy (self->streams[s].cells, other->streams[s].cells, self->size * sizeof (NaiveCell));
    }
}

Naive *
naive_copy (const Naive *self)
{
  Naive *copy = naive_new (&self->shape);

  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_copy (&copy->caches[c], &self->caches[c]);
  memcpy (copy->states, self->states, self->shape.n_seqs * sizeof *self->states);
  memcpy (copy->state_of, self->state_of, self->shape.n_seqs * sizeof *self->state_of);
  return copy;
}

static void
clear_all (Naive *self)
{
  for (guint c = 0; c < self->n_caches; c++)
    {
      for (guint s = 0; s < self->caches[c].n_streams; s++)
        g_free (self->caches[c].streams[s].cells);
      g_free (self->caches[c].streams);
    }
  g_free (self->states);
  g_free (self->state_of);
}

void
naive_take (Naive *self, Naive *other)
{
  clear_all (self);
  *self = *other;
  for (guint c = 0; c < self->n_caches; c++)
    self->caches[c].shape = &self->shape;
  g_free (other);
}

void
naive_free (Naive *self)
{
  if (self == NULL)
    return;
  clear_all (self);
  g_free (self);
}

/* ---- questions about a cache */

guint
naive_cache_get_stream (const NaiveCache *self, guint seq)
{
  return self->n_streams == 1 ? 0 : seq;
}

NaiveCell *
naive_cache_peek (const NaiveCache *self, guint seq, guint cell)
{
  return &self->streams[naive_cache_get_stream (self, seq)].cells[cell];
}

gboolean
naive_cache_meets (const NaiveCache *self, guint seq, guint cell, gint32 p0, gint32 p1)
{
  const NaiveCell *it = naive_cache_peek (self, seq, cell);

  return it->pos >= 0 && kvasir_seq_set_has (&it->seqs, seq) && it->pos >= p0 && it->pos < p1;
}

gint32
naive_cache_first (const NaiveCache *self, guint seq)
{
  gint32 first = -1;

  for (guint i = 0; i < self->size; i++)
    if (naive_cache_meets (self, seq, i, 0, NAIVE_NO_END))
      {
        gint32 pos = naive_cache_peek (self, seq, i)->pos;

        first = first < 0 ? pos : MIN (first, pos);
      }
  return first;
}

gint32
naive_cache_last (const NaiveCache *self, guint seq)
{
  gint32 last = -1;

  for (guint i = 0; i < self->size; i++)
    if (naive_cache_meets (self, seq, i, 0, NAIVE_NO_END))
      last = MAX (last, naive_cache_peek (self, seq, i)->pos);
  return last;
}

guint
naive_cache_used (const NaiveCache *self, guint stream)
{
  guint n = 0;

  for (guint i = 0; i < self->size; i++)
    n += self->streams[stream].cells[i].pos >= 0;
  return n;
}

guint
naive_cache_largest_free_run (const NaiveCache *self, guint stream)
{
  guint largest = 0;
  guint n = 0;

  for (guint i = 0; i < self->size; i++)
    {
      n = self->streams[stream].cells[i].pos < 0 ? n + 1 : 0;
      largest = MAX (largest, n);
    }
  return largest;
}

gboolean
naive_cache_masks (const NaiveCache *self, gint32 pos, gint32 query)
{
  gint32 n_swa = (gint32) self->shape->n_swa;

  if (!self->slides)
    return FALSE;
  if (self->shape->window == KVASIR_WINDOW_CHUNKED)
    return pos < query / n_swa * n_swa;
  return query - pos >= n_swa;
}

/* ---- questions about the whole */

gint32
naive_first (const Naive *self, guint seq)
{
  gint32 first = -1;

  if (self->n_caches > 0)
    first = naive_cache_first (&self->caches[self->n_caches - 1], seq);
  if (self->n_caches == 2 && first < 0)
    first = naive_cache_first (&self->caches[0], seq);
  if (naive_find_state (self, seq) != NULL)
    first = MAX (first, naive_find_state (self, seq)->pos[0]);
  return first;
}

/* Where there are cells but no state, the cells tell. */
gint32
naive_last (const Naive *self, guint seq)
{
  gint32 last = -1;

  if (self->n_caches > 0)
    last = naive_cache_last (&self->caches[self->n_caches - 1], seq);
  if (self->n_caches == 2 && last < 0)
    last = naive_cache_last (&self->caches[0], seq);
  if (naive_find_state (self, seq) == NULL)
    return last;
  return self->n_caches > 0 ? MIN (last, naive_find_state (self, seq)->pos[0])
                            : naive_find_state (self, seq)->pos[0];
}

gboolean
naive_lacks_state (const Naive *self, guint seq)
{
  return self->has_states && self->n_caches > 0 && naive_find_state (self, seq) == NULL &&
         naive_cache_last (&self->caches[0], seq) >= 0;
}

static gboolean
cache_has_update (const NaiveCache *self)
{
  for (guint s = 0; s < self->n_streams; s++)
    for (guint i = 0; i < self->size; i++)
      if (self->streams[s].cells[i].shift != 0)
        return TRUE;
  return self->has_copies;
}

gboolean
naive_has_update (const Naive *self)
{
  for (guint c = 0; c < self->n_caches; c++)
    if (cache_has_update (&self->caches[c]))
      return TRUE;
  return FALSE;
}
