/* Holding answers to grammars, beside what llama.cpp lets through
 * (tests/tools/make-grammar-goldens.py) and beside what the grammars plainly say. */
#include "tests/engine/grammar/support.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "tests/engine/vocab/support.h"

/* ---- beside llama.cpp */

/* Half a character before a negated class is let through here where one fits, there never; a zero
 * byte is a character like others here. */
static gboolean
may_differ (const char *grammar, gint32 id)
{
  guint32 n;
  const guint8 *bytes = kvasir_token_trie_get_bytes (grammar_trie (), id, &n);
  if (n > 0 && bytes[0] == 0)
    return TRUE;
  return strstr (grammar, "[^") != NULL && !g_utf8_validate ((const char *) bytes, n, NULL);
}

static void
check_next (const char *text, const KvasirGrammar *grammar, const json_t *next)
{
  const json_t *before = json_array_get (next, 0);
  const json_t *ids = json_array_get (next, 1);
  guint n = kvasir_token_trie_get_n_tokens (grammar_trie ());
  g_autofree guint8 *expected = g_new0 (guint8, n);
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  for (gsize i = 0; i < json_array_size (before); i++)
    kvasir_matcher_accept (matcher, (gint32) json_integer_value (json_array_get (before, i)));
  for (gsize i = 0; i < json_array_size (ids); i++)
    expected[json_integer_value (json_array_get (ids, i))] = 1;
  g_autofree guint8 *allowed = list_allowed (matcher);
  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (kvasir_matcher_allows (matcher, (gint32) i), ==, allowed[i]);
      if (!may_differ (text, (gint32) i))
        g_assert_cmpint (allowed[i], ==, expected[i]);
    }
}

static void
check_texts (const KvasirGrammar *grammar, const json_t *texts, gboolean expected)
{
  for (gsize i = 0; i < json_array_size (texts); i++)
    g_assert_cmpint (matches (grammar, json_string_value (json_array_get (texts, i)), -1), ==,
                     expected);
}

static void
test_as_llama_cpp (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "grammar", "gbnf.jsonl", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;
  for (; lines[n] != NULL && *lines[n] != '\0'; n++)
    {
      json_t *line = json_loads (lines[n], 0, NULL);
      const char *source = json_string_value (json_object_get (line, "grammar"));
      const json_t *next = json_object_get (line, "next");
      g_autoptr (KvasirGrammar) grammar = make_grammar (source);
      check_texts (grammar, json_object_get (line, "yes"), TRUE);
      check_texts (grammar, json_object_get (line, "no"), FALSE);
      for (gsize i = 0; i < json_array_size (next); i++)
        check_next (source, grammar, json_array_get (next, i));
      json_decref (line);
    }
  g_assert_cmpuint (n, ==, 20);
}

/* ---- tokens */

static void
test_names_of_tokens (void)
{
  const KvasirVocab *vocab = grammar_vocab ();
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GError) error = NULL;
  kvasir_vocab_tokenize (vocab, "<|im_start|>", -1, FALSE, TRUE, ids, &error);
  g_assert_no_error (error);
  gint32 mark = g_array_index (ids, gint32, 0);
  g_autoptr (KvasirGrammar) grammar = make_grammar ("root ::= !<|im_start|>{2} <|im_start|> \"a\"");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  for (guint i = 0; i < 2; i++)
    {
      g_autofree guint8 *allowed = list_allowed (matcher);
      for (gint32 id = 0; id < (gint32) kvasir_vocab_get_n_tokens (vocab); id++)
        {
          g_assert_cmpint (allowed[id], ==, id != mark && !kvasir_vocab_is_eog (vocab, id));
          g_assert_cmpint (kvasir_matcher_allows (matcher, id), ==, allowed[id]);
        }
      kvasir_matcher_accept (matcher, 64);
    }
  g_assert_true (kvasir_matcher_allows (matcher, mark));
  g_assert_false (kvasir_matcher_allows (matcher, 64));
  kvasir_matcher_accept (matcher, mark);
  g_assert_false (kvasir_matcher_allows (matcher, mark));
  kvasir_matcher_accept (matcher, 64);
  g_assert_true (may_end (matcher));
}

/* Both the token and its text would do: what follows either may follow. */
static void
test_name_and_text_together (void)
{
  g_autoptr (KvasirGrammar) grammar = make_grammar ("root ::= <[64]> \"x\" | \"a\" \"y\"");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  kvasir_matcher_accept (matcher, 64);
  g_autofree guint8 *allowed = list_allowed (matcher);
  g_assert_true (allowed['x' - 'a' + 64] && allowed['y' - 'a' + 64]);
  g_assert_false (allowed[64]);
}

static void
test_what_was_not_allowed_ends_it (void)
{
  g_autoptr (KvasirGrammar) grammar = make_grammar ("root ::= \"abc\"");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  g_autoptr (GError) error = NULL;
  kvasir_matcher_accept (matcher, 64);
  kvasir_matcher_accept (matcher, 67);
  g_autofree guint8 *allowed = list_allowed (matcher);
  for (guint i = 0; i < kvasir_token_trie_get_n_tokens (grammar_trie ()); i++)
    g_assert_false (allowed[i] || kvasir_matcher_allows (matcher, (gint32) i));
  kvasir_matcher_accept (matcher, 67);
  kvasir_matcher_accept (matcher, -1);
  kvasir_matcher_accept (matcher, G_MAXINT32);
  kvasir_matcher_explain (matcher, &error);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpstr (error->message, ==, "The grammar allows no token of this model behind \"add\"");
}

/* Logits beyond the vocabulary, as of padded models. */
static void
test_padding_is_never_allowed (void)
{
  g_autoptr (KvasirGrammar) grammar = make_grammar ("root ::= .*");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  guint n = kvasir_token_trie_get_n_tokens (grammar_trie ());
  g_autofree float *logits = g_new0 (float, n + 3);
  kvasir_matcher_mask (matcher, logits, n + 3);
  g_assert_cmpfloat (logits[64], ==, 0);
  for (guint i = n; i < n + 3; i++)
    g_assert_true (isinf (logits[i]));
}

/* Subtrees that are taken whole hold nothing that leads away: beside asking token by token. */
static void
test_whole_subtrees (void)
{
  static const char letters[] = "aeinorstlcdmp \n\t.,;=0(";
  guint n = kvasir_token_trie_get_n_tokens (grammar_trie ());
  for (guint i = 0; letters[i] != '\0'; i++)
    {
      g_autofree char *text = g_strdup_printf ("root ::= [^\\x%02X]* \"\\\\\"", letters[i]);
      g_autoptr (KvasirGrammar) grammar = make_grammar (text);
      g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
      g_autofree guint8 *allowed = list_allowed (matcher);
      for (guint id = 0; id < n; id++)
        g_assert_cmpint (allowed[id], ==, kvasir_matcher_allows (matcher, (gint32) id));
    }
}

/* ---- characters */

/* By the table of well-formed sequences of the Unicode standard (chapter 3, table 3-7). */
static void
test_broken_characters_are_refused (void)
{
  static const char *const broken[] = {
    "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xC2",     "\xC2\x41", "\xE0\x9F\xBF",
    "\xED\xA0\x80", "\xE1\x80",         "\xF0\x8F\xBF\xBF", "\xF4\x90", "\xF5",     "\xFF",
    "\xE1\x80\x41", "\xF1\x80\x80\x41",
  };
  static const char *const whole[] = {
    "\x7F",         "\xC2\x80",         "\xDF\xBF",         "\xE0\xA0\x80",     "\xED\x9F\xBF",
    "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF3\xBF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xE1\x80\x80",
  };
  g_autoptr (KvasirGrammar) grammar = make_grammar ("root ::= .");
  for (guint i = 0; i < G_N_ELEMENTS (broken); i++)
    g_assert_false (matches (grammar, broken[i], -1));
  for (guint i = 0; i < G_N_ELEMENTS (whole); i++)
    g_assert_true (matches (grammar, whole[i], -1));
  g_assert_true (matches (grammar, "\0", 1));
}

/* A byte may come only where a character of the grammar begins so. */
static void
test_half_a_character_looks_ahead (void)
{
  static const struct
  {
    const char *grammar;
    const char *bytes;
    gboolean alive;
  } cases[] = {
    { "root ::= \"é\"", "\xC3", TRUE },
    { "root ::= \"é\"", "\xC4", FALSE },
    { "root ::= [a-z]", "\xE0", FALSE },
    { "root ::= [^\\x00-\\uFFFF]", "\xF0", TRUE },
    { "root ::= [^\\x00-\\uFFFF]", "\xE2", FALSE },
    { "root ::= \"😀\"", "\xF0\x9F\x98", TRUE },
    { "root ::= \"😀\"", "\xF0\x9F\x99", FALSE },
    { "root ::= [^\\uE000-\\U0010FFFF]", "\xF0", FALSE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (KvasirGrammar) grammar = make_grammar (cases[i].grammar);
      g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
      gboolean alive = FALSE;
      kvasir_matcher_accept_bytes (matcher, cases[i].bytes, strlen (cases[i].bytes));
      g_autofree guint8 *allowed = list_allowed (matcher);
      for (guint id = 0; id < kvasir_token_trie_get_n_tokens (grammar_trie ()); id++)
        alive |= allowed[id];
      g_assert_cmpint (alive, ==, cases[i].alive);
      g_assert_false (may_end (matcher));
    }
}

/* ---- grammars that would grow without bounds */

static char *
repeat (const char *text, guint n)
{
  g_autoptr (GString) all = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    g_string_append (all, text);
  return g_strdup (all->str);
}

static void
test_ambiguity_stays_small (void)
{
  static const struct
  {
    const char *grammar;
    const char *text;
    guint n;
    gboolean expected;
  } cases[] = {
    /* Each of these has 2^n ways and more to read n characters. */
    { "root ::= \"a\" root \"b\" | \"a\" root \"c\" | \"a\"", "a", 2000, FALSE },
    { "root ::= (\"a\" | \"a\")*", "a", 20000, TRUE },
    { "root ::= ((((\"a\"*)*)*)*)*", "a", 20000, TRUE },
    { "root ::= (\"a\" | \"aa\" | \"aaa\")+", "a", 20000, TRUE },
    { "root ::= \"a\" root root | \"a\"", "a", 301, TRUE },
    { "root ::= x x x x x x x x\nx ::= y*\ny ::= \"a\" | \"aa\"", "a", 5000, TRUE },
    { "root ::= (\"a\" | \"aa\"){0,4000000000}", "a", 1000, TRUE },
    { "root ::= ((\"a\"{0,1000000}){0,1000000}){3}", "a", 60, TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (KvasirGrammar) grammar = make_grammar (cases[i].grammar);
      g_autofree char *text = repeat (cases[i].text, cases[i].n);
      g_assert_cmpint (matches (grammar, text, -1), ==, cases[i].expected);
    }
}

/* Counts of counts: soon there are more ways than are followed, which is said and never hangs. */
static void
test_too_much_is_said (void)
{
  g_autoptr (KvasirGrammar) grammar =
      make_grammar ("root ::= (((\"a\"{0,9999}){0,9999}){0,9999}){1,9999} \"b\"");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  g_autoptr (GError) error = NULL;
  g_autofree char *text = repeat ("a", 60);
  for (guint i = 0; i < 100 && kvasir_matcher_allows (matcher, 64); i++)
    kvasir_matcher_accept_bytes (matcher, text, 60);
  kvasir_matcher_explain (matcher, &error);
  g_assert_true (
      g_str_has_prefix (error->message, "The grammar is too ambiguous: behind \"aaaaaaa"));
}

/* More states than are kept at a time: old ones are thrown away on the way. */
static void
test_long_answers_forget_states (void)
{
  g_autoptr (KvasirGrammar) grammar =
      make_grammar ("root ::= nest \".\"\nnest ::= \"(\" nest \")\" | \"[\" nest \"]\" | "
                    "[^()\\[\\].]{0,3000000}");
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  g_autofree char *inner = repeat ("xyzzy xyzzy xyzzy xyzzy ", 100);
  kvasir_matcher_accept_bytes (matcher, "([[", 3);
  for (guint i = 0; i < 500; i++)
    kvasir_matcher_accept_bytes (matcher, inner, 2400);
  kvasir_matcher_accept_bytes (matcher, "]]", 2);
  g_assert_false (may_end (matcher));
  kvasir_matcher_accept_bytes (matcher, ").", 2);
  g_assert_true (may_end (matcher));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/grammar/as-llama-cpp", test_as_llama_cpp);
  g_test_add_func ("/engine/grammar/names-of-tokens", test_names_of_tokens);
  g_test_add_func ("/engine/grammar/name-and-text-together", test_name_and_text_together);
  g_test_add_func ("/engine/grammar/what-was-not-allowed-ends-it",
                   test_what_was_not_allowed_ends_it);
  g_test_add_func ("/engine/grammar/padding-is-never-allowed", test_padding_is_never_allowed);
  g_test_add_func ("/engine/grammar/whole-subtrees", test_whole_subtrees);
  g_test_add_func ("/engine/grammar/broken-characters-are-refused",
                   test_broken_characters_are_refused);
  g_test_add_func ("/engine/grammar/half-a-character-looks-ahead",
                   test_half_a_character_looks_ahead);
  g_test_add_func ("/engine/grammar/ambiguity-stays-small", test_ambiguity_stays_small);
  g_test_add_func ("/engine/grammar/too-much-is-said", test_too_much_is_said);
  g_test_add_func ("/engine/grammar/long-answers-forget-states", test_long_answers_forget_states);
  return g_test_run ();
}
