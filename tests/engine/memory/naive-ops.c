/* The operations on the whole: all parts are asked, then all are changed. */
#include "tests/engine/memory/naive.h"

typedef struct
{
  gint32 p0;
  gint32 p1;
} Range;

static Range
get_range (gint32 p0, gint32 p1)
{
  return (Range){ MAX (p0, 0), p1 < 0 ? NAIVE_NO_END : p1 };
}

/* ---- what a window would miss */

/* Whether the sliding half still holds all that @seq holds at @pos. */
static gboolean
slides_with (const Naive *self, guint seq, gint32 pos)
{
  guint n[2] = { 0, 0 };

  for (guint c = 0; c < 2; c++)
    for (guint i = 0; i < self->caches[c].size; i++)
      n[c] += naive_cache_meets (&self->caches[c], seq, i, pos, pos + 1);
  return n[0] == n[1];
}

/* Whether both halves hold the same of @seq where a token at @query looks. */
static gboolean
is_whole (const Naive *self, guint seq, gint32 query)
{
  for (guint c = 0; c < 2; c++)
    for (guint i = 0; i < self->caches[c].size; i++)
      if (naive_cache_meets (&self->caches[c], seq, i, 0, query))
        {
          gint32 pos = naive_cache_peek (&self->caches[c], seq, i)->pos;

          if (!naive_cache_masks (&self->caches[1], pos, query) && !slides_with (self, seq, pos))
            return FALSE;
        }
  return TRUE;
}

/* Whether @seq's next token in @after, which @self became by an operation, would look for a cell
 * that the sliding half has lost, or holds elsewhere (a cell that both halves share differently
 * moves in one of them only). What the operation left as it was is not asked for. */
static gboolean
would_miss (const Naive *self, const Naive *after, guint seq)
{
  const NaiveCache *full = &self->caches[0];
  const NaiveCache *full_after = &after->caches[0];
  gint32 last = naive_cache_last (full_after, seq);
  gboolean is_moved = last != naive_cache_last (full, seq);

  for (guint i = 0; i < full->size; i++)
    if (naive_cache_meets (full_after, seq, i, 0, NAIVE_NO_END))
      is_moved |=
          naive_cache_peek (full, seq, i)->pos != naive_cache_peek (full_after, seq, i)->pos;
  return is_moved && last >= 0 && !is_whole (after, seq, last + 1);
}

static gboolean
any_would_miss (const Naive *self, const Naive *after)
{
  for (guint seq = 0; self->n_caches == 2 && seq < self->shape.n_seqs; seq++)
    if (would_miss (self, after, seq))
      return TRUE;
  return FALSE;
}

/* Whether the halves of @src hold different cells among those that @dst gets and its next token
 * reads. */
static gboolean
copy_would_miss (const Naive *self, guint src, guint dst, Range range)
{
  gint32 last = -1;

  if (self->n_caches < 2 || self->shape.n_streams > 1 || src == dst)
    return FALSE;
  for (guint i = 0; i < self->caches[0].size; i++)
    if (naive_cache_meets (&self->caches[0], src, i, range.p0, range.p1))
      last = MAX (last, naive_cache_peek (&self->caches[0], src, i)->pos);
  if (last < 0)
    return FALSE;
  last = MAX (last, naive_cache_last (&self->caches[0], dst));
  for (guint c = 0; c < 2; c++)
    for (guint i = 0; i < self->caches[c].size; i++)
      if (naive_cache_meets (&self->caches[c], src, i, range.p0, MIN (range.p1, last + 1)))
        {
          gint32 pos = naive_cache_peek (&self->caches[c], src, i)->pos;

          if (!naive_cache_masks (&self->caches[1], pos, last + 1) && !slides_with (self, src, pos))
            return TRUE;
        }
  return FALSE;
}

gboolean
naive_has_window (const Naive *self, guint seq, gint32 p0)
{
  gint32 query = 0;

  /* Where positions are missing before the cut, going on begins earlier. */
  for (guint i = 0; self->n_caches == 2 && i < self->caches[0].size; i++)
    if (naive_cache_meets (&self->caches[0], seq, i, 0, p0))
      query = MAX (query, naive_cache_peek (&self->caches[0], seq, i)->pos + 1);
  return self->n_caches < 2 || is_whole (self, seq, query);
}

gboolean
naive_cut_is_exact (const Naive *self, guint seq, gint32 p0)
{
  return naive_has_window (self, seq, p0) && (p0 == 0 || !naive_lacks_state (self, seq)) &&
         (p0 == 0 || naive_states_can_remove (self, (gint) seq, p0, NAIVE_NO_END));
}

/* ---- operations */

gboolean
naive_rm (Naive *self, gint seq, gint32 p0, gint32 p1)
{
  Range range = get_range (p0, p1);
  g_autoptr (Naive) after = naive_copy (self);

  if (!naive_states_can_remove (self, seq, range.p0, range.p1))
    return FALSE;
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_remove (&after->caches[c], seq, range.p0, range.p1);
  if (any_would_miss (self, after))
    return FALSE;
  if (seq >= 0)
    naive_states_remove (after, (guint) seq, range.p0, range.p1);
  naive_take (self, g_steal_pointer (&after));
  return TRUE;
}

gboolean
naive_cp (Naive *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  Range range = get_range (p0, p1);

  if (self->n_caches > 0 && self->shape.n_streams > 1 && src != dst &&
      (range.p0 > 0 || range.p1 != NAIVE_NO_END))
    return FALSE;
  if (copy_would_miss (self, src, dst, range))
    return FALSE;
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_cp (&self->caches[c], src, dst, range.p0, range.p1);
  naive_states_cp (self, src, dst);
  return TRUE;
}

void
naive_keep (Naive *self, guint seq)
{
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_keep (&self->caches[c], seq);
  naive_states_keep (self, (gint) seq);
}

gboolean
naive_can_shift (const Naive *self)
{
  if (self->n_caches == 0)
    return TRUE;
  return self->shape.n_pos == 1 && self->caches[0].size == self->caches[self->n_caches - 1].size;
}

gboolean
naive_add (Naive *self, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  Range range = get_range (p0, p1);
  g_autoptr (Naive) after = naive_copy (self);

  if (!naive_can_shift (self))
    return FALSE;
  if (delta == 0 || range.p0 >= range.p1)
    return TRUE;
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_add (&after->caches[c], seq, range.p0, range.p1, delta);
  if (any_would_miss (self, after))
    return FALSE;
  if (self->has_states)
    naive_states_move (after, seq, range.p0, range.p1, delta, 1);
  naive_take (self, g_steal_pointer (&after));
  return TRUE;
}

gboolean
naive_div (Naive *self, guint seq, gint32 p0, gint32 p1, gint d)
{
  Range range = get_range (p0, p1);
  g_autoptr (Naive) after = naive_copy (self);

  if (!naive_can_shift (self))
    return FALSE;
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_div (&after->caches[c], seq, range.p0, range.p1, d);
  if (any_would_miss (self, after))
    return FALSE;
  if (self->has_states)
    naive_states_move (after, seq, range.p0, range.p1, 0, d);
  naive_take (self, g_steal_pointer (&after));
  return TRUE;
}

gboolean
naive_update (Naive *self)
{
  gboolean any = FALSE;

  for (guint c = 0; c < self->n_caches; c++)
    any = naive_cache_update (&self->caches[c]) || any;
  return any;
}

void
naive_clear (Naive *self)
{
  for (guint c = 0; c < self->n_caches; c++)
    naive_cache_clear (&self->caches[c]);
  naive_states_keep (self, -1);
}
