/* engine/memory/mask.h - which cells each token may read, as bits
 *
 * Bit c of row t is set where cell c is held by the first sequence of token t at a position not
 * after its own. The sequence's own bitmap is the row already; only tokens of the same ubatch can
 * be in its future, since a batch goes on behind the last position of each of its sequences. Those
 * of other sequences have no bit there to begin with.
 *
 * Pure. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"

G_BEGIN_DECLS

/* For @ubatch whose tokens lie in @slots [n_tokens], already placed. @words
 * [n_tokens][words_per_row], of which the first @n_kv / 64 of each row are written. */
void kvasir_mask_fill (const KvasirCells *cells,
                       const KvasirUbatch *ubatch,
                       const guint32 *slots,
                       guint n_kv,
                       guint64 *words,
                       gsize words_per_row);

G_END_DECLS
