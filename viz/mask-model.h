/* viz/mask-model.h - the mask of one ubatch as runs, never as a matrix of reasons
 *
 * Whether an entry is open is what the kernel read (the words of the shot). Why one is closed
 * follows from the cell and the row by the tests in the order in which the mask is filled.
 * Owner: the Mask view. Thread: one at a time. Borrows the shot.
 */
#pragma once

#include <glib.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

#define KVASIR_N_MASK_REASONS (KVASIR_MASK_PADDING + 1)
#define KVASIR_MASK_BLOCK_ROWS 4
#define KVASIR_MASK_BLOCK_CELLS 64

/* Neighbouring cells: empty, or of one set with positions that rise by one. */
typedef struct
{
  guint cell;
  guint n;
  gint32 pos; /* -1: empty */
  KvasirSeqSet set;
} KvasirMaskColumns;

/* Neighbouring entries of a row with one reason. */
typedef struct
{
  guint cell;
  guint n;
  KvasirMaskReason reason;
  gint seq; /* first holder of the cells, -1: empty */
} KvasirMaskSegment;

typedef enum
{
  KVASIR_BLOCK_CLOSED,
  KVASIR_BLOCK_OPEN,
  KVASIR_BLOCK_MIXED
} KvasirBlockClass;

typedef struct
{
  const KvasirMaskShot *shot; /* (unowned) */
  KvasirMaskColumns *columns; /* (owned) [n_columns] */
  guint n_columns;
  guint used_max; /* one past the last occupied cell: padding begins there */
  guint8 *blocks; /* (owned) [n_block_rows][n_block_columns] of KvasirBlockClass */
  guint n_block_rows;
  guint n_block_columns;
  guint n_blocks[3]; /* by class; they add up to all */
} KvasirMaskModel;

KvasirMaskModel *kvasir_mask_model_new (const KvasirMaskShot *shot) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_mask_model_free (KvasirMaskModel *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMaskModel, kvasir_mask_model_free)

/* Replaces the content of @segments, an array of KvasirMaskSegment; they cover all n_kv cells. */
void kvasir_mask_model_get_row (const KvasirMaskModel *self, guint row, GArray *segments);

/* Counts of one row; they add up to n_kv. */
typedef struct
{
  guint reasons[KVASIR_N_MASK_REASONS];
  guint others[KVASIR_MAX_SEQS]; /* of OTHER_SEQUENCE, by the first holder */
} KvasirMaskCounts;

void kvasir_mask_model_count_row (const KvasirMaskModel *self, guint row, KvasirMaskCounts *counts);

/* One test of the walk. */
typedef struct
{
  const char *question; /* "window?" */
  char *answer;         /* (owned) with the numbers */
  gboolean passed;
} KvasirMaskTest;

/* Walks the tests for one entry and stops at the one that fails. Returns how many were made; the
 * last one failed unless the entry is open. Clear each with g_free (test.answer). */
guint kvasir_mask_model_explain (const KvasirMaskModel *self,
                                 guint row,
                                 guint cell,
                                 KvasirMaskTest tests[4]);

/* The row's sequence: the mask looks at the first one. -1: none. */
gint kvasir_mask_model_get_row_seq (const KvasirMaskModel *self, guint row);

const char *kvasir_mask_model_get_reason_label (KvasirMaskReason reason);

G_END_DECLS
