#include "app/cli/scenario.h"

#include <math.h>

#define TOLERANCE 1e-3

static char *
differ (const char *path, const json_t *expected, const json_t *actual)
{
  char *a = json_dumps (expected, JSON_ENCODE_ANY | JSON_COMPACT);
  char *b = actual != NULL ? json_dumps (actual, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
  char *text = g_strdup_printf ("%s: expected %s, found %s", path, a, b != NULL ? b : "nothing");
  free (a);
  free (b);
  return text;
}

/* Whole numbers name things (cells, ids, positions) and are equal or not. */
static gboolean
same_number (const json_t *expected, const json_t *actual)
{
  double a, b;

  if (!json_is_number (actual))
    return FALSE;
  if (json_is_integer (expected) && json_is_integer (actual))
    return json_integer_value (expected) == json_integer_value (actual);
  a = json_number_value (expected);
  b = json_number_value (actual);
  return fabs (a - b) <= TOLERANCE * MAX (1, fabs (a));
}

static char *compare (const char *path, const json_t *expected, const json_t *actual);

static char *
compare_members (const char *path, const json_t *expected, const json_t *actual)
{
  const char *key;
  json_t *value;

  if (!json_is_object (actual))
    return differ (path, expected, actual);
  json_object_foreach ((json_t *) expected, key, value)
  {
    g_autofree char *place = g_strdup_printf ("%s%s%s", path, *path != '\0' ? "." : "", key);
    char *text = compare (place, value, json_object_get (actual, key));
    if (text != NULL)
      return text;
  }
  return NULL;
}

static char *
compare_elements (const char *path, const json_t *expected, const json_t *actual)
{
  if (!json_is_array (actual) || json_array_size (actual) != json_array_size (expected))
    return differ (path, expected, actual);
  for (gsize i = 0; i < json_array_size (expected); i++)
    {
      g_autofree char *place = g_strdup_printf ("%s[%u]", path, (guint) i);
      char *text = compare (place, json_array_get (expected, i), json_array_get (actual, i));
      if (text != NULL)
        return text;
    }
  return NULL;
}

static char *
compare (const char *path, const json_t *expected, const json_t *actual)
{
  gboolean same;

  if (json_is_object (expected))
    return compare_members (path, expected, actual);
  if (json_is_array (expected))
    return compare_elements (path, expected, actual);
  same = json_is_number (expected) ? same_number (expected, actual) : json_equal (expected, actual);
  return same ? NULL : differ (path, expected, actual);
}

char *
kvasir_scenario_compare (const json_t *expected, const json_t *actual)
{
  return compare ("", expected, actual);
}
