/* Methods of lists, tuples and dicts. */
#include "engine/template/iter.h"
#include "engine/template/methods.h"

static gboolean
method_append (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  *out = kvasir_jinja_none ();
  return kvasir_jinja_list_append (call->heap, call->self.list, call->arg[0]);
}

static gboolean
method_extend (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *more = kvasir_jinja_collect (call->heap, call->arg[0]);
  *out = kvasir_jinja_none ();
  for (guint i = 0; more != NULL && i < more->n; i++)
    kvasir_jinja_list_append (call->heap, call->self.list, more->items[i]);
  return more != NULL;
}

/* Index @i of the list as Python counts it, kept within [0, n]. */
static guint
clip_index (const KvasirJinjaList *list, gint64 i)
{
  if (i < 0)
    i = MAX (i + list->n, 0);
  return (guint) MIN (i, list->n);
}

static gboolean
method_insert (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gint64 at;
  *out = kvasir_jinja_none ();
  return kvasir_jinja_call_int (call, 0, 0, &at) &&
         kvasir_jinja_heap_step (call->heap, call->self.list->n / 4) &&
         kvasir_jinja_list_insert (call->heap, call->self.list, clip_index (call->self.list, at),
                                   call->arg[1]);
}

static gboolean
method_pop (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = call->self.list;
  gint64 at;
  if (!kvasir_jinja_call_int (call, 0, -1, &at))
    return FALSE;
  at += at < 0 ? list->n : 0;
  if (at < 0 || at >= list->n)
    return kvasir_jinja_heap_fail (call->heap, "pop: the list has no such item");
  *out = list->items[at];
  kvasir_jinja_list_remove (list, (guint) at);
  return kvasir_jinja_heap_step (call->heap, (list->n - (guint) at) / 4);
}

static gboolean
find_item (KvasirJinjaCall *call, guint *at)
{
  const KvasirJinjaList *list = call->self.list;
  for (*at = 0; *at < list->n && kvasir_jinja_heap_step (call->heap, 1); (*at)++)
    if (kvasir_jinja_equal (call->heap, list->items[*at], call->arg[0]))
      return TRUE;
  return kvasir_jinja_heap_fail (call->heap, "%s: the item is not there", call->builtin->name);
}

static gboolean
method_index (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  guint at;
  if (!find_item (call, &at))
    return FALSE;
  *out = kvasir_jinja_int (at);
  return TRUE;
}

static gboolean
method_remove (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  guint at;
  *out = kvasir_jinja_none ();
  if (!find_item (call, &at))
    return FALSE;
  kvasir_jinja_list_remove (call->self.list, at);
  return TRUE;
}

static gboolean
method_count (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  const KvasirJinjaList *list = call->self.list;
  gint64 n = 0;
  for (guint i = 0; i < list->n && kvasir_jinja_heap_step (call->heap, 1); i++)
    n += kvasir_jinja_equal (call->heap, list->items[i], call->arg[0]);
  *out = kvasir_jinja_int (n);
  return TRUE;
}

static gboolean
method_reverse (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = call->self.list;
  for (guint i = 0; i < list->n / 2; i++)
    {
      KvasirJinjaValue swap = list->items[i];
      list->items[i] = list->items[list->n - 1 - i];
      list->items[list->n - 1 - i] = swap;
    }
  *out = kvasir_jinja_none ();
  return kvasir_jinja_heap_step (call->heap, list->n / 4);
}

static gboolean
method_clear_list (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  call->self.list->n = 0;
  *out = kvasir_jinja_none ();
  return TRUE;
}

static gboolean
method_copy_list (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *copy = kvasir_jinja_collect (call->heap, call->self);
  if (copy == NULL)
    return FALSE;
  *out = kvasir_jinja_list (KVASIR_JINJA_LIST, copy);
  return TRUE;
}

static gboolean
method_get (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (!kvasir_jinja_dict_get (call->heap, call->self.dict, call->arg[0], out))
    *out = kvasir_jinja_is_missing (call->arg[1]) ? kvasir_jinja_none () : call->arg[1];
  return TRUE;
}

static gboolean
method_setdefault (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_dict_get (call->heap, call->self.dict, call->arg[0], out) ||
         (method_get (call, out) &&
          kvasir_jinja_dict_set (call->heap, call->self.dict, call->arg[0], *out));
}

static gboolean
method_pop_key (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (kvasir_jinja_dict_get (call->heap, call->self.dict, call->arg[0], out))
    return kvasir_jinja_dict_remove (call->heap, call->self.dict, call->arg[0]);
  if (kvasir_jinja_is_missing (call->arg[1]))
    return kvasir_jinja_heap_fail (call->heap, "pop: the dict has no such key");
  *out = call->arg[1];
  return TRUE;
}

static gboolean
method_update (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  *out = kvasir_jinja_none ();
  return kvasir_jinja_fill_dict (call, call->self.dict);
}

static gboolean
method_clear_dict (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  kvasir_jinja_dict_clear (call->self.dict);
  *out = kvasir_jinja_none ();
  return TRUE;
}

static gboolean
method_copy_dict (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  *out = kvasir_jinja_dict (kvasir_jinja_dict_new (call->heap));
  return kvasir_jinja_dict_update (call->heap, out->dict, call->self.dict);
}

static gboolean
method_keys (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *keys = kvasir_jinja_collect (call->heap, call->self);
  if (keys == NULL)
    return FALSE;
  keys->type = "dict_keys";
  *out = kvasir_jinja_list (KVASIR_JINJA_VIEW, keys);
  return TRUE;
}

static gboolean
method_values (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  const KvasirJinjaDict *dict = call->self.dict;
  KvasirJinjaList *values = kvasir_jinja_list_new (call->heap);
  values->type = "dict_values";
  for (guint i = 0; i < dict->n && kvasir_jinja_heap_step (call->heap, 1); i++)
    kvasir_jinja_list_append (call->heap, values, dict->entries[i].value);
  *out = kvasir_jinja_list (KVASIR_JINJA_VIEW, values);
  return TRUE;
}

static gboolean
method_items (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *items = kvasir_jinja_pairs (call->heap, call->self.dict);
  if (items == NULL)
    return FALSE;
  items->type = "dict_items";
  *out = kvasir_jinja_list (KVASIR_JINJA_VIEW, items);
  return TRUE;
}

const KvasirJinjaBuiltin kvasir_jinja_list_methods[] = {
  { "append", method_append, 1, { "object" } },
  { "clear", method_clear_list, 0, { NULL } },
  { "copy", method_copy_list, 0, { NULL } },
  { "count", method_count, 1, { "value" } },
  { "extend", method_extend, 1, { "iterable" } },
  { "index", method_index, 1, { "value" } },
  { "insert", method_insert, 2, { "index", "object" } },
  { "pop", method_pop, 0, { "index" } },
  { "remove", method_remove, 1, { "value" } },
  { "reverse", method_reverse, 0, { NULL } },
  { NULL },
};

const KvasirJinjaBuiltin kvasir_jinja_tuple_methods[] = {
  { "count", method_count, 1, { "value" } },
  { "index", method_index, 1, { "value" } },
  { NULL },
};

const KvasirJinjaBuiltin kvasir_jinja_dict_methods[] = {
  { "clear", method_clear_dict, 0, { NULL } },
  { "copy", method_copy_dict, 0, { NULL } },
  { "get", method_get, 1, { "key", "default" } },
  { "items", method_items, 0, { NULL } },
  { "keys", method_keys, 0, { NULL } },
  { "pop", method_pop_key, 1, { "key", "default" } },
  { "setdefault", method_setdefault, 1, { "key", "default" } },
  { "update", method_update, 0, { "*" } },
  { "values", method_values, 0, { NULL } },
  { NULL },
};
