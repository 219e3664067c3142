/* engine/sampling/sampler.h - picks the next token from logits
 *
 * The chain is: penalties, then top-k, top-p, min-p, temperature, then a draw; temperature 0 is
 * greedy (after penalties). No sort of the whole vocabulary. Settings that make no sense count as
 * off; NaN logits are never chosen. The same seed and logits give the same ids on every machine.
 *
 * Owner:  one per answer. Thread: engine thread. No allocation in kvasir_sampler_sample().
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

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
} KvasirSamplerParams;

#define KVASIR_SAMPLER_N_ALTERNATIVES 10

typedef struct
{
  gint32 id;
  float logit;    /* after penalties */
  float p_before; /* softmax over the whole vocabulary at temperature 1, after penalties */
  float p_after;  /* in the set it was drawn from; 0: cut off */
} KvasirCandidate;

typedef struct
{
  gint32 id; /* -1: no logit was a number, or all were -inf */
  KvasirCandidate chosen;
  guint n_candidates; /* left when it was drawn */
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

/* Tells the penalties of a token that stands in the text (prompt or answer). */
void kvasir_sampler_accept (KvasirSampler *self, gint32 id);
void kvasir_sampler_sample (KvasirSampler *self, const float *logits, KvasirSample *out);

/* Index of the largest; ties: the lowest. */
gint32 kvasir_sampler_argmax (const float *logits, guint n);

G_END_DECLS
