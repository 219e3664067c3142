/* Random operations on states, compared after each one with a naive model: every sequence has a
 * list of the tokens that it has read, and what may be taken back is counted as the placement rules
 * say. In the slow mode there are more of them. */
#include "tests/engine/memory/state-rig.h"

#include <string.h>

#define N_SEQS 4
#define MAX_HISTORY 4096

/* A state; sequences share one after a copy. */
typedef struct
{
  guint n_refs;
  guint n_tokens;
  guint can_take_back;
  gint32 pos; /* after going back not that of the last token */
  gint32 tokens[MAX_HISTORY];
  gint32 positions[MAX_HISTORY];
} Story;

typedef struct
{
  StateRig rig;
  GRand *rand;
  Story *stories[N_SEQS]; /* NULL: nothing read */
} Fixture;

static Story *
story_copy (const Story *self)
{
  Story *copy = self != NULL ? g_memdup2 (self, sizeof *self) : g_new0 (Story, 1);

  copy->n_refs = 0;
  return copy;
}

static void
tell (Fixture *self, guint seq, Story *story)
{
  Story *old = self->stories[seq];

  if (story != NULL)
    story->n_refs++;
  self->stories[seq] = story;
  if (old != NULL && --old->n_refs == 0)
    g_free (old);
}

static gint
draw (Fixture *self, gint low, gint high)
{
  return g_rand_int_range (self->rand, low, high + 1);
}

/* Numbers below @least count as it. */
static gint
draw_not_below (Fixture *self, gint least, gint low, gint high)
{
  gint number = draw (self, low, high);

  return MAX (number, least);
}

static gint32
get_last (Fixture *self, guint seq)
{
  return self->stories[seq] != NULL ? self->stories[seq]->pos : -1;
}

/* ---- decoding */

static void
read_token (Story *story, gint32 token, gint32 pos)
{
  g_assert_cmpuint (story->n_tokens, <, MAX_HISTORY);
  story->tokens[story->n_tokens] = token;
  story->positions[story->n_tokens++] = pos;
  story->pos = pos;
}

static void
follow (Fixture *self, const KvasirUbatch *ubatch)
{
  for (guint s = 0; s < ubatch->n_seqs; s++)
    {
      guint first = s * ubatch->n_seq_tokens;
      const KvasirSeqSet *seqs = &ubatch->seqs[first];
      Story *story = story_copy (self->stories[ubatch->leads[first]]);

      for (guint t = first; t < first + ubatch->n_seq_tokens; t++)
        read_token (story, ubatch->tokens[t], ubatch->pos[t]);
      story->can_take_back = MIN (self->rig.n_keep, ubatch->n_seq_tokens - 1);
      for (guint seq = 0; seq < N_SEQS; seq++)
        if (kvasir_seq_set_has (seqs, seq))
          tell (self, seq, story);
    }
}

/* Positions go on, sometimes stay or jump; tokens of several sequences follow the farthest. */
static void
make_batch (Fixture *self, StateBatch *batch)
{
  gint32 reached[N_SEQS];
  guint n = (guint) draw (self, 1, draw (self, 0, 3) == 0 ? RIG_MAX_TOKENS - 1 : 6);
  gint seq = draw (self, 0, N_SEQS - 1);

  for (guint i = 0; i < N_SEQS; i++)
    reached[i] = get_last (self, i);
  for (guint i = 0; i < n; i++)
    {
      gint other;
      gint32 pos;

      if (draw (self, 0, 2) == 0)
        seq = draw (self, 0, N_SEQS - 1);
      other = draw (self, 0, 9) == 0 ? draw (self, 0, N_SEQS - 1) : seq;
      pos = MAX (reached[seq], reached[other]) + 1;
      pos += draw (self, 0, 12) == 0 ? draw (self, 0, 5) : 0;
      state_batch_add (batch, draw (self, 1, 900), pos, seq);
      if (other != seq)
        batch->seqs[i][batch->n_seqs[i]++] = other;
      reached[seq] = reached[other] = pos;
    }
}

static void
decode (Fixture *self)
{
  StateBatch batch = { 0 };
  guint n_ubatches;

  make_batch (self, &batch);
  n_ubatches = state_rig_prepare (&self->rig, &batch);
  for (guint i = 0; i < n_ubatches; i++)
    {
      const KvasirUbatch *ubatch = state_rig_apply (&self->rig, i);

      if (draw (self, 0, 9) == 0)
        {
          self->rig.part->vtable->rollback (self->rig.part);
          return;
        }
      self->rig.part->vtable->commit (self->rig.part);
      follow (self, ubatch);
    }
}

/* ---- the other operations */

/* How many tokens stay; -1: the range can't be removed. */
static gint
count_kept (const Story *story, gint32 p0)
{
  guint n = story->n_tokens;

  if (story->pos - p0 + 1 > (gint) story->can_take_back)
    return -1;
  while (n > 0 && story->positions[n - 1] >= p0)
    n--;
  return story->n_tokens - n <= story->can_take_back ? (gint) n : -1;
}

static void
remove_range (Fixture *self)
{
  const KvasirPartVtable *vtable = self->rig.part->vtable;
  guint seq = (guint) draw (self, 0, N_SEQS - 1);
  Story *story = self->stories[seq];
  gint32 last = get_last (self, seq);
  gint32 p0 = draw_not_below (self, 0, last - 5, last + 2);
  gint32 p1 = draw (self, 0, 2) ? KVASIR_POS_END : draw_not_below (self, p0, last - 1, last + 2);
  gboolean holds = story != NULL && p0 <= last && last < p1;
  gint n_kept = holds && p0 > 0 ? count_kept (story, p0) : 0;

  g_assert_false (vtable->can_rm (self->rig.part, -1, p0, p1));
  g_assert_cmpint (vtable->can_rm (self->rig.part, (gint) seq, p0, p1), ==, n_kept >= 0);
  if (n_kept < 0)
    return;
  vtable->rm (self->rig.part, (gint) seq, p0, p1);
  if (!holds)
    return;
  story = p0 > 0 ? story_copy (story) : NULL;
  if (story != NULL)
    {
      story->n_tokens = (guint) n_kept;
      story->pos = p0 - 1;
      story->can_take_back = 0;
    }
  tell (self, seq, story);
}

static void
copy_sequence (Fixture *self)
{
  guint src = (guint) draw (self, 0, N_SEQS - 1);
  guint dst = (guint) draw (self, 0, N_SEQS - 1);

  self->rig.part->vtable->cp (self->rig.part, src, dst, 0, draw (self, 0, 9));
  if (src != dst)
    tell (self, dst, self->stories[src]);
}

static void
move_story (Story *story, gint32 p0, gint32 p1, gint32 delta, gint d)
{
  if (story->pos >= p0 && story->pos < p1)
    story->pos = (story->pos + delta) / d;
  for (guint t = 0; t < story->n_tokens; t++)
    if (story->positions[t] >= p0 && story->positions[t] < p1)
      story->positions[t] = (story->positions[t] + delta) / d;
}

static void
move_positions (Fixture *self)
{
  const KvasirPartVtable *vtable = self->rig.part->vtable;
  guint seq = (guint) draw (self, 0, N_SEQS - 1);
  Story *story = self->stories[seq];
  gint32 last = get_last (self, seq);
  gint32 p0 = draw (self, 0, 1) ? 0 : draw_not_below (self, 0, last - 3, last + 1);
  gint32 p1 = draw (self, 0, 1) ? KVASIR_POS_END : p0 + draw (self, 0, 9);
  gint32 delta = draw (self, 0, 9);
  gint d = draw (self, 1, 3);

  if (draw (self, 0, 1))
    {
      vtable->add (self->rig.part, seq, p0, p1, delta);
      d = 1;
    }
  else
    {
      vtable->div (self->rig.part, seq, p0, p1, d);
      delta = 0;
    }
  if (story != NULL)
    move_story (story, p0, p1, delta, d);
}

static void
keep_or_clear (Fixture *self)
{
  gint seq = draw (self, -1, N_SEQS - 1);

  if (seq >= 0)
    self->rig.part->vtable->keep (self->rig.part, (guint) seq);
  else
    self->rig.part->vtable->clear (self->rig.part, draw (self, 0, 1));
  for (gint other = 0; other < N_SEQS; other++)
    if (other != seq)
      tell (self, (guint) other, NULL);
}

/* ---- what is compared */

static void
assert_agrees (Fixture *self)
{
  for (guint seq = 0; seq < N_SEQS; seq++)
    {
      const Story *story = self->stories[seq];
      KvasirSeqSet sharers = { 0 };
      KvasirCell cell;
      guint first = seq;

      g_assert_cmpint (self->rig.part->vtable->pos_max (self->rig.part, seq), ==,
                       get_last (self, seq));
      state_rig_assert_state (&self->rig, (gint) seq, story != NULL ? story->tokens : NULL,
                              story != NULL ? story->n_tokens : 0);
      for (guint other = N_SEQS; other-- > 0;)
        if (story != NULL && self->stories[other] == story)
          {
            kvasir_seq_set_add (&sharers, other);
            first = other;
          }
      self->rig.part->vtable->get_cell (self->rig.part, seq, &cell);
      if (first == seq)
        g_assert_true (kvasir_seq_set_equal (&cell.seqs, &sharers));
      else
        g_assert_cmpint (cell.pos, ==, -1);
    }
  state_rig_assert_mirror (&self->rig);
}

static void
do_something (Fixture *self)
{
  switch (draw (self, 0, 19))
    {
    case 0:
      keep_or_clear (self);
      break;
    case 1:
    case 2:
      move_positions (self);
      break;
    case 3:
    case 4:
    case 5:
      copy_sequence (self);
      break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
      remove_range (self);
      break;
    default:
      decode (self);
      break;
    }
}

static void
run_sequence (guint32 seed, guint n_operations)
{
  Fixture self = { .rand = g_rand_new_with_seed (seed) };
  guint n_rs_seq = (guint) draw_not_below (&self, 0, -2, 4);

  g_test_message ("seed %u", seed);
  state_rig_init (&self.rig, N_SEQS, n_rs_seq, n_rs_seq + 2 + (guint) draw (&self, 0, 20));
  for (guint i = 0; i < n_operations; i++)
    {
      do_something (&self);
      assert_agrees (&self);
    }
  for (guint seq = 0; seq < N_SEQS; seq++)
    tell (&self, seq, NULL);
  state_rig_clear (&self.rig);
  g_rand_free (self.rand);
}

static void
test_random (void)
{
  guint n_sequences = g_test_slow () ? 10000 : 200;

  for (guint i = 0; i < n_sequences; i++)
    run_sequence ((guint32) g_test_rand_int (), 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/memory/recurrent/agrees-with-naive-model", test_random);
  return g_test_run ();
}
