/* engine/memory/mask.h - which cells each token may read, as bits
 *
 * Bit c of row t is set where cell c is held by the leading sequence of token t at a position
 * inside the window of its own, and, with positions in planes, at the same position not further
 * down or right in the image. A plain row is the sequence's own bitmap: only tokens of the same
 * ubatch can be in its future, since a batch goes on behind the last position of each of its
 * sequences.
 *
 * Pure. Thread: engine thread.
 */
#pragma once

#include "engine/memory/cells.h"
#include "engine/memory/window.h"

G_BEGIN_DECLS

/* Tokens of a ubatch that lie in one stream, already placed. */
typedef struct
{
  const KvasirCells *cells;
  const KvasirWindowRule *window;
  const KvasirUbatch *ubatch;
  guint first; /* tokens first ... first + n - 1 of the ubatch */
  guint n;
  guint n_pos;          /* positions of a token */
  gboolean has_later;   /* cells from before lie at positions not below the tokens' */
  const guint32 *slots; /* [ubatch->n_tokens] */
  guint n_kv;
} KvasirMaskRows;

/* @words [n][words_per_row], of which the first n_kv / 64 of each row are written. */
void kvasir_mask_fill (const KvasirMaskRows *self, guint64 *words, gsize words_per_row);

/* Word @w of the row of the one token. */
void kvasir_mask_fill_word (const KvasirMaskRows *self, guint64 *row, guint w);

G_END_DECLS
