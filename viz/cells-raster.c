#include "viz/cells-raster.h"

#include "viz/buckets.h"
#include "viz/raster.h"

#define MAX_STRIPES 4
#define DIM_FOCUS 0.25
#define DIM_UNREAD 0.45

/* One drawing. */
typedef struct
{
  const KvasirCellsPicture *picture;
  const KvasirGrid *grid;
  const KvasirCacheShot *cache;
  const KvasirStreamShot *stream;
  KvasirRaster raster;
} Painter;

/* A piece of a span within one row of the picture. */
typedef struct
{
  const KvasirSpan *span;
  guint from; /* cells */
  guint to;
  gint y; /* of the row; device pixels */
  guint n_outside;
} Piece;

guint
kvasir_cells_count_outside (const KvasirHoldings *holdings, const KvasirSpan *span)
{
  const KvasirSeqSet *set = &holdings->cache->sets[span->set];
  gint64 border = G_MAXINT64; /* first position that some owner's next token still sees */
  if (holdings->cache->n_swa == 0)
    return 0;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0;
       seq = kvasir_palette_next_seq (set, seq))
    {
      const KvasirHolding *holding = kvasir_holdings_find (holdings, (guint) seq);
      border = MIN (border, (gint64) holding->pos_max + 2 - holdings->cache->n_swa);
    }
  return (guint) CLAMP (border - span->pos, 0, (gint64) span->n);
}

gboolean
kvasir_cells_is_just_written (const KvasirCacheShot *cache, guint stream, guint cell, guint32 step)
{
  guint32 written = cache->steps[(gsize) stream * cache->size + cell];
  return written + KVASIR_JUST_WRITTEN_STEPS > step && written > 0;
}

KvasirRgb
kvasir_cells_get_set_color (const KvasirSeqSet *set)
{
  KvasirRgb mixed = KVASIR_RGB_FREE;
  guint n = 0;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0;
       seq = kvasir_palette_next_seq (set, seq))
    mixed = kvasir_palette_mix (mixed, kvasir_palette_get_sequence ((guint) seq), 1.0 / ++n);
  return mixed;
}

/* ---- dimming */

static gboolean
is_in_focus (const KvasirThing *focus, const KvasirSeqSet *set)
{
  if (focus == NULL)
    return TRUE;
  switch (focus->kind)
    {
    case KVASIR_THING_SEQUENCE:
      return set != NULL && kvasir_seq_set_has (set, (guint) focus->seq);
    case KVASIR_THING_SHARED:
      return set != NULL && kvasir_seq_set_count (set) > 1;
    case KVASIR_THING_FREE:
      return set == NULL;
    default:
      return TRUE;
    }
}

/* @set NULL: free cells. */
static double
get_strength (const Painter *painter, const KvasirSeqSet *set, guint cell)
{
  double strength = is_in_focus (painter->picture->focus, set) ? 1 : DIM_FOCUS;
  gboolean read = painter->stream->n_kv == 0 || cell < painter->stream->n_kv;
  return strength * (read ? 1 : DIM_UNREAD);
}

static KvasirRgb
get_free_color (const Painter *painter, guint cell)
{
  return kvasir_palette_mix (KVASIR_RGB_CANVAS, KVASIR_RGB_FREE,
                             get_strength (painter, NULL, cell));
}

/* ---- boxes */

static gint
get_x (const Painter *painter, guint cell)
{
  return (gint) (cell % painter->grid->per_row) * painter->grid->cell_w;
}

static guint
get_stripes (const Painter *painter, const Piece *piece, KvasirRgb stripes[MAX_STRIPES])
{
  const KvasirSeqSet *set = &painter->cache->sets[piece->span->set];
  double strength = get_strength (painter, set, piece->from);
  guint n = 0;
  for (gint seq = kvasir_palette_next_seq (set, -1); seq >= 0 && n < MAX_STRIPES;
       seq = kvasir_palette_next_seq (set, seq))
    stripes[n++] =
        kvasir_palette_mix (KVASIR_RGB_CANVAS, kvasir_palette_get_sequence ((guint) seq), strength);
  return n;
}

static void
paint_fill (Painter *painter, const Piece *piece)
{
  KvasirRgb stripes[MAX_STRIPES];
  guint n = get_stripes (painter, piece, stripes);
  gint x = get_x (painter, piece->from);
  gint w = (gint) (piece->to - piece->from) * painter->grid->cell_w;
  gint h = painter->grid->cell_h - painter->grid->gap;
  for (guint i = 0; i < n; i++)
    {
      gint top = h * (gint) i / (gint) n;
      gint bottom = h * (gint) (i + 1) / (gint) n;
      kvasir_raster_fill (&painter->raster, x, piece->y + top, w, bottom - top, stripes[i]);
    }
  /* Below this the dots drown the stripes. */
  if (n > 1 && h >= 10 * painter->grid->scale)
    kvasir_raster_stipple (&painter->raster, x, piece->y + h / 2, w, h - h / 2);
}

static void
paint_notch (Painter *painter, const Piece *piece)
{
  gint size = painter->grid->cell_h >= 10 * painter->grid->scale ? (gint) (5 * painter->grid->scale)
                                                                 : painter->grid->gap;
  gint x = get_x (painter, piece->from);
  for (gint i = 0; i < size; i++)
    kvasir_raster_fill (&painter->raster, x, piece->y + i, size - i, 1, KVASIR_RGB_CANVAS);
}

static void
paint_shift_dots (Painter *painter, const Piece *piece)
{
  const KvasirGrid *grid = painter->grid;
  gint size = grid->cell_h >= 10 * grid->scale ? (gint) (4 * grid->scale) : grid->gap;
  gint inset = grid->cell_h >= 10 * grid->scale ? grid->gap : 0;
  for (guint cell = piece->from; cell < piece->to; cell++)
    kvasir_raster_fill (&painter->raster,
                        get_x (painter, cell) + grid->cell_w - grid->gap - size - inset,
                        piece->y + inset, size, size, KVASIR_RGB_WHITE);
}

static void
paint_rings (Painter *painter, const Piece *piece)
{
  const KvasirGrid *grid = painter->grid;
  gint width = grid->cell_h >= 20 * grid->scale ? grid->gap * 2 : grid->gap;
  for (guint cell = piece->from; cell < piece->to; cell++)
    {
      gint box[4] = { get_x (painter, cell), piece->y, grid->cell_w - grid->gap,
                      grid->cell_h - grid->gap };
      if (kvasir_cells_is_just_written (painter->cache, painter->picture->stream, cell,
                                        painter->picture->step))
        kvasir_raster_frame (&painter->raster, box, width, KVASIR_RGB_WHITE);
    }
}

static void
paint_hatch (Painter *painter, const Piece *piece)
{
  guint end = MIN (piece->to, piece->span->cell + piece->n_outside);
  if (end <= piece->from)
    return;
  gint box[4] = { get_x (painter, piece->from), piece->y,
                  (gint) (end - piece->from) * painter->grid->cell_w,
                  painter->grid->cell_h - painter->grid->gap };
  kvasir_raster_hatch (&painter->raster, box, KVASIR_RGB_CANVAS);
}

/* Stretches above and below the horizon are painted apart, so that one strength fits each. */
static void
paint_piece (Painter *painter, Piece piece)
{
  guint n_kv = painter->stream->n_kv;
  if (piece.from < n_kv && piece.to > n_kv)
    {
      Piece below = piece;
      below.to = n_kv;
      paint_piece (painter, below);
      piece.from = n_kv;
    }
  paint_fill (painter, &piece);
  paint_hatch (painter, &piece);
  if (painter->grid->gap == 0)
    return;
  if (piece.from == piece.span->cell)
    paint_notch (painter, &piece);
  if (piece.span->shift != 0)
    paint_shift_dots (painter, &piece);
  paint_rings (painter, &piece);
}

static void
paint_span (Painter *painter, const KvasirSpan *span, guint first, guint end)
{
  const KvasirGrid *grid = painter->grid;
  guint from = MAX (span->cell, first);
  guint to = MIN (span->cell + span->n, end);
  Piece piece = { .span = span,
                  .n_outside = kvasir_cells_count_outside (painter->picture->holdings, span) };
  while (from < to)
    {
      guint row = from / grid->per_row;
      piece.from = from;
      piece.to = MIN (to, (row + 1) * grid->per_row);
      piece.y = (gint) (row - grid->first_row) * grid->cell_h;
      paint_piece (painter, piece);
      from = piece.to;
    }
}

static void
paint_free (Painter *painter, guint first, guint end)
{
  const KvasirGrid *grid = painter->grid;
  for (guint from = first; from < end; from += grid->per_row)
    {
      guint n = MIN (grid->per_row, end - from);
      gint y = (gint) (from / grid->per_row - grid->first_row) * grid->cell_h;
      kvasir_raster_fill (&painter->raster, 0, y, (gint) n * grid->cell_w, grid->cell_h,
                          get_free_color (painter, from));
    }
}

static void
paint_gaps (Painter *painter, guint first, guint end)
{
  const KvasirGrid *grid = painter->grid;
  gint height = painter->raster.height;
  gint width = painter->raster.width;
  if (grid->gap == 0)
    return;
  for (guint i = 1; i <= grid->per_row; i++)
    kvasir_raster_fill (&painter->raster, (gint) i * grid->cell_w - grid->gap, 0, grid->gap, height,
                        KVASIR_RGB_CANVAS);
  for (guint i = 1; i <= (end - first + grid->per_row - 1) / grid->per_row; i++)
    kvasir_raster_fill (&painter->raster, 0, (gint) i * grid->cell_h - grid->gap, width, grid->gap,
                        KVASIR_RGB_CANVAS);
}

static void
paint_boxes (Painter *painter, guint first, guint end)
{
  paint_free (painter, first, end);
  for (guint i = 0; i < painter->stream->n_spans; i++)
    {
      const KvasirSpan *span = &painter->cache->spans[painter->stream->first_span + i];
      if (span->cell < end && span->cell + span->n > first)
        paint_span (painter, span, first, end);
    }
  paint_gaps (painter, first, end);
}

/* ---- buckets */

/* Categories of one row: 0 = free, then one per sequence set that occurs; more than fit share the
 * last one. */
typedef struct
{
  KvasirCategoryRun *runs; /* (owned) */
  guint n_runs;
  guint sets[KVASIR_MAX_CATEGORIES];
  KvasirRgb colors[KVASIR_MAX_CATEGORIES];
  guint n_categories;
} RowRuns;

static guint
get_category (Painter *painter, RowRuns *row, const KvasirSpan *span)
{
  for (guint i = 1; i < row->n_categories; i++)
    if (row->sets[i] == span->set)
      return i;
  if (row->n_categories == KVASIR_MAX_CATEGORIES)
    return KVASIR_MAX_CATEGORIES - 1;
  const KvasirSeqSet *set = &painter->cache->sets[span->set];
  row->sets[row->n_categories] = span->set;
  row->colors[row->n_categories] = kvasir_palette_mix (
      KVASIR_RGB_CANVAS, kvasir_cells_get_set_color (set), get_strength (painter, set, span->cell));
  return row->n_categories++;
}

static void
add_run (RowRuns *row, guint n, guint category)
{
  if (n > 0)
    row->runs[row->n_runs++] = (KvasirCategoryRun){ n, category };
}

/* Adds the part of a span within [*done, end), and what is free before it; moves *done on. */
static void
add_span (Painter *painter, RowRuns *row, const KvasirSpan *span, guint *done, guint end)
{
  guint from = MAX (span->cell, *done);
  guint to = MIN (span->cell + span->n, end);
  if (to <= from)
    return;
  add_run (row, from - *done, 0);
  add_run (row, to - from, get_category (painter, row, span));
  *done = to;
}

/* Fills @row with the runs of [first, end); *index: first span that may cross it, moved on. */
static void
collect_row (Painter *painter, RowRuns *row, guint first, guint end, guint *index)
{
  const KvasirSpan *spans = painter->cache->spans + painter->stream->first_span;
  guint done = first;
  row->n_runs = 0;
  row->n_categories = 1;
  row->colors[0] = get_free_color (painter, first);
  for (guint i = *index; i < painter->stream->n_spans && spans[i].cell < end; i++)
    {
      add_span (painter, row, &spans[i], &done, end);
      if (spans[i].cell + spans[i].n <= end)
        *index = i + 1;
    }
  add_run (row, end - done, 0);
}

static void
paint_buckets (Painter *painter)
{
  const KvasirGrid *grid = painter->grid;
  g_autofree guint8 *pixels = g_malloc (grid->per_row / grid->bucket);
  RowRuns row;
  guint index = 0;
  row.runs = g_new (KvasirCategoryRun, 2 * (gsize) grid->per_row + 2);
  for (guint y = 0; y < grid->n_rows; y++)
    {
      guint first = y * grid->per_row;
      guint end = MIN (first + grid->per_row, grid->n_cells);
      guint n_pixels = (end - first + grid->bucket - 1) / grid->bucket;
      collect_row (painter, &row, first, end, &index);
      kvasir_buckets_share (row.runs, row.n_runs, pixels, n_pixels);
      guint32 *line = painter->raster.pixels + (gsize) y * (gsize) painter->raster.stride;
      for (guint x = 0; x < n_pixels; x++)
        line[x] = row.colors[pixels[x]];
    }
  g_free (row.runs);
}

void
kvasir_cells_raster_draw (const KvasirCellsPicture *picture, const KvasirGrid *grid, cairo_t *cr)
{
  guint first, end;
  Painter painter = { .picture = picture, .grid = grid, .cache = picture->holdings->cache };
  painter.stream = &painter.cache->streams[picture->stream];
  kvasir_grid_get_visible (grid, &first, &end);
  kvasir_raster_init (&painter.raster, (gint) (grid->per_row / grid->bucket) * grid->cell_w,
                      (gint) grid->n_visible * grid->cell_h, KVASIR_RGB_CANVAS);
  if (grid->bucket > 1)
    paint_buckets (&painter);
  else
    paint_boxes (&painter, first, end);
  kvasir_raster_paint (&painter.raster, cr, grid->rect.x, grid->rect.y, grid->scale);
}
