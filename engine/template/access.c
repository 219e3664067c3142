/* object.name, object[key], object[a:b:c] */
#include "engine/template/callable.h"
#include "engine/template/unicode.h"

/* A member as a dict or namespace holds it, or an attribute of the loop. */
static gboolean
get_member (KvasirJinjaHeap *heap,
            KvasirJinjaValue object,
            KvasirJinjaValue key,
            KvasirJinjaValue *out)
{
  if (object.kind == KVASIR_JINJA_DICT || object.kind == KVASIR_JINJA_NAMESPACE)
    return kvasir_jinja_dict_get (heap, object.dict, key, out);
  if (object.kind == KVASIR_JINJA_LOOP && key.kind == KVASIR_JINJA_TEXT)
    return kvasir_jinja_loop_attr (heap, object.loop, key.text, out);
  return FALSE;
}

static gboolean
get_method (KvasirJinjaHeap *heap,
            KvasirJinjaValue object,
            KvasirJinjaText *name,
            KvasirJinjaValue *out)
{
  const KvasirJinjaBuiltin *method = kvasir_jinja_find_method (heap, object, name);
  if (method == NULL)
    return FALSE;
  *out = kvasir_jinja_callable_new (heap, method, object);
  return TRUE;
}

static gboolean
give_undefined (KvasirJinjaHeap *heap,
                KvasirJinjaValue object,
                KvasirJinjaValue key,
                KvasirJinjaValue *out)
{
  if (key.kind == KVASIR_JINJA_TEXT)
    *out = kvasir_jinja_undefined (heap, kvasir_jinja_type_name (object), key.text, NULL);
  else
    *out = kvasir_jinja_undefined (heap, NULL, NULL, "a member that the object does not have");
  return heap->failure == NULL;
}

gboolean
kvasir_jinja_get_attr (KvasirJinjaHeap *heap,
                       KvasirJinjaValue object,
                       KvasirJinjaText *name,
                       KvasirJinjaValue *out)
{
  KvasirJinjaValue key = kvasir_jinja_text (name);
  if (object.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (heap, object);
  if (get_method (heap, object, name, out) || get_member (heap, object, key, out))
    return TRUE;
  return give_undefined (heap, object, key, out);
}

/* Item @i of a sequence, counted from the end if negative; FALSE if it has none. */
static gboolean
get_index (KvasirJinjaHeap *heap, KvasirJinjaValue object, gint64 i, KvasirJinjaValue *out)
{
  gsize n;
  if (!kvasir_jinja_length (object, &n))
    return FALSE;
  i += i < 0 ? (gint64) n : 0;
  if (i < 0 || i >= (gint64) n)
    return FALSE;
  switch (object.kind)
    {
    case KVASIR_JINJA_TEXT:
      *out = kvasir_jinja_text (kvasir_jinja_text_sub_chars (heap, object.text, (gsize) i, 1));
      return TRUE;
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
      *out = object.list->items[i];
      return TRUE;
    case KVASIR_JINJA_RANGE:
      *out = kvasir_jinja_int (object.range->start + i * object.range->step);
      return TRUE;
    default:
      return FALSE;
    }
}

/* Whether the value has a hash, without the failure that asking for it would leave. */
static gboolean
can_be_key (KvasirJinjaHeap *heap, KvasirJinjaValue key)
{
  if (key.kind != KVASIR_JINJA_TUPLE)
    return key.kind != KVASIR_JINJA_LIST && key.kind != KVASIR_JINJA_DICT &&
           key.kind != KVASIR_JINJA_VIEW;
  if (!kvasir_jinja_heap_enter (heap))
    return FALSE;
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < key.list->n; i++)
    ok = kvasir_jinja_heap_step (heap, 1) && can_be_key (heap, key.list->items[i]);
  kvasir_jinja_heap_leave (heap);
  return ok;
}

gboolean
kvasir_jinja_get_item (KvasirJinjaHeap *heap,
                       KvasirJinjaValue object,
                       KvasirJinjaValue key,
                       KvasirJinjaValue *out)
{
  if (object.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (heap, object);
  if (object.kind != KVASIR_JINJA_DICT && kvasir_jinja_is_integral (key) &&
      get_index (heap, object, kvasir_jinja_as_int (key), out))
    return heap->failure == NULL;
  if (can_be_key (heap, key) && get_member (heap, object, key, out))
    return TRUE;
  if (key.kind == KVASIR_JINJA_TEXT && get_method (heap, object, key.text, out))
    return TRUE;
  return give_undefined (heap, object, key, out);
}

/* Bounds as Python's slice.indices() gives them: @n items from @start on. */
typedef struct
{
  gint64 start;
  gint64 stop;
  gint64 step;
  gint64 n;
} Slice;

static gint64
clip_bound (KvasirJinjaValue bound, gint64 standard, gint64 length, gint64 step)
{
  if (bound.kind == KVASIR_JINJA_NONE)
    return standard;
  gint64 at = kvasir_jinja_as_int (bound);
  if (at < 0)
    at = at < -length ? -1 : at + length;
  if (step > 0)
    return CLAMP (at, 0, length);
  return CLAMP (at, -1, length - 1);
}

static Slice
resolve_slice (const KvasirJinjaValue bounds[3], gint64 step, gint64 length)
{
  gint64 start = clip_bound (bounds[0], step > 0 ? 0 : length - 1, length, step);
  gint64 stop = clip_bound (bounds[1], step > 0 ? length : -1, length, step);
  gint64 n = 0;
  if (step > 0 && stop > start)
    n = (stop - start - 1) / step + 1;
  if (step < 0 && stop < start)
    n = (start - stop - 1) / (step == G_MININT64 ? G_MAXINT64 : -step) + 1;
  return (Slice){ start, stop, step, n };
}

static gboolean
slice_text (KvasirJinjaHeap *heap, KvasirJinjaText *text, Slice slice, KvasirJinjaValue *out)
{
  if (slice.step == 1)
    {
      *out = kvasir_jinja_text (
          kvasir_jinja_text_sub_chars (heap, text, (gsize) slice.start, (gsize) slice.n));
      return TRUE;
    }
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  gsize at = kvasir_jinja_char_offset (bytes, text->len, (gsize) MAX (slice.start, 0));
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, heap);
  for (gint64 i = 0; i < slice.n && kvasir_jinja_heap_step (heap, 1); i++)
    {
      kvasir_jinja_builder_append_sub (&builder, text, at, g_utf8_skip[(guchar) bytes[at]]);
      if (i + 1 < slice.n)
        at = (gsize) (g_utf8_offset_to_pointer (bytes + at, (glong) slice.step) - bytes);
    }
  KvasirJinjaText *part = kvasir_jinja_builder_finish (&builder);
  *out = kvasir_jinja_text (part);
  return part != NULL;
}

static gboolean
slice_list (KvasirJinjaHeap *heap, KvasirJinjaValue value, Slice slice, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  for (gint64 i = 0; i < slice.n; i++)
    if (!kvasir_jinja_heap_step (heap, 1) ||
        !kvasir_jinja_list_append (heap, list, value.list->items[slice.start + i * slice.step]))
      return FALSE;
  *out = kvasir_jinja_list (value.kind, list);
  return TRUE;
}

static gboolean
slice_range (KvasirJinjaHeap *heap,
             const KvasirJinjaRange *range,
             Slice slice,
             KvasirJinjaValue *out)
{
  KvasirJinjaRange *part = kvasir_jinja_heap_alloc (heap, sizeof *part);
  part->start = range->start + slice.start * range->step;
  part->stop = range->start + slice.stop * range->step;
  part->step = range->step * slice.step;

  part->n = slice.n;
  *out = (KvasirJinjaValue){ .kind = KVASIR_JINJA_RANGE, .range = part };
  return TRUE;
}

static gboolean
is_bound (KvasirJinjaValue bound)
{
  return bound.kind == KVASIR_JINJA_NONE || kvasir_jinja_is_integral (bound);
}

gboolean
kvasir_jinja_get_slice (KvasirJinjaHeap *heap,
                        KvasirJinjaValue object,
                        const KvasirJinjaValue bounds[3],
                        KvasirJinjaValue *out)
{
  if (object.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (heap, object);
  gsize length;
  gboolean sliceable = object.kind == KVASIR_JINJA_TEXT || object.kind == KVASIR_JINJA_LIST ||
                       object.kind == KVASIR_JINJA_TUPLE || object.kind == KVASIR_JINJA_RANGE;
  if (!sliceable)
    return kvasir_jinja_heap_fail (heap, "'%s' object cannot be sliced",
                                   kvasir_jinja_type_name (object));
  for (guint i = 0; i < 3; i++)
    if (!is_bound (bounds[i]))
      return kvasir_jinja_heap_fail (heap, "a slice needs integers, found '%s'",
                                     kvasir_jinja_type_name (bounds[i]));
  kvasir_jinja_length (object, &length);
  gint64 step = bounds[2].kind == KVASIR_JINJA_NONE ? 1 : kvasir_jinja_as_int (bounds[2]);
  if (step == 0)
    return kvasir_jinja_heap_fail (heap, "slice step cannot be zero");
  Slice slice = resolve_slice (bounds, step, (gint64) length);
  if (object.kind == KVASIR_JINJA_TEXT)
    return slice_text (heap, object.text, slice, out);
  if (object.kind == KVASIR_JINJA_RANGE)
    return slice_range (heap, object.range, slice, out);
  return slice_list (heap, object, slice, out);
}
