/* The template goldens: one small template for each family of features, with what the reference
 * implementation makes of it (tests/data/templates/golden). */
#include "support.h"

static void
check_line (const json_t *line, gpointer user_data)
{
  const char *file = json_string_value (json_object_get (line, "template_file"));
  if (g_strcmp0 (file, user_data) != 0)
    return;
  g_autofree char *path = g_build_filename ("golden", file, NULL);
  g_autofree char *source = template_data (path);
  template_check_case (source, line);
}

static void
test_golden (gconstpointer file)
{
  template_each_case ("golden/cases.jsonl", check_line, (gpointer) file);
}

int
main (int argc, char *argv[])
{
  static const char *const files[] = {
    "01-conditions",   "02-loops",      "03-scope",          "04-namespace",      "05-macros",
    "06-slices",       "07-whitespace", "08-break-continue", "09-string-methods", "10-text-filters",
    "11-list-filters", "12-tests",      "13-tojson",         "14-raise",          "15-undefined",
    "16-truth",        "17-arithmetic", "18-literals",       "19-blocks",         "20-generation",
    "21-clock",        "22-parts",      "23-range",          "24-tools",          "25-thinking",
    "26-extras",
  };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *path = g_strconcat ("/engine/template/golden/", files[i], NULL);
      g_test_add_data_func_full (path, g_strconcat (files[i], ".jinja", NULL), test_golden, g_free);
    }
  return g_test_run ();
}
