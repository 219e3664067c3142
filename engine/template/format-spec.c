/* One value in a given width, precision and notation. */
#include "engine/template/format.h"
#include "engine/template/number.h"
#include "engine/template/repr.h"
#include "engine/template/unicode.h"

#include <math.h>
#include <string.h>

/* A double has at most 309 digits before the point. */
#define MAX_PRECISION 100
#define DIGITS_BYTES 512

static void
append_fill (KvasirJinjaBuilder *out, gunichar fill, gint64 n)
{
  char bytes[6];
  gsize len = (gsize) g_unichar_to_utf8 (fill, bytes);
  if (len == 1)
    {
      kvasir_jinja_builder_repeat (out, bytes[0], n > 0 ? (gsize) n : 0, 0);
      return;
    }
  for (gint64 i = 0; i < n && kvasir_jinja_heap_step (out->heap, 1); i++)
    kvasir_jinja_builder_append (out, bytes, len, KVASIR_JINJA_ORIGIN_TEMPLATE);
}

/* @prefix stays in front of what '=' fills in: a sign, "0x". */
static void
append_padded (KvasirJinjaBuilder *out,
               const KvasirJinjaSpec *spec,
               char align,
               const char *prefix,
               KvasirJinjaText *body)
{
  gint64 room = spec->width - (gint64) strlen (prefix) - (gint64) body->n_chars;
  gint64 before = align == '>' ? room : align == '^' ? room / 2 : 0;
  append_fill (out, spec->fill, before);
  kvasir_jinja_builder_append_static (out, prefix);
  append_fill (out, spec->fill, align == '=' ? room : 0);
  kvasir_jinja_builder_append_text (out, body);
  append_fill (out, spec->fill, align == '<' || align == '^' ? room - before : 0);
}

static gboolean
append_text_spec (KvasirJinjaBuilder *out, const KvasirJinjaSpec *spec, KvasirJinjaValue value)
{
  KvasirJinjaBuilder repr;
  KvasirJinjaText *text;
  if (spec->type == 'r')
    {
      kvasir_jinja_builder_init (&repr, out->heap);
      kvasir_jinja_append_repr (&repr, value);
      text = kvasir_jinja_builder_finish (&repr);
    }
  else
    text = kvasir_jinja_str (out->heap, value);
  if (text == NULL)
    return FALSE;
  if (spec->precision >= 0 && (gsize) spec->precision < text->n_chars)
    text = kvasir_jinja_text_sub_chars (out->heap, text, 0, (gsize) spec->precision);
  append_padded (out, spec, spec->align == 0 || spec->align == '=' ? '<' : spec->align, "", text);
  return out->heap->failure == NULL;
}

/* Writes a comma before every third digit from the point on to the left. */
static void
group_thousands (char *digits)
{
  char grouped[DIGITS_BYTES];
  gsize whole = strspn (digits, "0123456789");
  gsize n = 0;
  for (gsize i = 0; i < whole; i++)
    {
      if (i > 0 && (whole - i) % 3 == 0)
        grouped[n++] = ',';
      grouped[n++] = digits[i];
    }
  grouped[n] = '\0';
  g_strlcat (grouped, digits + whole, sizeof grouped);
  g_strlcpy (digits, grouped, DIGITS_BYTES);
}

static void
append_number_spec (KvasirJinjaBuilder *out,
                    const KvasirJinjaSpec *spec,
                    gboolean negative,
                    const char *base,
                    char digits[DIGITS_BYTES])
{
  char prefix[4] = { 0 };
  gsize n = 0;
  if (negative || spec->sign != 0)
    prefix[n++] = negative ? '-' : spec->sign;
  g_strlcpy (prefix + n, spec->alternate ? base : "", sizeof prefix - n);
  if (spec->thousands)
    group_thousands (digits);
  KvasirJinjaText *body = kvasir_jinja_text_static (out->heap, digits);
  append_padded (out, spec, spec->align == 0 ? '>' : spec->align, prefix, body);
}

static void
write_binary (guint64 magnitude, char digits[DIGITS_BYTES])
{
  guint n = magnitude == 0 ? 1 : 64 - (guint) __builtin_clzll (magnitude);
  for (guint i = 0; i < n; i++)
    digits[i] = (magnitude >> (n - 1 - i)) & 1 ? '1' : '0';
  digits[n] = '\0';
}

static gboolean
append_int_spec (KvasirJinjaBuilder *out, const KvasirJinjaSpec *spec, gint64 integer)
{
  char digits[DIGITS_BYTES];
  guint64 magnitude = integer < 0 ? 0 - (guint64) integer : (guint64) integer;
  const char *base = "";
  switch (spec->type)
    {
    case 'x':
      base = "0x";
      g_snprintf (digits, sizeof digits, "%" G_GINT64_MODIFIER "x", magnitude);
      break;
    case 'X':
      base = "0X";
      g_snprintf (digits, sizeof digits, "%" G_GINT64_MODIFIER "X", magnitude);
      break;
    case 'o':
      base = "0o";
      g_snprintf (digits, sizeof digits, "%" G_GINT64_MODIFIER "o", magnitude);
      break;
    case 'b':
      base = "0b";
      write_binary (magnitude, digits);
      break;
    default:
      g_snprintf (digits, sizeof digits, "%" G_GUINT64_FORMAT, magnitude);
      break;
    }
  append_number_spec (out, spec, integer < 0, base, digits);
  return out->heap->failure == NULL;
}

static void
write_float (const KvasirJinjaSpec *spec, double magnitude, char digits[DIGITS_BYTES])
{
  char format[16];
  gint64 precision = spec->precision < 0 ? 6 : MIN (spec->precision, MAX_PRECISION);
  char type = spec->type == '%' ? 'f' : spec->type;
  if (type == 0)
    {
      kvasir_jinja_format_float (magnitude, digits);
      return;
    }
  if (!isfinite (magnitude))
    {
      g_strlcpy (digits, isnan (magnitude) ? "nan" : "inf", DIGITS_BYTES);
      return;
    }
  g_snprintf (format, sizeof format, "%%.%d%c", (int) precision, type);
  g_ascii_formatd (digits, DIGITS_BYTES, format, magnitude);
}

static gboolean
append_float_spec (KvasirJinjaBuilder *out, const KvasirJinjaSpec *spec, double number)
{
  char digits[DIGITS_BYTES];
  KvasirJinjaSpec own = *spec;
  /* A precision without a type counts digits in all, as 'g' does. */
  if (own.type == 0 && own.precision >= 0)
    own.type = 'g';
  double magnitude = fabs (number) * (own.type == '%' ? 100 : 1);
  write_float (&own, magnitude, digits);
  if (own.type == '%')
    g_strlcat (digits, "%", sizeof digits);
  append_number_spec (out, &own, signbit (number) && !isnan (number), "", digits);
  return out->heap->failure == NULL;
}

static gboolean
is_in (char type, const char *types)
{
  return type != 0 && strchr (types, type) != NULL;
}

gboolean
kvasir_jinja_append_spec (KvasirJinjaBuilder *out,
                          const KvasirJinjaSpec *spec,
                          KvasirJinjaValue value)
{
  if (is_in (spec->type, "eEfFgG%") && kvasir_jinja_is_number (value))
    return append_float_spec (out, spec, kvasir_jinja_as_double (value));
  if (is_in (spec->type, "dxXob") && kvasir_jinja_is_integral (value))
    return append_int_spec (out, spec, kvasir_jinja_as_int (value));
  if (spec->type == 0 && value.kind == KVASIR_JINJA_INT)
    return append_int_spec (out, spec, value.integer);
  if (spec->type == 0 && value.kind == KVASIR_JINJA_FLOAT)
    return append_float_spec (out, spec, value.number);
  if (spec->type == 0 || is_in (spec->type, "sr"))
    return append_text_spec (out, spec, value);
  return kvasir_jinja_heap_fail (out->heap, "the format '%c' does not fit '%s'", spec->type,
                                 kvasir_jinja_type_name (value));
}
