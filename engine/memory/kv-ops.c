/* Operations on sequences: which cells they meet, what they do to a cell, where the head goes. */
#include "engine/memory/kv-cache-private.h"

#define NO_CELL G_MAXUINT

/* An operation on cells and its arguments. */
typedef struct _CellOp CellOp;
struct _CellOp
{
  /* Changes cells 64 w + i, for every bit i. */
  void (*change) (KvasirCells *cells, guint w, guint64 bits, const CellOp *op);
  guint seq;     /* that comes, stays or goes */
  gint32 value;  /* delta or divisor */
  GArray *memos; /* (nullable): where cells are remembered before they change */
  gint32 p0;     /* cells at positions p0 ... p1 - 1 are meant */
  gint32 p1;
  gboolean is_rising; /* their positions are known to rise */
};

static void
remember (const CellOp *op, guint stream, const KvasirCells *cells, guint w, guint64 bits)
{
  for (; op->memos != NULL && bits != 0; bits &= bits - 1)
    {
      guint cell = w * 64 + (guint) __builtin_ctzll (bits);
      KvasirKvMemo memo = { .stream = stream, .cell = cell };

      kvasir_cells_get (cells, cell, &memo.state);
      g_array_append_val (op->memos, memo);
    }
}

/* Applies @op to the cells of the bitmap @words that it means, ascending, and reports the changes.
 * The caller settles. Returns: the first cell that became empty, or NO_CELL */
static guint
visit (KvasirKvCache *self, guint stream, const guint64 *words, const CellOp *op)
{
  KvasirCells *cells = &self->cells[stream];
  guint n_words = (kvasir_cells_get_end (cells) + 63) / 64;
  guint first_emptied = NO_CELL;
  gboolean is_watched = kvasir_changes_are_watched (&self->changes);

  kvasir_kv_trace_break (&self->trace);
  self->changes.stream = (guint16) stream;
  for (guint w = 0; w < n_words; w++)
    {
      guint64 bits = kvasir_cells_select (cells, w, words[w], op->p0, op->p1, op->is_rising);
      guint64 emptied;

      if (bits == 0)
        continue;
      remember (op, stream, cells, w, bits);
      if (is_watched)
        kvasir_changes_before_bits (&self->changes, cells, w, bits);
      op->change (cells, w, bits, op);
      if (is_watched)
        kvasir_changes_after_bits (&self->changes, cells, w, bits);
      emptied = bits & cells->vacant.words[0][w];
      if (first_emptied == NO_CELL && emptied != 0)
        first_emptied = w * 64 + (guint) __builtin_ctzll (emptied);
    }
  kvasir_changes_flush (&self->changes);
  return first_emptied;
}

/* The cells of @seq in its stream. */
static guint
visit_seq (KvasirKvCache *self, guint seq, const CellOp *op)
{
  guint stream = kvasir_kv_cache_get_stream (self, seq);
  const KvasirCells *cells = &self->cells[stream];
  CellOp known = *op;

  known.is_rising = kvasir_cells_get_span (cells, seq).is_rising;
  return visit (self, stream, kvasir_cells_owned_by (cells, seq), &known);
}

static guint
visit_used (KvasirKvCache *self, guint stream, const CellOp *op)
{
  guint emptied = visit (self, stream, self->cells[stream].used.words[0], op);

  kvasir_cells_settle (&self->cells[stream]);
  return emptied;
}

static void
head_back_to (KvasirKvCache *self, guint stream, guint emptied)
{
  kvasir_kv_cache_set_head (self, stream, MIN (self->cells[stream].head, emptied));
}

static void
empty_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  kvasir_cells_empty_bits (cells, w, bits);
}

static void
leave_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  kvasir_cells_leave_bits (cells, w, bits, op->seq);
}

/* What [p0, p1) takes away from the positions of @span, where that needs no look at cells. */
static gboolean
cut_span (KvasirSeqSpan *span, gint32 p0, gint32 p1, guint n_left)
{
  gboolean is_inner = p0 > span->min && p1 <= span->max;

  if (n_left == 0 || (!span->is_dense && !is_inner))
    return FALSE;
  if (is_inner)
    span->is_dense &= n_left == span->n_cells;
  else if (p0 <= span->min)
    span->min = MAX (span->min, p1);
  else
    span->max = MIN (span->max, p0 - 1);
  span->n_cells = n_left;
  return TRUE;
}

guint
kvasir_kv_cache_remove (KvasirKvCache *self, guint seq, gint32 p0, gint32 p1, gboolean remember_it)
{
  KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, seq);
  KvasirSeqSpan span = kvasir_cells_get_span (cells, seq);
  const CellOp op = {
    .change = leave_cells, .seq = seq, .memos = remember_it ? self->memos : NULL, .p0 = p0, .p1 = p1
  };
  guint emptied = visit_seq (self, seq, &op);

  if (cut_span (&span, p0, p1, kvasir_cells_get_span (cells, seq).n_cells))
    kvasir_cells_set_span (cells, seq, &span);
  kvasir_cells_settle (cells);
  return emptied;
}

void
kvasir_kv_cache_rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  const CellOp op = { .change = empty_cells, .p0 = p0, .p1 = p1 };

  if (seq >= 0)
    head_back_to (self, kvasir_kv_cache_get_stream (self, (guint) seq),
                  kvasir_kv_cache_remove (self, (guint) seq, p0, p1, FALSE));
  else
    for (guint s = 0; s < self->n_streams; s++)
      head_back_to (self, s, visit_used (self, s, &op));
}

static void
join_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  kvasir_cells_join_bits (cells, w, bits, op->seq);
}

void
kvasir_kv_cache_join (KvasirKvCache *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, src);
  gboolean was_empty = kvasir_cells_get_span (cells, dst).n_cells == 0;
  KvasirSeqSpan span = kvasir_cells_get_span (cells, src);

  visit_seq (self, src, &(CellOp){ .change = join_cells, .seq = dst, .p0 = p0, .p1 = p1 });
  if (was_empty && kvasir_cells_get_span (cells, dst).n_cells == span.n_cells)
    kvasir_cells_set_span (cells, dst, &span);
  kvasir_cells_settle (cells);
}

static void
keep_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  guint64 kept = bits & kvasir_cells_owned_by (cells, op->seq)[w];

  if (kept != bits)
    kvasir_cells_empty_bits (cells, w, bits & ~kept);
  for (guint seq = cells->first_seq; seq < cells->first_seq + cells->n_seqs; seq++)
    {
      guint64 held = kept & kvasir_cells_owned_by (cells, seq)[w];

      if (seq != op->seq && held != 0)
        kvasir_cells_leave_bits (cells, w, held, seq);
    }
}

void
kvasir_kv_cache_keep (KvasirPart *part, guint seq)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint stream = kvasir_kv_cache_get_stream (self, seq);

  head_back_to (self, stream,
                visit_used (self, stream,
                            &(CellOp){ .change = keep_cells, .seq = seq, .p1 = KVASIR_POS_END }));
}

static void
add_to_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  kvasir_cells_add_bits (cells, w, bits, op->value);
}

/* The cell of @words before @cell, or -1. */
static gint
find_before (const guint64 *words, guint cell)
{
  guint64 bits = words[cell / 64] & (KVASIR_BIT (cell) - 1);

  for (guint w = cell / 64;; bits = words[--w])
    {
      if (bits != 0)
        return (gint) (w * 64 + 63 - (guint) __builtin_clzll (bits));
      if (w == 0)
        return -1;
    }
}

/* What @span, which rises, is once its positions from @p0 on, which begin at @first, have moved. */
static gboolean
move_span (const KvasirCells *cells, KvasirSeqSpan *span, guint seq, const CellOp *op, guint first)
{
  gint before = find_before (kvasir_cells_owned_by (cells, seq), first);

  if (!span->is_rising || op->p1 <= span->max ||
      kvasir_cells_get_span (cells, seq).n_cells != span->n_cells)
    return FALSE;
  if (before >= 0 && cells->pos[before] >= cells->pos[first])
    return FALSE;
  if (before < 0)
    span->min += op->value;
  span->max += op->value;
  span->is_dense = (guint) (span->max - span->min) + 1 == span->n_cells;
  return TRUE;
}

/* The first cell of @seq at a position from @p0 on, if its positions rise; else NO_CELL. */
static guint
find_first (const KvasirCells *cells, guint seq, gint32 p0)
{
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  KvasirSeqSpan span = kvasir_cells_get_span (cells, seq);

  if (!span.is_rising || span.max < p0)
    return NO_CELL;
  for (guint w = 0; w < cells->n_words; w++)
    if (words[w] != 0 && cells->pos[w * 64 + 63 - (guint) __builtin_clzll (words[w])] >= p0)
      return w * 64 + (guint) __builtin_ctzll (
                          kvasir_cells_select (cells, w, words[w], p0, KVASIR_POS_END, TRUE));
  return NO_CELL;
}

void
kvasir_kv_cache_add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, seq);
  KvasirSeqSpan span = kvasir_cells_get_span (cells, seq);
  const CellOp op = { .change = add_to_cells, .value = delta, .p0 = p0, .p1 = p1 };
  guint first = find_first (cells, seq, p0);
  guint emptied = visit_seq (self, seq, &op);

  if (first != NO_CELL && move_span (cells, &span, seq, &op, first))
    kvasir_cells_set_span (cells, seq, &span);
  kvasir_cells_settle (cells);
  kvasir_kv_cache_set_head (self, kvasir_kv_cache_get_stream (self, seq),
                            emptied != NO_CELL ? emptied : 0);
}

static void
divide_cells (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  for (; bits != 0; bits &= bits - 1)
    {
      guint cell = w * 64 + (guint) __builtin_ctzll (bits);

      kvasir_cells_move (cells, cell, cells->pos[cell] / op->value);
    }
}

void
kvasir_kv_cache_div (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  visit_seq (self, seq, &(CellOp){ .change = divide_cells, .value = d, .p0 = p0, .p1 = p1 });
  kvasir_cells_settle (kvasir_kv_cache_peek_cells_of (self, seq));
}

void
kvasir_kv_cache_clear_cells (KvasirPart *part, gboolean data)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  for (guint s = 0; s < self->n_streams; s++)
    {
      visit_used (self, s, &(CellOp){ .change = empty_cells, .p1 = KVASIR_POS_END });
      kvasir_kv_cache_set_head (self, s, 0);
    }
  if (data)
    kvasir_kv_store_zero (&self->store);
}

static guint
count_shifted (const KvasirKvCache *self)
{
  guint n = 0;

  for (guint s = 0; s < self->n_streams; s++)
    n += self->cells[s].n_shifted;
  return n;
}

gboolean
kvasir_kv_cache_has_update (const KvasirPart *part)
{
  const KvasirKvCache *self = (const KvasirKvCache *) part;

  return self->cells != NULL && (self->copies->len > 0 || count_shifted (self) > 0);
}

static void
settle_shifts (KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  kvasir_cells_settle_shift_bits (cells, w, bits);
}

void
kvasir_kv_cache_update_done (KvasirPart *part, gint64 duration_us)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint n_shifted = count_shifted (self);

  if (n_shifted == 0)
    return;
  kvasir_kv_cache_emit (self, KVASIR_EVENT_SHIFT_APPLIED,
                        &(KvasirEvent){ .seq = -1, .n = (gint32) n_shifted, .b = duration_us });
  for (guint s = 0; s < self->n_streams; s++)
    if (self->cells[s].n_shifted > 0)
      visit_used (self, s, &(CellOp){ .change = settle_shifts, .p1 = KVASIR_POS_END });
}
