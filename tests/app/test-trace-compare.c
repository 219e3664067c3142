/* The comparer sees what it has to see: a trace against one with a single member changed. */
#include "tests/app/trace-compare.h"

static const char row[] =
    "{\"n\":0,\"op\":\"decode\",\"ret\":0,\"state\":{\"kind\":\"kv\"},"
    "\"logits\":[{\"i\":1,\"argmax\":5,\"gap\":0.5,\"lse\":6.0,\"at\":[1.0,-2.0]}],"
    "\"mask\":[[0,1]]}";

static const char states[] =
    "{\"n\":0,\"op\":\"clear\",\"ret\":null,\"state\":{\"caches\":[{\"cells\":"
    "[[0,4,[0]],[1,7,[2]]]}]}}";

typedef struct
{
  const char *name;
  const char *expected;
  const char *from;
  const char *to;
  gboolean same;
} Case;

/* Tolerance of the row: 0.02 + 0.01 * 2 = 0.04. */
static const Case cases[] = {
  { "itself", row, "kv", "kv", TRUE },
  { "state", row, "\"kv\"", "\"none\"", FALSE },
  { "return-code", row, "\"ret\":0", "\"ret\":1", FALSE },
  { "row-index", row, "\"i\":1", "\"i\":2", FALSE },
  { "best-id", row, "\"argmax\":5", "\"argmax\":6", FALSE },
  { "value-within", row, "-2.0", "-2.039", TRUE },
  { "value-outside", row, "-2.0", "-2.041", FALSE },
  { "sum-outside", row, "6.0", "6.05", FALSE },
  { "value-missing", row, "[1.0,-2.0]", "[1.0]", FALSE },
  { "not-finite", row, "-2.0", "null", FALSE },
  { "mask", row, "[[0,1]]", "[[0,2]]", FALSE },
  { "mask-absent", row, "\"mask\":[[0,1]]", "\"other\":0", TRUE },
  { "row-missing", row, "[{\"i\":1,", "[{},{\"i\":1,", FALSE },
  { "saved-size", "{\"n\":0,\"op\":\"save\",\"ret\":7}", "7", "8", TRUE },
  { "score-within", "{\"n\":0,\"op\":\"score\",\"ret\":2.0}", "2.0", "2.019", TRUE },
  { "score-outside", "{\"n\":0,\"op\":\"score\",\"ret\":2.0}", "2.0", "2.021", FALSE },
  { "true-and-one", "{\"n\":0,\"op\":\"load\",\"ret\":true}", "true", "1", FALSE },
  { "other-cell-of-a-state", states, "[1,7", "[2,7", TRUE },
  { "other-position-of-a-state", states, "[1,7", "[1,8", FALSE },
  { "other-owner-of-a-state", states, "[2]", "[1]", FALSE },
  { "clear-gap-needed",
    "{\"n\":0,\"op\":\"decode\",\"ret\":0,\"logits\":[{\"i\":0,\"argmax\":5,"
    "\"gap\":0.05,\"lse\":1.0,\"at\":[1.0]}]}",
    "\"argmax\":5", "\"argmax\":6", TRUE },
};

static void
test_case (gconstpointer data)
{
  const TraceTolerance tolerance = { 0.02, 0.01 };
  const Case *c = data;
  g_auto (GStrv) parts = g_strsplit (c->expected, c->from, 2);
  g_autofree char *changed = g_strjoinv (c->to, parts);
  json_t *expected = trace_parse (c->expected), *actual = trace_parse (changed);
  g_autofree char *text = NULL;

  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  g_assert_nonnull (expected);
  g_assert_nonnull (actual);
  text = trace_compare (expected, actual, &tolerance);
  if (c->same)
    g_assert_cmpstr (text, ==, NULL);
  else
    g_assert_nonnull (text);
  json_decref (expected);
  json_decref (actual);
}

static void
test_missing_operation (void)
{
  const TraceTolerance tolerance = { 0.02, 0.01 };
  json_t *expected = trace_parse (row), *actual = trace_parse ("");
  g_autofree char *text = trace_compare (expected, actual, &tolerance);

  g_assert_cmpstr (text, ==, "1 operations expected, 0 found");
  json_decref (expected);
  json_decref (actual);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/app/trace-compare/%s", cases[i].name);
      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/app/trace-compare/operation-missing", test_missing_operation);
  return g_test_run ();
}
