/* engine/memory/slots.h - the search for cells
 *
 * Rules 1 and 2 of placement (DESIGN.md): the search starts at 0 where head > used + 2 n, else at
 * the head, goes on to the end and wraps, and takes every usable cell until n are found. Cells need
 * not be neighbours. Pure: nothing changes. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"

G_BEGIN_DECLS

/* Where a search for @n cells starts; @restarted (may be NULL): it went back to 0. */
guint kvasir_slots_get_start (const KvasirCells *cells, guint n, gboolean *restarted);
/* Finds @n > 0 cells, in the order of the search. @slots [n], or NULL to only try. */
gboolean kvasir_slots_find (const KvasirCells *cells, guint n, guint32 *slots);

G_END_DECLS
