/* tests/bench/gaps.h - how long the main loop is held
 *
 * A beat every GAPS_BEAT_MS notes how late it comes. Thread: main thread.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define GAPS_BEAT_MS 2

typedef struct _Gaps Gaps;

Gaps *gaps_new (void);
void gaps_free (Gaps *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Gaps, gaps_free)

/* Runs the main loop for a while without counting, or counting. */
void gaps_rest (double seconds);
void gaps_run (Gaps *self, double seconds);
/* One line with the median, p99 and maximum since the last one, in milliseconds, and by how much
 * the process grew during the second half of the run. */
void gaps_print (Gaps *self, const char *name);

G_END_DECLS
