#include "backends/cpu/pace.h"

/* Of the step, for each thread but the one that is waited for. With two threads half the time would
 * be no gain over one alone, which needs no meetings; a third is not far from that. */
#define BAD_PERCENT 30
#define BAD_STEPS 16
#define RETRY_NS 1000000000

int
kvasir_pace_begin (KvasirPace *pace, int n_wanted, int64_t now)
{
  if (pace->n_left_out > 0 && now >= pace->retry_at)
    {
      pace->n_left_out--;
      pace->retry_at = now + RETRY_NS;
      /* A thread on trial has a quarter of the time to fail. */
      pace->n_bad = BAD_STEPS - BAD_STEPS / 4;
    }
  if (pace->n_left_out > n_wanted - 1)
    pace->n_left_out = n_wanted - 1;
  return n_wanted - pace->n_left_out;
}

void
kvasir_pace_end (KvasirPace *pace, int n_threads, int64_t step_ns, int64_t wait_ns, int64_t now)
{
  if (n_threads < 2 || wait_ns * 100 < step_ns * BAD_PERCENT * (n_threads - 1))
    {
      pace->n_bad = 0;
      return;
    }
  if (++pace->n_bad < BAD_STEPS)
    return;
  pace->n_bad = 0;
  pace->n_left_out++;
  pace->retry_at = now + RETRY_NS;
}
