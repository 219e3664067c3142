#include "backends/cpu/plan.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

/* Slots of one kind that a plan has; needs of further kinds take the last one over. */
#define MAX_ANGLES 4
#define N_SLOTS (2 + MAX_ANGLES)

/* An item in the phases of the current compute. */
typedef struct
{
  int item;
  int next; /* in its phase's list, or -1 */
  int64_t n_pieces;
} Entry;

/* First the serial items, by one thread; then the shared ones, in pieces, by all. */
typedef struct
{
  int serial, last_serial; /* entries or -1 */
  int shared, last_shared;
  int first_item; /* of the shared ones */
  int64_t n_pieces;
  _Alignas(ALIGNMENT) atomic_llong next_piece;
} Phase;

typedef struct
{
  const KvasirTensor *users[N_SLOTS]; /* that named the slot first */
  size_t bytes[N_SLOTS];
  size_t n_items;
  size_t scratch_bytes;
} Layout;

struct KvasirPlan
{
  KvasirCpuSetup *setup;
  size_t n_nodes;
  int *first_item; /* [n_nodes + 1] */
  KvasirOpItem *items;
  int n_items;
  Entry *entries; /* [n_items] */
  Phase *phases;  /* [n_items + 1] */
  uint8_t *slots[N_SLOTS];
  uint8_t *scratch; /* [max_threads][scratch_bytes] */
  size_t scratch_bytes;

  /* The compute going on. */
  const KvasirStep *step;
  int n_threads;
  int n_phases;
  int n_entries;
  int fence;    /* while laying out: nothing goes before this item */
  int phase;    /* written by the last thread to arrive */
  bool stopped; /* as well */
  atomic_bool seen_abort;
};

static size_t
align (size_t n)
{
  return (n + ALIGNMENT - 1) & ~(size_t) (ALIGNMENT - 1);
}

/* Which slot @node uses: 0 for activations, 1 for parts of attention, then one per kind of
 * angles. */
static int
find_slot (Layout *layout, const KvasirTensor *node, KvasirSlotKind kind)
{
  int slot = kind == KVASIR_SLOT_PARTS ? 1 : 0;

  if (kind == KVASIR_SLOT_ANGLES)
    for (slot = 2; slot < N_SLOTS - 1; slot++)
      if (layout->users[slot] == NULL || kvasir_rope_shares_angles (layout->users[slot], node))
        break;
  if (layout->users[slot] == NULL)
    layout->users[slot] = node;
  return slot;
}

static void
measure (Layout *layout,
         const KvasirCpuKernels *kernels,
         KvasirTensor *const *nodes,
         size_t n_nodes)
{
  memset (layout, 0, sizeof *layout);
  for (size_t i = 0; i < n_nodes; i++)
    {
      KvasirOpShape shape;
      kvasir_op_describe (nodes[i], kernels, &shape);
      layout->n_items += (size_t) shape.n_stages;
      if (shape.scratch_bytes > layout->scratch_bytes)
        layout->scratch_bytes = shape.scratch_bytes;
      if (shape.slot_kind == KVASIR_SLOT_NONE)
        continue;
      int slot = find_slot (layout, nodes[i], shape.slot_kind);
      if (shape.slot_bytes > layout->bytes[slot])
        layout->bytes[slot] = shape.slot_bytes;
    }
  layout->scratch_bytes = align (layout->scratch_bytes);
}

/* The plan's arrays follow each other in one piece of memory; with @memory NULL only their sizes
 * are added up. */
typedef struct
{
  uint8_t *memory;
  size_t used;
} Carver;

static void *
carve (Carver *carver, size_t n_bytes)
{
  void *result = carver->memory ? carver->memory + carver->used : NULL;

  carver->used += align (n_bytes);
  return result;
}

static void
carve_plan (Carver *carver, KvasirPlan *plan, const Layout *layout, int max_threads)
{
  carve (carver, sizeof *plan);
  plan->first_item = carve (carver, (plan->n_nodes + 1) * sizeof (int));
  plan->items = carve (carver, layout->n_items * sizeof (KvasirOpItem));
  plan->entries = carve (carver, layout->n_items * sizeof (Entry));
  plan->phases = carve (carver, (layout->n_items + 1) * sizeof (Phase));
  for (int i = 0; i < N_SLOTS; i++)
    plan->slots[i] = carve (carver, layout->bytes[i]);
  plan->scratch_bytes = layout->scratch_bytes;
  plan->scratch = carve (carver, layout->scratch_bytes * (size_t) max_threads);
}

size_t
kvasir_cpu_plan_get_bytes (const KvasirCpuSetup *setup, KvasirTensor *const *nodes, size_t n_nodes)
{
  KvasirPlan plan = { .n_nodes = n_nodes };
  Carver carver = { NULL, 0 };
  Layout layout;

  measure (&layout, setup->kernels, nodes, n_nodes);
  carve_plan (&carver, &plan, &layout, setup->max_threads);
  return carver.used;
}

typedef struct
{
  uintptr_t begin, end;
} Span;

static bool
overlaps (Span a, Span b)
{
  return a.begin < b.end && b.begin < a.end;
}

static Span
get_tensor_span (const KvasirTensor *tensor)
{
  uintptr_t begin = (uintptr_t) tensor->data;

  return (Span){ begin, begin + kvasir_tensor_get_span (tensor) };
}

/* SET_ROWS and ROPE_SHIFT write through a view, whatever its extents are. */
static Span
get_written (const KvasirOpItem *item)
{
  const KvasirTensor *node = item->node;

  if (!item->stage->writes_dst)
    return (Span){ 0, 0 };
  if (node->op == KVASIR_OP_SET_ROWS)
    return get_tensor_span (node->src[2]);
  if (node->op == KVASIR_OP_ROPE_SHIFT)
    return get_tensor_span (node->src[0]);
  return get_tensor_span (node);
}

static bool
reads (const KvasirOpItem *item, Span span)
{
  if (!item->stage->reads_sources)
    return false;
  for (int i = 0; i < KVASIR_MAX_SRC; i++)
    if (item->node->src[i] != NULL && overlaps (get_tensor_span (item->node->src[i]), span))
      return true;
  return false;
}

/* Whether @later must wait for @earlier. */
static bool
conflicts (const KvasirOpItem *earlier, const KvasirOpItem *later)
{
  const KvasirOpStage *a = earlier->stage, *b = later->stage;
  Span wrote = get_written (earlier), writes = get_written (later);

  if (earlier->slot_id != 0 && earlier->slot_id == later->slot_id &&
      ((a->writes_slot && (b->reads_slot || b->writes_slot)) || (a->reads_slot && b->writes_slot)))
    return true;
  return overlaps (wrote, writes) || reads (later, wrote) || reads (earlier, writes);
}

/* The last item before @index that wrote what @index needs or took its slot over, or -1. */
static int
find_slot_writer (const KvasirPlan *plan, int index)
{
  const KvasirOpItem *item = &plan->items[index];

  for (int i = index - 1; i >= 0; i--)
    {
      const KvasirOpItem *other = &plan->items[i];
      if ((other->slot_id == item->slot_id && other->stage->writes_slot) ||
          reads (item, get_written (other)))
        return i;
    }
  return -1;
}

/* The earlier item whose slot contents serve @index too: nothing may have taken the slot over or
 * written the sources since. */
static int
find_same (const KvasirPlan *plan, int index)
{
  const KvasirOpItem *item = &plan->items[index];
  int i = item->stage->is_shareable ? find_slot_writer (plan, index) : -1;

  if (i < 0)
    return -1;
  const KvasirOpItem *other = &plan->items[i];
  if (other->slot_id != item->slot_id || !other->stage->writes_slot ||
      reads (item, get_written (other)) || !kvasir_op_shares_slot (other->node, item->node))
    return -1;
  return other->same_as >= 0 ? other->same_as : i;
}

/* Items that are skipped, because an earlier one did the same, hold nobody up. In a segment that
 * does not hold the earlier one they run after all, and then nothing may overtake them. */
static int
find_after (const KvasirPlan *plan, int index)
{
  for (int i = index - 1; i >= 0; i--)
    if (plan->items[i].same_as < 0 && conflicts (&plan->items[i], &plan->items[index]))
      return i;
  return -1;
}

static void
add_item (KvasirPlan *plan, const KvasirOpStage *stage, const KvasirTensor *node, int slot)
{
  int index = plan->n_items++;
  KvasirOpItem *item = &plan->items[index];

  *item = (KvasirOpItem){ .stage = stage, .node = node };
  if (slot >= 0)
    {
      item->slot = plan->slots[slot];
      item->slot_id = slot + 1;
    }
  item->same_as = find_same (plan, index);
  item->after = find_after (plan, index);
}

static void
add_items (KvasirPlan *plan, Layout *layout, const KvasirTensor *node)
{
  KvasirOpShape shape;
  int slot = -1;

  kvasir_op_describe (node, plan->setup->kernels, &shape);
  if (shape.slot_kind != KVASIR_SLOT_NONE)
    slot = find_slot (layout, node, shape.slot_kind);
  for (int i = 0; i < shape.n_stages; i++)
    add_item (plan, shape.stages[i], node, slot);
}

KvasirPlan *
kvasir_cpu_plan_new (KvasirCpuSetup *setup, KvasirTensor *const *nodes, size_t n_nodes)
{
  size_t n_bytes = kvasir_cpu_plan_get_bytes (setup, nodes, n_nodes);
  Carver carver = { aligned_alloc (ALIGNMENT, n_bytes), 0 };
  KvasirPlan *plan = (KvasirPlan *) (void *) carver.memory;
  Layout layout;

  if (plan == NULL)
    return NULL;
  *plan = (KvasirPlan){ .setup = setup, .n_nodes = n_nodes };
  measure (&layout, setup->kernels, nodes, n_nodes);
  carve_plan (&carver, plan, &layout, setup->max_threads);
  for (size_t i = 0; i < n_nodes; i++)
    {
      plan->first_item[i] = plan->n_items;
      add_items (plan, &layout, nodes[i]);
    }
  plan->first_item[n_nodes] = plan->n_items;
  return plan;
}

void
kvasir_cpu_plan_free (KvasirPlan *plan)
{
  free (plan);
}

static void
append (KvasirPlan *plan, int *head, int *tail, int entry)
{
  if (*head < 0)
    *head = entry;
  else
    plan->entries[*tail].next = entry;
  *tail = entry;
}

static Phase *
add_phase (KvasirPlan *plan)
{
  Phase *phase = &plan->phases[plan->n_phases++];

  phase->serial = phase->last_serial = -1;
  phase->shared = phase->last_shared = -1;
  phase->n_pieces = 0;
  return phase;
}

static void
add_entry (KvasirPlan *plan, int index, int64_t n_pieces)
{
  const KvasirOpItem *item = &plan->items[index];
  Phase *last = &plan->phases[plan->n_phases - 1];
  Phase *open = plan->n_phases > 1 ? last - 1 : NULL;
  int entry = plan->n_entries++;

  /* The last phase collects serial items and has no shared ones yet; the one before it still
   * takes shared items that wait for nothing inside or behind it. */
  plan->entries[entry] = (Entry){ index, -1, n_pieces };
  if (item->same_as >= 0)
    plan->fence = index;
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
  for (int i = 0; i < plan->n_phases; i++)
    atomic_store_explicit (&plan->phases[i].next_piece, plan->n_threads, memory_order_relaxed);
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
run_serial (KvasirPlan *plan, const Phase *phase, int thread)
{
  KvasirOpRun run = get_run (plan, thread);

  for (int e = phase->serial; e >= 0; e = plan->entries[e].next)
    {
      const KvasirOpItem *item = &plan->items[plan->entries[e].item];
      item->stage->run (item, &run, 0);
    }
}

static void
run_piece (KvasirPlan *plan, const Phase *phase, int64_t piece, const KvasirOpRun *run)
{
  int e = phase->shared;

  for (; piece >= plan->entries[e].n_pieces; e = plan->entries[e].next)
    piece -= plan->entries[e].n_pieces;
  const KvasirOpItem *item = &plan->items[plan->entries[e].item];
  item->stage->run (item, run, piece);
}

/* Every thread begins with the piece of its own number, so that they don't meet at the counter. */
static void
run_shared (KvasirPlan *plan, Phase *phase, int thread)
{
  KvasirOpRun run = get_run (plan, thread);
  int64_t piece = thread;

  while (piece < phase->n_pieces && !is_aborted (plan))
    {
      run_piece (plan, phase, piece, &run);
      piece = atomic_fetch_add_explicit (&phase->next_piece, 1, memory_order_relaxed);
    }
}

typedef struct
{
  KvasirPlan *plan;
  int thread;
} Arrival;

/* By the last thread to arrive: all others wait, so the scratch of any thread is free, and what
 * is decided here about going on holds for all. */
static void
enter_phase (void *data)
{
  Arrival *arrival = data;
  KvasirPlan *plan = arrival->plan;

  if (is_aborted (plan))
    {
      plan->stopped = true;
      return;
    }
  run_serial (plan, &plan->phases[plan->phase + 1], arrival->thread);
  plan->phase++;
}

static void
run_phases (void *data, int thread)
{
  KvasirPlan *plan = data;
  Arrival arrival = { plan, thread };
  int n_shared = plan->n_phases - 1;

  for (int i = 0; i < n_shared && !plan->stopped; i++)
    {
      run_shared (plan, &plan->phases[i], thread);
      kvasir_pool_meet (plan->setup->pool, enter_phase, &arrival);
    }
}

static void
run_paced (KvasirPlan *plan, KvasirPace *pace, int64_t begin)
{
  KvasirPool *pool = plan->setup->pool;
  int64_t waited = kvasir_pool_get_wait_ns (pool);

  kvasir_pool_run (pool, plan->n_threads, run_phases, plan);
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
  plan->n_threads = kvasir_pace_begin (pace, is_long ? setup->n_prefill : setup->n_decode, now);
  plan->phase = 0;
  plan->stopped = false;
  atomic_store_explicit (&plan->seen_abort, false, memory_order_relaxed);
  lay_out (plan, first, n);
  if (is_aborted (plan))
    return KVASIR_STATUS_ABORTED;
  run_serial (plan, &plan->phases[0], 0);
  if (plan->n_phases > 1)
    run_paced (plan, pace, now);
  return plan->stopped ? KVASIR_STATUS_ABORTED : KVASIR_STATUS_OK;
}
