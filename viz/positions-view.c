/* The Positions view: geometry, hit tests and cursor. */
#include <math.h>

#include "viz/positions-private.h"

#define MARGIN 14
#define HEAD_HEIGHT 24
#define TICK_HEIGHT 18
#define MIN_PLOT_HEIGHT 150
#define HIT_DISTANCE 6

static KvasirPositionsView *
positions_view (KvasirView *view)
{
  return (KvasirPositionsView *) view;
}

static void
clear_layout (KvasirPositionsView *self)
{
  g_clear_pointer (&self->holdings, kvasir_holdings_free);
  g_clear_pointer (&self->sliding, kvasir_holdings_free);
  g_clear_pointer (&self->rows, g_free);
  self->n_rows = 0;
}

static void
positions_view_free (KvasirView *view)
{
  clear_layout (positions_view (view));
}

gint64
kvasir_positions_view_get_index (const KvasirPositionsView *self, guint stream, guint cell)
{
  return (gint64) stream * self->holdings->cache->size + cell;
}

const KvasirPositionsRow *
kvasir_positions_view_find_row (const KvasirPositionsView *self, gint seq)
{
  for (guint i = 0; i < self->n_rows; i++)
    if ((gint) self->rows[i].holding->seq == seq)
      return &self->rows[i];
  return NULL;
}

/* ---- the fork tree */

static const KvasirSeqShot *
find_shot (const KvasirPositionsView *self, guint seq)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  for (guint i = 0; i < cells->n_seqs; i++)
    if (cells->seqs[i].seq == (gint) seq)
      return &cells->seqs[i];
  return NULL;
}

/* Adds the sequences that were forked from the row @parent (-1: from none that is still there),
 * each followed by its own. A sequence that names itself or a later ancestor is never reached from
 * a root, so its line is added at the end. */
static void
add_children (KvasirPositionsView *self, gint parent, guint depth, gboolean *added)
{
  for (guint i = 0; i < self->holdings->n_seqs; i++)
    {
      const KvasirHolding *holding = &self->holdings->seqs[i];
      const KvasirSeqShot *shot = find_shot (self, holding->seq);
      gint seq = shot != NULL && shot->parent >= 0 &&
                         kvasir_holdings_find (self->holdings, (guint) shot->parent) != NULL
                     ? shot->parent
                     : -1;
      gint wanted = parent < 0 ? -1 : (gint) self->rows[parent].holding->seq;
      if (added[i] || seq != wanted)
        continue;
      added[i] = TRUE;
      self->rows[self->n_rows] = (KvasirPositionsRow){
        .holding = holding, .shot = shot, .depth = depth, .parent = parent
      };
      add_children (self, (gint) self->n_rows++, depth + 1, added);
    }
}

static void
make_rows (KvasirPositionsView *self)
{
  guint n = self->holdings->n_seqs;
  g_autofree gboolean *added = g_new0 (gboolean, n + 1);
  self->rows = g_new0 (KvasirPositionsRow, n + 1);
  add_children (self, -1, 0, added);
  for (guint i = 0; i < n; i++)
    if (!added[i])
      self->rows[self->n_rows++] =
          (KvasirPositionsRow){ .holding = &self->holdings->seqs[i], .parent = -1 };
}

/* ---- layout */

static void
set_row_sizes (KvasirPositionsView *self)
{
  double designed = self->n_rows <= 6 ? 44 : self->n_rows <= 20 ? 28 : 14;
  self->row_height = kvasir_view_units (&self->base, designed);
  self->bar_height = round (self->row_height * (designed > 40 ? 0.45 : 0.6));
}

static guint
get_max_depth (const KvasirPositionsView *self)
{
  guint depth = 0;
  for (guint i = 0; i < self->n_rows; i++)
    depth = MAX (depth, self->rows[i].depth);
  return depth;
}

static void
place_columns (KvasirPositionsView *self)
{
  KvasirView *view = &self->base;
  double unit = kvasir_view_units (view, 1);
  gint32 last = 0;
  double tree = view->width >= 640 * unit ? 96 * unit : 70 * unit;
  double table = view->width >= 760 * unit   ? 236 * unit
                 : view->width >= 480 * unit ? 128 * unit
                                             : 0;
  double left = MARGIN + tree;
  self->tree_step = MIN (26 * unit, (tree - 44 * unit) / MAX (get_max_depth (self), 1u));
  self->table_ends = table > 200 * unit;
  self->table = (KvasirRect){ view->width - MARGIN - table, 0, table, 0 };
  double right = self->table.x - (table > 0 ? 26 : 0);
  for (guint i = 0; i < self->n_rows; i++)
    last = MAX (last, self->rows[i].holding->pos_max + 1);
  kvasir_axis_init (&self->across, left, MAX (right - left, 60), last, 58 * unit);
}

static gint64
get_last_cell (const KvasirPositionsView *self)
{
  const KvasirCacheShot *cache = self->holdings->cache;
  guint last = cache->n_streams - 1;
  const KvasirStreamShot *stream = &cache->streams[last];
  return kvasir_positions_view_get_index (self, last, MAX (stream->n_kv, stream->used_max));
}

static void
positions_view_layout (KvasirView *view)
{
  KvasirPositionsView *self = positions_view (view);
  double unit = kvasir_view_units (view, 1);
  clear_layout (self);
  if (view->data.cells == NULL || view->data.cells->n_caches == 0)
    return;
  view->has_data = TRUE;
  self->holdings = kvasir_holdings_new (&view->data.cells->caches[0]);
  for (guint i = 1; i < view->data.cells->n_caches && self->sliding == NULL; i++)
    if (view->data.cells->caches[i].n_swa > 0)
      self->sliding = kvasir_holdings_new (&view->data.cells->caches[i]);
  make_rows (self);
  set_row_sizes (self);
  place_columns (self);
  self->rows_y = (HEAD_HEIGHT + TICK_HEIGHT + 14) * unit;
  for (guint i = 0; i < self->n_rows; i++)
    self->rows[i].y = self->rows_y + (i + 0.5) * self->row_height;
  double plot_y = self->rows_y + self->n_rows * self->row_height + (HEAD_HEIGHT + 20) * unit;
  double below = (TICK_HEIGHT + 4) * unit;
  view->min_height = plot_y + MIN_PLOT_HEIGHT + below;
  self->plot = (KvasirRect){ self->across.start, plot_y, self->across.length,
                             MAX (view->height, view->min_height) - plot_y - below };
  kvasir_axis_init (&self->down, plot_y, self->plot.h, get_last_cell (self), 22 * unit);
}

/* ---- points */

static void
find_in_row (const KvasirPositionsView *self,
             const KvasirPositionsRow *row,
             gint32 pos,
             KvasirThing *thing)
{
  const KvasirHolding *holding = row->holding;
  gint seq = (gint) holding->seq;
  gint32 before = -1; /* last position below @pos */
  gint32 after = -1;
  *thing = (KvasirThing){ KVASIR_THING_SEQUENCE, .seq = seq };
  if (pos < holding->pos_min || pos > holding->pos_max || self->holdings->cache->is_recurrent)
    return;
  *thing = (KvasirThing){ KVASIR_THING_POSITION, .seq = seq, .pos = pos };
  if (kvasir_holdings_find_position (self->holdings, holding->seq, pos) != NULL)
    return;
  for (guint i = 0; i < holding->n_runs && after < 0; i++)
    {
      const KvasirPosRun *run = &self->holdings->runs[holding->first_run + i];
      if (run->pos > pos)
        after = run->pos;
      else
        before = MAX (before, run->pos + (gint32) run->n - 1);
    }
  *thing =
      (KvasirThing){ KVASIR_THING_HOLE, .seq = seq, .pos = before + 1, .n = after - before - 1 };
}

/* A dot is small; the nearest one counts. */
typedef struct
{
  double x, y;
  double distance; /* of the nearest so far */
  KvasirThing *thing;
} Search;

static void
look_at_run (const KvasirPositionsView *self, Search *search, guint seq, const KvasirPosRun *run)
{
  gint64 pos = kvasir_axis_find (&self->across, search->x);
  gint64 offset = CLAMP (pos - run->pos, 0, (gint64) run->n - 1);
  gint64 index = kvasir_positions_view_get_index (self, run->stream, run->cell) + offset;
  double dx = kvasir_axis_get (&self->across, (double) (run->pos + offset)) - search->x;
  double dy = kvasir_axis_get (&self->down, (double) index) - search->y;
  if (hypot (dx, dy) >= search->distance)
    return;
  search->distance = hypot (dx, dy);
  *search->thing =
      (KvasirThing){ KVASIR_THING_POSITION, .seq = (gint) seq, .pos = run->pos + (gint32) offset };
}

static gboolean
hit_plot (const KvasirPositionsView *self, double x, double y, KvasirThing *thing)
{
  Search search = { x, y, HIT_DISTANCE, thing };
  for (guint i = 0; i < self->n_rows; i++)
    {
      const KvasirHolding *holding = self->rows[i].holding;
      for (guint j = 0; j < holding->n_runs; j++)
        look_at_run (self, &search, holding->seq, &self->holdings->runs[holding->first_run + j]);
    }
  return search.distance < HIT_DISTANCE;
}

static gboolean
positions_view_hit (KvasirView *view, double x, double y, KvasirThing *thing)
{
  KvasirPositionsView *self = positions_view (view);
  if (kvasir_rect_has (&self->plot, x, y))
    return hit_plot (self, x, y, thing);
  double row = floor ((y - self->rows_y) / self->row_height);
  if (row < 0 || row >= self->n_rows)
    return FALSE;
  find_in_row (self, &self->rows[(guint) row], (gint32) kvasir_axis_find (&self->across, x), thing);
  return TRUE;
}

/* ---- cursor */

static gboolean
move_row (KvasirPositionsView *self, KvasirThing *thing, gint delta)
{
  const KvasirPositionsRow *row = kvasir_positions_view_find_row (self, thing->seq);
  gint index = (gint) (row - self->rows) + delta;
  if (index < 0 || index >= (gint) self->n_rows)
    return FALSE;
  const KvasirHolding *holding = self->rows[index].holding;
  find_in_row (self, &self->rows[index], CLAMP (thing->pos, holding->pos_min, holding->pos_max),
               thing);
  return TRUE;
}

static gboolean
positions_view_move (KvasirView *view, KvasirThing *thing, KvasirMove move)
{
  KvasirPositionsView *self = positions_view (view);
  const KvasirPositionsRow *row = kvasir_positions_view_find_row (self, thing->seq);
  static const gint32 steps[] = {
    [KVASIR_MOVE_LEFT] = -1,
    [KVASIR_MOVE_RIGHT] = 1,
    [KVASIR_MOVE_PAGE_UP] = -64,
    [KVASIR_MOVE_PAGE_DOWN] = 64,
    [KVASIR_MOVE_FIRST] = -G_MAXINT32 / 2,
    [KVASIR_MOVE_LAST] = G_MAXINT32 / 2,
  };
  gboolean known = thing->kind == KVASIR_THING_POSITION || thing->kind == KVASIR_THING_HOLE ||
                   thing->kind == KVASIR_THING_SEQUENCE;
  if (self->n_rows == 0)
    return FALSE;
  if (!known || row == NULL)
    {
      find_in_row (self, &self->rows[0], self->rows[0].holding->pos_max, thing);
      return TRUE;
    }
  if (move == KVASIR_MOVE_UP || move == KVASIR_MOVE_DOWN)
    return move_row (self, thing, move == KVASIR_MOVE_UP ? -1 : 1);
  gint32 from =
      thing->kind == KVASIR_THING_HOLE && steps[move] > 0 ? thing->pos + thing->n - 1 : thing->pos;
  find_in_row (self, row, CLAMP (from + steps[move], row->holding->pos_min, row->holding->pos_max),
               thing);
  return TRUE;
}

static gboolean
positions_view_translate (KvasirView *view, const KvasirThing *thing, KvasirThing *translated)
{
  KvasirPositionsView *self = positions_view (view);
  guint cell = thing->cell;
  *translated = *thing;
  if (thing->kind != KVASIR_THING_CELL && thing->kind != KVASIR_THING_MASK &&
      thing->kind != KVASIR_THING_DECODE)
    return thing->kind == KVASIR_THING_SEQUENCE || thing->kind == KVASIR_THING_POSITION ||
           thing->kind == KVASIR_THING_HOLE || thing->kind == KVASIR_THING_MESSAGE;
  const KvasirCacheShot *cache = self->holdings->cache;
  if (thing->cache != 0 || cell >= cache->size || thing->stream >= cache->n_streams)
    return FALSE;
  const KvasirSpan *span = kvasir_cache_shot_find (cache, thing->stream, cell);
  if (span == NULL)
    return FALSE;
  *translated = (KvasirThing){ KVASIR_THING_POSITION,
                               .seq = kvasir_palette_next_seq (&cache->sets[span->set], -1),
                               .pos = span->pos + (gint32) (cell - span->cell) };
  return TRUE;
}

static const KvasirViewClass positions_view_class = {
  .needs = KVASIR_VIEW_CELLS,
  .free = positions_view_free,
  .layout = positions_view_layout,
  .draw = kvasir_positions_view_draw,
  .hit = positions_view_hit,
  .draw_mark = kvasir_positions_view_draw_mark,
  .move = positions_view_move,
  .translate = positions_view_translate,
  .describe = kvasir_positions_view_describe,
  .append_text = kvasir_positions_view_append_text,
};

KvasirView *
kvasir_positions_view_new (void)
{
  KvasirPositionsView *self = g_new0 (KvasirPositionsView, 1);
  kvasir_view_init (&self->base, &positions_view_class);
  return &self->base;
}
