/* Operations on sequences: which cells they meet, what they do to a cell, where the head goes. */
#include "engine/memory/kv-cache-private.h"

#define NO_CELL G_MAXUINT

/* An operation on single cells and its arguments. */
typedef struct _CellOp CellOp;
struct _CellOp
{
  void (*change) (KvasirCells *cells, guint cell, const CellOp *op);
  guint seq;    /* that comes, stays or goes */
  gint64 value; /* delta or divisor */
};

/* The cells of the word @bits of cells 64 @w ... whose position lies in [p0, p1). */
static guint64
keep_positions (const KvasirCells *cells, guint w, guint64 bits, gint32 p0, gint32 p1)
{
  guint64 kept = 0;

  if (p0 == 0 && p1 == KVASIR_POS_END)
    return bits;
  for (guint64 left = bits; left != 0; left &= left - 1)
    {
      gint32 pos = cells->pos[w * 64 + (guint) __builtin_ctzll (left)];

      if (pos >= p0 && pos < p1)
        kept |= left & -left;
    }
  return kept;
}

/* Applies @op to the cells of the bitmap @words with a position in [p0, p1), ascending, and reports
 * the changes. Returns: the first cell that became empty, or NO_CELL */
static guint
visit (KvasirKvCache *self, const guint64 *words, gint32 p0, gint32 p1, const CellOp *op)
{
  KvasirCells *cells = &self->cells;
  guint n_words = (kvasir_cells_get_end (cells) + 63) / 64;
  guint first_emptied = NO_CELL;

  for (guint w = 0; w < n_words; w++)
    for (guint64 left = keep_positions (cells, w, words[w], p0, p1); left != 0; left &= left - 1)
      {
        guint cell = w * 64 + (guint) __builtin_ctzll (left);

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

static void
emit_range (KvasirKvCache *self, KvasirEventType type, const KvasirEvent *arguments, gint32 p1)
{
  KvasirEvent event = *arguments;

  event.a = p1 == KVASIR_POS_END ? -1 : p1;
  kvasir_kv_cache_emit (self, type, &event);
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

gboolean
kvasir_kv_cache_seq_rm (KvasirMemory *memory, gint seq, gint32 p0, gint32 p1)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  emit_range (self, KVASIR_EVENT_SEQ_RM, &(KvasirEvent){ .seq = seq, .pos = p0 }, p1);
  kvasir_kv_cache_remove (self, seq, p0, p1);
  return TRUE;
}

void
kvasir_kv_cache_remove (KvasirKvCache *self, gint seq, gint32 p0, gint32 p1)
{
  guint emptied;

  if (seq < 0)
    emptied = visit (self, self->cells.used.words[0], p0, p1, &(CellOp){ .change = empty_cell });
  else
    emptied = visit (self, kvasir_cells_owned_by (&self->cells, (guint) seq), p0, p1,
                     &(CellOp){ .change = leave_cell, .seq = (guint) seq });
  kvasir_kv_cache_set_head (self, MIN (self->cells.head, emptied));
}

static void
join_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_join (cells, cell, op->seq);
}

gboolean
kvasir_kv_cache_seq_cp (KvasirMemory *memory, guint src, guint dst, gint32 p0, gint32 p1)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  emit_range (self, KVASIR_EVENT_SEQ_CP, &(KvasirEvent){ .seq = (gint32) src, .pos = p0, .b = dst },
              p1);
  visit (self, kvasir_cells_owned_by (&self->cells, src), p0, p1,
         &(CellOp){ .change = join_cell, .seq = dst });
  return TRUE;
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
kvasir_kv_cache_seq_keep (KvasirMemory *memory, guint seq)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;
  guint emptied;

  kvasir_kv_cache_emit (self, KVASIR_EVENT_SEQ_KEEP, &(KvasirEvent){ .seq = (gint32) seq });
  emptied = visit (self, self->cells.used.words[0], 0, KVASIR_POS_END,
                   &(CellOp){ .change = keep_cell, .seq = seq });
  kvasir_kv_cache_set_head (self, MIN (self->cells.head, emptied));
}

static void
add_to_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_move (cells, cell, cells->pos[cell] + op->value);
}

gboolean
kvasir_kv_cache_seq_add (KvasirMemory *memory, guint seq, gint32 p0, gint32 p1, gint32 delta)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;
  gint64 highest = MIN ((gint64) self->cells.spans[seq].max, (gint64) p1 - 1) + delta;
  guint emptied;

  if (self->shift_obstacle != NULL || highest >= KVASIR_POS_END)
    return FALSE;
  if (delta == 0 || p0 >= p1)
    return TRUE;
  emit_range (self, KVASIR_EVENT_SEQ_ADD,
              &(KvasirEvent){ .seq = (gint32) seq, .pos = p0, .b = delta }, p1);
  emptied = visit (self, kvasir_cells_owned_by (&self->cells, seq), p0, p1,
                   &(CellOp){ .change = add_to_cell, .value = delta });
  kvasir_kv_cache_set_head (self, emptied != NO_CELL ? emptied : 0);
  return TRUE;
}

static void
divide_cell (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_move (cells, cell, cells->pos[cell] / op->value);
}

gboolean
kvasir_kv_cache_seq_div (KvasirMemory *memory, guint seq, gint32 p0, gint32 p1, gint d)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  if (self->shift_obstacle != NULL)
    return FALSE;
  if (d == 1 || p0 >= p1)
    return TRUE;
  emit_range (self, KVASIR_EVENT_SEQ_DIV, &(KvasirEvent){ .seq = (gint32) seq, .pos = p0, .b = d },
              p1);
  visit (self, kvasir_cells_owned_by (&self->cells, seq), p0, p1,
         &(CellOp){ .change = divide_cell, .value = d });
  return TRUE;
}

void
kvasir_kv_cache_clear_cells (KvasirMemory *memory, gboolean data)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  kvasir_kv_cache_emit (self, KVASIR_EVENT_CLEAR, &(KvasirEvent){ .seq = -1, .a = data ? 1 : 0 });
  visit (self, self->cells.used.words[0], 0, KVASIR_POS_END, &(CellOp){ .change = empty_cell });
  kvasir_kv_cache_set_head (self, 0);
  if (data)
    kvasir_kv_store_zero (&self->store);
}

gboolean
kvasir_kv_cache_has_update (const KvasirMemory *memory)
{
  return ((const KvasirKvCache *) memory)->cells.n_shifted > 0;
}

static void
settle_shift (KvasirCells *cells, guint cell, const CellOp *op)
{
  kvasir_cells_settle_shift (cells, cell);
}

void
kvasir_kv_cache_update_done (KvasirMemory *memory, gint64 duration_us)
{
  KvasirKvCache *self = (KvasirKvCache *) memory;

  if (self->cells.n_shifted == 0)
    return;
  kvasir_kv_cache_emit (
      self, KVASIR_EVENT_SHIFT_APPLIED,
      &(KvasirEvent){ .seq = -1, .n = (gint32) self->cells.n_shifted, .b = duration_us });
  visit (self, self->cells.used.words[0], 0, KVASIR_POS_END, &(CellOp){ .change = settle_shift });
}
