/* viz/cells-raster.h - the cells of one stream as pixels
 *
 * From spans: a row costs its pixels and the spans that cross it, never one call per cell.
 * Marks, at any size that can hold them: stripes and stipple = shared, notch = first cell of a run,
 * hatch = outside its owners' window, dot = shift pending, ring = just written.
 * Thread: one at a time.
 */
#pragma once

#include <cairo.h>

#include "viz/grid.h"
#include "viz/holdings.h"
#include "viz/view.h"

G_BEGIN_DECLS

/* A cell that was written in this many last steps has a ring. */
#define KVASIR_JUST_WRITTEN_STEPS 16

typedef struct
{
  const KvasirHoldings *holdings;
  guint stream;
  const KvasirThing *focus; /* a sequence, the shared or the free ones: the rest is dimmed */
  guint32 step;             /* newest */
} KvasirCellsPicture;

void
kvasir_cells_raster_draw (const KvasirCellsPicture *picture, const KvasirGrid *grid, cairo_t *cr);

/* How many of a span's cells, from its first on, lie outside the window of all their owners. */
guint kvasir_cells_count_outside (const KvasirHoldings *holdings, const KvasirSpan *span);
gboolean
kvasir_cells_is_just_written (const KvasirCacheShot *cache, guint stream, guint cell, guint32 step);

/* Fill colour of a set with one owner; of several the even mix. */
KvasirRgb kvasir_cells_get_set_color (const KvasirSeqSet *set);

G_END_DECLS
