#include "backends/cpu/pace.h"

/* Of the time, for each thread but the one that is waited for. A thread that has half a core waits
 * or is waited for about half of the time; one that a window's drawing holds up now and then is
 * still worth having. */
#define BAD_PERCENT 38
/* What is judged has to be longer than the turns in which programs share a core, some of which pass
 * without a wait, and more than one step that something rare has held up. */
#define WINDOW_NS 40000000
#define WINDOW_STEPS 4
/* A thread on trial costs time where it fails. */
#define TRIAL_NS 6000000
#define TRIAL_STEPS 2
/* What was only a moment's work of something else must not cost a second with a thread less. */
#define MIN_PAUSE_NS 60000000
#define MAX_PAUSE_NS 4000000000
#define PAUSE_FACTOR 3

static void
begin_window (KvasirPace *pace, bool on_trial)
{
  pace->on_trial = on_trial;
  pace->n_steps = 0;
  pace->time_ns = 0;
  pace->waited_ns = 0;
}

int
kvasir_pace_begin (KvasirPace *pace, int n_wanted, int64_t now)
{
  if (pace->n_left_out > 0 && now >= pace->retry_at)
    {
      pace->n_left_out--;
      pace->retry_at = now + pace->pause_ns;
      begin_window (pace, true);
    }
  if (pace->n_left_out > n_wanted - 1)
    pace->n_left_out = n_wanted - 1;
  return n_wanted - pace->n_left_out;
}

static void
leave_one_out (KvasirPace *pace, int64_t now)
{
  int64_t pause = pace->pause_ns > 0 ? PAUSE_FACTOR * pace->pause_ns : MIN_PAUSE_NS;

  pace->n_left_out++;
  pace->pause_ns = pause < MAX_PAUSE_NS ? pause : MAX_PAUSE_NS;
  pace->retry_at = now + pace->pause_ns;
}

/* A trial may pass between two turns of the other program: only what lasted is forgiven. */
static void
forgive (KvasirPace *pace)
{
  pace->pause_ns = pace->pause_ns > MIN_PAUSE_NS ? pace->pause_ns / PAUSE_FACTOR : 0;
}

void
kvasir_pace_end (KvasirPace *pace, int n_threads, int64_t step_ns, int64_t wait_ns, int64_t now)
{
  const int64_t window_ns = pace->on_trial ? TRIAL_NS : WINDOW_NS;
  const int n_others = n_threads - 1;

  if (n_others < 1)
    return;
  pace->n_steps++;
  pace->time_ns += step_ns * n_others;
  pace->waited_ns += wait_ns;
  if (pace->n_steps < (pace->on_trial ? TRIAL_STEPS : WINDOW_STEPS) ||
      pace->time_ns < window_ns * n_others)
    return;
  if (pace->waited_ns * 100 > pace->time_ns * BAD_PERCENT)
    leave_one_out (pace, now);
  else if (!pace->on_trial)
    forgive (pace);
  begin_window (pace, false);
}
