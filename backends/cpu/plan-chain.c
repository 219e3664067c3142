/* Chains: products of one token and what follows element by element, made part by part.
 *
 * A feed-forward block's gate and up, their activation and its rounding for the next product would
 * otherwise be a phase of products and then, while all other threads wait, rows that half of the
 * caches hold. A thread that makes the same part of all of them has what it needs. */
#include "backends/cpu/plan-private.h"

/* Of weights in a piece, if that is more than 32 rows of each product. */
#define PIECE_BYTES 16384
#define PART 32

/* Whether items of one token have a row of which parts can be made, and how long it is. */
static int64_t
get_length (const KvasirOpItem *item)
{
  if (item->stage->run_part == NULL || item->same_as >= 0)
    return -1;
  return item->stage->writes_dst ? item->node->ne[0] : item->node->src[1]->ne[0];
}

static int
find_maker (const KvasirPlan *plan, int index, const KvasirTensor *source)
{
  for (int i = index - 1; i >= 0; i--)
    if (plan->items[i].node == source && plan->items[i].stage->writes_dst)
      return i;
  return -1;
}

/* The first item of the chain that makes the sources of @index, or -1: they are made otherwise. */
static int
find_chain (const KvasirPlan *plan, int index)
{
  const KvasirOpItem *item = &plan->items[index];
  int first = index;

  for (int i = item->stage->writes_dst ? 0 : 1; i < 2; i++)
    {
      const KvasirTensor *source = item->node->src[i];
      if (source == NULL)
        continue;
      int maker = find_maker (plan, index, source);
      if (maker < 0 || get_length (&plan->items[maker]) != get_length (item))
        return -1;
      int chain = plan->items[maker].chain >= 0 ? plan->items[maker].chain : maker;
      first = chain < first ? chain : first;
    }
  return first < index ? first : -1;
}

static bool
is_maker (const KvasirOpItem *item, const KvasirOpItem *of)
{
  return item->stage->writes_dst &&
         (of->node->src[0] == item->node || of->node->src[1] == item->node);
}

/* FALSE: @index must wait for something behind the beginning of the chain, or for more than the
 * same elements of what is in it. */
static bool
find_chain_after (KvasirPlan *plan, int index, int chain)
{
  KvasirOpItem *item = &plan->items[index];

  item->chain_after = -1;
  for (int i = 0; i < index; i++)
    {
      const KvasirOpItem *other = &plan->items[i];
      if (other->same_as >= 0 || !kvasir_plan_conflicts (other, item))
        continue;
      if (!is_maker (other, item) && other->chain != chain && i != chain)
        item->chain_after = i;
      else if (kvasir_plan_disturbs (other, item))
        return false;
    }
  return item->chain_after < chain;
}

void
kvasir_plan_join_chain (KvasirPlan *plan, int index)
{
  KvasirOpItem *item = &plan->items[index];

  item->chain = -1;
  if (!item->stage->is_elementwise || get_length (item) < 0 || get_length (item) % PART != 0)
    return;
  int chain = find_chain (plan, index);
  if (chain < 0 || !find_chain_after (plan, index, chain))
    return;
  item->chain = chain;
  for (int i = chain; i < index; i++)
    if (is_maker (&plan->items[i], item))
      plan->items[i].chain = chain;
}

/* Rows of every product in a piece. */
static int64_t
get_part (const KvasirPlan *plan, int entry)
{
  size_t row_bytes = 0;

  for (int e = entry; e >= 0; e = plan->entries[e].chain)
    if (!plan->items[plan->entries[e].item].stage->is_elementwise)
      row_bytes += plan->items[plan->entries[e].item].node->src[0]->nb[1];
  return PIECE_BYTES / (PART * row_bytes + 1) * PART + PART;
}

/* Takes the entries of the chain that begins at item @first out of the list of @phase. */
static int
take_out (KvasirPlan *plan, KvasirPlanPhase *phase, int first)
{
  int head = -1, last = -1, before = -1;

  for (int e = phase->shared, next; e >= 0; e = next)
    {
      KvasirPlanEntry *entry = &plan->entries[e];
      next = entry->next;
      if (entry->item != first && plan->items[entry->item].chain != first)
        {
          before = e;
          continue;
        }
      if (before >= 0)
        plan->entries[before].next = next;
      else
        phase->shared = next;
      phase->n_pieces -= entry->n_pieces;
      if (head < 0)
        head = e;
      else
        plan->entries[last].chain = e;
      for (last = e; plan->entries[last].chain >= 0; last = plan->entries[last].chain)
        ;
    }
  phase->last_shared = before;
  return head;
}

/* Whether @phase shares out what makes @source. */
static bool
is_made_in (const KvasirPlan *plan, const KvasirPlanPhase *phase, const KvasirTensor *source)
{
  for (int e = phase->shared; e >= 0; e = plan->entries[e].next)
    for (int i = e; i >= 0; i = plan->entries[i].chain)
      if (plan->items[plan->entries[i].item].node == source &&
          plan->items[plan->entries[i].item].stage->writes_dst)
        return true;
  return false;
}

static bool
are_sources_made_in (const KvasirPlan *plan, const KvasirPlanPhase *phase, const KvasirOpItem *item)
{
  for (int i = item->stage->writes_dst ? 0 : 1; i < 2; i++)
    if (item->node->src[i] != NULL && !is_made_in (plan, phase, item->node->src[i]))
      return false;
  return true;
}

bool
kvasir_plan_add_to_chain (KvasirPlan *plan, KvasirPlanPhase *phase, int entry)
{
  const KvasirOpItem *item = &plan->items[plan->entries[entry].item];
  int head, last;

  if (plan->step->n_tokens != 1 || item->chain < phase->first_item ||
      item->chain_after >= phase->first_item || plan->fence >= phase->first_item ||
      !are_sources_made_in (plan, phase, item))
    return false;
  head = take_out (plan, phase, item->chain);
  for (last = head; plan->entries[last].chain >= 0; last = plan->entries[last].chain)
    ;
  plan->entries[last].chain = entry;
  KvasirPlanEntry *first = &plan->entries[head];
  first->part = get_part (plan, head);
  first->n_pieces = (get_length (item) + first->part - 1) / first->part;
  first->next = -1;
  if (phase->last_shared >= 0)
    plan->entries[phase->last_shared].next = head;
  else
    phase->shared = head;
  phase->last_shared = head;
  phase->n_pieces += first->n_pieces;
  return true;
}
