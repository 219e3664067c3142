#include "engine/vocab/utf8.h"

/* The first byte gives the length and, for four values, a narrower range for the second byte, which
 * keeps out overlong forms, surrogates and everything above U+10FFFF (Unicode, table 3-7). */
static int
get_length (guint8 first, guint8 *low, guint8 *high)
{
  *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (first < 0x80)
    return 1;
  if (first < 0xc2 || first > 0xf4)
    return -1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

int
kvasir_utf8_read (const guint8 *bytes, gsize n, gunichar *c)
{
  guint8 low, high;
  int len = get_length (bytes[0], &low, &high);
  gunichar value;

  if (len < 0)
    return -1;
  value = len == 1 ? bytes[0] : bytes[0] & (0x7f >> len);
  for (int i = 1; i < len; i++)
    {
      if ((gsize) i >= n)
        return 0;
      if (bytes[i] < low || bytes[i] > high)
        return -i;
      value = value << 6 | (bytes[i] & 0x3f);
      low = 0x80;
      high = 0xbf;
    }
  *c = value;
  return len;
}

gsize
kvasir_utf8_append_valid (const char *text, gsize len, gboolean wait, GString *out)
{
  static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
  gsize i = 0;

  while (i < len)
    {
      gunichar c = 0;
      int n = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);

      if (n == 0 && wait)
        break;
      if (n > 0)
        g_string_append_len (out, text + i, n);
      else
        g_string_append (out, replacement);
      i += n == 0 ? len - i : (gsize) ABS (n);
    }
  return i;
}

gunichar
kvasir_unichar_lower (gunichar c)
{
  if (c >= 0x2160 && c <= 0x216f)
    return c + 0x10;
  if (c >= 0x24b6 && c <= 0x24cf)
    return c + 0x1a;
  return g_unichar_tolower (c);
}

char *
kvasir_utf8_lower (const char *text, gsize len, gsize *lower_len)
{
  GString *lower = g_string_sized_new (len);

  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);

      if (n > 0)
        g_string_append_unichar (lower, kvasir_unichar_lower (c));
      else
        g_string_append_c (lower, text[i]);
      i += (gsize) MAX (n, 1);
    }
  *lower_len = lower->len;
  return g_string_free (lower, FALSE);
}
