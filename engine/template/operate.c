/* Binary operators on values, with Python's rules for mixed types. */
#include "engine/template/format.h"
#include "engine/template/iter.h"
#include "engine/template/render.h"
#include "engine/template/repr.h"

#include <math.h>
#include <string.h>

static gboolean
fail_types (KvasirJinjaHeap *heap, KvasirJinjaOp op, KvasirJinjaValue a, KvasirJinjaValue b)
{
  static const char *const names[] = { "+", "-", "*", "/", "//", "%", "**" };
  if (a.kind == KVASIR_JINJA_UNDEFINED || b.kind == KVASIR_JINJA_UNDEFINED)
    return kvasir_jinja_fail_undefined (heap, a.kind == KVASIR_JINJA_UNDEFINED ? a : b);
  return kvasir_jinja_heap_fail (heap, "'%s' does not work between '%s' and '%s'", names[op],
                                 kvasir_jinja_type_name (a), kvasir_jinja_type_name (b));
}

static gboolean
power_int (gint64 base, gint64 exponent, gint64 *result)
{
  gint64 value = 1;
  while (exponent > 0)
    {
      if ((exponent & 1) != 0 && __builtin_mul_overflow (value, base, &value))
        return FALSE;
      exponent >>= 1;
      if (exponent > 0 && __builtin_mul_overflow (base, base, &base))
        return FALSE;
    }
  *result = value;
  return TRUE;
}

/* Rounds towards minus infinity, as Python does. */
static gboolean
divide_floor (gint64 a, gint64 b, gint64 *quotient)
{
  if (a == G_MININT64 && b == -1)
    return FALSE;
  *quotient = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
  return TRUE;
}

static gboolean
operate_ints (KvasirJinjaHeap *heap, KvasirJinjaOp op, gint64 a, gint64 b, KvasirJinjaValue *out)
{
  gint64 result = 0;
  gboolean fits = TRUE;
  switch (op)
    {
    case KVASIR_JINJA_OP_ADD:
      fits = !__builtin_add_overflow (a, b, &result);
      break;
    case KVASIR_JINJA_OP_SUB:
      fits = !__builtin_sub_overflow (a, b, &result);
      break;
    case KVASIR_JINJA_OP_MUL:
      fits = !__builtin_mul_overflow (a, b, &result);
      break;
    case KVASIR_JINJA_OP_FLOORDIV:
      fits = divide_floor (a, b, &result);
      break;
    case KVASIR_JINJA_OP_MOD:
      if (b != -1 && divide_floor (a, b, &result))
        result = a - result * b;
      break;
    default:
      fits = power_int (a, b, &result);
      break;
    }
  *out = kvasir_jinja_int (result);
  return fits || kvasir_jinja_heap_fail (heap, "an integer that does not fit into 64 bits");
}

/* Python's float %: the sign is that of the divisor. */
static double
modulo (double a, double b)
{
  double rest = fmod (a, b);
  if (rest != 0 && (rest < 0) != (b < 0))
    rest += b;
  return rest == 0 ? copysign (0, b) : rest;
}

static double
floor_quotient (double a, double b)
{
  double quotient = (a - modulo (a, b)) / b;
  double whole = floor (quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

static gboolean
operate_floats (KvasirJinjaHeap *heap, KvasirJinjaOp op, double a, double b, KvasirJinjaValue *out)
{
  double result;
  switch (op)
    {
    case KVASIR_JINJA_OP_ADD:
      result = a + b;
      break;
    case KVASIR_JINJA_OP_SUB:
      result = a - b;
      break;
    case KVASIR_JINJA_OP_MUL:
      result = a * b;
      break;
    case KVASIR_JINJA_OP_DIV:
      result = a / b;
      break;
    case KVASIR_JINJA_OP_FLOORDIV:
      result = floor_quotient (a, b);
      break;
    case KVASIR_JINJA_OP_MOD:
      result = modulo (a, b);
      break;
    default:
      result = pow (a, b);
      if ((isnan (result) && !isnan (a) && !isnan (b)) ||
          (isinf (result) && isfinite (a) && isfinite (b)))
        return kvasir_jinja_heap_fail (heap, "a power that is no finite number");
      break;
    }
  *out = kvasir_jinja_float (result);
  return TRUE;
}

static gboolean
operate_numbers (KvasirJinjaHeap *heap,
                 KvasirJinjaOp op,
                 KvasirJinjaValue a,
                 KvasirJinjaValue b,
                 KvasirJinjaValue *out)
{
  gboolean divides =
      op == KVASIR_JINJA_OP_DIV || op == KVASIR_JINJA_OP_FLOORDIV || op == KVASIR_JINJA_OP_MOD;
  double divisor = kvasir_jinja_as_double (b);
  if (divides && divisor == 0)
    return kvasir_jinja_heap_fail (heap, "division by zero");
  gboolean inverts = op == KVASIR_JINJA_OP_POW && divisor < 0;
  if (inverts && kvasir_jinja_as_double (a) == 0)
    return kvasir_jinja_heap_fail (heap, "zero to a negative power");
  if (!kvasir_jinja_is_integral (a) || !kvasir_jinja_is_integral (b) || op == KVASIR_JINJA_OP_DIV ||
      inverts)
    return operate_floats (heap, op, kvasir_jinja_as_double (a), divisor, out);
  return operate_ints (heap, op, kvasir_jinja_as_int (a), kvasir_jinja_as_int (b), out);
}

static gboolean
repeat_text (KvasirJinjaHeap *heap, KvasirJinjaText *text, gint64 n, KvasirJinjaValue *out)
{
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, heap);
  gsize bytes = 0;
  if (n > 0 &&
      (!g_size_checked_mul (&bytes, text->len, (gsize) n) || bytes > heap->limits.max_text_bytes))
    return kvasir_jinja_heap_fail (heap, "a text longer than %" G_GSIZE_FORMAT " bytes",
                                   heap->limits.max_text_bytes);
  const char *byte = kvasir_jinja_text_bytes (heap, text);
  if (text->len == 1 && n > 0)
    kvasir_jinja_builder_repeat (&builder, *byte, (gsize) n, text->origin);
  else
    for (gint64 i = 0; bytes > 0 && i < n && kvasir_jinja_heap_step (heap, 1); i++)
      kvasir_jinja_builder_append_text (&builder, text);
  KvasirJinjaText *repeated = kvasir_jinja_builder_finish (&builder);
  *out = kvasir_jinja_text (repeated);
  return repeated != NULL;
}

static gboolean
append_all (KvasirJinjaHeap *heap, KvasirJinjaList *list, const KvasirJinjaList *more)
{
  guint n = more->n;
  for (guint i = 0; i < n; i++)
    if (!kvasir_jinja_heap_step (heap, 1) || !kvasir_jinja_list_append (heap, list, more->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean
repeat_list (KvasirJinjaHeap *heap, KvasirJinjaValue value, gint64 n, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  for (gint64 i = 0; value.list->n > 0 && i < n; i++)
    if (!append_all (heap, list, value.list))
      return FALSE;
  *out = kvasir_jinja_list (value.kind, list);
  return TRUE;
}

static gboolean
is_row (KvasirJinjaValue value)
{
  return value.kind == KVASIR_JINJA_LIST || value.kind == KVASIR_JINJA_TUPLE;
}

static gboolean
add (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, KvasirJinjaValue *out)
{
  if (a.kind == KVASIR_JINJA_TEXT && b.kind == KVASIR_JINJA_TEXT)
    {
      *out = kvasir_jinja_text (kvasir_jinja_text_concat (heap, a.text, b.text));
      return out->text != NULL;
    }
  if (!is_row (a) || a.kind != b.kind)
    return fail_types (heap, KVASIR_JINJA_OP_ADD, a, b);
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  if (!append_all (heap, list, a.list) || !append_all (heap, list, b.list))
    return FALSE;
  *out = kvasir_jinja_list (a.kind, list);
  return TRUE;
}

static gboolean
multiply (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, KvasirJinjaValue *out)
{
  KvasirJinjaValue row = kvasir_jinja_is_integral (a) ? b : a;
  KvasirJinjaValue times = kvasir_jinja_is_integral (a) ? a : b;
  if (kvasir_jinja_is_integral (times) && row.kind == KVASIR_JINJA_TEXT)
    return repeat_text (heap, row.text, kvasir_jinja_as_int (times), out);
  if (kvasir_jinja_is_integral (times) && is_row (row))
    return repeat_list (heap, row, kvasir_jinja_as_int (times), out);
  return fail_types (heap, KVASIR_JINJA_OP_MUL, a, b);
}

static gboolean
join (KvasirJinjaHeap *heap, KvasirJinjaValue a, KvasirJinjaValue b, KvasirJinjaValue *out)
{
  KvasirJinjaText *left = kvasir_jinja_str (heap, a);
  KvasirJinjaText *right = left != NULL ? kvasir_jinja_str (heap, b) : NULL;
  if (right == NULL)
    return FALSE;
  *out = kvasir_jinja_text (kvasir_jinja_text_concat (heap, left, right));
  return out->text != NULL;
}

static gboolean
arithmetic (KvasirJinjaHeap *heap,
            KvasirJinjaOp op,
            KvasirJinjaValue a,
            KvasirJinjaValue b,
            KvasirJinjaValue *out)
{
  if (kvasir_jinja_is_number (a) && kvasir_jinja_is_number (b))
    return operate_numbers (heap, op, a, b, out);
  switch (op)
    {
    case KVASIR_JINJA_OP_ADD:
      return add (heap, a, b, out);
    case KVASIR_JINJA_OP_MUL:
      return multiply (heap, a, b, out);
    case KVASIR_JINJA_OP_MOD:
      if (a.kind == KVASIR_JINJA_TEXT)
        return kvasir_jinja_format_percent (heap, a.text, b, out);
      return fail_types (heap, op, a, b);
    default:
      return fail_types (heap, op, a, b);
    }
}

static gboolean
contains (KvasirJinjaHeap *heap, KvasirJinjaValue container, KvasirJinjaValue item, gboolean *found)
{
  *found = FALSE;
  if (container.kind == KVASIR_JINJA_TEXT)
    {
      if (item.kind != KVASIR_JINJA_TEXT)
        return kvasir_jinja_heap_fail (heap, "only a str can be 'in' a str, not '%s'",
                                       kvasir_jinja_type_name (item));
      const char *hay = kvasir_jinja_text_bytes (heap, container.text);
      const char *needle = kvasir_jinja_text_bytes (heap, item.text);
      *found = memmem (hay, container.text->len, needle, item.text->len) != NULL;
      return kvasir_jinja_heap_scan (heap, container.text->len);
    }
  if (container.kind == KVASIR_JINJA_DICT)
    {
      KvasirJinjaValue value;
      *found = kvasir_jinja_dict_get (heap, container.dict, item, &value);
      return heap->failure == NULL;
    }
  KvasirJinjaCursor cursor;
  KvasirJinjaValue each;
  if (!kvasir_jinja_cursor_init (&cursor, heap, container))
    return FALSE;
  while (!*found && kvasir_jinja_cursor_next (&cursor, &each))
    *found = kvasir_jinja_equal (heap, each, item);
  return heap->failure == NULL;
}

static gboolean
compare (KvasirJinjaHeap *heap,
         KvasirJinjaOp op,
         KvasirJinjaValue a,
         KvasirJinjaValue b,
         gboolean *result)
{
  int order;
  if (op == KVASIR_JINJA_OP_EQ || op == KVASIR_JINJA_OP_NE)
    {
      *result = kvasir_jinja_equal (heap, a, b) == (op == KVASIR_JINJA_OP_EQ);
      return heap->failure == NULL;
    }
  if (!kvasir_jinja_compare (heap, a, b, &order))
    return FALSE;
  switch (op)
    {
    case KVASIR_JINJA_OP_LT:
      *result = order < 0;
      break;
    case KVASIR_JINJA_OP_LE:
      *result = order <= 0;
      break;
    case KVASIR_JINJA_OP_GT:
      *result = order > 0;
      break;
    default:
      *result = order >= 0;
      break;
    }
  return TRUE;
}

gboolean
kvasir_jinja_operate (KvasirJinjaHeap *heap,
                      KvasirJinjaOp op,
                      KvasirJinjaValue a,
                      KvasirJinjaValue b,
                      KvasirJinjaValue *out)
{
  gboolean result = FALSE;
  gboolean ok;
  if (op < KVASIR_JINJA_OP_JOIN)
    return arithmetic (heap, op, a, b, out);
  if (op == KVASIR_JINJA_OP_JOIN)
    return join (heap, a, b, out);
  if (op == KVASIR_JINJA_OP_IN || op == KVASIR_JINJA_OP_NOT_IN)
    {
      ok = contains (heap, b, a, &result);
      result = result == (op == KVASIR_JINJA_OP_IN);
    }
  else
    ok = compare (heap, op, a, b, &result);
  *out = kvasir_jinja_bool (result);
  return ok;
}
