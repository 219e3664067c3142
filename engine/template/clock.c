#include "engine/template/clock.h"

#include <string.h>

static const char *const weekdays[] = {
  "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
};

static const char *const months[] = {
  "January", "February", "March",     "April",   "May",      "June",
  "July",    "August",   "September", "October", "November", "December",
};

typedef struct
{
  char directive;
  int width;
  char pad;
} NumberForm;

/* The value of a directive that writes a number. */
static gboolean
get_number (GDateTime *time, char directive, int *value)
{
  int hour = g_date_time_get_hour (time);
  int year_day = g_date_time_get_day_of_year (time) - 1;
  int week_day = g_date_time_get_day_of_week (time); /* 1 Monday ... 7 Sunday */
  switch (directive)
    {
    case 'Y':
      *value = g_date_time_get_year (time);
      return TRUE;
    case 'C':
      *value = g_date_time_get_year (time) / 100;
      return TRUE;
    case 'y':
      *value = g_date_time_get_year (time) % 100;
      return TRUE;
    case 'G':
      *value = g_date_time_get_week_numbering_year (time);
      return TRUE;
    case 'g':
      *value = g_date_time_get_week_numbering_year (time) % 100;
      return TRUE;
    case 'm':
      *value = g_date_time_get_month (time);
      return TRUE;
    case 'd':
    case 'e':
      *value = g_date_time_get_day_of_month (time);
      return TRUE;
    case 'j':
      *value = year_day + 1;
      return TRUE;
    case 'H':
    case 'k':
      *value = hour;
      return TRUE;
    case 'I':
    case 'l':
      *value = (hour + 11) % 12 + 1;
      return TRUE;
    case 'M':
      *value = g_date_time_get_minute (time);
      return TRUE;
    case 'S':
      *value = g_date_time_get_second (time);
      return TRUE;
    case 'f':
      *value = g_date_time_get_microsecond (time);
      return TRUE;
    case 'u':
      *value = week_day;
      return TRUE;
    case 'w':
      *value = week_day % 7;
      return TRUE;
    case 'V':
      *value = g_date_time_get_week_of_year (time);
      return TRUE;
    case 'U':
      *value = (year_day + 7 - week_day % 7) / 7;
      return TRUE;
    case 'W':
      *value = (year_day + 7 - (week_day - 1)) / 7;
      return TRUE;
    default:
      return FALSE;
    }
}

static void
append_number (KvasirJinjaBuilder *out, char directive, char flag, int value)
{
  static const NumberForm forms[] = {
    { 'Y', 1, '0' }, { 'G', 4, '0' }, { 'j', 3, '0' }, { 'f', 6, '0' }, { 'u', 1, '0' },
    { 'w', 1, '0' }, { 'e', 2, ' ' }, { 'k', 2, ' ' }, { 'l', 2, ' ' },
  };
  NumberForm form = { directive, 2, '0' };
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    if (forms[i].directive == directive)
      form = forms[i];
  if (flag == '_' || flag == '0')
    form.pad = flag == '_' ? ' ' : '0';
  char text[32];
  int len = g_snprintf (text, sizeof text, "%d", value);
  if (flag != '-' && len < form.width)
    kvasir_jinja_builder_repeat (out, form.pad, (gsize) (form.width - len), 0);
  kvasir_jinja_builder_append_static (out, text);
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
  int value;
  gsize len;
  const char *abbreviation = get_abbreviation (directive);
  for (const char *p = abbreviation; p != NULL && *p != '\0'; p++)
    if (*p != '%')
      kvasir_jinja_builder_append (out, p, 1, KVASIR_JINJA_ORIGIN_TEMPLATE);
    else
      append_directive (out, time, *++p, 0);
  if (abbreviation != NULL)
    return TRUE;
  if (get_number (time, directive, &value))
    {
      append_number (out, directive, flag, value);
      return TRUE;
    }
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
