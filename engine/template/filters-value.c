/* Filters on numbers and on any value. */
#include "engine/template/filters.h"
#include "engine/template/iter.h"
#include "engine/template/json.h"
#include "engine/template/number.h"

#include <math.h>

static gboolean
filter_abs (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind == KVASIR_JINJA_FLOAT)
    {
      *out = kvasir_jinja_float (fabs (call->self.number));
      return TRUE;
    }
  if (!kvasir_jinja_is_integral (call->self))
    return kvasir_jinja_call_fail (call, "a number", call->self);
  gint64 integer = kvasir_jinja_as_int (call->self);
  if (integer == G_MININT64)
    return kvasir_jinja_heap_fail (call->heap, "an integer that does not fit into 64 bits");
  *out = kvasir_jinja_int (ABS (integer));
  return TRUE;
}

static gboolean
filter_default (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gboolean use = call->self.kind == KVASIR_JINJA_UNDEFINED ||
                 (kvasir_jinja_call_truth (call, 1) && !kvasir_jinja_truth (call->self));
  if (!use)
    *out = call->self;
  else if (kvasir_jinja_is_missing (call->arg[0]))
    *out = kvasir_jinja_text (kvasir_jinja_text_static (call->heap, ""));
  else
    *out = call->arg[0];
  return TRUE;
}

/* The default for int and float: the argument, or @standard. */
static KvasirJinjaValue
fallback (KvasirJinjaCall *call, KvasirJinjaValue standard)
{
  return kvasir_jinja_is_missing (call->arg[0]) ? standard : call->arg[0];
}

static gboolean
int_from_float (KvasirJinjaCall *call, double number, KvasirJinjaValue *out)
{
  gint64 integer;
  if (!isfinite (number))
    *out = fallback (call, kvasir_jinja_int (0));
  else if (kvasir_jinja_float_to_int (number, &integer))
    *out = kvasir_jinja_int (integer);
  else
    return kvasir_jinja_heap_fail (call->heap, "int: a number that does not fit into 64 bits");
  return TRUE;
}

static gboolean
filter_int (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue self = call->self;
  gint64 base;
  gint64 integer;
  double number;
  *out = fallback (call, kvasir_jinja_int (0));
  if (!kvasir_jinja_call_int (call, 1, 10, &base))
    return FALSE;
  if (base != 0 && (base < 2 || base > 36))
    return kvasir_jinja_heap_fail (call->heap, "int: base %" G_GINT64_FORMAT, base);
  if (self.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (call->heap, self);
  if (kvasir_jinja_is_integral (self))
    *out = kvasir_jinja_int (kvasir_jinja_as_int (self));
  if (self.kind == KVASIR_JINJA_FLOAT)
    return int_from_float (call, self.number, out);
  if (self.kind != KVASIR_JINJA_TEXT)
    return TRUE;
  const char *bytes = kvasir_jinja_text_bytes (call->heap, self.text);
  if (kvasir_jinja_parse_int (bytes, self.text->len, (guint) base, &integer))
    *out = kvasir_jinja_int (integer);
  else if (kvasir_jinja_parse_float (bytes, self.text->len, &number))
    return int_from_float (call, number, out);
  return TRUE;
}

static gboolean
filter_float (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue self = call->self;
  double number;
  *out = fallback (call, kvasir_jinja_float (0));
  if (self.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (call->heap, self);
  if (kvasir_jinja_is_number (self))
    *out = kvasir_jinja_float (kvasir_jinja_as_double (self));
  else if (self.kind == KVASIR_JINJA_TEXT &&
           kvasir_jinja_parse_float (kvasir_jinja_text_bytes (call->heap, self.text),
                                     self.text->len, &number))
    *out = kvasir_jinja_float (number);
  return TRUE;
}

/* Python's round(): half to even on the decimal digits of the exact value. */
static double
round_half_even (double number, int precision)
{
  if (!isfinite (number))
    return number;
  if (precision < 0)
    {
      double unit = pow (10, -precision);
      return isfinite (unit) ? rint (number / unit) * unit : 0;
    }
  char format[16];
  char digits[512];
  g_snprintf (format, sizeof format, "%%.%df", MIN (precision, 100));
  g_ascii_formatd (digits, sizeof digits, format, number);
  return g_ascii_strtod (digits, NULL);
}

static gboolean
round_value (KvasirJinjaCall *call, const char *method, int precision, KvasirJinjaValue *out)
{
  double number = kvasir_jinja_as_double (call->self);
  double unit = pow (10, precision);
  if (g_str_equal (method, "common"))
    {
      gboolean whole = kvasir_jinja_is_integral (call->self);
      double rounded = whole && precision >= 0 ? 0 : round_half_even (number, precision);
      *out = !whole           ? kvasir_jinja_float (rounded)
             : precision >= 0 ? kvasir_jinja_int (kvasir_jinja_as_int (call->self))
                              : kvasir_jinja_int ((gint64) CLAMP (rounded, -9e18, 9e18));
      return TRUE;
    }
  double scaled = g_str_equal (method, "ceil") ? ceil (number * unit) : floor (number * unit);
  if (!isfinite (scaled))
    return kvasir_jinja_heap_fail (call->heap, "round: not a finite number");
  *out = kvasir_jinja_float (scaled / unit);
  return TRUE;
}

static gboolean
filter_round (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  static const char *const methods[] = { "common", "ceil", "floor" };
  gint64 precision;
  KvasirJinjaText *method;
  if (!kvasir_jinja_is_number (call->self))
    return kvasir_jinja_call_fail (call, "a number", call->self);
  if (!kvasir_jinja_call_int (call, 0, 0, &precision) || !kvasir_jinja_call_str (call, 1, &method))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    if (method == NULL || kvasir_jinja_text_is (call->heap, method, methods[i]))
      return round_value (call, methods[i], (int) CLAMP (precision, -400, 400), out);
  return kvasir_jinja_heap_fail (call->heap, "round: the method is common, ceil or floor");
}

static gboolean
filter_length (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gsize n;
  if (!kvasir_jinja_length (call->self, &n))
    return kvasir_jinja_heap_fail (call->heap, "'%s' object has no length",
                                   kvasir_jinja_type_name (call->self));
  *out = kvasir_jinja_int ((gint64) n);
  return TRUE;
}

/* An indentation for JSON: a text, or a number of spaces. */
static gboolean
get_json_indent (KvasirJinjaCall *call, KvasirJinjaText **indent)
{
  gint64 width;
  *indent = NULL;
  if (call->arg[1].kind == KVASIR_JINJA_TEXT)
    *indent = call->arg[1].text;
  if (*indent != NULL || kvasir_jinja_is_missing (call->arg[1]) ||
      call->arg[1].kind == KVASIR_JINJA_NONE)
    return TRUE;
  if (!kvasir_jinja_call_int (call, 1, 0, &width))
    return FALSE;
  KvasirJinjaBuilder spaces;
  kvasir_jinja_builder_init (&spaces, call->heap);
  kvasir_jinja_builder_repeat (&spaces, ' ', width > 0 ? (gsize) width : 0, 0);
  *indent = kvasir_jinja_builder_finish (&spaces);
  return *indent != NULL;
}

static gboolean
get_separators (KvasirJinjaCall *call, KvasirJinjaJsonStyle *style)
{
  if (kvasir_jinja_is_missing (call->arg[2]) || call->arg[2].kind == KVASIR_JINJA_NONE)
    return TRUE;
  KvasirJinjaList *pair = kvasir_jinja_collect (call->heap, call->arg[2]);
  if (pair == NULL)
    return FALSE;
  if (pair->n != 2 || pair->items[0].kind != KVASIR_JINJA_TEXT ||
      pair->items[1].kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "a pair of texts", call->arg[2]);
  style->item_separator = pair->items[0].text;
  style->key_separator = pair->items[1].text;
  return TRUE;
}

static gboolean
filter_tojson (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaJsonStyle style = { kvasir_jinja_call_truth (call, 0),
                                 kvasir_jinja_call_truth (call, 3) };
  if (!get_json_indent (call, &style.indent) || !get_separators (call, &style))
    return FALSE;
  return kvasir_jinja_give_text (kvasir_jinja_write_json (call->heap, call->self, &style), out);
}

static gboolean
filter_from_json (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  if (call->self.kind != KVASIR_JINJA_TEXT)
    return kvasir_jinja_call_fail (call, "a str", call->self);
  return kvasir_jinja_parse_json (call->heap, call->self.text, out);
}

const KvasirJinjaBuiltin kvasir_jinja_value_filters[] = {
  { "abs", filter_abs, 0, { NULL } },
  { "count", filter_length, 0, { NULL } },
  { "d", filter_default, 0, { "default_value", "boolean" } },
  { "default", filter_default, 0, { "default_value", "boolean" } },
  { "float", filter_float, 0, { "default" } },
  { "from_json", filter_from_json, 0, { NULL } },
  { "int", filter_int, 0, { "default", "base" } },
  { "length", filter_length, 0, { NULL } },
  { "round", filter_round, 0, { "precision", "method" } },
  { "tojson", filter_tojson, 0, { "ensure_ascii", "indent", "separators", "sort_keys" } },
  { NULL },
};
