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

/* Cells of @row at position @pos that lie behind (@x, @y) in reading order are closed. */
static void
close_behind (const KvasirCells *cells, guint64 *row, guint w, gint32 pos, const gint32 *place)
{
  for (guint64 left = row[w]; left != 0; left &= left - 1)
    {
      guint cell = w * 64 + (guint) __builtin_ctzll (left);
      const gint32 *other = cells->places + 2 * cell;

      if (cells->pos[cell] == pos &&
          (other[1] > place[1] || (other[1] == place[1] && other[0] > place[0])))
        row[w] &= ~KVASIR_BIT (cell);
    }
}

/* The row of token @t by looking at positions. */
static void
fill_by_position (const KvasirMaskRows *self, guint t, const guint64 *owned, guint64 *row)
{
  const KvasirUbatch *ubatch = self->ubatch;
  gint32 pos = ubatch->pos[t];
  gint32 first;
  gint32 last;

  kvasir_window_get_range (self->window, pos, &first, &last);
  for (guint w = 0; w < self->n_kv / 64; w++)
    {
      row[w] = owned[w];
      if (row[w] == 0)
        continue;
      row[w] &= compare_positions (self->cells->pos + 64 * w, first, last);
      if (self->n_pos > 1 && self->window->is_causal)
        close_behind (self->cells, row, w, pos,
                      (const gint32[]){ ubatch->pos[2 * ubatch->n_tokens + t],
                                        ubatch->pos[ubatch->n_tokens + t] });
    }
}

/* The row of token @t where nothing but the future is closed. */
static void
fill_plain (const KvasirMaskRows *self, guint t, const guint64 *owned, guint64 *row)
{
  const KvasirUbatch *ubatch = self->ubatch;

  memcpy (row, owned, self->n_kv / 64 * sizeof *row);
  for (guint u = t + 1; u < self->first + self->n; u++)
    if (ubatch->pos[u] > ubatch->pos[t])
      row[self->slots[u] / 64] &= ~KVASIR_BIT (self->slots[u]);
}

void
kvasir_mask_fill (const KvasirMaskRows *self, guint64 *words, gsize words_per_row)
{
  gboolean is_plain =
      self->window->kind == KVASIR_WINDOW_NONE && self->window->is_causal && self->n_pos == 1;

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
