#include "tests/engine/grammar/support.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "tests/engine/vocab/support.h"

const KvasirVocab *
grammar_vocab (void)
{
  static KvasirVocab *vocab;
  if (vocab == NULL)
    vocab = vocab_open ("qwen2-part");
  return vocab;
}

const KvasirTokenTrie *
grammar_trie (void)
{
  static KvasirTokenTrie *trie;
  if (trie == NULL)
    trie = kvasir_token_trie_new (grammar_vocab ());
  return trie;
}

KvasirGrammar *
make_grammar (const char *text)
{
  g_autoptr (GError) error = NULL;
  KvasirGrammar *grammar = kvasir_grammar_new (text, grammar_vocab (), &error);
  g_assert_no_error (error);
  g_assert_nonnull (grammar);
  return grammar;
}

gboolean
may_end (KvasirMatcher *matcher)
{
  return kvasir_matcher_allows (matcher, kvasir_vocab_get_eos (grammar_vocab ()));
}

gboolean
matches (const KvasirGrammar *grammar, const char *text, gssize len)
{
  g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, grammar_trie ());
  kvasir_matcher_accept_bytes (matcher, text, len < 0 ? strlen (text) : (gsize) len);
  return may_end (matcher);
}

guint8 *
list_allowed (KvasirMatcher *matcher)
{
  guint n = kvasir_vocab_get_n_tokens (grammar_vocab ());
  g_autofree float *logits = g_new0 (float, n);
  guint8 *allowed = g_new (guint8, n);
  kvasir_matcher_mask (matcher, logits, n);
  for (guint i = 0; i < n; i++)
    allowed[i] = !isinf (logits[i]);
  return allowed;
}

void
assert_refused (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (kvasir_grammar_new (text, grammar_vocab (), &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpstr (error->message, ==, message);
}
