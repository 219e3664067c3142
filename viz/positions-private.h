/* viz/positions-private.h - the parts of the Positions view; only positions-*.c include it */
#pragma once

#include "viz/axis.h"
#include "viz/holdings.h"
#include "viz/view-private.h"

G_BEGIN_DECLS

/* One sequence: a node of the tree, a bar, a line of the table. */
typedef struct
{
  const KvasirHolding *holding;
  const KvasirSeqShot *shot; /* (nullable) */
  guint depth;               /* in the fork tree */
  gint parent;               /* index of the row it was forked from, -1 */
  double y;                  /* middle of the bar */
} KvasirPositionsRow;

typedef struct
{
  KvasirView base;
  KvasirHoldings *holdings; /* (owned), of the first cache */
  KvasirHoldings *sliding;  /* (owned) (nullable), of the sliding half beside it */
  KvasirPositionsRow *rows; /* (owned) [n_rows], children below their parents */
  guint n_rows;
  double row_height;
  double bar_height;
  double rows_y;
  double tree_step;    /* between levels of the tree */
  KvasirRect table;    /* w = 0: not shown */
  gboolean table_ends; /* min and max are shown too */
  KvasirAxis across;   /* positions */
  KvasirAxis down;     /* cells, streams one after the other */
  KvasirRect plot;
} KvasirPositionsView;

/* Place of a cell on the axis down: streams stand one below the other. */
gint64 kvasir_positions_view_get_index (const KvasirPositionsView *self, guint stream, guint cell);
/* The row of a sequence, or NULL. */
const KvasirPositionsRow *kvasir_positions_view_find_row (const KvasirPositionsView *self,
                                                          gint seq);

void kvasir_positions_view_draw (KvasirView *view, KvasirCanvas *canvas);
gboolean kvasir_positions_view_draw_mark (KvasirView *view,
                                          KvasirCanvas *canvas,
                                          const KvasirThing *thing,
                                          gboolean locked);
void kvasir_positions_view_draw_plot (KvasirPositionsView *self, KvasirCanvas *canvas);
void kvasir_positions_view_describe (KvasirView *view, const KvasirThing *thing, GString *out);
void kvasir_positions_view_append_text (KvasirView *view, GString *out);

G_END_DECLS
