/* engine/memory/slots.h - the search for cells
 *
 * Rules 1 to 3 of placement (DESIGN.md): the search starts at 0 where head > used + 2 n, else at
 * the head, goes on to the end and wraps, and takes every usable cell until n are found. Cells need
 * not be neighbours. Pure: nothing changes. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/window.h"

G_BEGIN_DECLS

/* Where a search for @n cells starts; @restarted (may be NULL): it went back to 0. */
guint kvasir_slots_get_start (const KvasirCells *cells, guint n, gboolean *restarted);
/* Finds @n > 0 empty cells, in the order of the search. @slots [n], or NULL to only try. */
gboolean kvasir_slots_find (const KvasirCells *cells, guint n, guint32 *slots);
/* The same where cells outside their owner's window are usable too. @relaxed: where the plain rule
 * finds too few, those that have several owners as well, if none of them sees them. */
gboolean kvasir_slots_find_sliding (const KvasirCells *cells,
                                    const KvasirWindowRule *window,
                                    gboolean relaxed,
                                    guint n,
                                    guint32 *slots);
/* How many cells are usable by the plain rule. */
guint kvasir_slots_count_usable (const KvasirCells *cells, const KvasirWindowRule *window);

G_END_DECLS
