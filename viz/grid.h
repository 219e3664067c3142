/* viz/grid.h - where the cells of one stream stand on the screen
 *
 * Row by row, cell 0 at the top left, a power of two per row, so that a person can compute an
 * index. A cell is a box of whole device pixels; where even one pixel each is too much, one pixel
 * stands for a bucket of neighbours.
 * Thread: any; plain values.
 */
#pragma once

#include <cairo.h>
#include <glib.h>

#include "viz/canvas.h"

G_BEGIN_DECLS

typedef struct
{
  guint n_cells;
  guint per_row; /* cells in one row of the picture */
  guint bucket;  /* cells per pixel, 1 unless cells are smaller than a pixel */
  gint cell_w;   /* device pixels, the gap included */
  gint cell_h;
  gint gap; /* device pixels at the right and bottom of a cell */
  guint n_rows;
  guint first_row; /* of those in sight */
  guint n_visible; /* rows in sight */
  double scale;
  KvasirRect rect; /* what is in sight; logical pixels */
} KvasirGrid;

/* Everything in sight, as large as @space allows. @space.w and .h at least one device pixel. */
void kvasir_grid_fit (KvasirGrid *self, guint n_cells, KvasirRect space, double scale);
/* Cells of @size logical pixels; shows what fits from @first_row on. */
void kvasir_grid_zoom (
    KvasirGrid *self, guint n_cells, KvasirRect space, double scale, double size, guint first_row);

/* The cell (or the first one of the bucket) under a point, or -1. */
gint64 kvasir_grid_hit (const KvasirGrid *self, double x, double y);
/* Logical pixels, without the gap; FALSE where it is out of sight. */
gboolean kvasir_grid_get_rect (const KvasirGrid *self, guint cell, KvasirRect *rect);
/* Cells in sight: [*first, *end). */
void kvasir_grid_get_visible (const KvasirGrid *self, guint *first, guint *end);
/* Adds the outline of a run of cells, as far as it is in sight, to the path; @grow: logical pixels
 * around it. FALSE where none of it is. */
gboolean
kvasir_grid_add_run (const KvasirGrid *self, cairo_t *cr, guint cell, guint n, double grow);

G_END_DECLS
