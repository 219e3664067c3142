/* engine/memory/cells.h - the cells of one stream
 *
 * Who holds a cell is kept twice: as the set of its sequences, and as one bitmap over the cells per
 * sequence. The first answers questions about a cell, the second makes masks and range operations a
 * matter of words. Per sequence the number of cells and the first and last position are kept up to
 * date; leaving cells only mark a sequence whose extreme was touched, and kvasir_cells_settle()
 * looks at its cells once when the operation is over.
 *
 * Owner:  a cache, one per stream. Thread: engine thread.
 * Rule:   a cell without sequences is empty: pos -1, shift 0, token -1.
 * Fields are for reading by the other files of this folder; only cells.c changes them.
 */
#pragma once

#include <glib.h>

#include "engine/memory/bit-tree.h"
#include "engine/memory/memory.h"
#include "engine/memory/seq-set.h"

G_BEGIN_DECLS

/* One more than the largest position, so that the one after the last always fits. */
#define KVASIR_POS_END G_MAXINT32

typedef struct
{
  guint n_cells;
  gint32 min; /* -1 where n_cells is 0; the same for max */
  gint32 max;
  /* Every position from min to max is held exactly once, so that the next extreme is known. FALSE
   * where nobody has looked; the same for is_rising. */
  gboolean is_dense;
  gboolean is_rising; /* positions rise along the cells */
  guint last_cell;    /* none of its cells is behind this one; G_MAXUINT where it holds nothing */
  guint64 *words;     /* (unowned) its row of owned */
} KvasirSeqSpan;

/* Where a cell's content comes from; written as one word. */
typedef struct
{
  gint32 token; /* id, -1: unknown */
  guint32 step; /* when it was written */
} KvasirCellOrigin;

typedef struct
{
  guint size; /* a multiple of 64 */
  guint n_words;
  guint first_seq; /* ids below are never held */
  guint n_seqs;    /* ids first_seq ... first_seq + n_seqs - 1 */
  guint n_set_words;
  guint64 is_special; /* 1: sets of several words, ids that do not begin at 0, or places */
  guint n_used;
  guint n_shifted; /* cells whose pending shift is not 0 */
  guint head;      /* where the next search starts, 0 ... size */

  gint32 *pos;               /* (owned) [size] */
  gint32 *shift;             /* (owned) [size], pending */
  KvasirCellOrigin *origins; /* (owned) [size] */
  gint32 *places;            /* (owned) (nullable) [size][2], column and row in an image */
  guint64 *sets;             /* (owned) [size][n_set_words], bit 0 is first_seq */
  guint64 *owned;            /* (owned) [n_seqs][n_words], the cells of each sequence */
  KvasirBitTree used;
  KvasirBitTree vacant;
  KvasirSeqSpan *spans; /* (owned) [n_seqs] */
  KvasirSeqSet stale;   /* sequences whose min or max left, counted from first_seq */
  KvasirSeqSet alive;   /* those that hold cells */
} KvasirCells;

/* FALSE: no memory; clear it all the same. */
gboolean kvasir_cells_init (KvasirCells *self, guint size, guint n_seqs);
/* Ids begin at @seq instead of 0; before anything is placed. */
void kvasir_cells_set_first_seq (KvasirCells *self, guint seq);
/* Keeps places too. FALSE: no memory; clear it all the same. */
gboolean kvasir_cells_add_places (KvasirCells *self);
void kvasir_cells_clear (KvasirCells *self);

static inline gboolean
kvasir_cells_can_hold (const KvasirCells *self, guint seq)
{
  return seq - self->first_seq < self->n_seqs;
}

/* What @seq holds; nothing where it lives elsewhere. */
static inline KvasirSeqSpan
kvasir_cells_get_span (const KvasirCells *self, guint seq)
{
  return kvasir_cells_can_hold (self, seq) ? self->spans[seq - self->first_seq]
                                           : (KvasirSeqSpan){ .min = -1, .max = -1 };
}

static inline const guint64 *
kvasir_cells_owned_by (const KvasirCells *self, guint seq)
{
  return self->owned + (gsize) (seq - self->first_seq) * self->n_words;
}

static inline gboolean
kvasir_cells_has (const KvasirCells *self, guint cell, guint seq)
{
  guint bit = seq - self->first_seq;

  return (self->sets[(gsize) cell * self->n_set_words + bit / 64] >> (bit % 64)) & 1;
}

/* One past the last occupied cell. */
guint kvasir_cells_get_end (const KvasirCells *self);

void kvasir_cells_get_seqs (const KvasirCells *self, guint cell, KvasirSeqSet *seqs);
void kvasir_cells_get (const KvasirCells *self, guint cell, KvasirCell *out);
guint kvasir_cells_get_largest_vacant_run (const KvasirCells *self);

/* What a cell is to hold. */
typedef struct
{
  gint32 pos;
  union
  {
    KvasirCellOrigin origin;
    struct
    {
      gint32 token;
      guint32 step;
    };
  };
  gint32 x, y;              /* kept where there are places */
  const KvasirSeqSet *seqs; /* not empty */
} KvasirCellEntry;

/* Occupies an empty cell. */
void kvasir_cells_place (KvasirCells *self, guint cell, const KvasirCellEntry *entry);
/* Occupies @n empty neighbours with tokens of one sequence whose positions rise by one; @entry is
 * that of the first one, @tokens [n]. */
void kvasir_cells_place_run (
    KvasirCells *self, guint cell, guint n, const KvasirCellEntry *entry, const gint32 *tokens);
void kvasir_cells_empty (KvasirCells *self, guint cell);
/* Occupies an empty cell with what kvasir_cells_get() gave of one. */
void kvasir_cells_restore (KvasirCells *self, guint cell, const KvasirCell *state);
/* Changes the position for all owners and the pending shift with it. Below 0 the cell is emptied.
 */
void kvasir_cells_move (KvasirCells *self, guint cell, gint64 pos);
/* The pending shift was applied. */
void kvasir_cells_settle_shift (KvasirCells *self, guint cell);

/* ---- many cells at once: cells 64 @w + i for every bit i of @bits, occupied ones. Spans are right
 * again once the operation is settled. */
/* Those of @bits that lie at positions @p0 ... @p1 - 1. @is_rising: positions are known to rise. */
guint64 kvasir_cells_select (
    const KvasirCells *self, guint w, guint64 bits, gint32 p0, gint32 p1, gboolean is_rising);
/* What is left to do where the last sequence has gone; @bits may be 0. */
void kvasir_cells_forget_bits (KvasirCells *self, guint w, guint64 bits);
void kvasir_cells_empty_bits (KvasirCells *self, guint w, guint64 bits);
/* All of them are held by @seq. */
void kvasir_cells_leave_bits (KvasirCells *self, guint w, guint64 bits, guint seq);
void kvasir_cells_join_bits (KvasirCells *self, guint w, guint64 bits, guint seq);
void kvasir_cells_add_bits (KvasirCells *self, guint w, guint64 bits, gint32 delta);
void kvasir_cells_settle_shift_bits (KvasirCells *self, guint w, guint64 bits);
/* What @seq holds is known without looking at its cells. */
void kvasir_cells_set_span (KvasirCells *self, guint seq, const KvasirSeqSpan *span);

/* Ends an operation: spans are right again. */
void kvasir_cells_settle (KvasirCells *self);

/* Marks empty cells as taken and back again, while a batch is being planned: searches see them,
 * nothing else does. */
void kvasir_cells_reserve (KvasirCells *self, const guint32 *cells, guint n);
void kvasir_cells_release (KvasirCells *self, const guint32 *cells, guint n);

G_END_DECLS
