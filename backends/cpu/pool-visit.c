/* A thread that takes part in runs by turns.
 *
 * It is the thread that does not keep step, for another program wants its processor. The system
 * would take it off in the middle of a piece, for milliseconds in which all others wait. So it goes
 * by itself, before it has had as much at once as the system gives in turn, and no more than half
 * of the time: then it finds its processor free again when it comes back. */
#include "backends/cpu/pool-private.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

/* Linux gives programs that share a processor 0.7 ms or more at once. */
#define TURN_NS 500000
#define REST_NS 500000
/* Waited at a closed gate: time between two steps. */
#define GATE_NS 100000
/* So many turns in which there was no run to join, and it goes to sleep until it is called. */
#define MAX_FAILED 8

static bool
is_taken (const KvasirPoolWorker *self, int cpu)
{
  KvasirPool *pool = self->pool;

  if (atomic_load_explicit (&pool->cpu, memory_order_relaxed) == cpu)
    return true;
  for (int i = 0; i < self->index - 1; i++)
    if (atomic_load_explicit (&pool->workers[i].cpu, memory_order_relaxed) == cpu)
      return true;
  return false;
}

/* Woken where another thread of the run computes, it would come before that one again and again,
 * and the system, which sees one busy thread for each processor, would leave it there. */
static void
move_away (const KvasirPoolWorker *self)
{
  cpu_set_t all, others;

  if (!is_taken (self, sched_getcpu ()) || sched_getaffinity (0, sizeof all, &all) != 0)
    return;
  others = all;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET (cpu, &others) && is_taken (self, cpu))
      CPU_CLR (cpu, &others);
  if (CPU_COUNT (&others) > 0 && sched_setaffinity (0, sizeof others, &others) == 0)
    sched_setaffinity (0, sizeof all, &all);
}

static bool
is_wanted (const KvasirPoolWorker *self, unsigned called)
{
  KvasirPool *pool = self->pool;

  return atomic_load_explicit (&self->call, memory_order_acquire) == called &&
         atomic_load_explicit (&pool->wanted_visitor, memory_order_relaxed) == self->index;
}

/* Joins the run that goes on or begins soon. */
static bool
join (const KvasirPoolWorker *self, unsigned called)
{
  KvasirPool *pool = self->pool;
  const int64_t deadline = kvasir_pool_get_now_ns () + GATE_NS;
  uint64_t gate = atomic_load_explicit (&pool->gate, memory_order_relaxed);

  while ((gate & KVASIR_GATE_OPEN) == 0 ||
         kvasir_gate_get_arrived (gate) == kvasir_gate_get_running (gate) ||
         !atomic_compare_exchange_weak (&pool->gate, &gate,
                                        gate + KVASIR_GATE_RUNNING + KVASIR_GATE_JOINED))
    {
      if (!is_wanted (self, called) || kvasir_pool_get_now_ns () > deadline)
        return false;
      kvasir_pool_relax ();
      gate = atomic_load_explicit (&pool->gate, memory_order_relaxed);
    }
  /* The gate opens a moment before those that wait at the meeting are told to go on. */
  while (kvasir_gate_of_meeting (atomic_load (&pool->meeting)) >> 40 != gate >> 40)
    kvasir_pool_relax ();
  return true;
}

static bool
take_turn (KvasirPoolWorker *self, unsigned called)
{
  KvasirPool *pool = self->pool;
  bool came = false;

  move_away (self);
  pool->turn_end = kvasir_pool_get_now_ns () + TURN_NS;
  while (!kvasir_pool_is_turn_over (pool) && join (self, called))
    {
      came = true;
      kvasir_pool_work (self);
    }
  return came;
}

static void
rest (KvasirPoolWorker *self, unsigned called)
{
  KvasirPool *pool = self->pool;
  const int64_t end = kvasir_pool_get_now_ns () + REST_NS;
  const struct timespec until = { end / 1000000000, end % 1000000000 };
  int error = 0;

  pthread_mutex_lock (&pool->mu);
  atomic_fetch_add (&pool->idle.n, 1);
  while (error != ETIMEDOUT && atomic_load (&self->call) == called)
    error = pthread_cond_timedwait (&pool->idle.changed, &pool->mu, &until);
  atomic_fetch_sub (&pool->idle.n, 1);
  pthread_mutex_unlock (&pool->mu);
}

void
kvasir_pool_visit (KvasirPoolWorker *self, unsigned called)
{
  for (int n_failed = 0; n_failed < MAX_FAILED && is_wanted (self, called);)
    {
      n_failed = take_turn (self, called) ? 0 : n_failed + 1;
      rest (self, called);
    }
  atomic_store (&self->pool->visitor, 0);
}

void
kvasir_pool_invite (KvasirPool *pool, int thread)
{
  const int visitor = atomic_load (&pool->visitor);

  atomic_store_explicit (&pool->wanted_visitor, thread, memory_order_relaxed);
  pool->is_open = thread > 0 && (visitor == 0 || visitor == thread);
  if (!pool->is_open || visitor == thread)
    return;
  atomic_store (&pool->visitor, thread);
  atomic_fetch_add (&pool->workers[thread - 1].call, 1);
  kvasir_pool_wake (pool, &pool->idle);
}

bool
kvasir_pool_is_turn_over (KvasirPool *pool)
{
  return kvasir_pool_get_now_ns () >= pool->turn_end;
}

bool
kvasir_pool_leave (KvasirPool *pool)
{
  uint64_t gate = atomic_load_explicit (&pool->gate, memory_order_relaxed);

  while (kvasir_gate_get_arrived (gate) + 1 < kvasir_gate_get_running (gate))
    if (atomic_compare_exchange_weak (&pool->gate, &gate, gate - KVASIR_GATE_RUNNING))
      return true;
  return false;
}
