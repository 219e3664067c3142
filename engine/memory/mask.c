#include "engine/memory/mask.h"

#include <string.h>

/* Which of the 64 cells that begin at @pos lie at positions @first ... @last. */
static guint64
compare_positions (const gint32 *pos, gint32 first, gint32 last)
{
  guint32 width = (guint32) last - (guint32) first;
  guint64 inside = 0;

  for (guint i = 0; i < 64; i++)
    inside |= (guint64) ((guint32) pos[i] - (guint32) first <= width) << i;
  return inside;
}

/* Whether @cell is past token @t: later, or at the same position further down or right. */
static gboolean
is_past (const KvasirMaskRows *self, guint t, guint cell)
{
  const KvasirUbatch *ubatch = self->ubatch;
  guint n = ubatch->n_tokens;
  gint32 pos = self->cells->pos[cell];
  const gint32 *place;

  if (pos != ubatch->pos[t] || self->n_pos == 1)
    return pos > ubatch->pos[t];
  place = self->cells->places + 2 * cell;
  return place[1] > ubatch->pos[n + t] ||
         (place[1] == ubatch->pos[n + t] && place[0] > ubatch->pos[2 * n + t]);
}

/* Closes those of the 64 cells that begin at 64 @w that are past the token. */
static void
close_past (const KvasirMaskRows *self, guint t, guint64 *row, guint w)
{
  for (guint64 left = row[w]; left != 0; left &= left - 1)
    {
      guint cell = w * 64 + (guint) __builtin_ctzll (left);

      if (is_past (self, t, cell))
        row[w] &= ~KVASIR_BIT (cell);
    }
}

/* The row of token @t by looking at positions. */
static void
fill_by_position (const KvasirMaskRows *self, guint t, const guint64 *owned, guint64 *row)
{
  gint32 first;
  gint32 last;

  kvasir_window_get_range (self->window, self->ubatch->pos[t], &first, &last);
  for (guint w = 0; w < self->n_kv / 64; w++)
    {
      row[w] = owned[w];
      if (row[w] == 0)
        continue;
      row[w] &= compare_positions (self->cells->pos + 64 * w, first, last);
      if (self->n_pos > 1 && self->window->is_causal)
        close_past (self, t, row, w);
    }
}

/* The row of token @t where nothing but the future is closed. */
static void
fill_plain (const KvasirMaskRows *self, guint t, const guint64 *owned, guint64 *row)
{
  /* Positions of a sequence never fall inside a batch, places in an image may. */
  guint first = self->n_pos > 1 ? self->first : t + 1;

  memcpy (row, owned, self->n_kv / 64 * sizeof *row);
  for (guint u = first; u < self->first + self->n; u++)
    if (is_past (self, t, self->slots[u]))
      row[self->slots[u] / 64] &= ~KVASIR_BIT (self->slots[u]);
}

void
kvasir_mask_fill (const KvasirMaskRows *self, guint64 *words, gsize words_per_row)
{
  gboolean is_plain =
      self->window->kind == KVASIR_WINDOW_NONE && self->window->is_causal && !self->has_later;

  for (guint i = 0; i < self->n; i++)
    {
      guint t = self->first + i;
      guint64 *row = words + i * words_per_row;
      guint seq = (guint) self->ubatch->leads[t];
      const guint64 *owned = kvasir_cells_owned_by (self->cells, seq);

      if (is_plain)
        fill_plain (self, t, owned, row);
      else
        fill_by_position (self, t, owned, row);
    }
}

void
kvasir_mask_fill_word (const KvasirMaskRows *self, guint64 *row, guint w)
{
  guint t = self->first;
  gint32 first;
  gint32 last;

  g_assert (self->n == 1);

  row[w] = kvasir_cells_owned_by (self->cells, (guint) self->ubatch->leads[t])[w];
  if (row[w] == 0 || self->window->kind == KVASIR_WINDOW_NONE)
    return;
  kvasir_window_get_range (self->window, self->ubatch->pos[t], &first, &last);
  row[w] &= compare_positions (self->cells->pos + 64 * w, first, last);
}
