/* engine/sampling/order.h - names of a chain's stages
 *
 * Those of llama.cpp's options, so that an order can be carried over. Pure functions. Thread: any.
 */
#pragma once

#include "engine/sampling/sampler.h"

G_BEGIN_DECLS

/* @text: some of penalties, dry, top_n_sigma, top_k, typ_p, top_p, min_p, xtc and temperature, with
 * semicolons or commas between them; "" is the usual order. @order:
 * [KVASIR_SAMPLER_N_STAGES]. FALSE, and nothing changed, where a name is none or is there twice. */
gboolean kvasir_sampler_order_parse (const char *text, KvasirSamplerStage *order);
/* With semicolons; "" for the usual order. */
char *kvasir_sampler_order_to_string (const KvasirSamplerStage *order) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
