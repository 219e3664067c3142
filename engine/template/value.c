#include "engine/template/value.h"

#include "engine/template/callable.h"
#include "engine/template/dict.h"

#include <math.h>
#include <string.h>

KvasirJinjaValue
kvasir_jinja_undefined (KvasirJinjaHeap *heap,
                        const char *of,
                        KvasirJinjaText *name,
                        const char *hint)
{
  KvasirJinjaUndefined *undefined = kvasir_jinja_heap_alloc (heap, sizeof *undefined);
  *undefined = (KvasirJinjaUndefined){ of, name, hint };
  return (KvasirJinjaValue){ .kind = KVASIR_JINJA_UNDEFINED, .undefined = undefined };
}

gboolean
kvasir_jinja_fail_undefined (KvasirJinjaHeap *heap, KvasirJinjaValue value)
{
  const KvasirJinjaUndefined *why = value.undefined;
  if (why == NULL || (why->hint == NULL && why->name == NULL))
    return kvasir_jinja_heap_fail (heap, "an undefined value is used");
  if (why->hint != NULL)
    return kvasir_jinja_heap_fail (heap, "%s", why->hint);
  int len = (int) MIN (why->name->len, 200);
  const char *name = kvasir_jinja_text_bytes (heap, why->name);
  if (why->of == NULL)
    return kvasir_jinja_heap_fail (heap, "'%.*s' is undefined", len, name);
  return kvasir_jinja_heap_fail (heap, "'%s object' has no attribute '%.*s'", why->of, len, name);
}

const char *
kvasir_jinja_type_name (KvasirJinjaValue value)
{
  static const char *const names[] = {
    [KVASIR_JINJA_UNDEFINED] = "Undefined", [KVASIR_JINJA_NONE] = "NoneType",
    [KVASIR_JINJA_BOOL] = "bool",           [KVASIR_JINJA_INT] = "int",
    [KVASIR_JINJA_FLOAT] = "float",         [KVASIR_JINJA_TEXT] = "str",
    [KVASIR_JINJA_LIST] = "list",           [KVASIR_JINJA_TUPLE] = "tuple",
    [KVASIR_JINJA_DICT] = "dict",           [KVASIR_JINJA_NAMESPACE] = "Namespace",
    [KVASIR_JINJA_RANGE] = "range",         [KVASIR_JINJA_ITERATOR] = "generator",
    [KVASIR_JINJA_LOOP] = "LoopContext",
  };
  if (value.kind == KVASIR_JINJA_VIEW)
    return value.list->type;
  if (value.kind == KVASIR_JINJA_CALLABLE)
    return value.callable->macro != NULL ? "Macro" : "function";
  return names[value.kind];
}

gboolean
kvasir_jinja_truth (KvasirJinjaValue value)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_UNDEFINED:
    case KVASIR_JINJA_NONE:
      return FALSE;
    case KVASIR_JINJA_BOOL:
      return value.boolean;
    case KVASIR_JINJA_INT:
      return value.integer != 0;
    case KVASIR_JINJA_FLOAT:
      return value.number != 0;
    default:
      {
        gsize n;
        return !kvasir_jinja_length (value, &n) || n > 0;
      }
    }
}

gboolean
kvasir_jinja_length (KvasirJinjaValue value, gsize *n)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_UNDEFINED:
      *n = 0;
      return TRUE;
    case KVASIR_JINJA_TEXT:
      *n = value.text->n_chars;
      return TRUE;
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
    case KVASIR_JINJA_VIEW:
      *n = value.list->n;
      return TRUE;
    case KVASIR_JINJA_DICT:
      *n = value.dict->n;
      return TRUE;
    case KVASIR_JINJA_RANGE:
      *n = (gsize) value.range->n;
      return TRUE;
    default:
      return FALSE;
    }
}

/* Numbers compare by value whatever their type. An x86 long double holds every int64 exactly. */
static int
compare_numbers (KvasirJinjaValue a, KvasirJinjaValue b)
{
  if (kvasir_jinja_is_integral (a) && kvasir_jinja_is_integral (b))
    {
      gint64 x = kvasir_jinja_as_int (a);
      gint64 y = kvasir_jinja_as_int (b);
      return x < y ? -1 : x > y;
    }
  long double x = a.kind == KVASIR_JINJA_FLOAT ? a.number : (long double) kvasir_jinja_as_int (a);
  long double y = b.kind == KVASIR_JINJA_FLOAT ? b.number : (long double) kvasir_jinja_as_int (b);
  return x < y ? -1 : x > y;
}

static gboolean
is_nan (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_FLOAT && isnan (value.number);
}

static gboolean
equal_lists (KvasirJinjaHeap *heap, const KvasirJinjaList *a, const KvasirJinjaList *b)
{
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!kvasir_jinja_equal (heap, a->items[i], b->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean
equal_dicts (KvasirJinjaHeap *heap, const KvasirJinjaDict *a, const KvasirJinjaDict *b)
{
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    {
      KvasirJinjaValue other;
      if (!kvasir_jinja_dict_get (heap, b, a->entries[i].key, &other) ||
          !kvasir_jinja_equal (heap, a->entries[i].value, other))
        return FALSE;
    }
  return TRUE;
}

static gboolean
equal_ranges (const KvasirJinjaRange *a, const KvasirJinjaRange *b)
{
  if (a->n != b->n || a->n == 0)
    return a->n == b->n;
  return a->start == b->start && (a->n == 1 || a->step == b->step);
}

static gboolean
equal_same_kind (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b)
{
  switch (a.kind)
    {
    case KVASIR_JINJA_UNDEFINED:
    case KVASIR_JINJA_NONE:
      return TRUE;
    case KVASIR_JINJA_TEXT:
      return kvasir_jinja_text_equal (heap, a.text, b.text);
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
      return equal_lists (heap, a.list, b.list);
    case KVASIR_JINJA_DICT:
      return equal_dicts (heap, a.dict, b.dict);
    case KVASIR_JINJA_RANGE:
      return equal_ranges (a.range, b.range);
    default:
      return a.list == b.list; /* identity, whichever pointer it is */
    }
}

gboolean
kvasir_jinja_equal (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b)
{
  if (kvasir_jinja_is_number (a) && kvasir_jinja_is_number (b))
    return !is_nan (a) && !is_nan (b) && compare_numbers (a, b) == 0;
  if (a.kind != b.kind || !kvasir_jinja_heap_step (heap, 1) || !kvasir_jinja_heap_enter (heap))
    return FALSE;
  gboolean equal = equal_same_kind (heap, a, b);
  kvasir_jinja_heap_leave (heap);
  return equal;
}

static gboolean
compare_lists (KvasirJinjaHeap *heap,
               const KvasirJinjaList *a,
               const KvasirJinjaList *b,
               int *order)
{
  for (guint i = 0; i < MIN (a->n, b->n); i++)
    if (!kvasir_jinja_equal (heap, a->items[i], b->items[i]))
      return kvasir_jinja_compare (heap, a->items[i], b->items[i], order);
  *order = a->n < b->n ? -1 : a->n > b->n;
  return heap->failure == NULL;
}

gboolean
kvasir_jinja_compare (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, int *order)
{
  gboolean ok = TRUE;
  if (kvasir_jinja_is_number (a) && kvasir_jinja_is_number (b))
    *order = compare_numbers (a, b);
  else if (a.kind == KVASIR_JINJA_TEXT && b.kind == KVASIR_JINJA_TEXT)
    *order = kvasir_jinja_text_compare (heap, a.text, b.text);
  else if (a.kind == b.kind && (a.kind == KVASIR_JINJA_LIST || a.kind == KVASIR_JINJA_TUPLE))
    {
      if (!kvasir_jinja_heap_enter (heap))
        return FALSE;
      ok = compare_lists (heap, a.list, b.list, order);
      kvasir_jinja_heap_leave (heap);
    }
  else if (a.kind == KVASIR_JINJA_UNDEFINED || b.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (heap, a.kind == KVASIR_JINJA_UNDEFINED ? a : b);
  else
    return kvasir_jinja_heap_fail (heap, "'%s' and '%s' have no order", kvasir_jinja_type_name (a),
                                   kvasir_jinja_type_name (b));
  return ok;
}

gboolean
kvasir_jinja_compare_keys (KvasirJinjaHeap *heap,
                           KvasirJinjaValue a,
                           KvasirJinjaValue b,
                           int *order)
{
  *order = 0;
  if (kvasir_jinja_equal (heap, a, b))
    return TRUE;
  return heap->failure == NULL && kvasir_jinja_compare (heap, a, b, order);
}

static guint
hash_number (KvasirJinjaValue value)
{
  gint64 bits = 0;
  if (value.kind != KVASIR_JINJA_FLOAT)
    bits = kvasir_jinja_as_int (value);
  else if (value.number >= -9.2e18 && value.number <= 9.2e18 &&
           value.number == floor (value.number))
    bits = (gint64) value.number;
  else
    memcpy (&bits, &value.number, sizeof bits);
  return (guint) ((guint64) bits * 0x9E3779B97F4A7C15u >> 32);
}

static gboolean
hash_tuple (KvasirJinjaHeap *heap, const KvasirJinjaList *list, guint *hash)
{
  *hash = 0x345678;
  if (!kvasir_jinja_heap_enter (heap))
    return FALSE;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < list->n; i++)
    {
      guint item = 0;
      ok = kvasir_jinja_hash (heap, list->items[i], &item);
      *hash = (*hash ^ item) * 1000003u;
    }
  kvasir_jinja_heap_leave (heap);
  return ok;
}

gboolean
kvasir_jinja_hash (KvasirJinjaHeap *heap, KvasirJinjaValue value, guint *hash)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_TEXT:
      *hash = kvasir_jinja_text_hash (heap, value.text);
      return TRUE;
    case KVASIR_JINJA_BOOL:
    case KVASIR_JINJA_INT:
    case KVASIR_JINJA_FLOAT:
      *hash = hash_number (value);
      return TRUE;
    case KVASIR_JINJA_TUPLE:
      return hash_tuple (heap, value.list, hash);
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_DICT:
    case KVASIR_JINJA_VIEW:
      return kvasir_jinja_heap_fail (heap, "unhashable type: '%s'", kvasir_jinja_type_name (value));
    default:
      *hash = (guint) value.kind;
      return TRUE;
    }
}

KvasirJinjaList *
kvasir_jinja_list_new (KvasirJinjaHeap *heap)
{
  return kvasir_jinja_heap_alloc (heap, sizeof (KvasirJinjaList));
}

gboolean
kvasir_jinja_list_append (KvasirJinjaHeap *heap, KvasirJinjaList *list, KvasirJinjaValue value)
{
  return kvasir_jinja_list_insert (heap, list, list->n, value);
}

gboolean
kvasir_jinja_list_insert (KvasirJinjaHeap *heap,
                          KvasirJinjaList *list,
                          guint at,
                          KvasirJinjaValue value)
{
  gpointer items =
      kvasir_jinja_heap_grow (heap, list->items, list->n + 1, sizeof value, &list->capacity);
  if (items == NULL)
    return FALSE;
  list->items = items;
  memmove (list->items + at + 1, list->items + at, (list->n - at) * sizeof value);
  list->items[at] = value;
  list->n++;
  return TRUE;
}

void
kvasir_jinja_list_remove (KvasirJinjaList *list, guint at)
{
  list->n--;
  memmove (list->items + at, list->items + at + 1, (list->n - at) * sizeof *list->items);
}
