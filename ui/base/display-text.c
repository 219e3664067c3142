#include "ui/base/display-text.h"

#include <string.h>

/* More marks on one letter than any script stacks; Pango takes seconds for thousands. */
#define MAX_COMBINING 12

/* Room for white space that is dropped, besides the characters that are shown. */
#define BYTES_PER_CHAR 16

#define REPLACEMENT "\ufffd"

static gboolean
is_hidden (gunichar c)
{
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || /* direction overrides */
         (c >= 0xE0000 && c <= 0xE0FFF) ||                               /* tag characters */
         (c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFF9 ||
         c == 0xFFFA || c == 0xFFFB || c == 0x200B || c == 0x2060;
}

static gboolean
is_combining (gunichar c)
{
  return c >= 0x300 && g_unichar_ismark (c);
}

static void
append_char (GString *out, gunichar c)
{
  if (c < 0x20 && c != '\n' && c != '\t')
    g_string_append_unichar (out, 0x2400 + c); /* the control pictures */
  else if (c == 0x7f)
    g_string_append_unichar (out, 0x2421);
  else if (c >= 0x80 && is_hidden (c))
    g_string_append_printf (out, "⟦U+%04X⟧", c);
  else
    g_string_append_unichar (out, c);
}

static void
append_valid (GString *out, const char *text, const char *end)
{
  guint n_marks = 0;

  for (const char *p = text; p < end; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      n_marks = is_combining (c) ? n_marks + 1 : 0;
      if (n_marks <= MAX_COMBINING)
        append_char (out, c);
      else if (n_marks == MAX_COMBINING + 1)
        g_string_append (out, "…");
    }
}

void
kvasir_display_text_append (GString *out, const char *text, gssize len)
{
  gsize left = len < 0 ? strlen (text) : (gsize) len;

  while (left > 0)
    {
      const char *end;

      if (g_utf8_validate_len (text, left, &end))
        {
          append_valid (out, text, end);
          return;
        }
      append_valid (out, text, end);
      left -= (gsize) (end - text);
      /* A byte that is no character, or the NUL that ends validation. */
      if (*end == '\0')
        append_char (out, 0);
      else
        g_string_append (out, REPLACEMENT);
      text = end + 1;
      left--;
    }
}

char *
kvasir_display_text (const char *text, gssize len)
{
  GString *out = g_string_new (NULL);

  kvasir_display_text_append (out, text, len);
  return g_string_free (out, FALSE);
}

char *
kvasir_display_line (const char *text, guint max_chars)
{
  /* A title out of a long text needs its beginning only; half a character at the end is marked. */
  gsize len = strnlen (text, (gsize) max_chars * BYTES_PER_CHAR);
  g_autofree char *safe = kvasir_display_text (text, (gssize) len);
  GString *out = g_string_new (NULL);
  guint n = 0;
  gboolean gap = FALSE;

  for (const char *p = safe; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);

      if (g_unichar_isspace (c))
        {
          gap = out->len > 0;
          continue;
        }
      if (n + (gap ? 1 : 0) >= max_chars)
        {
          g_string_append (out, "…");
          break;
        }
      if (gap)
        g_string_append_c (out, ' ');
      n += gap ? 2 : 1;
      gap = FALSE;
      g_string_append_unichar (out, c);
    }
  return g_string_free (out, FALSE);
}
