#include "engine/sampling/sane.h"

#include <math.h>
#include <string.h>

#define MAX_LAST_N (1u << 20)
#define MAX_TEMPERATURE 1e6f

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
    .dynatemp_exponent = 1.0f,
    .typical_p = 1.0f,
    .xtc_threshold = 0.1f,
    .dry_base = 1.75f,
    .dry_allowed_length = 2,
    .dry_last_n = 4096,
    .mirostat_tau = 5.0f,
    .mirostat_eta = 0.1f,
  };
}

static float
get_finite_or (float value, float otherwise)
{
  return isfinite (value) ? value : otherwise;
}

static void
make_temperature_sane (KvasirSamplerParams *params)
{
  params->temperature = get_finite_or (params->temperature, 0.0f);
  params->temperature = MIN (params->temperature, MAX_TEMPERATURE);
  if (params->temperature < KVASIR_SAMPLER_MIN_TEMPERATURE)
    params->temperature = 0.0f;
  params->dynatemp_range = CLAMP (get_finite_or (params->dynatemp_range, 0.0f), 0, MAX_TEMPERATURE);
  params->dynatemp_exponent = get_finite_or (params->dynatemp_exponent, 1.0f);
}

static void
make_cuts_sane (KvasirSamplerParams *params, guint n_vocab)
{
  if (params->top_k >= n_vocab)
    params->top_k = 0;
  params->top_p = CLAMP (get_finite_or (params->top_p, 1.0f), 1e-9f, 1.0f);
  params->min_p = CLAMP (get_finite_or (params->min_p, 0.0f), 0.0f, 1.0f);
  params->typical_p = get_finite_or (params->typical_p, 1.0f);
  /* Zero is what a structure has that was made before this member was. */
  if (params->typical_p <= 0.0f || params->typical_p > 1.0f)
    params->typical_p = 1.0f;
  params->top_n_sigma = MAX (get_finite_or (params->top_n_sigma, 0.0f), 0.0f);
  params->xtc_probability = CLAMP (get_finite_or (params->xtc_probability, 0.0f), 0.0f, 1.0f);
  params->xtc_threshold = MAX (get_finite_or (params->xtc_threshold, 1.0f), 0.0f);
}

static void
make_repeats_sane (KvasirSamplerParams *params)
{
  params->repeat_penalty = get_finite_or (params->repeat_penalty, 1.0f);
  if (params->repeat_penalty <= 0.0f)
    params->repeat_penalty = 1.0f;
  params->presence_penalty = get_finite_or (params->presence_penalty, 0.0f);
  params->frequency_penalty = get_finite_or (params->frequency_penalty, 0.0f);
  params->penalty_last_n = MIN (params->penalty_last_n, MAX_LAST_N);
  params->dry_multiplier = get_finite_or (params->dry_multiplier, 0.0f);
  params->dry_base = get_finite_or (params->dry_base, 0.0f);
  params->dry_last_n = MIN (params->dry_last_n, MAX_LAST_N);
  if (params->dry_base < 1.0f || params->dry_last_n == 0)
    params->dry_multiplier = 0.0f;
}

static void
make_order_sane (KvasirSamplerParams *params)
{
  KvasirSamplerStage order[KVASIR_SAMPLER_N_STAGES] = { 0 };
  guint seen = 0;
  guint n = 0;

  for (guint i = 0; i < KVASIR_SAMPLER_N_STAGES; i++)
    {
      guint stage = params->order[i];
      if (stage == KVASIR_STAGE_END)
        break;
      if (stage <= KVASIR_SAMPLER_N_STAGES && !(seen & 1u << stage))
        order[n++] = stage;
      seen |= stage <= KVASIR_SAMPLER_N_STAGES ? 1u << stage : 0;
    }
  for (guint i = 0; n == 0 && i < KVASIR_SAMPLER_N_STAGES; i++)
    order[i] = i + 1;
  memcpy (params->order, order, sizeof order);
}

void
kvasir_sampler_params_make_sane (KvasirSamplerParams *params, guint n_vocab)
{
  make_temperature_sane (params);
  make_cuts_sane (params, n_vocab);
  make_repeats_sane (params);
  make_order_sane (params);
  if (params->mirostat > 2)
    params->mirostat = 0;
  params->mirostat_tau = get_finite_or (params->mirostat_tau, 5.0f);
  params->mirostat_eta = get_finite_or (params->mirostat_eta, 0.0f);
}
