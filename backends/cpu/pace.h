/* backends/cpu/pace.h - how many threads are worth using now
 *
 * Where another program holds a core, the thread on it makes all others wait again and again, and
 * fewer threads are faster. Where threads waited long for each other for a good part of the time
 * of some steps, one is left out; from time to time it gets another chance, rarer while it fails.
 * How many threads a step had never changes its results.
 *
 * Thread: the engine thread. Times in nanoseconds of a clock that never goes back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct
{
  int n_left_out;
  bool on_trial;
  /* Since the last judgement: steps, their time for each thread but one, and what those waited. */
  int n_steps;
  int64_t time_ns;
  int64_t waited_ns;
  int64_t retry_at; /* when one left out comes back */
  int64_t pause_ns; /* before that; 0: it kept step for long */
} KvasirPace;

/* Threads for a step that begins now, 1 to @n_wanted. */
int kvasir_pace_begin (KvasirPace *pace, int n_wanted, int64_t now);
/* The step took @step_ns with @n_threads, which waited @wait_ns, all together, for each other. */
void
kvasir_pace_end (KvasirPace *pace, int n_threads, int64_t step_ns, int64_t wait_ns, int64_t now);
