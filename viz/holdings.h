/* viz/holdings.h - who holds what in one cache, recounted from its spans
 *
 * The figures of every legend come from here, so that they agree with each other and with what is
 * drawn: own cells of all sequences + shared + free = all cells.
 * Owner: the view that made it. Thread: one at a time. Borrows the cache it was made from.
 */
#pragma once

#include <glib.h>

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

/* Positions that stand one after the other in neighbouring cells of one stream. */
typedef struct
{
  gint32 pos;
  guint32 n;
  guint32 cell;
  guint32 stream;
  guint32 set; /* index into the cache's sets */
  gint32 shift;
} KvasirPosRun;

typedef struct
{
  guint seq;
  guint n_cells;
  guint n_own; /* held by nobody else */
  gint32 pos_min;
  gint32 pos_max;
  guint n_positions; /* distinct ones; fewer than cells after a division */
  guint n_holes;     /* gaps between pos_min and pos_max */
  guint first_run;   /* of this sequence, ascending by position */
  guint n_runs;
} KvasirHolding;

typedef struct
{
  const KvasirCacheShot *cache; /* (unowned) */
  guint n_cells;                /* of all streams */
  guint n_used;
  guint n_shared; /* held by two sequences or more */
  guint n_seqs;
  KvasirHolding *seqs; /* (owned) [n_seqs], ascending by sequence */
  KvasirPosRun *runs;  /* (owned) */
} KvasirHoldings;

KvasirHoldings *kvasir_holdings_new (const KvasirCacheShot *cache) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_holdings_free (KvasirHoldings *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirHoldings, kvasir_holdings_free)

/* NULL where the sequence holds nothing. */
const KvasirHolding *kvasir_holdings_find (const KvasirHoldings *self, guint seq);
/* Where a position of a sequence lies, or NULL. */
const KvasirPosRun *
kvasir_holdings_find_position (const KvasirHoldings *self, guint seq, gint32 pos);

/* Calls @func for each hole of a sequence, ascending. */
typedef void (*KvasirHoleFunc) (gint32 pos, gint32 n, gpointer user_data);
void kvasir_holdings_foreach_hole (const KvasirHoldings *self,
                                   const KvasirHolding *holding,
                                   KvasirHoleFunc func,
                                   gpointer user_data);

G_END_DECLS
