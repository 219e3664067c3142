/* engine/sampling/sampler.h - picks the next token from logits
 *
 * First the biases, then the stages in their order, then a draw. The usual order is that of
 * KvasirSamplerStage; all stages but the temperature and four of the cuts are off at first.
 * Temperature 0 is greedy: the best after biases, penalties and DRY. With mirostat the chain is
 * biases, penalties, DRY, temperature, mirostat. No sort of the whole vocabulary. Settings that
 * make no sense count as off; NaN logits are never chosen. The same seed and logits give the same
 * ids on every machine.
 *
 * Owner:  one per answer. Thread: engine thread. No allocation in kvasir_sampler_sample().
 */
#pragma once

#include "engine/sampling/filter.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_STAGE_END, /* of an order that has fewer stages than there are */
  KVASIR_STAGE_PENALTIES,
  KVASIR_STAGE_DRY,
  KVASIR_STAGE_TOP_N_SIGMA,
  KVASIR_STAGE_TOP_K,
  KVASIR_STAGE_TYPICAL,
  KVASIR_STAGE_TOP_P,
  KVASIR_STAGE_MIN_P,
  KVASIR_STAGE_XTC,
  KVASIR_STAGE_TEMPERATURE
} KvasirSamplerStage;

#define KVASIR_SAMPLER_N_STAGES 9
#define KVASIR_SAMPLER_MAX_BREAKER_TAIL 20

typedef struct
{
  float temperature;       /* 0: greedy */
  guint top_k;             /* 0: off */
  float top_p;             /* 1: off */
  float min_p;             /* 0: off */
  float repeat_penalty;    /* 1: off; divides positive logits, multiplies negative ones */
  float presence_penalty;  /* 0: off */
  float frequency_penalty; /* 0: off */
  guint penalty_last_n;    /* tokens looked back */
  guint64 seed;
  float dynatemp_range;    /* 0: off; the temperature is between those this far below and above */
  float dynatemp_exponent; /* of the entropy over its maximum */
  float typical_p;         /* 1: off */
  float top_n_sigma;       /* 0: off */
  float xtc_probability;   /* 0: off; of a token that the stage acts on */
  float xtc_threshold;     /* above 0.5: off */
  float dry_multiplier;    /* 0: off */
  float dry_base;          /* below 1: off */
  guint dry_allowed_length;
  guint dry_last_n;   /* tokens looked back, 0: off */
  guint mirostat;     /* 0: off, 1 or 2 */
  float mirostat_tau; /* surprise aimed at, in bits */
  float mirostat_eta; /* how fast */
  /* Which stages there are, first to last, up to the first END or the end of the array; a stage
   * that is there twice counts once. With END first: the usual order. */
  KvasirSamplerStage order[KVASIR_SAMPLER_N_STAGES];
} KvasirSamplerParams;

#define KVASIR_SAMPLER_N_ALTERNATIVES 10

typedef struct
{
  gint32 id;
  float logit;    /* after biases, and the penalties that no other stage comes before */
  float p_before; /* softmax of these over the whole vocabulary at temperature 1 */
  float p_after;  /* in the set it was drawn from; 0: cut off */
} KvasirCandidate;

typedef struct
{
  gint32 id; /* -1: no logit was a number, or all were -inf, or the filter left none */
  KvasirCandidate chosen;
  guint n_candidates; /* left when it was drawn */
  gboolean filtered;  /* the first one drawn was refused, and the whole vocabulary filtered */
  guint n_alternatives;
  KvasirCandidate alternatives[KVASIR_SAMPLER_N_ALTERNATIVES]; /* best first, the chosen among them
                                                                  if it is one of the best */
} KvasirSample;

typedef struct _KvasirSampler KvasirSampler;

void kvasir_sampler_params_init (KvasirSamplerParams *params);
KvasirSampler *kvasir_sampler_new (const KvasirSamplerParams *params,
                                   guint n_vocab) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_sampler_free (KvasirSampler *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirSampler, kvasir_sampler_free)

/* Added to a token's logit; -INFINITY: never that one. Ids outside of the vocabulary: ignored. */
void kvasir_sampler_add_bias (KvasirSampler *self, gint32 id, float bias);
/* Says that @head and after it the @n_tail tokens of @tail end what DRY counts as repetition. At
 * most KVASIR_SAMPLER_MAX_BREAKER_TAIL of the tail are looked at. */
void
kvasir_sampler_add_breaker (KvasirSampler *self, gint32 head, const gint32 *tail, guint n_tail);
/* @filter: (nullable) (unowned). Told of all tokens accepted from now on, so set it after those of
 * the prompt. */
void kvasir_sampler_set_filter (KvasirSampler *self, const KvasirTokenFilter *filter);

/* Tells the penalties of a token that stands in the text (prompt or answer). */
void kvasir_sampler_accept (KvasirSampler *self, gint32 id);
void kvasir_sampler_sample (KvasirSampler *self, const float *logits, KvasirSample *out);

/* Index of the largest; ties: the lowest. */
gint32 kvasir_sampler_argmax (const float *logits, guint n);

G_END_DECLS
