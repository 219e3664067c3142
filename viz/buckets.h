/* viz/buckets.h - many cells in few pixels without losing any kind
 *
 * Colouring a pixel by the majority of its cells makes what is rare vanish. Here the pixels of one
 * row are handed out by largest remainder: the number of pixels of a category, times the cells per
 * pixel, is never a whole pixel away from the number of its cells. Within the row the pixels stand
 * where the cells are, as nearly as the counts allow.
 * Thread: any; pure but for the arrays it is given.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_MAX_CATEGORIES 64

/* A run of cells of one category, in index order. */
typedef struct
{
  guint n;
  guint category; /* below KVASIR_MAX_CATEGORIES */
} KvasirCategoryRun;

/* @pixels: (out) [n_pixels], a category each. @n_pixels > 0; the runs hold at least one cell.
 * Where there are more pixels than cells every cell gets its share of them in order. */
void
kvasir_buckets_share (const KvasirCategoryRun *runs, guint n_runs, guint8 *pixels, guint n_pixels);

G_END_DECLS
