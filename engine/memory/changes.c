#include "engine/memory/changes.h"

#include <string.h>

#include "engine/memory/memory-private.h"

gboolean
kvasir_changes_init (KvasirChanges *self, const KvasirPart *part, guint size)
{
  *self = (KvasirChanges){ .part = part, .size = size };
  self->tokens = g_try_new (gint32, (gsize) 2 * size);
  return self->tokens != NULL;
}

void
kvasir_changes_clear (KvasirChanges *self)
{
  g_free (self->tokens);
}

static void
read_state (const KvasirCells *cells, guint cell, KvasirRunState *state)
{
  state->pos = cells->pos[cell];
  state->shift = cells->shift[cell];
  kvasir_cells_get_seqs (cells, cell, &state->seqs);
}

gboolean
kvasir_changes_are_watched (const KvasirChanges *self)
{
  return !self->is_muted && kvasir_memory_is_watched (self->part->memory);
}

void
kvasir_changes_before_bits (KvasirChanges *self, const KvasirCells *cells, guint w, guint64 bits)
{
  if (!kvasir_changes_are_watched (self))
    return;
  for (; bits != 0; bits &= bits - 1)
    {
      guint i = (guint) __builtin_ctzll (bits);

      read_state (cells, w * 64 + i, &self->before[i]);
      self->tokens_before[i] = cells->origins[w * 64 + i].token;
    }
}

void
kvasir_changes_before (KvasirChanges *self, const KvasirCells *cells, guint cell)
{
  kvasir_changes_before_bits (self, cells, cell / 64, KVASIR_BIT (cell));
}

static gboolean
states_equal (const KvasirRunState *a, const KvasirRunState *b)
{
  return a->pos == b->pos && a->shift == b->shift && kvasir_seq_set_equal (&a->seqs, &b->seqs);
}

/* Whether @state is what a run that starts with @first holds @n cells further on. */
static gboolean
goes_on (const KvasirRunState *first, gint32 n, const KvasirRunState *state)
{
  KvasirRunState expected = *first;

  if (first->pos >= 0)
    expected.pos += n;
  return states_equal (&expected, state);
}

static void
add_change (KvasirChanges *self, const KvasirCells *cells, guint cell)
{
  KvasirEvent *run = &self->run;
  const KvasirRunState *before = &self->before[cell % 64];
  gint32 token = self->tokens_before[cell % 64];
  KvasirRunState after;

  read_state (cells, cell, &after);
  if (states_equal (before, &after) && token == cells->origins[cell].token)
    return;

  if (run->n > 0 &&
      ((guint) (run->cell + run->n) != cell || !goes_on (&run->before, run->n, before) ||
       !goes_on (&run->after, run->n, &after)))
    kvasir_changes_flush (self);
  if (run->n == 0)
    {
      run->cell = (gint32) cell;
      run->before = *before;
      run->after = after;
    }
  self->tokens[run->n] = token;
  self->tokens[self->size + (guint) run->n] = cells->origins[cell].token;
  run->n++;
}

void
kvasir_changes_after_bits (KvasirChanges *self, const KvasirCells *cells, guint w, guint64 bits)
{
  if (!kvasir_changes_are_watched (self))
    return;
  for (; bits != 0; bits &= bits - 1)
    add_change (self, cells, w * 64 + (guint) __builtin_ctzll (bits));
}

void
kvasir_changes_after (KvasirChanges *self, const KvasirCells *cells, guint cell)
{
  kvasir_changes_after_bits (self, cells, cell / 64, KVASIR_BIT (cell));
}

void
kvasir_changes_flush (KvasirChanges *self)
{
  KvasirEvent *run = &self->run;
  guint n = (guint) run->n;
  guint n_before = run->before.pos >= 0 ? n : 0;
  guint n_after = run->after.pos >= 0 ? n : 0;

  if (n == 0)
    return;
  memmove (self->tokens + n_before, self->tokens + self->size, n_after * sizeof *self->tokens);
  run->type = KVASIR_EVENT_CELLS;
  run->cache = self->part->cache;
  run->stream = self->stream;
  run->seq = -1;
  run->pos = -1;
  kvasir_memory_emit (self->part->memory, run, self->tokens, n_before + n_after);
  run->n = 0;
}
