/* backends/cpu/plan.h - a list of nodes compiled for the pool
 *
 * The plan keeps the nodes' items, the order they need, and all memory that computing takes. At
 * each compute the items are laid out into phases, with the extents as they are then: pieces of
 * items that don't depend on each other are shared out in one phase, and items of one piece are
 * done by whichever thread ends a phase last, while the others wait.
 *
 * Thread: the engine thread.
 */
#pragma once

#include "backends/cpu/ops.h"
#include "backends/cpu/pace.h"
#include "backends/cpu/pool.h"

/* What all plans of a device share. */
typedef struct
{
  const KvasirCpuKernels *kernels;
  bool as_traces;          /* cpu.h */
  struct KvasirBlas *blas; /* or NULL */
  KvasirPool *pool;
  int max_threads; /* that plans keep scratch for */
  int n_decode;    /* threads of steps of one token */
  int n_prefill;   /* threads of longer steps; both are reserved in the pool */
  int n_lent;      /* threads whose processors are wanted by others now. Atomic, by any thread */
  KvasirPace decode_pace;
  KvasirPace prefill_pace;
  /* When weights were packed last, by another thread: steps beside that say nothing about how well
   * the pool's threads keep step. Atomic. */
  int64_t packed_at;
} KvasirCpuSetup;

/* @setup outlives the plan. The rest is as in backend.h. */
KvasirPlan *kvasir_cpu_plan_new (KvasirCpuSetup *setup, KvasirTensor *const *nodes, size_t n_nodes);
void kvasir_cpu_plan_free (KvasirPlan *plan);
size_t
kvasir_cpu_plan_get_bytes (const KvasirCpuSetup *setup, KvasirTensor *const *nodes, size_t n_nodes);
KvasirStatus
kvasir_cpu_plan_compute (KvasirPlan *plan, size_t first, size_t n, const KvasirStep *step);
