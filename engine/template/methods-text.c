/* Methods of texts. */
#include "engine/template/format.h"
#include "engine/template/iter.h"
#include "engine/template/methods.h"
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

typedef KvasirJinjaText *(*TextFunc) (KvasirJinjaHeap *heap, KvasirJinjaText *text);

static gboolean
apply (KvasirJinjaCall *call, TextFunc func, KvasirJinjaValue *out)
{
  return kvasir_jinja_give_text (func (call->heap, call->self.text), out);
}

static gboolean
method_upper (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_upper, out);
}

static gboolean
method_lower (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_lower, out);
}

static gboolean
method_capitalize (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_capitalize, out);
}

static gboolean
method_title (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_title, out);
}

static gboolean
strip (KvasirJinjaCall *call, KvasirJinjaStrip sides, KvasirJinjaValue *out)
{
  KvasirJinjaText *chars;
  return kvasir_jinja_call_str (call, 0, &chars) &&
         kvasir_jinja_give_text (
             kvasir_jinja_text_strip (call->heap, call->self.text, chars, sides), out);
}

static gboolean
method_strip (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return strip (call, KVASIR_JINJA_STRIP_BOTH, out);
}

static gboolean
method_lstrip (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return strip (call, KVASIR_JINJA_STRIP_LEFT, out);
}

static gboolean
method_rstrip (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return strip (call, KVASIR_JINJA_STRIP_RIGHT, out);
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
split (KvasirJinjaCall *call, gboolean from_right, KvasirJinjaValue *out)
{
  KvasirJinjaText *separator;
  gint64 limit;
  return kvasir_jinja_call_str (call, 0, &separator) &&
         kvasir_jinja_call_int (call, 1, -1, &limit) &&
         give_list (
             KVASIR_JINJA_LIST,
             kvasir_jinja_text_split (call->heap, call->self.text, separator, limit, from_right),
             out);
}

static gboolean
method_split (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return split (call, FALSE, out);
}

static gboolean
method_rsplit (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return split (call, TRUE, out);
}

static gboolean
method_splitlines (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give_list (
      KVASIR_JINJA_LIST,
      kvasir_jinja_text_lines (call->heap, call->self.text, kvasir_jinja_call_truth (call, 0)),
      out);
}

/* Argument @i, which must be a str. */
static KvasirJinjaText *
need_str (KvasirJinjaCall *call, guint i)
{
  KvasirJinjaText *text = NULL;
  if (kvasir_jinja_call_str (call, i, &text) && text == NULL)
    kvasir_jinja_call_fail (call, "a str", call->arg[i]);
  return text;
}

/* Three parts around the first (last) separator. */
static gboolean
partition (KvasirJinjaCall *call, gboolean last, KvasirJinjaValue *out)
{
  KvasirJinjaText *self = call->self.text;
  KvasirJinjaText *separator = need_str (call, 0);
  KvasirJinjaList *parts = kvasir_jinja_list_new (call->heap);
  if (separator == NULL)
    return FALSE;
  if (separator->len == 0)
    return kvasir_jinja_heap_fail (call->heap, "%s: the separator is empty", call->builtin->name);
  gssize at = last ? kvasir_jinja_text_find_last (call->heap, self, separator, 0, self->len)
                   : kvasir_jinja_text_find (call->heap, self, separator, 0, self->len);
  gsize start = at >= 0 ? (gsize) at : last ? 0 : self->len;
  gsize len = at >= 0 ? separator->len : 0;
  const gsize bounds[] = { 0, start, start + len, self->len };
  for (guint i = 0; i < 3; i++)
    kvasir_jinja_list_append (call->heap, parts,
                              kvasir_jinja_text (kvasir_jinja_text_sub (
                                  call->heap, self, bounds[i], bounds[i + 1] - bounds[i])));
  return give_list (KVASIR_JINJA_TUPLE, parts, out);
}

static gboolean
method_partition (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return partition (call, FALSE, out);
}

static gboolean
method_rpartition (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return partition (call, TRUE, out);
}

/* Whether the text starts (ends) with the argument, or with one of a tuple. */
static gboolean
has_affix (KvasirJinjaCall *call, gboolean at_end, KvasirJinjaValue *out)
{
  KvasirJinjaValue single = call->arg[0];
  const KvasirJinjaValue *affixes =
      single.kind == KVASIR_JINJA_TUPLE ? single.list->items : &single;
  guint n = single.kind == KVASIR_JINJA_TUPLE ? single.list->n : 1;
  gboolean found = FALSE;
  for (guint i = 0; i < n && !found; i++)
    {
      if (affixes[i].kind != KVASIR_JINJA_TEXT)
        return kvasir_jinja_call_fail (call, "a str or a tuple of them", affixes[i]);
      found = at_end ? kvasir_jinja_text_has_suffix (call->heap, call->self.text, affixes[i].text)
                     : kvasir_jinja_text_has_prefix (call->heap, call->self.text, affixes[i].text);
    }
  *out = kvasir_jinja_bool (found);
  return TRUE;
}

static gboolean
method_startswith (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return has_affix (call, FALSE, out);
}

static gboolean
method_endswith (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return has_affix (call, TRUE, out);
}

static gboolean
remove_affix (KvasirJinjaCall *call, gboolean at_end, KvasirJinjaValue *out)
{
  KvasirJinjaText *self = call->self.text;
  KvasirJinjaText *affix = need_str (call, 0);
  *out = call->self;
  if (affix == NULL)
    return FALSE;
  if (at_end ? kvasir_jinja_text_has_suffix (call->heap, self, affix)
             : kvasir_jinja_text_has_prefix (call->heap, self, affix))
    *out = kvasir_jinja_text (
        kvasir_jinja_text_sub (call->heap, self, at_end ? 0 : affix->len, self->len - affix->len));
  return TRUE;
}

static gboolean
method_removeprefix (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return remove_affix (call, FALSE, out);
}

static gboolean
method_removesuffix (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return remove_affix (call, TRUE, out);
}

static gboolean
method_replace (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *old = need_str (call, 0);
  KvasirJinjaText *new_text = old != NULL ? need_str (call, 1) : NULL;
  gint64 limit;
  return new_text != NULL && kvasir_jinja_call_int (call, 2, -1, &limit) &&
         kvasir_jinja_give_text (
             kvasir_jinja_text_replace (call->heap, call->self.text, old, new_text, limit), out);
}

static gboolean
method_join (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_collect (call->heap, call->arg[0]);
  for (guint i = 0; list != NULL && i < list->n; i++)
    if (list->items[i].kind != KVASIR_JINJA_TEXT)
      return kvasir_jinja_call_fail (call, "texts", list->items[i]);
  return list != NULL && kvasir_jinja_give_text (
                             kvasir_jinja_text_join (call->heap, call->self.text,
                                                     kvasir_jinja_list (KVASIR_JINJA_LIST, list)),
                             out);
}

/* A character index from argument @i, as slices take it, to a byte offset. */
static gboolean
get_offset (KvasirJinjaCall *call, guint i, gint64 standard, gsize *offset)
{
  KvasirJinjaText *self = call->self.text;
  gint64 n_chars = (gint64) self->n_chars;
  gint64 index;
  if (!kvasir_jinja_call_int (call, i, standard, &index))
    return FALSE;
  if (index < 0)
    index = MAX (index + n_chars, 0);
  const char *bytes = kvasir_jinja_text_bytes (call->heap, self);
  *offset = kvasir_jinja_char_offset (bytes, self->len, (gsize) index);
  /* A start behind the end finds nothing, not even an empty text. */
  if (i == 1 && index > n_chars)
    *offset = self->len + 1;
  return TRUE;
}

/* The needle within the bounds that the call gives: byte offsets, -1 for none. */
static gboolean
find (KvasirJinjaCall *call, gboolean last, gssize *at)
{
  KvasirJinjaText *needle = need_str (call, 0);
  gsize from;
  gsize to;
  if (needle == NULL || !get_offset (call, 1, 0, &from) || !get_offset (call, 2, G_MAXINT64, &to))
    return FALSE;
  *at = last ? kvasir_jinja_text_find_last (call->heap, call->self.text, needle, from, to)
             : kvasir_jinja_text_find (call->heap, call->self.text, needle, from, to);
  return TRUE;
}

static gboolean
give_position (KvasirJinjaCall *call, gssize at, KvasirJinjaValue *out)
{
  const char *bytes = kvasir_jinja_text_bytes (call->heap, call->self.text);
  *out = kvasir_jinja_int (at < 0 ? -1 : (gint64) kvasir_jinja_count_chars (bytes, (gsize) at));
  return TRUE;
}

static gboolean
method_find (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gssize at;
  return find (call, FALSE, &at) && give_position (call, at, out);
}

static gboolean
method_rfind (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gssize at;
  return find (call, TRUE, &at) && give_position (call, at, out);
}

static gboolean
method_index (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gssize at;
  if (!find (call, FALSE, &at))
    return FALSE;
  if (at < 0)
    return kvasir_jinja_heap_fail (call->heap, "index: the text does not occur");
  return give_position (call, at, out);
}

static gboolean
method_count (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *needle = need_str (call, 0);
  gsize from;
  gsize to;
  gint64 n = 0;
  if (needle == NULL || !get_offset (call, 1, 0, &from) || !get_offset (call, 2, G_MAXINT64, &to))
    return FALSE;
  const char *bytes = kvasir_jinja_text_bytes (call->heap, call->self.text);
  if (needle->len == 0)
    n = from <= to ? (gint64) kvasir_jinja_count_chars (bytes + from, to - from) + 1 : 0;
  else
    for (gssize at;
         (at = kvasir_jinja_text_find (call->heap, call->self.text, needle, from, to)) >= 0 &&
         kvasir_jinja_heap_step (call->heap, 1);
         n++)
      from = (gsize) at + needle->len;
  *out = kvasir_jinja_int (n);
  return TRUE;
}

const KvasirJinjaBuiltin kvasir_jinja_text_methods[] = {
  { "capitalize", method_capitalize, 0, { NULL } },
  { "count", method_count, 1, { "sub", "start", "end" } },
  { "endswith", method_endswith, 1, { "suffix" } },
  { "find", method_find, 1, { "sub", "start", "end" } },
  { "format", kvasir_jinja_format_braces, 0, { "*" } },
  { "index", method_index, 1, { "sub", "start", "end" } },
  { "join", method_join, 1, { "iterable" } },
  { "lower", method_lower, 0, { NULL } },
  { "lstrip", method_lstrip, 0, { "chars" } },
  { "partition", method_partition, 1, { "sep" } },
  { "removeprefix", method_removeprefix, 1, { "prefix" } },
  { "removesuffix", method_removesuffix, 1, { "suffix" } },
  { "replace", method_replace, 2, { "old", "new", "count" } },
  { "rfind", method_rfind, 1, { "sub", "start", "end" } },
  { "rpartition", method_rpartition, 1, { "sep" } },
  { "rsplit", method_rsplit, 0, { "sep", "maxsplit" } },
  { "rstrip", method_rstrip, 0, { "chars" } },
  { "split", method_split, 0, { "sep", "maxsplit" } },
  { "splitlines", method_splitlines, 0, { "keepends" } },
  { "startswith", method_startswith, 1, { "prefix" } },
  { "strip", method_strip, 0, { "chars" } },
  { "title", method_title, 0, { NULL } },
  { "upper", method_upper, 0, { NULL } },
  { NULL },
};
