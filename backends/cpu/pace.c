#include "backends/cpu/pace.h"

#include <stdbool.h>

/* Of the step, for each thread but the one that is waited for. With two threads half the time would
 * be no gain over one alone, which needs no meetings; a third is not far from that. */
#define BAD_PERCENT 30
/* Eight bad steps are enough, or more among good ones where every third one is bad: such a step
 * takes a few times as long as a good one. */
#define BAD_STEP 2
#define TOO_BAD 16
/* A thread on trial fails with two. */
#define TRIAL 12
#define RETRY_NS 1000000000

int
kvasir_pace_begin (KvasirPace *pace, int n_wanted, int64_t now)
{
  if (pace->n_left_out > 0 && now >= pace->retry_at)
    {
      pace->n_left_out--;
      pace->retry_at = now + RETRY_NS;
      pace->badness = TRIAL;
    }
  if (pace->n_left_out > n_wanted - 1)
    pace->n_left_out = n_wanted - 1;
  return n_wanted - pace->n_left_out;
}

void
kvasir_pace_end (KvasirPace *pace, int n_threads, int64_t step_ns, int64_t wait_ns, int64_t now)
{
  bool is_bad = n_threads > 1 && wait_ns * 100 > step_ns * BAD_PERCENT * (n_threads - 1);

  pace->badness += is_bad ? BAD_STEP : -1;
  if (pace->badness < 0)
    pace->badness = 0;
  if (pace->badness < TOO_BAD)
    return;
  pace->badness = 0;
  pace->n_left_out++;
  pace->retry_at = now + RETRY_NS;
}
