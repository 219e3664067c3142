/* Nodes to items: what each does with which bytes, and whom it must not overtake. */
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/plan-private.h"

typedef struct
{
  const KvasirTensor *users[KVASIR_PLAN_SLOTS]; /* that named the slot first */
  size_t bytes[KVASIR_PLAN_SLOTS];
  size_t n_items;
  size_t scratch_bytes;
} Layout;

static size_t
align (size_t n)
{
  return (n + KVASIR_PLAN_ALIGNMENT - 1) & ~(size_t) (KVASIR_PLAN_ALIGNMENT - 1);
}

/* Which slot @node uses: 0 and 1 for activations, 2 for parts of attention, then one per kind of
 * angles. */
static int
find_slot (Layout *layout, const KvasirTensor *node, KvasirSlotKind kind)
{
  int slot = kind == KVASIR_SLOT_PARTS ? 2 : kind == KVASIR_SLOT_INNER ? 1 : 0;

  if (kind == KVASIR_SLOT_ANGLES)
    for (slot = 3; slot < KVASIR_PLAN_SLOTS - 1; slot++)
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
  plan->entries = carve (carver, layout->n_items * sizeof (KvasirPlanEntry));
  plan->phases = carve (carver, (layout->n_items + 1) * sizeof (KvasirPlanPhase));
  plan->shares = carve (carver, (size_t) max_threads * sizeof (KvasirPlanShare));
  for (int i = 0; i < KVASIR_PLAN_SLOTS; i++)
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

/* What recurrent layers write beside their results. */
static Span
get_written_state (const KvasirOpItem *item)
{
  const KvasirTensor *state = kvasir_op_get_state (item->node);

  return state != NULL && item->stage->writes_dst ? get_tensor_span (state) : (Span){ 0, 0 };
}

static bool
reads (const KvasirOpItem *item, Span span)
{
  if (!item->stage->reads_sources)
    return false;
  for (int i = item->stage->first_source; i < KVASIR_MAX_SRC; i++)
    if (item->node->src[i] != NULL && overlaps (get_tensor_span (item->node->src[i]), span))
      return true;
  return false;
}

static bool
reads_results (const KvasirOpItem *item, const KvasirOpItem *writer)
{
  return reads (item, get_written (writer)) || reads (item, get_written_state (writer));
}

static bool
share_slot (const KvasirOpItem *earlier, const KvasirOpItem *later)
{
  const KvasirOpStage *a = earlier->stage, *b = later->stage;

  return earlier->slot_id != 0 && earlier->slot_id == later->slot_id &&
         ((a->writes_slot && (b->reads_slot || b->writes_slot)) ||
          (a->reads_slot && b->writes_slot));
}

bool
kvasir_plan_disturbs (const KvasirOpItem *earlier, const KvasirOpItem *later)
{
  return share_slot (earlier, later) || overlaps (get_written (earlier), get_written (later)) ||
         reads_results (earlier, later);
}

/* States are sources of all that write them. */
bool
kvasir_plan_conflicts (const KvasirOpItem *earlier, const KvasirOpItem *later)
{
  return kvasir_plan_disturbs (earlier, later) || reads_results (later, earlier);
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
          reads_results (item, other))
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
      reads_results (item, other) || !kvasir_op_shares_slot (other->node, item->node))
    return -1;
  return other->same_as >= 0 ? other->same_as : i;
}

/* Items that are skipped, because an earlier one did the same, hold nobody up. In a segment that
 * does not hold the earlier one they run after all, and then nothing may overtake them. */
static int
find_after (const KvasirPlan *plan, int index)
{
  for (int i = index - 1; i >= 0; i--)
    if (plan->items[i].same_as < 0 && kvasir_plan_conflicts (&plan->items[i], &plan->items[index]))
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
  kvasir_plan_join_chain (plan, index);
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
  Carver carver = { aligned_alloc (KVASIR_PLAN_ALIGNMENT, n_bytes), 0 };
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
