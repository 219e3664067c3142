/* ui/history/sampling.h - how answers of a chat are drawn, as it is kept and shown
 *
 * Stored as JSON so that later settings need no new column; unknown members are ignored, missing or
 * senseless ones are the default. Numbers are independent of the locale.
 * Thread: any.
 */
#pragma once

#include <glib.h>

#include "engine/session/sampling-texts.h"
#include "engine/session/thinking.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirSamplerParams params;
  KvasirSamplingTexts texts; /* (owned) */
  guint max_tokens;          /* 0: no limit */
  gboolean adapt;            /* a chat that the model's template refuses is put in a simpler form */
  KvasirThinking thinking;   /* where the model's template knows it */
} KvasirSampling;

/* The numbers of it, for whoever treats them alike. */
typedef enum
{
  KVASIR_SAMPLING_TEMPERATURE,
  KVASIR_SAMPLING_SEED,
  KVASIR_SAMPLING_DYNATEMP_RANGE,
  KVASIR_SAMPLING_DYNATEMP_EXPONENT,
  KVASIR_SAMPLING_TOP_K,
  KVASIR_SAMPLING_TOP_P,
  KVASIR_SAMPLING_MIN_P,
  KVASIR_SAMPLING_TYPICAL_P,
  KVASIR_SAMPLING_TOP_N_SIGMA,
  KVASIR_SAMPLING_XTC_PROBABILITY,
  KVASIR_SAMPLING_XTC_THRESHOLD,
  KVASIR_SAMPLING_MIROSTAT,
  KVASIR_SAMPLING_MIROSTAT_TAU,
  KVASIR_SAMPLING_MIROSTAT_ETA,
  KVASIR_SAMPLING_REPEAT_PENALTY,
  KVASIR_SAMPLING_PRESENCE_PENALTY,
  KVASIR_SAMPLING_FREQUENCY_PENALTY,
  KVASIR_SAMPLING_PENALTY_LAST_N,
  KVASIR_SAMPLING_DRY_MULTIPLIER,
  KVASIR_SAMPLING_DRY_BASE,
  KVASIR_SAMPLING_DRY_ALLOWED_LENGTH,
  KVASIR_SAMPLING_DRY_LAST_N,
  KVASIR_SAMPLING_MAX_TOKENS,
  KVASIR_SAMPLING_N_NUMBERS
} KvasirSamplingNumber;

double kvasir_sampling_get_number (const KvasirSampling *self, KvasirSamplingNumber number);
/* @value: in the number's range. */
void kvasir_sampling_set_number (KvasirSampling *self, KvasirSamplingNumber number, double value);
void kvasir_sampling_get_range (KvasirSamplingNumber number, double *min, double *max);

/* Temperature 0.7, top-p 0.95, seed 42. */
void kvasir_sampling_init (KvasirSampling *self);
void kvasir_sampling_clear (KvasirSampling *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirSampling, kvasir_sampling_clear)
/* @to need not be initialised. */
void kvasir_sampling_copy (const KvasirSampling *self, KvasirSampling *to);
/* @self need not be initialised. @text: what kvasir_sampling_to_string() made, or "". */
void kvasir_sampling_parse (KvasirSampling *self, const char *text);
char *kvasir_sampling_to_string (const KvasirSampling *self) G_GNUC_WARN_UNUSED_RESULT;
/* "Temperature 0.7 · top-p 0.95 · seed 42", with what differs from the default added. */
char *kvasir_sampling_describe (const KvasirSampling *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
