/* Regular expressions of schemas (ECMA-262, as far as they are regular) as the inside of a JSON
 * text. Each character is written the way that JSON has it. */
#include <string.h>

#include "engine/grammar/charset.h"
#include "engine/grammar/schema-private.h"

#define MAX_DEPTH 50
#define MAX_COUNT 1000000000

typedef struct
{
  KvasirSchemaWriter *writer;
  const char *pattern;
  const char *at;
  GString *out; /* (owned) */
  guint depth;
} Reader;

static gboolean read_alternatives (Reader *self, gboolean top);

static gboolean
fail (Reader *self, const char *what)
{
  return kvasir_schema_fail (self->writer, "the pattern '%s': %s at character %ld", self->pattern,
                             what, g_utf8_pointer_to_offset (self->pattern, self->at) + 1);
}

/* ---- sets of characters */

static void
add_range (GArray *ranges, guint32 first, guint32 last)
{
  KvasirCodeRange range = { first, last };
  g_array_append_val (ranges, range);
}

/* @first to @last without what JSON writes in another way, and halves of characters. */
static void
append_plain_range (GString *out, guint32 first, guint32 last)
{
  static const KvasirCodeRange gaps[] = {
    { 0, 0x1F },
    { '"', '"' },
    { '\\', '\\' },
    { 0xD800, 0xDFFF },
    { KVASIR_MAX_CODE + 1, G_MAXUINT32 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (gaps) && first <= last; i++)
    {
      if (first < gaps[i].first)
        g_string_append_printf (out, "\\U%08X-\\U%08X", first, MIN (last, gaps[i].first - 1));
      first = MAX (first, MIN (gaps[i].last, KVASIR_MAX_CODE) + 1);
    }
}

/* The escapes of the characters in @ranges that have to be escaped. */
static void
append_escapes (KvasirSchemaWriter *writer, GString *out, const GArray *ranges)
{
  static const char letters[] = "\"\\\n\t\r\b\f";
  static const char names[] = "\"\\ntrbf";
  const KvasirCodeRange *all = (const KvasirCodeRange *) (gpointer) ranges->data;
  if (ranges->len > 0 && all[0].first == 0 && all[0].last >= 0x1F)
    g_string_append_printf (out, " | \"\\\\\" ([bfnrt] | \"u00\" [01] %s)",
                            kvasir_schema_use (writer, "hex"));
  else
    for (guint32 c = 0; c < 0x20; c++)
      if (kvasir_code_ranges_meet (all, ranges->len, c, c))
        g_string_append_printf (out, " | \"\\\\u%04X\"", c);
  for (guint i = 0; letters[i] != '\0'; i++)
    if (kvasir_code_ranges_meet (all, ranges->len, (guint8) letters[i], (guint8) letters[i]))
      g_string_append_printf (out, " | \"\\\\%s%c\"", i < 2 ? "\\" : "", names[i]);
}

/* One character of @ranges. Refuses the empty set. */
static gboolean
append_set (Reader *self, GArray *ranges)
{
  g_autoptr (GString) plain = g_string_new (NULL);
  g_autoptr (GString) escapes = g_string_new (NULL);
  kvasir_code_ranges_sort (ranges);
  for (guint i = 0; i < ranges->len; i++)
    append_plain_range (plain, g_array_index (ranges, KvasirCodeRange, i).first,
                        g_array_index (ranges, KvasirCodeRange, i).last);
  append_escapes (self->writer, escapes, ranges);
  if (plain->len == 0 && escapes->len == 0)
    return fail (self, "a class without characters");
  if (plain->len > 0)
    g_string_append_printf (self->out, "([%s]%s)", plain->str, escapes->str);
  else
    g_string_append_printf (self->out, "(%s)", escapes->str + strlen (" | "));
  return TRUE;
}

/* What \d, \w and \s stand for. FALSE: @letter is none of them. */
static gboolean
add_class (GArray *ranges, char letter)
{
  static const KvasirCodeRange words[] = { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } };
  static const KvasirCodeRange spaces[] = { { '\t', '\r' },     { ' ', ' ' },
                                            { 0xA0, 0xA0 },     { 0x1680, 0x1680 },
                                            { 0x2000, 0x200A }, { 0x2028, 0x2029 },
                                            { 0x202F, 0x202F }, { 0x205F, 0x205F },
                                            { 0x3000, 0x3000 }, { 0xFEFF, 0xFEFF } };
  g_autoptr (GArray) own = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  switch (g_ascii_tolower (letter))
    {
    case 'd':
      g_array_append_vals (own, words, 1);
      break;
    case 'w':
      g_array_append_vals (own, words, G_N_ELEMENTS (words));
      break;
    case 's':
      g_array_append_vals (own, spaces, G_N_ELEMENTS (spaces));
      break;
    default:
      return FALSE;
    }
  if (g_ascii_isupper (letter))
    kvasir_code_ranges_negate (own);
  g_array_append_vals (ranges, own->data, own->len);
  return TRUE;
}

/* ---- characters */

static gboolean
read_hex (Reader *self, guint n, guint32 *code)
{
  *code = 0;
  for (guint i = 0; i < n; i++)
    {
      int digit = g_ascii_xdigit_value (*self->at);
      if (digit < 0)
        return fail (self, "an escape lacks a hexadecimal digit");
      *code = *code * 16 + (guint32) digit;
      self->at++;
    }
  return TRUE;
}

/* Behind the backslash: a character. */
static gboolean
read_escape (Reader *self, guint32 *code)
{
  static const char letters[] = "nrtfv0";
  static const char meanings[] = "\n\r\t\f\v";
  char letter = *self->at;
  const char *found = letter != '\0' ? strchr (letters, letter) : NULL;
  if (g_ascii_isalnum (letter) && found == NULL && letter != 'x' && letter != 'u')
    return fail (self, "this escape is not supported");
  if (letter == '\0')
    return fail (self, "it ends with a backslash");
  self->at++;
  if (letter == 'x' || letter == 'u')
    return read_hex (self, letter == 'x' ? 2 : 4, code);
  *code = found != NULL ? (guint32) meanings[found - letters] : 0;
  if (found == NULL)
    {
      self->at--;
      *code = g_utf8_get_char (self->at);
      self->at = g_utf8_next_char (self->at);
    }
  return TRUE;
}

static gboolean
read_char (Reader *self, guint32 *code)
{
  if (*self->at == '\\')
    {
      self->at++;
      return read_escape (self, code);
    }
  *code = g_utf8_get_char (self->at);
  self->at = g_utf8_next_char (self->at);
  return TRUE;
}

/* One of a class: a character, a range or a class by letter. */
static gboolean
read_class_item (Reader *self, GArray *ranges)
{
  guint32 first;
  guint32 last;
  if (*self->at == '\0')
    return fail (self, "a class does not end");
  if (*self->at == '\\' && self->at[1] == 'b')
    return fail (self, "this escape is not supported");
  if (*self->at == '\\' && add_class (ranges, self->at[1]))
    {
      self->at += 2;
      return TRUE;
    }
  if (!read_char (self, &first))
    return FALSE;
  last = first;
  if (self->at[0] == '-' && self->at[1] != ']' && self->at[1] != '\0')
    {
      self->at++;
      if (*self->at == '\\' && strchr ("dwsDWS", self->at[1]) != NULL)
        return fail (self, "a range ends with a class");
      if (!read_char (self, &last))
        return FALSE;
    }
  if (last < first)
    return fail (self, "a range runs backwards");
  add_range (ranges, first, last);
  return TRUE;
}

static gboolean
read_class (Reader *self)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  gboolean negated = *self->at == '^';
  self->at += negated;
  while (*self->at != ']')
    if (!read_class_item (self, ranges))
      return FALSE;
  self->at++;
  if (negated)
    {
      kvasir_code_ranges_sort (ranges);
      kvasir_code_ranges_negate (ranges);
    }
  return append_set (self, ranges);
}

static gboolean
read_dot (Reader *self)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  add_range (ranges, '\n', '\n');
  add_range (ranges, '\r', '\r');
  add_range (ranges, 0x2028, 0x2029);
  kvasir_code_ranges_sort (ranges);
  kvasir_code_ranges_negate (ranges);
  return append_set (self, ranges);
}

static gboolean
read_single (Reader *self)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  guint32 code;
  if (*self->at == '\\' && add_class (ranges, self->at[1]))
    self->at += 2;
  else if (read_char (self, &code))
    add_range (ranges, code, code);
  else
    return FALSE;
  return append_set (self, ranges);
}

/* ---- groups and repetition */

static gboolean
read_group (Reader *self)
{
  if (++self->depth > MAX_DEPTH)
    return fail (self, "groups are nested too deep");
  if (g_str_has_prefix (self->at, "?:"))
    self->at += 2;
  else if (*self->at == '?')
    return fail (self, "this kind of group is not supported");
  g_string_append_c (self->out, '(');
  if (!read_alternatives (self, FALSE))
    return FALSE;
  if (*self->at != ')')
    return fail (self, "a group does not end");
  self->at++;
  self->depth--;
  g_string_append_c (self->out, ')');
  return TRUE;
}

/* The length of "{2}", "{2,}" or "{2,5}", 0: the brace is a character like others. */
static gsize
measure_bounds (const char *at)
{
  gsize n = 1 + strspn (at + 1, "0123456789");
  if (n == 1)
    return 0;
  if (at[n] == ',')
    n += 1 + strspn (at + n + 1, "0123456789");
  return at[n] == '}' ? n + 1 : 0;
}

/* Whether "{2,5}" asks for what can be written. */
static gboolean
check_bounds (Reader *self)
{
  char *end;
  guint64 min = g_ascii_strtoull (self->at + 1, &end, 10);
  guint64 max = *end == ',' && end[1] != '}' ? g_ascii_strtoull (end + 1, NULL, 10) : G_MAXUINT64;
  if (min > max)
    return fail (self, "the bounds run backwards");
  if (min > MAX_COUNT || (max > MAX_COUNT && max != G_MAXUINT64))
    return fail (self, "a bound is above 1000000000");
  return TRUE;
}

static gboolean
read_repetition (Reader *self)
{
  gsize n = *self->at == '{' ? measure_bounds (self->at)
                             : (*self->at != '\0' && strchr ("*+?", *self->at) != NULL);
  if (n > 1 && !check_bounds (self))
    return FALSE;
  g_string_append_len (self->out, self->at, (gssize) n);
  self->at += n;
  /* How eager it is changes nothing about which texts match. */
  if (n > 0 && *self->at == '?')
    self->at++;
  if (n > 0 && *self->at != '\0' && strchr ("*+?", *self->at) != NULL)
    return fail (self, "nothing to repeat");
  g_string_append_c (self->out, ' ');
  return TRUE;
}

static gboolean
read_atom (Reader *self)
{
  char c = *self->at;
  if (strchr ("*+?", c) != NULL)
    return fail (self, "nothing to repeat");
  if (c == '^' || c == '$')
    return fail (self, "'^' and '$' are supported only at the ends");
  if (c == '(' || c == '[' || c == '.')
    self->at++;
  return c == '('   ? read_group (self)
         : c == '[' ? read_class (self)
         : c == '.' ? read_dot (self)
                    : read_single (self);
}

static gboolean
ends_sequence (const Reader *self, gboolean top)
{
  char c = *self->at;
  return c == '\0' || c == '|' || (c == ')' && !top) ||
         (top && c == '$' && (self->at[1] == '\0' || self->at[1] == '|'));
}

/* Where a pattern has no anchor, anything may stand before or behind it. */
static gboolean
read_sequence (Reader *self, gboolean top)
{
  gboolean begun = top && *self->at == '^';
  self->at += begun;
  /* Nothing at the end of a rule would make the next line a part of it. */
  if (ends_sequence (self, top))
    g_string_append (self->out, "\"\" ");
  if (top && !begun)
    g_string_append_printf (self->out, "%s* ", kvasir_schema_use (self->writer, "char"));
  while (!ends_sequence (self, top))
    if (!read_atom (self) || !read_repetition (self))
      return FALSE;
  gboolean ended = top && *self->at == '$';
  self->at += ended;
  if (top && !ended)
    g_string_append_printf (self->out, "%s* ", kvasir_schema_use (self->writer, "char"));
  return TRUE;
}

static gboolean
read_alternatives (Reader *self, gboolean top)
{
  for (;;)
    {
      if (!read_sequence (self, top))
        return FALSE;
      if (*self->at != '|')
        return TRUE;
      self->at++;
      g_string_append (self->out, "| ");
    }
}

char *
kvasir_schema_write_pattern (KvasirSchemaWriter *self, const char *pattern)
{
  Reader reader = { .writer = self, .pattern = pattern, .at = pattern, .out = g_string_new (NULL) };
  char *rule = read_alternatives (&reader, TRUE)
                   ? kvasir_schema_add_rule (self, "pattern", reader.out->str)
                   : NULL;
  g_string_free (reader.out, TRUE);
  return rule;
}
