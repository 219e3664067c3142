/* Arguments and calls. */
#include "engine/template/callable.h"
#include "engine/template/iter.h"
#include "engine/template/repr.h"

/* Names are looked for one after the other, which must not be free where there are thousands. */
#define NAMES_PER_STEP 4

KvasirJinjaValue
kvasir_jinja_callable_new (KvasirJinjaHeap *heap,
                           const KvasirJinjaBuiltin *builtin,
                           KvasirJinjaValue self)
{
  KvasirJinjaCallable *callable = kvasir_jinja_heap_alloc (heap, sizeof *callable);
  callable->builtin = builtin;
  callable->self = self;
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_CALLABLE, .callable = callable };
}

const KvasirJinjaBuiltin *
kvasir_jinja_find (KvasirJinjaHeap *heap, const KvasirJinjaBuiltin *table, KvasirJinjaText *name)
{
  for (; table->name != NULL; table++)
    if (kvasir_jinja_text_is (heap, name, table->name))
      return table;
  return NULL;
}

static gboolean
append_value (KvasirJinjaHeap *heap, KvasirJinjaArgs *args, guint *capacity, KvasirJinjaValue value)
{
  gpointer values =
      kvasir_jinja_heap_grow (heap, args->values, args->n_values + 1, sizeof value, capacity);
  if (values == NULL)
    return FALSE;
  args->values = values;
  args->values[args->n_values++] = value;
  return TRUE;
}

static gboolean
append_keyword (KvasirJinjaHeap *heap,
                KvasirJinjaArgs *args,
                guint *capacity,
                KvasirJinjaKeyword keyword)
{
  for (guint i = 0; i < args->n_keywords; i++)
    if (kvasir_jinja_text_equal (heap, args->keywords[i].name, keyword.name))
      return kvasir_jinja_heap_fail (heap, "the argument '%.*s' is given twice",
                                     (int) MIN (keyword.name->len, 200),
                                     kvasir_jinja_text_bytes (heap, keyword.name));
  gpointer keywords =
      kvasir_jinja_heap_grow (heap, args->keywords, args->n_keywords + 1, sizeof keyword, capacity);
  if (keywords == NULL)
    return FALSE;
  args->keywords = keywords;
  args->keywords[args->n_keywords++] = keyword;
  return kvasir_jinja_heap_step (heap, 1 + args->n_keywords / NAMES_PER_STEP);
}

static gboolean
eval_values (KvasirJinjaRender *render, const KvasirJinjaArgNodes *nodes, KvasirJinjaArgs *args)
{
  guint capacity = 0;
  KvasirJinjaValue value;
  for (guint i = 0; i < nodes->values.n; i++)
    if (!kvasir_jinja_eval (render, nodes->values.items[i], &value) ||
        !append_value (&render->heap, args, &capacity, value))
      return FALSE;
  if (nodes->star == NULL)
    return TRUE;
  KvasirJinjaCursor cursor;
  if (!kvasir_jinja_eval (render, nodes->star, &value) ||
      !kvasir_jinja_cursor_init (&cursor, &render->heap, value))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &value))
    append_value (&render->heap, args, &capacity, value);
  return render->heap.failure == NULL;
}

static gboolean
spread_keywords (KvasirJinjaRender *render,
                 KvasirJinjaValue value,
                 KvasirJinjaArgs *args,
                 guint *capacity)
{
  if (value.kind != KVASIR_JINJA_DICT)
    return kvasir_jinja_heap_fail (&render->heap, "** needs a dict, not '%s'",
                                   kvasir_jinja_type_name (value));
  for (guint i = 0; i < value.dict->n; i++)
    {
      const KvasirJinjaEntry *entry = &value.dict->entries[i];
      if (entry->key.kind != KVASIR_JINJA_TEXT)
        return kvasir_jinja_heap_fail (&render->heap, "the keys for ** must be texts");
      KvasirJinjaKeyword keyword = { entry->key.text, entry->value };
      if (!append_keyword (&render->heap, args, capacity, keyword))
        return FALSE;
    }
  return TRUE;
}

gboolean
kvasir_jinja_eval_args (KvasirJinjaRender *render,
                        const KvasirJinjaArgNodes *nodes,
                        KvasirJinjaArgs *args)
{
  *args = (KvasirJinjaArgs){ 0 };
  if (nodes == NULL)
    return TRUE;
  if (!eval_values (render, nodes, args))
    return FALSE;
  guint capacity = 0;
  for (guint i = 0; i < nodes->keywords.n; i++)
    {
      KvasirJinjaKeyword keyword = { .name = nodes->keywords.items[i]->name };
      if (!kvasir_jinja_eval (render, nodes->keywords.items[i]->object, &keyword.value) ||
          !append_keyword (&render->heap, args, &capacity, keyword))
        return FALSE;
    }
  KvasirJinjaValue value;
  return nodes->stars == NULL || (kvasir_jinja_eval (render, nodes->stars, &value) &&
                                  spread_keywords (render, value, args, &capacity));
}

static guint
count_params (const KvasirJinjaBuiltin *builtin)
{
  guint n = 0;
  while (n < KVASIR_JINJA_MAX_PARAMS && builtin->params[n] != NULL)
    n++;
  return n;
}

static gboolean
bind_keyword (KvasirJinjaCall *call, guint n_params, const KvasirJinjaKeyword *keyword)
{
  for (guint i = 0; i < n_params; i++)
    if (kvasir_jinja_text_is (call->heap, keyword->name, call->builtin->params[i]))
      {
        if (!kvasir_jinja_is_missing (call->arg[i]))
          return kvasir_jinja_heap_fail (call->heap, "%s: '%s' is given twice", call->builtin->name,
                                         call->builtin->params[i]);
        call->arg[i] = keyword->value;
        return TRUE;
      }
  return kvasir_jinja_heap_fail (call->heap, "%s has no argument '%.*s'", call->builtin->name,
                                 (int) MIN (keyword->name->len, 200),
                                 kvasir_jinja_text_bytes (call->heap, keyword->name));
}

static gboolean
bind (KvasirJinjaCall *call)
{
  const KvasirJinjaArgs *args = call->args;
  guint n_params = count_params (call->builtin);
  if (args->n_values > n_params)
    return kvasir_jinja_heap_fail (call->heap, "%s takes at most %u arguments, found %u",
                                   call->builtin->name, n_params, args->n_values);
  for (guint i = 0; i < args->n_values; i++)
    call->arg[i] = args->values[i];
  for (guint i = 0; i < args->n_keywords; i++)
    if (!bind_keyword (call, n_params, &args->keywords[i]))
      return FALSE;
  for (guint i = 0; i < call->builtin->n_required; i++)
    if (kvasir_jinja_is_missing (call->arg[i]))
      return kvasir_jinja_heap_fail (call->heap, "%s needs the argument '%s'", call->builtin->name,
                                     call->builtin->params[i]);
  return TRUE;
}

gboolean
kvasir_jinja_call_builtin (KvasirJinjaRender *render,
                           const KvasirJinjaBuiltin *builtin,
                           KvasirJinjaValue self,
                           const KvasirJinjaArgs *args,
                           KvasirJinjaValue *out)
{
  KvasirJinjaCall call = { render, &render->heap, builtin, self, { { 0 } }, args };
  gboolean as_given = builtin->params[0] != NULL && builtin->params[0][0] == '*';
  return kvasir_jinja_heap_step (&render->heap, 1) && (as_given || bind (&call)) &&
         builtin->func (&call, out) && render->heap.failure == NULL;
}

static gboolean
is_param (KvasirJinjaHeap *heap, const KvasirJinjaMacro *macro, KvasirJinjaText *name)
{
  kvasir_jinja_heap_step (heap, macro->params.n / NAMES_PER_STEP);

  for (guint i = 0; i < macro->params.n; i++)
    if (kvasir_jinja_text_equal (heap, macro->params.items[i]->name, name))
      return TRUE;
  return FALSE;
}

static const KvasirJinjaKeyword *
find_keyword (KvasirJinjaHeap *heap, const KvasirJinjaArgs *args, KvasirJinjaText *name)
{
  kvasir_jinja_heap_step (heap, args->n_keywords / NAMES_PER_STEP);

  for (guint i = 0; i < args->n_keywords; i++)
    if (kvasir_jinja_text_equal (heap, args->keywords[i].name, name))
      return &args->keywords[i];
  return NULL;
}

/* Parameter @i from the arguments, its default, or undefined. */
static gboolean
bind_param (KvasirJinjaRender *render,
            const KvasirJinjaMacro *macro,
            guint i,
            const KvasirJinjaArgs *args)
{
  const KvasirJinjaNode *param = macro->params.items[i];
  const KvasirJinjaKeyword *keyword = find_keyword (&render->heap, args, param->name);
  KvasirJinjaValue value;
  if (i < args->n_values && keyword != NULL)
    return kvasir_jinja_heap_fail (&render->heap, "the argument '%.*s' is given twice",
                                   (int) param->name->len, param->name->bytes);
  if (i < args->n_values)
    value = args->values[i];
  else if (keyword != NULL)
    value = keyword->value;
  else if (param->object == NULL)
    value = kvasir_jinja_undefined (&render->heap, NULL, param->name, NULL);
  else if (!kvasir_jinja_eval (render, param->object, &value))
    return FALSE;
  return kvasir_jinja_set_var (render, param->name, value);
}

static gboolean
set_special (KvasirJinjaRender *render, const char *name, KvasirJinjaValue value)
{
  return kvasir_jinja_set_var (render, kvasir_jinja_text_static (&render->heap, name), value);
}

/* Arguments beyond the parameters: kept in kwargs and varargs, or refused. */
static gboolean
bind_rest (KvasirJinjaRender *render, const KvasirJinjaMacro *macro, const KvasirJinjaArgs *args)
{
  KvasirJinjaHeap *heap = &render->heap;
  KvasirJinjaDict *kwargs = kvasir_jinja_dict_new (heap);
  KvasirJinjaValue caller = kvasir_jinja_undefined (heap, NULL, NULL, "no caller is defined");
  for (guint i = 0; i < args->n_keywords; i++)
    {
      const KvasirJinjaKeyword *keyword = &args->keywords[i];
      if (is_param (heap, macro, keyword->name))
        continue;
      if (macro->takes_caller && kvasir_jinja_text_is (heap, keyword->name, "caller"))
        caller = keyword->value;
      else if (!macro->takes_kwargs)
        return kvasir_jinja_heap_fail (heap, "the macro takes no argument '%.*s'",
                                       (int) MIN (keyword->name->len, 200),
                                       kvasir_jinja_text_bytes (heap, keyword->name));
      else if (!kvasir_jinja_dict_set (heap, kwargs, kvasir_jinja_text (keyword->name),
                                       keyword->value))
        return FALSE;
    }
  KvasirJinjaList *varargs = kvasir_jinja_list_new (heap);
  for (guint i = macro->params.n; i < args->n_values; i++)
    if (!kvasir_jinja_list_append (heap, varargs, args->values[i]))
      return FALSE;
  if (varargs->n > 0 && !macro->takes_varargs)
    return kvasir_jinja_heap_fail (heap, "the macro takes at most %u arguments, found %u",
                                   macro->params.n, args->n_values);
  return (!macro->takes_caller || set_special (render, "caller", caller)) &&
         (!macro->takes_kwargs || set_special (render, "kwargs", kvasir_jinja_dict (kwargs))) &&
         (!macro->takes_varargs ||
          set_special (render, "varargs", kvasir_jinja_list (KVASIR_JINJA_TUPLE, varargs)));
}

/* A macro runs in a scope of its own inside of the one that it was defined in. */
static gboolean
call_macro (KvasirJinjaRender *render,
            const KvasirJinjaCallable *callable,
            const KvasirJinjaArgs *args,
            KvasirJinjaValue *out)
{
  const KvasirJinjaMacro *macro = callable->macro;
  KvasirJinjaScope *calling = render->scope;
  KvasirJinjaScope *scope = kvasir_jinja_heap_alloc (&render->heap, sizeof *scope);
  scope->parent = callable->scope;
  render->scope = scope;
  gboolean ok = bind_rest (render, macro, args);
  for (guint i = 0; ok && i < macro->params.n; i++)
    ok = bind_param (render, macro, i, args);
  ok = ok && kvasir_jinja_capture (render, macro->body, out) == KVASIR_JINJA_FLOW_NEXT;
  render->scope = calling;
  return ok;
}

gboolean
kvasir_jinja_call (KvasirJinjaRender *render,
                   KvasirJinjaValue function,
                   const KvasirJinjaArgs *args,
                   KvasirJinjaValue *out)
{
  if (function.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (&render->heap, function);
  if (function.kind != KVASIR_JINJA_CALLABLE)
    return kvasir_jinja_heap_fail (&render->heap, "'%s' object cannot be called",
                                   kvasir_jinja_type_name (function));
  const KvasirJinjaCallable *callable = function.callable;
  if (callable->macro != NULL)
    return call_macro (render, callable, args, out);
  return kvasir_jinja_call_builtin (render, callable->builtin, callable->self, args, out);
}
