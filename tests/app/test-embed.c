/* kvasir-cli embed: rows against those that llama.cpp makes of the same texts, input, refusals. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "tests/app/cli-runner.h"

#define TEXT_A "the wise kvasir"
#define TEXT_B "a wise being"

/* The first values of tiny-bert's pooled rows. */
static const double expected_a[] = { 0.687795, -0.389619, 0.59074, -1.52167, 0.0825404, 0.649564 };
static const double expected_b[] = { 0.349464, 0.0498758, 0.143196, -1.79277, 0.523183, 0.876855 };

#define N_EMBD 64

static char *
find_bert (void)
{
  return cli_data_path ("models/tiny-bert.gguf");
}

/* The only row of line @i. */
static json_t *
get_row (char **lines, guint i, json_t **object)
{
  json_t *rows;

  *object = json_loads (lines[i], 0, NULL);
  g_assert_nonnull (*object);
  rows = json_object_get (*object, "rows");
  g_assert_cmpuint (json_array_size (rows), ==, 1);
  g_assert_cmpuint (json_array_size (json_array_get (rows, 0)), ==, N_EMBD);
  return json_array_get (rows, 0);
}

static void
assert_line (char **lines, guint i, const char *text, const double *expected, int n_tokens)
{
  json_t *object;
  const json_t *row = get_row (lines, i, &object);

  g_assert_cmpstr (json_string_value (json_object_get (object, "text")), ==, text);
  g_assert_cmpint (json_integer_value (json_object_get (object, "n_tokens")), ==, n_tokens);
  for (guint j = 0; j < G_N_ELEMENTS (expected_a); j++)
    g_assert_cmpfloat_with_epsilon (json_real_value (json_array_get (row, j)), expected[j], 1e-3);
  json_decref (object);
}

static void
assert_both (const char *out)
{
  g_auto (GStrv) lines = g_strsplit (out, "\n", -1);

  g_assert_cmpuint (g_strv_length (lines), ==, 3);
  assert_line (lines, 0, TEXT_A, expected_a, 7);
  assert_line (lines, 1, TEXT_B, expected_b, 8);
}

static void
test_arguments (void)
{
  g_autofree char *bert = find_bert ();
  g_auto (CliResult) result = cli_run ("embed", "--raw", "--json", bert, TEXT_A, TEXT_B, NULL);

  g_assert_cmpint (result.status, ==, 0);
  assert_both (result.out);
}

/* Empty lines are no texts, and the last line need not end. */
static void
test_input (void)
{
  g_autofree char *bert = find_bert ();
  g_auto (CliResult) result =
      cli_run_input (TEXT_A "\n\n" TEXT_B, "embed", "--raw", "--json", bert, NULL);

  g_assert_cmpint (result.status, ==, 0);
  assert_both (result.out);
}

static void
test_length (void)
{
  g_autofree char *bert = find_bert ();
  g_auto (CliResult) result = cli_run ("embed", "--json", bert, TEXT_A, NULL);
  g_auto (GStrv) lines = g_strsplit (result.out, "\n", -1);
  json_t *object;
  const json_t *row = get_row (lines, 0, &object);
  double sum = 0;

  for (guint i = 0; i < N_EMBD; i++)
    sum += pow (json_real_value (json_array_get (row, i)), 2);
  g_assert_cmpfloat_with_epsilon (sum, 1, 1e-5);
  json_decref (object);
}

/* The same text is as near as can be, another one is not. */
static void
test_people (void)
{
  g_autofree char *bert = find_bert ();
  g_auto (CliResult) result = cli_run ("embed", bert, TEXT_A, TEXT_A, TEXT_B, NULL);
  const char *table = strstr (result.out, "cosine between texts\n");

  g_assert_nonnull (strstr (result.out, "text 3: 8 tokens, 1 × 64 values\n"));
  g_assert_nonnull (table);
  g_assert_nonnull (strstr (table, "   2    1.0000    1.0000\n"));
  g_assert_nonnull (strstr (table, "   3    0.7998    0.7998    1.0000\n"));
}

static void
assert_refused (const char *model, const char *text, int status, const char *message)
{
  g_autofree char *path = cli_data_path (model);
  g_auto (CliResult) result = cli_run ("embed", path, text, NULL);

  g_assert_cmpint (result.status, ==, status);
  g_assert_cmpstr (result.out, ==, "");
  g_assert_nonnull (strstr (result.err, message));
}

static void
test_refusals (void)
{
  g_auto (GStrv) words = g_new0 (char *, 80);
  g_autofree char *text = NULL;

  for (guint i = 0; i < 79; i++)
    words[i] = g_strdup ("we read we write we forget and remember again");
  text = g_strjoinv (" ", words);
  assert_refused ("models/tiny-llama.gguf", TEXT_A, 3, "an encoder expected, \"llama\" found");
  assert_refused ("models/tiny-bert.gguf", text, 2, "text 1: 1 to 512 tokens expected, ");
  assert_refused ("models/tiny-bert.gguf", "\xff", 2, "text 1: UTF-8 expected");
  assert_refused ("models/tiny-bert.gguf", NULL, 2, "texts expected");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/app/embed/arguments", test_arguments);
  g_test_add_func ("/app/embed/lines-of-the-input", test_input);
  g_test_add_func ("/app/embed/has-length-one", test_length);
  g_test_add_func ("/app/embed/says-how-near-texts-are", test_people);
  g_test_add_func ("/app/embed/refusals", test_refusals);
  return g_test_run ();
}
