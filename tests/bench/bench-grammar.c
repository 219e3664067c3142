/* Speed of holding tokens to a grammar.
 *
 *   bench-grammar GGUF...
 *
 * For each vocabulary: how long its trie takes, then for places in a JSON text how long the first
 * look at all tokens takes, one for a place that was seen before, and asking for one token alone,
 * which is what a step costs where the token drawn fits. Processor time of this thread. */
#include "engine/grammar/matcher.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define N_ROUNDS 50

static const char json_grammar[] =
    "root ::= object\n"
    "value ::= object | array | string | number | (\"true\" | \"false\" | \"null\") ws\n"
    "object ::= \"{\" ws (string \":\" ws value (\",\" ws string \":\" ws value)*)? \"}\" ws\n"
    "array ::= \"[\" ws (value (\",\" ws value)*)? \"]\" ws\n"
    "string ::= \"\\\"\" ([^\"\\\\\\x7F\\x00-\\x1F] | \"\\\\\" ([\"\\\\bfnrt] | \"u\" "
    "[0-9a-fA-F]{4}))* "
    "\"\\\"\" ws\n"
    "number ::= (\"-\"? ([0-9] | [1-9] [0-9]{0,15})) (\".\" [0-9]+)? ([eE] [-+]? [0-9] "
    "[1-9]{0,15})? "
    "ws\n"
    "ws ::= | \" \" | \"\\n\" [ \\t]{0,20}\n";

static const struct
{
  const char *name;
  const char *text;
} places[] = {
  { "start", "" },        { "key", "{\"" },         { "colon", "{\"a\"" },
  { "value", "{\"a\":" }, { "text", "{\"a\":\"b" }, { "number", "{\"a\":[12" },
};

static double
get_us (void)
{
  struct timespec now;
  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

static double
time_mask (KvasirMatcher *matcher, float *logits, guint n)
{
  memset (logits, 0, n * sizeof (float));
  double start = get_us ();
  kvasir_matcher_mask (matcher, logits, n);
  return get_us () - start;
}

static void
bench_place (const KvasirGrammar *grammar, const KvasirTokenTrie *trie, guint place)
{
  guint n = kvasir_token_trie_get_n_tokens (trie);
  g_autofree float *logits = g_new (float, n);
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, trie);
  const char *text = places[place].text;
  double again = G_MAXDOUBLE;
  guint n_allowed = 0;

  kvasir_matcher_accept_bytes (matcher, text, strlen (text));
  double first = time_mask (matcher, logits, n);
  for (guint i = 0; i < N_ROUNDS; i++)
    again = MIN (again, time_mask (matcher, logits, n));
  for (guint i = 0; i < n; i++)
    n_allowed += !isinf (logits[i]);
  double start = get_us ();
  guint n_ones = 0;
  for (guint i = 0; i < n; i++)
    n_ones += kvasir_matcher_allows (matcher, (gint32) i);
  double one = (get_us () - start) / n;
  g_assert (n_ones == n_allowed);
  printf ("  %-8s %7u of %7u tokens   first %8.0f us   again %6.0f us   one token %6.3f us\n",
          places[place].name, n_allowed, n, first, again, one);
}

static void
bench_vocab (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, &error);
  g_autoptr (KvasirVocab) vocab = gguf ? kvasir_vocab_new (gguf, &error) : NULL;
  if (vocab == NULL)
    {
      fprintf (stderr, "%s\n", error->message);
      return;
    }
  double start = get_us ();
  g_autoptr (KvasirTokenTrie) trie = kvasir_token_trie_new (vocab);
  double trie_us = get_us () - start;
  guint32 n_nodes;
  kvasir_token_trie_get_nodes (trie, &n_nodes);
  g_autoptr (KvasirGrammar) grammar = kvasir_grammar_new (json_grammar, vocab, &error);
  g_assert_no_error (error);
  printf ("%s: trie of %u nodes in %.1f ms\n", path, n_nodes, trie_us / 1e3);
  for (guint i = 0; i < G_N_ELEMENTS (places); i++)
    bench_place (grammar, trie, i);
}

int
main (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    bench_vocab (argv[i]);
  return 0;
}
