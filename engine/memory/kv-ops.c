/* Operations on sequences: which cells they meet, what they do to a cell, where the head goes. */
#include "engine/memory/kv-cache-private.h"

#define NO_CELL G_MAXUINT

/* An operation on single cells and its arguments. */
typedef struct _CellOp CellOp;
struct _CellOp
{
  void (*change) (KvasirCells *cells, guint cell, const CellOp *op);
  guint seq;     /* that comes, stays or goes */
  gint64 value;  /* delta or divisor */
  GArray *memos; /* (nullable): where cells are remembered before they change */
  gint32 p0;     /* cells at positions p0 ... p1 - 1 are meant */
  gint32 p1;
};

/* The cells of the word @bits of cells 64 @w ... whose position is meant. */
static guint64
keep_positions (const KvasirCells *cells, guint w, guint64 bits, const CellOp *op)
{
  guint64 kept = 0;

  if (op->p0 == 0 && op->p1 == KVASIR_POS_END)
    return bits;
  for (guint64 left = bits; left != 0; left &= left - 1)
    {
      gint32 pos = cells->pos[w * 64 + (guint) __builtin_ctzll (left)];

      if (pos >= op->p0 && pos < op->p1)
        kept |= left & -left;
    }
  return kept;
}

static void
remember (const CellOp *op, guint stream, const KvasirCells *cells, guint cell)
{
  KvasirKvMemo memo = { .stream = stream, .cell = cell };

  kvasir_cells_get (cells, cell, &memo.state);
  g_array_append_val (op->memos, memo);
}

/* Applies @op to the cells of the bitmap @words that it means, ascending, and reports the changes.
 * Returns: the first cell that became empty, or NO_CELL */
static guint
visit (KvasirKvCache *self, guint stream, const guint64 *words, const CellOp *op)
{
  KvasirCells *cells = &self->cells[stream];
  guint n_words = (kvasir_cells_get_end (cells) + 63) / 64;
  guint first_emptied = NO_CELL;

  self->changes.stream = (guint16) stream;
  for (guint w = 0; w < n_words; w++)
    for (guint64 left = keep_positions (cells, w, words[w], op); left != 0; left &= left - 1)
      {
        guint cell = w * 64 + (guint) __builtin_ctzll (left);

        if (op->memos != NULL)
          remember (op, stream, cells, cell);
        kvasir_changes_before (&self->changes, cells, cell);
        op->change (cells, cell, op);
        kvasir_changes_after (&self->changes, cells, cell);
        if (cells->pos[cell] < 0)
          first_emptied = MIN (first_emptied, cell);
      }
  kvasir_changes_flush (&self->changes);
  kvasir_cells_settle (cells);
  return first_emptied;
}

/* The cells of @seq in its stream. */
static guint
visit_seq (KvasirKvCache *self, guint seq, const CellOp *op)
{
  guint stream = kvasir_kv_cache_get_stream (self, seq);

  return visit (self, stream, kvasir_cells_owned_by (&self->cells[stream], seq), op);
}

static guint
visit_used (KvasirKvCache *self, guint stream, const CellOp *op)
{
  return visit (self, stream, self->cells[stream].used.words[0], op);
}

static void
head_back_to (KvasirKvCache *self, guint stream, guint emptied)
{
  kvasir_kv_cache_set_head (self, stream, MIN (self->cells[stream].head, emptied));
}

static void
empty_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_empty (cells, cell);
}

static void
leave_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_leave (cells, cell, op->seq);
}

guint
kvasir_kv_cache_remove (KvasirKvCache *self, guint seq, gint32 p0, gint32 p1, gboolean remember_it)
{
  return visit_seq (self, seq,
                    &(CellOp){ .change = leave_cell,
                               .seq = seq,
                               .memos = remember_it ? self->memos : NULL,
                               .p0 = p0,
                               .p1 = p1 });
}

void
kvasir_kv_cache_rm (KvasirPart *part, gint seq, gint32 p0, gint32 p1)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  const CellOp op = { .change = empty_cell, .p0 = p0, .p1 = p1 };

  if (seq >= 0)
    head_back_to (self, kvasir_kv_cache_get_stream (self, (guint) seq),
                  kvasir_kv_cache_remove (self, (guint) seq, p0, p1, FALSE));
  else
    for (guint s = 0; s < self->n_streams; s++)
      head_back_to (self, s, visit_used (self, s, &op));
}

static void
join_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_join (cells, cell, op->seq);
}

void
kvasir_kv_cache_join (KvasirKvCache *self, guint src, guint dst, gint32 p0, gint32 p1)
{
  visit_seq (self, src, &(CellOp){ .change = join_cell, .seq = dst, .p0 = p0, .p1 = p1 });
}

static void
keep_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  KvasirSeqSet seqs;

  if (!kvasir_cells_has (cells, cell, op->seq))
    {
      kvasir_cells_empty (cells, cell);
      return;
    }
  kvasir_cells_get_seqs (cells, cell, &seqs);
  kvasir_seq_set_remove (&seqs, op->seq);
  for (gint seq = kvasir_seq_set_next (&seqs, 0); seq >= 0;
       seq = kvasir_seq_set_next (&seqs, (guint) seq + 1))
    kvasir_cells_leave (cells, cell, (guint) seq);
}

void
kvasir_kv_cache_keep (KvasirPart *part, guint seq)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint stream = kvasir_kv_cache_get_stream (self, seq);

  head_back_to (self, stream,
                visit_used (self, stream,
                            &(CellOp){ .change = keep_cell, .seq = seq, .p1 = KVASIR_POS_END }));
}

static void
add_to_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_move (cells, cell, cells->pos[cell] + op->value);
}

void
kvasir_kv_cache_add (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  KvasirKvCache *self = (KvasirKvCache *) part;
  guint emptied;

  emptied =
      visit_seq (self, seq, &(CellOp){ .change = add_to_cell, .value = delta, .p0 = p0, .p1 = p1 });
  kvasir_kv_cache_set_head (self, kvasir_kv_cache_get_stream (self, seq),
                            emptied != NO_CELL ? emptied : 0);
}

static void
divide_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_move (cells, cell, cells->pos[cell] / op->value);
}

void
kvasir_kv_cache_div (KvasirPart *part, guint seq, gint32 p0, gint32 p1, gint d)
{
  visit_seq ((KvasirKvCache *) part, seq,
             &(CellOp){ .change = divide_cell, .value = d, .p0 = p0, .p1 = p1 });
}

void
kvasir_kv_cache_clear_cells (KvasirPart *part, gboolean data)
{
  KvasirKvCache *self = (KvasirKvCache *) part;

  for (guint s = 0; s < self->n_streams; s++)
    {
      visit_used (self, s, &(CellOp){ .change = empty_cell, .p1 = KVASIR_POS_END });
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
settle_shift (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_settle_shift (cells, cell);
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
      visit_used (self, s, &(CellOp){ .change = settle_shift, .p1 = KVASIR_POS_END });
}
