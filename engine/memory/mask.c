#include "engine/memory/mask.h"

#include <string.h>

void
kvasir_mask_fill (const KvasirCells *cells,
                  const KvasirUbatch *ubatch,
                  const guint32 *slots,
                  guint n_kv,
                  guint64 *words,
                  gsize words_per_row)
{
  for (guint t = 0; t < ubatch->n_tokens; t++)
    {
      guint64 *row = words + t * words_per_row;
      guint seq = (guint) kvasir_seq_set_next (&ubatch->seqs[t], 0);

      memcpy (row, kvasir_cells_owned_by (cells, seq), n_kv / 64 * sizeof *row);
      for (guint u = t + 1; u < ubatch->n_tokens; u++)
        if (ubatch->pos[u] > ubatch->pos[t])
          row[slots[u] / 64] &= ~KVASIR_BIT (slots[u]);
    }
}
