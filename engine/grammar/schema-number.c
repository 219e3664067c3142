/* Numbers between bounds, digit by digit. */
#include <math.h>
#include <string.h>

#include "engine/grammar/schema-private.h"

/* Without bounds no more digits are written. */
#define MAX_WHOLE G_GINT64_CONSTANT (9999999999999999)
/* What a double holds for certain. */
#define MAX_DIGITS 15
#define MAX_BOUND 1e15

/* An end of a range, without a sign: whole part and the digits of the fraction, no zeros at its
 * end. */
typedef struct
{
  guint64 whole;
  char fraction[32];
  gboolean open; /* the number itself does not belong to the range */
} Bound;

/* ---- whole numbers */

static void
append_any_digits (GString *out, gsize n)
{
  if (n > 0)
    g_string_append_printf (out, " [0-9]{%" G_GSIZE_FORMAT "}", n);
}

static gboolean
has_only (const char *digits, char digit)
{
  return strspn (digits, (char[]){ digit, '\0' }) == strlen (digits);
}

/* Digits from @low to @high, which are equally many, as alternatives in parentheses. */
static void
append_digits (GString *out, const char *low, const char *high)
{
  gsize n = strlen (low);
  if (n == 0)
    return;
  if (*low == *high)
    {
      g_string_append_printf (out, " \"%c\"", *low);
      append_digits (out, low + 1, high + 1);
      return;
    }
  g_autofree char *nines = g_strnfill (n - 1, '9');
  g_autofree char *zeros = g_strnfill (n - 1, '0');
  gboolean from = !has_only (low + 1, '0');
  gboolean to = !has_only (high + 1, '9');
  char first = (char) (*low + from);
  char last = (char) (*high - to);
  const char *bar = "";
  g_string_append (out, " (");
  if (from)
    {
      g_string_append_printf (out, "\"%c\"", *low);
      append_digits (out, low + 1, nines);
      bar = " | ";
    }
  if (first <= last)
    {
      g_string_append_printf (out, "%s[%c-%c]", bar, first, last);
      append_any_digits (out, n - 1);
      bar = " | ";
    }
  if (to)
    {
      g_string_append_printf (out, "%s\"%c\"", bar, *high);
      append_digits (out, zeros, high + 1);
    }
  g_string_append_c (out, ')');
}

/* Numbers from @low to @high without zeros before them, an alternative for each count of digits. */
static void
append_wholes (GString *out, guint64 low, guint64 high)
{
  const char *bar = "";
  for (guint64 first = 0, end = 10; first <= high; first = end, end *= 10)
    {
      guint64 last = end > high || end < 10 ? high : end - 1;
      if (last >= low)
        {
          g_autofree char *from = g_strdup_printf ("%" G_GUINT64_FORMAT, MAX (low, first));
          g_autofree char *to = g_strdup_printf ("%" G_GUINT64_FORMAT, last);
          g_string_append (out, bar);
          append_digits (out, from, to);
          bar = " |";
        }
      /* The next power of ten is no 64 bit number any more. */
      if (end > G_MAXUINT64 / 10)
        break;
    }
}

/* ---- reading bounds */

static gboolean
read_bound (KvasirSchemaWriter *self, const json_t *schema, const char *key, const json_t **bound)
{
  const json_t *value = json_object_get (schema, key);
  *bound = value;
  return value == NULL || json_is_number (value) ||
         kvasir_schema_fail (self, "'%s' must be a number", key);
}

/* The whole number that a bound comes to, rounded into the range. */
static gboolean
round_bound (KvasirSchemaWriter *self, const json_t *bound, gboolean up, gboolean open, gint64 *out)
{
  if (json_is_integer (bound))
    {
      json_int_t value = json_integer_value (bound);
      gint64 limit = up ? G_MAXINT64 : G_MININT64;
      *out = open && value != limit ? value + (up ? 1 : -1) : value;
      return TRUE;
    }
  double value = json_real_value (bound);
  if (fabs (value) > MAX_BOUND)
    return kvasir_schema_fail (self, "the bound %g is beyond 1e15, which is not supported", value);
  double rounded = up ? ceil (value) : floor (value);
  *out = (gint64) rounded;
  if (open && rounded == value)
    *out += up ? 1 : -1;
  return TRUE;
}

/* One end of a range of whole numbers: the tighter of what @key and @open_key say. */
static gboolean
read_end (
    KvasirSchemaWriter *self, const json_t *schema, gboolean low, gboolean *found, gint64 *end)
{
  const char *const keys[] = { low ? "minimum" : "maximum",
                               low ? "exclusiveMinimum" : "exclusiveMaximum" };
  *found = FALSE;
  for (guint i = 0; i < 2; i++)
    {
      const json_t *bound;
      gint64 value = 0;
      if (!read_bound (self, schema, keys[i], &bound))
        return FALSE;
      if (bound == NULL)
        continue;
      if (!round_bound (self, bound, low, i == 1, &value))
        return FALSE;
      *end = !*found ? value : low ? MAX (*end, value) : MIN (*end, value);
      *found = TRUE;
    }
  return TRUE;
}

static char *
write_whole (KvasirSchemaWriter *self, const json_t *schema)
{
  g_autoptr (GString) body = g_string_new (NULL);
  gboolean has_low;
  gboolean has_high;
  gint64 low = 0;
  gint64 high = 0;
  if (!read_end (self, schema, TRUE, &has_low, &low) ||
      !read_end (self, schema, FALSE, &has_high, &high))
    return NULL;
  if (!has_low && !has_high)
    return g_strdup (kvasir_schema_use (self, "integer"));
  if (!has_low)
    low = high < -MAX_WHOLE ? G_MININT64 : -MAX_WHOLE;
  if (!has_high)
    high = low > MAX_WHOLE ? G_MAXINT64 : MAX_WHOLE;
  if (low > high)
    return g_strdup ("");
  if (low < 0)
    {
      g_string_append (body, "\"-\" (");
      append_wholes (body, high < 0 ? -(guint64) high : 1, -(guint64) low);
      g_string_append_c (body, ')');
    }
  if (high >= 0)
    {
      g_string_append (body, body->len > 0 ? " |" : "");
      append_wholes (body, (guint64) MAX (low, 0), (guint64) high);
    }
  return kvasir_schema_add_rule (self, NULL, body->str);
}

/* ---- broken numbers: what may stand behind the point. @n is how many digits at most. */

static void append_at_least (GString *out, const char *digits, gboolean open, guint n);
static void append_at_most (GString *out, const char *digits, gboolean open, guint n);

static void
append_digit_range (GString *out, const char *bar, char first, char last, guint n)
{
  if (first <= last)
    g_string_append_printf (out, "%s[%c-%c] [0-9]{0,%u}", bar, first, last, n);
}

/* The rest of a fraction that is not below @digits, or above them. */
static void
append_at_least (GString *out, const char *digits, gboolean open, guint n)
{
  if (*digits == '\0')
    {
      g_string_append_printf (out, open ? "[0-9]{0,%u} [1-9]" : "[0-9]{0,%u}", open ? n / 2 : n);
      return;
    }
  g_string_append_printf (out, "(\"%c\" ", *digits);
  append_at_least (out, digits + 1, open, n);
  append_digit_range (out, " | ", (char) (*digits + 1), '9', n);
  g_string_append_c (out, ')');
}

/* What may stand behind a digit that is the bound's own. */
static void
append_end_at_most (GString *out, const char *digits, gboolean open, guint n)
{
  if (*digits == '\0')
    {
      g_assert (!open);
      g_string_append_printf (out, "\"0\"{0,%u}", n);
      return;
    }
  append_at_most (out, digits, open, n);
  g_string_append_c (out, '?');
}

/* At least one more digit of a fraction that is not above @digits, which are not none. */
static void
append_at_most (GString *out, const char *digits, gboolean open, guint n)
{
  gboolean last = digits[1] == '\0' && open;
  g_string_append_c (out, '(');
  append_digit_range (out, "", '0', (char) (*digits - 1), n);
  if (!last)
    {
      g_string_append_printf (out, "%s\"%c\" ", *digits > '0' ? " | " : "", *digits);
      append_end_at_most (out, digits + 1, open, n);
    }
  g_string_append_c (out, ')');
}

/* At least one more digit, from @low's to @high's; those of @low may have come to their end. */
static void
append_between (GString *out, const char *low, const char *high, const gboolean open[2], guint n)
{
  char first = *low != '\0' ? *low : '0';
  const char *rest = *low != '\0' ? low + 1 : low;
  g_string_append_printf (out, "(\"%c\" ", first);
  if (first == *high)
    {
      if (high[1] == '\0')
        g_string_append_printf (out, "\"0\"{0,%u}", n);
      else
        append_between (out, rest, high + 1, open, n);
      if (high[1] != '\0' && *rest == '\0' && !open[0])
        g_string_append_c (out, '?');
      g_string_append_c (out, ')');
      return;
    }
  append_at_least (out, rest, open[0], n);
  append_digit_range (out, " | ", (char) (first + 1), (char) (*high - 1), n);
  if (high[1] != '\0' || !open[1])
    {
      g_string_append_printf (out, " | \"%c\" ", *high);
      append_end_at_most (out, high + 1, open[1], n);
    }
  g_string_append_c (out, ')');
}

/* Behind a whole part that both bounds have. */
static void
append_common (GString *out, const Bound *low, const Bound *high, guint n)
{
  const gboolean open[2] = { low->open, high->open };
  g_string_append_printf (out, "\"%" G_GUINT64_FORMAT "\" ", low->whole);
  if (strcmp (low->fraction, high->fraction) == 0)
    {
      if (*low->fraction == '\0')
        g_string_append_printf (out, "(\".\" \"0\"{1,%u})?", n);
      else
        g_string_append_printf (out, "\".%s\" \"0\"{0,%u}", low->fraction, n);
      return;
    }
  g_string_append (out, "(\".\" ");
  append_between (out, low->fraction, high->fraction, open, n);
  g_string_append (out, *low->fraction == '\0' && !low->open ? ")?" : ")");
}

/* Behind the whole part of the low bound, upwards. */
static void
append_from (GString *out, const Bound *low, guint n)
{
  g_string_append_printf (out, "\"%" G_GUINT64_FORMAT "\" ", low->whole);
  if (*low->fraction == '\0' && !low->open)
    g_string_append_printf (out, "(\".\" [0-9]{1,%u})?", n);
  else
    {
      g_string_append (out, "\".\" ");
      append_at_least (out, low->fraction, low->open, n);
    }
}

/* Behind the whole part of the high bound, downwards. */
static void
append_to (GString *out, const Bound *high, guint n)
{
  if (*high->fraction == '\0' && high->open)
    return;
  g_string_append_printf (out, " | \"%" G_GUINT64_FORMAT "\" (\".\" ", high->whole);
  if (*high->fraction == '\0')
    g_string_append_printf (out, "\"0\"{1,%u}", n);
  else
    append_at_most (out, high->fraction, high->open, n);
  g_string_append (out, ")?");
}

static guint
count_digits (guint64 number)
{
  guint n = 1;
  while (number >= 10)
    {
      number /= 10;
      n++;
    }
  return n;
}

static int
compare_bounds (const Bound *a, const Bound *b)
{
  return a->whole != b->whole ? (a->whole < b->whole ? -1 : 1) : strcmp (a->fraction, b->fraction);
}

/* Numbers without a sign; so few digits that reading them as doubles crosses no bound. FALSE: there
 * are none. */
static gboolean
append_range (GString *out, const char *sign, const Bound *low, const Bound *high, gboolean bounded)
{
  int order = compare_bounds (low, high);
  guint used = MAX (count_digits (low->whole), bounded ? count_digits (high->whole) : 1);
  guint n = used + 1 < MAX_DIGITS ? MAX_DIGITS - used : 1;
  if (order > 0 || (order == 0 && (low->open || high->open)))
    return FALSE;
  g_string_append_printf (out, "%s%s(", out->len > 0 ? " | " : "", sign);
  if (low->whole == high->whole)
    append_common (out, low, high, n);
  else
    {
      append_from (out, low, n);
      if (high->whole - low->whole > 1)
        {
          g_string_append (out, " | (");
          append_wholes (out, low->whole + 1, high->whole - 1);
          g_string_append_printf (out, ") (\".\" [0-9]{1,%u})?", n);
        }
      append_to (out, high, n);
    }
  g_string_append_c (out, ')');
  return TRUE;
}

/* The shortest decimal that is the same double. */
static gboolean
split_bound (KvasirSchemaWriter *self, double value, Bound *bound)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  double size = fabs (value);
  if (size >= MAX_BOUND || (size > 0 && size < 1e-9))
    return kvasir_schema_fail (self,
                               "the bound %g is not supported for numbers, only those from "
                               "1e-9 to 1e15",
                               value);
  for (int digits = 0; digits < 25; digits++)
    {
      char format[8];
      g_snprintf (format, sizeof format, "%%.%df", digits);
      g_ascii_formatd (text, sizeof text, format, size);
      if (g_ascii_strtod (text, NULL) == size)
        break;
    }
  const char *point = strchr (text, '.');
  bound->whole = g_ascii_strtoull (text, NULL, 10);
  g_strlcpy (bound->fraction, point != NULL ? point + 1 : "", sizeof bound->fraction);
  return TRUE;
}

/* One end of a range of numbers: the tighter of the two that may be named. */
static gboolean
read_real_end (
    KvasirSchemaWriter *self, const json_t *schema, gboolean low, double *end, gboolean *open)
{
  const json_t *closed_end;
  const json_t *open_end;
  if (!read_bound (self, schema, low ? "minimum" : "maximum", &closed_end) ||
      !read_bound (self, schema, low ? "exclusiveMinimum" : "exclusiveMaximum", &open_end))
    return FALSE;
  *end = closed_end != NULL ? json_number_value (closed_end) : low ? -INFINITY : INFINITY;
  *open = FALSE;
  double other = json_number_value (open_end);
  if (open_end != NULL && (low ? other >= *end : other <= *end))
    {
      *end = other;
      *open = TRUE;
    }
  return TRUE;
}

/* From 0, or from @low, to @high, as far as it is above 0. FALSE with the error set. */
static gboolean
append_side (KvasirSchemaWriter *self,
             GString *out,
             const double ends[2],
             const gboolean open[2],
             gboolean negative)
{
  Bound low = { 0, "", negative };
  Bound high = { MAX_WHOLE, "", FALSE };
  if (ends[1] < 0 || (ends[1] == 0 && open[1]))
    return TRUE;
  if (ends[0] > 0 || (ends[0] == 0 && open[0]))
    low.open = open[0];
  if ((ends[0] > 0 && !split_bound (self, ends[0], &low)) ||
      (!isinf (ends[1]) && !split_bound (self, ends[1], &high)))
    return FALSE;
  high.open = open[1] && !isinf (ends[1]);
  append_range (out, negative ? "\"-\" " : "", &low, &high, !isinf (ends[1]));
  return TRUE;
}

static char *
write_real (KvasirSchemaWriter *self, const json_t *schema)
{
  g_autoptr (GString) body = g_string_new (NULL);
  double ends[2];
  gboolean open[2];
  if (!read_real_end (self, schema, TRUE, &ends[0], &open[0]) ||
      !read_real_end (self, schema, FALSE, &ends[1], &open[1]))
    return NULL;
  if (isinf (ends[0]) && isinf (ends[1]))
    return g_strdup (kvasir_schema_use (self, "number"));
  const double mirrored[2] = { -ends[1], -ends[0] };
  const gboolean mirrored_open[2] = { open[1], open[0] };
  if (!append_side (self, body, mirrored, mirrored_open, TRUE) ||
      !append_side (self, body, ends, open, FALSE))
    return NULL;
  return body->len > 0 ? kvasir_schema_add_rule (self, NULL, body->str) : g_strdup ("");
}

char *
kvasir_schema_write_number (KvasirSchemaWriter *self, const json_t *schema, gboolean whole)
{
  const char *format = json_string_value (json_object_get (schema, "format"));
  if (format != NULL && strcmp (format, "double") != 0 && strcmp (format, "float") != 0 &&
      json_object_get (schema, "type") != NULL &&
      (kvasir_schema_get_named_types (self, schema) & KVASIR_TYPE_STRING) == 0)
    {
      kvasir_schema_fail (self, "the format '%s' of numbers is not supported", format);
      return NULL;
    }
  return whole ? write_whole (self, schema) : write_real (self, schema);
}
