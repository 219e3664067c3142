/* What a window would miss. A sliding cache forgets positions from below, so what a sequence has
 * lost there is what the full half beside it holds before the sliding half's first position. An
 * operation after which the next token would look for a lost position is refused. */
#include "engine/memory/kv-cache-private.h"

/* Positions of @seq in [p0, p1) become (position + delta) / d; those below 0 go. */
typedef struct
{
  guint seq;
  gint32 p0;
  gint32 p1;
  gint64 delta;
  gint d;
} Move;

#define TO_NOWHERE (2 * (gint64) G_MININT32)

/* Whether there is nothing to ask: no window, or whoever plays the operations takes what comes. */
static gboolean
is_free (const KvasirKvCache *self)
{
  return self->base == NULL || self->parent.memory->is_lenient;
}

/* Before which position @seq has lost all, if it holds any. */
static gint32
get_lost_end (const KvasirKvCache *self, guint seq)
{
  KvasirSeqSpan span = kvasir_cells_get_span (kvasir_kv_cache_peek_cells_of (self, seq), seq);

  return span.n_cells > 0 ? span.min : KVASIR_POS_END;
}

static gint64
get_moved (const Move *move, const KvasirCells *cells, guint cell)
{
  gint32 pos = cells->pos[cell];

  if (pos < move->p0 || pos >= move->p1 || !kvasir_cells_has (cells, cell, move->seq))
    return pos;
  return (pos + move->delta) / move->d;
}

/* Whether the window of @seq's next token misses nothing after @move. It is not asked for where the
 * move only takes away what no later token depends on. */
static gboolean
is_complete_after (const KvasirKvCache *self, guint seq, const Move *move)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self->base, seq);
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  gint32 lost_end = get_lost_end (self, seq);
  gint64 last = -1;
  gint64 nearest_lost = -1;
  gboolean is_moved = FALSE;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        guint cell = w * 64 + (guint) __builtin_ctzll (left);
        gint64 pos = get_moved (move, cells, cell);

        if (pos < 0)
          continue;
        last = MAX (last, pos);
        is_moved |= pos != cells->pos[cell];
        if (cells->pos[cell] < lost_end)
          nearest_lost = MAX (nearest_lost, pos);
      }
  if (nearest_lost < 0 || (!is_moved && last == kvasir_cells_get_span (cells, seq).max))
    return TRUE;
  return nearest_lost < kvasir_window_get_first (&self->window, (gint32) last + 1);
}

gboolean
kvasir_kv_cache_can_rm (const KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;
  guint first = seq < 0 ? 0 : (guint) seq;
  guint end = seq < 0 ? self->n_seq_max : first + 1;

  for (guint s = first; !is_free (self) && s < end; s++)
    if (!is_complete_after (self, s,
                            &(Move){ .seq = s, .p0 = p0, .p1 = p1, .delta = TO_NOWHERE, .d = 1 }))
      return FALSE;
  return TRUE;
}

/* A move of shared cells moves them for all their owners. */
static gboolean
are_all_complete_after (const KvasirKvCache *self, const Move *move)
{
  if (is_free (self))
    return TRUE;
  for (guint s = 0; s < self->n_seq_max; s++)
    if (kvasir_kv_cache_get_stream (self, s) == kvasir_kv_cache_get_stream (self, move->seq) &&
        !is_complete_after (self, s, move))
      return FALSE;
  return TRUE;
}

gboolean
kvasir_kv_cache_can_add (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;
  gint32 max = kvasir_cells_get_span (kvasir_kv_cache_peek_cells_of (self, seq), seq).max;

  if (MIN ((gint64) max, (gint64) p1 - 1) + delta >= KVASIR_POS_END)
    return FALSE;
  return are_all_complete_after (self,
                                 &(Move){ .seq = seq, .p0 = p0, .p1 = p1, .delta = delta, .d = 1 });
}

gboolean
kvasir_kv_cache_can_div (const KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d)
{
  return are_all_complete_after ((const KvasirKvCache *) part,
                                 &(Move){ .seq = seq, .p0 = p0, .p1 = p1, .d = d });
}

/* The highest position in [p0, p1) of @seq in the full half that is lost, or -1. */
static gint32
find_lost (const KvasirKvCache *self, guint seq, gint32 p0, gint32 p1)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self->base, seq);
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  gint32 end = MIN (p1, get_lost_end (self, seq));
  gint32 found = -1;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        gint32 pos = cells->pos[w * 64 + (guint) __builtin_ctzll (left)];

        if (pos >= p0 && pos < end)
          found = MAX (found, pos);
      }
  return found;
}

/* The highest position below @p1 that @seq holds in the full half, or -1. */
static gint32
find_last (const KvasirKvCache *self, guint seq, gint32 p1)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self->base, seq);
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  gint32 found = -1;

  if (kvasir_cells_get_span (cells, seq).max < p1)
    return kvasir_cells_get_span (cells, seq).max;
  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        gint32 pos = cells->pos[w * 64 + (guint) __builtin_ctzll (left)];

        if (pos < p1)
          found = MAX (found, pos);
      }
  return found;
}

gboolean
kvasir_kv_cache_can_join (const KvasirKvCache *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  gint32 last;
  gint32 lost;

  if (is_free (self))
    return TRUE;
  last = find_last (self, src, p1);
  if (last < p0)
    return TRUE;
  last =
      MAX (last, kvasir_cells_get_span (kvasir_kv_cache_peek_cells_of (self->base, dst), dst).max);
  lost = MAX (find_lost (self, src, p0, p1), find_lost (self, dst, 0, KVASIR_POS_END));
  return lost < kvasir_window_get_first (&self->window, last + 1);
}

gint32
kvasir_kv_cache_get_rewind (const KvasirPart *part, guint seq, gint32 p0)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;
  gint32 lost_end;
  gint32 first;

  if (self->base == NULL)
    return p0;
  lost_end = get_lost_end (self, seq);
  first = kvasir_window_get_first (&self->window, p0);
  /* Where a sequence is only gone on with this is known without looking at cells. */
  if (lost_end <= first || find_lost (self, seq, 0, p0) < first)
    return p0;
  /* Where a chunk begins the window is empty, and nothing can be missed. */
  return self->window.kind == KVASIR_WINDOW_CHUNKED ? first : 0;
}
