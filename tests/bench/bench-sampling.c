/* Speed of drawing a token.
 *
 *   bench-sampling [CHAIN]     all chains, or those whose name contains CHAIN
 *
 * Microseconds from logits to token, with everything that is reported of the draw: the median and
 * the best of some hundred draws, each from other logits, for two sizes of vocabulary and two
 * shapes of logits. "head" is what models give, some likely tokens over a wide floor; "flat" is
 * normally distributed, where cuts by mass keep tens of thousands. */
#include "engine/sampling/sampler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/sampling/rng.h"

#define N_SETS 4
#define MAX_DRAWS 400
#define ENOUGH_US 250000.0

static double
get_us (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec / 1e3;
}

/* Box and Muller. */
static float
draw_normal (KvasirRng *rng)
{
  double u = 1.0 - kvasir_rng_next_double (rng);
  double v = kvasir_rng_next_double (rng);

  return (float) (sqrt (-2.0 * log (u)) * cos (2.0 * G_PI * v));
}

static float *
make_logits (guint n, gboolean head, guint64 seed)
{
  float *logits = g_new (float, n);
  KvasirRng rng;

  kvasir_rng_init (&rng, seed);
  for (guint i = 0; i < n; i++)
    logits[i] = draw_normal (&rng) * (head ? 2.5f : 3.0f);
  for (guint rank = 0; head && rank < 300; rank++)
    logits[kvasir_rng_next (&rng) % n] = 20.0f - 2.0f * logf ((float) (rank + 1));
  return logits;
}

/* ---- chains */

static void
set_off (KvasirSamplerParams *p)
{
  p->temperature = 1.0f;
  p->top_k = 0;
  p->top_p = 1.0f;
  p->min_p = 0.0f;
}

static void
set_usual (KvasirSamplerParams *p)
{
  p->temperature = 0.8f;
  p->repeat_penalty = 1.1f;
}

static void
set_greedy (KvasirSamplerParams *p)
{
  p->temperature = 0.0f;
}

static void
set_top_k (KvasirSamplerParams *p)
{
  p->top_k = 40;
}

static void
set_top_p (KvasirSamplerParams *p)
{
  p->top_p = 0.95f;
}

static void
set_min_p (KvasirSamplerParams *p)
{
  p->min_p = 0.05f;
}

static void
set_typical (KvasirSamplerParams *p)
{
  p->typical_p = 0.9f;
}

static void
set_top_n_sigma (KvasirSamplerParams *p)
{
  p->top_n_sigma = 1.0f;
}

static void
set_xtc (KvasirSamplerParams *p)
{
  p->xtc_probability = 1.0f;
}

static void
set_dry (KvasirSamplerParams *p)
{
  p->dry_multiplier = 0.8f;
}

static void
set_dynatemp (KvasirSamplerParams *p)
{
  p->dynatemp_range = 0.5f;
}

static void
set_mirostat_1 (KvasirSamplerParams *p)
{
  p->mirostat = 1;
}

static void
set_mirostat_2 (KvasirSamplerParams *p)
{
  p->mirostat = 2;
}

static const struct
{
  const char *name;
  void (*set) (KvasirSamplerParams *params); /* from all off, but for the usual chain */
} chains[] = {
  { "usual", set_usual },
  { "greedy", set_greedy },
  { "temperature", set_off },
  { "top-k", set_top_k },
  { "top-p", set_top_p },
  { "min-p", set_min_p },
  { "typical", set_typical },
  { "top-n-sigma", set_top_n_sigma },
  { "xtc", set_xtc },
  { "dry", set_dry },
  { "dynatemp", set_dynatemp },
  { "mirostat-1", set_mirostat_1 },
  { "mirostat-2", set_mirostat_2 },
};

/* ---- measuring */

static int
compare (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
bench_chain (guint chain, float *const *sets, guint n_vocab, const char *shape)
{
  g_autoptr (KvasirSampler) sampler = NULL;
  KvasirSamplerParams params;
  double times[MAX_DRAWS];
  double begun = get_us ();
  guint n = 0;

  kvasir_sampler_params_init (&params);
  if (chains[chain].set != set_usual)
    set_off (&params);
  chains[chain].set (&params);
  sampler = kvasir_sampler_new (&params, n_vocab);
  for (guint i = 0; i < 64; i++)
    kvasir_sampler_accept (sampler, (gint32) (i * 37 % n_vocab));
  while (n < MAX_DRAWS && (n < 20 || get_us () - begun < ENOUGH_US))
    {
      KvasirSample sample;
      double start = get_us ();
      kvasir_sampler_sample (sampler, sets[n % N_SETS], &sample);
      times[n++] = get_us () - start;
      kvasir_sampler_accept (sampler, sample.id);
    }
  qsort (times, n, sizeof *times, compare);
  printf ("%-12s %7u  %-4s %9.1f %9.1f\n", chains[chain].name, n_vocab, shape, times[n / 2],
          times[0]);
  fflush (stdout);
}

static void
bench_vocab (guint n_vocab, gboolean head, const char *wanted)
{
  float *sets[N_SETS];

  for (guint i = 0; i < N_SETS; i++)
    sets[i] = make_logits (n_vocab, head, i + 1);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    if (strstr (chains[i].name, wanted) != NULL)
      bench_chain (i, sets, n_vocab, head ? "head" : "flat");
  for (guint i = 0; i < N_SETS; i++)
    g_free (sets[i]);
}

static gboolean
is_known (const char *wanted)
{
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    if (strstr (chains[i].name, wanted) != NULL)
      return TRUE;
  fprintf (stderr, "usage: bench-sampling [part of a name], of");
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    fprintf (stderr, " %s", chains[i].name);
  fprintf (stderr, "\n");
  return FALSE;
}

int
main (int argc, char **argv)
{
  static const guint sizes[] = { 49152, 262144 };

  if (argc > 1 && !is_known (argv[1]))
    return 2;
  printf ("chain          vocab  shape    median      best  (us)\n");
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (int head = 1; head >= 0; head--)
      bench_vocab (sizes[i], head, argc > 1 ? argv[1] : "");
  return 0;
}
