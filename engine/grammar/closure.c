#include "engine/grammar/closure.h"

/* A call of a rule: where to go on behind it. */
typedef struct
{
  KvasirThread thread;
  guint32 next; /* index + 1 of another call of the same rule, 0: none */
} Call;

typedef struct
{
  guint32 stamp; /* of the closure that it is from */
  guint32 index; /* into work */
} Slot;

struct _KvasirClosure
{
  const KvasirGrammar *grammar; /* (unowned) */
  GArray *work;                 /* (owned) of KvasirThread, each once */
  guint n_done;                 /* of work */
  Slot *slots;                  /* (owned) [n_slots]: finds a thread in work */
  guint n_slots;
  guint32 stamp;
  GArray *calls;         /* (owned) of Call */
  guint32 *last_call;    /* (owned) by rule: index + 1 into calls, 0: it is not called */
  GArray *called;        /* (owned) of guint32: ranks of the rules called, a heap, least first */
  guint32 *rule_of_rank; /* (owned) */
  GArray *frame;         /* (owned) of KvasirThread: the calls of one rule */
  GArray *readers;       /* (owned) of KvasirThread: what the state will be */
};

KvasirClosure *
kvasir_closure_new (const KvasirGrammar *grammar)
{
  KvasirClosure *self = g_new0 (KvasirClosure, 1);
  guint32 n_rules = grammar->rules->len;
  self->grammar = grammar;
  self->work = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  self->n_slots = 64;
  self->slots = g_new0 (Slot, self->n_slots);
  self->stamp = 1;
  self->calls = g_array_new (FALSE, FALSE, sizeof (Call));
  self->last_call = g_new0 (guint32, n_rules);
  self->called = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->rule_of_rank = g_new (guint32, n_rules);
  self->frame = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  self->readers = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  for (guint32 i = 0; i < n_rules; i++)
    self->rule_of_rank[kvasir_grammar_rule (grammar, i)->rank] = i;
  return self;
}

void
kvasir_closure_free (KvasirClosure *self)
{
  g_array_unref (self->work);
  g_free (self->slots);
  g_array_unref (self->calls);
  g_free (self->last_call);
  g_array_unref (self->called);
  g_free (self->rule_of_rank);
  g_array_unref (self->frame);
  g_array_unref (self->readers);
  g_free (self);
}

KvasirThread
kvasir_thread_advance (const KvasirGrammar *grammar, KvasirThread thread)
{
  const KvasirElement *element = kvasir_grammar_element (grammar, thread.pos);
  guint32 count = thread.count + 1;
  /* Beyond the least number nothing is counted where there is no greatest, so that a loop comes
   * back to the state it began in. */
  if (element->max == KVASIR_NO_MAX)
    count = MIN (count, kvasir_grammar_get_min (grammar, element));
  else if (count >= element->max)
    return (KvasirThread){ thread.pos + 1, thread.frame, 0 };
  return (KvasirThread){ thread.pos, thread.frame, count };
}

/* ---- threads that are to be looked at, each once */

static Slot *
find_slot (KvasirClosure *self, const KvasirThread *thread)
{
  guint at = kvasir_thread_hash (thread) & (self->n_slots - 1);
  for (;; at = (at + 1) & (self->n_slots - 1))
    {
      Slot *slot = &self->slots[at];
      if (slot->stamp != self->stamp)
        return slot;
      const KvasirThread *other = &g_array_index (self->work, KvasirThread, slot->index);
      if (other->pos == thread->pos && other->frame == thread->frame &&
          other->count == thread->count)
        return slot;
    }
}

static void
grow_slots (KvasirClosure *self)
{
  g_free (self->slots);
  self->n_slots *= 2;
  self->slots = g_new0 (Slot, self->n_slots);
  for (guint i = 0; i < self->work->len; i++)
    *find_slot (self, &g_array_index (self->work, KvasirThread, i)) = (Slot){ self->stamp, i };
}

void
kvasir_closure_visit (KvasirClosure *self, KvasirThread thread)
{
  Slot *slot = find_slot (self, &thread);
  if (slot->stamp == self->stamp)
    return;
  *slot = (Slot){ self->stamp, self->work->len };
  g_array_append_val (self->work, thread);
  if (2 * self->work->len > self->n_slots)
    grow_slots (self);
}

/* ---- calls */

static void
push_rank (GArray *heap, guint32 rank)
{
  g_array_append_val (heap, rank);
  guint32 *all = (guint32 *) (gpointer) heap->data;
  for (guint i = heap->len - 1; i > 0 && all[(i - 1) / 2] > rank; i = (i - 1) / 2)
    {
      all[i] = all[(i - 1) / 2];
      all[(i - 1) / 2] = rank;
    }
}

static guint32
pop_rank (GArray *heap)
{
  guint32 *all = (guint32 *) (gpointer) heap->data;
  guint32 least = all[0];
  guint32 moved = all[heap->len - 1];
  guint n = heap->len - 1;
  guint at = 0;
  g_array_set_size (heap, n);
  for (guint child = 1; child < n; child = 2 * at + 1)
    {
      child += child + 1 < n && all[child + 1] < all[child];
      if (all[child] >= moved)
        break;
      all[at] = all[child];
      at = child;
    }
  if (n > 0)
    all[at] = moved;
  return least;
}

static void
add_call (KvasirClosure *self, guint32 rule, const KvasirThread *thread)
{
  Call call = { *thread, self->last_call[rule] };
  if (call.next == 0)
    push_rank (self->called, kvasir_grammar_rule (self->grammar, rule)->rank);
  g_array_append_val (self->calls, call);
  self->last_call[rule] = self->calls->len;
}

void
kvasir_closure_call (KvasirClosure *self, KvasirStates *states, guint32 rule, KvasirThread thread)
{
  if (thread.pos == KVASIR_POS_END ||
      kvasir_grammar_element (self->grammar, thread.pos)->kind != KVASIR_ELEMENT_END)
    {
      states->effort++;
      add_call (self, rule, &thread);
      return;
    }
  /* A call that ends its own rule goes straight to where that one goes on: rules that repeat
   * something by calling themselves at their end need no more frames the longer they go. */
  guint n;
  const KvasirThread *threads = kvasir_thread_sets_get (&states->frames, thread.frame, &n);
  states->effort += n;
  for (guint i = 0; i < n && !kvasir_states_is_exhausted (states); i++)
    add_call (self, rule, &threads[i]);
}

/* The element before which @thread stands, read once more or passed over. Returns: it may be
 * passed over. */
static gboolean
begin_element (KvasirClosure *self, KvasirStates *states, const KvasirThread *thread)
{
  const KvasirElement *element = kvasir_grammar_element (self->grammar, thread->pos);
  if (element->kind == KVASIR_ELEMENT_RULE)
    kvasir_closure_call (self, states, element->index,
                         kvasir_thread_advance (self->grammar, *thread));
  else
    g_array_append_vals (self->readers, thread, 1);
  return thread->count >= kvasir_grammar_get_min (self->grammar, element);
}

/* That a rule may be empty is known beforehand, so a rule just called never ends here. */
static void
enter_rule (KvasirClosure *self, KvasirStates *states, guint32 rule, guint32 frame)
{
  const KvasirRule *target = kvasir_grammar_rule (self->grammar, rule);
  states->effort += target->n_alts;
  for (guint32 i = 0; i < target->n_alts; i++)
    {
      KvasirThread thread = {
        .pos = g_array_index (self->grammar->alts, guint32, target->first_alt + i),
        .frame = frame,
      };
      while (kvasir_grammar_element (self->grammar, thread.pos)->kind != KVASIR_ELEMENT_END &&
             begin_element (self, states, &thread))
        thread.pos++;
    }
}

/* A rule is entered when all that may call it were: those have lower ranks. */
static void
enter_called (KvasirClosure *self, KvasirStates *states)
{
  while (self->called->len > 0)
    {
      guint32 rule = self->rule_of_rank[pop_rank (self->called)];
      g_array_set_size (self->frame, 0);
      for (guint32 i = self->last_call[rule]; i != 0;)
        {
          const Call *call = &g_array_index (self->calls, Call, i - 1);
          g_array_append_val (self->frame, call->thread);
          i = call->next;
        }
      self->last_call[rule] = 0;
      if (!kvasir_states_is_exhausted (states))
        enter_rule (self, states, rule, kvasir_thread_sets_intern (&states->frames, self->frame));
    }
}

/* ---- the whole */

static void
look_at (KvasirClosure *self, KvasirStates *states, KvasirThread thread)
{
  states->effort++;
  if (thread.pos == KVASIR_POS_END)
    g_array_append_val (self->readers, thread);
  else if (kvasir_grammar_element (self->grammar, thread.pos)->kind == KVASIR_ELEMENT_END)
    {
      guint n;
      const KvasirThread *threads = kvasir_thread_sets_get (&states->frames, thread.frame, &n);
      for (guint i = 0; i < n; i++)
        kvasir_closure_visit (self, threads[i]);
      states->effort += n;
    }
  else if (begin_element (self, states, &thread))
    kvasir_closure_visit (self, (KvasirThread){ thread.pos + 1, thread.frame, 0 });
}

guint32
kvasir_closure_finish (KvasirClosure *self, KvasirStates *states)
{
  while (self->n_done < self->work->len && !kvasir_states_is_exhausted (states))
    look_at (self, states, g_array_index (self->work, KvasirThread, self->n_done++));
  enter_called (self, states);
  if (kvasir_states_is_exhausted (states))
    g_array_set_size (self->readers, 0);
  guint32 state = kvasir_thread_sets_intern (&states->states, self->readers);
  g_array_set_size (self->work, 0);
  g_array_set_size (self->calls, 0);
  g_array_set_size (self->readers, 0);
  self->n_done = 0;
  self->stamp++;
  return state;
}
