#include "backends/cpu/pool-private.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* About what it costs to wake a sleeping thread; waiting shorter than that is best spent here. */
#define N_SPINS 2000
/* After this the wait is no longer part of a step. */
#define YIELD_NS 200000

int64_t
kvasir_pool_get_now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
sleep_while (KvasirPool *pool, KvasirPoolSleepers *sleepers, atomic_uint *word, unsigned old)
{
  pthread_mutex_lock (&pool->mu);
  /* Announced before the word is read again, and publishers read the announcement after they
   * wrote the word: one of the two sees the other, so no wake-up is lost. */
  atomic_fetch_add (&sleepers->n, 1);
  if (atomic_load (word) == old)
    atomic_fetch_add_explicit (&pool->n_parks, 1, memory_order_relaxed);
  while (atomic_load (word) == old)
    pthread_cond_wait (&sleepers->changed, &pool->mu);
  atomic_fetch_sub (&sleepers->n, 1);
  pthread_mutex_unlock (&pool->mu);
}

static bool
spin_while (KvasirPool *pool, atomic_uint *word, unsigned old)
{
  unsigned spins = 0;

  for (; spins < N_SPINS && !kvasir_pool_has_changed (word, old); spins++)
    kvasir_pool_relax ();
  atomic_fetch_add_explicit (&pool->n_spins, spins, memory_order_relaxed);
  return !kvasir_pool_has_changed (word, old);
}

static bool
yield_while (KvasirPool *pool, atomic_uint *word, unsigned old, int64_t deadline)
{
  unsigned yields = 0;

  for (; !kvasir_pool_has_changed (word, old) && kvasir_pool_get_now_ns () < deadline; yields++)
    sched_yield ();
  atomic_fetch_add_explicit (&pool->n_yields, yields, memory_order_relaxed);
  return !kvasir_pool_has_changed (word, old);
}

/* Returns the time that was waited beyond the spinning. */
static int64_t
wait_while (KvasirPool *pool, KvasirPoolSleepers *sleepers, atomic_uint *word, unsigned old)
{
  if (!spin_while (pool, word, old))
    return 0;
  int64_t begin = kvasir_pool_get_now_ns ();
  if (yield_while (pool, word, old, begin + YIELD_NS))
    sleep_while (pool, sleepers, word, old);
  return kvasir_pool_get_now_ns () - begin;
}

/* The same inside a run, where it tells how well the threads keep step. */
static void
wait_in_run (KvasirPool *pool, atomic_uint *word, unsigned old)
{
  int64_t wait_ns = wait_while (pool, &pool->held, word, old);

  if (wait_ns > 0)
    atomic_fetch_add_explicit (&pool->wait_ns, wait_ns, memory_order_relaxed);
}

void
kvasir_pool_wake (KvasirPool *pool, KvasirPoolSleepers *sleepers)
{
  if (atomic_load (&sleepers->n) == 0)
    return;
  pthread_mutex_lock (&pool->mu);
  pthread_cond_broadcast (&sleepers->changed);
  pthread_mutex_unlock (&pool->mu);
}

void
kvasir_pool_work (KvasirPoolWorker *worker)
{
  KvasirPool *pool = worker->pool;

  atomic_store_explicit (&worker->cpu, sched_getcpu (), memory_order_relaxed);
  pool->fn (pool->data, worker->index);
  /* A visitor that was not sent away found nothing left to do, and would come back for more until
   * the caller, perhaps without a processor, ends the run. */
  if (atomic_load (&pool->visitor) == worker->index && !kvasir_pool_is_turn_over (pool))
    atomic_fetch_and (&pool->gate, ~KVASIR_GATE_OPEN);
  atomic_fetch_add (&pool->n_done, 1);
  kvasir_pool_wake (pool, &pool->held);
}

/* An invitation may come to nothing: the next run may want the thread from its beginning. */
static void
forget_invitation (KvasirPoolWorker *worker)
{
  int visitor = worker->index;

  atomic_compare_exchange_strong (&worker->pool->visitor, &visitor, 0);
}

static void *
worker_main (void *data)
{
  KvasirPoolWorker *worker = data;
  KvasirPool *pool = worker->pool;

  for (unsigned n_jobs = 0, called = 0;;)
    {
      wait_while (pool, &pool->idle, &worker->call, called);
      called = atomic_load (&worker->call);
      if (pool->quit)
        return NULL;
      if (atomic_load (&worker->job) == n_jobs)
        {
          kvasir_pool_visit (worker, called);
          continue;
        }
      n_jobs++;
      forget_invitation (worker);
      kvasir_pool_work (worker);
    }
}

static void
init_sleepers (KvasirPoolSleepers *sleepers)
{
  pthread_condattr_t attr;

  pthread_condattr_init (&attr);
  pthread_condattr_setclock (&attr, CLOCK_MONOTONIC);
  pthread_cond_init (&sleepers->changed, &attr);
  pthread_condattr_destroy (&attr);
}

KvasirPool *
kvasir_pool_new (int max_threads)
{
  KvasirPool *pool = aligned_alloc (KVASIR_CACHE_LINE, sizeof *pool);
  size_t n_workers = max_threads > 1 ? (size_t) max_threads - 1 : 1;

  if (pool == NULL)
    return NULL;
  *pool = (KvasirPool){ .max_threads = max_threads };
  pool->workers = aligned_alloc (KVASIR_CACHE_LINE, n_workers * sizeof (KvasirPoolWorker));
  if (pool->workers == NULL)
    {
      free (pool);
      return NULL;
    }
  pthread_mutex_init (&pool->mu, NULL);
  init_sleepers (&pool->idle);
  init_sleepers (&pool->held);
  return pool;
}

static void
raise_jobs (KvasirPool *pool, int n_workers)
{
  for (int i = 0; i < n_workers; i++)
    {
      atomic_fetch_add (&pool->workers[i].job, 1);
      atomic_fetch_add (&pool->workers[i].call, 1);
    }
  if (n_workers > 0)
    kvasir_pool_wake (pool, &pool->idle);
}

void
kvasir_pool_free (KvasirPool *pool)
{
  pool->quit = true;
  raise_jobs (pool, pool->n_workers);
  for (int i = 0; i < pool->n_workers; i++)
    pthread_join (pool->workers[i].thread, NULL);
  pthread_cond_destroy (&pool->idle.changed);
  pthread_cond_destroy (&pool->held.changed);
  pthread_mutex_destroy (&pool->mu);
  free (pool->workers);
  free (pool);
}

/* Signals are the application's, except those that a fault in the thread itself raises. */
static void
block_signals (sigset_t *old)
{
  sigset_t set;

  sigfillset (&set);
  sigdelset (&set, SIGBUS);
  sigdelset (&set, SIGSEGV);
  sigdelset (&set, SIGFPE);
  sigdelset (&set, SIGILL);
  sigdelset (&set, SIGTRAP);
  pthread_sigmask (SIG_SETMASK, &set, old);
}

static bool
start_worker (KvasirPool *pool)
{
  KvasirPoolWorker *worker = &pool->workers[pool->n_workers];

  *worker = (KvasirPoolWorker){ .pool = pool, .index = pool->n_workers + 1 };
  if (pthread_create (&worker->thread, NULL, worker_main, worker) != 0)
    return false;
  pthread_setname_np (worker->thread, "kvasir-cpu");
  pool->n_workers++;
  return true;
}

int
kvasir_pool_reserve (KvasirPool *pool, int n_threads)
{
  sigset_t old;

  if (n_threads > pool->max_threads)
    n_threads = pool->max_threads;
  block_signals (&old);
  while (pool->n_workers + 1 < n_threads && start_worker (pool))
    ;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  return n_threads < pool->n_workers + 1 ? n_threads : pool->n_workers + 1;
}

void
kvasir_pool_run (KvasirPool *pool, int n_threads, KvasirPoolFn fn, void *data)
{
  const uint64_t n = (uint64_t) n_threads;
  uint64_t gate = kvasir_gate_of_meeting (atomic_load (&pool->meeting));
  unsigned n_others, n_done;

  gate += n * KVASIR_GATE_RUNNING + n * KVASIR_GATE_JOINED;
  atomic_store_explicit (&pool->cpu, sched_getcpu (), memory_order_relaxed);
  pool->fn = fn;
  pool->data = data;
  atomic_store (&pool->n_done, 0);
  atomic_store (&pool->gate, pool->is_open ? gate + KVASIR_GATE_OPEN : gate);
  raise_jobs (pool, n_threads - 1);
  fn (data, 0);
  n_others = kvasir_gate_get_joined (atomic_exchange (&pool->gate, 0)) - 1;
  while ((n_done = atomic_load_explicit (&pool->n_done, memory_order_acquire)) != n_others)
    wait_in_run (pool, &pool->n_done, n_done);
}

void
kvasir_pool_meet (KvasirPool *pool,
                  void (*serial) (void *data),
                  bool (*idle) (void *data),
                  void *data)
{
  unsigned meeting = atomic_load_explicit (&pool->meeting, memory_order_relaxed);
  uint64_t gate =
      atomic_fetch_add_explicit (&pool->gate, KVASIR_GATE_ARRIVED, memory_order_acq_rel);

  if (kvasir_gate_get_arrived (gate) + 1 != kvasir_gate_get_running (gate))
    {
      while (!kvasir_pool_has_changed (&pool->meeting, meeting) && idle (data))
        ;
      wait_in_run (pool, &pool->meeting, meeting);
      return;
    }
  serial (data);
  /* All have arrived, so that nobody else changes it. */
  gate = atomic_load_explicit (&pool->gate, memory_order_relaxed);
  gate -= kvasir_gate_get_arrived (gate) * KVASIR_GATE_ARRIVED;
  atomic_store (&pool->gate, gate + KVASIR_GATE_MEETING);
  atomic_store (&pool->meeting, meeting + 1);
  kvasir_pool_wake (pool, &pool->held);
}

void
kvasir_pool_let_go (KvasirPool *pool, int n_threads)
{
  uint64_t gate = atomic_load_explicit (&pool->gate, memory_order_relaxed);
  unsigned n_leaving = kvasir_gate_get_running (gate) - (unsigned) n_threads;

  atomic_store_explicit (&pool->gate, gate - n_leaving * KVASIR_GATE_RUNNING, memory_order_relaxed);
}

int
kvasir_pool_count_running (KvasirPool *pool)
{
  return (int) kvasir_gate_get_running (atomic_load_explicit (&pool->gate, memory_order_relaxed));
}

int64_t
kvasir_pool_get_wait_ns (KvasirPool *pool)
{
  return atomic_load_explicit (&pool->wait_ns, memory_order_relaxed);
}

void
kvasir_pool_get_counters (KvasirPool *pool, KvasirDeviceCounters *counters)
{
  counters->n_spins = atomic_load_explicit (&pool->n_spins, memory_order_relaxed);
  counters->n_yields = atomic_load_explicit (&pool->n_yields, memory_order_relaxed);
  counters->n_parks = atomic_load_explicit (&pool->n_parks, memory_order_relaxed);
}
