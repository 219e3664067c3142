#include "engine/template/repr.h"

#include "engine/template/callable.h"
#include "engine/template/dict.h"
#include "engine/template/number.h"
#include "engine/template/unicode.h"

#include <string.h>

/* Python prefers single quotes and takes double ones to avoid escaping. */
static char
choose_quote (const char *bytes, gsize len)
{
  gboolean has_single = memchr (bytes, '\'', len) != NULL;
  gboolean has_double = memchr (bytes, '"', len) != NULL;
  return has_single && !has_double ? '"' : '\'';
}

static void
append_escaped (KvasirJinjaBuilder *out, gunichar c, guint origin)
{
  char escape[12];
  if (c == '\n' || c == '\r' || c == '\t')
    g_snprintf (escape, sizeof escape, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
  else if (c < 0x100)
    g_snprintf (escape, sizeof escape, "\\x%02x", c);
  else if (c < 0x10000)
    g_snprintf (escape, sizeof escape, "\\u%04x", c);
  else
    g_snprintf (escape, sizeof escape, "\\U%08x", c);
  kvasir_jinja_builder_append (out, escape, strlen (escape), origin);
}

static void
append_text_repr (KvasirJinjaBuilder *out, KvasirJinjaText *text)
{
  const char *bytes = kvasir_jinja_text_bytes (out->heap, text);
  char quote = choose_quote (bytes, text->len);
  kvasir_jinja_builder_append (out, &quote, 1, KVASIR_JINJA_ORIGIN_TEMPLATE);
  for (gsize i = 0; i < text->len && out->heap->failure == NULL;)
    {
      gunichar c = g_utf8_get_char (bytes + i);
      gsize len = g_utf8_skip[(guchar) bytes[i]];
      guint origin = kvasir_jinja_text_origin (text, i);
      if (c == (gunichar) quote || c == '\\')
        kvasir_jinja_builder_append (out, "\\", 1, origin);
      if (kvasir_jinja_is_printable (c))
        kvasir_jinja_builder_append (out, bytes + i, len, origin);
      else
        append_escaped (out, c, origin);
      i += len;
    }
  kvasir_jinja_builder_append (out, &quote, 1, KVASIR_JINJA_ORIGIN_TEMPLATE);
}

static gboolean
append_items (KvasirJinjaBuilder *out, const KvasirJinjaList *list)
{
  for (guint i = 0; i < list->n; i++)
    {
      if (i > 0)
        kvasir_jinja_builder_append_static (out, ", ");
      if (!kvasir_jinja_append_repr (out, list->items[i]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
append_list_repr (KvasirJinjaBuilder *out, KvasirJinjaValue value)
{
  const char *open = "[";
  const char *close = "]";
  if (value.kind == KVASIR_JINJA_TUPLE)
    {
      open = "(";
      close = value.list->n == 1 ? ",)" : ")";
    }
  else if (value.kind == KVASIR_JINJA_VIEW)
    {
      kvasir_jinja_builder_append_static (out, value.list->type);
      open = "([";
      close = "])";
    }
  kvasir_jinja_builder_append_static (out, open);
  gboolean ok = append_items (out, value.list);
  kvasir_jinja_builder_append_static (out, close);
  return ok;
}

static gboolean
append_dict_repr (KvasirJinjaBuilder *out, const KvasirJinjaDict *dict)
{
  kvasir_jinja_builder_append_static (out, "{");
  for (guint i = 0; i < dict->n; i++)
    {
      if (i > 0)
        kvasir_jinja_builder_append_static (out, ", ");
      if (!kvasir_jinja_append_repr (out, dict->entries[i].key))
        return FALSE;
      kvasir_jinja_builder_append_static (out, ": ");
      if (!kvasir_jinja_append_repr (out, dict->entries[i].value))
        return FALSE;
    }
  kvasir_jinja_builder_append_static (out, "}");
  return TRUE;
}

static void
append_range_repr (KvasirJinjaBuilder *out, const KvasirJinjaRange *range)
{
  char text[96];
  int n = g_snprintf (text, sizeof text, "range(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT,
                      range->start, range->stop);
  if (range->step != 1)
    n += g_snprintf (text + n, sizeof text - (gsize) n, ", %" G_GINT64_FORMAT, range->step);
  kvasir_jinja_builder_append_static (out, text);
  kvasir_jinja_builder_append_static (out, ")");
}

static gboolean
append_namespace_repr (KvasirJinjaBuilder *out, const KvasirJinjaDict *dict)
{
  kvasir_jinja_builder_append_static (out, "<Namespace ");
  gboolean ok = append_dict_repr (out, dict);
  kvasir_jinja_builder_append_static (out, ">");
  return ok;
}

static void
append_callable_repr (KvasirJinjaBuilder *out, const KvasirJinjaCallable *callable)
{
  gboolean macro = callable->macro != NULL;
  kvasir_jinja_builder_append_static (out, macro ? "<Macro " : "<function ");
  if (!macro)
    kvasir_jinja_builder_append_static (out, callable->builtin->name);
  else if (callable->macro->name != NULL)
    append_text_repr (out, callable->macro->name);
  else
    kvasir_jinja_builder_append_static (out, "anonymous");
  kvasir_jinja_builder_append_static (out, ">");
}

static void
append_number (KvasirJinjaBuilder *out, KvasirJinjaValue value)
{
  char text[KVASIR_JINJA_NUMBER_BYTES];
  if (value.kind == KVASIR_JINJA_FLOAT)
    kvasir_jinja_format_float (value.number, text);
  else
    g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, value.integer);
  kvasir_jinja_builder_append_static (out, text);
}

static gboolean
append_value (KvasirJinjaBuilder *out, KvasirJinjaValue value)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_NONE:
      kvasir_jinja_builder_append_static (out, "None");
      return TRUE;
    case KVASIR_JINJA_BOOL:
      kvasir_jinja_builder_append_static (out, value.boolean ? "True" : "False");
      return TRUE;
    case KVASIR_JINJA_INT:
    case KVASIR_JINJA_FLOAT:
      append_number (out, value);
      return TRUE;
    case KVASIR_JINJA_TEXT:
      append_text_repr (out, value.text);
      return TRUE;
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
    case KVASIR_JINJA_VIEW:
      return append_list_repr (out, value);
    case KVASIR_JINJA_DICT:
      return append_dict_repr (out, value.dict);
    case KVASIR_JINJA_NAMESPACE:
      return append_namespace_repr (out, value.dict);
    case KVASIR_JINJA_RANGE:
      append_range_repr (out, value.range);
      return TRUE;
    case KVASIR_JINJA_CALLABLE:
      append_callable_repr (out, value.callable);
      return TRUE;
    default:
      kvasir_jinja_builder_append_static (out, kvasir_jinja_type_name (value));
      return TRUE;
    }
}

gboolean
kvasir_jinja_append_repr (KvasirJinjaBuilder *out, KvasirJinjaValue value)
{
  if (!kvasir_jinja_heap_step (out->heap, 1) || !kvasir_jinja_heap_enter (out->heap))
    return FALSE;
  gboolean ok = append_value (out, value);
  kvasir_jinja_heap_leave (out->heap);
  return ok && out->heap->failure == NULL;
}

gboolean
kvasir_jinja_append_str (KvasirJinjaBuilder *out, KvasirJinjaValue value)
{
  if (value.kind == KVASIR_JINJA_UNDEFINED)
    return TRUE;
  if (value.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_append_repr (out, value);
  kvasir_jinja_builder_append_text (out, value.text);
  return out->heap->failure == NULL;
}

KvasirJinjaText *
kvasir_jinja_str (KvasirJinjaHeap *heap, KvasirJinjaValue value)
{
  if (value.kind == KVASIR_JINJA_TEXT)
    return value.text;
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, heap);
  if (!kvasir_jinja_append_str (&builder, value))
    return NULL;
  return kvasir_jinja_builder_finish (&builder);
}
