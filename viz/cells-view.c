/* The Cells view: geometry, hit tests, cursor and zoom. */
#include <math.h>
#include <string.h>

#include "viz/cells-private.h"

#define MARGIN 14
#define LEFT 8
#define GUTTER 47
#define SIDE_GAP 24
#define HEAD_HEIGHT 24
#define MAX_BARS 8

/* Logical pixels per cell while zoomed: dots of positions, digits, short texts, cards. */
static const double zoom_sizes[] = { 0, 12, 18, 28, 52 };

static KvasirCellsView *
cells_view (KvasirView *view)
{
  return (KvasirCellsView *) view;
}

static void
clear_layout (KvasirCellsView *self)
{
  for (guint i = 0; i < self->n_holdings; i++)
    kvasir_holdings_free (self->holdings[i]);
  g_clear_pointer (&self->holdings, g_free);
  g_clear_pointer (&self->lanes, g_free);
  g_clear_pointer (&self->memory, kvasir_memory_sums_free);
  self->n_holdings = 0;
  self->n_lanes = 0;
}

static void
cells_view_free (KvasirView *view)
{
  clear_layout (cells_view (view));
  kvasir_legend_free (cells_view (view)->legend);
}

const KvasirStreamShot *
kvasir_cells_view_get_stream (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  return &self->base.data.cells->caches[lane->cache].streams[lane->stream];
}

const KvasirCellsLane *
kvasir_cells_view_find_lane (const KvasirCellsView *self, const KvasirThing *thing)
{
  for (guint i = 0; i < self->n_lanes; i++)
    if (self->lanes[i].cache == thing->cache && self->lanes[i].stream == thing->stream)
      return &self->lanes[i];
  return NULL;
}

static void
add_message_runs (const KvasirHoldings *holdings,
                  guint cache,
                  const KvasirMessageRun *message,
                  GArray *runs)
{
  const KvasirHolding *holding = kvasir_holdings_find (holdings, (guint) message->seq);
  for (guint i = 0; holding != NULL && i < holding->n_runs; i++)
    {
      const KvasirPosRun *run = &holdings->runs[holding->first_run + i];
      gint32 from = MAX (run->pos, message->pos);
      gint32 to = MIN (run->pos + (gint32) run->n, message->pos + message->n);
      KvasirCellRun cells = { cache, run->stream, run->cell + (guint) (from - run->pos),
                              (guint) (to - from) };
      gboolean known = FALSE;
      /* A shared part comes along once for each of its owners. */
      for (guint j = 0; j < runs->len && !known; j++)
        known = memcmp (&g_array_index (runs, KvasirCellRun, j), &cells, sizeof cells) == 0;
      if (from < to && !known)
        g_array_append_val (runs, cells);
    }
}

void
kvasir_cells_view_collect (const KvasirCellsView *self, const KvasirThing *thing, GArray *runs)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  if (thing->kind == KVASIR_THING_RUNS && self->base.runs->len > 0)
    g_array_append_vals (runs, self->base.runs->data, self->base.runs->len);
  if (thing->kind != KVASIR_THING_MESSAGE)
    return;
  for (guint i = 0; i < cells->n_message_runs; i++)
    if (cells->message_runs[i].message_id == thing->message_id)
      for (guint cache = 0; cache < self->n_holdings; cache++)
        add_message_runs (self->holdings[cache], cache, &cells->message_runs[i], runs);
}

/* ---- layout */

static void
make_holdings (KvasirCellsView *self)
{
  const KvasirCellsShot *cells = self->base.data.cells;
  self->n_holdings = cells->n_caches;
  self->holdings = g_new0 (KvasirHoldings *, cells->n_caches + 1);
  for (guint i = 0; i < cells->n_caches; i++)
    {
      self->holdings[i] = kvasir_holdings_new (&cells->caches[i]);
      self->n_lanes += cells->caches[i].n_streams;
    }
  self->lanes = g_new0 (KvasirCellsLane, self->n_lanes + 1);
  KvasirCellsLane *lane = self->lanes;
  for (guint i = 0; i < cells->n_caches; i++)
    for (guint stream = 0; stream < cells->caches[i].n_streams; stream++, lane++)
      {
        lane->cache = i;
        lane->stream = stream;
      }
}

static guint
get_lane_size (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  return self->base.data.cells->caches[lane->cache].size;
}

/* Positions up to which the bars reach: the same for all, so that they can be compared. */
static gint32
get_axis_end (const KvasirHoldings *holdings)
{
  gint32 end = 1;
  for (guint i = 0; i < holdings->n_seqs; i++)
    end = MAX (end, holdings->seqs[i].pos_max + 1);
  for (guint i = 0; i < holdings->cache->n_streams; i++)
    end = MAX (end, (gint32) holdings->cache->streams[i].n_kv);
  return (end + 255) / 256 * 256;
}

gboolean
kvasir_cells_view_is_recurrent (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  return self->base.data.cells->caches[lane->cache].is_recurrent;
}

/* States, and cells that no layer reads, need no more than the least height. */
static double
get_weight (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  const KvasirCacheShot *cache = &self->base.data.cells->caches[lane->cache];
  return cache->is_recurrent || cache->n_layers == 0 ? 0 : cache->size;
}

/* Rows of four pixels are the least in which a cell still is a box. States are few. */
static double
get_min_grid_height (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  if (kvasir_cells_view_is_recurrent (self, lane))
    return kvasir_view_units (&self->base, 30);
  if (get_weight (self, lane) == 0)
    return 64;
  return CLAMP (get_lane_size (self, lane) / 64 * 4.0, 48, 256);
}

static double
measure_lanes (const KvasirCellsView *self)
{
  double height = 0;
  for (guint i = 0; i < self->n_lanes; i++)
    height +=
        kvasir_view_units (&self->base, HEAD_HEIGHT) + get_min_grid_height (self, &self->lanes[i]);
  return height;
}

/* What is left above the least heights goes to the others by their cells. */
static double
get_share (const KvasirCellsView *self, const KvasirCellsLane *lane)
{
  double all = 0;
  for (guint i = 0; i < self->n_lanes; i++)
    all += get_weight (self, &self->lanes[i]);
  return get_weight (self, lane) / MAX (all, 1);
}

static void
place_lanes (KvasirCellsView *self, KvasirRect space)
{
  double head = kvasir_view_units (&self->base, HEAD_HEIGHT);
  double extra = space.h - measure_lanes (self);
  double y = space.y;
  self->lane_width = space.w;
  for (guint i = 0; i < self->n_lanes; i++)
    {
      KvasirCellsLane *lane = &self->lanes[i];
      double height = get_min_grid_height (self, lane) + extra * get_share (self, lane);
      KvasirRect rest = { space.x, y + head, space.w, height };
      guint size = get_lane_size (self, lane);
      lane->head_y = y + head / 2;
      kvasir_grid_fit (&lane->grid, size, rest, self->base.scale);
      double zoomed = zoom_sizes[self->zoom];
      if (zoomed > lane->grid.cell_w / self->base.scale)
        kvasir_grid_zoom (&lane->grid, size, rest, self->base.scale, zoomed, self->first_row);
      y += head + height;
    }
}

/* @text_x: where the figures stand; the tracks end before them. */
static void
place_bars (KvasirCellsView *self, double y, double width, double text_x)
{
  self->bar_pitch = kvasir_view_units (&self->base, 23);
  self->bars = (KvasirRect){ LEFT + kvasir_view_units (&self->base, GUTTER),
                             y + kvasir_view_units (&self->base, HEAD_HEIGHT), width,
                             self->n_bars * self->bar_pitch };
  self->bars_text_x = text_x;
}

/* Tracks and figures both below the cells. */
static void
place_bars_below (KvasirCellsView *self, double y, double space)
{
  double width = MAX (space - kvasir_view_units (&self->base, 136), 40);
  place_bars (self, y, width, LEFT + kvasir_view_units (&self->base, GUTTER) + width + 10);
}

static void
layout_wide (KvasirCellsView *self, double column_width)
{
  double gutter = kvasir_view_units (&self->base, GUTTER);
  double head = kvasir_view_units (&self->base, HEAD_HEIGHT);
  double bars_height = head + self->n_bars * kvasir_view_units (&self->base, 23) + MARGIN;
  double column_x = self->base.width - MARGIN - column_width;
  double space = column_x - SIDE_GAP - LEFT - gutter;
  kvasir_cells_view_fill_legend (self, (KvasirRect){ column_x, MARGIN / 2.0, column_width, 0 });
  double legend_end = kvasir_legend_get_end (self->legend);
  self->base.min_height =
      MAX (measure_lanes (self) + bars_height + MARGIN, legend_end + MARGIN / 2.0);
  double height = MAX (self->base.height, self->base.min_height);
  place_lanes (self, (KvasirRect){ LEFT + gutter, 4, space, height - bars_height - MARGIN });
  const KvasirGrid *last = &self->lanes[self->n_lanes - 1].grid;
  double y = MIN (last->rect.y + last->rect.h + MARGIN * 2, height - bars_height);
  /* The figures stand in the legend's column where that has ended by then. */
  if (legend_end <= y + head)
    place_bars (self, y, last->rect.w, column_x);
  else
    place_bars_below (self, y, space);
}

/* No room beside the cells: the legend goes below the bars. */
static void
layout_narrow (KvasirCellsView *self)
{
  double gutter = kvasir_view_units (&self->base, GUTTER);
  double space = MAX (self->base.width - MARGIN - LEFT - gutter, 64);
  double lanes_height = MAX (measure_lanes (self), MIN (space, 420));
  place_lanes (self, (KvasirRect){ LEFT + gutter, 4, space, lanes_height });
  const KvasirGrid *last = &self->lanes[self->n_lanes - 1].grid;
  place_bars_below (self, last->rect.y + last->rect.h + MARGIN, space);
  kvasir_cells_view_fill_legend (self, (KvasirRect){ MARGIN, self->bars.y + self->bars.h + MARGIN,
                                                     self->base.width - 2 * MARGIN, 0 });
  self->base.min_height = kvasir_legend_get_end (self->legend) + MARGIN;
}

static void
cells_view_layout (KvasirView *view)
{
  KvasirCellsView *self = cells_view (view);
  double unit = kvasir_view_units (view, 1);
  clear_layout (self);
  if (view->data.cells == NULL || view->data.cells->n_caches == 0)
    return;
  view->has_data = TRUE;
  make_holdings (self);
  if (view->data.memory != NULL)
    self->memory = kvasir_memory_sums_new (view->data.memory);
  self->n_bars = MIN (self->holdings[0]->n_seqs, MAX_BARS);
  self->axis_end = get_axis_end (self->holdings[0]);
  if (view->width >= 520 * unit)
    layout_wide (self, CLAMP (view->width * 0.28, 180 * unit, 250 * unit));
  else
    layout_narrow (self);
}

/* ---- points */

static gboolean
hit_bars (KvasirCellsView *self, double x, double y, KvasirThing *thing)
{
  if (!kvasir_rect_has (&self->bars, x, y))
    return FALSE;
  guint index = (guint) ((y - self->bars.y) / self->bar_pitch);
  gint32 pos = (gint32) ((x - self->bars.x) / self->bars.w * self->axis_end);
  const KvasirHolding *holding = &self->holdings[0]->seqs[MIN (index, self->n_bars - 1)];
  const KvasirPosRun *run = kvasir_holdings_find_position (self->holdings[0], holding->seq, pos);
  *thing = (KvasirThing){ KVASIR_THING_SEQUENCE, .seq = (gint) holding->seq };
  if (run != NULL)
    *thing = (KvasirThing){ KVASIR_THING_CELL, .stream = run->stream,
                            .cell = run->cell + (guint) (pos - run->pos) };
  return TRUE;
}

static gboolean
cells_view_hit (KvasirView *view, double x, double y, KvasirThing *thing)
{
  KvasirCellsView *self = cells_view (view);
  for (guint i = 0; i < self->n_lanes; i++)
    {
      gint64 cell = kvasir_grid_hit (&self->lanes[i].grid, x, y);
      if (cell < 0)
        continue;
      *thing = (KvasirThing){ KVASIR_THING_CELL, .cache = self->lanes[i].cache,
                              .stream = self->lanes[i].stream, .cell = (guint) cell };
      return TRUE;
    }
  return kvasir_legend_hit (self->legend, x, y, thing) ||
         (self->n_bars > 0 && hit_bars (self, x, y, thing));
}

/* ---- cursor and zoom */

static gboolean
set_first_row (KvasirCellsView *self, gint64 row)
{
  const KvasirGrid *grid = &self->lanes[0].grid;
  guint last = grid->n_rows - MIN (grid->n_visible, grid->n_rows);
  guint clamped = (guint) CLAMP (row, 0, (gint64) last);
  gboolean changed = clamped != self->first_row;
  self->first_row = clamped;
  return changed;
}

static gboolean
cells_view_reveal (KvasirView *view, const KvasirThing *thing)
{
  KvasirCellsView *self = cells_view (view);
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (KvasirCellRun));
  const KvasirGrid *grid = &self->lanes[0].grid;
  guint cell = thing->cell;
  kvasir_cells_view_collect (self, thing, runs);
  if (runs->len > 0)
    cell = g_array_index (runs, KvasirCellRun, 0).cell;
  else if (thing->kind != KVASIR_THING_CELL)
    return FALSE;
  gint64 row = cell / grid->per_row;
  if (self->zoom == 0 || (row >= grid->first_row && row < grid->first_row + grid->n_visible))
    return FALSE;
  gboolean above = row < grid->first_row;
  return set_first_row (self, above ? row : row - (gint64) grid->n_visible + 1);
}

static gint64
get_step (const KvasirGrid *grid, KvasirMove move)
{
  gint64 page = (gint64) grid->per_row * MIN (grid->n_visible, 8);
  switch (move)
    {
    case KVASIR_MOVE_LEFT:
      return -1;
    case KVASIR_MOVE_RIGHT:
      return 1;
    case KVASIR_MOVE_UP:
      return -(gint64) grid->per_row;
    case KVASIR_MOVE_DOWN:
      return grid->per_row;
    case KVASIR_MOVE_PAGE_UP:
      return -page;
    case KVASIR_MOVE_PAGE_DOWN:
      return page;
    case KVASIR_MOVE_FIRST:
      return -(gint64) grid->n_cells;
    case KVASIR_MOVE_LAST:
      return grid->n_cells;
    }
  g_return_val_if_reached (0);
}

static gboolean
cells_view_move (KvasirView *view, KvasirThing *thing, KvasirMove move)
{
  KvasirCellsView *self = cells_view (view);
  const KvasirCellsLane *lane =
      thing->kind == KVASIR_THING_CELL ? kvasir_cells_view_find_lane (self, thing) : NULL;
  if (lane == NULL)
    {
      /* Where the eye is: at what was written last. */
      guint head = kvasir_cells_view_get_stream (self, &self->lanes[0])->head;
      *thing = (KvasirThing){ KVASIR_THING_CELL, .cache = self->lanes[0].cache,
                              .stream = self->lanes[0].stream, .cell = head > 0 ? head - 1 : 0 };
      return TRUE;
    }
  gint64 cell = (gint64) thing->cell + get_step (&lane->grid, move);
  gboolean jump = move == KVASIR_MOVE_FIRST || move == KVASIR_MOVE_LAST;
  if (!jump && (cell < 0 || cell >= lane->grid.n_cells))
    return FALSE;
  thing->cell = (guint) CLAMP (cell, 0, (gint64) lane->grid.n_cells - 1);
  return TRUE;
}

static gboolean
cells_view_translate (KvasirView *view, const KvasirThing *thing, KvasirThing *translated)
{
  KvasirCellsView *self = cells_view (view);
  *translated = *thing;
  if (thing->kind == KVASIR_THING_MASK || thing->kind == KVASIR_THING_DECODE)
    {
      *translated = (KvasirThing){ KVASIR_THING_CELL, .cache = thing->cache,
                                   .stream = thing->stream, .cell = thing->cell };
      return TRUE;
    }
  if (thing->kind == KVASIR_THING_POSITION)
    {
      const KvasirPosRun *run =
          kvasir_holdings_find_position (self->holdings[0], (guint) thing->seq, thing->pos);
      if (run == NULL)
        return FALSE;
      *translated = (KvasirThing){ KVASIR_THING_CELL, .stream = run->stream,
                                   .cell = run->cell + (guint) (thing->pos - run->pos) };
      return TRUE;
    }
  return thing->kind == KVASIR_THING_CELL || thing->kind == KVASIR_THING_SEQUENCE ||
         thing->kind == KVASIR_THING_MESSAGE || thing->kind == KVASIR_THING_RUNS;
}

/* The next size that differs from what is shown now. */
static guint
get_next_zoom (const KvasirCellsView *self, gint delta)
{
  const KvasirGrid *grid = &self->lanes[0].grid;
  gint zoom = (gint) self->zoom + delta;
  while (delta > 0 && zoom < (gint) G_N_ELEMENTS (zoom_sizes) - 1 &&
         zoom_sizes[zoom] <= grid->cell_w / self->base.scale)
    zoom++;
  return (guint) CLAMP (zoom, 0, (gint) G_N_ELEMENTS (zoom_sizes) - 1);
}

static gboolean
cells_view_zoom (KvasirView *view, gint delta, const KvasirThing *anchor)
{
  KvasirCellsView *self = cells_view (view);
  const KvasirGrid *grid = &self->lanes[0].grid;
  guint zoom = delta == 0 ? 0 : get_next_zoom (self, delta);
  guint head = kvasir_cells_view_get_stream (self, &self->lanes[0])->head;
  guint cell = head;
  if (zoom == self->zoom)
    return FALSE;
  if (anchor != NULL && anchor->kind == KVASIR_THING_CELL)
    cell = anchor->cell;
  else if (self->zoom > 0)
    cell = (grid->first_row + grid->n_visible / 2) * grid->per_row;
  self->zoom = zoom;
  /* The new rows are only known after a layout, which makes the lanes anew. */
  cells_view_layout (view);
  grid = &self->lanes[0].grid;
  set_first_row (self, (gint64) (cell / grid->per_row) - grid->n_visible / 2);
  return TRUE;
}

static gboolean
cells_view_scroll (KvasirView *view, double rows)
{
  KvasirCellsView *self = cells_view (view);
  return self->zoom > 0 && set_first_row (self, (gint64) self->first_row + (gint64) round (rows));
}

static gboolean
cells_view_follow (KvasirView *view)
{
  KvasirCellsView *self = cells_view (view);
  guint head = kvasir_cells_view_get_stream (self, &self->lanes[0])->head;
  KvasirThing newest = { KVASIR_THING_CELL, .cell = head > 0 ? head - 1 : 0 };
  return cells_view_reveal (view, &newest);
}

static gboolean
cells_view_can_focus (const KvasirThing *thing)
{
  return thing->kind == KVASIR_THING_SEQUENCE || thing->kind == KVASIR_THING_SHARED ||
         thing->kind == KVASIR_THING_FREE;
}

static const KvasirViewClass cells_view_class = {
  .needs = KVASIR_VIEW_CELLS | KVASIR_VIEW_MEMORY,
  .free = cells_view_free,
  .layout = cells_view_layout,
  .draw = kvasir_cells_view_draw,
  .hit = cells_view_hit,
  .draw_mark = kvasir_cells_view_draw_mark,
  .move = cells_view_move,
  .translate = cells_view_translate,
  .describe = kvasir_cells_view_describe,
  .append_text = kvasir_cells_view_append_text,
  .can_focus = cells_view_can_focus,
  .zoom = cells_view_zoom,
  .scroll = cells_view_scroll,
  .follow = cells_view_follow,
  .reveal = cells_view_reveal,
};

KvasirView *
kvasir_cells_view_new (void)
{
  KvasirCellsView *self = g_new0 (KvasirCellsView, 1);
  kvasir_view_init (&self->base, &cells_view_class);
  self->legend = kvasir_legend_new ();
  return &self->base;
}
