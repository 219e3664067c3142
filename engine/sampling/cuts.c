#include "engine/sampling/cuts.h"

#include <float.h>
#include <math.h>

/* What a threshold that went through a logarithm may be off; an exact test follows. */
#define MARGIN 0.01f
/* From how many of the best the first mirostat estimates the slope. */
#define N_SLOPE 100

static guint
get_picks (KvasirPool *pool, float bound)
{
  return pool->cut ? pool->n : kvasir_pool_collect (pool, bound);
}

void
kvasir_cut_top_k (KvasirPool *pool, guint k)
{
  kvasir_pool_cut (pool, pool->cut ? kvasir_pick_keep_best (pool->picks, pool->n, k)
                                   : kvasir_pool_collect_best (pool, k));
}

/* What lies so deep that all of it together is less than half of what may be left out of @total
 * need not be looked at. With @p next to 1 the rounding of the sums would matter: take all. */
static float
get_deepest (const KvasirPool *pool, float p, double total)
{
  double rest = 0.5 * (1.0 - (double) p) * total;
  double depth = rest > 1e-6 * total ? log ((double) pool->n_vocab / rest) : INFINITY;
  return pool->peak - (float) depth / pool->scale;
}

void
kvasir_cut_top_p (KvasirPool *pool, float p)
{
  double total = kvasir_pool_weigh (pool);
  kvasir_pool_keep_mass (pool, (double) p * total, get_deepest (pool, p, total));
}

void
kvasir_cut_min_p (KvasirPool *pool, float min_p)
{
  kvasir_pool_keep_above (pool, kvasir_pool_find_bound (pool, (double) min_p));
}

/* Measured from the peak, so that large logits leave digits for the squares. */
static guint
measure_picks (const KvasirPool *pool, double *sum, double *squares)
{
  *sum = *squares = 0.0;
  for (guint i = 0; i < pool->n; i++)
    {
      double x = (double) kvasir_pick_get_logit (pool->picks[i]) - (double) pool->peak;
      *sum += x;
      *squares += x * x;
    }
  return pool->n;
}

void
kvasir_cut_top_n_sigma (KvasirPool *pool, float n_sigma)
{
  double sum, squares;
  guint n = pool->cut
                ? measure_picks (pool, &sum, &squares)
                : pool->passes->spread (pool->blocks, pool->n_blocks, pool->peak, &sum, &squares);
  double mean = sum / n;
  double sigma = sqrt (MAX (squares / n - mean * mean, 0.0));
  kvasir_pool_keep_above (pool, (float) ((double) pool->peak - (double) n_sigma * sigma));
}

/* Deep tokens come last in the order of typical sampling only where they are further from the
 * entropy than the likeliest can be, which is by the entropy itself. */
static float
get_least_typical (KvasirPool *pool, float p, double total, double entropy)
{
  float deepest = get_deepest (pool, p, total);
  double twice = 2.0 * entropy - log (total);
  return MIN (deepest, pool->peak - ((float) twice + MARGIN) / pool->scale);
}

void
kvasir_cut_typical (KvasirPool *pool, float p)
{
  double entropy = kvasir_pool_get_entropy (pool);
  double total = kvasir_pool_weigh (pool);
  double log_total = log (total);
  KvasirPickWeight weight = { pool->peak, pool->scale, pool->blocks };
  guint n = get_picks (pool, get_least_typical (pool, p, total, entropy));

  for (guint i = 0; i < n; i++)
    {
      guint32 id = kvasir_pick_get_id (pool->picks[i]);
      float x = (kvasir_pool_get_logit (pool, id) - pool->peak) * pool->scale;
      double off = log_total - (double) x - entropy;
      pool->picks[i] = kvasir_pick_pack ((float) -fabs (off), id);
    }
  n = kvasir_pick_keep_mass (pool->picks, n, (double) p * total, &weight);
  for (guint i = 0; i < n; i++)
    {
      guint32 id = kvasir_pick_get_id (pool->picks[i]);
      pool->picks[i] = kvasir_pick_pack (kvasir_pool_get_logit (pool, id), id);
    }
  kvasir_pool_cut (pool, n);
}

/* The last in the order among those that reach the mass; 0: none does. */
static guint64
find_worst_above (const KvasirPool *pool, guint n, double mass)
{
  guint64 worst = 0;
  for (guint i = 0; i < n; i++)
    if (kvasir_pool_weigh_one (pool, kvasir_pick_get_logit (pool->picks[i])) >= mass)
      worst = MAX (worst, pool->picks[i]);
  return worst;
}

void
kvasir_cut_xtc (KvasirPool *pool, float threshold)
{
  double mass = (double) threshold * kvasir_pool_weigh (pool);
  float depth = (float) log (MAX (mass, (double) FLT_MIN)) - MARGIN;
  guint n = get_picks (pool, pool->peak + depth / pool->scale);
  guint64 worst = find_worst_above (pool, n, mass);
  for (guint i = 0; i < n; i++)
    if (pool->picks[i] < worst)
      kvasir_pool_remove (pool, (gint32) kvasir_pick_get_id (pool->picks[i]));
  kvasir_pool_settle (pool);
}

/* The exponent of Zipf's law, by least squares over the steps between the best. */
static double
estimate_slope (const KvasirPool *pool, guint n)
{
  double steps = 0.0, squares = 0.0;
  for (guint i = 0; i + 1 < n; i++)
    {
      double t = log ((double) (i + 2) / (double) (i + 1));
      float a = kvasir_pick_get_logit (pool->picks[i]);
      float b = kvasir_pick_get_logit (pool->picks[i + 1]);
      steps += t * (double) ((a - b) * pool->scale);
      squares += t * t;
    }
  return squares > 0.0 ? steps / squares : 1.0;
}

void
kvasir_cut_mirostat_1 (KvasirPool *pool, double mu)
{
  guint n_best = kvasir_pool_collect_best (pool, N_SLOPE);
  kvasir_pick_sort_few (pool->picks, n_best);

  double slope = estimate_slope (pool, n_best);
  double excess = slope - 1.0;
  double spread = 1.0 - pow ((double) pool->n_vocab, -excess);
  double k = pow (excess * exp2 (mu) / spread, 1.0 / slope);
  if (!(k < (double) pool->n_vocab))
    k = (double) pool->n_vocab;
  kvasir_cut_top_k (pool, MAX ((guint) k, 1));
}

void
kvasir_cut_mirostat_2 (KvasirPool *pool, double mu)
{
  /* p >= 2^-mu, and the best whatever it has. */
  double mass = exp2 (-mu) * kvasir_pool_weigh (pool);
  if (mass >= 1.0)
    kvasir_cut_top_k (pool, 1);
  else
    kvasir_pool_keep_above (pool, kvasir_pool_find_bound (pool, mass));
}
