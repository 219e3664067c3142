/* engine/memory/recurrent.h - one state per sequence instead of cells
 *
 * A state lies in a row of each recurrent layer's tensors: F32 [width, rows]. Sequences share a
 * state after a copy; rows are only ever written while nobody holds them, so that sharing, taking
 * an ubatch back and going back to an earlier state move numbers, never data.
 *
 * Rows: (1 + n_rs_seq) for each of n_seq_max sequences, and min (as many, n_ubatch) for the ubatch
 *   in flight, whose sequences keep their earlier states until kvasir_recurrent_commit().
 * Going back: after an ubatch with t tokens of a sequence its last min (n_rs_seq, t - 1) tokens can
 *   be removed, once. Everything else but removing the whole sequence is refused.
 *
 * Owner:  its memory. Thread: engine thread. Nothing is allocated after creation.
 * Errors: KVASIR_ENGINE_ERROR_NO_MEMORY naming bytes and buffer type.
 */
#pragma once

#include "engine/memory/memory-params.h"
#include "engine/memory/part.h"

G_BEGIN_DECLS

KvasirPart *kvasir_recurrent_new (const KvasirMemoryParams *params,
                                  GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
