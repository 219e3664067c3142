/* Splits, searches, places and masks, by the placement rules. */
#include "tests/engine/memory/naive.h"

/* ---- what a batch may be */

static gboolean
goes_on (const Naive *self, gint32 before, gboolean is_first, gint32 pos)
{
  if (pos < 0)
    return FALSE;
  if (before < 0)
    return TRUE;
  if (self->shape.n_pos > 1)
    return is_first ? pos > before : pos >= before;
  return pos == before + 1 || (!is_first && pos == before);
}

static gboolean
positions_fit (const Naive *self, const NaiveToken *batch, guint n, guint seq)
{
  gint32 before = naive_last (self, seq);
  gboolean is_first = TRUE;

  for (guint i = 0; i < n; i++)
    if (kvasir_seq_set_has (&batch[i].seqs, seq))
      {
        if (!goes_on (self, before, is_first, batch[i].pos))
          return FALSE;
        before = batch[i].pos;
        is_first = FALSE;
      }
  return TRUE;
}

gboolean
naive_accepts (const Naive *self, const NaiveToken *batch, guint n)
{
  guint n_seqs = self->shape.n_seqs;
  g_autofree gint32 *first = g_new (gint32, n_seqs);
  g_autofree gint32 *last = g_new (gint32, n_seqs);

  for (guint seq = 0; seq < n_seqs; seq++)
    {
      if (!positions_fit (self, batch, n, seq))
        return FALSE;
      first[seq] = naive_first (self, seq);
      last[seq] = naive_last (self, seq);
    }
  for (guint i = 0; i < n; i++)
    for (guint seq = 0; seq < n_seqs; seq++)
      if (kvasir_seq_set_has (&batch[i].seqs, seq) &&
          (first[seq] != first[batch[i].lead] || last[seq] != last[batch[i].lead]))
        return FALSE;
  return TRUE;
}

/* ---- splits */

static void
ubatch_free (gpointer data)
{
  NaiveUbatch *self = data;

  g_free (self->index);
  g_free (self->slots[0]);
  g_free (self->slots[1]);
  g_free (self);
}

static NaiveUbatch *
add_ubatch (GPtrArray *ubatches, guint n, guint n_seq_tokens)
{
  NaiveUbatch *ubatch = g_new0 (NaiveUbatch, 1);

  ubatch->n = n;
  ubatch->n_seq_tokens = n_seq_tokens;
  ubatch->n_seqs = n / n_seq_tokens;
  ubatch->index = g_new0 (guint, n);
  ubatch->slots[0] = g_new0 (guint, n);
  ubatch->slots[1] = g_new0 (guint, n);
  g_ptr_array_add (ubatches, ubatch);
  return ubatch;
}

static void
split_simple (const Naive *self, guint n, GPtrArray *ubatches)
{
  for (guint first = 0; first < n; first += self->shape.n_ubatch)
    {
      NaiveUbatch *ubatch = add_ubatch (ubatches, MIN (self->shape.n_ubatch, n - first), 1);

      for (guint i = 0; i < ubatch->n; i++)
        ubatch->index[i] = first + i;
    }
}

/* The tokens of one sequence set that are left, in batch order. */
typedef struct
{
  KvasirSeqSet seqs;
  GArray *left; /* (owned) of guint */
} Group;

static void
group_clear (gpointer data)
{
  g_array_unref (((Group *) data)->left);
}

static gboolean
overlaps (const GArray *groups, const KvasirSeqSet *seqs)
{
  for (guint g = 0; g < groups->len; g++)
    {
      KvasirSeqSet both = kvasir_seq_set_intersect (&g_array_index (groups, Group, g).seqs, seqs);

      if (!kvasir_seq_set_is_empty (&both))
        return TRUE;
    }
  return FALSE;
}

/* The sequence sets that may share the next physical batch. */
static GArray *
collect_sets (
    const Naive *self, const NaiveToken *batch, guint n, const gboolean *used, gboolean sequential)
{
  GArray *groups = g_array_new (FALSE, FALSE, sizeof (Group));
  gint last_id = -1;

  g_array_set_clear_func (groups, group_clear);
  for (guint i = 0; i < n && groups->len < self->shape.n_ubatch; i++)
    {
      Group group = { .seqs = batch[i].seqs };

      if (used[i] || overlaps (groups, &batch[i].seqs) ||
          (sequential && groups->len > 0 && batch[i].lead != last_id + 1))
        continue;
      last_id = batch[i].lead;
      group.left = g_array_new (FALSE, FALSE, sizeof (guint));
      for (guint k = 0; k < n; k++)
        if (!used[k] && kvasir_seq_set_equal (&batch[k].seqs, &group.seqs))
          g_array_append_val (group.left, k);
      g_array_append_val (groups, group);
    }
  return groups;
}

/* The tail rule: the last @tail tokens of a sequence stay in one physical batch. */
static guint
keep_tails (GArray *groups, guint rounds, guint n_ubatch, guint tail)
{
  for (guint g = 0; g < groups->len; g++)
    {
      guint left = g_array_index (groups, Group, g).left->len;

      if (left <= rounds || left - rounds >= tail)
        continue;
      g_array_set_size (groups, MAX (g, 1));
      if (g > 0)
        return rounds;
      return left <= n_ubatch ? left : MIN (n_ubatch, left - tail);
    }
  return rounds;
}

static guint
take_round (const Naive *self,
            const NaiveToken *batch,
            guint n,
            gboolean *used,
            gboolean sequential,
            GPtrArray *ubatches)
{
  g_autoptr (GArray) groups = collect_sets (self, batch, n, used, sequential);
  guint tail = self->has_states && self->shape.n_rs_seq > 0 ? self->shape.n_rs_seq + 1 : 0;
  guint rounds = self->shape.n_ubatch / groups->len;
  NaiveUbatch *ubatch;

  for (guint g = 0; g < groups->len; g++)
    rounds = MIN (rounds, g_array_index (groups, Group, g).left->len);
  if (tail > 0)
    rounds = keep_tails (groups, rounds, self->shape.n_ubatch, tail);
  ubatch = add_ubatch (ubatches, rounds * groups->len, rounds);
  for (guint i = 0; i < ubatch->n; i++)
    {
      const Group *group = &g_array_index (groups, Group, i / rounds);

      ubatch->index[i] = g_array_index (group->left, guint, i % rounds);
      used[ubatch->index[i]] = TRUE;
    }
  return ubatch->n;
}

static gboolean
split_equal (
    const Naive *self, const NaiveToken *batch, guint n, gboolean sequential, GPtrArray *ubatches)
{
  g_autofree gboolean *used = g_new0 (gboolean, n);

  for (guint i = 0; sequential && i < n; i++)
    if (kvasir_seq_set_count (&batch[i].seqs) > 1)
      return FALSE;
  for (guint done = 0; done < n;)
    done += take_round (self, batch, n, used, sequential, ubatches);
  return TRUE;
}

typedef enum
{
  SPLIT_NONE,
  SPLIT_SIMPLE,
  SPLIT_EQUAL,
  SPLIT_SEQUENTIAL
} Split;

/* The ways to split a batch, in the order they are tried. */
static void
list_splits (const Naive *self, Split splits[2])
{
  const NaiveShape *shape = &self->shape;
  gboolean one_stream = shape->n_streams == 1;

  splits[1] = SPLIT_NONE;
  if (self->has_states)
    splits[0] = self->n_caches == 0 || !one_stream ? SPLIT_SEQUENTIAL : SPLIT_EQUAL;
  else if (!one_stream || (self->n_caches == 2 && !shape->unified))
    splits[0] = SPLIT_SEQUENTIAL;
  else
    {
      splits[0] = SPLIT_SIMPLE;
      if (self->n_caches == 2)
        splits[1] = SPLIT_EQUAL;
    }
}

/* ---- searching and placing */

static gboolean
is_usable (const NaiveCache *self, guint stream, guint i, const gint32 *last, gboolean all_owners)
{
  const NaiveCell *cell = &self->streams[stream].cells[i];

  if (cell->pos < 0)
    return TRUE;
  if (!self->slides || (kvasir_seq_set_count (&cell->seqs) > 1 && !all_owners))
    return FALSE;
  for (guint seq = 0; seq < self->shape->n_seqs; seq++)
    if (kvasir_seq_set_has (&cell->seqs, seq) &&
        !naive_cache_masks (self, cell->pos, last[seq] + 1))
      return FALSE;
  return TRUE;
}

static gboolean
search_by_rule (const NaiveCache *self, guint stream, guint n, gboolean all_owners, guint *slots)
{
  guint head = self->streams[stream].head;
  guint start = head > naive_cache_used (self, stream) + 2 * n ? 0 : head;
  g_autofree gint32 *last = g_new0 (gint32, self->shape->n_seqs);
  guint n_found = 0;

  for (guint seq = 0; self->slides && seq < self->shape->n_seqs; seq++)
    last[seq] = naive_cache_last (self, seq);
  for (guint step = 0; step < self->size && n_found < n; step++)
    if (is_usable (self, stream, (start + step) % self->size, last, all_owners))
      slots[n_found++] = (start + step) % self->size;
  return n_found == n;
}

gboolean
naive_cache_search (
    const NaiveCache *self, guint stream, guint n, gboolean all_owners, guint *slots)
{
  if (n > self->size)
    return FALSE;
  return search_by_rule (self, stream, n, FALSE, slots) ||
         (all_owners && self->slides && search_by_rule (self, stream, n, TRUE, slots));
}

void
naive_cache_place (NaiveCache *self, guint stream, const NaiveCell *cells, guint n, guint *slots)
{
  g_autofree gint32 *overwritten = g_new (gint32, self->shape->n_seqs);

  for (guint seq = 0; seq < self->shape->n_seqs; seq++)
    overwritten[seq] = -1;
  for (guint i = 0; i < n; i++)
    {
      NaiveCell *cell = &self->streams[stream].cells[slots[i]];

      for (guint seq = 0; cell->pos >= 0 && seq < self->shape->n_seqs; seq++)
        if (kvasir_seq_set_has (&cell->seqs, seq))
          overwritten[seq] = MAX (overwritten[seq], cell->pos);
      *cell = cells[i];
    }
  for (guint seq = 0; seq < self->shape->n_seqs; seq++)
    if (overwritten[seq] >= 0)
      {
        gint32 first = naive_cache_first (self, seq);

        /* What was just placed stays, though a cell behind it was overwritten. */
        for (guint i = 0; i < n; i++)
          if (kvasir_seq_set_has (&cells[i].seqs, seq))
            overwritten[seq] = MIN (overwritten[seq], cells[i].pos - 1);
        if (first >= 0 && first <= overwritten[seq])
          naive_cache_remove (self, (gint) seq, first, overwritten[seq] + 1);
      }
  self->streams[stream].head = slots[n - 1] + 1;
}

/* The part of an ubatch that goes to one stream. */
static guint
count_of_stream (const NaiveCache *self,
                 const NaiveToken *batch,
                 const NaiveUbatch *ubatch,
                 guint t)
{
  guint n = 1;

  while (t + n < ubatch->n &&
         naive_cache_get_stream (self, (guint) batch[ubatch->index[t + n]].lead) ==
             naive_cache_get_stream (self, (guint) batch[ubatch->index[t]].lead))
    n++;
  return n;
}

static void
apply_to_cache (NaiveCache *self, guint c, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  guint n;

  for (guint t = 0; t < ubatch->n; t += n)
    {
      g_autofree NaiveCell *cells = g_new0 (NaiveCell, ubatch->n);
      guint stream = naive_cache_get_stream (self, (guint) batch[ubatch->index[t]].lead);

      n = count_of_stream (self, batch, ubatch, t);
      for (guint i = 0; i < n; i++)
        {
          const NaiveToken *token = &batch[ubatch->index[t + i]];

          cells[i] = (NaiveCell){ .pos = token->pos,
                                  .token = token->token,
                                  .x = token->x,
                                  .y = token->y,
                                  .seqs = token->seqs };
        }
      naive_cache_place (self, stream, cells, n, ubatch->slots[c] + t);
    }
}

static gboolean
find_slots (const NaiveCache *self,
            guint c,
            const NaiveToken *batch,
            const NaiveUbatch *ubatch,
            gboolean all_owners)
{
  guint n;

  for (guint t = 0; t < ubatch->n; t += n)
    {
      guint stream = naive_cache_get_stream (self, (guint) batch[ubatch->index[t]].lead);

      n = count_of_stream (self, batch, ubatch, t);
      if (!naive_cache_search (self, stream, n, all_owners, ubatch->slots[c] + t))
        return FALSE;
    }
  return TRUE;
}

/* Plays the ubatches on a copy. */
static gboolean
play (const Naive *self, const NaiveToken *batch, const GPtrArray *ubatches, gboolean all_owners)
{
  g_autoptr (Naive) trial = naive_copy (self);

  for (guint c = 0; c < self->n_caches; c++)
    for (guint u = 0; u < ubatches->len; u++)
      {
        const NaiveUbatch *ubatch = g_ptr_array_index (ubatches, u);

        if (!find_slots (&trial->caches[c], c, batch, ubatch, all_owners))
          return FALSE;
        apply_to_cache (&trial->caches[c], c, batch, ubatch);
      }
  return TRUE;
}

static GPtrArray *
try_split (const Naive *self, const NaiveToken *batch, guint n, Split split, gboolean all_owners)
{
  g_autoptr (GPtrArray) ubatches = g_ptr_array_new_with_free_func (ubatch_free);

  if (split == SPLIT_NONE)
    return NULL;
  if (split == SPLIT_SIMPLE)
    split_simple (self, n, ubatches);
  else if (!split_equal (self, batch, n, split == SPLIT_SEQUENTIAL, ubatches))
    return NULL;
  return play (self, batch, ubatches, all_owners) ? g_steal_pointer (&ubatches) : NULL;
}

GPtrArray *
naive_plan (const Naive *self, const NaiveToken *batch, guint n)
{
  Split splits[2];
  GPtrArray *ubatches = NULL;

  list_splits (self, splits);
  for (guint i = 0; i < 4 && ubatches == NULL; i++)
    if (i < 2 || self->n_caches == 2)
      ubatches = try_split (self, batch, n, splits[i % 2], i >= 2);
  return ubatches;
}

void
naive_apply (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  for (guint c = 0; c < self->n_caches; c++)
    apply_to_cache (&self->caches[c], c, batch, ubatch);
  if (self->has_states)
    naive_states_apply (self, batch, ubatch);
}

static void
lose_cell (NaiveCache *self, guint stream, guint cell)
{
  const NaiveCell lost = self->streams[stream].cells[cell];
  guint head = self->streams[stream].head;

  for (guint seq = 0; lost.pos >= 0 && seq < self->shape->n_seqs; seq++)
    if (kvasir_seq_set_has (&lost.seqs, seq))
      naive_cache_remove (self, (gint) seq, 0, lost.pos + 1);
  self->streams[stream].head = head;
}

void
naive_lose (Naive *self, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  for (guint c = 0; c < self->n_caches; c++)
    for (guint t = 0; t < ubatch->n; t++)
      {
        guint lead = (guint) batch[ubatch->index[t]].lead;

        lose_cell (&self->caches[c], naive_cache_get_stream (&self->caches[c], lead),
                   ubatch->slots[c][t]);
      }
}

gboolean
naive_is_complete (const Naive *self, const NaiveToken *batch, guint n)
{
  KvasirSeqSet seen = { 0 };

  for (guint i = 0; i < n; i++)
    for (guint seq = 0; seq < self->shape.n_seqs; seq++)
      if (kvasir_seq_set_has (&batch[i].seqs, seq) && !kvasir_seq_set_has (&seen, seq))
        {
          if (!naive_has_window (self, seq, batch[i].pos) || naive_lacks_state (self, seq))
            return FALSE;
          kvasir_seq_set_add (&seen, seq);
        }
  return TRUE;
}

/* ---- what attention reads */

guint
naive_get_n_kv (const Naive *self, guint c, const NaiveToken *batch, const NaiveUbatch *ubatch)
{
  const NaiveCache *cache = &self->caches[c];
  guint end = 256;

  for (guint t = 0; t < ubatch->n; t++)
    {
      guint stream = naive_cache_get_stream (cache, (guint) batch[ubatch->index[t]].lead);

      for (guint i = end; i < cache->size; i++)
        if (cache->streams[stream].cells[i].pos >= 0)
          end = i + 1;
    }
  return MIN (cache->size, (end + 255) / 256 * 256);
}

gboolean
naive_sees (const Naive *self, guint c, const NaiveToken *token, guint cell)
{
  const NaiveCache *cache = &self->caches[c];
  const NaiveCell *it = naive_cache_peek (cache, (guint) token->lead, cell);

  if (!naive_cache_meets (cache, (guint) token->lead, cell, 0, NAIVE_NO_END))
    return FALSE;
  if (naive_cache_masks (cache, it->pos, token->pos))
    return FALSE;
  if (it->pos != token->pos || self->shape.n_pos == 1)
    return it->pos <= token->pos;
  return it->y < token->y || (it->y == token->y && it->x <= token->x);
}
