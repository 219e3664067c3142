/* backends/cpu/pool-private.h - what pool.c and pool-visit.c share
 *
 * Owner: the caller of the runs, except where fields are atomic.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "backends/cpu/pool.h"

#define KVASIR_CACHE_LINE 64

typedef struct
{
  KvasirPool *pool;
  pthread_t thread;
  int index;
  atomic_int cpu; /* where its last job began */
  /* Raised by one for each run that this thread takes part in. */
  _Alignas(KVASIR_CACHE_LINE) atomic_uint job;
  /* Changes with the jobs, and when the thread is invited. */
  atomic_uint call;
} KvasirPoolWorker;

/* Threads that sleep until a word changes. */
typedef struct
{
  atomic_int n;
  pthread_cond_t changed;
} KvasirPoolSleepers;

/* The gate of a run, one word: how many threads are in it, how many of them have arrived at the
 * next meeting, how many have ever joined, whether more may, and the number of meetings. Closed
 * between runs, as it is while all have arrived. */
#define KVASIR_GATE_ARRIVED (UINT64_C (1) << 0)
#define KVASIR_GATE_RUNNING (UINT64_C (1) << 10)
#define KVASIR_GATE_JOINED (UINT64_C (1) << 20)
#define KVASIR_GATE_OPEN (UINT64_C (1) << 39)
#define KVASIR_GATE_MEETING (UINT64_C (1) << 40)

struct KvasirPool
{
  int max_threads;
  int n_workers; /* started, without the caller */
  KvasirPoolWorker *workers;

  /* The run; written by the caller before it raises the jobs. */
  KvasirPoolFn fn;
  void *data;
  bool is_open; /* to the visitor */
  bool quit;

  _Alignas(KVASIR_CACHE_LINE) atomic_ullong gate;
  _Alignas(KVASIR_CACHE_LINE) atomic_uint meeting;
  _Alignas(KVASIR_CACHE_LINE) atomic_uint n_done;

  /* Threads that are, and ought to be, the visitor; 0: none. */
  _Alignas(KVASIR_CACHE_LINE) atomic_int visitor;
  atomic_int wanted_visitor;
  int64_t turn_end; /* the visitor's */
  atomic_int cpu;   /* where the caller began its last run */

  /* Those without a job are not disturbed at the meetings of a run that they have no part in. */
  _Alignas(KVASIR_CACHE_LINE) KvasirPoolSleepers idle;
  KvasirPoolSleepers held;
  atomic_ullong n_spins, n_yields, n_parks;
  atomic_llong wait_ns;
  pthread_mutex_t mu;
};

static inline unsigned
kvasir_gate_get_arrived (uint64_t gate)
{
  return gate & 0x3ff;
}

static inline unsigned
kvasir_gate_get_running (uint64_t gate)
{
  return gate >> 10 & 0x3ff;
}

static inline unsigned
kvasir_gate_get_joined (uint64_t gate)
{
  return gate >> 20 & 0x7ffff;
}

static inline uint64_t
kvasir_gate_of_meeting (unsigned meeting)
{
  return (uint64_t) meeting << 40;
}

static inline void
kvasir_pool_relax (void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause ();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline bool
kvasir_pool_has_changed (atomic_uint *word, unsigned old)
{
  return atomic_load_explicit (word, memory_order_acquire) != old;
}

/* pool.c. Wakes those that sleep, after the word was changed. */
void kvasir_pool_wake (KvasirPool *pool, KvasirPoolSleepers *sleepers);
/* pool.c. Does a worker's part of the run. */
void kvasir_pool_work (KvasirPoolWorker *worker);
/* pool-visit.c. Visits runs, until they want this visitor no more or @called, the call that it
 * came for, is followed by another. */
void kvasir_pool_visit (KvasirPoolWorker *worker, unsigned called);
