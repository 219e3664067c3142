/* engine/model/encoder.h - what the models that read a text at once share
 *
 * Nothing is kept between steps, and every token sees all others, or those around it. The rows of
 * the last layer are the result; the context pools them.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming key, expected and found; _UNSUPPORTED for settings
 * that are right but not written. Thread: the loading one; building: engine thread.
 */
#pragma once

#include "engine/model/build.h"

G_BEGIN_DECLS

/* For KvasirArch.setup: no memory; reads attention.causal and pooling_type. */
gboolean kvasir_setup_encoder (KvasirModel *model, GError **error);

/* What counts where a file does not say it. */
typedef struct
{
  guint period;        /* one layer of so many sees everything: */
  gboolean full_first; /* the first of them, else the last */
  float freq_base;     /* of the others */
} KvasirSymmetric;

/* Reads attention.sliding_window (0, or none: all layers see everything), how far tokens on both
 * sides see together, attention.sliding_window_pattern, a period or a boolean for each layer, and
 * rope.freq_base_swa. */
gboolean
kvasir_read_symmetric_window (KvasirModel *model, const KvasirSymmetric *defaults, GError **error);

/* @x [n_embd, n] are the results. */
void kvasir_build_rows (KvasirModelBuild *build, KvasirTensor *x);

G_END_DECLS
