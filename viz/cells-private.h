/* viz/cells-private.h - the parts of the Cells view; only cells-*.c include it */
#pragma once

#include "viz/grid.h"
#include "viz/holdings.h"
#include "viz/legend.h"
#include "viz/memory-sums.h"
#include "viz/view-private.h"

G_BEGIN_DECLS

/* The cells of one stream of one cache, with a line of text above. */
typedef struct
{
  guint cache;
  guint stream;
  double head_y; /* middle of the line of text */
  KvasirGrid grid;
} KvasirCellsLane;

typedef struct
{
  KvasirView base;
  KvasirHoldings **holdings; /* (owned) [n_holdings], one per cache */
  guint n_holdings;
  KvasirCellsLane *lanes; /* (owned) [n_lanes] */
  guint n_lanes;
  double lane_width;        /* room for a lane, whatever its grid needs */
  KvasirLegend *legend;     /* (owned) */
  KvasirMemorySums *memory; /* (owned) (nullable) */
  KvasirRect memory_rect;   /* inside the legend's column */
  KvasirRect bars;          /* the tracks of the positions, without letters and figures */
  double bars_text_x;
  double bar_pitch;
  guint n_bars;
  gint32 axis_end; /* positions shown by the full width of a bar */
  guint zoom;      /* 0: everything fits */
  guint first_row; /* while zoomed */
} KvasirCellsView;

/* The stream a lane shows. */
const KvasirStreamShot *kvasir_cells_view_get_stream (const KvasirCellsView *self,
                                                      const KvasirCellsLane *lane);
/* Whether its cells are the states of sequences. */
gboolean kvasir_cells_view_is_recurrent (const KvasirCellsView *self, const KvasirCellsLane *lane);
/* The lane that holds a cell thing, or NULL. */
const KvasirCellsLane *kvasir_cells_view_find_lane (const KvasirCellsView *self,
                                                    const KvasirThing *thing);
/* The sequence's short name: "chat", "branch of A". Returns: (transfer full) */
char *kvasir_cells_view_dup_name (const KvasirCellsView *self, guint seq);
/* Appends the runs of cells that a message or the runs given from outside stand for. */
void
kvasir_cells_view_collect (const KvasirCellsView *self, const KvasirThing *thing, GArray *runs);

void kvasir_cells_view_fill_legend (KvasirCellsView *self, KvasirRect column);
/* Height of the memory part of the column. */
double kvasir_cells_view_measure_memory (const KvasirCellsView *self);

void kvasir_cells_view_draw (KvasirView *view, KvasirCanvas *canvas);
void kvasir_cells_view_draw_memory (KvasirCellsView *self, KvasirCanvas *canvas);
/* Positions, letters and token texts in cells that are large enough. */
void kvasir_cells_view_draw_labels (KvasirCellsView *self,
                                    KvasirCanvas *canvas,
                                    const KvasirCellsLane *lane);
gboolean kvasir_cells_view_draw_mark (KvasirView *view,
                                      KvasirCanvas *canvas,
                                      const KvasirThing *thing,
                                      gboolean locked);
void kvasir_cells_view_describe (KvasirView *view, const KvasirThing *thing, GString *out);
void kvasir_cells_view_append_text (KvasirView *view, GString *out);

G_END_DECLS
