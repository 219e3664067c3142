/* The tests of "is". */
#include "engine/template/callable.h"
#include "engine/template/iter.h"
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

static gboolean
give (KvasirJinjaValue *out, gboolean verdict)
{
  *out = kvasir_jinja_bool (verdict);
  return TRUE;
}

static gboolean
test_defined (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind != KVASIR_JINJA_UNDEFINED);
}

static gboolean
test_undefined (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_UNDEFINED);
}

static gboolean
test_none (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_NONE);
}

static gboolean
test_boolean (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_BOOL);
}

static gboolean
test_true (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_BOOL && call->self.boolean);
}

static gboolean
test_false (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_BOOL && !call->self.boolean);
}

static gboolean
test_integer (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_INT);
}

static gboolean
test_float (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_FLOAT);
}

static gboolean
test_number (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, kvasir_jinja_is_number (call->self));
}

static gboolean
test_string (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_TEXT);
}

static gboolean
test_mapping (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_DICT);
}

static gboolean
test_iterable (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, kvasir_jinja_is_iterable (call->self));
}

/* What has a length and can be indexed, dicts included. Jinja finds both in an undefined value. */
static gboolean
test_sequence (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  gsize n;
  return give (out, kvasir_jinja_length (call->self, &n) && call->self.kind != KVASIR_JINJA_VIEW);
}

static gboolean
test_callable (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_CALLABLE ||
                        call->self.kind == KVASIR_JINJA_UNDEFINED ||
                        call->self.kind == KVASIR_JINJA_LOOP);
}

/* The rest of a division of self by the number. */
static gboolean
get_rest (KvasirJinjaCall *call, KvasirJinjaValue divisor, KvasirJinjaValue *rest)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_MOD, call->self, divisor, rest);
}

static gboolean
test_odd (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue rest;
  return get_rest (call, kvasir_jinja_int (2), &rest) &&
         give (out, kvasir_jinja_equal (call->heap, rest, kvasir_jinja_int (1)));
}

static gboolean
test_even (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue rest;
  return get_rest (call, kvasir_jinja_int (2), &rest) &&
         give (out, kvasir_jinja_equal (call->heap, rest, kvasir_jinja_int (0)));
}

static gboolean
test_divisibleby (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue rest;
  return get_rest (call, call->arg[0], &rest) &&
         give (out, kvasir_jinja_equal (call->heap, rest, kvasir_jinja_int (0)));
}

/* Whether there are cased characters, and all of them are upper (lower) case. */
static gboolean
has_case (KvasirJinjaCall *call, gboolean upper, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = kvasir_jinja_call_text (call, call->self);
  gboolean any = FALSE;
  if (text == NULL || !kvasir_jinja_heap_scan (call->heap, text->len))
    return FALSE;
  for (gsize i = 0; i < text->len; i += g_utf8_skip[(guchar) text->bytes[i]])
    {
      gunichar c = g_utf8_get_char (text->bytes + i);
      if (!kvasir_jinja_is_cased (c))
        continue;
      if (upper ? !g_unichar_isupper (c) : !g_unichar_islower (c))
        return give (out, FALSE);
      any = TRUE;
    }
  return give (out, any);
}

static gboolean
test_lower (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return has_case (call, FALSE, out);
}

static gboolean
test_upper (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return has_case (call, TRUE, out);
}

static gboolean
is_shared (KvasirJinjaKind kind)
{
  return kind >= KVASIR_JINJA_LIST;
}

/* Identity; small values are the same if they are of one type and equal. */
static gboolean
test_sameas (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  KvasirJinjaValue other = call->arg[0];
  if (call->self.kind != other.kind)
    return give (out, FALSE);
  if (other.kind == KVASIR_JINJA_UNDEFINED)
    return give (out, call->self.undefined == other.undefined);
  if (is_shared (other.kind))
    return give (out, call->self.list == other.list);

  return give (out, kvasir_jinja_equal (call->heap, call->self, other));
}

static gboolean
test_in (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_IN, call->self, call->arg[0], out);
}

static gboolean
test_eq (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_EQ, call->self, call->arg[0], out);
}

static gboolean
test_ne (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_NE, call->self, call->arg[0], out);
}

static gboolean
test_lt (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_LT, call->self, call->arg[0], out);
}

static gboolean
test_le (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_LE, call->self, call->arg[0], out);
}

static gboolean
test_gt (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_GT, call->self, call->arg[0], out);
}

static gboolean
test_ge (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return kvasir_jinja_operate (call->heap, KVASIR_JINJA_OP_GE, call->self, call->arg[0], out);
}

static gboolean
test_filter (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_TEXT &&
                        kvasir_jinja_find_filter (call->heap, call->self.text) != NULL);
}

static gboolean
test_test (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return give (out, call->self.kind == KVASIR_JINJA_TEXT &&
                        kvasir_jinja_find_test (call->heap, call->self.text) != NULL);
}

const KvasirJinjaBuiltin *
kvasir_jinja_find_test (KvasirJinjaHeap *heap, KvasirJinjaText *name)
{
  static const KvasirJinjaBuiltin tests[] = {
    { "defined", test_defined, 0, { NULL } },
    { "undefined", test_undefined, 0, { NULL } },
    { "none", test_none, 0, { NULL } },
    { "string", test_string, 0, { NULL } },
    { "mapping", test_mapping, 0, { NULL } },
    { "iterable", test_iterable, 0, { NULL } },
    { "sequence", test_sequence, 0, { NULL } },
    { "boolean", test_boolean, 0, { NULL } },
    { "true", test_true, 0, { NULL } },
    { "false", test_false, 0, { NULL } },
    { "number", test_number, 0, { NULL } },
    { "integer", test_integer, 0, { NULL } },
    { "float", test_float, 0, { NULL } },
    { "callable", test_callable, 0, { NULL } },
    { "odd", test_odd, 0, { NULL } },
    { "even", test_even, 0, { NULL } },
    { "divisibleby", test_divisibleby, 1, { "num" } },
    { "lower", test_lower, 0, { NULL } },
    { "upper", test_upper, 0, { NULL } },
    { "sameas", test_sameas, 1, { "other" } },
    { "in", test_in, 1, { "seq" } },
    { "==", test_eq, 1, { "other" } },
    { "eq", test_eq, 1, { "other" } },
    { "equalto", test_eq, 1, { "other" } },
    { "!=", test_ne, 1, { "other" } },
    { "ne", test_ne, 1, { "other" } },
    { "<", test_lt, 1, { "other" } },
    { "lt", test_lt, 1, { "other" } },
    { "lessthan", test_lt, 1, { "other" } },
    { "<=", test_le, 1, { "other" } },
    { "le", test_le, 1, { "other" } },
    { ">", test_gt, 1, { "other" } },
    { "gt", test_gt, 1, { "other" } },
    { "greaterthan", test_gt, 1, { "other" } },
    { ">=", test_ge, 1, { "other" } },
    { "ge", test_ge, 1, { "other" } },
    { "filter", test_filter, 0, { NULL } },
    { "test", test_test, 0, { NULL } },
    { NULL },
  };
  return kvasir_jinja_find (heap, tests, name);
}
