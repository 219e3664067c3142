/* What sequences span, where that has to be looked up in their cells. */
#include "engine/memory/cells.h"

#define FULL (~G_GUINT64_CONSTANT (0))
#define CELLS 64

typedef struct
{
  gint32 min;
  gint32 max;
  gint32 before; /* the position of the cell before */
  guint n_falls; /* cells whose position is not above that */
} Measure;

static void
measure_word (const gint32 *pos, Measure *measure)
{
  gint32 min = pos[0];
  gint32 max = pos[0];
  guint n_falls = pos[0] <= measure->before;

  for (guint i = 0; i < CELLS; i++)
    {
      min = MIN (min, pos[i]);
      max = MAX (max, pos[i]);
    }
  for (guint i = 0; i + 1 < CELLS; i++)
    n_falls += pos[i + 1] <= pos[i];
  measure->min = MIN (measure->min, min);
  measure->max = MAX (measure->max, max);
  measure->before = pos[CELLS - 1];
  measure->n_falls += n_falls;
}

static void
measure_bits (const gint32 *pos, guint64 bits, Measure *measure)
{
  for (; bits != 0; bits &= bits - 1)
    {
      gint32 at = pos[__builtin_ctzll (bits)];

      measure->n_falls += at <= measure->before;
      measure->before = at;
      measure->min = MIN (measure->min, at);
      measure->max = MAX (measure->max, at);
    }
}

static void
measure_span (KvasirCells *self, guint bit)
{
  KvasirSeqSpan *span = &self->spans[bit];
  const guint64 *words = span->words;
  Measure measure = { .min = KVASIR_POS_END, .max = -1, .before = -1 };
  gint32 first = -1;

  if (span->n_cells == 0)
    return;
  for (guint w = 0; w < self->n_words; w++)
    {
      const gint32 *pos = self->pos + (gsize) w * CELLS;

      if (words[w] == 0)
        continue;
      if (first < 0)
        first = pos[__builtin_ctzll (words[w])];
      span->last_cell = w * CELLS + 63 - (guint) __builtin_clzll (words[w]);
      if (words[w] == FULL)
        measure_word (pos, &measure);
      else
        measure_bits (pos, words[w], &measure);
    }
  span->min = measure.min;
  span->max = measure.max;
  /* Positions that rise along the cells are all different, also where they wrap around the end. */
  span->is_rising = measure.n_falls == 0;
  span->is_dense = (measure.n_falls == 0 || (measure.n_falls == 1 && measure.before < first)) &&
                   (guint) (measure.max - measure.min) + 1 == span->n_cells;
}

void
kvasir_cells_set_span (KvasirCells *self, guint seq, const KvasirSeqSpan *span)
{
  guint bit = seq - self->first_seq;

  guint64 *words = self->spans[bit].words;

  g_assert (span->n_cells == self->spans[bit].n_cells);
  self->spans[bit] = *span;
  self->spans[bit].words = words;
  kvasir_seq_set_remove (&self->stale, bit);
}

void
kvasir_cells_settle (KvasirCells *self)
{
  for (gint bit = kvasir_seq_set_next (&self->stale, 0); bit >= 0;
       bit = kvasir_seq_set_next (&self->stale, (guint) bit + 1))
    measure_span (self, (guint) bit);
  self->stale = (KvasirSeqSet){ 0 };
}
