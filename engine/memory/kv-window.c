/* What a window would miss. The cells of a sliding cache are some of those of the full half beside
 * it; nothing is lost where both hold the same positions. An operation is refused after which the
 * next token would look for a lost position, or find others than the full half has (cells that the
 * halves share differently move in one of them only). */
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

static gint64
get_moved (const Move *move, const KvasirCells *cells, guint cell)
{
  gint32 pos = cells->pos[cell];

  if (pos < move->p0 || pos >= move->p1 || !kvasir_cells_has (cells, cell, move->seq))
    return pos;
  return (pos + move->delta) / move->d;
}

/* A number that tells one set of positions, repeated ones included, from another: it is a sum, so
 * that their order in the cells does not matter. */
static guint64
add_position (guint64 sum, gint64 pos)
{
  guint64 mixed = ((guint64) pos + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  return sum + (mixed ^ (mixed >> 29)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
}

/* The positions in @first ... @last that @seq would hold. */
static guint64
sum_moved (const KvasirCells *cells, guint seq, const Move *move, gint64 first, gint64 last)
{
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  guint64 sum = 0;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        gint64 pos = get_moved (move, cells, w * 64 + (guint) __builtin_ctzll (left));

        if (pos >= first && pos <= last)
          sum = add_position (sum, pos);
      }
  return sum;
}

/* Whether the window of @seq's next token misses nothing after @move. It is not asked for where the
 * move only takes away what no later token depends on. */
static gboolean
is_complete_after (const KvasirKvCache *self, guint seq, const Move *move)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self->base, seq);
  const KvasirCells *sliding = kvasir_kv_cache_peek_cells_of (self, seq);
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  gint32 first;
  gint64 last = -1;
  gboolean is_moved = FALSE;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = words[w]; left != 0; left &= left - 1)
      {
        guint cell = w * 64 + (guint) __builtin_ctzll (left);
        gint64 pos = get_moved (move, cells, cell);

        last = MAX (last, pos);
        is_moved |= pos >= 0 && pos != cells->pos[cell];
      }
  if (last < 0 || (!is_moved && last == kvasir_cells_get_span (cells, seq).max))
    return TRUE;
  first = kvasir_window_get_first (&self->window, (gint32) last + 1);
  return sum_moved (cells, seq, move, first, last) == sum_moved (sliding, seq, move, first, last);
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

static guint64
sum_between (const KvasirCells *cells, guint seq, gint32 p0, gint32 p1)
{
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  guint64 sum = 0;

  for (guint w = 0; w < cells->n_words; w++)
    for (guint64 left = kvasir_cells_select (cells, w, words[w], p0, p1, FALSE); left != 0;
         left &= left - 1)
      sum = add_position (sum, cells->pos[w * 64 + (guint) __builtin_ctzll (left)]);
  return sum;
}

/* Whether the sliding half holds all that @seq holds at positions @p0 ... @p1 - 1. */
static gboolean
holds_all (const KvasirKvCache *self, guint seq, gint32 p0, gint32 p1)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self->base, seq);
  const KvasirCells *sliding = kvasir_kv_cache_peek_cells_of (self, seq);
  KvasirSeqSpan all = kvasir_cells_get_span (cells, seq);
  KvasirSeqSpan held = kvasir_cells_get_span (sliding, seq);

  /* Where a sequence is only gone on with this is known without looking at cells. */
  if (all.is_dense && held.is_dense && held.n_cells > 0)
    return p0 >= p1 || (held.min <= MAX (p0, all.min) && held.max >= MIN (p1 - 1, all.max));
  return p0 >= p1 || sum_between (cells, seq, p0, p1) == sum_between (sliding, seq, p0, p1);
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

  if (is_free (self))
    return TRUE;
  last = find_last (self, src, p1);
  if (last < p0)
    return TRUE;
  last =
      MAX (last, kvasir_cells_get_span (kvasir_kv_cache_peek_cells_of (self->base, dst), dst).max);
  return holds_all (self, src, MAX (p0, kvasir_window_get_first (&self->window, last + 1)),
                    MIN (p1, last + 1));
}

gint32
kvasir_kv_cache_get_rewind (const KvasirPart *part, guint seq, gint32 p0)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  while (self->base != NULL && p0 > 0)
    {
      /* Where positions are missing before the cut, going on begins earlier. */
      gint32 query = MIN (p0, find_last (self, seq, p0) + 1);
      gint32 first = kvasir_window_get_first (&self->window, query);

      if (holds_all (self, seq, first, query))
        break;
      /* Where a chunk begins the window is empty, and nothing can be missed. */
      p0 = self->window.kind == KVASIR_WINDOW_CHUNKED ? first : 0;
    }
  return p0;
}
