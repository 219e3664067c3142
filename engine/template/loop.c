/* The for statement and its loop variable. As in Jinja, items are fetched one at a time: asking for
 * the next item looks one ahead, asking for the length of what has none reads all of it. */
#include "engine/template/callable.h"
#include "engine/template/iter.h"

struct _KvasirJinjaLoop
{
  KvasirJinjaRender *render;
  const KvasirJinjaNode *node;
  KvasirJinjaCursor cursor;
  KvasirJinjaList *rest; /* (nullable): items read already, when the length was asked for */
  guint next_rest;
  KvasirJinjaScope *outside;
  gint64 index0;
  gint64 length; /* -1: not known yet */
  KvasirJinjaValue before;
  KvasirJinjaValue current;
  KvasirJinjaValue after;
  gboolean has_after;
  KvasirJinjaList *last_changed; /* (nullable): what changed() was called with last */
};

/* Whether the loop's filter takes the item. */
static gboolean
passes_filter (KvasirJinjaLoop *self, KvasirJinjaValue item)
{
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->render->heap, sizeof *scope);
  KvasirJinjaScope *outer = self->render->scope;
  KvasirJinjaValue verdict = kvasir_jinja_none ();
  /* The filter sees the target and what is outside of the loop, but not the loop's own scope. */
  self->render->scope = self->outside;
  kvasir_jinja_push_scope (self->render, scope);
  gboolean ok = kvasir_jinja_assign (self->render, self->node->target, item) &&
                kvasir_jinja_eval (self->render, self->node->object, &verdict);
  self->render->scope = outer;
  return ok && kvasir_jinja_truth (verdict);
}

/* The next item from the iterable, past those that the filter drops. */
static gboolean
read_item (KvasirJinjaLoop *self, KvasirJinjaValue *item)
{
  while (kvasir_jinja_cursor_next (&self->cursor, item))
    if (self->node->object == NULL || passes_filter (self, *item))
      return TRUE;
  return FALSE;
}

static gboolean
next_item (KvasirJinjaLoop *self, KvasirJinjaValue *item)
{
  if (self->rest == NULL)
    return read_item (self, item);
  if (self->next_rest >= self->rest->n)
    return FALSE;
  *item = self->rest->items[self->next_rest++];
  return TRUE;
}

static gboolean
look_ahead (KvasirJinjaLoop *self)
{
  if (!self->has_after)
    self->has_after = next_item (self, &self->after);
  return self->has_after;
}

static gboolean
advance (KvasirJinjaLoop *self)
{
  KvasirJinjaValue item;
  if (self->has_after)
    item = self->after;
  else if (!next_item (self, &item))
    return FALSE;
  self->has_after = FALSE;
  self->index0++;
  self->before = self->current;
  self->current = item;
  return TRUE;
}

static gint64
get_length (KvasirJinjaLoop *self)
{
  gsize n;
  if (self->length >= 0)
    return self->length;
  if (self->node->object == NULL && kvasir_jinja_length (self->cursor.value, &n))
    self->length = (gint64) n;
  else
    {
      KvasirJinjaList *rest = kvasir_jinja_list_new (&self->render->heap);
      KvasirJinjaValue item;
      while (read_item (self, &item))
        kvasir_jinja_list_append (&self->render->heap, rest, item);
      self->rest = rest;
      self->length = rest->n + self->index0 + 1 + self->has_after;
    }
  return self->length;
}

static gboolean
loop_cycle (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  guint n = call->args->n_values;
  if (n == 0)
    return kvasir_jinja_heap_fail (call->heap, "cycle needs values to go through");
  *out = call->args->values[call->self.loop->index0 % n];
  return TRUE;
}

static gboolean
loop_changed (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaLoop *self = call->self.loop;
  KvasirJinjaList *now = kvasir_jinja_list_new (call->heap);
  for (guint i = 0; i < call->args->n_values; i++)
    if (!kvasir_jinja_list_append (call->heap, now, call->args->values[i]))
      return FALSE;
  gboolean same =
      self->last_changed != NULL &&
      kvasir_jinja_equal (call->heap, kvasir_jinja_list (KVASIR_JINJA_LIST, self->last_changed),
                          kvasir_jinja_list (KVASIR_JINJA_LIST, now));
  self->last_changed = now;
  *out = kvasir_jinja_bool (!same);
  return TRUE;
}

static KvasirJinjaValue
attr_index (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (self->index0 + 1);
}

static KvasirJinjaValue
attr_index0 (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (self->index0);
}

static KvasirJinjaValue
attr_revindex (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (get_length (self) - self->index0);
}

static KvasirJinjaValue
attr_revindex0 (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (get_length (self) - self->index0 - 1);
}

static KvasirJinjaValue
attr_length (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (get_length (self));
}

static KvasirJinjaValue
attr_first (KvasirJinjaLoop *self)
{
  return kvasir_jinja_bool (self->index0 == 0);
}

static KvasirJinjaValue
attr_last (KvasirJinjaLoop *self)
{
  return kvasir_jinja_bool (!look_ahead (self));
}

static KvasirJinjaValue
attr_previtem (KvasirJinjaLoop *self)
{
  if (self->index0 > 0)
    return self->before;
  return kvasir_jinja_undefined (&self->render->heap, NULL, NULL, "there is no previous item");
}

static KvasirJinjaValue
attr_nextitem (KvasirJinjaLoop *self)
{
  if (look_ahead (self))
    return self->after;
  return kvasir_jinja_undefined (&self->render->heap, NULL, NULL, "there is no next item");
}

/* Loops inside each other count separately; deeper levels would need recursive loops. */
static KvasirJinjaValue
attr_depth (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (1);
}

static KvasirJinjaValue
attr_depth0 (KvasirJinjaLoop *self)
{
  return kvasir_jinja_int (0);
}

gboolean
kvasir_jinja_loop_attr (KvasirJinjaHeap *heap,
                        KvasirJinjaLoop *loop,
                        KvasirJinjaText *name,
                        KvasirJinjaValue *out)
{
  static const struct
  {
    const char *name;
    KvasirJinjaValue (*get) (KvasirJinjaLoop *self);
  } attrs[] = {
    { "index", attr_index },         { "index0", attr_index0 },     { "revindex", attr_revindex },
    { "revindex0", attr_revindex0 }, { "length", attr_length },     { "first", attr_first },
    { "last", attr_last },           { "previtem", attr_previtem }, { "nextitem", attr_nextitem },
    { "depth", attr_depth },         { "depth0", attr_depth0 },
  };
  static const KvasirJinjaBuiltin methods[] = {
    { "cycle", loop_cycle, 0, { "*" } },
    { "changed", loop_changed, 0, { "*" } },
    { NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS (attrs); i++)
    if (kvasir_jinja_text_is (heap, name, attrs[i].name))
      {
        *out = attrs[i].get (loop);
        return heap->failure == NULL;
      }
  const KvasirJinjaBuiltin *method = kvasir_jinja_find (heap, methods, name);
  if (method == NULL)
    return FALSE;
  KvasirJinjaValue self = { .kind = KVASIR_JINJA_LOOP, .loop = loop };
  *out = kvasir_jinja_callable_new (heap, method, self);
  return TRUE;
}

/* One turn in an empty scope. The turns share one, so a macro that outlives its turn sees the
 * values of a later one (in Jinja it sees none). */
static KvasirJinjaFlow
run_turn (KvasirJinjaLoop *self, KvasirJinjaScope *scope, KvasirJinjaText *loop_name)
{
  KvasirJinjaRender *render = self->render;
  if (scope->vars != NULL)
    kvasir_jinja_dict_clear (scope->vars);
  kvasir_jinja_push_scope (render, scope);
  KvasirJinjaValue loop = { .kind = KVASIR_JINJA_LOOP, .loop = self };
  KvasirJinjaFlow flow = KVASIR_JINJA_FLOW_FAIL;
  if (kvasir_jinja_set_var (render, loop_name, loop) &&
      kvasir_jinja_assign (render, self->node->target, self->current))
    flow = kvasir_jinja_exec (render, self->node->items.items[1]);
  kvasir_jinja_pop_scope (render);
  return flow;
}

static KvasirJinjaFlow
exec_else (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  if (node->items.n < 3)
    return KVASIR_JINJA_FLOW_NEXT;
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->heap, sizeof *scope);
  kvasir_jinja_push_scope (self, scope);
  KvasirJinjaFlow flow = kvasir_jinja_exec (self, node->items.items[2]);
  kvasir_jinja_pop_scope (self);
  return flow;
}

KvasirJinjaFlow
kvasir_jinja_exec_for (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaLoop *loop = kvasir_jinja_heap_alloc (&self->heap, sizeof *loop);
  KvasirJinjaText *loop_name = kvasir_jinja_text_static (&self->heap, "loop");
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->heap, sizeof *scope);
  KvasirJinjaValue iterable;
  KvasirJinjaFlow flow = KVASIR_JINJA_FLOW_NEXT;
  loop->render = self;
  loop->node = node;
  loop->outside = self->scope;
  loop->index0 = -1;
  loop->length = -1;
  if (!kvasir_jinja_eval (self, node->items.items[0], &iterable) ||
      !kvasir_jinja_cursor_init (&loop->cursor, &self->heap, iterable))
    return KVASIR_JINJA_FLOW_FAIL;
  gboolean completed = FALSE;
  while (flow == KVASIR_JINJA_FLOW_NEXT && advance (loop))
    {
      flow = run_turn (loop, scope, loop_name);
      completed |= flow == KVASIR_JINJA_FLOW_NEXT;
      if (flow == KVASIR_JINJA_FLOW_CONTINUE)
        flow = KVASIR_JINJA_FLOW_NEXT;
    }
  if (flow == KVASIR_JINJA_FLOW_FAIL || self->heap.failure != NULL)
    return KVASIR_JINJA_FLOW_FAIL;
  /* Jinja's rule, surprising as it is: break or continue in every turn counts as no turn. */
  return completed ? KVASIR_JINJA_FLOW_NEXT : exec_else (self, node);
}
