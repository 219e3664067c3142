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

Replay *
replay_new (guint size)
{
  Replay *self = g_new0 (Replay, 1);

  self->size = size;
  self->cells = g_new0 (KvasirCell, size);
  for (guint i = 0; i < size; i++)
    self->cells[i].pos = self->cells[i].token = -1;
  self->log = g_ptr_array_new_with_free_func (entry_free);
  return self;
}

void
replay_free (Replay *self)
{
  g_ptr_array_unref (self->log);
  g_free (self->cells);
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
play_cells (Replay *self, const Entry *entry, gboolean forward)
{
  const KvasirEvent *event = &entry->event;
  guint n = (guint) event->n;
  guint n_before = event->before.pos >= 0 ? n : 0;
  guint n_after = event->after.pos >= 0 ? n : 0;
  const gint32 *tokens_before = entry->data;
  const gint32 *tokens_after = entry->data + n_before;

  g_assert_cmpint (event->n, >, 0);
  g_assert_cmpint (event->cell, >=, 0);
  g_assert_cmpuint ((guint) event->cell + n, <=, self->size);
  g_assert_cmpuint (entry->n_data, ==, n_before + n_after);
  for (gint32 i = 0; i < event->n; i++)
    {
      KvasirCell *cell = &self->cells[event->cell + i];

      assert_cell (cell, forward ? &event->before : &event->after, i,
                   forward ? tokens_before : tokens_after);
      set_cell (cell, forward ? &event->after : &event->before, i,
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

  if (event->type == KVASIR_EVENT_CELLS)
    play_cells (self, entry, forward);
  else if (event->type == KVASIR_EVENT_HEAD)
    play_number (&self->head, forward ? event->a : event->cell, forward ? event->cell : event->a);
  else if (event->type == KVASIR_EVENT_HORIZON)
    play_number (&self->n_kv, forward ? event->b : event->a, forward ? event->a : event->b);
}

void
replay_seek (Replay *self, guint n)
{
  while (self->n_played < n)
    play (self, g_ptr_array_index (self->log, self->n_played++), TRUE);
  while (self->n_played > n)
    play (self, g_ptr_array_index (self->log, --self->n_played), FALSE);
}

void
replay_assert_same (const Replay *self, const KvasirMemory *memory)
{
  g_assert_cmpuint (self->head, ==, kvasir_memory_get_head (memory, 0, 0));
  g_assert_cmpuint (self->n_kv, ==, kvasir_memory_get_n_kv (memory, 0));
  for (guint i = 0; i < self->size; i++)
    {
      KvasirCell cell;
      const KvasirCell *played = &self->cells[i];

      kvasir_memory_get_cell (memory, 0, 0, i, &cell);
      g_assert_cmpint (played->pos, ==, cell.pos);
      g_assert_cmpint (played->shift, ==, cell.shift);
      g_assert_cmpint (played->token, ==, cell.token);
      g_assert_true (kvasir_seq_set_equal (&played->seqs, &cell.seqs));
    }
}

guint64
replay_hash (const Replay *self)
{
  guint64 hash = self->head * 31u + self->n_kv;

  for (guint i = 0; i < self->size; i++)
    {
      const KvasirCell *cell = &self->cells[i];

      hash = hash * 1099511628211u + (guint32) cell->pos;
      hash = hash * 1099511628211u + (guint32) cell->shift;
      hash = hash * 1099511628211u + (guint32) cell->token;
      for (guint w = 0; w < G_N_ELEMENTS (cell->seqs.w); w++)
        hash = hash * 1099511628211u + cell->seqs.w[w];
    }
  return hash;
}
