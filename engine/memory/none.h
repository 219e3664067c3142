/* engine/memory/none.h - what encoders have in place of a memory
 *
 * Nothing is kept between calls. Attention works on caches all the same, so that all layers of one
 * shape write the K and V rows of an ubatch into the same F32 scratch rows: token i into cell i, of
 * pad64 (n_ubatch) cells. A sequence has to lie in one ubatch.
 *
 * Mask: a token reads the cells of its (first named) sequence; if the model is causal, up to its
 *   own position; in sliding layers, inside the window.
 * Owner: its memory. Thread: engine thread.
 * Errors: KVASIR_ENGINE_ERROR_NO_MEMORY naming bytes and buffer type.
 */
#pragma once

#include "engine/memory/memory-params.h"
#include "engine/memory/part.h"

G_BEGIN_DECLS

/* @is_swa: for the sliding attention layers, or for the others. A model that has both needs both,
 * as they read with different masks. */
KvasirPart *kvasir_none_new (const KvasirMemoryParams *params,
                             gboolean is_swa,
                             GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
