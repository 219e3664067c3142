/* The global functions. */
#include "engine/template/callable.h"
#include "engine/template/clock.h"
#include "engine/template/iter.h"
#include "engine/template/unicode.h"

/* As Jinja's sandbox: a longer range is refused. */
#define MAX_RANGE 100000
/* What of a text given to raise_exception() goes into the message. */
#define MAX_RAISED_BYTES 4000

static gboolean
function_raise (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->arg[0]);
  if (text == NULL)
    return FALSE;
  gsize len = text->len;
  while (len > MAX_RAISED_BYTES)
    len = kvasir_jinja_char_offset (text->bytes, text->len, MAX_RAISED_BYTES / 4);
  return kvasir_jinja_heap_fail (call->heap, "%.*s", (int) len, text->bytes);
}

static gboolean
function_strftime (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *format;
  if (!kvasir_jinja_call_str (call, 0, &format))
    return FALSE;
  if (format == NULL)
    return kvasir_jinja_call_fail (call, "a str", call->arg[0]);
  return kvasir_jinja_give_text (kvasir_jinja_format_time (call->heap, format, call->render->now),
                                 out);
}

static gboolean
function_range (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gint64 start;
  gint64 stop;
  gint64 step;
  KvasirJinjaRange *range = kvasir_jinja_heap_alloc (call->heap, sizeof *range);
  for (guint i = 0; i < 3; i++)
    if (!kvasir_jinja_is_missing (call->arg[i]) && !kvasir_jinja_is_integral (call->arg[i]))
      return kvasir_jinja_call_fail (call, "an integer", call->arg[i]);
  if (!kvasir_jinja_call_int (call, 0, 0, &start) || !kvasir_jinja_call_int (call, 1, 0, &stop) ||
      !kvasir_jinja_call_int (call, 2, 1, &step))
    return FALSE;
  if (kvasir_jinja_is_missing (call->arg[1]))
    {
      stop = start;
      start = 0;
    }
  if (step == 0)
    return kvasir_jinja_heap_fail (call->heap, "range: the step must not be zero");
  gboolean empty = step > 0 ? start >= stop : start <= stop;
  guint64 distance = step > 0 ? (guint64) stop - (guint64) start : (guint64) start - (guint64) stop;
  guint64 stride = step > 0 ? (guint64) step : 0 - (guint64) step;
  guint64 n = empty ? 0 : (distance - 1) / stride + 1;
  if (n > MAX_RANGE)
    return kvasir_jinja_heap_fail (call->heap, "range: more than %d numbers", MAX_RANGE);
  *range = (KvasirJinjaRange){ start, stop, step, (gint64) n };
  *out = (KvasirJinjaValue){ .kind = KVASIR_JINJA_RANGE, .range = range };
  return TRUE;
}

/* Sets a dict's items from pairs. */
static gboolean
add_pairs (KvasirJinjaCall *call, KvasirJinjaDict *dict, KvasirJinjaValue pairs)
{
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  if (!kvasir_jinja_cursor_init (&cursor, call->heap, pairs))
    return FALSE;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    {
      KvasirJinjaList *pair = kvasir_jinja_collect (call->heap, item);
      if (pair == NULL)
        return FALSE;
      if (pair->n != 2)
        return kvasir_jinja_heap_fail (call->heap, "%s: expected pairs, found %u values",
                                       call->builtin->name, pair->n);
      if (!kvasir_jinja_dict_set (call->heap, dict, pair->items[0], pair->items[1]))
        return FALSE;
    }
  return call->heap->failure == NULL;
}

gboolean
kvasir_jinja_fill_dict (KvasirJinjaCall *call, KvasirJinjaDict *dict)
{
  const KvasirJinjaArgs *args = call->args;
  if (args->n_values > 1)
    return kvasir_jinja_heap_fail (call->heap, "%s takes at most 1 argument, found %u",
                                   call->builtin->name, args->n_values);
  if (args->n_values == 1)
    {
      KvasirJinjaValue from = args->values[0];
      gboolean ok = from.kind == KVASIR_JINJA_DICT
                        ? kvasir_jinja_dict_update (call->heap, dict, from.dict)
                        : add_pairs (call, dict, from);
      if (!ok)
        return FALSE;
    }
  for (guint i = 0; i < args->n_keywords; i++)
    if (!kvasir_jinja_dict_set (call->heap, dict, kvasir_jinja_text (args->keywords[i].name),
                                args->keywords[i].value))
      return FALSE;
  return TRUE;
}

static gboolean
function_dict (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  *out = kvasir_jinja_dict (kvasir_jinja_dict_new (call->heap));
  return kvasir_jinja_fill_dict (call, out->dict);
}

static gboolean
function_namespace (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (!function_dict (call, out))
    return FALSE;
  out->kind = KVASIR_JINJA_NAMESPACE;
  return TRUE;
}

const KvasirJinjaBuiltin *
kvasir_jinja_find_function (KvasirJinjaHeap *heap, KvasirJinjaText *name)
{
  static const KvasirJinjaBuiltin functions[] = {
    { "raise_exception", function_raise, 1, { "message" } },
    { "strftime_now", function_strftime, 1, { "format" } },
    { "namespace", function_namespace, 0, { "*" } },
    { "range", function_range, 1, { "start", "stop", "step" } },
    { "dict", function_dict, 0, { "*" } },
    { NULL },
  };
  return kvasir_jinja_find (heap, functions, name);
}
