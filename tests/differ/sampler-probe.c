/* Runs chains of samplers for programs that compare: one JSON object a line on standard input, one
 * answer a line on standard output.
 *
 *     sampler-probe VOCAB.gguf < cases.jsonl
 *
 * {"n": LOGITS, "seed": N, "step": X, "params": {NAME: NUMBER}, "order": "A;B", "history": [ID],
 *  "biases": ["ID+BIAS"], "breakers": [TEXT], "draws": N}
 *
 * Logits are made of the seed, in whole steps where "step" is not 0. Answered is how many tokens
 * are left, what the likeliest before the chain have after it, and what was drawn with its chance:
 * {"left": N, "best": [[ID, P]], "drawn": [[ID, P]]}
 *
 * Breakers need "n" to be the size of the vocabulary.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/sampling/order.h"
#include "engine/sampling/rng.h"
#include "engine/session/sampling-texts.h"

#define REAL(name)                                                                                 \
  {                                                                                                \
#name, offsetof(KvasirSamplerParams, name), TRUE                                               \
  }
#define COUNT(name)                                                                                \
  {                                                                                                \
#name, offsetof(KvasirSamplerParams, name), FALSE                                              \
  }

static const struct
{
  const char *name;
  gsize at;
  gboolean is_real;
} members[] = {
  REAL (temperature),
  REAL (dynatemp_range),
  REAL (dynatemp_exponent),
  COUNT (top_k),
  REAL (top_p),
  REAL (min_p),
  REAL (typical_p),
  REAL (top_n_sigma),
  REAL (xtc_probability),
  REAL (xtc_threshold),
  REAL (repeat_penalty),
  REAL (presence_penalty),
  REAL (frequency_penalty),
  COUNT (penalty_last_n),
  REAL (dry_multiplier),
  REAL (dry_base),
  COUNT (dry_allowed_length),
  COUNT (dry_last_n),
  COUNT (mirostat),
  REAL (mirostat_tau),
  REAL (mirostat_eta),
};

static void
read_params (const json_t *object, KvasirSamplerParams *params)
{
  for (gsize i = 0; i < G_N_ELEMENTS (members); i++)
    {
      gpointer at = (char *) params + members[i].at;
      double value = json_number_value (json_object_get (object, members[i].name));
      if (members[i].is_real)
        *(float *) at = (float) value;
      else
        *(guint *) at = (guint) value;
    }
}

/* Four numbers of 24 bits added, so that nothing is rounded: a bell from -8 to 8. */
static float *
make_logits (guint64 seed, guint n, double step)
{
  float *logits = g_new (float, n);
  for (guint i = 0; i < n; i++)
    {
      guint64 sum = 0;
      for (guint k = 0; k < 4; k++)
        sum += kvasir_rng_split (&seed) >> 40;
      double logit = ((double) sum / (1 << 24) - 2) * 4;
      logits[i] = (float) (step > 0 ? floor (logit / step) * step : logit);
    }
  return logits;
}

static char **
read_texts (const json_t *list)
{
  gsize n = json_array_size (list);
  char **texts = g_new0 (char *, n + 1);
  for (gsize i = 0; i < n; i++)
    texts[i] = g_strdup (json_string_value (json_array_get (list, i)));
  return texts;
}

static void
add_biases (KvasirSampler *sampler, char **biases)
{
  for (guint i = 0; biases[i] != NULL; i++)
    {
      KvasirTokenBias bias;
      if (kvasir_token_bias_parse (biases[i], &bias))
        kvasir_sampler_add_bias (sampler, bias.id, bias.bias);
    }
}

static KvasirSampler *
make_sampler (const json_t *object, const KvasirVocab *vocab, guint n, guint64 seed)
{
  g_auto (KvasirSamplingTexts) texts = { 0 };
  KvasirSamplerParams params;
  KvasirSampler *sampler;

  kvasir_sampler_params_init (&params);
  read_params (json_object_get (object, "params"), &params);
  kvasir_sampler_order_parse (json_string_value (json_object_get (object, "order")), params.order);
  params.seed = seed;
  texts.breakers = read_texts (json_object_get (object, "breakers"));
  texts.biases = read_texts (json_object_get (object, "biases"));
  if (n == kvasir_vocab_get_n_tokens (vocab))
    sampler = kvasir_sampling_texts_make_sampler (&texts, &params, vocab);
  else
    {
      sampler = kvasir_sampler_new (&params, n);
      add_biases (sampler, texts.biases);
    }
  const json_t *history = json_object_get (object, "history");
  for (gsize i = 0; i < json_array_size (history); i++)
    kvasir_sampler_accept (sampler, (gint32) json_integer_value (json_array_get (history, i)));
  return sampler;
}

static json_t *
make_pair (const KvasirCandidate *candidate)
{
  return json_pack ("[i, f]", (int) candidate->id, (double) candidate->p_after);
}

/* (transfer full) */
static json_t *
answer (const json_t *object, const KvasirVocab *vocab)
{
  guint n = (guint) json_integer_value (json_object_get (object, "n"));
  guint n_draws = (guint) json_integer_value (json_object_get (object, "draws"));
  g_autofree float *logits =
      make_logits ((guint64) json_integer_value (json_object_get (object, "seed")), n,
                   json_number_value (json_object_get (object, "step")));
  json_t *best = json_array (), *drawn = json_array ();
  KvasirSample sample = { 0 };

  for (guint draw = 0; draw < n_draws; draw++)
    {
      g_autoptr (KvasirSampler) sampler = make_sampler (object, vocab, n, draw);
      kvasir_sampler_sample (sampler, logits, &sample);
      json_array_append_new (drawn, make_pair (&sample.chosen));
    }
  for (guint i = 0; i < sample.n_alternatives; i++)
    json_array_append_new (best, make_pair (&sample.alternatives[i]));
  return json_pack ("{s:i, s:o, s:o}", "left", (int) sample.n_candidates, "best", best, "drawn",
                    drawn);
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirGguf) gguf = argc == 2 ? kvasir_gguf_open (argv[1], &error) : NULL;
  g_autoptr (KvasirVocab) vocab = gguf != NULL ? kvasir_vocab_new (gguf, &error) : NULL;
  char *line = NULL;
  size_t room = 0;

  if (vocab == NULL)
    {
      fprintf (stderr, "%s\n", error != NULL ? error->message : "usage: sampler-probe VOCAB.gguf");
      return 2;
    }
  while (getline (&line, &room, stdin) > 0)
    {
      json_t *object = json_loads (line, 0, NULL);
      json_t *reply = answer (object, vocab);
      json_dumpf (reply, stdout, JSON_COMPACT | JSON_REAL_PRECISION (9));
      putchar ('\n');
      fflush (stdout);
      json_decref (reply);
      json_decref (object);
    }
  free (line);
  return 0;
}
