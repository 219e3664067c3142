#include <math.h>
#include <stdlib.h>

#include "engine/sampling/rng.h"
#include "engine/sampling/sampler.h"

/* ---- what llama.cpp makes of the same logits: tests/tools/make-sampling-goldens.py */

typedef struct
{
  KvasirSamplerParams params;
  guint n;
  float *logits;   /* (owned) */
  double *history; /* (owned) */
  gsize n_history;
  double *breakers; /* (owned) */
  gsize n_breakers;
  double *bias_ids; /* (owned) */
  double *bias;     /* (owned) */
  gsize n_bias;
  guint n_left;
  double *ids;    /* (owned) the ten likeliest, */
  double *chance; /* (owned) and their chances */
  gsize n_best;
} Case;

static float *
make_logits (guint64 seed, guint n)
{
  float *logits = g_new (float, n);
  for (guint i = 0; i < n; i++)
    {
      guint64 sum = 0;
      for (guint k = 0; k < 4; k++)
        sum += kvasir_rng_split (&seed) >> 40;
      logits[i] = (float) (((double) sum / (1 << 24) - 2) * 4);
    }
  return logits;
}

static void
read_params (GKeyFile *file, const char *group, KvasirSamplerParams *p)
{
  gsize n_order;
#define READ(name) p->name = (float) g_key_file_get_double (file, group, #name, NULL)
#define COUNT(name) p->name = (guint) g_key_file_get_integer (file, group, #name, NULL)
  READ (temperature);
  READ (dynatemp_range);
  READ (dynatemp_exponent);
  COUNT (top_k);
  READ (top_p);
  READ (min_p);
  READ (typical_p);
  READ (top_n_sigma);
  READ (xtc_probability);
  READ (xtc_threshold);
  READ (repeat_penalty);
  READ (presence_penalty);
  READ (frequency_penalty);
  COUNT (penalty_last_n);
  READ (dry_multiplier);
  READ (dry_base);
  COUNT (dry_allowed_length);
  COUNT (dry_last_n);
  COUNT (mirostat);
  READ (mirostat_tau);
  READ (mirostat_eta);
#undef READ
#undef COUNT
  g_autofree int *order = g_key_file_get_integer_list (file, group, "order", &n_order, NULL);
  for (gsize i = 0; i < n_order; i++)
    p->order[i] = (KvasirSamplerStage) order[i];
  p->seed = 4;
}

static Case
read_case (GKeyFile *file, const char *group)
{
  Case self = { 0 };
  self.n = (guint) g_key_file_get_integer (file, group, "n", NULL);
  self.logits = make_logits (g_key_file_get_uint64 (file, group, "seed", NULL), self.n);
  self.history = g_key_file_get_double_list (file, group, "history", &self.n_history, NULL);
  self.breakers = g_key_file_get_double_list (file, group, "breakers", &self.n_breakers, NULL);
  self.bias_ids = g_key_file_get_double_list (file, group, "bias_ids", &self.n_bias, NULL);
  self.bias = g_key_file_get_double_list (file, group, "bias", &self.n_bias, NULL);
  self.n_left = (guint) g_key_file_get_integer (file, group, "left", NULL);
  self.ids = g_key_file_get_double_list (file, group, "ids", &self.n_best, NULL);
  self.chance = g_key_file_get_double_list (file, group, "p", &self.n_best, NULL);
  read_params (file, group, &self.params);
  return self;
}

static void
case_clear (Case *self)
{
  g_free (self->logits);
  g_free (self->history);
  g_free (self->breakers);
  g_free (self->bias_ids);
  g_free (self->bias);
  g_free (self->ids);
  g_free (self->chance);
}

static KvasirSampler *
make_sampler (const Case *c, guint64 seed)
{
  KvasirSamplerParams params = c->params;
  params.seed = seed;
  KvasirSampler *sampler = kvasir_sampler_new (&params, c->n);
  for (gsize i = 0; i < c->n_bias; i++)
    kvasir_sampler_add_bias (sampler, (gint32) c->bias_ids[i], (float) c->bias[i]);
  for (gsize i = 0; i < c->n_breakers; i++)
    kvasir_sampler_add_breaker (sampler, (gint32) c->breakers[i], NULL, 0);
  for (gsize i = 0; i < c->n_history; i++)
    kvasir_sampler_accept (sampler, (gint32) c->history[i]);
  return sampler;
}

/* -1: not among the best. */
static double
get_chance (const Case *c, gint32 id)
{
  for (gsize i = 0; i < c->n_best; i++)
    if ((gint32) c->ids[i] == id)
      return c->chance[i];
  return -1.0;
}

static void
check_case (const Case *c)
{
  KvasirSample sample;
  g_autoptr (KvasirSampler) sampler = make_sampler (c, 4);
  kvasir_sampler_sample (sampler, c->logits, &sample);
  g_assert_cmpuint (sample.n_candidates, ==, c->n_left);
  for (guint i = 0; i < sample.n_alternatives; i++)
    {
      double chance = get_chance (c, sample.alternatives[i].id);
      if (chance >= 0.0)
        g_assert_cmpfloat_with_epsilon ((double) sample.alternatives[i].p_after, chance, 1e-5);
      else if (c->n_left == c->n_best)
        g_assert_cmpfloat ((double) sample.alternatives[i].p_after, ==, 0.0);
    }
  double chance = get_chance (c, sample.id);
  if (chance >= 0.0)
    g_assert_cmpfloat_with_epsilon ((double) sample.chosen.p_after, chance, 1e-5);
  else
    g_assert_cmpuint (c->n_left, >, c->n_best);
}

static void
for_each_case (void (*check) (const Case *))
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "sampling", "chains.ini", NULL);
  g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &error);
  g_assert_no_error (error);
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL);
  g_assert_cmpuint (g_strv_length (groups), >, 200);
  for (guint i = 0; groups[i] != NULL; i++)
    {
      Case c = read_case (file, groups[i]);
      g_test_message ("case %s", groups[i]);
      check (&c);
      case_clear (&c);
    }
}

static void
test_goldens (void)
{
  g_test_summary ("Which candidates each chain leaves, and with what chances, as llama.cpp has it");
  for_each_case (check_case);
}

/* Those that are seldom expected count together, or one hit would weigh too much. */
static void
check_hits (const Case *c, const guint *hits, guint n_draws)
{
  double chi = 0.0, rare = 0.0, n_rare = 0.0;
  guint n_classes = 0, n_hits = 0;
  for (gsize i = 0; i < c->n_best; i++)
    {
      double expected = c->chance[i] * n_draws;
      double n = hits[(guint) c->ids[i]];
      n_hits += hits[(guint) c->ids[i]];
      if (expected < 8.0)
        {
          rare += expected;
          n_rare += n;
          continue;
        }
      chi += (n - expected) * (n - expected) / expected;
      n_classes++;
    }
  g_assert_cmpuint (n_hits, ==, n_draws);
  if (rare >= 8.0)
    {
      chi += (n_rare - rare) * (n_rare - rare) / rare;
      n_classes++;
    }
  double free = (double) n_classes - 1;
  /* Mean free, deviation sqrt (2 free); over a hundred cases five of them. */
  g_assert_cmpfloat (chi, <, free + 5 * sqrt (2 * free) + 5);
}

static void
check_distribution (const Case *c)
{
  enum
  {
    DRAWS = 4000
  };
  guint hits[10] = { 0 };
  KvasirSample sample;
  if (c->n != 10)
    return;
  g_autoptr (KvasirSampler) sampler = make_sampler (c, 9);
  for (guint i = 0; i < DRAWS; i++)
    {
      /* Mirostat's next draw is another one. */
      if (c->params.mirostat > 0)
        {
          kvasir_sampler_free (sampler);
          sampler = make_sampler (c, i);
        }
      kvasir_sampler_sample (sampler, c->logits, &sample);
      hits[sample.id]++;
    }
  check_hits (c, hits, DRAWS);
}

static void
test_distributions (void)
{
  g_test_summary ("Chi-square of 4000 draws of every chain against llama.cpp's chances");
  for_each_case (check_distribution);
}

/* ---- the rest by hand */

static void
test_xtc_probability (void)
{
  const float logits[] = { 0.0f, 0.0f, 0.0f, 0.0f };
  KvasirSamplerParams params;
  KvasirSample sample;
  guint n_acted = 0;
  kvasir_sampler_params_init (&params);
  params.temperature = 1.0f;
  params.xtc_probability = 0.25f;
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 4);
  for (guint i = 0; i < 10000; i++)
    {
      kvasir_sampler_sample (sampler, logits, &sample);
      g_assert_true (sample.n_candidates == 4 || sample.n_candidates == 1);
      n_acted += sample.n_candidates == 1;
    }
  /* 2500 expected, deviation 43. */
  g_assert_cmpuint (n_acted, >, 2500 - 4 * 43);
  g_assert_cmpuint (n_acted, <, 2500 + 4 * 43);
}

static void
test_mirostat_aims (void)
{
  g_autofree float *logits = make_logits (77, 4000);
  for (guint version = 1; version <= 2; version++)
    for (guint tau = 2; tau <= 6; tau += 2)
      {
        KvasirSamplerParams params;
        KvasirSample sample;
        double surprise = 0.0;
        kvasir_sampler_params_init (&params);
        params.temperature = 1.0f;
        params.mirostat = version;
        params.mirostat_tau = (float) tau;
        g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 4000);
        for (guint i = 0; i < 4000; i++)
          {
            kvasir_sampler_sample (sampler, logits, &sample);
            if (i >= 1000)
              surprise -= log2 ((double) sample.chosen.p_after) / 3000;
          }
        g_assert_cmpfloat_with_epsilon (surprise, (double) tau, 0.1);
      }
}

static KvasirSampler *
make_dry_sampler (void)
{
  KvasirSamplerParams params;
  kvasir_sampler_params_init (&params);
  params.temperature = 1.0f;
  params.top_k = 0;
  params.top_p = 1.0f;
  params.min_p = 0.0f;
  params.dry_multiplier = 0.5f;
  params.dry_base = 2.0f;
  return kvasir_sampler_new (&params, 10);
}

static float
sample_logit (KvasirSampler *sampler, const gint32 *text, guint n, gint32 id)
{
  static const float logits[10] = { 0.0f };
  KvasirSample sample;
  for (guint i = 0; i < n; i++)
    kvasir_sampler_accept (sampler, text[i]);
  kvasir_sampler_sample (sampler, logits, &sample);
  for (guint i = 0; i < 10; i++)
    if (sample.alternatives[i].id == id)
      return sample.alternatives[i].logit;
  return NAN;
}

static void
test_dry_breakers (void)
{
  /* 1 2 3 4 are there twice, and 5 went on: 0.5 * 2 ^ (4 - 2) is taken off. */
  const gint32 text[] = { 1, 2, 3, 4, 5, 1, 2, 3, 4 };
  const gint32 tail[] = { 2, 3 };
  const gint32 other[] = { 2, 4 };
  g_autoptr (KvasirSampler) free_one = make_dry_sampler ();
  g_autoptr (KvasirSampler) broken = make_dry_sampler ();
  g_autoptr (KvasirSampler) elsewhere = make_dry_sampler ();
  kvasir_sampler_add_breaker (broken, 1, tail, 2);
  kvasir_sampler_add_breaker (elsewhere, 1, other, 2);
  g_assert_cmpfloat ((double) sample_logit (free_one, text, 9, 5), ==, -2.0);
  g_assert_cmpfloat ((double) sample_logit (elsewhere, text, 9, 5), ==, -2.0);
  /* After the breaker only 4 is left, and one token is shorter than what is allowed. */
  g_assert_cmpfloat ((double) sample_logit (broken, text, 9, 5), ==, 0.0);
}

static void
test_bias (void)
{
  const float logits[] = { 3.0f, 2.0f, 1.0f, 0.0f };
  KvasirSamplerParams params;
  KvasirSample sample;
  kvasir_sampler_params_init (&params);
  params.temperature = 0.0f;
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 4);
  kvasir_sampler_add_bias (sampler, 0, -INFINITY);
  kvasir_sampler_add_bias (sampler, 2, 1.5f);
  kvasir_sampler_add_bias (sampler, 4, 100.0f);
  kvasir_sampler_add_bias (sampler, 1, NAN);
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 2);
  g_assert_cmpfloat ((double) sample.chosen.logit, ==, 2.5);
  g_assert_cmpuint (sample.n_alternatives, ==, 3);
}

typedef struct
{
  gint32 only; /* -1: nothing may stand */
  guint n_asked;
  guint n_masked;
  gint32 accepted;
} Grammar;

static gboolean
grammar_allows (gpointer user, gint32 id)
{
  Grammar *self = user;
  self->n_asked++;
  return id == self->only;
}

static void
grammar_accept (gpointer user, gint32 id)
{
  ((Grammar *) user)->accepted = id;
}

static void
grammar_mask (gpointer user, float *logits, guint n)
{
  Grammar *self = user;
  self->n_masked++;
  for (guint i = 0; i < n; i++)
    if ((gint32) i != self->only)
      logits[i] = -INFINITY;
}

static void
check_filter (gboolean by_mask, float temperature)
{
  float logits[100] = { 0.0f };
  Grammar grammar = { .only = 70 };
  KvasirTokenFilter filter = { grammar_allows, grammar_accept, by_mask ? grammar_mask : NULL,
                               &grammar };
  KvasirSamplerParams params;
  KvasirSample sample;
  kvasir_sampler_params_init (&params);
  params.temperature = temperature;
  logits[70] = 20.0f;
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 100);
  kvasir_sampler_set_filter (sampler, &filter);

  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 70);
  g_assert_false (sample.filtered);
  g_assert_cmpuint (grammar.n_asked, ==, 1);
  kvasir_sampler_accept (sampler, 70);
  g_assert_cmpint (grammar.accepted, ==, 70);

  /* Where the grammar wants another, its chance of before tells how unlikely it was. */
  grammar.only = 33;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 33);
  g_assert_true (sample.filtered);
  g_assert_cmpuint (grammar.n_masked, ==, by_mask ? 1 : 0);
  g_assert_cmpuint (sample.n_candidates, ==, 1);
  g_assert_cmpfloat ((double) sample.chosen.p_after, ==, 1.0);
  g_assert_cmpfloat_with_epsilon ((double) sample.chosen.p_before, exp (-20.0), 1e-12);
  g_assert_cmpint (sample.alternatives[0].id, ==, 70);
  g_assert_cmpfloat ((double) sample.alternatives[0].p_after, ==, 0.0);

  grammar.only = -1;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, -1);
}

static void
test_filter (void)
{
  check_filter (FALSE, 0.0f);
  check_filter (TRUE, 0.0f);
  check_filter (FALSE, 1.0f);
  check_filter (TRUE, 1.0f);
}

static void
test_hostile (void)
{
  static const float odd[] = { NAN, -1.0f, 0.0f, 1e-9f, 0.3f, 1.0f, INFINITY, -INFINITY, 1e38f };
  KvasirRng rng;
  kvasir_rng_init (&rng, 5);
  g_test_summary ("Whatever the settings and logits are, an id or -1 comes back, with chances");
  for (guint i = 0; i < 30000; i++)
    {
      float logits[130];
      KvasirSample sample;
#define ODD odd[kvasir_rng_next (&rng) % G_N_ELEMENTS (odd)]
      for (guint k = 0; k < 130; k++)
        logits[k] = i % 3 ? ODD : ODD * (float) kvasir_rng_next_double (&rng);
      KvasirSamplerParams params = {
        .temperature = ODD,
        .top_k = (guint) kvasir_rng_next (&rng) % 200,
        .top_p = ODD,
        .min_p = ODD,
        .repeat_penalty = ODD,
        .presence_penalty = ODD,
        .frequency_penalty = ODD,
        .penalty_last_n = i % 7,
        .dynatemp_range = ODD,
        .dynatemp_exponent = ODD,
        .typical_p = ODD,
        .top_n_sigma = ODD,
        .xtc_probability = ODD,
        .xtc_threshold = ODD,
        .dry_multiplier = ODD,
        .dry_base = ODD,
        .dry_allowed_length = i % 4,
        .dry_last_n = i % 50,
        .mirostat = i % 5,
        .mirostat_tau = ODD,
        .mirostat_eta = ODD,
      };
      for (guint k = 0; k < KVASIR_SAMPLER_N_STAGES; k++)
        params.order[k] = (KvasirSamplerStage) (kvasir_rng_next (&rng) % 12);
#undef ODD
      g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 130);
      for (guint k = 0; k < 20; k++)
        kvasir_sampler_accept (sampler, (gint32) (kvasir_rng_next (&rng) % 3));
      for (guint k = 0; k < 3; k++)
        {
          kvasir_sampler_sample (sampler, logits, &sample);
          g_assert_cmpint (sample.id, >=, -1);
          g_assert_cmpint (sample.id, <, 130);
          g_assert_true (sample.chosen.p_after >= 0.0f && sample.chosen.p_after <= 1.0001f);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/sampling/chains/as-llama-cpp", test_goldens);
  g_test_add_func ("/engine/sampling/chains/draws-follow-the-chances", test_distributions);
  g_test_add_func ("/engine/sampling/chains/xtc-acts-as-often-as-told", test_xtc_probability);
  g_test_add_func ("/engine/sampling/chains/mirostat-reaches-its-aim", test_mirostat_aims);
  g_test_add_func ("/engine/sampling/chains/dry-stops-at-breakers", test_dry_breakers);
  g_test_add_func ("/engine/sampling/chains/biases", test_bias);
  g_test_add_func ("/engine/sampling/chains/filter-is-asked-late", test_filter);
  g_test_add_func ("/engine/sampling/chains/senseless-settings", test_hostile);
  return g_test_run ();
}
