/* Filters on texts. */
#include "engine/template/filters.h"
#include "engine/template/format.h"
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

typedef KvasirJinjaText *(*TextFunc) (KvasirJinjaHeap *heap, KvasirJinjaText *text);

static gboolean
apply (KvasirJinjaCall *call, TextFunc func, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  return text != NULL && kvasir_jinja_give_text (func (call->heap, text), out);
}

static gboolean
filter_upper (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_upper, out);
}

static gboolean
filter_lower (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_lower, out);
}

static gboolean
filter_capitalize (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_capitalize, out);
}

static gboolean
filter_title (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return apply (call, kvasir_jinja_text_title_words, out);
}

/* Also safe: nothing is escaped here, so nothing needs to be marked. */
static gboolean
filter_string (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_give_text (kvasir_jinja_call_text (call, call->self), out);
}

static gboolean
filter_trim (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  KvasirJinjaText *chars;
  if (text == NULL || !kvasir_jinja_call_str (call, 0, &chars))
    return FALSE;
  return kvasir_jinja_give_text (
      kvasir_jinja_text_strip (call->heap, text, chars, KVASIR_JINJA_STRIP_BOTH), out);
}

static gboolean
filter_replace (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  KvasirJinjaText *old = text != NULL ? kvasir_jinja_call_text (call, call->arg[0]) : NULL;
  KvasirJinjaText *new_text = old != NULL ? kvasir_jinja_call_text (call, call->arg[1]) : NULL;
  gint64 limit;
  if (new_text == NULL || !kvasir_jinja_call_int (call, 2, -1, &limit))
    return FALSE;
  return kvasir_jinja_give_text (kvasir_jinja_text_replace (call->heap, text, old, new_text, limit),
                                 out);
}

static gboolean
filter_format (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  const KvasirJinjaArgs *args = call->args;
  if (text == NULL)
    return FALSE;
  if (args->n_keywords == 0)
    {
      KvasirJinjaList *list = kvasir_jinja_list_new (call->heap);
      for (guint i = 0; i < args->n_values; i++)
        if (!kvasir_jinja_list_append (call->heap, list, args->values[i]))
          return FALSE;
      return kvasir_jinja_format_percent (call->heap, text,
                                          kvasir_jinja_list (KVASIR_JINJA_TUPLE, list), out);
    }
  if (args->n_values > 0)
    return kvasir_jinja_heap_fail (call->heap, "format: both positional and named values");
  KvasirJinjaDict *dict = kvasir_jinja_dict_new (call->heap);
  return kvasir_jinja_fill_dict (call, dict) &&
         kvasir_jinja_format_percent (call->heap, text, kvasir_jinja_dict (dict), out);
}

/* The indentation: a text, or a number of spaces. */
static KvasirJinjaText *
get_indent (KvasirJinjaCall *call, gint64 standard)
{
  gint64 width;
  if (call->arg[0].kind == KVASIR_JINJA_TEXT)
    return call->arg[0].text;
  if (!kvasir_jinja_call_int (call, 0, standard, &width))
    return NULL;
  KvasirJinjaBuilder spaces;
  kvasir_jinja_builder_init (&spaces, call->heap);
  kvasir_jinja_builder_repeat (&spaces, ' ', width > 0 ? (gsize) width : 0, 0);
  return kvasir_jinja_builder_finish (&spaces);
}

static gboolean
filter_indent (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "a str", call->self);
  KvasirJinjaText *indent = get_indent (call, 4);
  if (indent == NULL)
    return FALSE;
  gboolean blank = kvasir_jinja_call_truth (call, 2);
  /* A newline at the end counts as the start of one more line, which splitlines() does not. */
  KvasirJinjaText *text = kvasir_jinja_text_concat (call->heap, call->self.text,
                                                    kvasir_jinja_text_static (call->heap, "\n"));
  KvasirJinjaList *lines = text != NULL ? kvasir_jinja_text_lines (call->heap, text, FALSE) : NULL;
  if (lines == NULL)
    return FALSE;
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, call->heap);
  for (guint i = 0; i < lines->n; i++)
    {
      KvasirJinjaText *line = lines->items[i].text;
      if (i > 0)
        kvasir_jinja_builder_append_static (&builder, "\n");
      if (i == 0 ? kvasir_jinja_call_truth (call, 1) : blank || line->len > 0)
        kvasir_jinja_builder_append_text (&builder, indent);
      kvasir_jinja_builder_append_text (&builder, line);
    }
  return kvasir_jinja_give_text (kvasir_jinja_builder_finish (&builder), out);
}

static const char *
html_escape (char c)
{
  switch (c)
    {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return NULL;
    }
}

static gboolean
filter_escape (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  if (text == NULL)
    return FALSE;
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, call->heap);
  gsize start = 0;
  for (gsize i = 0; i <= text->len; i++)
    {
      const char *escaped = i < text->len ? html_escape (text->bytes[i]) : NULL;
      if (escaped == NULL && i < text->len)
        continue;
      kvasir_jinja_builder_append_sub (&builder, text, start, i - start);
      if (escaped != NULL)
        kvasir_jinja_builder_append (&builder, escaped, strlen (escaped),
                                     kvasir_jinja_text_origin (text, i));
      start = i + 1;
    }
  return kvasir_jinja_give_text (kvasir_jinja_builder_finish (&builder), out);
}

static gboolean
filter_truncate (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = call->self.text;
  KvasirJinjaText *end;
  gint64 length;
  gint64 leeway;
  *out = call->self;
  if (call->self.kind == KVASIR_JINJA_UNDEFINED)
    return TRUE;
  if (call->self.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "a str", call->self);
  if (!kvasir_jinja_call_int (call, 0, 255, &length) || !kvasir_jinja_call_str (call, 2, &end) ||
      !kvasir_jinja_call_int (call, 3, 5, &leeway))
    return FALSE;
  if (end == NULL)
    end = kvasir_jinja_text_static (call->heap, "...");
  if (length < (gint64) end->n_chars || leeway < 0 || leeway > G_MAXINT)
    return kvasir_jinja_heap_fail (call->heap, "truncate: the length does not hold the end text");
  if (length >= (gint64) text->n_chars || (gint64) text->n_chars <= length + leeway)
    return TRUE;
  text = kvasir_jinja_text_sub_chars (call->heap, text, 0, (gsize) length - end->n_chars);
  gssize space = kvasir_jinja_text_find_last (
      call->heap, text, kvasir_jinja_text_static (call->heap, " "), 0, text->len);
  if (!kvasir_jinja_call_truth (call, 1) && space >= 0)
    text = kvasir_jinja_text_sub (call->heap, text, 0, (gsize) space);
  return kvasir_jinja_give_text (kvasir_jinja_text_concat (call->heap, text, end), out);
}

static gboolean
filter_wordcount (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  if (text == NULL || !kvasir_jinja_heap_scan (call->heap, text->len))
    return FALSE;
  gint64 n = 0;
  gboolean in_word = FALSE;
  for (gsize i = 0; i < text->len; i += g_utf8_skip[(guchar) text->bytes[i]])
    {
      gboolean word = kvasir_jinja_is_word (g_utf8_get_char (text->bytes + i));
      n += word && !in_word;
      in_word = word;
    }
  *out = kvasir_jinja_int (n);
  return TRUE;
}

const KvasirJinjaBuiltin kvasir_jinja_text_filters[] = {
  { "capitalize", filter_capitalize, 0, { NULL } },
  { "e", filter_escape, 0, { NULL } },
  { "escape", filter_escape, 0, { NULL } },
  { "format", filter_format, 0, { "*" } },
  { "indent", filter_indent, 0, { "width", "first", "blank" } },
  { "lower", filter_lower, 0, { NULL } },
  { "replace", filter_replace, 2, { "old", "new", "count" } },
  { "safe", filter_string, 0, { NULL } },
  { "string", filter_string, 0, { NULL } },
  { "title", filter_title, 0, { NULL } },
  { "trim", filter_trim, 0, { "chars" } },
  { "truncate", filter_truncate, 0, { "length", "killwords", "end", "leeway" } },
  { "upper", filter_upper, 0, { NULL } },
  { "wordcount", filter_wordcount, 0, { NULL } },
  { NULL },
};
