#include "engine/template/clock.h"

#include <string.h>

static const char *const weekdays[] = {
  "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};

static const char *const months[] = {
  "January", "February", "March",     "April",   "May",      "June",
  "July",    "August",   "September", "October", "November", "December",
};

/* A directive that writes a number: get (time) / divisor % modulus in at least @width places. */
typedef struct
{
  char directive;
  int (*get) (GDateTime *time);
  int divisor;
  int modulus;
  int width;
  char pad;
} NumberForm;

static int
get_hour12 (GDateTime *time)
{
  return (g_date_time_get_hour (time) + 11) % 12 + 1;
}

/* Weeks of the year that began so far, on Sundays or on Mondays. */
static int
get_sunday_week (GDateTime *time)
{
  return (g_date_time_get_day_of_year (time) + 6 - g_date_time_get_day_of_week (time) % 7) / 7;
}

static int
get_monday_week (GDateTime *time)
{
  return (g_date_time_get_day_of_year (time) + 7 - g_date_time_get_day_of_week (time)) / 7;
}

static const NumberForm number_forms[] = {
  { 'Y', g_date_time_get_year, 1, 10000, 1, '0' },
  { 'C', g_date_time_get_year, 100, 100, 2, '0' },
  { 'y', g_date_time_get_year, 1, 100, 2, '0' },
  { 'G', g_date_time_get_week_numbering_year, 1, 10000, 4, '0' },
  { 'g', g_date_time_get_week_numbering_year, 1, 100, 2, '0' },
  { 'm', g_date_time_get_month, 1, 100, 2, '0' },
  { 'd', g_date_time_get_day_of_month, 1, 100, 2, '0' },
  { 'e', g_date_time_get_day_of_month, 1, 100, 2, ' ' },
  { 'j', g_date_time_get_day_of_year, 1, 1000, 3, '0' },
  { 'H', g_date_time_get_hour, 1, 100, 2, '0' },
  { 'k', g_date_time_get_hour, 1, 100, 2, ' ' },
  { 'I', get_hour12, 1, 100, 2, '0' },
  { 'l', get_hour12, 1, 100, 2, ' ' },
  { 'M', g_date_time_get_minute, 1, 100, 2, '0' },
  { 'S', g_date_time_get_second, 1, 100, 2, '0' },
  { 'f', g_date_time_get_microsecond, 1, 1000000, 6, '0' },
  { 'u', g_date_time_get_day_of_week, 1, 10, 1, '0' },
  { 'w', g_date_time_get_day_of_week, 1, 7, 1, '0' },
  { 'V', g_date_time_get_week_of_year, 1, 100, 2, '0' },
  { 'U', get_sunday_week, 1, 100, 2, '0' },
  { 'W', get_monday_week, 1, 100, 2, '0' },
};

static gboolean
append_number (KvasirJinjaBuilder *out, GDateTime *time, char directive, char flag)
{
  for (guint i = 0; i < G_N_ELEMENTS (number_forms); i++)
    {
      const NumberForm *form = &number_forms[i];
      if (form->directive != directive)
        continue;
      char text[32];
      char pad = flag == '_' ? ' ' : flag == '0' ? '0' : form->pad;
      int len =
          g_snprintf (text, sizeof text, "%d", form->get (time) / form->divisor % form->modulus);
      if (flag != '-' && len < form->width)
        kvasir_jinja_builder_repeat (out, pad, (gsize) (form->width - len), 0);
      kvasir_jinja_builder_append_static (out, text);
      return TRUE;
    }
  return FALSE;
}

static const char *
get_name (GDateTime *time, char directive, gsize *len)
{
  const char *weekday = weekdays[g_date_time_get_day_of_week (time) - 1];
  const char *month = months[g_date_time_get_month (time) - 1];
  const char *name = NULL;
  *len = G_MAXSIZE;
  switch (directive)
    {
    case 'a':
      *len = 3;
      name = weekday;
      break;
    case 'A':
      name = weekday;
      break;
    case 'b':
    case 'h':
      *len = 3;
      name = month;
      break;
    case 'B':
      name = month;
      break;
    case 'p':
      name = g_date_time_get_hour (time) < 12 ? "AM" : "PM";
      break;
    case '%':
      name = "%";
      break;
    case 'n':
      name = "\n";
      break;
    case 't':
      name = "\t";
      break;
    case 'z': /* a local time without a zone has neither offset nor name */
    case 'Z':
      name = "";
      break;
    }
  if (name != NULL)
    *len = MIN (*len, strlen (name));
  return name;
}

static const char *
get_abbreviation (char directive)
{
  switch (directive)
    {
    case 'c':
      return "%a %b %e %H:%M:%S %Y";
    case 'D':
    case 'x':
      return "%m/%d/%y";
    case 'F':
      return "%Y-%m-%d";
    case 'R':
      return "%H:%M";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    case 'r':
      return "%I:%M:%S %p";
    default:
      return NULL;
    }
}

/* FALSE if there is no such directive. */
static gboolean
append_directive (KvasirJinjaBuilder *out, GDateTime *time, char directive, char flag)
{
  gsize len;
  const char *abbreviation = get_abbreviation (directive);
  for (const char *p = abbreviation; p != NULL && *p != '\0'; p++)
    if (*p != '%')
      kvasir_jinja_builder_append (out, p, 1, KVASIR_JINJA_ORIGIN_TEMPLATE);
    else
      append_directive (out, time, *++p, 0);
  if (abbreviation != NULL)
    return TRUE;
  if (append_number (out, time, directive, flag))
    return TRUE;
  const char *name = get_name (time, directive, &len);
  if (name == NULL)
    return FALSE;
  g_autofree char *upper = g_ascii_strup (name, (gssize) len);
  kvasir_jinja_builder_append (out, flag == '^' ? upper : name, len, KVASIR_JINJA_ORIGIN_TEMPLATE);
  return TRUE;
}

KvasirJinjaText *
kvasir_jinja_format_time (KvasirJinjaHeap *heap, KvasirJinjaText *format, const char *now)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) time =
      now != NULL ? g_date_time_new_from_iso8601 (now, utc) : g_date_time_new_now_local ();
  if (time == NULL)
    {
      kvasir_jinja_heap_fail (heap, "the clock is set to '%.40s', expected 2026-03-07T14:05:09",
                              now != NULL ? now : "");
      return NULL;
    }
  const char *bytes = kvasir_jinja_text_bytes (heap, format);
  KvasirJinjaBuilder out;
  kvasir_jinja_builder_init (&out, heap);
  for (gsize i = 0; i < format->len && heap->failure == NULL;)
    {
      gsize n = 1;
      char flag = 0;
      if (bytes[i] == '%' && i + 2 < format->len && strchr ("-_0^", bytes[i + 1]) != NULL)
        flag = bytes[i + n++];
      gboolean done = bytes[i] == '%' && i + n < format->len &&
                      append_directive (&out, time, bytes[i + n], flag);
      n = done ? n + 1 : 1;
      if (!done)
        kvasir_jinja_builder_append_sub (&out, format, i, n);
      i += n;
    }
  return kvasir_jinja_builder_finish (&out);
}
