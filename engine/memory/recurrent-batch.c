/* The two phases. A scan reads one row and writes another, so that an ubatch leaves the earlier
 * states as they are; they are let go when it was computed, or taken up again when it failed. */
#include "engine/memory/recurrent-private.h"

/* Whether each run of n_seq_tokens tokens has one set of sequences, and no sequence two runs. */
static gboolean
is_equal (const KvasirUbatch *ubatch)
{
  KvasirSeqSet all = { 0 };

  for (guint i = 0; i < ubatch->n_tokens; i++)
    {
      const KvasirSeqSet *seqs = &ubatch->seqs[i];
      KvasirSeqSet both = kvasir_seq_set_intersect (&all, seqs);

      if (i % ubatch->n_seq_tokens != 0)
        {
          if (!kvasir_seq_set_equal (seqs, &ubatch->seqs[i - 1]))
            return FALSE;
          continue;
        }
      if (!kvasir_seq_set_is_empty (&both))
        return FALSE;
      kvasir_seq_set_unite (&all, seqs);
    }
  return TRUE;
}

gboolean
kvasir_recurrent_prepare (KvasirPart *part, const KvasirBatchPlan *plan, gboolean relaxed)
{
  for (guint i = 0; i < kvasir_batch_plan_get_n_ubatches (plan); i++)
    if (!is_equal (kvasir_batch_plan_get_ubatch (plan, i)))
      return FALSE;
  return TRUE;
}

/* Where the state of @seq is read from. */
static gint32
get_read_row (const KvasirRecurrent *self, guint seq)
{
  const KvasirState *state = kvasir_recurrent_find (self, seq);

  return state != NULL ? (gint32) state->kept[0].row : -1;
}

/* The sequences of @seqs leave their states for @state; what they had is noted. */
static void
move_to (KvasirRecurrent *self, KvasirState *state, const KvasirSeqSet *seqs)
{
  for (gint seq = kvasir_seq_set_next (seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (seqs, (guint) seq + 1))
    {
      self->moved[self->n_moved] = (guint32) seq;
      self->moved_from[self->n_moved++] = self->state_of[seq];
      kvasir_recurrent_leave (self, (guint) seq);
      kvasir_recurrent_join (self, state, (guint) seq);
    }
}

void
kvasir_recurrent_apply (KvasirPart *part, const KvasirUbatch *ubatch, guint i)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  guint n_kept = MIN (1 + self->n_rs_seq, ubatch->n_seq_tokens);

  g_return_if_fail (self->n_written == 0);

  self->n_moved = 0;
  for (guint s = 0; s < ubatch->n_seqs; s++)
    {
      guint first = s * ubatch->n_seq_tokens;
      guint last = first + ubatch->n_seq_tokens - 1;
      KvasirState *state = kvasir_recurrent_take_state (self);

      self->read_rows[s] = get_read_row (self, (guint) ubatch->leads[first]);
      for (guint k = 0; k < n_kept; k++)
        kvasir_recurrent_add_row (self, state, ubatch->pos[last - k], ubatch->tokens[last - k]);
      move_to (self, state, &ubatch->seqs[first]);
      self->written[self->n_written++] = (guint32) (state - self->states);
    }
  kvasir_recurrent_report (self);
}

void
kvasir_recurrent_commit (KvasirPart *part)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;

  for (guint m = 0; m < self->n_moved; m++)
    if (self->moved_from[m] != KVASIR_NO_STATE)
      kvasir_recurrent_drop_unowned (self, &self->states[self->moved_from[m]]);
  self->n_moved = 0;
  self->n_written = 0;
}

void
kvasir_recurrent_rollback (KvasirPart *part)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;

  g_return_if_fail (self->n_written > 0);

  for (guint m = 0; m < self->n_moved; m++)
    {
      kvasir_recurrent_leave (self, self->moved[m]);
      if (self->moved_from[m] != KVASIR_NO_STATE)
        kvasir_recurrent_join (self, &self->states[self->moved_from[m]], self->moved[m]);
    }
  for (guint w = 0; w < self->n_written; w++)
    kvasir_recurrent_drop_unowned (self, &self->states[self->written[w]]);
  self->n_moved = 0;
  self->n_written = 0;
  kvasir_recurrent_report (self);
}

/* A state has no length: there is always room. */
KvasirRoom
kvasir_recurrent_get_room (const KvasirPart *part, guint seq, guint n_tokens)
{
  return (KvasirRoom){
    .n_needed = n_tokens, .n_free = G_MAXINT, .largest_free_run = G_MAXINT, .fits = TRUE
  };
}

void
kvasir_recurrent_fill_state_rows (const KvasirPart *part, gint32 *rows)
{
  const KvasirRecurrent *self = (const KvasirRecurrent *) part;

  for (guint s = 0; s < self->n_written; s++)
    {
      const KvasirState *state = &self->states[self->written[s]];
      gint32 *of = rows + (gsize) s * (2 + self->n_rs_seq);

      of[0] = self->read_rows[s];
      for (guint k = 0; k <= self->n_rs_seq; k++)
        of[1 + k] = k < state->n_kept ? (gint32) state->kept[k].row : -1;
    }
}
