/* Filters on lists, dicts and what else can be gone through. */
#include "engine/template/filters.h"
#include "engine/template/iter.h"
#include "engine/template/number.h"
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

static gboolean
follow_part (KvasirJinjaHeap *heap,
             KvasirJinjaText *part,
             KvasirJinjaValue standard,
             KvasirJinjaValue *value)
{
  gint64 index;
  KvasirJinjaValue key = kvasir_jinja_text (part);
  gboolean digits = part->len > 0 && g_ascii_isdigit (part->bytes[0]);
  if (digits && kvasir_jinja_parse_int (part->bytes, part->len, 10, &index))
    key = kvasir_jinja_int (index);
  if (!kvasir_jinja_get_item (heap, *value, key, value))
    return FALSE;
  if (value->kind == KVASIR_JINJA_UNDEFINED && !kvasir_jinja_is_missing (standard) &&
      standard.kind != KVASIR_JINJA_NONE)
    *value = standard;
  return TRUE;
}

gboolean
kvasir_jinja_follow_path (KvasirJinjaHeap *heap,
                          KvasirJinjaValue value,
                          KvasirJinjaValue path,
                          KvasirJinjaValue standard,
                          KvasirJinjaValue *out)
{
  *out = value;
  if (kvasir_jinja_is_missing (path) || path.kind == KVASIR_JINJA_NONE)
    return TRUE;
  if (path.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_get_item (heap, value, path, out);
  KvasirJinjaList *parts =
      kvasir_jinja_text_split (heap, path.text, kvasir_jinja_text_static (heap, "."), -1, FALSE);
  for (guint i = 0; parts != NULL && i < parts->n; i++)
    if (!follow_part (heap, parts->items[i].text, standard, out))
      return FALSE;
  return parts != NULL;
}

static gboolean
follow (KvasirJinjaCall *call, KvasirJinjaValue value, guint arg, KvasirJinjaValue *out)
{
  return kvasir_jinja_follow_path (call->heap, value, call->arg[arg], kvasir_jinja_none (), out);
}

/* A key to sort or compare by: letter case does not count unless asked for. */
static gboolean
fold_case (KvasirJinjaCall *call, gboolean case_sensitive, KvasirJinjaValue *key)
{
  if (case_sensitive || key->kind != KVASIR_JINJA_TEXT)
    return TRUE;
  return kvasir_jinja_give_text (kvasir_jinja_text_lower (call->heap, key->text), key);
}

static gboolean
give_list (KvasirJinjaKind kind, KvasirJinjaList *list, KvasirJinjaValue *out)
{
  if (list == NULL)
    return FALSE;
  *out = kvasir_jinja_list (kind, list);
  return TRUE;
}

static gboolean
filter_list (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give_list (KVASIR_JINJA_LIST, kvasir_jinja_collect (call->heap, call->self), out);
}

static gboolean
filter_first (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, call->self))
    return FALSE;
  if (!kvasir_jinja_cursor_next (&cursor, out))
    *out = kvasir_jinja_undefined (call->heap, NULL, NULL, "no first item, sequence was empty");
  return call->heap->failure == NULL;
}

/* As Python's reversed(), which a generator does not allow. */
static gboolean
filter_last (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind == KVASIR_JINJA_ITERATOR)
    return kvasir_jinja_call_fail (call, "a list", call->self);
  KvasirJinjaList *list = kvasir_jinja_collect (call->heap, call->self);
  if (list == NULL)
    return FALSE;
  if (list->n > 0)
    *out = list->items[list->n - 1];
  else
    *out = kvasir_jinja_undefined (call->heap, NULL, NULL, "no last item, sequence was empty");
  return TRUE;
}

static gboolean
reverse_text (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue bounds[3] = { kvasir_jinja_none (), kvasir_jinja_none (),
                                 kvasir_jinja_int (-1) };
  return kvasir_jinja_get_slice (call->heap, call->self, bounds, out);
}

static gboolean
filter_reverse (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind == KVASIR_JINJA_TEXT)
    return reverse_text (call, out);
  KvasirJinjaList *list = kvasir_jinja_collect (call->heap, call->self);
  if (list == NULL)
    return FALSE;
  for (guint i = 0; i < list->n / 2; i++)
    {
      KvasirJinjaValue swap = list->items[i];
      list->items[i] = list->items[list->n - 1 - i];
      list->items[list->n - 1 - i] = swap;
    }
  KvasirJinjaKind kind =
      call->self.kind == KVASIR_JINJA_ITERATOR ? KVASIR_JINJA_LIST : KVASIR_JINJA_ITERATOR;
  return give_list (kind, list, out);
}

static gboolean
filter_join (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *between = kvasir_jinja_is_missing (call->arg[0])
                                 ? kvasir_jinja_text_static (call->heap, "")
                                 : kvasir_jinja_call_text (call, call->arg[0]);
  KvasirJinjaList *list = between != NULL ? kvasir_jinja_collect (call->heap, call->self) : NULL;
  if (list == NULL)
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    if (!follow (call, list->items[i], 1, &list->items[i]))
      return FALSE;
  return kvasir_jinja_give_text (
      kvasir_jinja_text_join (call->heap, between, kvasir_jinja_list (KVASIR_JINJA_LIST, list)),
      out);
}

static gboolean
filter_items (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind == KVASIR_JINJA_UNDEFINED)
    return give_list (KVASIR_JINJA_ITERATOR, kvasir_jinja_list_new (call->heap), out);
  if (call->self.kind != KVASIR_JINJA_DICT)
    return kvasir_jinja_call_fail (call, "a dict", call->self);
  return give_list (KVASIR_JINJA_ITERATOR, kvasir_jinja_pairs (call->heap, call->self.dict), out);
}

typedef struct
{
  KvasirJinjaValue key;
  KvasirJinjaValue item;
} Keyed;

typedef struct
{
  KvasirJinjaHeap *heap;
  gboolean reverse;
  gboolean (*compare) (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, int *order);
} Sorting;

static int
compare_keyed (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Sorting *sorting = user_data;
  int order = 0;
  if (kvasir_jinja_heap_step (sorting->heap, 1))
    sorting->compare (sorting->heap, ((const Keyed *) a)->key, ((const Keyed *) b)->key, &order);
  return sorting->reverse ? -order : order;
}

/* Sorts @list by @keys, stably, into @list. */
static gboolean
sort_by_keys (Sorting *sorting, KvasirJinjaList *list, const KvasirJinjaValue *keys)
{
  gsize size = list->n * sizeof (Keyed);
  if (!kvasir_jinja_heap_reserve (sorting->heap, 2 * size))
    return FALSE;
  Keyed *keyed = kvasir_jinja_heap_alloc (sorting->heap, size);
  for (guint i = 0; i < list->n; i++)
    keyed[i] = (Keyed){ keys[i], list->items[i] };
  g_qsort_with_data (keyed, (int) list->n, sizeof *keyed, compare_keyed, sorting);
  for (guint i = 0; i < list->n; i++)
    list->items[i] = keyed[i].item;
  return sorting->heap->failure == NULL;
}

/* A sort key: as several paths may be given, a list. */
static gboolean
make_sort_key (KvasirJinjaCall *call, KvasirJinjaValue item, KvasirJinjaValue *key)
{
  KvasirJinjaList *parts = kvasir_jinja_list_new (call->heap);
  KvasirJinjaList *paths = kvasir_jinja_list_new (call->heap);
  if (call->arg[2].kind == KVASIR_JINJA_TEXT)
    paths = kvasir_jinja_text_split (call->heap, call->arg[2].text,
                                     kvasir_jinja_text_static (call->heap, ","), -1, FALSE);
  else
    kvasir_jinja_list_append (call->heap, paths, call->arg[2]);
  for (guint i = 0; paths != NULL && i < paths->n; i++)
    {
      KvasirJinjaValue part;
      if (!kvasir_jinja_follow_path (call->heap, item, paths->items[i], kvasir_jinja_none (),
                                     &part) ||
          !fold_case (call, kvasir_jinja_call_truth (call, 1), &part) ||
          !kvasir_jinja_list_append (call->heap, parts, part))
        return FALSE;
    }
  return give_list (KVASIR_JINJA_LIST, paths != NULL ? parts : NULL, key);
}

static gboolean
filter_sort (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  Sorting sorting = { call->heap, kvasir_jinja_call_truth (call, 0), kvasir_jinja_compare_keys };
  KvasirJinjaList *list = kvasir_jinja_collect (call->heap, call->self);
  KvasirJinjaList *keys = kvasir_jinja_list_new (call->heap);
  if (list == NULL)
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      KvasirJinjaValue key;
      if (!make_sort_key (call, list->items[i], &key) ||
          !kvasir_jinja_list_append (call->heap, keys, key))
        return FALSE;
    }
  return sort_by_keys (&sorting, list, keys->items) && give_list (KVASIR_JINJA_LIST, list, out);
}

static gboolean
filter_dictsort (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  Sorting sorting = { call->heap, kvasir_jinja_call_truth (call, 2), kvasir_jinja_compare };
  KvasirJinjaText *by;
  if (call->self.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (call->heap, call->self);
  if (call->self.kind != KVASIR_JINJA_DICT)
    return kvasir_jinja_call_fail (call, "a dict", call->self);
  if (!kvasir_jinja_call_str (call, 1, &by))
    return FALSE;
  gboolean by_value = by != NULL && kvasir_jinja_text_is (call->heap, by, "value");
  if (by != NULL && !by_value && !kvasir_jinja_text_is (call->heap, by, "key"))
    return kvasir_jinja_heap_fail (call->heap, "dictsort: sorts by 'key' or 'value'");
  KvasirJinjaList *items = kvasir_jinja_pairs (call->heap, call->self.dict);
  KvasirJinjaList *keys = kvasir_jinja_list_new (call->heap);
  for (guint i = 0; items != NULL && i < items->n; i++)
    {
      KvasirJinjaValue key = items->items[i].list->items[by_value];
      if (!fold_case (call, kvasir_jinja_call_truth (call, 0), &key) ||
          !kvasir_jinja_list_append (call->heap, keys, key))
        return FALSE;
    }
  return items != NULL && sort_by_keys (&sorting, items, keys->items) &&
         give_list (KVASIR_JINJA_LIST, items, out);
}

static gboolean
filter_unique (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  KvasirJinjaValue key;
  KvasirJinjaDict *seen = kvasir_jinja_dict_new (call->heap);
  KvasirJinjaList *list = kvasir_jinja_list_new (call->heap);
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, call->self))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    {
      guint n = seen->n;
      if (!follow (call, item, 1, &key) ||
          !fold_case (call, kvasir_jinja_call_truth (call, 0), &key) ||
          !kvasir_jinja_dict_set (call->heap, seen, key, item))
        return FALSE;
      if (seen->n > n)
        kvasir_jinja_list_append (call->heap, list, item);
    }
  return give_list (KVASIR_JINJA_ITERATOR, list, out);
}

/* The smallest (@sign 1) or largest (@sign -1) item; the first of equals. */
static gboolean
find_extreme (KvasirJinjaCall *call, int sign, KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  KvasirJinjaValue key;
  KvasirJinjaValue best = kvasir_jinja_none ();
  gboolean any = FALSE;
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, call->self))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    {
      int order = -sign;
      if (!follow (call, item, 1, &key) ||
          !fold_case (call, kvasir_jinja_call_truth (call, 0), &key) ||
          (any && !kvasir_jinja_compare (call->heap, key, best, &order)))
        return FALSE;
      if (!any || order * sign < 0)
        {
          best = key;
          *out = item;
        }
      any = TRUE;
    }
  if (!any)
    *out = kvasir_jinja_undefined (call->heap, NULL, NULL, "no item, sequence was empty");
  return TRUE;
}

static gboolean
filter_min (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return find_extreme (call, 1, out);
}

static gboolean
filter_max (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return find_extreme (call, -1, out);
}

static gboolean
filter_sum (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  *out = kvasir_jinja_is_missing (call->arg[1]) ? kvasir_jinja_int (0) : call->arg[1];
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, call->self))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    if (!follow (call, item, 0, &item) ||
        !kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_ADD, *out, item, out))
      return FALSE;
  return TRUE;
}

static gboolean
pad_batch (KvasirJinjaCall *call, KvasirJinjaList *batch, gint64 size)
{
  if (batch == NULL || kvasir_jinja_is_missing (call->arg[1]) ||
      call->arg[1].kind == KVASIR_JINJA_NONE)
    return TRUE;
  while (batch->n < size)
    if (!kvasir_jinja_heap_step (call->heap, 1) ||
        !kvasir_jinja_list_append (call->heap, batch, call->arg[1]))
      return FALSE;
  return TRUE;
}

static gboolean
filter_batch (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  KvasirJinjaList *batches = kvasir_jinja_list_new (call->heap);
  KvasirJinjaList *batch = NULL;
  gint64 size;
  if (!kvasir_jinja_call_int (call, 0, 0, &size) ||
      !kvasir_jinja_cursor_init (&cursor, call->heap, call->self))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    {
      if (batch == NULL || batch->n == size)
        {
          batch = kvasir_jinja_list_new (call->heap);
          kvasir_jinja_list_append (call->heap, batches,
                                    kvasir_jinja_list (KVASIR_JINJA_LIST, batch));
        }
      kvasir_jinja_list_append (call->heap, batch, item);
    }
  return pad_batch (call, batch, size) && give_list (KVASIR_JINJA_ITERATOR, batches, out);
}

const KvasirJinjaBuiltin kvasir_jinja_list_filters[] = {
  { "batch", filter_batch, 1, { "linecount", "fill_with" } },
  { "dictsort", filter_dictsort, 0, { "case_sensitive", "by", "reverse" } },
  { "first", filter_first, 0, { NULL } },
  { "items", filter_items, 0, { NULL } },
  { "join", filter_join, 0, { "d", "attribute" } },
  { "last", filter_last, 0, { NULL } },
  { "list", filter_list, 0, { NULL } },
  { "max", filter_max, 0, { "case_sensitive", "attribute" } },
  { "min", filter_min, 0, { "case_sensitive", "attribute" } },
  { "reverse", filter_reverse, 0, { NULL } },
  { "sort", filter_sort, 0, { "reverse", "case_sensitive", "attribute" } },
  { "sum", filter_sum, 0, { "attribute", "start" } },
  { "unique", filter_unique, 0, { "case_sensitive", "attribute" } },
  { NULL },
};
