/* ui/history/sampling.h - how answers of a chat are drawn, as it is kept and shown
 *
 * Stored as JSON so that later settings need no new column; unknown members are ignored, missing or
 * senseless ones are the default. Numbers are independent of the locale.
 * Thread: any.
 */
#pragma once

#include <glib.h>

#include "engine/sampling/sampler.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirSamplerParams params;
  guint max_tokens; /* 0: no limit */
} KvasirSampling;

/* Temperature 0.7, top-p 0.95, seed 42. */
void kvasir_sampling_init (KvasirSampling *self);
/* @text: what kvasir_sampling_to_string() made, or "". */
void kvasir_sampling_parse (KvasirSampling *self, const char *text);
char *kvasir_sampling_to_string (const KvasirSampling *self) G_GNUC_WARN_UNUSED_RESULT;
/* "Temperature 0.7 · top-p 0.95 · seed 42", with what differs from the default added. */
char *kvasir_sampling_describe (const KvasirSampling *self) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
