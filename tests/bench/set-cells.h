/* tests/bench/set-cells.h - cells as sets, the measure that bookkeeping is compared with
 *
 * Each cell has an ordered set of its sequences, there is an ordered set of used cells, and each
 * sequence has an ordered map from positions to how many cells hold them. Operations walk over all
 * cells. Plain and right; nobody has tried to make it fast.
 */
#pragma once

#include <glib.h>

typedef struct _SetCells SetCells;

SetCells *set_cells_new (guint size, guint n_seqs);
void set_cells_free (SetCells *self);
/* Searches from the head on and places one token. FALSE: full. */
gboolean set_cells_append (SetCells *self, guint seq, gint32 pos);
void set_cells_copy (SetCells *self, guint src, guint dst);
void set_cells_add (SetCells *self, guint seq, gint32 p0, gint32 p1, gint32 delta);
void set_cells_remove (SetCells *self, guint seq, gint32 p0, gint32 p1);
/* The first free cell from the head on, or -1. */
gint set_cells_find (const SetCells *self);
/* A row of a float matrix: 0 where a token of @seq at @pos may look, else minus infinity. */
void set_cells_fill_mask (const SetCells *self, guint seq, gint32 pos, float *row, guint n);
