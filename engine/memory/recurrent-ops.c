/* Operations on sequences: they move owners and numbers of states, never their data. */
#include "engine/memory/recurrent-private.h"

static gboolean
is_inside (gint32 pos, gint32 p0, gint32 p1)
{
  return pos >= p0 && pos < p1;
}

/* The kept row of what was read before position @p0, or 0 where it can't be had. More tokens may
 * have gone than positions (an image has many at one), so that the row is found by its position. */
static guint
find_earlier (const KvasirState *state, gint32 p0)
{
  if (state->kept[0].pos - p0 + 1 > (gint32) state->n_kept - 1)
    return 0;
  for (guint k = 1; k < state->n_kept; k++)
    if (state->kept[k].pos < p0)
      return k;
  return 0;
}

gboolean
kvasir_recurrent_can_rm (const KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  const KvasirRecurrent *self = (const KvasirRecurrent *) part;
  const KvasirState *state;

  if (seq < 0)
    return FALSE;
  state = kvasir_recurrent_find (self, (guint) seq);
  if (state == NULL || p0 == 0 || !is_inside (state->kept[0].pos, p0, p1))
    return TRUE;
  return find_earlier (state, p0) > 0;
}

/* Only for @seq: others that own the state keep it as it is. */
static void
go_back (KvasirRecurrent *self, guint seq, gint32 p0)
{
  KvasirState *state = kvasir_recurrent_leave (self, seq);
  KvasirState *earlier = kvasir_recurrent_take_state (self);

  kvasir_recurrent_share_row (self, earlier, &state->kept[find_earlier (state, p0)]);
  earlier->kept[0].pos = p0 - 1;
  earlier->step = state->step;
  kvasir_recurrent_join (self, earlier, seq);
  kvasir_recurrent_drop_unowned (self, state);
}

void
kvasir_recurrent_rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  const KvasirState *state;

  g_return_if_fail (kvasir_recurrent_can_rm (part, seq, p0, p1));

  state = kvasir_recurrent_find (self, (guint) seq);
  if (state == NULL || !is_inside (state->kept[0].pos, p0, p1))
    return;
  if (p0 > 0)
    go_back (self, (guint) seq, p0);
  else
    kvasir_recurrent_drop_unowned (self, kvasir_recurrent_leave (self, (guint) seq));
  kvasir_recurrent_report (self);
}

gboolean
kvasir_recurrent_can_cp (const KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
  return TRUE;
}

void
kvasir_recurrent_cp (KvasirPart *part, guint src, guint dst, gint32 p0, gint32 p1)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  KvasirState *state = kvasir_recurrent_find (self, src);

  if (src == dst)
    return;
  kvasir_recurrent_drop_unowned (self, kvasir_recurrent_leave (self, dst));
  if (state != NULL)
    kvasir_recurrent_join (self, state, dst);
  kvasir_recurrent_report (self);
}

void
kvasir_recurrent_keep (KvasirPart *part, guint seq)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;

  for (guint other = 0; other < self->n_seq_max; other++)
    if (other != seq)
      kvasir_recurrent_drop_unowned (self, kvasir_recurrent_leave (self, other));
  kvasir_recurrent_report (self);
}

gboolean
kvasir_recurrent_can_add (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  const KvasirState *state = kvasir_recurrent_find ((const KvasirRecurrent *) part, seq);

  for (guint k = 0; state != NULL && k < state->n_kept; k++)
    if (is_inside (state->kept[k].pos, p0, p1) &&
        (gint64) state->kept[k].pos + delta >= KVASIR_POS_END)
      return FALSE;
  return TRUE;
}

static void
remove_state (KvasirRecurrent *self, KvasirState *state)
{
  for (guint seq = 0; seq < self->n_seq_max; seq++)
    if (kvasir_seq_set_has (&state->seqs, seq))
      kvasir_recurrent_leave (self, seq);
  kvasir_recurrent_drop_unowned (self, state);
}

/* For all owners. Earlier rows move as the cells of their tokens would. */
void
kvasir_recurrent_add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  KvasirState *state = kvasir_recurrent_find (self, seq);

  if (state == NULL)
    return;
  for (guint k = 0; k < state->n_kept; k++)
    if (is_inside (state->kept[k].pos, p0, p1))
      state->kept[k].pos += delta;
  if (state->kept[0].pos < 0)
    remove_state (self, state);
  kvasir_recurrent_report (self);
}

void
kvasir_recurrent_div (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;
  KvasirState *state = kvasir_recurrent_find (self, seq);

  for (guint k = 0; state != NULL && k < state->n_kept; k++)
    if (is_inside (state->kept[k].pos, p0, p1))
      state->kept[k].pos /= d;
  kvasir_recurrent_report (self);
}

void
kvasir_recurrent_clear (KvasirPart *part, gboolean data)
{
  KvasirRecurrent *self = (KvasirRecurrent *) part;

  for (guint seq = 0; seq < self->n_seq_max; seq++)
    kvasir_recurrent_drop_unowned (self, kvasir_recurrent_leave (self, seq));
  if (data)
    kvasir_row_store_zero (&self->store);
  kvasir_recurrent_report (self);
}

gint32
kvasir_recurrent_get_pos (const KvasirPart *part, guint seq)
{
  const KvasirState *state = kvasir_recurrent_find ((const KvasirRecurrent *) part, seq);

  return state != NULL ? state->kept[0].pos : -1;
}

gint32
kvasir_recurrent_get_rewind (const KvasirPart *part, guint seq, gint32 p0)
{
  const KvasirState *state = kvasir_recurrent_find ((const KvasirRecurrent *) part, seq);

  if (state == NULL || p0 > state->kept[0].pos)
    return p0;
  for (guint k = 1; k < state->n_kept; k++)
    {
      gint32 start = MIN (p0, state->kept[k - 1].pos);

      if (start > 0 && find_earlier (state, start) > 0)
        return start;
    }
  return 0;
}
