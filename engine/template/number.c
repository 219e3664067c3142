#include "engine/template/number.h"

#include "engine/template/unicode.h"

#include <math.h>
#include <string.h>

/* Longest text that is tried as a number: beyond it no double gains from further digits. */
#define MAX_NUMBER_BYTES 400

/* The shortest "d.ddde+xx" that reads back as @number. */
static void
shortest_scientific (double number, char *out, gsize size)
{
  for (int digits = 0; digits <= 16; digits++)
    {
      char format[16];
      g_snprintf (format, sizeof format, "%%.%de", digits);
      g_ascii_formatd (out, (int) size, format, number);
      if (g_ascii_strtod (out, NULL) == number)
        return;
    }
}

/* Writes @digits with the point after the first @whole of them. */
static void
write_plain (const char *digits, int whole, GString *out)
{
  int n = (int) strlen (digits);
  if (whole <= 0)
    {
      g_string_append (out, "0.");
      for (int i = whole; i < 0; i++)
        g_string_append_c (out, '0');
      g_string_append (out, digits);
      return;
    }
  for (int i = 0; i < MAX (whole, n); i++)
    {
      if (i == whole)
        g_string_append_c (out, '.');
      g_string_append_c (out, i < n ? digits[i] : '0');
    }
  if (whole >= n)
    g_string_append (out, ".0");
}

void
kvasir_jinja_format_float (double number, char out[KVASIR_JINJA_NUMBER_BYTES])
{
  if (!isfinite (number))
    {
      const char *name = isnan (number) ? "nan" : number > 0 ? "inf" : "-inf";
      g_strlcpy (out, name, KVASIR_JINJA_NUMBER_BYTES);
      return;
    }
  char scientific[KVASIR_JINJA_NUMBER_BYTES];
  shortest_scientific (number, scientific, sizeof scientific);
  char *e = strchr (scientific, 'e');
  int exponent = (int) g_ascii_strtoll (e + 1, NULL, 10);
  *e = '\0';
  g_autoptr (GString) text = g_string_new (scientific[0] == '-' ? "-" : "");
  g_autoptr (GString) digits = g_string_new (NULL);
  for (const char *p = scientific; *p != '\0'; p++)
    if (g_ascii_isdigit (*p))
      g_string_append_c (digits, *p);
  if (exponent >= -4 && exponent < 16)
    write_plain (digits->str, exponent + 1, text);
  else
    {
      g_string_append_c (text, digits->str[0]);
      if (digits->len > 1)
        g_string_append_printf (text, ".%s", digits->str + 1);
      g_string_append_printf (text, "e%c%02d", exponent < 0 ? '-' : '+', ABS (exponent));
    }
  g_strlcpy (out, text->str, KVASIR_JINJA_NUMBER_BYTES);
}

static void
trim_space (const char **bytes, gsize *len)
{
  gsize lead = kvasir_jinja_leading_space (*bytes, *len);
  *bytes += lead;
  *len -= lead;
  *len -= kvasir_jinja_trailing_space (*bytes, *len);
}

/* Copies without underscores, which may only stand between digits (or after a base prefix). */
static gboolean
drop_underscores (const char *bytes, gsize len, char *out)
{
  gsize n = 0;
  for (gsize i = 0; i < len; i++)
    {
      if (bytes[i] != '_')
        out[n++] = bytes[i];
      else if (i == 0 || i + 1 == len || !g_ascii_isalnum (bytes[i - 1]) ||
               !g_ascii_isalnum (bytes[i + 1]))
        return FALSE;
    }
  out[n] = '\0';
  return TRUE;
}

/* Skips 0x, 0o or 0b where the base allows it. */
static const char *
skip_prefix (const char *text, guint *base)
{
  guint named = 0;
  if (text[0] == '0')
    named = g_ascii_tolower (text[1]) == 'x'   ? 16
            : g_ascii_tolower (text[1]) == 'o' ? 8
            : g_ascii_tolower (text[1]) == 'b' ? 2
                                               : 0;
  if (named != 0 && (*base == named || *base == 0))
    {
      *base = named;
      return text + 2;
    }
  if (*base == 0)
    *base = 10;
  return text;
}

gboolean
kvasir_jinja_parse_int (const char *bytes, gsize len, guint base, gint64 *number)
{
  trim_space (&bytes, &len);
  char text[MAX_NUMBER_BYTES + 1];
  if (len == 0 || len > MAX_NUMBER_BYTES || !drop_underscores (bytes, len, text))
    return FALSE;
  gboolean negative = text[0] == '-';
  const char *digits = skip_prefix (text + (text[0] == '-' || text[0] == '+'), &base);
  guint64 limit = (guint64) G_MAXINT64 + negative;
  guint64 value = 0;
  if (*digits == '\0')
    return FALSE;
  for (; *digits != '\0'; digits++)
    {
      int digit = g_ascii_isalpha (*digits) ? g_ascii_tolower (*digits) - 'a' + 10
                                            : g_ascii_digit_value (*digits);
      if (digit < 0 || (guint) digit >= base || value > (limit - (guint) digit) / base)
        return FALSE;
      value = value * base + (guint) digit;
    }
  *number = negative ? (gint64) (0 - value) : (gint64) value;
  return TRUE;
}

static gboolean
parse_named (const char *text, double *number)
{
  double sign = text[0] == '-' ? -1 : 1;
  text += text[0] == '-' || text[0] == '+';
  if (g_ascii_strcasecmp (text, "inf") == 0 || g_ascii_strcasecmp (text, "infinity") == 0)
    *number = sign * INFINITY;
  else if (g_ascii_strcasecmp (text, "nan") == 0)
    *number = NAN;
  else
    return FALSE;
  return TRUE;
}

gboolean
kvasir_jinja_parse_float (const char *bytes, gsize len, double *number)
{
  trim_space (&bytes, &len);
  char text[MAX_NUMBER_BYTES + 1];
  if (len == 0 || len > MAX_NUMBER_BYTES || !drop_underscores (bytes, len, text))
    return FALSE;
  /* strtod also reads hexadecimal floats, which Python does not. */
  if (text[strspn (text, "0123456789+-.eE")] != '\0')
    return parse_named (text, number);
  char *end;
  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

gboolean
kvasir_jinja_float_to_int (double number, gint64 *integer)
{
  if (!(number >= -9223372036854775808.0 && number < 9223372036854775808.0))
    return FALSE;
  *integer = (gint64) number;
  return TRUE;
}
