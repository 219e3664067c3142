#include "engine/sampling/sampler.h"

#include <float.h>
#include <math.h>

#include "engine/sampling/rng.h"
#include "engine/sampling/select.h"

#define BLOCK 64
/* Below this the division by the temperature leaves nothing but the best. */
#define MIN_TEMPERATURE 1e-6f
#define MAX_LAST_N (1u << 20)

struct _KvasirSampler
{
  KvasirSamplerParams params; /* made sane */
  KvasirRng rng;
  guint n_vocab;
  guint n_blocks;
  float *logits;      /* (owned) [n_blocks * BLOCK], penalised, filled up with -inf */
  float *block_max;   /* (owned) [n_blocks] */
  double *block_mass; /* (owned) [n_blocks] sums of exp ((logit - peak) / temperature) */
  guint64 *picks;     /* (owned) [n_blocks * BLOCK + 1] */
  gint32 *recent;     /* (owned) [penalty_last_n], a ring */
  guint n_recent;
  guint next_recent;
  guint32 *counts; /* (owned) [n_vocab] how often each id is in the ring */
};

/* What the draw is made from. */
typedef struct
{
  float peak;   /* the largest logit */
  double total; /* of the whole vocabulary at temperature 1 */
  gboolean cut; /* picks[0 ... n) hold the candidates; else all of the vocabulary are */
  guint n;
} Pool;

void
kvasir_sampler_params_init (KvasirSamplerParams *params)
{
  g_return_if_fail (params != NULL);

  *params = (KvasirSamplerParams){
    .temperature = 0.7f,
    .top_k = 40,
    .top_p = 0.95f,
    .min_p = 0.05f,
    .repeat_penalty = 1.0f,
    .penalty_last_n = 64,
    .seed = 0,
  };
}

static float
get_finite_or (float value, float otherwise)
{
  return isfinite (value) ? value : otherwise;
}

/* Settings come from files and dialogs: what makes no sense means "off". */
static void
make_sane (KvasirSamplerParams *params, guint n_vocab)
{
  params->temperature = get_finite_or (params->temperature, 0.0f);
  if (params->temperature < MIN_TEMPERATURE)
    params->temperature = 0.0f;
  if (params->top_k >= n_vocab)
    params->top_k = 0;
  params->top_p = CLAMP (get_finite_or (params->top_p, 1.0f), 1e-9f, 1.0f);
  params->min_p = CLAMP (get_finite_or (params->min_p, 0.0f), 0.0f, 1.0f);
  params->repeat_penalty = get_finite_or (params->repeat_penalty, 1.0f);
  if (params->repeat_penalty <= 0.0f)
    params->repeat_penalty = 1.0f;
  params->presence_penalty = get_finite_or (params->presence_penalty, 0.0f);
  params->frequency_penalty = get_finite_or (params->frequency_penalty, 0.0f);
  params->penalty_last_n = MIN (params->penalty_last_n, MAX_LAST_N);
}

KvasirSampler *
kvasir_sampler_new (const KvasirSamplerParams *params, guint n_vocab)
{
  g_return_val_if_fail (params != NULL, NULL);
  g_return_val_if_fail (n_vocab > 0, NULL);

  KvasirSampler *self = g_new0 (KvasirSampler, 1);
  self->params = *params;
  make_sane (&self->params, n_vocab);
  kvasir_rng_init (&self->rng, params->seed);
  self->n_vocab = n_vocab;
  self->n_blocks = (n_vocab + BLOCK - 1) / BLOCK;
  self->logits = g_new (float, self->n_blocks *BLOCK);
  for (guint i = n_vocab; i < self->n_blocks * BLOCK; i++)
    self->logits[i] = -INFINITY;
  self->block_max = g_new (float, self->n_blocks);
  self->block_mass = g_new (double, self->n_blocks);
  self->picks = g_new (guint64, self->n_blocks * BLOCK + 1);
  self->recent = g_new (gint32, self->params.penalty_last_n);
  self->counts = g_new0 (guint32, n_vocab);
  return self;
}

void
kvasir_sampler_free (KvasirSampler *self)
{
  if (self == NULL)
    return;
  g_free (self->logits);
  g_free (self->block_max);
  g_free (self->block_mass);
  g_free (self->picks);
  g_free (self->recent);
  g_free (self->counts);
  g_free (self);
}

void
kvasir_sampler_accept (KvasirSampler *self, gint32 id)
{
  g_return_if_fail (self != NULL);

  guint last_n = self->params.penalty_last_n;
  if (last_n == 0 || id < 0 || (guint) id >= self->n_vocab)
    return;
  if (self->n_recent == last_n)
    self->counts[self->recent[self->next_recent]]--;
  else
    self->n_recent++;
  self->recent[self->next_recent] = id;
  self->next_recent = (self->next_recent + 1) % last_n;
  self->counts[id]++;
}

/* NaN can never be chosen, and infinity must not make all others NaN. */
static inline float
make_usable (float logit)
{
  float value = logit < FLT_MAX ? logit : FLT_MAX;
  return logit == logit ? value : -INFINITY;
}

static void
apply_penalties (KvasirSampler *self, const float *logits)
{
  const KvasirSamplerParams *p = &self->params;
  for (guint i = 0; i < self->n_recent; i++)
    {
      /* Always from the logit as it came, so that an id that is there twice does no harm. */
      gint32 id = self->recent[i];
      float logit = make_usable (logits[id]);
      logit = logit > 0.0f ? logit / p->repeat_penalty : logit * p->repeat_penalty;
      logit -= (float) self->counts[id] * p->frequency_penalty + p->presence_penalty;
      self->logits[id] = make_usable (logit);
    }
}

/* The largest of one block; -inf where there is none. Halving keeps the loops free of carried
 * values, so that the compiler does several at once. */
static float
find_block_max (const float *values)
{
  float best[BLOCK / 2];
  for (guint i = 0; i < BLOCK / 2; i++)
    best[i] = values[i] > values[i + BLOCK / 2] ? values[i] : values[i + BLOCK / 2];
  for (guint i = 0; i < BLOCK / 4; i++)
    best[i] = best[i] > best[i + BLOCK / 4] ? best[i] : best[i + BLOCK / 4];
  for (guint i = 0; i < BLOCK / 8; i++)
    best[i] = best[i] > best[i + BLOCK / 8] ? best[i] : best[i + BLOCK / 8];
  for (guint i = 1; i < BLOCK / 8; i++)
    best[0] = best[i] > best[0] ? best[i] : best[0];
  return best[0];
}

/* Takes the logits over and returns the largest. */
static float
load_logits (KvasirSampler *self, const float *logits)
{
  for (guint i = 0; i < self->n_vocab; i++)
    self->logits[i] = make_usable (logits[i]);
  apply_penalties (self, logits);

  float peak = -INFINITY;
  for (guint b = 0; b < self->n_blocks; b++)
    {
      self->block_max[b] = find_block_max (self->logits + b * BLOCK);
      peak = MAX (peak, self->block_max[b]);
    }
  return peak;
}

static double
weigh_block (const float *logits, float peak, float scale)
{
  float weights[BLOCK];
  for (guint i = 0; i < BLOCK; i++)
    weights[i] = kvasir_exp_negative ((logits[i] - peak) * scale);
  for (guint i = 0; i < BLOCK / 2; i++)
    weights[i] += weights[i + BLOCK / 2];
  for (guint i = 0; i < BLOCK / 4; i++)
    weights[i] += weights[i + BLOCK / 4];
  double sum = 0.0;
  for (guint i = 0; i < BLOCK / 4; i++)
    sum += (double) weights[i];
  return sum;
}

static double
weigh_blocks (KvasirSampler *self, float peak, float scale)
{
  double total = 0.0;
  for (guint b = 0; b < self->n_blocks; b++)
    {
      self->block_mass[b] = weigh_block (self->logits + b * BLOCK, peak, scale);
      total += self->block_mass[b];
    }
  return total;
}

/* Fills picks with all logits at or above @bound but those of -inf; most blocks are skipped. */
static guint
collect (KvasirSampler *self, float bound)
{
  guint n = 0;
  bound = MAX (bound, -FLT_MAX);
  for (guint b = 0; b < self->n_blocks; b++)
    {
      if (self->block_max[b] < bound)
        continue;
      for (guint i = b * BLOCK; i < (b + 1) * BLOCK; i++)
        {
          self->picks[n] = kvasir_pick_pack (self->logits[i], i);
          n += self->logits[i] >= bound;
        }
    }
  return n;
}

/* The k best of all. The k-th largest block maximum is a lower bound of the k-th largest logit. */
static guint
collect_best (KvasirSampler *self, guint k)
{
  float bound = -INFINITY;
  if (k < self->n_blocks)
    {
      for (guint b = 0; b < self->n_blocks; b++)
        self->picks[b] = kvasir_pick_pack (self->block_max[b], b);
      guint n = kvasir_pick_keep_best (self->picks, self->n_blocks, k);
      guint64 worst = 0;
      for (guint i = 0; i < n; i++)
        worst = MAX (worst, self->picks[i]);
      bound = kvasir_pick_get_logit (worst);
    }
  return kvasir_pick_keep_best (self->picks, collect (self, bound), k);
}

static double
weigh_picks (const KvasirSampler *self, const Pool *pool, float scale)
{
  double total = 0.0;
  for (guint i = 0; i < pool->n; i++)
    total += (double) kvasir_exp_negative ((kvasir_pick_get_logit (self->picks[i]) - pool->peak) *
                                           scale);
  return total;
}

static void
cut_top_p (KvasirSampler *self, Pool *pool)
{
  float p = self->params.top_p;
  double total = pool->cut ? weigh_picks (self, pool, 1.0f) : pool->total;
  if (!pool->cut)
    {
      /* What lies so deep that all of it together is less than half of what may be left out need
       * not be looked at. With p next to 1 the rounding of the sums would matter: take all. */
      double rest = 0.5 * (1.0 - (double) p) * total;
      double depth = rest > 1e-6 * total ? log ((double) self->n_vocab / rest) : INFINITY;
      pool->n = collect (self, pool->peak - (float) depth);
    }
  pool->n = kvasir_pick_keep_mass (self->picks, pool->n, (double) p * total, pool->peak);
  pool->cut = TRUE;
}

static void
cut_min_p (KvasirSampler *self, Pool *pool)
{
  float min_p = self->params.min_p;
  /* The margin makes up for the rounding of the logarithm; the exact test follows. */
  if (!pool->cut)
    pool->n = collect (self, pool->peak + logf (min_p) - 0.01f);
  guint n = 0;
  for (guint i = 0; i < pool->n; i++)
    {
      guint64 pick = self->picks[i];
      self->picks[n] = pick;
      n += kvasir_exp_negative (kvasir_pick_get_logit (pick) - pool->peak) >= min_p;
    }
  pool->n = n;
  pool->cut = TRUE;
}

static void
cut_pool (KvasirSampler *self, Pool *pool)
{
  if (self->params.top_k > 0)
    {
      pool->n = collect_best (self, self->params.top_k);
      pool->cut = TRUE;
    }
  if (self->params.top_p < 1.0f)
    cut_top_p (self, pool);
  if (self->params.min_p > 0.0f)
    cut_min_p (self, pool);
  if (!pool->cut)
    for (guint i = 0; i < self->n_vocab; i++)
      pool->n += self->logits[i] > -INFINITY;
}

/* Draws from the whole vocabulary: the block first, then inside it. */
static guint32
draw_from_all (KvasirSampler *self, const Pool *pool, float scale, double target)
{
  guint b = 0;
  guint last = 0;
  for (; b < self->n_blocks; b++)
    {
      if (self->block_mass[b] > 0.0)
        last = b;
      if (target < self->block_mass[b])
        break;
      target -= self->block_mass[b];
    }
  /* The sum of the differences can round past the last block. */
  b = MIN (b, last);
  guint32 id = b * BLOCK;
  for (guint i = b * BLOCK; i < (b + 1) * BLOCK; i++)
    {
      double weight = (double) kvasir_exp_negative ((self->logits[i] - pool->peak) * scale);
      if (weight > 0.0)
        id = i;
      target -= weight;
      if (target < 0.0)
        break;
    }
  return id;
}

static guint32
draw_from_picks (KvasirSampler *self, const Pool *pool, float scale, double target)
{
  guint32 id = kvasir_pick_get_id (self->picks[0]);
  for (guint i = 0; i < pool->n; i++)
    {
      float logit = kvasir_pick_get_logit (self->picks[i]);
      double weight = (double) kvasir_exp_negative ((logit - pool->peak) * scale);
      if (weight > 0.0)
        id = kvasir_pick_get_id (self->picks[i]);
      target -= weight;
      if (target < 0.0)
        break;
    }
  return id;
}

static KvasirCandidate
make_candidate (const KvasirSampler *self, const Pool *pool, guint32 id)
{
  float logit = self->logits[id];
  return (KvasirCandidate){
    .id = (gint32) id,
    .logit = logit,
    .p_before = (float) ((double) kvasir_exp_negative (logit - pool->peak) / pool->total),
  };
}

static void
list_alternatives (KvasirSampler *self, const Pool *pool, KvasirSample *out)
{
  out->n_alternatives = collect_best (self, KVASIR_SAMPLER_N_ALTERNATIVES);
  kvasir_pick_sort_few (self->picks, out->n_alternatives);
  for (guint i = 0; i < out->n_alternatives; i++)
    out->alternatives[i] = make_candidate (self, pool, kvasir_pick_get_id (self->picks[i]));
}

/* Chances in the pool that the draw was made from. */
static void
fill_chances (
    const KvasirSampler *self, const Pool *pool, float scale, double total, KvasirSample *out)
{
  guint64 worst = pool->cut ? 0 : G_MAXUINT64;
  for (guint i = 0; pool->cut && i < pool->n; i++)
    worst = MAX (worst, self->picks[i]);
  for (guint i = 0; i < out->n_alternatives; i++)
    {
      KvasirCandidate *c = &out->alternatives[i];
      double weight = (double) kvasir_exp_negative ((c->logit - pool->peak) * scale);
      if (kvasir_pick_pack (c->logit, (guint32) c->id) <= worst)
        c->p_after = (float) (weight / total);
    }
  out->chosen.p_after =
      (float) ((double) kvasir_exp_negative ((out->chosen.logit - pool->peak) * scale) / total);
}

static void
choose_best (KvasirSample *out)
{
  out->alternatives[0].p_after = 1.0f;
  out->chosen = out->alternatives[0];
  out->n_candidates = 1;
}

static void
draw (KvasirSampler *self, Pool *pool, KvasirSample *out)
{
  float scale = 1.0f / self->params.temperature;
  cut_pool (self, pool);
  double total = pool->cut ? weigh_picks (self, pool, scale) : pool->total;
  if (!pool->cut && self->params.temperature != 1.0f)
    total = weigh_blocks (self, pool->peak, scale);

  double target = kvasir_rng_next_double (&self->rng) * total;
  guint32 id = pool->cut ? draw_from_picks (self, pool, scale, target)
                         : draw_from_all (self, pool, scale, target);
  out->chosen = make_candidate (self, pool, id);
  out->n_candidates = pool->n;
  fill_chances (self, pool, scale, total, out);
}

void
kvasir_sampler_sample (KvasirSampler *self, const float *logits, KvasirSample *out)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (logits != NULL);
  g_return_if_fail (out != NULL);

  *out = (KvasirSample){ .id = -1, .chosen.id = -1 };
  Pool pool = { .peak = load_logits (self, logits) };
  if (pool.peak == -INFINITY)
    return;

  pool.total = weigh_blocks (self, pool.peak, 1.0f);
  list_alternatives (self, &pool, out);
  if (self->params.temperature == 0.0f)
    choose_best (out);
  else
    draw (self, &pool, out);
  out->id = out->chosen.id;
}

gint32
kvasir_sampler_argmax (const float *logits, guint n)
{
  g_return_val_if_fail (logits != NULL && n > 0, 0);

  guint best = 0;
  while (best < n - 1 && logits[best] != logits[best])
    best++;
  for (guint i = best + 1; i < n; i++)
    if (logits[i] > logits[best])
      best = i;
  return logits[best] == logits[best] ? (gint32) best : 0;
}
