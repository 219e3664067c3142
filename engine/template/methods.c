/* Methods of texts that ask about characters, and the lookup of methods. */
#include "engine/template/methods.h"
#include "engine/template/unicode.h"

typedef gboolean (*CharTest) (gunichar c);

/* Whether the text is not empty and all its characters pass. */
static gboolean
test_all (KvasirJinjaCall *call, CharTest test, KvasirJinjaValue *out)
{
  KvasirJinjaText *text = call->self.text;
  const char *bytes = kvasir_jinja_text_bytes (call->heap, text);
  gboolean all = text->len > 0;
  for (gsize i = 0; all && i < text->len; i += g_utf8_skip[(guchar) bytes[i]])
    all = test (g_utf8_get_char (bytes + i));
  *out = kvasir_jinja_bool (all);
  return kvasir_jinja_heap_scan (call->heap, text->len);
}

static gboolean
is_decimal (gunichar c)
{
  return g_unichar_type (c) == G_UNICODE_DECIMAL_NUMBER;
}

static gboolean
is_numeric (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);
  return type == G_UNICODE_DECIMAL_NUMBER || type == G_UNICODE_LETTER_NUMBER ||
         type == G_UNICODE_OTHER_NUMBER;
}

/* Decimals and the digits set above or below the line or in circles. */
static gboolean
is_digit (gunichar c)
{
  return is_decimal (c) || c == 0xB2 || c == 0xB3 || c == 0xB9 || c == 0x2070 ||
         (c >= 0x2074 && c <= 0x2079) || (c >= 0x2080 && c <= 0x2089) ||
         (c >= 0x2460 && c <= 0x2468);
}

static gboolean
is_alpha (gunichar c)
{
  return g_unichar_isalpha (c);
}

static gboolean
is_alnum (gunichar c)
{
  return g_unichar_isalpha (c) || is_numeric (c);
}

static gboolean
method_isalnum (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, is_alnum, out);
}

static gboolean
method_isalpha (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, is_alpha, out);
}

static gboolean
method_isdecimal (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, is_decimal, out);
}

static gboolean
method_isdigit (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, is_digit, out);
}

static gboolean
method_isnumeric (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, is_numeric, out);
}

static gboolean
method_isspace (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return test_all (call, kvasir_jinja_is_space, out);
}

/* "is lower" and "is upper" are the same question. */
static gboolean
ask_test (KvasirJinjaCall *call, const char *name, KvasirJinjaValue *out)
{
  KvasirJinjaText *test = kvasir_jinja_text_static (call->heap, name);
  return kvasir_jinja_find_test (call->heap, test)->func (call, out);
}

static gboolean
method_islower (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return ask_test (call, "lower", out);
}

static gboolean
method_isupper (KvasirJinjaCall *call, KvasirJinjaValue *out)
{
  return ask_test (call, "upper", out);
}

const KvasirJinjaBuiltin kvasir_jinja_character_methods[] = {
  { "isalnum", method_isalnum, 0, { NULL } },
  { "isalpha", method_isalpha, 0, { NULL } },
  { "isdecimal", method_isdecimal, 0, { NULL } },
  { "isdigit", method_isdigit, 0, { NULL } },
  { "islower", method_islower, 0, { NULL } },
  { "isnumeric", method_isnumeric, 0, { NULL } },
  { "isspace", method_isspace, 0, { NULL } },
  { "isupper", method_isupper, 0, { NULL } },
  { NULL },
};

const KvasirJinjaBuiltin *
kvasir_jinja_find_method (KvasirJinjaHeap *heap, KvasirJinjaValue self, KvasirJinjaText *name)
{
  const KvasirJinjaBuiltin *method;
  switch (self.kind)
    {
    case KVASIR_JINJA_TEXT:
      method = kvasir_jinja_find (heap, kvasir_jinja_text_methods, name);
      return method != NULL ? method
                            : kvasir_jinja_find (heap, kvasir_jinja_character_methods, name);
    case KVASIR_JINJA_LIST:
      return kvasir_jinja_find (heap, kvasir_jinja_list_methods, name);
    case KVASIR_JINJA_TUPLE:
      return kvasir_jinja_find (heap, kvasir_jinja_tuple_methods, name);
    case KVASIR_JINJA_DICT:
      return kvasir_jinja_find (heap, kvasir_jinja_dict_methods, name);
    default:
      return NULL;
    }
}
