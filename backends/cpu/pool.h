/* backends/cpu/pool.h - threads that work on one step together
 *
 * The caller of a run is thread 0 of it. Threads that wait first spin, then yield, then sleep: a
 * futex at every meeting would cost more than a small model's whole token, while threads that
 * never sleep would starve the rest of the machine between tokens.
 *
 * Thread: a pool belongs to one thread at a time; the counters may be read from any.
 */
#pragma once

#include "backends/backend.h"

typedef struct KvasirPool KvasirPool;

/* Runs on every thread of a run. */
typedef void (*KvasirPoolFn) (void *data, int thread);

/* A pool that can grow to @max_threads, the caller included. NULL: no memory. */
KvasirPool *kvasir_pool_new (int max_threads);
void kvasir_pool_free (KvasirPool *pool);

/* Makes sure that @n_threads, at most the maximum, can run. Returns how many can: fewer where the
 * system gives no more threads. */
int kvasir_pool_reserve (KvasirPool *pool, int n_threads);

/* Calls @fn on @n_threads threads, reserved before, and returns when all have returned. */
void kvasir_pool_run (KvasirPool *pool, int n_threads, KvasirPoolFn fn, void *data);

/* Inside a run: waits until all its threads are here. The last one to arrive calls @serial before
 * the others go on; what it writes is seen by all. Each of the others calls @idle again and
 * again while it waits, until that returns FALSE; it may read nothing that @serial writes. */
void kvasir_pool_meet (KvasirPool *pool,
                       void (*serial) (void *data),
                       bool (*idle) (void *data),
                       void *data);

/* By the @serial of a meeting: only the first @n_threads go on meeting, the others return from
 * their function without another one. */
void kvasir_pool_let_go (KvasirPool *pool, int n_threads);

/* By the @serial of a meeting: how many threads go on meeting. */
int kvasir_pool_count_running (KvasirPool *pool);

/* Before a run: who is to visit it and those that follow, a thread that is reserved and not one of
 * theirs; 0: nobody. A visitor takes turns that are shorter than its absence. In a turn it calls
 * the function of the run going on, at any moment of it and perhaps again and again. */
void kvasir_pool_invite (KvasirPool *pool, int thread);

/* By the visitor, inside a run: whether it ought to leave. */
bool kvasir_pool_is_turn_over (KvasirPool *pool);

/* By the visitor: it takes part no more and returns from its function. FALSE: all others wait for
 * it already, so that it has to meet them. */
bool kvasir_pool_leave (KvasirPool *pool);

/* Time that threads of runs have waited for each other beyond the spinning, all of them together,
 * since the pool was made. */
int64_t kvasir_pool_get_wait_ns (KvasirPool *pool);
/* The clock that waits are measured with. */
int64_t kvasir_pool_get_now_ns (void);

void kvasir_pool_get_counters (KvasirPool *pool, KvasirDeviceCounters *counters);
