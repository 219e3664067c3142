/* backends/cpu/pace.h - how many threads are worth using now
 *
 * Where another program holds a core, the thread on it makes all others wait at every phase, and
 * fewer threads are faster. A step whose threads waited long for each other for a good part of its
 * time is a bad one; where they keep coming a thread is left out, and from time to time it gets
 * another chance. How many threads a step had never changes its results.
 *
 * Thread: the engine thread. Times in nanoseconds of a clock that never goes back.
 */
#pragma once

#include <stdint.h>

typedef struct
{
  int n_left_out;
  int badness;      /* goes up with bad steps and down with good ones */
  int64_t retry_at; /* when one left out comes back */
} KvasirPace;

/* Threads for a step that begins now, 1 to @n_wanted. */
int kvasir_pace_begin (KvasirPace *pace, int n_wanted, int64_t now);
/* The step took @step_ns with @n_threads, which waited @wait_ns, all together, for each other. */
void
kvasir_pace_end (KvasirPace *pace, int n_threads, int64_t step_ns, int64_t wait_ns, int64_t now);
