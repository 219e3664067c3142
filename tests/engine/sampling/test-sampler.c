#include <math.h>
#include <stdlib.h>

#include "engine/sampling/rng.h"
#include "engine/sampling/sampler.h"
#include "engine/sampling/select.h"

/* ---- the same chain once more: doubles, the C library's exp, a full sort */

typedef struct
{
  gint32 id;
  double logit;
  double p_before;
  double p_after;
} Entry;

typedef struct
{
  Entry *all; /* (owned) [n], best first */
  guint n;
  guint n_kept;
  gboolean unclear; /* a cut falls where rounding decides */
} Naive;

static int
compare_entries (const void *a, const void *b)
{
  const Entry *x = a;
  const Entry *y = b;
  if (x->logit != y->logit)
    return x->logit > y->logit ? -1 : 1;
  return x->id - y->id;
}

static float
penalise (const KvasirSamplerParams *p, float logit, guint count)
{
  if (count == 0)
    return logit;
  logit = logit > 0 ? logit / p->repeat_penalty : logit * p->repeat_penalty;
  return logit - ((float) count * p->frequency_penalty + p->presence_penalty);
}

static guint
count_recent (const KvasirSamplerParams *p, const gint32 *text, guint n_text, gint32 id)
{
  guint n = 0;
  for (guint i = n_text - MIN (n_text, p->penalty_last_n); i < n_text; i++)
    n += text[i] == id;
  return n;
}

static void
naive_cut (Naive *self, const KvasirSamplerParams *p)
{
  if (p->top_k > 0 && p->top_k < self->n_kept)
    self->n_kept = p->top_k;
  double peak = self->all[0].logit;
  double sum = 0;
  for (guint i = 0; i < self->n_kept; i++)
    sum += exp (self->all[i].logit - peak);
  if (p->top_p < 1.0f)
    {
      double done = 0;
      guint n = 0;
      while (n < self->n_kept && done < (double) p->top_p * sum)
        {
          done += exp (self->all[n++].logit - peak);
          self->unclear |= fabs (done / sum - (double) p->top_p) < 2e-6;
        }
      self->n_kept = n;
    }
  if (p->min_p > 0.0f)
    {
      guint n = 0;
      while (n < self->n_kept && exp (self->all[n].logit - peak) >= (double) p->min_p)
        n++;
      for (guint i = 0; i < self->n_kept; i++)
        self->unclear |= fabs (exp (self->all[i].logit - peak) / (double) p->min_p - 1) < 2e-6;
      self->n_kept = n;
    }
}

static Naive
naive_run (
    const KvasirSamplerParams *p, const float *logits, guint n, const gint32 *text, guint n_text)
{
  Naive self = { .all = g_new0 (Entry, n) };
  for (guint i = 0; i < n; i++)
    {
      if (isnan (logits[i]) || logits[i] == -INFINITY)
        continue;
      float logit = penalise (p, logits[i], count_recent (p, text, n_text, (gint32) i));
      self.all[self.n++] = (Entry){ .id = (gint32) i, .logit = (double) logit };
    }
  qsort (self.all, self.n, sizeof (Entry), compare_entries);
  double sum = 0;
  for (guint i = 0; i < self.n; i++)
    sum += exp (self.all[i].logit - self.all[0].logit);
  for (guint i = 0; i < self.n; i++)
    self.all[i].p_before = exp (self.all[i].logit - self.all[0].logit) / sum;

  self.n_kept = self.n;
  naive_cut (&self, p);
  double temperature = (double) p->temperature;
  double after = 0;
  for (guint i = 0; i < self.n_kept; i++)
    after += exp ((self.all[i].logit - self.all[0].logit) / temperature);
  for (guint i = 0; i < self.n_kept; i++)
    self.all[i].p_after = exp ((self.all[i].logit - self.all[0].logit) / temperature) / after;
  return self;
}

/* ---- random rows */

static float
random_normal (KvasirRng *rng)
{
  double u = 1.0 - kvasir_rng_next_double (rng);
  double v = kvasir_rng_next_double (rng);
  return (float) (sqrt (-2 * log (u)) * cos (2 * G_PI * v));
}

typedef enum
{
  ROW_NORMAL,
  ROW_TIES,  /* few different values */
  ROW_EQUAL, /* one */
  ROW_PEAKED,
  ROW_BROKEN, /* some NaN and -inf */
  N_ROWS
} RowKind;

static void
fill_row (KvasirRng *rng, RowKind kind, float *logits, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      float x = 3.0f * random_normal (rng);
      if (kind == ROW_TIES)
        x = floorf (x) == 0.0f && i % 2 ? -0.0f : floorf (x);
      else if (kind == ROW_EQUAL)
        x = -0.0f;
      else if (kind == ROW_PEAKED)
        x += i % 97 == 13 ? 12.0f : 0.0f;
      else if (kind == ROW_BROKEN && kvasir_rng_next (rng) % 4 == 0)
        x = kvasir_rng_next (rng) % 2 ? NAN : -INFINITY;
      logits[i] = x;
    }
}

static guint
pick_of (KvasirRng *rng, const guint *values, guint n)
{
  return values[kvasir_rng_next (rng) % n];
}

static void
fill_params (KvasirRng *rng, KvasirSamplerParams *p)
{
  static const guint ks[] = { 0, 0, 1, 7, 40, 300, 100000 };
  static const guint ps[] = { 100, 100, 95, 50, 1, 99 };
  static const guint ms[] = { 0, 0, 5, 50, 100 };
  static const guint ts[] = { 70, 100, 150, 5 };
  kvasir_sampler_params_init (p);
  p->top_k = pick_of (rng, ks, G_N_ELEMENTS (ks));
  p->top_p = (float) pick_of (rng, ps, G_N_ELEMENTS (ps)) / 100.0f;
  p->min_p = (float) pick_of (rng, ms, G_N_ELEMENTS (ms)) / 100.0f;
  p->temperature = (float) pick_of (rng, ts, G_N_ELEMENTS (ts)) / 100.0f;
  if (kvasir_rng_next (rng) % 2)
    {
      p->repeat_penalty = 1.3f;
      p->presence_penalty = 0.25f;
      p->frequency_penalty = 0.5f;
      p->penalty_last_n = 10;
    }
  p->seed = kvasir_rng_next (rng);
}

/* ---- comparisons */

static void
check_candidate (const KvasirCandidate *c, const Entry *entry)
{
  g_assert_cmpint (c->id, ==, entry->id);
  g_assert_cmpfloat_with_epsilon ((double) c->logit, entry->logit, 1e-5);
  g_assert_cmpfloat_with_epsilon ((double) c->p_before, entry->p_before, 2e-6);
  g_assert_cmpfloat_with_epsilon ((double) c->p_after, entry->p_after, 5e-6);
}

static const Entry *
find_entry (const Naive *naive, gint32 id)
{
  for (guint i = 0; i < naive->n_kept; i++)
    if (naive->all[i].id == id)
      return &naive->all[i];
  return NULL;
}

static gboolean
check_one (KvasirRng *rng, RowKind kind, guint n)
{
  g_autofree float *logits = g_new (float, n);
  gint32 text[25];
  KvasirSamplerParams params;
  KvasirSample sample;
  fill_row (rng, kind, logits, n);
  fill_params (rng, &params);
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, n);
  for (guint i = 0; i < G_N_ELEMENTS (text); i++)
    {
      text[i] = (gint32) (kvasir_rng_next (rng) % MIN (n, 12));
      kvasir_sampler_accept (sampler, text[i]);
    }
  kvasir_sampler_sample (sampler, logits, &sample);

  Naive naive = naive_run (&params, logits, n, text, G_N_ELEMENTS (text));
  if (!naive.unclear)
    {
      g_assert_cmpuint (sample.n_candidates, ==, naive.n_kept);
      const Entry *chosen = find_entry (&naive, sample.id);
      g_assert_nonnull (chosen);
      check_candidate (&sample.chosen, chosen);
      g_assert_cmpuint (sample.n_alternatives, ==, MIN (naive.n, KVASIR_SAMPLER_N_ALTERNATIVES));
      for (guint i = 0; i < sample.n_alternatives; i++)
        check_candidate (&sample.alternatives[i], &naive.all[i]);
    }
  gboolean compared = !naive.unclear;
  g_free (naive.all);
  return compared;
}

static void
test_against_full_sort (void)
{
  static const guint sizes[] = { 1, 3, 63, 64, 65, 1000, 5003 };
  KvasirRng rng;
  guint n_compared = 0;
  guint n_all = 0;
  g_test_summary ("Sets, chances and alternatives equal those of a full sort in doubles");
  kvasir_rng_init (&rng, 42);
  for (guint round = 0; round < 30; round++)
    for (guint size = 0; size < G_N_ELEMENTS (sizes); size++)
      for (RowKind kind = 0; kind < N_ROWS; kind++, n_all++)
        if (kind != ROW_BROKEN || sizes[size] > 3)
          n_compared += check_one (&rng, kind, sizes[size]);
  /* Equal logits put min-p's threshold of 1 on the edge; most rows must have been compared. */
  g_assert_cmpuint (n_compared, >, n_all / 2);
}

static void
test_distribution (void)
{
  enum
  {
    N = 200,
    DRAWS = 100000
  };
  float logits[N];
  guint hits[N] = { 0 };
  KvasirRng rng;
  KvasirSamplerParams params;
  KvasirSample sample;
  g_test_summary ("Chi-square of 100 000 draws against the softmax, with and without a cut");
  kvasir_rng_init (&rng, 3);
  fill_row (&rng, ROW_NORMAL, logits, N);
  for (guint cut = 0; cut < 2; cut++)
    {
      kvasir_sampler_params_init (&params);
      params.temperature = 1.7f;
      params.top_k = cut ? 30 : 0;
      params.top_p = 1.0f;
      params.min_p = 0.0f;
      params.seed = 11;
      g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, N);
      memset (hits, 0, sizeof hits);
      for (guint i = 0; i < DRAWS; i++)
        {
          kvasir_sampler_sample (sampler, logits, &sample);
          hits[sample.id]++;
        }
      Naive naive = naive_run (&params, logits, N, NULL, 0);
      double chi = 0;
      for (guint i = 0; i < naive.n_kept; i++)
        {
          double expected = naive.all[i].p_after * DRAWS;
          double off = (double) hits[naive.all[i].id] - expected;
          chi += off * off / expected;
        }
      /* Mean n - 1, deviation sqrt (2 (n - 1)); four of them. */
      double free = (double) naive.n_kept - 1;
      g_assert_cmpfloat (chi, <, free + 4 * sqrt (2 * free));
      g_free (naive.all);
    }
}

static void
test_same_seed (void)
{
  float logits[300];
  KvasirRng rng;
  KvasirSamplerParams params;
  guint n_different = 0;
  kvasir_rng_init (&rng, 9);
  fill_row (&rng, ROW_NORMAL, logits, G_N_ELEMENTS (logits));
  kvasir_sampler_params_init (&params);
  params.temperature = 2.0f;
  g_autoptr (KvasirSampler) a = kvasir_sampler_new (&params, G_N_ELEMENTS (logits));
  g_autoptr (KvasirSampler) b = kvasir_sampler_new (&params, G_N_ELEMENTS (logits));
  params.seed = 1;
  g_autoptr (KvasirSampler) c = kvasir_sampler_new (&params, G_N_ELEMENTS (logits));
  for (guint i = 0; i < 50; i++)
    {
      KvasirSample x, y, z;
      kvasir_sampler_sample (a, logits, &x);
      kvasir_sampler_sample (b, logits, &y);
      kvasir_sampler_sample (c, logits, &z);
      g_assert_cmpint (x.id, ==, y.id);
      n_different += x.id != z.id;
    }
  g_assert_cmpuint (n_different, >, 0);
}

static void
test_greedy (void)
{
  float logits[100] = { 0.0f };
  KvasirSamplerParams params;
  KvasirSample sample;
  kvasir_sampler_params_init (&params);
  params.temperature = 0.0f;
  params.repeat_penalty = 2.0f;
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 100);
  logits[70] = 4.0f;
  logits[20] = 3.0f;
  logits[90] = 3.0f;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 70);
  g_assert_cmpuint (sample.n_candidates, ==, 1);
  g_assert_cmpfloat ((double) sample.chosen.p_after, ==, 1.0);
  g_assert_cmpfloat ((double) sample.alternatives[1].p_after, ==, 0.0);

  /* 4 / 2 is less than 3, and of the two 3 the lower id wins. */
  kvasir_sampler_accept (sampler, 70);
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 20);
}

static void
test_penalties_forget (void)
{
  float logits[10] = { 0.0f };
  KvasirSamplerParams params;
  KvasirSample sample;
  kvasir_sampler_params_init (&params);
  params.temperature = 0.0f;
  params.presence_penalty = 5.0f;
  params.penalty_last_n = 3;
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 10);
  logits[4] = 1.0f;
  kvasir_sampler_accept (sampler, 4);
  kvasir_sampler_accept (sampler, 100);
  kvasir_sampler_accept (sampler, -1);
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 0);
  for (gint32 id = 7; id < 10; id++)
    kvasir_sampler_accept (sampler, id);
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 4);
}

static void
test_extreme_rows (void)
{
  float logits[130];
  KvasirSamplerParams params;
  KvasirSample sample;
  kvasir_sampler_params_init (&params);
  g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 130);

  for (guint i = 0; i < 130; i++)
    logits[i] = i % 2 ? NAN : -INFINITY;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, -1);

  logits[128] = -1e38f;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 128);

  logits[77] = INFINITY;
  logits[3] = 1e38f;
  kvasir_sampler_sample (sampler, logits, &sample);
  g_assert_cmpint (sample.id, ==, 77);
  g_assert_true (isfinite (sample.chosen.p_before));
}

static void
test_senseless_settings (void)
{
  static const float odd[] = { NAN, -1.0f, 0.0f, 1e-9f, INFINITY, -INFINITY, 1e38f };
  float logits[70];
  KvasirRng rng;
  kvasir_rng_init (&rng, 5);
  fill_row (&rng, ROW_NORMAL, logits, 70);
  for (guint i = 0; i < 2000; i++)
    {
      KvasirSample sample;
#define ODD odd[kvasir_rng_next (&rng) % G_N_ELEMENTS (odd)]
      KvasirSamplerParams params = {
        .temperature = ODD,
        .top_k = (guint) kvasir_rng_next (&rng) >> (i % 32),
        .top_p = ODD,
        .min_p = ODD,
        .repeat_penalty = ODD,
        .presence_penalty = ODD,
        .frequency_penalty = ODD,
        .penalty_last_n = i % 3,
      };
#undef ODD
      g_autoptr (KvasirSampler) sampler = kvasir_sampler_new (&params, 70);
      kvasir_sampler_accept (sampler, 1);
      kvasir_sampler_accept (sampler, 2);
      kvasir_sampler_sample (sampler, logits, &sample);
      g_assert_cmpint (sample.id, >=, 0);
      g_assert_cmpint (sample.id, <, 70);
      g_assert_true (sample.chosen.p_after >= 0.0f && sample.chosen.p_after <= 1.0001f);
    }
}

static void
test_argmax (void)
{
  const float logits[] = { NAN, 1.0f, -2.0f, 7.0f, 3.0f, 7.0f, NAN, 0.0f, 6.9f, 2.0f };
  const float none[] = { NAN, NAN };
  g_assert_cmpint (kvasir_sampler_argmax (logits, G_N_ELEMENTS (logits)), ==, 3);
  g_assert_cmpint (kvasir_sampler_argmax (logits + 4, 1), ==, 0);
  g_assert_cmpint (kvasir_sampler_argmax (none, 2), ==, 0);
}

static void
test_exp (void)
{
  double worst = 0.0;
  for (float x = 0.0f; x > -86.9f; x -= 0.0037f)
    worst = MAX (worst, fabs ((double) kvasir_exp_negative (x) / exp ((double) x) - 1.0));
  g_assert_cmpfloat (worst, <, 3e-7);
  g_assert_cmpfloat ((double) kvasir_exp_negative (0.0f), ==, 1.0);
  g_assert_cmpfloat ((double) kvasir_exp_negative (-INFINITY), ==, 0.0);
}

static void
test_keep_best (void)
{
  KvasirRng rng;
  g_autofree guint64 *picks = g_new (guint64, 20000);
  g_test_summary ("The worst one kept has exactly as many before it, whatever the digits are");
  kvasir_rng_init (&rng, 8);
  for (guint round = 0; round < 40; round++)
    {
      guint n = 1 + (guint) (kvasir_rng_next (&rng) % 20000);
      guint wanted = 1 + (guint) (kvasir_rng_next (&rng) % n);
      for (guint i = 0; i < n; i++)
        picks[i] = kvasir_pick_pack (round % 2 ? 1.5f : random_normal (&rng), n - i);
      g_autofree guint64 *copy = g_memdup2 (picks, n * sizeof *picks);
      g_assert_cmpuint (kvasir_pick_keep_best (picks, n, wanted), ==, wanted);
      guint64 worst = 0;
      guint n_not_worse = 0;
      for (guint i = 0; i < wanted; i++)
        worst = MAX (worst, picks[i]);
      for (guint i = 0; i < n; i++)
        n_not_worse += copy[i] <= worst;
      g_assert_cmpuint (n_not_worse, ==, wanted);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/sampling/sampler/equals-full-sort", test_against_full_sort);
  g_test_add_func ("/engine/sampling/sampler/draws-follow-the-chances", test_distribution);
  g_test_add_func ("/engine/sampling/sampler/same-seed-same-ids", test_same_seed);
  g_test_add_func ("/engine/sampling/sampler/greedy-after-penalties", test_greedy);
  g_test_add_func ("/engine/sampling/sampler/penalties-look-back-last-n", test_penalties_forget);
  g_test_add_func ("/engine/sampling/sampler/extreme-logits", test_extreme_rows);
  g_test_add_func ("/engine/sampling/sampler/senseless-settings", test_senseless_settings);
  g_test_add_func ("/engine/sampling/sampler/argmax-lowest-of-ties", test_argmax);
  g_test_add_func ("/engine/sampling/select/exp-is-close", test_exp);
  g_test_add_func ("/engine/sampling/select/keeps-exactly-the-best", test_keep_best);
  return g_test_run ();
}
