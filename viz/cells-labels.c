/* The Cells view: writing inside cells that are large enough for it. */
#include <math.h>

#include "viz/cells-private.h"
#include "viz/cells-raster.h"
#include "viz/format.h"

#define CARD_SIZE 40
#define TEXT_SIZE 20
#define DIGIT_SIZE 14

typedef struct
{
  KvasirCellsView *self;
  KvasirCanvas *canvas;
  const KvasirCellsLane *lane;
  const KvasirCacheShot *cache;
  double size; /* of a cell; logical pixels */
} Writer;

/* What stands in one cell. */
typedef struct
{
  KvasirRect rect;
  const KvasirSeqSet *set;
  gint32 pos;
  gint32 token;
  KvasirRgb ink;
} Label;

static void
write_digits (Writer *writer, const Label *label)
{
  char digits[4];
  g_snprintf (digits, sizeof digits, "%d", label->pos % 100);
  kvasir_canvas_set_pen (writer->canvas, KVASIR_STYLE_TINY, label->ink);
  kvasir_canvas_text_middle (writer->canvas, label->rect.x + label->rect.w / 2,
                             label->rect.y + label->rect.h / 2, digits);
}

static void
write_text (Writer *writer, const Label *label)
{
  g_autofree char *text = kvasir_view_dup_token_text (&writer->self->base, label->token);
  kvasir_canvas_set_pen (writer->canvas, KVASIR_STYLE_TINY, label->ink);
  kvasir_canvas_text_clipped (writer->canvas, label->rect.x + 2, label->rect.y + label->rect.h / 2,
                              label->rect.w - 3, g_strchug (text));
}

/* Longest for the newest token of the sequence, halved for each doubling of the distance. */
static double
get_age (Writer *writer, const Label *label)
{
  const KvasirHoldings *holdings = writer->self->holdings[writer->lane->cache];
  guint seq = (guint) kvasir_palette_next_seq (label->set, -1);
  double age = kvasir_holdings_find (holdings, seq)->pos_max - label->pos;
  return MAX (1 - log2 (1 + age) / 16, 0.05);
}

static void
write_card (Writer *writer, const Label *label)
{
  g_autofree char *text = kvasir_view_dup_token_text (&writer->self->base, label->token);
  g_autoptr (GString) letters = g_string_new (NULL);
  const KvasirRect *rect = &label->rect;
  char pos[16];
  g_snprintf (pos, sizeof pos, "%d", label->pos);
  kvasir_palette_append_letters (letters, label->set, "", 3);
  kvasir_canvas_set_pen (writer->canvas, KVASIR_STYLE_TINY, label->ink);
  kvasir_canvas_text (writer->canvas, rect->x + 5, rect->y + rect->h * 0.2, pos);
  kvasir_canvas_set_pen (writer->canvas, KVASIR_STYLE_STRONG, label->ink);
  kvasir_canvas_text_right (writer->canvas, rect->x + rect->w - 4, rect->y + rect->h * 0.2,
                            letters->str);
  kvasir_canvas_text_clipped (writer->canvas, rect->x + 4, rect->y + rect->h * 0.53, rect->w - 7,
                              text);
  kvasir_canvas_fill (writer->canvas, label->ink,
                      (KvasirRect){ rect->x + 4, rect->y + rect->h - 7,
                                    (rect->w - 8) * get_age (writer, label), 3 });
}

static void
write_span (Writer *writer, const KvasirSpan *span, guint from, guint to)
{
  Label label = { .set = &writer->cache->sets[span->set] };
  guint first_seq = (guint) kvasir_palette_next_seq (label.set, -1);
  label.ink = kvasir_palette_get_ink (kvasir_palette_get_sequence (first_seq));
  for (guint cell = from; cell < to; cell++)
    {
      if (!kvasir_grid_get_rect (&writer->lane->grid, cell, &label.rect))
        continue;
      label.pos = span->pos + (gint32) (cell - span->cell);
      label.token =
          writer->cache->tokens[(gsize) writer->lane->stream * writer->cache->size + cell];
      if (writer->size >= CARD_SIZE)
        write_card (writer, &label);
      else if (writer->size >= TEXT_SIZE)
        write_text (writer, &label);
      else
        write_digits (writer, &label);
    }
}

void
kvasir_cells_view_draw_labels (KvasirCellsView *self,
                               KvasirCanvas *canvas,
                               const KvasirCellsLane *lane)
{
  const KvasirStreamShot *stream = kvasir_cells_view_get_stream (self, lane);
  Writer writer = { self, canvas, lane, &self->base.data.cells->caches[lane->cache], 0 };
  guint first, end;
  writer.size = lane->grid.cell_h / lane->grid.scale;
  if (writer.size < DIGIT_SIZE)
    return;
  kvasir_grid_get_visible (&lane->grid, &first, &end);
  for (guint i = 0; i < stream->n_spans; i++)
    {
      const KvasirSpan *span = &writer.cache->spans[stream->first_span + i];
      guint from = MAX (span->cell, first);
      guint to = MIN (span->cell + span->n, end);
      if (from < to)
        write_span (&writer, span, from, to);
    }
}
