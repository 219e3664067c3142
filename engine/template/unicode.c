#include "engine/template/unicode.h"

#include <string.h>

#define LATIN_CAPITAL_I_WITH_DOT 0x130

gboolean
kvasir_jinja_is_utf8 (const char *bytes, gsize len)
{
  const char *end;
  while (!g_utf8_validate_len (bytes, len, &end))
    {
      gsize good = (gsize) (end - bytes);
      if (good == len || *end != '\0')
        return FALSE;
      bytes += good + 1;
      len -= good + 1;
    }
  return TRUE;
}

gsize
kvasir_jinja_count_chars (const char *bytes, gsize len)
{
  gsize n = 0;
  for (gsize i = 0; i < len; i++)
    n += ((guchar) bytes[i] & 0xC0) != 0x80;
  return n;
}

gsize
kvasir_jinja_char_offset (const char *bytes, gsize len, gsize n_chars)
{
  gsize offset = 0;
  while (n_chars > 0 && offset < len)
    {
      offset += g_utf8_skip[(guchar) bytes[offset]];
      n_chars--;
    }
  return MIN (offset, len);
}

gboolean
kvasir_jinja_is_space (gunichar c)
{
  if (c < 0x80)
    return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

gboolean
kvasir_jinja_is_line_end (gunichar c)
{
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

gboolean
kvasir_jinja_is_printable (gunichar c)
{
  if (c == ' ')
    return TRUE;
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_UNASSIGNED:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
    case G_UNICODE_SPACE_SEPARATOR:
      return FALSE;
    default:
      return TRUE;
    }
}

gboolean
kvasir_jinja_is_word (gunichar c)
{
  return c == '_' || g_unichar_isalnum (c);
}

gsize
kvasir_jinja_leading_space (const char *bytes, gsize len)
{
  gsize n = 0;
  while (n < len && kvasir_jinja_is_space (g_utf8_get_char (bytes + n)))
    n += g_utf8_skip[(guchar) bytes[n]];
  return n;
}

gsize
kvasir_jinja_trailing_space (const char *bytes, gsize len)
{
  const char *end = bytes + len;
  while (end > bytes)
    {
      const char *last = g_utf8_prev_char (end);
      if (!kvasir_jinja_is_space (g_utf8_get_char (last)))
        break;
      end = last;
    }
  return len - (gsize) (end - bytes);
}

gsize
kvasir_jinja_to_upper (gunichar c, char out[KVASIR_JINJA_CASE_BYTES])
{
  if (c < 0x80)
    {
      out[0] = g_ascii_toupper ((char) c);
      return 1;
    }
  /* g_utf8_strup() knows the characters that become several (ß, ﬁ). Of the languages that it treats
   * specially only the ASCII i would notice, and that does not come here. */
  char one[7] = { 0 };
  g_unichar_to_utf8 (c, one);
  g_autofree char *upper = g_utf8_strup (one, -1);
  gsize len = MIN (strlen (upper), KVASIR_JINJA_CASE_BYTES);
  memcpy (out, upper, len);
  return len;
}

gsize
kvasir_jinja_to_lower (gunichar c, char out[KVASIR_JINJA_CASE_BYTES])
{
  if (c == LATIN_CAPITAL_I_WITH_DOT)
    {
      /* The one character whose lower case is two: i and the combining dot above. */
      memcpy (out, "i\xCC\x87", 3);
      return 3;
    }
  return (gsize) g_unichar_to_utf8 (g_unichar_tolower (c), out);
}

gsize
kvasir_jinja_to_title (gunichar c, char out[KVASIR_JINJA_CASE_BYTES])
{
  gunichar title = g_unichar_totitle (c);
  if (title != c)
    return (gsize) g_unichar_to_utf8 (title, out);
  char upper[KVASIR_JINJA_CASE_BYTES];
  gsize len = kvasir_jinja_to_upper (c, upper);
  gsize first = g_utf8_skip[(guchar) upper[0]];
  memcpy (out, upper, first);
  gsize n = first;
  for (gsize i = first; i < len; i += g_utf8_skip[(guchar) upper[i]])
    {
      char lower[KVASIR_JINJA_CASE_BYTES];
      gsize len_lower = kvasir_jinja_to_lower (g_utf8_get_char (upper + i), lower);
      memcpy (out + n, lower, MIN (len_lower, KVASIR_JINJA_CASE_BYTES - n));
      n += MIN (len_lower, KVASIR_JINJA_CASE_BYTES - n);
    }
  return n;
}

gboolean
kvasir_jinja_is_cased (gunichar c)
{
  return g_unichar_isupper (c) || g_unichar_islower (c) || g_unichar_istitle (c);
}
