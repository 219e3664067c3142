/* The tokens inside of tags: names, numbers, strings, operators. */
#include "engine/template/lexer.h"
#include "engine/template/number.h"
#include "engine/template/unicode.h"

#include <string.h>

/* Longer ones first, in the order of the token types. */
static const char *const operators[] = {
  "//", "**", "==", "!=", ">=", "<=", ">", "<", "+", "-", "/", "*", "%",
  "~",  "[",  "]",  "(",  ")",  "{",  "}", "=", ".", ":", "|", ",", ";",
};

const char *
kvasir_jinja_token_name (KvasirJinjaTokenType type)
{
  static const char *const names[] = {
    "the end of the template",
    "text",
    "'{%'",
    "'%}'",
    "'{{'",
    "'}}'",
    "name",
    "string",
    "integer",
    "float",
  };
  return type < G_N_ELEMENTS (names) ? names[type] : operators[type - KVASIR_JINJA_TOKEN_FLOORDIV];
}

static gboolean
finish (KvasirJinjaLexer *self, KvasirJinjaToken *token, KvasirJinjaTokenType type, guint len)
{
  token->type = type;
  token->offset = self->at;
  token->len = len;
  self->at += len;
  self->after_dot = type == KVASIR_JINJA_TOKEN_DOT;
  return TRUE;
}

/* Length of digits of @base with single underscores between them. */
static guint
match_digits (const KvasirJinjaLexer *self, guint at, const char *digits)
{
  guint start = at;
  while (at < self->len)
    {
      guint next = at + (at > start && self->source[at] == '_');
      if (next >= self->len || self->source[next] == '\0' ||
          strchr (digits, self->source[next]) == NULL)
        break;
      at = next + 1;
    }
  return at - start;
}

/* Length of a float: digits with a fraction, an exponent or both; 0 if none is here. */
static guint
match_float (const KvasirJinjaLexer *self, guint at)
{
  static const char decimal[] = "0123456789";
  guint start = at;
  guint n = match_digits (self, at, decimal);
  if (n == 0)
    return 0;
  at += n;
  guint fraction = 0;
  if (at < self->len && self->source[at] == '.')
    fraction = match_digits (self, at + 1, decimal);
  at += fraction > 0 ? fraction + 1 : 0;
  guint exponent = 0;
  if (at < self->len && (self->source[at] == 'e' || self->source[at] == 'E'))
    {
      guint sign = at + 1 < self->len && strchr ("+-", self->source[at + 1]) != NULL;
      exponent = match_digits (self, at + 1 + sign, decimal);
      exponent += exponent > 0 ? 1 + sign : 0;
    }
  return fraction + exponent > 0 ? at + exponent - start : 0;
}

static guint
match_integer (const KvasirJinjaLexer *self, guint at)
{
  static const struct
  {
    char letter;
    const char *digits;
  } bases[] = { { 'x', "0123456789abcdefABCDEF" }, { 'o', "01234567" }, { 'b', "01" } };
  char next = at + 1 < self->len ? g_ascii_tolower (self->source[at + 1]) : '\0';
  for (guint i = 0; self->source[at] == '0' && i < G_N_ELEMENTS (bases); i++)
    if (next == bases[i].letter)
      {
        guint under = at + 2 < self->len && self->source[at + 2] == '_';
        guint n = match_digits (self, at + 2 + under, bases[i].digits);
        return n > 0 ? n + 2 + under : 1;
      }
  /* A zero may only be followed by zeros: "01" is two numbers. */
  return match_digits (self, at, self->source[at] == '0' ? "0" : "0123456789");
}

static gboolean
read_number (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  const char *start = self->source + self->at;
  guint len = self->after_dot ? 0 : match_float (self, self->at);
  if (len > 0)
    {
      if (!kvasir_jinja_parse_float (start, len, &token->number))
        return kvasir_jinja_lexer_fail (self, self->at, "a number that is too long");
      return finish (self, token, KVASIR_JINJA_TOKEN_FLOAT, len);
    }
  len = match_integer (self, self->at);
  if (!kvasir_jinja_parse_int (start, len, 0, &token->integer))
    return kvasir_jinja_lexer_fail (self, self->at, "an integer that does not fit into 64 bits");
  return finish (self, token, KVASIR_JINJA_TOKEN_INTEGER, len);
}

static gboolean
read_name (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  guint end = self->at;
  while (end < self->len && kvasir_jinja_is_word (g_utf8_get_char (self->source + end)))
    end += g_utf8_skip[(guchar) self->source[end]];
  token->text = kvasir_jinja_text_new (self->heap, self->source + self->at, end - self->at,
                                       KVASIR_JINJA_ORIGIN_TEMPLATE);
  kvasir_jinja_text_hash (self->heap, token->text);
  return finish (self, token, KVASIR_JINJA_TOKEN_NAME, end - self->at);
}

/* The offset of the closing quote, or the length of the source. */
static guint
find_quote (const KvasirJinjaLexer *self)
{
  char quote = self->source[self->at];
  guint at = self->at + 1;
  while (at < self->len && self->source[at] != quote)
    at += self->source[at] == '\\' ? 2 : 1;
  return MIN (at, self->len);
}

/* Up to @max digits of a character's number; returns how many there were. */
static guint
read_code (const char *text, guint max, guint base, gunichar *code)
{
  guint n = 0;
  *code = 0;
  while (n < max && (base == 16 ? g_ascii_isxdigit (text[n]) : text[n] >= '0' && text[n] <= '7'))
    *code = *code * base + (guint) g_ascii_xdigit_value (text[n++]);
  return n;
}

/* An escape with the character's number behind the backslash: bytes used, 0 if it is none. */
static guint
read_numbered (const char *text, gunichar *code, gboolean *ok)
{
  guint digits = *text == 'x' ? 2 : *text == 'u' ? 4 : *text == 'U' ? 8 : 0;
  if (digits == 0)
    {
      guint n = read_code (text, 3, 8, code);
      return n;
    }
  *ok = read_code (text + 1, digits, 16, code) == digits && g_unichar_validate (*code);
  return digits + 1;
}

/* Appends what the escape behind a backslash stands for; returns the bytes used. */
static guint
append_escape (KvasirJinjaBuilder *out, const char *text, gboolean *ok)
{
  static const char letters[] = "abfnrtv\\'\"";
  static const char meanings[] = "\a\b\f\n\r\t\v\\'\"";
  gunichar code;
  const char *letter = *text != '\0' ? strchr (letters, *text) : NULL;
  if (letter != NULL)
    {
      kvasir_jinja_builder_append (out, &meanings[letter - letters], 1, 0);
      return 1;
    }
  if (*text == '\n')
    return 1;
  guint n = read_numbered (text, &code, ok);
  *ok = *ok && *text != 'N'; /* characters by name */
  if (n > 0 && *ok)
    kvasir_jinja_builder_append_char (out, code, KVASIR_JINJA_ORIGIN_TEMPLATE);
  if (n == 0)
    kvasir_jinja_builder_append (out, "\\", 1, KVASIR_JINJA_ORIGIN_TEMPLATE);
  return n;
}

static gboolean
resolve_escapes (KvasirJinjaLexer *self, KvasirJinjaToken *token, guint start, guint end)
{
  KvasirJinjaBuilder out;
  kvasir_jinja_builder_init (&out, self->heap);
  gboolean ok = TRUE;
  while (start < end)
    {
      const char *from = self->source + start;
      const char *backslash = memchr (from, '\\', end - start);
      guint n = backslash != NULL ? (guint) (backslash - from) : end - start;
      kvasir_jinja_builder_append (&out, from, n, KVASIR_JINJA_ORIGIN_TEMPLATE);
      start += n;
      /* The source goes on behind the string (at least its quote), so this reads within it. */
      guint used = backslash != NULL ? 1 + append_escape (&out, backslash + 1, &ok) : 0;
      if (!ok)
        return kvasir_jinja_lexer_fail (self, start, "an escape that names no character");
      start += used;
    }
  token->text = kvasir_jinja_builder_finish (&out);
  return token->text != NULL;
}

static gboolean
read_string (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  guint start = self->at + 1;
  guint end = find_quote (self);
  if (end == self->len)
    return kvasir_jinja_lexer_fail (self, self->at, "a string without its closing quote");
  if (memchr (self->source + start, '\\', end - start) == NULL)
    token->text = kvasir_jinja_text_new (self->heap, self->source + start, end - start,
                                         KVASIR_JINJA_ORIGIN_TEMPLATE);
  else if (!resolve_escapes (self, token, start, end))
    return FALSE;
  kvasir_jinja_text_hash (self->heap, token->text);
  return finish (self, token, KVASIR_JINJA_TOKEN_STRING, end + 1 - self->at);
}

/* Keeps count of brackets: "}}" inside of them ends no tag. */
static gboolean
balance (KvasirJinjaLexer *self, char c)
{
  const char *open = strchr ("([{", c);
  if (open != NULL)
    {
      if (self->n_brackets == KVASIR_JINJA_MAX_BRACKETS)
        return kvasir_jinja_lexer_fail (self, self->at, "more than %d brackets inside each other",
                                        KVASIR_JINJA_MAX_BRACKETS);
      self->brackets[self->n_brackets++] = c == '(' ? ')' : c == '[' ? ']' : '}';
      return TRUE;
    }
  if (strchr (")]}", c) == NULL)
    return TRUE;
  if (self->n_brackets == 0)
    return kvasir_jinja_lexer_fail (self, self->at, "unexpected '%c'", c);
  char due = self->brackets[--self->n_brackets];
  if (due != c)
    return kvasir_jinja_lexer_fail (self, self->at, "unexpected '%c', expected '%c'", c, due);
  return TRUE;
}

static gboolean
read_operator (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  const char *at = self->source + self->at;
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    {
      gsize len = strlen (operators[i]);
      if (len <= self->len - self->at && memcmp (at, operators[i], len) == 0)
        return balance (self, *at) && finish (self, token, KVASIR_JINJA_TOKEN_FLOORDIV + i, len);
    }
  return kvasir_jinja_lexer_fail (self, self->at, "unexpected character '%.*s'",
                                  (int) g_utf8_skip[(guchar) *at], at);
}

gboolean
kvasir_jinja_lexer_tag_token (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  char c = self->source[self->at];
  if (g_ascii_isdigit (c))
    return read_number (self, token);
  if (c == '\'' || c == '"')
    return read_string (self, token);
  if (kvasir_jinja_is_word (g_utf8_get_char (self->source + self->at)))
    return read_name (self, token);
  return read_operator (self, token);
}
