/* backends/cpu/plan-private.h - what plan.c builds and plan-run.c computes
 *
 * Owner: the engine thread; during a compute the fields below "The compute going on" are written
 *   by one thread while all others wait, except where they are atomic.
 */
#pragma once

#include <stdatomic.h>

#include "backends/cpu/plan.h"

#define KVASIR_PLAN_ALIGNMENT 64

/* Kinds of angles that a plan has slots for; needs of further kinds take the last one over. */
#define KVASIR_PLAN_ANGLES 4
/* Activations twice, parts of attention, angles. */
#define KVASIR_PLAN_SLOTS (3 + KVASIR_PLAN_ANGLES)

/* An item in the phases of the current compute. */
typedef struct
{
  int item;
  int next; /* in its phase's list, or -1 */
  int64_t n_pieces;
  /* Elements of a piece of a chain, and the entry that makes them next, or -1. */
  int64_t part;
  int chain;
} KvasirPlanEntry;

/* First the serial items, by one thread; then the shared ones, in pieces, by all. */
typedef struct
{
  int serial, last_serial; /* entries or -1 */
  int shared, last_shared;
  int first_item; /* of the shared ones */
  int64_t n_pieces;
} KvasirPlanPhase;

/* A thread's part of the pieces of a phase, from which the others take when theirs are done. */
typedef struct
{
  _Alignas(KVASIR_PLAN_ALIGNMENT) atomic_llong next;
  int64_t end;
} KvasirPlanShare;

struct KvasirPlan
{
  KvasirCpuSetup *setup;
  size_t n_nodes;
  int *first_item; /* [n_nodes + 1] */
  KvasirOpItem *items;
  int n_items;
  KvasirPlanEntry *entries; /* [n_items] */
  KvasirPlanPhase *phases;  /* [n_items + 1] */
  KvasirPlanShare *shares;  /* [max_threads] */
  uint8_t *slots[KVASIR_PLAN_SLOTS];
  uint8_t *scratch; /* [max_threads][scratch_bytes] */
  size_t scratch_bytes;

  /* The compute going on. */
  const KvasirStep *step;
  int n_threads; /* that the items are cut for */
  int n_active;  /* of them, those that the pieces of the phase are shared out to */
  int visitor;   /* the last of them, if it is there by turns; or 0 */
  int n_phases;
  int n_entries;
  int fence;    /* while laying out: nothing goes before this item */
  int phase;    /* whose serial items are done */
  bool stopped; /* the abort flag was seen by the last thread to arrive */
  atomic_bool seen_abort;
};

/* Whether item @later must wait for @earlier. */
bool kvasir_plan_conflicts (const KvasirOpItem *earlier, const KvasirOpItem *later);
/* Whether it must for another reason than that it reads the results. */
bool kvasir_plan_disturbs (const KvasirOpItem *earlier, const KvasirOpItem *later);

/* Finds the chain of item @index, the last one there is. */
void kvasir_plan_join_chain (KvasirPlan *plan, int index);
/* While laying out: puts entry @entry into its chain, where @phase has the others. */
bool kvasir_plan_add_to_chain (KvasirPlan *plan, KvasirPlanPhase *phase, int entry);
