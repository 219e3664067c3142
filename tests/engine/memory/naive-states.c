/* The operations on states. A state is a number that depends on all tokens read in order, so that a
 * wrong one is told from the right one. */
#include "tests/engine/memory/naive.h"

NaiveState *
naive_find_state (const Naive *self, guint seq)
{
  gint i = self->has_states ? self->state_of[seq] : -1;

  return i >= 0 ? &self->states[i] : NULL;
}

guint32
naive_scan (guint32 value, gint32 token)
{
  return (31 * value + (guint32) token + 1) % 65521;
}

/* A place that no sequence has; the caller's sequences have left theirs. */
static gint
find_free (const Naive *self)
{
  for (gint i = 0; i < (gint) self->shape.n_seqs; i++)
    {
      gboolean is_taken = FALSE;

      for (guint seq = 0; seq < self->shape.n_seqs; seq++)
        is_taken |= self->state_of[seq] == i;
      if (!is_taken)
        return i;
    }
  g_assert_not_reached ();
}

static void
keep_row (NaiveState *state, guint n_most, gint32 pos, guint32 value)
{
  guint n = MIN (state->n_kept + 1, n_most);

  for (guint k = n; k-- > 1;)
    {
      state->pos[k] = state->pos[k - 1];
      state->value[k] = state->value[k - 1];
    }
  state->pos[0] = pos;
  state->value[0] = value;
  state->n_kept = n;
}

void
naive_states_apply (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  for (guint first = 0; first < ubatch->n; first += ubatch->n_seq_tokens)
    {
      const NaiveToken *token = &batch[ubatch->index[first]];
      const NaiveState *before = naive_find_state (self, (guint) token->lead);
      guint32 value = before != NULL ? before->value[0] : 0;
      NaiveState after = { 0 };
      gint place;

      for (guint t = first; t < first + ubatch->n_seq_tokens; t++)
        {
          value = naive_scan (value, batch[ubatch->index[t]].token);
          keep_row (&after, self->shape.n_rs_seq + 1, batch[ubatch->index[t]].pos, value);
        }
      for (guint seq = 0; seq < self->shape.n_seqs; seq++)
        if (kvasir_seq_set_has (&token->seqs, seq))
          self->state_of[seq] = -1;
      place = find_free (self);
      self->states[place] = after;
      for (guint seq = 0; seq < self->shape.n_seqs; seq++)
        if (kvasir_seq_set_has (&token->seqs, seq))
          self->state_of[seq] = place;
    }
}

/* The kept entry to go back to, or 0 where there is none. */
static guint
find_earlier (const NaiveState *state, gint32 p0)
{
  if (state->pos[0] - p0 + 1 > (gint32) state->n_kept - 1)
    return 0;
  for (guint k = 1; k < state->n_kept; k++)
    if (state->pos[k] < p0)
      return k;
  return 0;
}

gboolean
naive_states_can_remove (const Naive *self, gint seq, gint32 p0, gint32 p1)
{
  const NaiveState *state;

  if (!self->has_states)
    return TRUE;
  if (seq < 0)
    return FALSE;
  state = naive_find_state (self, (guint) seq);
  if (state == NULL || p0 == 0 || state->pos[0] < p0 || state->pos[0] >= p1)
    return TRUE;
  return find_earlier (state, p0) > 0;
}

void
naive_states_remove (Naive *self, guint seq, gint32 p0, gint32 p1)
{
  const NaiveState *state = naive_find_state (self, seq);
  NaiveState earlier = { .n_kept = 1, .pos = { p0 - 1 } };

  if (state == NULL || state->pos[0] < p0 || state->pos[0] >= p1)
    return;
  if (p0 > 0)
    earlier.value[0] = state->value[find_earlier (state, p0)];
  self->state_of[seq] = -1;
  if (p0 > 0)
    naive_states_set (self, seq, &earlier);
}

void
naive_states_keep (Naive *self, gint seq)
{
  for (guint other = 0; other < self->shape.n_seqs; other++)
    if ((gint) other != seq)
      self->state_of[other] = -1;
}

void
naive_states_cp (Naive *self, guint src, guint dst)
{
  self->state_of[dst] = self->state_of[src];
}

void
naive_states_move (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta, gint d)
{
  NaiveState *state = naive_find_state (self, seq);
  gint place = self->state_of[seq];

  for (guint k = 0; state != NULL && k < state->n_kept; k++)
    if (state->pos[k] >= p0 && state->pos[k] < p1)
      state->pos[k] = (state->pos[k] + delta) / d;
  for (guint other = 0; state != NULL && state->pos[0] < 0 && other < self->shape.n_seqs; other++)
    if (self->state_of[other] == place)
      self->state_of[other] = -1;
}

void
naive_states_set (Naive *self, guint seq, const NaiveState *state)
{
  NaiveState own = { .n_kept = 1, .pos = { state->pos[0] }, .value = { state->value[0] } };

  self->state_of[seq] = -1;
  self->state_of[seq] = find_free (self);
  self->states[self->state_of[seq]] = own;
}
