#include "engine/sampling/sampler.h"

#include <math.h>

#include "engine/sampling/cuts.h"
#include "engine/sampling/repeats.h"
#include "engine/sampling/rng.h"
#include "engine/sampling/sane.h"

typedef struct
{
  gint32 id;
  float bias;
} Bias;

struct _KvasirSampler
{
  KvasirSamplerParams params; /* made sane */
  KvasirRng rng;
  KvasirPool pool;
  KvasirRepeats *repeats;          /* (owned) */
  GArray *biases;                  /* (owned) of Bias */
  const KvasirTokenFilter *filter; /* (nullable) (unowned) */
  double mu;                       /* of mirostat, bits */
};

/* What the chances before the chain are measured against. */
typedef struct
{
  float peak;
  double total;
} Before;

KvasirSampler *
kvasir_sampler_new (const KvasirSamplerParams *params, guint n_vocab)
{
  g_return_val_if_fail (params != NULL, NULL);
  g_return_val_if_fail (n_vocab > 0, NULL);

  KvasirSampler *self = g_new0 (KvasirSampler, 1);
  self->params = *params;
  kvasir_sampler_params_make_sane (&self->params, n_vocab);
  kvasir_rng_init (&self->rng, params->seed);
  kvasir_pool_init (&self->pool, n_vocab);
  self->repeats = kvasir_repeats_new (&self->params, n_vocab);
  self->biases = g_array_new (FALSE, FALSE, sizeof (Bias));
  self->mu = 2.0 * (double) self->params.mirostat_tau;
  return self;
}

void
kvasir_sampler_free (KvasirSampler *self)
{
  if (self == NULL)
    return;
  kvasir_pool_clear (&self->pool);
  kvasir_repeats_free (self->repeats);
  g_array_unref (self->biases);
  g_free (self);
}

static gboolean
is_token (const KvasirSampler *self, gint32 id)
{
  return id >= 0 && (guint) id < self->pool.n_vocab;
}

void
kvasir_sampler_add_bias (KvasirSampler *self, gint32 id, float bias)
{
  g_return_if_fail (self != NULL);

  Bias entry = { id, bias };
  if (is_token (self, id) && !isnan (bias))
    g_array_append_val (self->biases, entry);
}

void
kvasir_sampler_add_breaker (KvasirSampler *self, gint32 head, const gint32 *tail, guint n_tail)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (tail != NULL || n_tail == 0);

  if (is_token (self, head))
    kvasir_repeats_add_breaker (self->repeats, head, tail, n_tail);
}

void
kvasir_sampler_set_filter (KvasirSampler *self, const KvasirTokenFilter *filter)
{
  g_return_if_fail (self != NULL);

  self->filter = filter;
}

void
kvasir_sampler_accept (KvasirSampler *self, gint32 id)
{
  g_return_if_fail (self != NULL);

  if (!is_token (self, id))
    return;
  kvasir_repeats_accept (self->repeats, id);
  if (self->filter != NULL)
    self->filter->accept (self->filter->user, id);
}

/* ---- the chain */

static void
apply_biases (KvasirSampler *self)
{
  for (guint i = 0; i < self->biases->len; i++)
    {
      const Bias *b = &g_array_index (self->biases, Bias, i);
      if (b->bias == -INFINITY)
        kvasir_pool_remove (&self->pool, b->id);
      else
        kvasir_pool_edit (&self->pool, b->id,
                          kvasir_pool_get_logit (&self->pool, (guint32) b->id) + b->bias);
    }
  kvasir_pool_settle (&self->pool);
}

static gboolean
edits_logits (KvasirSamplerStage stage)
{
  return stage == KVASIR_STAGE_PENALTIES || stage == KVASIR_STAGE_DRY;
}

/* Entropy-based, Zhu and others, arXiv 2309.02772. */
static float
get_temperature (KvasirSampler *self)
{
  const KvasirSamplerParams *p = &self->params;
  guint n = p->dynatemp_range > 0.0f ? kvasir_pool_count (&self->pool) : 0;
  if (n <= 1)
    return p->temperature;
  double lowest = (double) MAX (p->temperature - p->dynatemp_range, 0.0f);
  double highest = (double) (p->temperature + p->dynatemp_range);
  double evenness = CLAMP (kvasir_pool_get_entropy (&self->pool) / log (n), 0.0, 1.0);
  return (float) (lowest + (highest - lowest) * pow (evenness, (double) p->dynatemp_exponent));
}

static void
heat (KvasirSampler *self)
{
  float temperature = get_temperature (self);
  if (temperature < KVASIR_SAMPLER_MIN_TEMPERATURE)
    kvasir_cut_top_k (&self->pool, 1);
  else
    self->pool.scale /= temperature;
}

static void
try_xtc (KvasirSampler *self)
{
  const KvasirSamplerParams *p = &self->params;
  if (p->xtc_probability <= 0.0f || p->xtc_threshold > 0.5f)
    return;
  if (kvasir_rng_next_double (&self->rng) < (double) p->xtc_probability)
    kvasir_cut_xtc (&self->pool, p->xtc_threshold);
}

static void
run_stage (KvasirSampler *self, KvasirSamplerStage stage)
{
  const KvasirSamplerParams *p = &self->params;
  KvasirPool *pool = &self->pool;

  if (stage == KVASIR_STAGE_PENALTIES)
    kvasir_repeats_penalise (self->repeats, pool);
  else if (stage == KVASIR_STAGE_DRY)
    kvasir_repeats_dry (self->repeats, pool);
  else if (stage == KVASIR_STAGE_TOP_N_SIGMA && p->top_n_sigma > 0.0f)
    kvasir_cut_top_n_sigma (pool, p->top_n_sigma);
  else if (stage == KVASIR_STAGE_TOP_K && p->top_k > 0)
    kvasir_cut_top_k (pool, p->top_k);
  else if (stage == KVASIR_STAGE_TYPICAL && p->typical_p < 1.0f)
    kvasir_cut_typical (pool, p->typical_p);
  else if (stage == KVASIR_STAGE_TOP_P && p->top_p < 1.0f)
    kvasir_cut_top_p (pool, p->top_p);
  else if (stage == KVASIR_STAGE_MIN_P && p->min_p > 0.0f)
    kvasir_cut_min_p (pool, p->min_p);
  else if (stage == KVASIR_STAGE_XTC)
    try_xtc (self);
  else if (stage == KVASIR_STAGE_TEMPERATURE)
    heat (self);
}

/* Biases and what edits logits before anything else looks at them. Where nothing is cut by the
 * chain's own stages, its order has no meaning and all of the editing is done here. Returns the
 * first stage that is left. */
static guint
begin (KvasirSampler *self, const float *logits)
{
  const KvasirSamplerParams *p = &self->params;
  gboolean all = p->temperature == 0.0f || p->mirostat > 0;
  guint i = 0;

  kvasir_pool_load (&self->pool, logits);
  apply_biases (self);
  for (; i < KVASIR_SAMPLER_N_STAGES; i++)
    {
      if (edits_logits (p->order[i]))
        run_stage (self, p->order[i]);
      else if (!all)
        break;
    }
  return i;
}

static void
run_chain (KvasirSampler *self, guint first)
{
  const KvasirSamplerParams *p = &self->params;

  for (guint i = first; i < KVASIR_SAMPLER_N_STAGES; i++)
    run_stage (self, p->order[i]);
  if (p->temperature == 0.0f)
    kvasir_cut_top_k (&self->pool, 1);
  else if (p->mirostat > 0)
    {
      heat (self);
      if (p->mirostat == 1)
        kvasir_cut_mirostat_1 (&self->pool, self->mu);
      else
        kvasir_cut_mirostat_2 (&self->pool, self->mu);
    }
}

/* ---- the report */

static KvasirCandidate
make_candidate (const KvasirSampler *self, const Before *before, guint32 id)
{
  float logit = kvasir_pool_get_logit (&self->pool, id);
  float x = MIN (logit - before->peak, 0.0f);
  return (KvasirCandidate){
    .id = (gint32) id,
    .logit = logit,
    .p_before = (float) ((double) kvasir_exp_negative (x) / before->total),
  };
}

static void
list_alternatives (KvasirSampler *self, const Before *before, KvasirSample *out)
{
  KvasirPool *pool = &self->pool;
  out->n_alternatives = kvasir_pool_collect_best (pool, KVASIR_SAMPLER_N_ALTERNATIVES);
  kvasir_pick_sort_few (pool->picks, out->n_alternatives);
  for (guint i = 0; i < out->n_alternatives; i++)
    out->alternatives[i] = make_candidate (self, before, kvasir_pick_get_id (pool->picks[i]));
}

/* Chances in the pool that the draw was made from. A candidate that is not among the picks was cut
 * off; the marks find those that are in one pass. */
static void
fill_chances (KvasirSampler *self, double total, KvasirSample *out)
{
  KvasirPool *pool = &self->pool;
  gboolean there[KVASIR_SAMPLER_N_ALTERNATIVES];
  for (guint i = 0; i < out->n_alternatives; i++)
    {
      there[i] = !pool->cut;
      pool->marks[out->alternatives[i].id] = (guint8) (i + 1);
    }
  for (guint i = 0; pool->cut && i < pool->n; i++)
    {
      guint8 mark = pool->marks[kvasir_pick_get_id (pool->picks[i])];
      if (mark > 0)
        there[mark - 1] = TRUE;
    }
  for (guint i = 0; i < out->n_alternatives; i++)
    {
      KvasirCandidate *c = &out->alternatives[i];
      pool->marks[c->id] = 0;
      c->p_after = 0.0f;
      if (there[i])
        c->p_after =
            (float) (kvasir_pool_weigh_one (pool, kvasir_pool_get_logit (pool, (guint32) c->id)) /
                     total);
      if (c->id == out->chosen.id)
        out->chosen.p_before = c->p_before;
    }
}

static void
draw (KvasirSampler *self, const Before *before, KvasirSample *out)
{
  KvasirPool *pool = &self->pool;
  double total = kvasir_pool_weigh (pool);
  double target = kvasir_rng_next_double (&self->rng) * total;
  guint32 id = kvasir_pool_find (pool, target);

  out->chosen = make_candidate (self, before, id);
  out->chosen.p_after =
      (float) (kvasir_pool_weigh_one (pool, kvasir_pool_get_logit (pool, id)) / total);
  out->n_candidates = kvasir_pool_count (pool);
  fill_chances (self, total, out);
}

/* ---- the filter */

static gboolean
is_refused (const KvasirSampler *self, const KvasirSample *sample)
{
  const KvasirTokenFilter *filter = self->filter;
  return filter != NULL && !filter->allows (filter->user, sample->chosen.id);
}

static void
mask_pool (KvasirSampler *self)
{
  const KvasirTokenFilter *filter = self->filter;
  KvasirPool *pool = &self->pool;

  float *logits = kvasir_pool_open (pool);

  if (filter->mask != NULL)
    filter->mask (filter->user, logits, pool->n_vocab);
  else
    for (guint i = 0; i < pool->n_vocab; i++)
      if (logits[i] > -INFINITY && !filter->allows (filter->user, (gint32) i))
        logits[i] = -INFINITY;
  kvasir_pool_refresh (pool);
}

/* Once more, from what the filter lets through. */
static void
draw_filtered (KvasirSampler *self, const float *logits, const Before *before, KvasirSample *out)
{
  guint first = begin (self, logits);
  mask_pool (self);
  out->filtered = TRUE;
  out->chosen = (KvasirCandidate){ .id = -1 };
  out->n_candidates = 0;
  for (guint i = 0; i < out->n_alternatives; i++)
    out->alternatives[i].p_after = 0.0f;
  if (self->pool.peak == -INFINITY)
    return;
  run_chain (self, first);
  draw (self, before, out);
}

static void
update_mirostat (KvasirSampler *self, const KvasirSample *sample)
{
  const KvasirSamplerParams *p = &self->params;
  double surprise = -log2 (MAX ((double) sample->chosen.p_after, 1e-30));
  self->mu -= (double) p->mirostat_eta * (surprise - (double) p->mirostat_tau);
}

void
kvasir_sampler_sample (KvasirSampler *self, const float *logits, KvasirSample *out)
{
  g_return_if_fail (self != NULL);
  g_return_if_fail (logits != NULL);
  g_return_if_fail (out != NULL);

  *out = (KvasirSample){ .id = -1, .chosen.id = -1 };
  guint first = begin (self, logits);
  if (self->pool.peak == -INFINITY)
    return;

  const Before before = { self->pool.peak, kvasir_pool_weigh (&self->pool) };
  list_alternatives (self, &before, out);
  run_chain (self, first);
  draw (self, &before, out);
  if (is_refused (self, out))
    draw_filtered (self, logits, &before, out);
  if (self->params.mirostat > 0 && out->chosen.id >= 0)
    update_mirostat (self, out);
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
