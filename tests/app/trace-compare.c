#include "tests/app/trace-compare.h"

#include <math.h>
#include <string.h>

json_t *
trace_parse (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  json_t *operations = json_array ();

  for (guint i = 0; lines[i] != NULL; i++)
    {
      json_t *operation;
      if (lines[i][0] == '\0' || lines[i][0] == '#')
        continue;
      operation = json_loads (lines[i], JSON_ALLOW_NUL, NULL);
      if (!json_is_object (operation))
        {
          json_decref (operation);
          json_decref (operations);
          return NULL;
        }
      json_array_append_new (operations, operation);
    }
  return operations;
}

static char *
differ (const char *path, const json_t *expected, const json_t *actual)
{
  char *a = expected != NULL ? json_dumps (expected, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
  char *b = actual != NULL ? json_dumps (actual, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
  char *text = g_strdup_printf ("%s: expected %.200s, got %.200s", path, a != NULL ? a : "nothing",
                                b != NULL ? b : "nothing");
  free (a);
  free (b);
  return text;
}

static char *
diff_exact (const char *path, const json_t *expected, const json_t *actual)
{
  return json_equal (expected, actual) ? NULL : differ (path, expected, actual);
}

static char *
diff_member (const char *name, const json_t *expected, const json_t *actual)
{
  const json_t *a = json_object_get (expected, name), *b = json_object_get (actual, name);
  return a == NULL && b == NULL ? NULL : diff_exact (name, a, b);
}

/* Null stands for infinity and NaN, and only equals itself. */
static gboolean
is_close (const json_t *expected, const json_t *actual, double tolerance)
{
  if (json_is_number (expected) && json_is_number (actual))
    return fabs (json_number_value (expected) - json_number_value (actual)) <= tolerance;
  return json_equal (expected, actual);
}

static double
get_row_tolerance (const json_t *at, const TraceTolerance *tolerance)
{
  double largest = 0;
  for (gsize i = 0; i < json_array_size (at); i++)
    largest = fmax (largest, fabs (json_number_value (json_array_get (at, i))));
  return tolerance->atol + tolerance->rtol * largest;
}

static char *
diff_row (const json_t *expected, const json_t *actual, const TraceTolerance *tolerance)
{
  const json_t *at = json_object_get (expected, "at"), *found = json_object_get (actual, "at");
  const double allowed = get_row_tolerance (at, tolerance);
  const json_t *gap = json_object_get (expected, "gap");
  char *text = diff_member ("i", expected, actual);

  if (text == NULL && !(json_is_number (gap) && json_number_value (gap) <= 2 * allowed))
    text = diff_member ("argmax", expected, actual);
  if (text != NULL)
    return text;
  if (!is_close (json_object_get (expected, "lse"), json_object_get (actual, "lse"), allowed))
    return differ ("lse", json_object_get (expected, "lse"), json_object_get (actual, "lse"));
  if (json_array_size (at) != json_array_size (found))
    return differ ("at", at, found);
  for (gsize i = 0; i < json_array_size (at); i++)
    if (!is_close (json_array_get (at, i), json_array_get (found, i), allowed))
      return differ ("at", at, found);
  return NULL;
}

static char *
diff_logits (const json_t *expected, const json_t *actual, const TraceTolerance *tolerance)
{
  if (json_array_size (expected) != json_array_size (actual))
    return differ ("logits", expected, actual);
  for (gsize i = 0; i < json_array_size (expected); i++)
    {
      g_autofree char *text =
          diff_row (json_array_get (expected, i), json_array_get (actual, i), tolerance);
      if (text != NULL)
        return g_strdup_printf ("logits[%u].%s", (guint) i, text);
    }
  return NULL;
}

static char *
diff_ret (const char *op, const json_t *expected, const json_t *actual)
{
  const json_t *a = json_object_get (expected, "ret"), *b = json_object_get (actual, "ret");

  if (b == NULL)
    return differ ("ret", a, b);
  if (strcmp (op, "save") == 0)
    return json_is_string (a) || json_is_string (b) ? diff_exact ("ret", a, b) : NULL;
  if (strcmp (op, "score") == 0 && json_is_number (a))
    return is_close (a, b, 0.01 + 0.005 * fabs (json_number_value (a))) ? NULL
                                                                        : differ ("ret", a, b);
  return diff_exact ("ret", a, b);
}

static int
compare_dumps (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* [[cell, position, sequences], ...] without the cells, in an order of its own. Returns: (transfer
 * full) */
static json_t *
forget_cells (const json_t *cells)
{
  g_autoptr (GPtrArray) dumps = g_ptr_array_new_with_free_func (free);
  json_t *out = json_array ();

  for (gsize i = 0; i < json_array_size (cells); i++)
    {
      json_t *rest = json_copy (json_array_get (cells, i));
      json_array_remove (rest, 0);
      g_ptr_array_add (dumps, json_dumps (rest, JSON_COMPACT));
      json_decref (rest);
    }
  g_ptr_array_sort (dumps, compare_dumps);
  for (guint i = 0; i < dumps->len; i++)
    json_array_append_new (out, json_string (g_ptr_array_index (dumps, i)));
  return out;
}

/* In a recurrent cache, which has cells in place of streams, the choice of cells is free. */
static char *
diff_state (const json_t *expected, const json_t *actual)
{
  json_t *a = json_deep_copy (json_object_get (expected, "state"));
  json_t *b = json_deep_copy (json_object_get (actual, "state"));
  json_t *states[] = { a, b };
  char *text;

  for (guint i = 0; i < 2; i++)
    {
      json_t *caches = json_object_get (states[i], "caches");
      for (gsize k = 0; k < json_array_size (caches); k++)
        {
          json_t *cells = json_object_get (json_array_get (caches, k), "cells");
          if (cells != NULL)
            json_object_set_new (json_array_get (caches, k), "cells", forget_cells (cells));
        }
    }
  text = diff_exact ("state", a, b);
  json_decref (a);
  json_decref (b);
  return text;
}

static char *
diff_operation (const json_t *expected, const json_t *actual, const TraceTolerance *tolerance)
{
  static const char *const exact[] = { "n", "op", "id" };
  static const char *const if_both[] = { "ubatches", "mask" };
  const char *op = json_string_value (json_object_get (expected, "op"));
  char *text = NULL;

  for (guint i = 0; text == NULL && i < G_N_ELEMENTS (exact); i++)
    text = diff_member (exact[i], expected, actual);
  if (text == NULL)
    text = diff_ret (op, expected, actual);
  if (text == NULL && json_object_get (expected, "state") != NULL)
    text = diff_state (expected, actual);
  if (text == NULL && json_object_get (expected, "logits") != NULL)
    text = diff_logits (json_object_get (expected, "logits"), json_object_get (actual, "logits"),
                        tolerance);
  for (guint i = 0; text == NULL && i < G_N_ELEMENTS (if_both); i++)
    if (json_object_get (expected, if_both[i]) != NULL &&
        json_object_get (actual, if_both[i]) != NULL)
      text = diff_member (if_both[i], expected, actual);
  return text;
}

char *
trace_compare (const json_t *expected, const json_t *actual, const TraceTolerance *tolerance)
{
  const gsize n = json_array_size (expected);

  for (gsize i = 0; i < n && i < json_array_size (actual); i++)
    {
      const json_t *operation = json_array_get (expected, i);
      g_autofree char *text = diff_operation (operation, json_array_get (actual, i), tolerance);
      if (text != NULL)
        return g_strdup_printf ("%u %s %s", (guint) i,
                                json_string_value (json_object_get (operation, "op")), text);
    }
  if (n != json_array_size (actual))
    return g_strdup_printf ("%u operations expected, %u found", (guint) n,
                            (guint) json_array_size (actual));
  return NULL;
}
