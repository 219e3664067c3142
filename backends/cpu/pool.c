#include "backends/cpu/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* About what it costs to wake a sleeping thread; waiting shorter than that is best spent here. */
#define N_SPINS 2000
/* After this the wait is no longer part of a step. */
#define YIELD_NS 200000

#define CACHE_LINE 64

typedef struct
{
  KvasirPool *pool;
  pthread_t thread;
  int index;
  /* Raised by one for each run that this thread takes part in. */
  _Alignas(CACHE_LINE) atomic_uint job;
} Worker;

/* Threads that sleep until a word changes. */
typedef struct
{
  atomic_int n;
  pthread_cond_t changed;
} Sleepers;

struct KvasirPool
{
  int max_threads;
  int n_workers; /* started, without the caller */
  Worker *workers;

  /* The run; written by the caller before it raises the jobs. */
  int n_running;
  KvasirPoolFn fn;
  void *data;
  bool quit;

  _Alignas(CACHE_LINE) atomic_uint n_arrived;
  _Alignas(CACHE_LINE) atomic_uint meeting;
  _Alignas(CACHE_LINE) atomic_uint n_done;

  /* Those without a job are not disturbed at the meetings of a run that they have no part in. */
  _Alignas(CACHE_LINE) Sleepers idle;
  Sleepers held;
  atomic_ullong n_spins, n_yields, n_parks;
  atomic_llong wait_ns;
  pthread_mutex_t mu;
};

static inline void
relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int64_t
kvasir_pool_get_now_ns (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

static void
sleep_while (KvasirPool *pool, Sleepers *sleepers, atomic_uint *word, unsigned old)
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
has_changed (atomic_uint *word, unsigned old)
{
  return atomic_load_explicit (word, memory_order_acquire) != old;
}

static bool
spin_while (KvasirPool *pool, atomic_uint *word, unsigned old)
{
  unsigned spins = 0;

  for (; spins < N_SPINS && !has_changed (word, old); spins++)
    relax ();
  atomic_fetch_add_explicit (&pool->n_spins, spins, memory_order_relaxed);
  return !has_changed (word, old);
}

static bool
yield_while (KvasirPool *pool, atomic_uint *word, unsigned old, int64_t deadline)
{
  unsigned yields = 0;

  for (; !has_changed (word, old) && kvasir_pool_get_now_ns () < deadline; yields++)
    sched_yield ();
  atomic_fetch_add_explicit (&pool->n_yields, yields, memory_order_relaxed);
  return !has_changed (word, old);
}

/* Returns the time that was waited beyond the spinning. */
static int64_t
wait_while (KvasirPool *pool, Sleepers *sleepers, atomic_uint *word, unsigned old)
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

static void
wake (KvasirPool *pool, Sleepers *sleepers)
{
  if (atomic_load (&sleepers->n) == 0)
    return;
  pthread_mutex_lock (&pool->mu);
  pthread_cond_broadcast (&sleepers->changed);
  pthread_mutex_unlock (&pool->mu);
}

static void *
worker_main (void *data)
{
  Worker *worker = data;
  KvasirPool *pool = worker->pool;

  for (unsigned seen = 0;; seen++)
    {
      wait_while (pool, &pool->idle, &worker->job, seen);
      if (pool->quit)
        return NULL;
      pool->fn (pool->data, worker->index);
      atomic_fetch_add (&pool->n_done, 1);
      wake (pool, &pool->held);
    }
}

KvasirPool *
kvasir_pool_new (int max_threads)
{
  KvasirPool *pool = aligned_alloc (CACHE_LINE, sizeof *pool);
  size_t n_workers = max_threads > 1 ? (size_t) max_threads - 1 : 1;

  if (pool == NULL)
    return NULL;
  *pool = (KvasirPool){ .max_threads = max_threads };
  pool->workers = aligned_alloc (CACHE_LINE, n_workers * sizeof (Worker));
  if (pool->workers == NULL)
    {
      free (pool);
      return NULL;
    }
  pthread_mutex_init (&pool->mu, NULL);
  pthread_cond_init (&pool->idle.changed, NULL);
  pthread_cond_init (&pool->held.changed, NULL);
  return pool;
}

static void
raise_jobs (KvasirPool *pool, int n_workers)
{
  for (int i = 0; i < n_workers; i++)
    atomic_fetch_add (&pool->workers[i].job, 1);
  if (n_workers > 0)
    wake (pool, &pool->idle);
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
  Worker *worker = &pool->workers[pool->n_workers];

  *worker = (Worker){ .pool = pool, .index = pool->n_workers + 1 };
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
  unsigned n_others = (unsigned) n_threads - 1, n_done;

  pool->n_running = n_threads;
  pool->fn = fn;
  pool->data = data;
  atomic_store (&pool->n_done, 0);
  raise_jobs (pool, n_threads - 1);
  fn (data, 0);
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
  unsigned n_running = (unsigned) pool->n_running;

  if (atomic_fetch_add_explicit (&pool->n_arrived, 1, memory_order_acq_rel) + 1 != n_running)
    {
      while (!has_changed (&pool->meeting, meeting) && idle (data))
        ;
      wait_in_run (pool, &pool->meeting, meeting);
      return;
    }
  serial (data);
  atomic_store_explicit (&pool->n_arrived, 0, memory_order_relaxed);
  atomic_store (&pool->meeting, meeting + 1);
  wake (pool, &pool->held);
}

void
kvasir_pool_let_go (KvasirPool *pool, int n_threads)
{
  pool->n_running = n_threads;
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
