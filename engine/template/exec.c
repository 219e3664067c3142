/* Statements. */
#include "engine/template/callable.h"
#include "engine/template/iter.h"
#include "engine/template/repr.h"

typedef KvasirJinjaFlow (*ExecFunc) (KvasirJinjaRender *self, const KvasirJinjaNode *node);

static KvasirJinjaFlow
flow_of (gboolean ok)
{
  return ok ? KVASIR_JINJA_FLOW_NEXT : KVASIR_JINJA_FLOW_FAIL;
}

static gboolean
assign_tuple (KvasirJinjaRender *self, const KvasirJinjaNode *target, KvasirJinjaValue value)
{
  KvasirJinjaList *list = kvasir_jinja_collect (&self->heap, value);
  if (list == NULL)
    return FALSE;
  if (list->n != target->items.n)
    return kvasir_jinja_heap_fail (&self->heap, "expected %u values to unpack, found %u",
                                   target->items.n, list->n);
  for (guint i = 0; i < list->n; i++)
    if (!kvasir_jinja_assign (self, target->items.items[i], list->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean
assign_member (KvasirJinjaRender *self, const KvasirJinjaNode *target, KvasirJinjaValue value)
{
  KvasirJinjaValue object;
  if (!kvasir_jinja_eval (self, target->object, &object))
    return FALSE;
  if (object.kind != KVASIR_JINJA_NAMESPACE)
    return kvasir_jinja_heap_fail (&self->heap, "attributes can be set on a namespace, not '%s'",
                                   kvasir_jinja_type_name (object));
  return kvasir_jinja_dict_set (&self->heap, object.dict, kvasir_jinja_text (target->name), value);
}

gboolean
kvasir_jinja_assign (KvasirJinjaRender *self, const KvasirJinjaNode *target, KvasirJinjaValue value)
{
  switch (target->kind)
    {
    case KVASIR_JINJA_NODE_TUPLE:
      return assign_tuple (self, target, value);
    case KVASIR_JINJA_NODE_ATTR:
      return assign_member (self, target, value);
    default:
      return kvasir_jinja_set_var (self, target->name, value);
    }
}

static KvasirJinjaFlow
exec_block (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  for (guint i = 0; i < node->items.n; i++)
    {
      KvasirJinjaFlow flow = kvasir_jinja_exec (self, node->items.items[i]);
      if (flow != KVASIR_JINJA_FLOW_NEXT)
        return flow;
    }
  return KVASIR_JINJA_FLOW_NEXT;
}

KvasirJinjaFlow
kvasir_jinja_capture (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaBuilder builder;
  KvasirJinjaBuilder *outer = self->out;
  kvasir_jinja_builder_init (&builder, &self->heap);
  self->out = &builder;
  KvasirJinjaFlow flow = kvasir_jinja_exec (self, node);
  self->out = outer;
  if (flow != KVASIR_JINJA_FLOW_NEXT)
    return flow;
  return flow_of (kvasir_jinja_give_text (kvasir_jinja_builder_finish (&builder), out));
}

/* The same in a scope of its own. */
static KvasirJinjaFlow
capture_scoped (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->heap, sizeof *scope);
  kvasir_jinja_push_scope (self, scope);
  KvasirJinjaFlow flow = kvasir_jinja_capture (self, node, out);
  kvasir_jinja_pop_scope (self);
  return flow;
}

static KvasirJinjaFlow
exec_data (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  kvasir_jinja_builder_append_text (self->out, node->value.text);
  return flow_of (self->heap.failure == NULL);
}

static KvasirJinjaFlow
exec_output (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaValue value;
  return flow_of (kvasir_jinja_eval (self, node->object, &value) &&
                  kvasir_jinja_append_str (self->out, value));
}

static KvasirJinjaFlow
exec_if (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  for (guint i = 0; i < node->items.n; i += 2)
    {
      const KvasirJinjaNode *test = node->items.items[i];
      KvasirJinjaValue value = kvasir_jinja_bool (TRUE);
      if (test != NULL && !kvasir_jinja_eval (self, test, &value))
        return KVASIR_JINJA_FLOW_FAIL;
      if (kvasir_jinja_truth (value))
        return kvasir_jinja_exec (self, node->items.items[i + 1]);
    }
  return KVASIR_JINJA_FLOW_NEXT;
}

static KvasirJinjaFlow
exec_set (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaValue value;
  return flow_of (kvasir_jinja_eval (self, node->object, &value) &&
                  kvasir_jinja_assign (self, node->target, value));
}

static KvasirJinjaFlow
exec_set_block (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaValue value;
  KvasirJinjaFlow flow = capture_scoped (self, node->items.items[0], &value);
  if (flow != KVASIR_JINJA_FLOW_NEXT)
    return flow;
  return flow_of (
      (node->object == NULL || kvasir_jinja_eval_filters (self, node->object, value, &value)) &&
      kvasir_jinja_assign (self, node->target, value));
}

static KvasirJinjaFlow
exec_filter_block (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaValue value;
  KvasirJinjaFlow flow = capture_scoped (self, node->items.items[0], &value);
  if (flow != KVASIR_JINJA_FLOW_NEXT)
    return flow;
  return flow_of (kvasir_jinja_eval_filters (self, node->object, value, &value) &&
                  kvasir_jinja_append_str (self->out, value));
}

static KvasirJinjaValue
macro_value (KvasirJinjaRender *self, const KvasirJinjaMacro *macro)
{
  KvasirJinjaValue value = kvasir_jinja_callable_new (&self->heap, NULL, kvasir_jinja_none ());
  value.callable->macro = macro;
  value.callable->scope = self->scope;

  return value;
}

static KvasirJinjaFlow
exec_macro (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  return flow_of (kvasir_jinja_set_var (self, node->name, macro_value (self, node->macro)));
}

/* The call gets one more argument, "caller". */
static KvasirJinjaFlow
exec_call_block (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  const KvasirJinjaNode *call = node->object;
  KvasirJinjaValue function;
  KvasirJinjaArgs args;
  if (!kvasir_jinja_eval (self, call->object, &function) ||
      !kvasir_jinja_eval_args (self, call->args, &args))
    return KVASIR_JINJA_FLOW_FAIL;
  KvasirJinjaKeyword *keywords =
      kvasir_jinja_heap_alloc (&self->heap, (args.n_keywords + 1) * sizeof *keywords);
  for (guint i = 0; i < args.n_keywords; i++)
    keywords[i] = args.keywords[i];
  keywords[args.n_keywords].name = kvasir_jinja_text_static (&self->heap, "caller");
  keywords[args.n_keywords++].value = macro_value (self, node->macro);
  args.keywords = keywords;
  KvasirJinjaValue value;
  return flow_of (kvasir_jinja_call (self, function, &args, &value) &&
                  kvasir_jinja_append_str (self->out, value));
}

/* The values are those of the scope outside; all are known before the first is set. */
static KvasirJinjaFlow
exec_with (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  guint n = node->items.n / 2;
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->heap, sizeof *scope);
  KvasirJinjaValue *values = kvasir_jinja_heap_alloc (&self->heap, n * sizeof *values);
  for (guint i = 0; i < n; i++)
    if (!kvasir_jinja_eval (self, node->items.items[2 * i + 1], &values[i]))
      return KVASIR_JINJA_FLOW_FAIL;
  kvasir_jinja_push_scope (self, scope);
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < n; i++)
    ok = kvasir_jinja_assign (self, node->items.items[2 * i], values[i]);
  KvasirJinjaFlow flow =
      ok ? kvasir_jinja_exec (self, node->items.items[2 * n]) : KVASIR_JINJA_FLOW_FAIL;
  kvasir_jinja_pop_scope (self);
  return flow;
}

static KvasirJinjaFlow
exec_scope (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&self->heap, sizeof *scope);
  kvasir_jinja_push_scope (self, scope);
  KvasirJinjaFlow flow = kvasir_jinja_exec (self, node->items.items[0]);
  kvasir_jinja_pop_scope (self);
  return flow;
}

static KvasirJinjaFlow
exec_break (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  return KVASIR_JINJA_FLOW_BREAK;
}

static KvasirJinjaFlow
exec_continue (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  return KVASIR_JINJA_FLOW_CONTINUE;
}

KvasirJinjaFlow
kvasir_jinja_exec (KvasirJinjaRender *self, const KvasirJinjaNode *node)
{
  static const ExecFunc functions[] = {
    [KVASIR_JINJA_NODE_DATA] = exec_data,
    [KVASIR_JINJA_NODE_OUTPUT] = exec_output,
    [KVASIR_JINJA_NODE_IF] = exec_if,
    [KVASIR_JINJA_NODE_FOR] = kvasir_jinja_exec_for,
    [KVASIR_JINJA_NODE_SET] = exec_set,
    [KVASIR_JINJA_NODE_SET_BLOCK] = exec_set_block,
    [KVASIR_JINJA_NODE_FILTER_BLOCK] = exec_filter_block,
    [KVASIR_JINJA_NODE_MACRO] = exec_macro,
    [KVASIR_JINJA_NODE_CALL_BLOCK] = exec_call_block,
    [KVASIR_JINJA_NODE_WITH] = exec_with,
    [KVASIR_JINJA_NODE_SCOPE] = exec_scope,
    [KVASIR_JINJA_NODE_BREAK] = exec_break,
    [KVASIR_JINJA_NODE_CONTINUE] = exec_continue,
    [KVASIR_JINJA_NODE_BLOCK] = exec_block,
  };
  KvasirJinjaFlow flow = KVASIR_JINJA_FLOW_FAIL;
  if (kvasir_jinja_heap_step (&self->heap, 1) && kvasir_jinja_heap_enter (&self->heap))
    {
      flow = functions[node->kind](self, node);
      kvasir_jinja_heap_leave (&self->heap);
    }
  if (flow == KVASIR_JINJA_FLOW_FAIL)
    kvasir_jinja_render_fail_at (self, node);
  return flow;
}
