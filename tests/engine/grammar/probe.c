/* Answers questions about grammars for programs that compare: one JSON object a line on standard
 * input, one answer a line on standard output.
 *
 *     grammar-probe VOCAB.gguf < questions.jsonl
 *
 * {"grammar": TEXT} with
 *   "texts": [TEXT]  are they complete answers? "texts": [true, ...]
 *   "walk": [[ID]]   which tokens may follow behind those? "walk": [[ID], ...]
 * What cannot be read is answered with {"error": TEXT}.
 */
#include "engine/grammar/matcher.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct
{
  KvasirVocab *vocab;
  KvasirTokenTrie *trie;
  guint n;
  float *logits;
} Probe;

static gboolean
may_end (Probe *self, KvasirMatcher *matcher)
{
  for (guint i = 0; i < self->n; i++)
    if (kvasir_vocab_is_eog (self->vocab, (gint32) i))
      return kvasir_matcher_allows (matcher, (gint32) i);
  return FALSE;
}

static json_t *
probe_texts (Probe *self, const KvasirGrammar *grammar, const json_t *texts)
{
  json_t *answers = json_array ();
  json_t *text;
  gsize i;
  json_array_foreach (texts, i, text)
  {
    g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, self->trie);
    kvasir_matcher_accept_bytes (matcher, json_string_value (text), json_string_length (text));
    json_array_append_new (answers, json_boolean (may_end (self, matcher)));
  }
  return answers;
}

static json_t *
list_allowed (Probe *self, KvasirMatcher *matcher)
{
  json_t *ids = json_array ();
  for (guint i = 0; i < self->n; i++)
    self->logits[i] = 0;
  kvasir_matcher_mask (matcher, self->logits, self->n);
  for (guint i = 0; i < self->n; i++)
    if (!isinf (self->logits[i]))
      json_array_append_new (ids, json_integer (i));
  return ids;
}

static json_t *
probe_walks (Probe *self, const KvasirGrammar *grammar, const json_t *walks)
{
  json_t *answers = json_array ();
  json_t *walk;
  gsize i;
  json_array_foreach (walks, i, walk)
  {
    g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, self->trie);
    for (gsize k = 0; k < json_array_size (walk); k++)
      kvasir_matcher_accept (matcher, (gint32) json_integer_value (json_array_get (walk, k)));
    json_array_append_new (answers, list_allowed (self, matcher));
  }
  return answers;
}

static json_t *
answer (Probe *self, const json_t *question)
{
  g_autoptr (GError) error = NULL;
  const char *text = json_string_value (json_object_get (question, "grammar"));
  json_t *reply = json_object ();
  g_autoptr (KvasirGrammar) grammar =
      text != NULL ? kvasir_grammar_new (text, self->vocab, &error) : NULL;
  if (grammar == NULL)
    json_object_set_new (reply, "error", json_string (error->message));
  else
    {
      json_object_set_new (reply, "texts",
                           probe_texts (self, grammar, json_object_get (question, "texts")));
      json_object_set_new (reply, "walk",
                           probe_walks (self, grammar, json_object_get (question, "walk")));
    }
  return reply;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = argc == 2 ? kvasir_gguf_open (argv[1], &error) : NULL;
  g_autoptr (KvasirVocab) vocab = gguf != NULL ? kvasir_vocab_new (gguf, &error) : NULL;
  if (vocab == NULL)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "grammar-probe VOCAB.gguf");
      return 1;
    }
  g_autoptr (KvasirTokenTrie) trie = kvasir_token_trie_new (vocab);
  Probe self = { vocab, trie, kvasir_vocab_get_n_tokens (vocab), NULL };
  self.logits = g_new (float, self.n);
  for (json_t *question;
       (question = json_loadf (stdin, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL)) != NULL;)
    {
      json_t *reply = answer (&self, question);
      json_dumpf (reply, stdout, JSON_COMPACT);
      printf ("\n");
      fflush (stdout);
      json_decref (reply);
      json_decref (question);
    }
  g_free (self.logits);
  return 0;
}
