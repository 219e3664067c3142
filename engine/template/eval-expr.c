/* Expressions to values. */
#include "engine/template/callable.h"
#include "engine/template/iter.h"

typedef gboolean (*EvalFunc) (KvasirJinjaRender *self,
                              const KvasirJinjaNode *node,
                              KvasirJinjaValue *out);

static gboolean
eval_const (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  *out = node->value;
  return TRUE;
}

static gboolean
eval_name (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  *out = kvasir_jinja_lookup (self, node->name);
  return self->heap.failure == NULL;
}

static gboolean
eval_list (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (&self->heap);
  for (guint i = 0; i < node->items.n; i++)
    {
      KvasirJinjaValue item;
      if (!kvasir_jinja_eval (self, node->items.items[i], &item) ||
          !kvasir_jinja_list_append (&self->heap, list, item))
        return FALSE;
    }
  KvasirJinjaKind kind =
      node->kind == KVASIR_JINJA_NODE_LIST ? KVASIR_JINJA_LIST : KVASIR_JINJA_TUPLE;
  *out = kvasir_jinja_list (kind, list);
  return TRUE;
}

static gboolean
eval_dict (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaDict *dict = kvasir_jinja_dict_new (&self->heap);
  for (guint i = 0; i < node->items.n; i += 2)
    {
      KvasirJinjaValue key;
      KvasirJinjaValue value;
      if (!kvasir_jinja_eval (self, node->items.items[i], &key) ||
          !kvasir_jinja_eval (self, node->items.items[i + 1], &value) ||
          !kvasir_jinja_dict_set (&self->heap, dict, key, value))
        return FALSE;
    }
  *out = kvasir_jinja_dict (dict);
  return TRUE;
}

static gboolean
eval_attr (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue object;
  return kvasir_jinja_eval (self, node->object, &object) &&
         kvasir_jinja_get_attr (&self->heap, object, node->name, out);
}

static gboolean
eval_item (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue object;
  KvasirJinjaValue key;
  return kvasir_jinja_eval (self, node->object, &object) &&
         kvasir_jinja_eval (self, node->items.items[0], &key) &&
         kvasir_jinja_get_item (&self->heap, object, key, out);
}

static gboolean
eval_slice (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue object;
  KvasirJinjaValue bounds[3];
  if (!kvasir_jinja_eval (self, node->object, &object))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (!kvasir_jinja_eval (self, node->items.items[i], &bounds[i]))
      return FALSE;
  return kvasir_jinja_get_slice (&self->heap, object, bounds, out);
}

static gboolean
eval_call (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue function;
  KvasirJinjaArgs args;
  return kvasir_jinja_eval (self, node->object, &function) &&
         kvasir_jinja_eval_args (self, node->args, &args) &&
         kvasir_jinja_call (self, function, &args, out);
}

/* @node's filter or test on @input. */
static gboolean
apply (KvasirJinjaRender *self,
       const KvasirJinjaNode *node,
       KvasirJinjaValue input,
       KvasirJinjaValue *out)
{
  KvasirJinjaArgs args;
  if (node->builtin == NULL)
    return kvasir_jinja_heap_fail (&self->heap, "no %s is named '%.*s'",
                                   node->kind == KVASIR_JINJA_NODE_TEST ? "test" : "filter",
                                   (int) node->name->len, node->name->bytes);
  return kvasir_jinja_eval_args (self, node->args, &args) &&
         kvasir_jinja_call_builtin (self, node->builtin, input, &args, out);
}

static gboolean
eval_filter (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue input;
  return kvasir_jinja_eval (self, node->object, &input) && apply (self, node, input, out);
}

gboolean
kvasir_jinja_eval_filters (KvasirJinjaRender *self,
                           const KvasirJinjaNode *node,
                           KvasirJinjaValue input,
                           KvasirJinjaValue *out)
{
  if (!kvasir_jinja_heap_enter (&self->heap))
    return kvasir_jinja_render_fail_at (self, node);
  gboolean ok =
      (node->object == NULL || kvasir_jinja_eval_filters (self, node->object, input, &input)) &&
      apply (self, node, input, out);
  kvasir_jinja_heap_leave (&self->heap);
  return ok || kvasir_jinja_render_fail_at (self, node);
}

static gboolean
eval_not (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue value;
  if (!kvasir_jinja_eval (self, node->object, &value))
    return FALSE;
  *out = kvasir_jinja_bool (!kvasir_jinja_truth (value));
  return TRUE;
}

static gboolean
eval_sign (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue value;
  if (!kvasir_jinja_eval (self, node->object, &value))
    return FALSE;
  if (value.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (&self->heap, value);
  if (!kvasir_jinja_is_number (value))
    return kvasir_jinja_heap_fail (&self->heap, "a sign before '%s'",
                                   kvasir_jinja_type_name (value));
  if (value.kind == KVASIR_JINJA_FLOAT && node->kind == KVASIR_JINJA_NODE_NEGATE)
    {
      *out = kvasir_jinja_float (-value.number);
      return TRUE;
    }
  KvasirJinjaOp op =
      node->kind == KVASIR_JINJA_NODE_NEGATE ? KVASIR_JINJA_OP_SUB : KVASIR_JINJA_OP_ADD;
  return kvasir_jinja_operate (&self->heap, op, kvasir_jinja_int (0), value, out);
}

static gboolean
eval_chain (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  if (!kvasir_jinja_eval (self, node->items.items[0], out))
    return FALSE;
  for (guint i = 0; i < node->n_ops; i++)
    {
      KvasirJinjaValue right;
      if (!kvasir_jinja_eval (self, node->items.items[i + 1], &right) ||
          !kvasir_jinja_operate (&self->heap, node->ops[i], *out, right, out))
        return FALSE;
    }
  return TRUE;
}

static gboolean
eval_compare (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue left;
  if (!kvasir_jinja_eval (self, node->items.items[0], &left))
    return FALSE;
  for (guint i = 0; i < node->n_ops; i++)
    {
      KvasirJinjaValue right;
      if (!kvasir_jinja_eval (self, node->items.items[i + 1], &right) ||
          !kvasir_jinja_operate (&self->heap, node->ops[i], left, right, out))
        return FALSE;
      if (!kvasir_jinja_truth (*out))
        break;
      left = right;
    }
  return TRUE;
}

/* and, or: the value that decided. */
static gboolean
eval_logic (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  gboolean go_on = node->kind == KVASIR_JINJA_NODE_AND;
  for (guint i = 0; i < node->items.n; i++)
    {
      if (!kvasir_jinja_eval (self, node->items.items[i], out))
        return FALSE;
      if (kvasir_jinja_truth (*out) != go_on)
        break;
    }
  return TRUE;
}

static gboolean
eval_cond (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  KvasirJinjaValue test;
  if (!kvasir_jinja_eval (self, node->items.items[0], &test))
    return FALSE;
  if (kvasir_jinja_truth (test))
    return kvasir_jinja_eval (self, node->items.items[1], out);
  if (node->items.n > 2)
    return kvasir_jinja_eval (self, node->items.items[2], out);
  *out = kvasir_jinja_undefined (&self->heap, NULL, NULL,
                                 "the value of an 'if' without 'else' whose test was false");
  return TRUE;
}

gboolean
kvasir_jinja_eval (KvasirJinjaRender *self, const KvasirJinjaNode *node, KvasirJinjaValue *out)
{
  static const EvalFunc functions[] = {
    [KVASIR_JINJA_NODE_CONST] = eval_const, [KVASIR_JINJA_NODE_NAME] = eval_name,
    [KVASIR_JINJA_NODE_LIST] = eval_list,   [KVASIR_JINJA_NODE_TUPLE] = eval_list,
    [KVASIR_JINJA_NODE_DICT] = eval_dict,   [KVASIR_JINJA_NODE_ATTR] = eval_attr,
    [KVASIR_JINJA_NODE_ITEM] = eval_item,   [KVASIR_JINJA_NODE_SLICE] = eval_slice,
    [KVASIR_JINJA_NODE_CALL] = eval_call,   [KVASIR_JINJA_NODE_FILTER] = eval_filter,
    [KVASIR_JINJA_NODE_TEST] = eval_filter, [KVASIR_JINJA_NODE_NOT] = eval_not,
    [KVASIR_JINJA_NODE_NEGATE] = eval_sign, [KVASIR_JINJA_NODE_PLUS] = eval_sign,
    [KVASIR_JINJA_NODE_CHAIN] = eval_chain, [KVASIR_JINJA_NODE_COMPARE] = eval_compare,
    [KVASIR_JINJA_NODE_AND] = eval_logic,   [KVASIR_JINJA_NODE_OR] = eval_logic,
    [KVASIR_JINJA_NODE_COND] = eval_cond,
  };
  g_assert (node->kind < G_N_ELEMENTS (functions));
  gboolean ok = kvasir_jinja_heap_step (&self->heap, 1) && kvasir_jinja_heap_enter (&self->heap);
  if (ok)
    {
      ok = functions[node->kind](self, node, out);
      kvasir_jinja_heap_leave (&self->heap);
    }
  return ok || kvasir_jinja_render_fail_at (self, node);
}
