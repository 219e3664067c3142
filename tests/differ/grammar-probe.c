/* Answers questions about grammars for programs that compare: one JSON object a line on standard
 * input, one answer a line on standard output.
 *
 *     grammar-probe VOCAB.gguf < questions.jsonl
 *
 * {"grammar": TEXT} or {"schema": TEXT} with
 *   "texts": [TEXT]  are they complete answers? "texts": [true, ...]
 *   "samples": N     N answers as chance has them: "samples": [TEXT, ...]
 *   "walk": [[ID]]   which tokens may follow behind those? "walk": [[ID], ...]
 * What cannot be read is answered with {"error": TEXT}.
 */
#include "engine/grammar/matcher.h"
#include "engine/grammar/schema.h"

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

/* Of the tokens allowed, those that lead to an end are preferred. -1: the answer ends. */
static gint32
choose (Probe *self, GRand *random, KvasirMatcher *matcher)
{
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  g_autoptr (GArray) closing = g_array_new (FALSE, FALSE, sizeof (gint32));
  memset (self->logits, 0, self->n * sizeof (float));
  kvasir_matcher_mask (matcher, self->logits, self->n);
  for (gint32 i = 0; i < (gint32) self->n; i++)
    {
      guint32 n;
      const guint8 *bytes = kvasir_token_trie_get_bytes (self->trie, i, &n);
      if (isinf (self->logits[i]) || n == 0)
        continue;
      g_array_append_val (ids, i);
      if (memchr ("\"}]", bytes[n - 1], 3) != NULL)
        g_array_append_val (closing, i);
    }
  if (may_end (self, matcher) && (ids->len == 0 || g_rand_double (random) < 0.4))
    return -1;
  GArray *from = closing->len > 0 && g_rand_double (random) < 0.3 ? closing : ids;
  return from->len > 0
             ? g_array_index (from, gint32, g_rand_int_range (random, 0, (gint32) from->len))
             : -1;
}

/* Answers that get too long are left out. */
static json_t *
probe_samples (Probe *self, const KvasirGrammar *grammar, json_int_t n)
{
  json_t *answers = json_array ();
  GRand *random = g_rand_new_with_seed (1);
  for (json_int_t i = 0; i < n; i++)
    {
      g_autoptr (KvasirMatcher) matcher = kvasir_matcher_new (grammar, self->trie);
      g_autoptr (GString) text = g_string_new (NULL);
      gint32 id = 0;
      while (text->len < 2000 && (id = choose (self, random, matcher)) >= 0)
        {
          kvasir_vocab_append_token (self->vocab, id, FALSE, text);
          kvasir_matcher_accept (matcher, id);
        }
      if (id < 0)
        json_array_append_new (
            answers, may_end (self, matcher) ? json_stringn (text->str, text->len) : json_null ());
    }
  g_rand_free (random);
  return answers;
}

static json_t *
answer (Probe *self, const json_t *question)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strdup (json_string_value (json_object_get (question, "grammar")));
  json_t *reply = json_object ();
  if (text == NULL)
    {
      text = kvasir_schema_to_grammar (json_string_value (json_object_get (question, "schema")),
                                       &error);
      if (text != NULL)
        json_object_set_new (reply, "grammar", json_string (text));
    }
  g_autoptr (KvasirGrammar) grammar =
      text != NULL ? kvasir_grammar_new (text, self->vocab, &error) : NULL;
  if (grammar == NULL)
    json_object_set_new (reply, "error", json_string (error->message));
  else
    {
      json_object_set_new (reply, "texts",
                           probe_texts (self, grammar, json_object_get (question, "texts")));
      json_object_set_new (
          reply, "samples",
          probe_samples (self, grammar,
                         json_integer_value (json_object_get (question, "samples"))));
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
