/* json.loads(), kept apart from jansson because every byte's origin must survive. */
#include "engine/template/dict.h"
#include "engine/template/json.h"
#include "engine/template/number.h"

#include <math.h>
#include <string.h>

typedef struct
{
  KvasirJinjaHeap *heap;
  KvasirJinjaText *text;
  const char *bytes;
  gsize len;
  gsize at;
} Reader;

static gboolean read_value (Reader *self, KvasirJinjaValue *out);

static gboolean
fail (Reader *self, const char *what)
{
  return kvasir_jinja_heap_fail (self->heap, "from_json: %s at byte %" G_GSIZE_FORMAT, what,
                                 self->at);
}

static char
peek (const Reader *self)
{
  return self->at < self->len ? self->bytes[self->at] : '\0';
}

static void
skip_space (Reader *self)
{
  while (self->at < self->len && strchr (" \t\n\r", self->bytes[self->at]) != NULL &&
         self->bytes[self->at] != '\0')
    self->at++;
}

static gboolean
skip (Reader *self, char c)
{
  skip_space (self);
  if (peek (self) != c)
    return FALSE;
  self->at++;
  return TRUE;
}

static gboolean
skip_word (Reader *self, const char *word)
{
  gsize len = strlen (word);
  if (len > self->len - self->at || memcmp (self->bytes + self->at, word, len) != 0)
    return FALSE;
  self->at += len;
  return TRUE;
}

static gboolean
read_unit (Reader *self, gunichar *unit)
{
  *unit = 0;
  for (guint i = 0; i < 4; i++, self->at++)
    {
      int digit = g_ascii_xdigit_value (peek (self));
      if (digit < 0)
        return fail (self, "an escape without four digits");
      *unit = *unit * 16 + (guint) digit;
    }
  return TRUE;
}

/* "\uXXXX" behind its u; two of them for a character beyond 16 bits. */
static gboolean
read_code (Reader *self, gunichar *code)
{
  gunichar low;
  if (!read_unit (self, code))
    return FALSE;
  if (*code >= 0xD800 && *code < 0xDC00 && skip_word (self, "\\u"))
    {
      if (!read_unit (self, &low))
        return FALSE;
      if (low >= 0xDC00 && low < 0xE000)
        *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    }
  return g_unichar_validate (*code) || fail (self, "half of a character");
}

static gboolean
read_escape (Reader *self, KvasirJinjaBuilder *out)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  guint origin = kvasir_jinja_text_origin (self->text, self->at - 1);
  char letter = peek (self);
  gunichar code;
  self->at++;
  if (letter == 'u')
    {
      if (!read_code (self, &code))
        return FALSE;
      kvasir_jinja_builder_append_char (out, code, origin);
      return TRUE;
    }
  const char *found = letter != '\0' ? strchr (letters, letter) : NULL;
  if (found == NULL)
    return fail (self, "an unknown escape");
  kvasir_jinja_builder_append (out, &meanings[found - letters], 1, origin);
  return TRUE;
}

/* A string behind its opening quote. */
static gboolean
read_string (Reader *self, KvasirJinjaValue *out)
{
  KvasirJinjaBuilder builder;
  kvasir_jinja_builder_init (&builder, self->heap);
  while (self->heap->failure == NULL)
    {
      gsize start = self->at;
      while ((guchar) peek (self) >= 0x20 && peek (self) != '"' && peek (self) != '\\')
        self->at++;
      kvasir_jinja_builder_append_sub (&builder, self->text, start, self->at - start);
      char c = peek (self);
      if (c != '"' && c != '\\')
        return fail (self, "a string without its closing quote");
      self->at++;
      if (c == '"')
        break;
      if (!read_escape (self, &builder))
        return FALSE;
    }
  KvasirJinjaText *text = kvasir_jinja_builder_finish (&builder);
  if (text != NULL)
    *out = kvasir_jinja_text (text);
  return text != NULL;
}

static gboolean
read_array (Reader *self, KvasirJinjaValue *out)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (self->heap);
  *out = kvasir_jinja_list (KVASIR_JINJA_LIST, list);
  if (skip (self, ']'))
    return TRUE;
  do
    {
      KvasirJinjaValue item;
      if (!read_value (self, &item) || !kvasir_jinja_list_append (self->heap, list, item))
        return FALSE;
    }
  while (skip (self, ','));
  return skip (self, ']') || fail (self, "expected ',' or ']'");
}

static gboolean
read_object (Reader *self, KvasirJinjaValue *out)
{
  KvasirJinjaDict *dict = kvasir_jinja_dict_new (self->heap);
  *out = kvasir_jinja_dict (dict);
  if (skip (self, '}'))
    return TRUE;
  do
    {
      KvasirJinjaValue key;
      KvasirJinjaValue value;
      if (!skip (self, '"'))
        return fail (self, "expected a key in quotes");
      if (!read_string (self, &key))
        return FALSE;
      if (!skip (self, ':'))
        return fail (self, "expected ':'");
      if (!read_value (self, &value) || !kvasir_jinja_dict_set (self->heap, dict, key, value))
        return FALSE;
    }
  while (skip (self, ','));
  return skip (self, '}') || fail (self, "expected ',' or '}'");
}

/* Length of a JSON number; *@whole: neither fraction nor exponent. 0 if it is none. */
static gsize
match_number (const Reader *self, gboolean *whole)
{
  static const char digits[] = "0123456789";
  const char *start = self->bytes + self->at;
  gsize rest = self->len - self->at;
  char copy[400];
  gsize n = MIN (rest, sizeof copy - 1);
  memcpy (copy, start, n);
  copy[n] = '\0';
  gsize sign = copy[0] == '-';
  gsize at = sign + strspn (copy + sign, digits);
  if (at == sign || (copy[sign] == '0' && at > sign + 1))
    return copy[sign] == '0' ? sign + 1 : 0;
  gsize end = at;
  if (copy[at] == '.' && strspn (copy + at + 1, digits) > 0)
    end = at + 1 + strspn (copy + at + 1, digits);
  if (copy[end] == 'e' || copy[end] == 'E')
    {
      gsize exponent = end + 1 + (copy[end + 1] == '-' || copy[end + 1] == '+');
      gsize n_digits = strspn (copy + exponent, digits);
      end = n_digits > 0 ? exponent + n_digits : end;
    }
  *whole = end == at;
  return end;
}

static gboolean
read_number (Reader *self, KvasirJinjaValue *out)
{
  gboolean whole = TRUE;
  gsize len = match_number (self, &whole);
  const char *start = self->bytes + self->at;
  gint64 integer = 0;
  double number = 0;
  if (len == 0)
    return fail (self, "expected a value");
  if (whole ? !kvasir_jinja_parse_int (start, len, 10, &integer)
            : !kvasir_jinja_parse_float (start, len, &number))
    return fail (self, "a number that does not fit into 64 bits");
  self->at += len;
  *out = whole ? kvasir_jinja_int (integer) : kvasir_jinja_float (number);
  return TRUE;
}

static gboolean
read_word (Reader *self, KvasirJinjaValue *out)
{
  const struct
  {
    const char *word;
    KvasirJinjaValue value;
  } words[] = {
    { "null", kvasir_jinja_none () },
    { "true", kvasir_jinja_bool (TRUE) },
    { "false", kvasir_jinja_bool (FALSE) },
    { "NaN", kvasir_jinja_float (NAN) },
    { "Infinity", kvasir_jinja_float (INFINITY) },
    { "-Infinity", kvasir_jinja_float (-INFINITY) },
  };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (skip_word (self, words[i].word))
      {
        *out = words[i].value;
        return TRUE;
      }
  return read_number (self, out);
}

static gboolean
read_value (Reader *self, KvasirJinjaValue *out)
{
  if (!kvasir_jinja_heap_step (self->heap, 1) || !kvasir_jinja_heap_enter (self->heap))
    return FALSE;
  gboolean ok;
  if (skip (self, '{'))
    ok = read_object (self, out);
  else if (skip (self, '['))
    ok = read_array (self, out);
  else if (skip (self, '"'))
    ok = read_string (self, out);
  else
    ok = read_word (self, out);
  kvasir_jinja_heap_leave (self->heap);
  return ok;
}

gboolean
kvasir_jinja_parse_json (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaValue *out)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  Reader self = { heap, text, bytes, text->len, 0 };
  if (!read_value (&self, out))
    return FALSE;
  skip_space (&self);
  return self.at == self.len || fail (&self, "more text behind the value");
}
