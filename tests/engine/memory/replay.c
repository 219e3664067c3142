#include "tests/engine/memory/replay.h"

#include <string.h>

typedef struct
{
  KvasirEvent event;
  gint32 *data; /* (owned) */
  guint n_data;
} Entry;

static void
entry_free (gpointer data)
{
  Entry *entry = data;

  g_free (entry->data);
  g_free (entry);
}

static void
add_cache (Replay *self, const KvasirMemory *memory)
{
  KvasirCacheInfo info;
  ReplayCache *cache = &self->caches[self->n_caches];

  kvasir_memory_get_cache_info (memory, self->n_caches++, &info);
  *cache = (ReplayCache){ .size = info.size, .n_streams = info.n_streams };
  cache->cells = g_new0 (KvasirCell, info.size * info.n_streams);
  cache->heads = g_new0 (guint, info.n_streams);
  for (guint i = 0; i < info.size * info.n_streams; i++)
    cache->cells[i].pos = cache->cells[i].token = -1;
}

Replay *
replay_new (const KvasirMemory *memory)
{
  Replay *self = g_new0 (Replay, 1);

  while (memory != NULL && self->n_caches < kvasir_memory_get_n_caches (memory))
    add_cache (self, memory);
  self->log = g_ptr_array_new_with_free_func (entry_free);
  return self;
}

void
replay_free (Replay *self)
{
  for (guint c = 0; c < self->n_caches; c++)
    {
      g_free (self->caches[c].cells);
      g_free (self->caches[c].heads);
    }
  g_ptr_array_unref (self->log);
  g_free (self);
}

static void
record (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data)
{
  Replay *self = user_data;
  Entry *entry = g_new0 (Entry, 1);

  entry->event = *event;
  entry->data = g_memdup2 (data, n_data * sizeof *data);
  entry->n_data = n_data;
  g_ptr_array_add (self->log, entry);
}

KvasirEventSink
replay_get_sink (Replay *self)
{
  return (KvasirEventSink){ .emit = record, .user_data = self };
}

guint
replay_get_n_events (const Replay *self)
{
  return self->log->len;
}

const KvasirEvent *
replay_peek_event (const Replay *self, guint i, const gint32 **data)
{
  const Entry *entry = g_ptr_array_index (self->log, i);

  if (data != NULL)
    *data = entry->data;
  return &entry->event;
}

static void
assert_cell (const KvasirCell *cell, const KvasirRunState *state, gint32 i, const gint32 *tokens)
{
  g_assert_cmpint (cell->pos, ==, state->pos >= 0 ? state->pos + i : -1);
  g_assert_cmpint (cell->shift, ==, state->shift);
  g_assert_cmpint (cell->token, ==, state->pos >= 0 ? tokens[i] : -1);
  g_assert_true (kvasir_seq_set_equal (&cell->seqs, &state->seqs));
}

static void
set_cell (KvasirCell *cell, const KvasirRunState *state, gint32 i, const gint32 *tokens)
{
  cell->pos = state->pos >= 0 ? state->pos + i : -1;
  cell->shift = state->shift;
  cell->token = state->pos >= 0 ? tokens[i] : -1;
  cell->seqs = state->seqs;
}

static void
play_cells (ReplayCache *cache, const Entry *entry, gboolean forward)
{
  const KvasirEvent *event = &entry->event;
  guint n = (guint) event->n;
  guint n_before = event->before.pos >= 0 ? n : 0;
  guint n_after = event->after.pos >= 0 ? n : 0;
  const gint32 *tokens_before = entry->data;
  const gint32 *tokens_after = entry->data + n_before;
  KvasirCell *cells = cache->cells + event->stream * cache->size + event->cell;

  g_assert_cmpint (event->n, >, 0);
  g_assert_cmpint (event->cell, >=, 0);
  g_assert_cmpuint ((guint) event->cell + n, <=, cache->size);
  g_assert_cmpuint (entry->n_data, ==, n_before + n_after);
  for (gint32 i = 0; i < event->n; i++)
    {
      assert_cell (&cells[i], forward ? &event->before : &event->after, i,
                   forward ? tokens_before : tokens_after);
      set_cell (&cells[i], forward ? &event->after : &event->before, i,
                forward ? tokens_after : tokens_before);
    }
}

static void
play_number (guint *number, gint64 from, gint64 to)
{
  g_assert_cmpint (*number, ==, from);
  g_assert_cmpint (from, !=, to);
  *number = (guint) to;
}

static void
play (Replay *self, const Entry *entry, gboolean forward)
{
  const KvasirEvent *event = &entry->event;
  ReplayCache *cache = &self->caches[event->cache];

  g_assert_cmpuint (event->cache, <, self->n_caches);
  g_assert_cmpuint (event->stream, <, cache->n_streams);
  if (event->type == KVASIR_EVENT_CELLS)
    play_cells (cache, entry, forward);
  else if (event->type == KVASIR_EVENT_HEAD)
    play_number (&cache->heads[event->stream], forward ? event->a : event->cell,
                 forward ? event->cell : event->a);
  else if (event->type == KVASIR_EVENT_HORIZON)
    play_number (&cache->n_kv, forward ? event->b : event->a, forward ? event->a : event->b);
}

void
replay_seek (Replay *self, guint n)
{
  while (self->n_played < n)
    play (self, g_ptr_array_index (self->log, self->n_played++), TRUE);
  while (self->n_played > n)
    play (self, g_ptr_array_index (self->log, --self->n_played), FALSE);
}

static void
assert_same_cells (const ReplayCache *cache, const KvasirMemory *memory, guint c, guint stream)
{
  for (guint i = 0; i < cache->size; i++)
    {
      KvasirCell cell;
      const KvasirCell *played = &cache->cells[stream * cache->size + i];

      kvasir_memory_get_cell (memory, c, stream, i, &cell);
      g_assert_cmpint (played->pos, ==, cell.pos);
      g_assert_cmpint (played->shift, ==, cell.shift);
      g_assert_cmpint (played->token, ==, cell.token);
      g_assert_true (kvasir_seq_set_equal (&played->seqs, &cell.seqs));
    }
}

void
replay_assert_same (const Replay *self, const KvasirMemory *memory)
{
  for (guint c = 0; c < self->n_caches; c++)
    {
      const ReplayCache *cache = &self->caches[c];

      g_assert_cmpuint (cache->n_kv, ==, kvasir_memory_get_n_kv (memory, c));
      for (guint s = 0; s < cache->n_streams; s++)
        {
          g_assert_cmpuint (cache->heads[s], ==, kvasir_memory_get_head (memory, c, s));
          assert_same_cells (cache, memory, c, s);
        }
    }
}

void
replay_assert_empty (const Replay *self)
{
  for (guint c = 0; c < self->n_caches; c++)
    for (guint i = 0; i < self->caches[c].size * self->caches[c].n_streams; i++)
      g_assert_cmpint (self->caches[c].cells[i].pos, ==, -1);
}

static guint64
mix (guint64 hash, guint64 number)
{
  return (hash ^ number) * 1099511628211u;
}

static guint64
hash_cell (guint64 hash, const KvasirCell *cell)
{
  hash = mix (mix (mix (hash, (guint32) cell->pos), (guint32) cell->shift), (guint32) cell->token);
  for (guint w = 0; w < G_N_ELEMENTS (cell->seqs.w); w++)
    hash = mix (hash, cell->seqs.w[w]);
  return hash;
}

guint64
replay_hash (const Replay *self)
{
  guint64 hash = 14695981039346656037u;

  for (guint c = 0; c < self->n_caches; c++)
    {
      const ReplayCache *cache = &self->caches[c];

      hash = mix (hash, cache->n_kv);
      for (guint s = 0; s < cache->n_streams; s++)
        hash = mix (hash, cache->heads[s]);
      for (guint i = 0; i < cache->size * cache->n_streams; i++)
        hash = hash_cell (hash, &cache->cells[i]);
    }
  return hash;
}
