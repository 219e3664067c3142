/* Lays the tokens of a completed batch out in ubatches, by the splits of the placement rules. */
#include <string.h>

#include "engine/memory/batch-private.h"

/* ---- ubatches */

/* Token @i of the batch is the next of the ubatch in hand. */
static void
take (KvasirBatchPlan *self, guint i)
{
  self->index[self->n_laid++] = i;
  self->used[i] = TRUE;
}

static void
lay_planes (KvasirBatchPlan *self, guint first, guint n)
{
  guint n_planes = self->limits.n_pos_per_token;
  gint32 *to = self->laid.pos + (gsize) first * n_planes;

  for (guint p = 0; p < n_planes; p++)
    {
      const gint32 *from = self->given.pos + (gsize) p * self->limits.n_batch;

      for (guint i = 0; i < n; i++)
        to[(gsize) p * n + i] = from[self->index[first + i]];
    }
}

/* The tokens taken since @first become an ubatch. */
static void
end_ubatch (KvasirBatchPlan *self, guint first, guint n_seq_tokens, guint n_seqs)
{
  const KvasirBatchRows *given = &self->given;
  KvasirBatchRows *laid = &self->laid;
  KvasirUbatch *ubatch = &self->ubatches[self->n_ubatches++];
  guint n = self->n_laid - first;

  *ubatch = (KvasirUbatch){ .n_tokens = n,
                            .n_seq_tokens = n_seq_tokens,
                            .n_seqs = n_seqs,
                            .tokens = laid->tokens + first,
                            .pos = laid->pos + (gsize) first * self->limits.n_pos_per_token,
                            .leads = laid->leads + first,
                            .seqs = laid->seqs + first,
                            .outputs = laid->outputs + first,
                            .index = self->index + first };
  for (guint i = first; i < self->n_laid; i++)
    {
      laid->tokens[i] = given->tokens[self->index[i]];
      laid->leads[i] = given->leads[self->index[i]];
      laid->seqs[i] = given->seqs[self->index[i]];
      laid->outputs[i] = given->outputs[self->index[i]];
      ubatch->n_outputs += laid->outputs[i];
    }
  lay_planes (self, first, n);
}

static guint
find_unused (KvasirBatchPlan *self)
{
  while (self->first_unused < self->n_tokens && self->used[self->first_unused])
    self->first_unused++;
  return self->first_unused;
}

static void
split_simple (KvasirBatchPlan *self)
{
  while (self->n_laid < self->n_tokens)
    {
      guint first = self->n_laid;
      guint n = MIN (self->limits.n_ubatch, self->n_tokens - first);

      for (guint i = 0; i < n; i++)
        take (self, first + i);
      end_ubatch (self, first, 1, n);
    }
}

static gboolean
is_subset (const KvasirSeqSet *a, const KvasirSeqSet *b)
{
  KvasirSeqSet rest = kvasir_seq_set_subtract (a, b);

  return kvasir_seq_set_is_empty (&rest);
}

static void
split_by_sequence (KvasirBatchPlan *self)
{
  while (self->n_laid < self->n_tokens)
    {
      guint first = self->n_laid;
      guint start = find_unused (self);

      for (guint i = start; i < self->n_tokens && self->n_laid - first < self->limits.n_ubatch; i++)
        if (!self->used[i] && is_subset (&self->given.seqs[i], &self->given.seqs[start]))
          take (self, i);
      end_ubatch (self, first, self->n_laid - first, 1);
    }
}

/* ---- equal splits */

static guint
find_group (KvasirBatchPlan *self, guint i, const KvasirSeqSet *leads, const KvasirSeqSet *known)
{
  const KvasirSeqSet *seqs = self->given.seqs;
  gint lead = self->given.leads[i];

  if (!kvasir_seq_set_has (known, (guint) lead))
    return self->n_groups;
  /* Mostly the set in which the sequence was seen last. */
  if (kvasir_seq_set_has (leads, (guint) lead) &&
      kvasir_seq_set_equal (&seqs[self->groups[self->recent[lead]].next], &seqs[i]))
    return self->recent[lead];
  for (guint g = 0; g < self->n_groups; g++)
    if (kvasir_seq_set_equal (&seqs[self->groups[g].next], &seqs[i]))
      return g;
  return self->n_groups;
}

static void
group_tokens (KvasirBatchPlan *self)
{
  KvasirSeqSet leads = { 0 }; /* sequences that lead a token ... */
  KvasirSeqSet known = { 0 }; /* ... and those that belong to one */

  self->n_groups = 0;
  for (guint i = 0; i < self->n_tokens; i++)
    {
      guint lead = (guint) self->given.leads[i];
      guint g = find_group (self, i, &leads, &known);
      KvasirBatchGroup *group = &self->groups[g];

      if (g == self->n_groups)
        {
          *group = (KvasirBatchGroup){ .next = i };
          self->n_groups++;
        }
      else
        self->follower[group->last] = i;
      group->last = i;
      group->n_left++;
      self->group_of[i] = g;
      self->recent[lead] = g;
      kvasir_seq_set_add (&leads, lead);
      kvasir_seq_set_unite (&known, &self->given.seqs[i]);
    }
  self->n_groups_left = self->n_groups;
}

static gboolean
overlaps (const KvasirSeqSet *a, const KvasirSeqSet *b)
{
  KvasirSeqSet both = kvasir_seq_set_intersect (a, b);

  return !kvasir_seq_set_is_empty (&both);
}

/* The groups that may share the next ubatch. The walk goes over tokens, not groups: a sequence that
 * did not follow the one collected before it may do so further on. Returns: how many */
static guint
collect_groups (KvasirBatchPlan *self, gboolean sequential)
{
  const KvasirBatchRows *given = &self->given;
  guint limit = MIN (self->limits.n_ubatch, self->n_groups_left);
  KvasirSeqSet all = { 0 };
  gint last = 0;
  guint n = 0;

  for (guint i = find_unused (self); i < self->n_tokens && n < limit; i++)
    {
      if (self->used[i] || overlaps (&given->seqs[i], &all) ||
          (sequential && n > 0 && given->leads[i] != last + 1))
        continue;
      self->collected[n++] = self->group_of[i];
      kvasir_seq_set_unite (&all, &given->seqs[i]);
      last = given->leads[i];
    }
  return n;
}

static guint
count_rounds (const KvasirBatchPlan *self, guint n_collected)
{
  guint n_rounds = self->limits.n_ubatch / n_collected;

  for (guint c = 0; c < n_collected; c++)
    n_rounds = MIN (n_rounds, self->groups[self->collected[c]].n_left);
  return n_rounds;
}

/* The last @n_tail tokens of a sequence stay in one ubatch: it ends before the first group that
 * would be torn. A first group that would be goes alone. */
static void
keep_tails (const KvasirBatchPlan *self, guint n_tail, guint *n_collected, guint *n_rounds)
{
  guint n_ubatch = self->limits.n_ubatch;
  guint n_left = self->groups[self->collected[0]].n_left;
  guint c = 0;

  while (c < *n_collected)
    {
      guint n_after = self->groups[self->collected[c]].n_left - *n_rounds;

      if (n_after > 0 && n_after < n_tail)
        break;
      c++;
    }
  if (c > 0)
    {
      *n_collected = c;
      return;
    }
  *n_collected = 1;
  *n_rounds = n_left <= n_ubatch ? n_left : MIN (n_ubatch, n_left - n_tail);
}

static void
take_rounds (KvasirBatchPlan *self, guint n_collected, guint n_rounds)
{
  guint first = self->n_laid;

  for (guint c = 0; c < n_collected; c++)
    {
      KvasirBatchGroup *group = &self->groups[self->collected[c]];

      for (guint r = 0; r < n_rounds; r++)
        {
          guint i = group->next;

          take (self, i);
          if (i != group->last)
            group->next = self->follower[i];
        }
      group->n_left -= n_rounds;
      self->n_groups_left -= group->n_left == 0;
    }
  end_ubatch (self, first, n_rounds, n_collected);
}

static void
split_equal (KvasirBatchPlan *self, gboolean sequential, guint n_tail)
{
  group_tokens (self);
  while (self->n_laid < self->n_tokens)
    {
      guint n_collected = collect_groups (self, sequential);
      guint n_rounds = count_rounds (self, n_collected);

      if (n_tail > 0)
        keep_tails (self, n_tail, &n_collected, &n_rounds);
      take_rounds (self, n_collected, n_rounds);
    }
}

gboolean
kvasir_batch_plan_split (KvasirBatchPlan *self, KvasirSplit split, guint n_tail)
{
  g_return_val_if_fail (self != NULL && self->n_tokens > 0, FALSE);
  g_return_val_if_fail (n_tail < self->limits.n_ubatch, FALSE);

  self->n_laid = 0;
  self->n_ubatches = 0;
  self->first_unused = 0;
  memset (self->used, 0, self->n_tokens);
  switch (split)
    {
    case KVASIR_SPLIT_SIMPLE:
      split_simple (self);
      break;
    case KVASIR_SPLIT_EQUAL:
      split_equal (self, FALSE, n_tail);
      break;
    case KVASIR_SPLIT_EQUAL_SEQUENTIAL:
      if (self->is_coupled)
        return FALSE;
      split_equal (self, TRUE, n_tail);
      break;
    case KVASIR_SPLIT_BY_SEQUENCE:
      split_by_sequence (self);
      break;
    }
  return TRUE;
}
