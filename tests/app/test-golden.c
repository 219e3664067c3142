/* Scenarios whose outputs were made by an independent implementation of the same rules.
 *
 * The small models lie in tests/data/models, the default model where the app keeps it. There is a
 * folder for each kind of memory.
 */
#include <string.h>

#include "tests/app/cli-runner.h"
#include "tests/app/trace-compare.h"

#define DEFAULT_MODEL "SmolLM2-135M-Instruct.Q4_1.gguf"

typedef struct
{
  const char *folder;
  TraceTolerance tolerance;
  guint n_least; /* scenarios that must have been found */
} Set;

/* The matrices of the default model are Q4_1: products with quantised activations differ by up to
 * 1.2 from products with plain ones. */
static const Set sets[] = {
  { "kv-unified", { 0.02, 0.01 }, 42 },  { "kv-streams", { 0.02, 0.01 }, 22 },
  { "kv-noflash", { 0.02, 0.01 }, 18 },  { "kv-quant", { 0.02, 0.01 }, 26 },
  { "kv-mla", { 0.02, 0.01 }, 22 },      { "kv-mrope", { 0.02, 0.01 }, 22 },
  { "iswa", { 0.02, 0.01 }, 28 },        { "iswa-streams", { 0.02, 0.01 }, 23 },
  { "iswa-full", { 0.02, 0.01 }, 24 },   { "iswa-chunked", { 0.02, 0.01 }, 24 },
  { "iswa-reuse", { 0.02, 0.01 }, 13 },  { "recurrent", { 0.02, 0.01 }, 16 },
  { "hybrid", { 0.02, 0.01 }, 15 },      { "hybrid-streams", { 0.02, 0.01 }, 8 },
  { "hybrid-iswa", { 0.02, 0.01 }, 23 }, { "none", { 0.02, 0.01 }, 4 },
  { "smollm2", { 1.0, 0.03 }, 10 },
};

typedef struct
{
  char *path;
  const Set *set;
  gboolean needs_default_model;
} Scenario;

static void
free_scenario (gpointer data)
{
  Scenario *scenario = data;
  g_free (scenario->path);
  g_free (scenario);
}

static gboolean
has_default_model (void)
{
  g_autofree char *path =
      g_build_filename (g_get_user_data_dir (), "kvasir", "models", DEFAULT_MODEL, NULL);
  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

static char *
read_file (const char *path)
{
  g_autoptr (GError) error = NULL;
  char *text = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

static char *
make_expected_path (const char *path)
{
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".jsonl"));
  return g_strconcat (stem, ".expected.jsonl", NULL);
}

static void
test_scenario (gconstpointer data)
{
  const Scenario *scenario = data;
  g_autofree char *models = cli_data_path ("models");
  g_autofree char *expected_path = make_expected_path (scenario->path);
  g_autofree char *expected_text = NULL, *difference = NULL;
  g_auto (CliResult) result = { NULL, NULL, 0 };
  json_t *expected, *actual;

  if (scenario->needs_default_model && !has_default_model ())
    {
      g_test_skip ("the default model is not there; ./dev model fetches it");
      return;
    }
  expected_text = read_file (expected_path);
  result = cli_run ("run", "--models", models, scenario->path, NULL);
  g_assert_cmpstr (result.err, ==, "");
  g_assert_cmpint (result.status, ==, 0);
  expected = trace_parse (expected_text);
  actual = trace_parse (result.out);
  g_assert_nonnull (expected);
  g_assert_nonnull (actual);
  difference = trace_compare (expected, actual, &scenario->set->tolerance);
  g_assert_cmpstr (difference, ==, NULL);
  json_decref (expected);
  json_decref (actual);
}

/* The model that the first object names. Returns: (transfer full) */
static char *
read_model_name (const char *path)
{
  g_autofree char *text = read_file (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  char *name = NULL;

  for (guint i = 0; lines[i] != NULL && name == NULL; i++)
    if (lines[i][0] == '{')
      {
        json_t *header = json_loads (lines[i], 0, NULL);
        name = g_strdup (json_string_value (json_object_get (header, "model")));
        json_decref (header);
      }
  return name;
}

static gboolean
add_scenario (const Set *set, const char *dir, const char *name)
{
  g_autofree char *path = g_build_filename (dir, name, NULL);
  g_autofree char *model = read_model_name (path);
  g_autofree char *models = cli_data_path ("models");
  g_autofree char *model_path = g_build_filename (models, model, NULL);
  g_autofree char *stem = g_strndup (name, strlen (name) - strlen (".jsonl"));
  g_autofree char *test_path = g_strdup_printf ("/app/golden/%s/%s", set->folder, stem);
  gboolean is_default = g_strcmp0 (model, DEFAULT_MODEL) == 0;
  Scenario *scenario;

  if (!is_default && !g_file_test (model_path, G_FILE_TEST_EXISTS))
    return FALSE;
  scenario = g_new0 (Scenario, 1);
  scenario->path = g_steal_pointer (&path);
  scenario->set = set;
  scenario->needs_default_model = is_default;
  g_test_add_data_func_full (test_path, scenario, test_scenario, free_scenario);
  return TRUE;
}

static void
add_set (const Set *set)
{
  g_autofree char *golden = cli_data_path ("golden");
  g_autofree char *path = g_build_filename (golden, set->folder, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open (path, 0, &error);
  const char *name;
  guint n = 0;

  g_assert_no_error (error);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".jsonl") && !g_str_has_suffix (name, ".expected.jsonl"))
      n += add_scenario (set, path, name);
  g_assert_cmpuint (n, >=, set->n_least);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (sets); i++)
    add_set (&sets[i]);
  return g_test_run ();
}
