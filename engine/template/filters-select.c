/* map, select, reject, selectattr, rejectattr: filters that apply a filter or test to each item. */
#include "engine/template/filters.h"
#include "engine/template/iter.h"

#include <string.h>

/* The arguments behind the first @n. */
static KvasirJinjaArgs
rest_of_args (const KvasirJinjaArgs *args, guint n)
{
  KvasirJinjaArgs rest = *args;
  rest.values += n;
  rest.n_values -= n;
  return rest;
}

static gboolean
unknown (KvasirJinjaCall *call, const char *what, KvasirJinjaText *name)
{
  return kvasir_jinja_heap_fail (call->heap, "%s: no %s is named '%.*s'", call->builtin->name, what,
                                 (int) MIN (name->len, 200), name->bytes);
}

/* The arguments of "map(attribute=..., default=...)". */
static gboolean
get_attribute_args (KvasirJinjaCall *call, KvasirJinjaValue *path, KvasirJinjaValue *standard)
{
  const KvasirJinjaArgs *args = call->args;
  memset (path, 0, sizeof *path);
  *standard = kvasir_jinja_none ();
  for (guint i = 0; i < args->n_keywords; i++)
    if (kvasir_jinja_text_is (call->heap, args->keywords[i].name, "attribute"))
      *path = args->keywords[i].value;
    else if (kvasir_jinja_text_is (call->heap, args->keywords[i].name, "default"))
      *standard = args->keywords[i].value;
    else
      return kvasir_jinja_heap_fail (call->heap, "map: an argument that is not known");
  return !kvasir_jinja_is_missing (*path) ||
         kvasir_jinja_heap_fail (call->heap, "map: needs a filter or attribute=");
}

static gboolean
map_attribute (KvasirJinjaCall *call, KvasirJinjaCursor *cursor, KvasirJinjaList *list)
{
  KvasirJinjaValue path;
  KvasirJinjaValue standard;
  KvasirJinjaValue item;
  if (!get_attribute_args (call, &path, &standard))
    return FALSE;
  while (kvasir_jinja_cursor_next (cursor, &item))
    if (!kvasir_jinja_follow_path (call->heap, item, path, standard, &item) ||
        !kvasir_jinja_list_append (call->heap, list, item))
      return FALSE;
  return TRUE;
}

static gboolean
map_filter (KvasirJinjaCall *call, KvasirJinjaCursor *cursor, KvasirJinjaList *list)
{
  KvasirJinjaValue name = call->args->values[0];
  KvasirJinjaArgs rest = rest_of_args (call->args, 1);
  KvasirJinjaValue item;
  if (name.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "the name of a filter", name);
  const KvasirJinjaBuiltin *filter = kvasir_jinja_find_filter (call->heap, name.text);
  if (filter == NULL)
    return unknown (call, "filter", name.text);
  while (kvasir_jinja_cursor_next (cursor, &item))
    if (!kvasir_jinja_call_builtin (call->render, filter, item, &rest, &item) ||
        !kvasir_jinja_list_append (call->heap, list, item))
      return FALSE;
  return TRUE;
}

/* These filters call filters, so they can nest without end. */
static gboolean
run_nested (KvasirJinjaCall *call,
            gboolean (*run) (KvasirJinjaCall *call,
                             KvasirJinjaCursor *cursor,
                             KvasirJinjaList *list),
            KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaList *list = kvasir_jinja_list_new (call->heap);
  *out = kvasir_jinja_list (KVASIR_JINJA_ITERATOR, list);
  /* Jinja looks at nothing else if there is nothing to go through. */
  if (!kvasir_jinja_truth (call->self))
    return TRUE;
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, call->self) ||
      !kvasir_jinja_heap_enter (call->heap))
    return FALSE;
  gboolean ok = run (call, &cursor, list);
  kvasir_jinja_heap_leave (call->heap);
  return ok;
}

static gboolean
filter_map (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return run_nested (call, call->args->n_values > 0 ? map_filter : map_attribute, out);
}

typedef struct
{
  KvasirJinjaValue path;          /* missing: the item itself is tested */
  const KvasirJinjaBuiltin *test; /* (nullable): its truth */
  KvasirJinjaArgs args;           /* of the test */
  gboolean wanted;
} Selection;

/* Reads "[attribute,] [test, [arguments]]". */
static gboolean
read_selection (KvasirJinjaCall *call, gboolean by_attribute, Selection *selection)
{
  const KvasirJinjaArgs *args = call->args;
  guint n = 0;
  memset (selection, 0, sizeof *selection);
  if (by_attribute && args->n_values == 0)
    return kvasir_jinja_heap_fail (call->heap, "%s needs the name of an attribute",
                                   call->builtin->name);
  if (by_attribute)
    selection->path = args->values[n++];
  if (n < args->n_values)
    {
      KvasirJinjaValue name = args->values[n++];
      if (name.kind != KVASIR_JINJA_TEXT)
        return kvasir_jinja_call_fail (call, "the name of a test", name);
      selection->test = kvasir_jinja_find_test (call->heap, name.text);
      if (selection->test == NULL)
        return unknown (call, "test", name.text);
    }
  selection->args = rest_of_args (args, n);
  return TRUE;
}

static gboolean
is_selected (KvasirJinjaCall *call,
             const Selection *selection,
             KvasirJinjaValue item,
             gboolean *selected)
{
  KvasirJinjaValue value;
  if (!kvasir_jinja_follow_path (call->heap, item, selection->path, kvasir_jinja_none (), &value))
    return FALSE;
  if (selection->test != NULL &&
      !kvasir_jinja_call_builtin (call->render, selection->test, value, &selection->args, &value))
    return FALSE;
  *selected = kvasir_jinja_truth (value) == selection->wanted;
  return TRUE;
}

static gboolean
run_selection (KvasirJinjaCall *call, KvasirJinjaCursor *cursor, KvasirJinjaList *list)
{
  Selection selection;
  KvasirJinjaValue item;
  gboolean selected;
  if (!read_selection (call, g_str_has_suffix (call->builtin->name, "attr"), &selection))
    return FALSE;
  selection.wanted = g_str_has_prefix (call->builtin->name, "select");
  while (kvasir_jinja_cursor_next (cursor, &item))
    if (!is_selected (call, &selection, item, &selected) ||
        (selected && !kvasir_jinja_list_append (call->heap, list, item)))
      return FALSE;
  return TRUE;
}

static gboolean
filter_select (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return run_nested (call, run_selection, out);
}

const KvasirJinjaBuiltin kvasir_jinja_select_filters[] = {
  { "map", filter_map, 0, { "*" } },           { "reject", filter_select, 0, { "*" } },
  { "rejectattr", filter_select, 0, { "*" } }, { "select", filter_select, 0, { "*" } },
  { "selectattr", filter_select, 0, { "*" } }, { NULL },
};
