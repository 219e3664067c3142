/* Characters, escapes, classes and places of a grammar's text. */
#include <string.h>

#include "engine/error.h"
#include "engine/grammar/gbnf-private.h"

void
kvasir_gbnf_locate (const char *text, const char *at, guint *line, guint *column)
{
  const char *start = text;
  *line = 1;
  for (const char *c = text; c < at; c++)
    if (*c == '\n')
      {
        ++*line;
        start = c + 1;
      }
  *column = 1 + (guint) g_utf8_strlen (start, at - start);
}

gboolean
kvasir_gbnf_fail_with (KvasirGbnfReader *self, const char *at, const char *format, ...)
{
  guint line;
  guint column;
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  kvasir_gbnf_locate (self->text, at, &line, &column);
  g_set_error (self->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Grammar, line %u, column %u: %s", line, column, what);
  return FALSE;
}

/* What stands at @at, for people. */
static char *
describe (const char *at)
{
  if (*at == '\0')
    return g_strdup ("the end");
  if (*at == '\n' || *at == '\r')
    return g_strdup ("a new line");
  gunichar c = g_utf8_get_char (at);
  if (!g_unichar_isprint (c))
    return g_strdup_printf ("U+%04X", c);
  return g_strdup_printf ("'%.*s'", (int) (g_utf8_next_char (at) - at), at);
}

gboolean
kvasir_gbnf_fail (KvasirGbnfReader *self, const char *at, const char *expected)
{
  g_autofree char *found = describe (at);
  return kvasir_gbnf_fail_with (self, at, "expected %s, found %s", expected, found);
}

void
kvasir_gbnf_skip_space (KvasirGbnfReader *self, gboolean lines)
{
  for (;; self->at++)
    {
      if (*self->at == '#')
        self->at += strcspn (self->at, "\r\n");
      gboolean space = *self->at == ' ' || *self->at == '\t';
      gboolean line = *self->at == '\n' || *self->at == '\r';
      if (!space && !(lines && line))
        return;
    }
}

gsize
kvasir_gbnf_measure_name (const KvasirGbnfReader *self)
{
  gsize n = 0;
  while (g_ascii_isalnum (self->at[n]) || self->at[n] == '-' || self->at[n] == '_')
    n++;
  return n;
}

gboolean
kvasir_gbnf_read_number (KvasirGbnfReader *self, guint32 *number)
{
  const char *start = self->at;
  guint64 value = 0;
  if (!g_ascii_isdigit (*self->at))
    return kvasir_gbnf_fail (self, self->at, "a number");
  for (; g_ascii_isdigit (*self->at); self->at++)
    {
      value = value * 10 + (guint64) g_ascii_digit_value (*self->at);
      if (value >= KVASIR_NO_MAX)
        return kvasir_gbnf_fail_with (self, start, "the number is above %u", KVASIR_NO_MAX - 1);
    }
  *number = (guint32) value;
  return TRUE;
}

static gboolean
read_hex (KvasirGbnfReader *self, guint n, guint32 *code)
{
  const char *start = self->at;
  *code = 0;
  for (guint i = 0; i < n; i++, self->at++)
    {
      int digit = g_ascii_xdigit_value (*self->at);
      if (digit < 0)
        return kvasir_gbnf_fail (self, self->at, "a hexadecimal digit of the escape");
      /* Eight digits just fit. */
      *code = *code * 16 + (guint32) digit;
    }
  if (!g_unichar_validate (*code))
    return kvasir_gbnf_fail_with (self, start, "U+%04X is no character", *code);
  return TRUE;
}

gboolean
kvasir_gbnf_read_char (KvasirGbnfReader *self, guint32 *code)
{
  static const char letters[] = "nrt\"\\[]-^'/";
  static const char meanings[] = "\n\r\t\"\\[]-^'/";
  if (*self->at != '\\')
    {
      if (*self->at == '\0')
        return kvasir_gbnf_fail (self, self->at, "a character");
      *code = g_utf8_get_char (self->at);
      self->at = g_utf8_next_char (self->at);
      return TRUE;
    }
  char letter = self->at[1];
  self->at += 2;
  switch (letter)
    {
    case 'x':
      return read_hex (self, 2, code);
    case 'u':
      return read_hex (self, 4, code);
    case 'U':
      return read_hex (self, 8, code);
    default:
      {
        const char *found = letter != '\0' ? strchr (letters, letter) : NULL;
        if (found == NULL)
          return kvasir_gbnf_fail (self, self->at - 1,
                                   "one of n r t \" \\ [ ] x u U behind the backslash");
        *code = (guint32) meanings[found - letters];
        return TRUE;
      }
    }
}

/* ---- sets */

static guint32
append_set (KvasirGrammar *grammar, const KvasirCodeRange *ranges, guint n)
{
  KvasirSet set = { grammar->ranges->len, n };
  g_array_append_vals (grammar->ranges, ranges, n);
  g_array_append_val (grammar->sets, set);
  return grammar->sets->len - 1;
}

guint32
kvasir_gbnf_add_set (KvasirGbnfReader *self, guint32 first, guint32 last)
{
  const KvasirCodeRange range = { first, last };
  if (first != last)
    return append_set (self->grammar, &range, 1);
  gpointer key = GUINT_TO_POINTER (first + 1);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (self->sets, key));
  if (known > 0)
    return known - 1;
  guint32 set = append_set (self->grammar, &range, 1);
  g_hash_table_insert (self->sets, key, GUINT_TO_POINTER (set + 1));
  return set;
}

static gboolean
read_range (KvasirGbnfReader *self, KvasirCodeRange *range)
{
  const char *start = self->at;
  if (*start == '\n' || *start == '\r')
    return kvasir_gbnf_fail (self, start, "']'");
  if (!kvasir_gbnf_read_char (self, &range->first))
    return FALSE;
  range->last = range->first;
  if (self->at[0] != '-' || self->at[1] == ']')
    return TRUE;
  self->at++;
  if (!kvasir_gbnf_read_char (self, &range->last))
    return FALSE;
  if (range->last < range->first)
    return kvasir_gbnf_fail_with (self, start, "the range from U+%04X to U+%04X runs backwards",
                                  range->first, range->last);
  return TRUE;
}

gboolean
kvasir_gbnf_read_class (KvasirGbnfReader *self, guint32 *set)
{
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (KvasirCodeRange));
  gboolean negated = *self->at == '^';
  self->at += negated;
  if (*self->at == ']')
    return kvasir_gbnf_fail (self, self->at, "a character of the class");
  while (*self->at != ']')
    {
      KvasirCodeRange range;
      if (!read_range (self, &range))
        return FALSE;
      g_array_append_val (ranges, range);
    }
  self->at++;
  kvasir_code_ranges_sort (ranges);
  if (negated)
    kvasir_code_ranges_negate (ranges);
  *set = append_set (self->grammar, (KvasirCodeRange *) (gpointer) ranges->data, ranges->len);
  return TRUE;
}
