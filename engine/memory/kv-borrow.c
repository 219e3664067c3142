/* A cache over the cells of another memory's. What the lender has placed is not placed again: such
 * a token goes to the cell that holds its position in its sequence. */
#include "engine/memory/kv-cache-private.h"
#include "engine/memory/slots.h"

gint
kvasir_kv_cache_find_held (const KvasirKvCache *self, guint seq, gint32 pos, guint from)
{
  const KvasirCells *cells = kvasir_kv_cache_peek_cells_of (self, seq);
  const guint64 *words = kvasir_cells_owned_by (cells, seq);
  KvasirSeqSpan span = kvasir_cells_get_span (cells, seq);
  guint first = from / 64 % cells->n_words;

  if (pos < span.min || pos > span.max)
    return -1;
  for (guint i = 0; i < cells->n_words; i++)
    {
      guint w = (first + i) % cells->n_words;
      guint64 bits = kvasir_cells_select (cells, w, words[w], pos, pos + 1, FALSE);

      if (bits != 0)
        return (gint) (w * 64 + (guint) __builtin_ctzll (bits));
    }
  return -1;
}

/* Marks what is mirrored. Returns: how many tokens are not */
static guint
mark_held (KvasirKvCache *self,
           const KvasirUbatch *ubatch,
           const KvasirKvSlice *slice,
           guint32 *slots)
{
  guint8 *mirrored = self->mirrored + (slots - self->slots);
  guint n_fresh = 0;
  guint from = 0;

  for (guint i = 0; i < slice->n; i++)
    {
      guint t = slice->first + i;
      gint held = kvasir_kv_cache_find_held (self, (guint) ubatch->leads[t], ubatch->pos[t], from);

      mirrored[i] = held >= 0;
      n_fresh += held < 0;
      if (held < 0)
        continue;
      slots[i] = (guint32) held;
      from = (guint) held + 1;
    }
  return n_fresh;
}

gboolean
kvasir_kv_cache_find_mirrored (KvasirKvCache *self,
                               const KvasirUbatch *ubatch,
                               const KvasirKvSlice *slice,
                               gboolean relaxed,
                               guint32 *slots)
{
  const KvasirCells *cells = &self->cells[slice->stream];
  const guint8 *mirrored = self->mirrored + (slots - self->slots);
  guint n_fresh = mark_held (self, ubatch, slice, slots);
  guint32 *found = (guint32 *) self->numbers;
  guint n = 0;

  if (n_fresh > 0 && kvasir_kv_cache_is_sliding (self) &&
      !kvasir_slots_find_sliding (cells, &self->window, relaxed, n_fresh, found))
    return FALSE;
  if (n_fresh > 0 && !kvasir_kv_cache_is_sliding (self) &&
      !kvasir_slots_find (cells, n_fresh, found))
    return FALSE;
  for (guint i = 0; i < slice->n; i++)
    if (!mirrored[i])
      slots[i] = found[n++];
  return TRUE;
}
