/* engine/sampling/sane.h - settings that come from files and dialogs, made usable
 *
 * Thread: any.
 */
#pragma once

#include "engine/sampling/sampler.h"

G_BEGIN_DECLS

/* Below this the division by the temperature leaves nothing but the best. */
#define KVASIR_SAMPLER_MIN_TEMPERATURE 1e-6f

/* What makes no sense means "off". The order becomes one of known stages, each once. */
void kvasir_sampler_params_make_sane (KvasirSamplerParams *params, guint n_vocab);

G_END_DECLS
