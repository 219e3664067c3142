#include "viz/format.h"

#include <string.h>

#include <glib/gi18n.h>

#define KIB 1024.0
#define MIB (1024.0 * 1024.0)
#define GIB (1024.0 * 1024.0 * 1024.0)

KvasirFormatted
kvasir_format_count (gint64 n)
{
  char digits[24];
  KvasirFormatted out = { "" };
  guint64 magnitude = n < 0 ? (guint64) 0 - (guint64) n : (guint64) n;
  gsize len = (gsize) g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, magnitude);
  char *end = out.s;
  if (n < 0)
    end = stpcpy (end, "\342\210\222");
  for (gsize i = 0; i < len; i++)
    {
      if (i > 0 && (len - i) % 3 == 0)
        end = stpcpy (end, KVASIR_THIN_SPACE);
      *end++ = digits[i];
    }
  *end = '\0';
  return out;
}

KvasirFormatted
kvasir_format_range (gint64 first, gint64 last)
{
  KvasirFormatted out = kvasir_format_count (first);
  if (first != last)
    {
      g_strlcat (out.s, "\342\200\223", sizeof out.s);
      g_strlcat (out.s, kvasir_format_count (last).s, sizeof out.s);
    }
  return out;
}

/* One place after the point, thousands in the whole part. */
static KvasirFormatted
format_tenths (double value, const char *unit)
{
  gint64 tenths = (gint64) (value * 10 + 0.5);
  KvasirFormatted out = kvasir_format_count (tenths / 10);
  gsize len = strlen (out.s);
  g_snprintf (out.s + len, sizeof out.s - len, ".%d%s", (int) (tenths % 10), unit);
  return out;
}

/* At most two places, none where they are zero: 22.5, 11.25, 4. */
static KvasirFormatted
format_kib (guint64 n_bytes)
{
  KvasirFormatted out;
  guint hundredths = (guint) ((double) n_bytes * 100 / KIB + 0.5);
  KvasirFormatted whole = kvasir_format_count (hundredths / 100);
  if (hundredths % 100 == 0)
    g_snprintf (out.s, sizeof out.s, "%s KiB", whole.s);
  else if (hundredths % 10 == 0)
    g_snprintf (out.s, sizeof out.s, "%s.%u KiB", whole.s, hundredths % 100 / 10);
  else
    g_snprintf (out.s, sizeof out.s, "%s.%02u KiB", whole.s, hundredths % 100);
  return out;
}

KvasirFormatted
kvasir_format_size (guint64 n_bytes)
{
  if (n_bytes < 1024)
    {
      KvasirFormatted out;
      g_snprintf (out.s, sizeof out.s, "%u B", (guint) n_bytes);
      return out;
    }
  if ((double) n_bytes < MIB)
    return format_kib (n_bytes);
  if ((double) n_bytes < 10 * GIB)
    return format_tenths ((double) n_bytes / MIB, " MiB");
  return format_tenths ((double) n_bytes / GIB, " GiB");
}

KvasirFormatted
kvasir_format_mib (guint64 n_bytes)
{
  return format_tenths ((double) n_bytes / MIB, "");
}

KvasirFormatted
kvasir_format_mib_difference (guint64 a, guint64 b)
{
  gboolean less = a < b;
  guint64 magnitude = less ? b - a : a - b;
  KvasirFormatted number = format_tenths ((double) magnitude / MIB, "");
  KvasirFormatted out;
  const char *sign = strcmp (number.s, "0.0") == 0 ? "" : less ? "\342\210\222" : "+";
  g_snprintf (out.s, sizeof out.s, "%s%s", sign, number.s);
  return out;
}

KvasirFormatted
kvasir_format_layers (guint n)
{
  KvasirFormatted out;
  g_snprintf (out.s, sizeof out.s, ngettext ("%u layer", "%u layers", n), n);
  return out;
}

KvasirFormatted
kvasir_format_duration (gint64 us)
{
  KvasirFormatted out;
  if (us < 1000)
    g_snprintf (out.s, sizeof out.s, "%d µs", (int) us);
  else if (us < 1000 * 1000)
    out = format_tenths ((double) us / 1e3, " ms");
  else if (us < 60 * 1000 * 1000)
    out = format_tenths ((double) us / 1e6, " s");
  else
    g_snprintf (out.s, sizeof out.s, "%d min %d s", (int) (us / 60000000),
                (int) (us / 1000000 % 60));
  return out;
}

char *
kvasir_format_dup_visible (const char *bytes)
{
  g_autofree char *valid = g_utf8_make_valid (bytes, -1);
  GString *out = g_string_new (NULL);
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      if (c == '\n')
        g_string_append (out, "↵");
      else if (c == '\t')
        g_string_append (out, "⇥");
      else if (g_unichar_iscntrl (c))
        g_string_append (out, "·");
      else
        g_string_append_unichar (out, c);
    }
  return g_string_free (out, FALSE);
}
