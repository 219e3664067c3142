/* Who owns which state, and which rows it keeps. A row is free where no state keeps it. */
#include "engine/memory/recurrent-private.h"

KvasirState *
kvasir_recurrent_find (const KvasirRecurrent *self, guint seq)
{
  guint32 i = self->state_of[seq];

  return i != KVASIR_NO_STATE ? &self->states[i] : NULL;
}

KvasirState *
kvasir_recurrent_take_state (KvasirRecurrent *self)
{
  for (guint i = 0; i < self->n_states; i++)
    if (self->states[i].n_kept == 0)
      {
        self->states[i].step = self->parent.memory->step;
        return &self->states[i];
      }
  /* There are as many as sequences and once more for the ubatch in flight. */
  g_assert_not_reached ();
}

void
kvasir_recurrent_add_row (KvasirRecurrent *self, KvasirState *state, gint32 pos, gint32 token)
{
  guint32 row;

  g_assert (self->n_free_rows > 0 && state->n_kept <= self->n_rs_seq);

  row = self->free_rows[--self->n_free_rows];
  self->n_users[row] = 1;
  state->kept[state->n_kept++] = (KvasirKeptRow){ .row = row, .pos = pos, .token = token };
}

void
kvasir_recurrent_share_row (KvasirRecurrent *self, KvasirState *state, const KvasirKeptRow *kept)
{
  g_assert (state->n_kept <= self->n_rs_seq);

  self->n_users[kept->row]++;
  state->kept[state->n_kept++] = *kept;
}

void
kvasir_recurrent_join (KvasirRecurrent *self, KvasirState *state, guint seq)
{
  kvasir_seq_set_add (&state->seqs, seq);
  self->state_of[seq] = (guint32) (state - self->states);
}

KvasirState *
kvasir_recurrent_leave (KvasirRecurrent *self, guint seq)
{
  KvasirState *state = kvasir_recurrent_find (self, seq);

  if (state != NULL)
    kvasir_seq_set_remove (&state->seqs, seq);
  self->state_of[seq] = KVASIR_NO_STATE;
  return state;
}

void
kvasir_recurrent_drop_unowned (KvasirRecurrent *self, KvasirState *state)
{
  if (state == NULL || !kvasir_seq_set_is_empty (&state->seqs))
    return;
  for (guint k = 0; k < state->n_kept; k++)
    if (--self->n_users[state->kept[k].row] == 0)
      self->free_rows[self->n_free_rows++] = state->kept[k].row;
  state->n_kept = 0;
}

static void
describe (const KvasirRecurrent *self, guint cell, KvasirCell *out)
{
  const KvasirState *state = kvasir_recurrent_find (self, cell);

  *out = (KvasirCell){ .pos = -1, .token = -1 };
  if (state == NULL || kvasir_seq_set_next (&state->seqs, 0) != (gint) cell)
    return;
  out->pos = state->kept[0].pos;
  out->token = state->kept[0].token;
  out->step = state->step;
  out->seqs = state->seqs;
}

static gboolean
cells_equal (const KvasirCell *a, const KvasirCell *b)
{
  return a->pos == b->pos && a->token == b->token && kvasir_seq_set_equal (&a->seqs, &b->seqs);
}

static void
emit_cell (const KvasirRecurrent *self, guint cell, const KvasirCell *after)
{
  const KvasirCell *before = &self->shown[cell];
  gint32 tokens[2];
  guint n = 0;
  KvasirEvent event = { .type = KVASIR_EVENT_CELLS,
                        .cache = self->parent.cache,
                        .seq = -1,
                        .cell = (gint32) cell,
                        .n = 1,
                        .pos = -1,
                        .before = { .pos = before->pos, .seqs = before->seqs },
                        .after = { .pos = after->pos, .seqs = after->seqs } };

  if (before->pos >= 0)
    tokens[n++] = before->token;
  if (after->pos >= 0)
    tokens[n++] = after->token;
  kvasir_memory_emit (self->parent.memory, &event, tokens, n);
}

void
kvasir_recurrent_report (KvasirRecurrent *self)
{
  for (guint cell = 0; cell < self->n_seq_max; cell++)
    {
      KvasirCell now;

      describe (self, cell, &now);
      if (!cells_equal (&now, &self->shown[cell]) && kvasir_memory_is_watched (self->parent.memory))
        emit_cell (self, cell, &now);
      self->shown[cell] = now;
    }
}
