/* Broken grammars, schemas and patterns: each is read or refused with an error, and what was read
 * can be followed. Other random cases with --seed, more of them with -m slow. */
#include "engine/grammar/schema.h"
#include "tests/engine/grammar/support.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static guint
n_cases (void)
{
  return g_test_slow () ? 200000 : 3000;
}

/* The value of @key in each line of a data file, as it stands there. */
static GPtrArray *
load_seeds (const char *file, const char *key)
{
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "grammar", file, NULL);
  g_autofree char *all = NULL;
  GPtrArray *seeds = g_ptr_array_new_with_free_func (g_free);
  g_file_get_contents (path, &all, NULL, NULL);
  g_auto (GStrv) lines = g_strsplit (all, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      json_t *line = json_loads (lines[i], 0, NULL);
      const json_t *value = json_object_get (line, key);
      char *dump = json_is_string (value) ? NULL : json_dumps (value, JSON_ENCODE_ANY);
      g_ptr_array_add (seeds, g_strdup (dump != NULL ? dump : json_string_value (value)));
      free (dump);
      json_decref (line);
    }
  g_assert_cmpuint (seeds->len, >, 0);
  return seeds;
}

/* A few bytes or pieces of it are changed, taken out or put in. */
static char *
break_text (const char *seed, const char *marks)
{
  GString *text = g_string_new (seed);
  guint n = (guint) g_test_rand_int_range (1, 6);
  for (guint i = 0; i < n; i++)
    {
      gint32 at = g_test_rand_int_range (0, (gint32) text->len + 1);
      gint32 len = g_test_rand_int_range (0, 9);
      char mark = marks[g_test_rand_int_range (0, (gint32) strlen (marks))];
      switch (g_test_rand_int_range (0, 4))
        {
        case 0:
          g_string_insert_c (text, at, mark);
          break;
        case 1:
          g_string_erase (text, at, MIN (len, (gint32) text->len - at));
          break;
        case 2:
          g_string_insert_len (text, at, text->str, MIN (len * 4, (gint32) text->len));
          break;
        default:
          if (at < (gint32) text->len)
            text->str[at] = (char) g_test_rand_int_range (1, 256);
        }
    }
  return g_string_free (text, FALSE);
}

/* The first tokens of an answer. */
static void
follow (const KvasirGrammar *grammar)
{
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  gint32 n = (gint32) kvasir_token_trie_get_n_tokens (grammar_trie ());
  for (guint i = 0; i < 4; i++)
    {
      g_autofree guint8 *allowed = list_allowed (matcher);
      gint32 id = g_test_rand_int_range (0, n);
      gint32 end = id;
      do
        id = (id + 1) % n;
      while (!allowed[id] && id != end);
      g_assert_cmpint (kvasir_matcher_allows (matcher, id), ==, allowed[id]);
      kvasir_matcher_accept (matcher, id);
    }
}

/* @made: out of a schema, where only one that means itself may fail. */
static void
check_grammar (const char *text, gboolean made)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGrammar) grammar = kvasir_grammar_new (text, grammar_vocab (), &error);
  g_assert_true ((grammar == NULL) == (error != NULL));
  if (grammar != NULL)
    follow (grammar);
  else if (made && strstr (error->message, "begins with itself") == NULL)
    g_error ("%s in %s", error->message, text);
}

static void
test_grammars (void)
{
  g_autoptr (GPtrArray) seeds = load_seeds ("gbnf.jsonl", "grammar");
  for (guint i = 0; i < n_cases (); i++)
    {
      g_autofree char *text =
          break_text (g_ptr_array_index (seeds, i % seeds->len), "\"[](){}|*+?.\\^-<>!:=#\n09a,");
      check_grammar (text, FALSE);
    }
}

static void
test_schemas (void)
{
  g_autoptr (GPtrArray) seeds = load_seeds ("schema.jsonl", "schema");
  for (guint i = 0; i < n_cases (); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text =
          break_text (g_ptr_array_index (seeds, i % seeds->len), "\"[]{}:,019-.e$#/");
      g_autofree char *grammar = kvasir_schema_to_grammar (text, &error);
      g_assert_true ((grammar == NULL) == (error != NULL));
      if (grammar != NULL)
        check_grammar (grammar, TRUE);
    }
}

/* What reading the schema lets through, reading the grammar must not refuse. */
static void
test_patterns (void)
{
  static const char *const seeds[] = {
    "^(\\d{3}-)?[a-f]+$",
    "^[^a\\\\]\\.\\w\"?$|x$",
    "a{2,}?b*|(?:c|d.)+",
    "[\\s\\S]\\u00e9\\x41[-a]",
  };
  for (guint i = 0; i < n_cases (); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *broken =
          break_text (seeds[i % G_N_ELEMENTS (seeds)], "^$[](){}|*+?.\\-,09adswux");
      json_t *schema = json_pack ("{s:s%}", "pattern", broken, strlen (broken));
      if (schema == NULL)
        continue;
      char *text = json_dumps (schema, 0);
      g_autofree char *grammar = kvasir_schema_to_grammar (text, &error);
      g_assert_true ((grammar == NULL) == (error != NULL));
      if (grammar != NULL)
        {
          g_autoptr (KvasirGrammar) made = kvasir_grammar_new (grammar, NULL, &error);
          if (error != NULL)
            g_test_message ("%s: %s", broken, error->message);
          g_assert_no_error (error);
          follow (made);
        }
      free (text);
      json_decref (schema);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/grammar/fuzz/grammars", test_grammars);
  g_test_add_func ("/engine/grammar/fuzz/schemas", test_schemas);
  g_test_add_func ("/engine/grammar/fuzz/patterns", test_patterns);
  return g_test_run ();
}
