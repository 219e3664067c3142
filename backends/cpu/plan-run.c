/* Items to phases, and the phases by the pool. */
#include "backends/cpu/plan-private.h"

/* What a thread that waits fetches at most beyond what it needs now: a part of its own cache. */
#define FETCH_AHEAD_BYTES ((size_t) 256 << 10)
/* Pieces of that for which the last one to arrive has time: as many lines as can be under way. */
#define N_FETCH_LAST 2

static void
append (KvasirPlan *plan, int *head, int *tail, int entry)
{
  if (*head < 0)
    *head = entry;
  else
    plan->entries[*tail].next = entry;
  *tail = entry;
}

static KvasirPlanPhase *
add_phase (KvasirPlan *plan)
{
  KvasirPlanPhase *phase = &plan->phases[plan->n_phases++];

  phase->serial = phase->last_serial = -1;
  phase->shared = phase->last_shared = -1;
  phase->n_pieces = 0;
  return phase;
}

static void
add_entry (KvasirPlan *plan, int index, int64_t n_pieces)
{
  const KvasirOpItem *item = &plan->items[index];
  KvasirPlanPhase *last = &plan->phases[plan->n_phases - 1];
  KvasirPlanPhase *open = plan->n_phases > 1 ? last - 1 : NULL;
  int entry = plan->n_entries++;

  /* The last phase collects serial items and has no shared ones yet; the one before it still
   * takes shared items that wait for nothing inside or behind it. */
  plan->entries[entry] =
      (KvasirPlanEntry){ .item = index, .next = -1, .n_pieces = n_pieces, .chain = -1 };
  if (item->same_as >= 0)
    plan->fence = index;
  if (open != NULL && item->chain >= 0 && item->chain != index && n_pieces == 1 &&
      kvasir_plan_add_to_chain (plan, open, entry))
    return;
  if (n_pieces == 1)
    {
      append (plan, &last->serial, &last->last_serial, entry);
      return;
    }
  if (open == NULL || item->after >= open->first_item || plan->fence >= open->first_item)
    {
      open = last;
      open->first_item = index;
      add_phase (plan);
    }
  append (plan, &open->shared, &open->last_shared, entry);
  open->n_pieces += n_pieces;
}

static KvasirOpRun
get_run (const KvasirPlan *plan, int thread)
{
  return (KvasirOpRun){ .kernels = plan->setup->kernels,
                        .step = plan->step,
                        .n_threads = plan->n_threads,
                        .as_traces = plan->setup->as_traces,
                        .blas = plan->setup->blas,
                        .scratch = plan->scratch + (size_t) thread * plan->scratch_bytes };
}

static void
lay_out (KvasirPlan *plan, size_t first, size_t n)
{
  KvasirOpRun run = get_run (plan, 0);
  int begin = plan->first_item[first], end = plan->first_item[first + n];

  plan->n_phases = 0;
  plan->n_entries = 0;
  plan->fence = -1;
  add_phase (plan);
  for (int i = begin; i < end; i++)
    {
      const KvasirOpItem *item = &plan->items[i];
      if (item->same_as >= begin)
        continue;
      int64_t n_pieces = item->stage->count (item, &run);
      if (n_pieces > 0)
        add_entry (plan, i, n_pieces);
    }
}

static bool
is_aborted (KvasirPlan *plan)
{
  const int *flag = plan->step->abort_flag;

  if (flag != NULL && __atomic_load_n (flag, __ATOMIC_RELAXED) != 0)
    atomic_store_explicit (&plan->seen_abort, true, memory_order_relaxed);
  return atomic_load_explicit (&plan->seen_abort, memory_order_relaxed);
}

static void
run_serial (KvasirPlan *plan, const KvasirPlanPhase *phase, int thread)
{
  KvasirOpRun run = get_run (plan, thread);

  for (int e = phase->serial; e >= 0; e = plan->entries[e].next)
    {
      const KvasirOpItem *item = &plan->items[plan->entries[e].item];
      if (item->stage->claim != NULL)
        item->stage->claim (item, &run);
    }
  for (int e = phase->serial; e >= 0; e = plan->entries[e].next)
    {
      const KvasirOpItem *item = &plan->items[plan->entries[e].item];
      item->stage->run (item, &run, 0);
    }
}

/* Which entry @piece of the phase belongs to; @piece becomes its number in that entry. */
static const KvasirPlanEntry *
find_piece (const KvasirPlan *plan, const KvasirPlanPhase *phase, int64_t *piece)
{
  int e = phase->shared;

  for (; *piece >= plan->entries[e].n_pieces; e = plan->entries[e].next)
    *piece -= plan->entries[e].n_pieces;
  return &plan->entries[e];
}

typedef struct
{
  int64_t begin, end;
} Part;

static Part
get_part (const KvasirPlan *plan, const KvasirPlanEntry *entry, int64_t piece)
{
  int64_t n = plan->items[entry->item].node->ne[0];
  int64_t begin = piece * entry->part, end = begin + entry->part;

  return (Part){ begin, end < n ? end : n };
}

static void
run_piece (const KvasirPlan *plan,
           const KvasirPlanEntry *entry,
           const KvasirOpRun *run,
           int64_t piece)
{
  const KvasirOpItem *item = &plan->items[entry->item];

  if (entry->part == 0)
    {
      item->stage->run (item, run, piece);
      return;
    }
  Part part = get_part (plan, entry, piece);
  item->stage->run_part (item, run, part.begin, part.end);
  for (int e = entry->chain; e >= 0; e = plan->entries[e].chain)
    {
      item = &plan->items[plan->entries[e].item];
      item->stage->run_part (item, run, part.begin, part.end);
    }
}

static int64_t
get_first_piece (const KvasirPlan *plan, const KvasirPlanPhase *phase, int thread)
{
  return phase->n_pieces * thread / plan->n_threads;
}

/* Neighbouring pieces to one thread: what a kernel fetches ahead at the end of a piece is the
 * beginning of the next. */
static void
share_out (KvasirPlan *plan, const KvasirPlanPhase *phase)
{
  const int n = plan->n_active;

  for (int i = 0; i < n; i++)
    {
      atomic_store_explicit (&plan->shares[i].next, phase->n_pieces * i / n, memory_order_relaxed);
      plan->shares[i].end = phase->n_pieces * (i + 1) / n;
    }
}

static int
count_lent (const KvasirPlan *plan)
{
  return __atomic_load_n (&plan->setup->n_lent, __ATOMIC_RELAXED);
}

static bool
is_visitor (const KvasirPlan *plan, int thread)
{
  return thread > 0 && thread == plan->visitor;
}

/* A visitor stops even between two pieces. */
static bool
has_to_leave (const KvasirPlan *plan, int thread)
{
  return is_visitor (plan, thread) &&
         (kvasir_pool_is_turn_over (plan->setup->pool) || count_lent (plan) > 0);
}

static void
run_share (KvasirPlan *plan, const KvasirPlanPhase *phase, KvasirPlanShare *share, int thread)
{
  KvasirOpRun run = get_run (plan, thread);

  /* Looked at before it is written: the other threads have it in their caches. */
  while (atomic_load_explicit (&share->next, memory_order_relaxed) < share->end &&
         !is_aborted (plan) && !has_to_leave (plan, thread))
    {
      int64_t piece = atomic_fetch_add_explicit (&share->next, 1, memory_order_relaxed);
      if (piece >= share->end)
        return;
      const KvasirPlanEntry *entry = find_piece (plan, phase, &piece);
      run_piece (plan, entry, &run, piece);
    }
}

/* A thread's place in a compute. */
typedef struct
{
  KvasirPlan *plan;
  int thread;
  int phase;
  /* What the thread will read next and has not fetched, and how much may be fetched still. */
  int fetch_phase;
  int64_t fetch_piece;
  int fetch_member; /* of a chain */
  size_t fetch_at;
  size_t fetch_left;
} Place;

static void
begin_piece (Place *place, int64_t piece)
{
  place->fetch_piece = piece;
  place->fetch_member = -1;
  place->fetch_at = 0;
}

/* Moves on to the beginning of the thread's part of a phase. */
static void
begin_fetching (Place *place, int phase)
{
  place->fetch_phase = phase;
  if (phase < place->plan->n_phases - 1)
    begin_piece (place, get_first_piece (place->plan, &place->plan->phases[phase], place->thread));
}

/* Fetches some of a piece of a chain. FALSE: there is no more. */
static bool
fetch_chain (Place *place, const KvasirPlanEntry *entry, const KvasirOpRun *run, int64_t piece)
{
  const KvasirPlan *plan = place->plan;
  Part part = get_part (plan, entry, piece);

  for (;;)
    {
      const KvasirPlanEntry *member =
          place->fetch_member >= 0 ? &plan->entries[place->fetch_member] : entry;
      const KvasirOpItem *item = &plan->items[member->item];
      if (item->stage->fetch_part != NULL &&
          item->stage->fetch_part (item, run, part.begin, part.end, place->fetch_at))
        return true;
      if (member->chain < 0)
        return false;
      place->fetch_member = member->chain;
      place->fetch_at = 0;
    }
}

static bool
fetch_piece (Place *place, const KvasirPlanEntry *entry, const KvasirOpRun *run, int64_t piece)
{
  const KvasirOpItem *item = &place->plan->items[entry->item];

  if (entry->part > 0)
    return fetch_chain (place, entry, run, piece);
  return item->stage->fetch != NULL && item->stage->fetch (item, run, piece, place->fetch_at);
}

/* By threads that wait: fetches a little of what they will read next, as long as there is any in
 * this phase and the one behind it. */
static bool
fetch_ahead (void *data)
{
  Place *place = data;
  const KvasirPlan *plan = place->plan;
  KvasirOpRun run = get_run (plan, place->thread);

  while (place->fetch_left > 0 && place->fetch_phase <= place->phase + 2 &&
         place->fetch_phase < plan->n_phases - 1)
    {
      const KvasirPlanPhase *phase = &plan->phases[place->fetch_phase];
      int64_t piece = place->fetch_piece;
      if (piece >= get_first_piece (plan, phase, place->thread + 1))
        {
          begin_fetching (place, place->fetch_phase + 1);
          continue;
        }
      const KvasirPlanEntry *entry = find_piece (plan, phase, &piece);
      if (fetch_piece (place, entry, &run, piece))
        {
          place->fetch_at += KVASIR_FETCH_BYTES;
          place->fetch_left -= KVASIR_FETCH_BYTES;
          return true;
        }
      begin_piece (place, place->fetch_piece + 1);
    }
  return false;
}

/* Who wants a processor gets it at the next meeting, not in the middle of a piece that all others
 * would then wait for. */
static void
let_go (KvasirPlan *plan)
{
  int n_active = plan->n_threads - count_lent (plan);

  if (plan->visitor > 0)
    {
      plan->n_active = kvasir_pool_count_running (plan->setup->pool);
      return;
    }
  n_active = n_active > 1 ? n_active : 1;
  if (n_active >= plan->n_active)
    return;
  plan->n_active = n_active;
  kvasir_pool_let_go (plan->setup->pool, n_active);
}

/* By the last thread to arrive: all others wait, so the scratch of any thread is free, and what
 * is decided here about going on holds for all. */
static void
enter_phase (void *data)
{
  Place *place = data;
  KvasirPlan *plan = place->plan;
  const KvasirPlanPhase *phase = &plan->phases[plan->phase + 1];

  if (is_aborted (plan))
    {
      plan->stopped = true;
      return;
    }
  /* Comes while the serial items are computed. */
  for (int i = 0; i < N_FETCH_LAST && fetch_ahead (place); i++)
    ;
  let_go (plan);
  run_serial (plan, phase, place->thread);
  share_out (plan, phase);
  plan->phase++;
}

/* What was fetched for this phase is behind the thread. */
static void
catch_up (Place *place)
{
  if (place->fetch_phase > place->phase)
    return;
  place->fetch_left = FETCH_AHEAD_BYTES;
  begin_fetching (place, place->phase + 1);
}

static bool
takes_part (const KvasirPlan *plan, int thread)
{
  return thread < plan->n_active || is_visitor (plan, thread);
}

static void
run_phases (void *data, int thread)
{
  KvasirPlan *plan = data;
  KvasirPool *pool = plan->setup->pool;
  /* A visitor comes in the middle. */
  int phase = is_visitor (plan, thread) ? plan->phase : 0;
  Place place = { .plan = plan, .thread = thread, .phase = phase, .fetch_phase = phase };
  int n_shared = plan->n_phases - 1;

  for (; place.phase < n_shared && takes_part (plan, thread) && !plan->stopped; place.phase++)
    {
      for (int i = 0, n = plan->n_active; i < n; i++)
        run_share (plan, &plan->phases[place.phase], &plan->shares[(thread + i) % n], thread);
      if (has_to_leave (plan, thread) && kvasir_pool_leave (pool))
        return;
      catch_up (&place);
      kvasir_pool_meet (pool, enter_phase, fetch_ahead, &place);
    }
}

/* How many threads there are, and which of them, if any, by turns: in steps of one token, which
 * have many short pieces, one that does not keep step. */
static void
choose_threads (KvasirPlan *plan, KvasirPace *pace, int n_wanted, int64_t now)
{
  int n_paced = kvasir_pace_begin (pace, n_wanted, now), n_lent = count_lent (plan);
  int n_kept = n_paced - n_lent > 1 ? n_paced - n_lent : 1;
  bool is_visited = plan->step->n_tokens == 1 && n_lent == 0 && n_paced < n_wanted;

  plan->visitor = is_visited ? n_kept : 0;
  plan->n_threads = n_kept + (is_visited ? 1 : 0);
  plan->n_active = n_kept;
}

static void
run_paced (KvasirPlan *plan, KvasirPace *pace, int64_t begin)
{
  KvasirPool *pool = plan->setup->pool;
  int64_t waited = kvasir_pool_get_wait_ns (pool);

  kvasir_pool_invite (pool, plan->visitor);
  kvasir_pool_run (pool, plan->n_active, run_phases, plan);
  if (plan->visitor > 0 || plan->n_active < plan->n_threads ||
      __atomic_load_n (&plan->setup->packed_at, __ATOMIC_RELAXED) >= begin)
    return;
  int64_t end = kvasir_pool_get_now_ns ();
  kvasir_pace_end (pace, plan->n_threads, end - begin, kvasir_pool_get_wait_ns (pool) - waited,
                   end);
}

KvasirStatus
kvasir_cpu_plan_compute (KvasirPlan *plan, size_t first, size_t n, const KvasirStep *step)
{
  KvasirCpuSetup *setup = plan->setup;
  bool is_long = step->n_tokens > 1;
  KvasirPace *pace = is_long ? &setup->prefill_pace : &setup->decode_pace;
  int64_t now = kvasir_pool_get_now_ns ();

  plan->step = step;
  choose_threads (plan, pace, is_long ? setup->n_prefill : setup->n_decode, now);
  plan->phase = 0;
  plan->stopped = false;
  atomic_store_explicit (&plan->seen_abort, false, memory_order_relaxed);
  lay_out (plan, first, n);
  if (is_aborted (plan))
    return KVASIR_STATUS_ABORTED;
  run_serial (plan, &plan->phases[0], 0);
  share_out (plan, &plan->phases[0]);
  if (plan->n_phases > 1)
    run_paced (plan, pace, now);
  return plan->stopped ? KVASIR_STATUS_ABORTED : KVASIR_STATUS_OK;
}
