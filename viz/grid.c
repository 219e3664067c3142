#include "viz/grid.h"

#include <math.h>

/* From here on rows are 256 cells long, as far as the engine's padding goes. */
#define LONG_ROWS_FROM 16384
#define MAX_FIT_SIZE 12.0
/* Boxes may be wider than high when height is short, up to this. */
#define MAX_ASPECT 3

static guint
round_down_to_power (guint n)
{
  guint power = 1;
  while (power * 2 <= n && power < (1u << 30))
    power *= 2;
  return power;
}

static guint
count_rows (guint n_cells, guint per_row)
{
  return (n_cells + per_row - 1) / per_row;
}

static void
finish (KvasirGrid *self, KvasirRect space)
{
  self->gap = MIN (self->cell_w, self->cell_h) >= 4 ? MAX (1, (gint) self->scale) : 0;
  self->rect.x = round (space.x * self->scale) / self->scale;
  self->rect.y = round (space.y * self->scale) / self->scale;
  self->rect.w = self->cell_w * (double) (self->per_row / self->bucket) / self->scale;
  self->rect.h = self->cell_h * (double) self->n_visible / self->scale;
}

/* One pixel per bucket: as wide as a power of two allows, the smallest bucket that fits. */
static void
fit_buckets (KvasirGrid *self, gint width, gint height)
{
  guint row_pixels = round_down_to_power ((guint) width);
  self->bucket = 1;
  while (count_rows (self->n_cells, row_pixels * self->bucket) > (guint) height)
    self->bucket *= 2;
  self->per_row = row_pixels * self->bucket;
  self->cell_w = self->cell_h = 1;
}

void
kvasir_grid_fit (KvasirGrid *self, guint n_cells, KvasirRect space, double scale)
{
  gint width = MAX (1, (gint) floor (space.w * scale));
  gint height = MAX (1, (gint) floor (space.h * scale));
  gint largest = (gint) (MAX_FIT_SIZE * scale);
  *self = (KvasirGrid){ .n_cells = n_cells, .bucket = 1, .scale = scale };
  self->per_row = MIN (n_cells > LONG_ROWS_FROM ? 256 : 64, MAX (n_cells, 1));
  guint n_rows = MAX (count_rows (n_cells, self->per_row), 1);
  self->cell_h = MIN (height / (gint) n_rows, largest);
  self->cell_w = MIN (width / (gint) self->per_row, largest);
  if (self->cell_h < 1 || self->cell_w < 1)
    fit_buckets (self, width, height);
  self->cell_h = MIN (self->cell_h, self->cell_w);
  self->cell_w = MIN (self->cell_w, self->cell_h * MAX_ASPECT);
  self->n_rows = count_rows (n_cells, self->per_row);
  self->n_visible = self->n_rows;
  finish (self, space);
}

void
kvasir_grid_zoom (
    KvasirGrid *self, guint n_cells, KvasirRect space, double scale, double size, guint first_row)
{
  guint longest = n_cells > LONG_ROWS_FROM ? 256 : 64;
  guint fits_across = MAX ((guint) (space.w / size), 1);
  guint fits_down = MAX ((guint) (space.h / size), 1);
  *self = (KvasirGrid){ .n_cells = n_cells, .bucket = 1, .scale = scale };
  self->cell_w = self->cell_h = (gint) round (size * scale);
  self->per_row = MIN (round_down_to_power (fits_across), longest);
  self->n_rows = count_rows (n_cells, self->per_row);
  self->n_visible = MIN (fits_down, self->n_rows);
  self->first_row = MIN (first_row, self->n_rows - self->n_visible);
  finish (self, space);
}

gint64
kvasir_grid_hit (const KvasirGrid *self, double x, double y)
{
  if (!kvasir_rect_has (&self->rect, x, y))
    return -1;
  guint column = (guint) ((x - self->rect.x) * self->scale) / (guint) self->cell_w;
  guint row = (guint) ((y - self->rect.y) * self->scale) / (guint) self->cell_h;
  gint64 cell = (gint64) (self->first_row + row) * self->per_row + column * self->bucket;
  return cell < self->n_cells ? cell : -1;
}

void
kvasir_grid_get_visible (const KvasirGrid *self, guint *first, guint *end)
{
  *first = self->first_row * self->per_row;
  *end = (guint) MIN ((guint64) (self->first_row + self->n_visible) * self->per_row, self->n_cells);
}

/* Corner of a cell, counted in rows in sight; logical pixels. */
static double
column_x (const KvasirGrid *self, guint cell)
{
  return self->rect.x + (cell % self->per_row / self->bucket) * (double) self->cell_w / self->scale;
}

static double
row_y (const KvasirGrid *self, guint cell)
{
  return self->rect.y +
         (cell / self->per_row - self->first_row) * (double) self->cell_h / self->scale;
}

gboolean
kvasir_grid_get_rect (const KvasirGrid *self, guint cell, KvasirRect *rect)
{
  guint first, end;
  kvasir_grid_get_visible (self, &first, &end);
  if (cell < first || cell >= end)
    return FALSE;
  *rect = (KvasirRect){ column_x (self, cell), row_y (self, cell),
                        (self->cell_w - self->gap) / self->scale,
                        (self->cell_h - self->gap) / self->scale };
  return TRUE;
}

/* A run over several rows as one outline: the first and the last row may be short. */
static void
add_steps (cairo_t *cr, const KvasirRect *top, const KvasirRect *bottom, const KvasirRect *all)
{
  double right = all->x + all->w;
  cairo_move_to (cr, top->x, top->y);
  cairo_line_to (cr, right, top->y);
  cairo_line_to (cr, right, bottom->y);
  cairo_line_to (cr, bottom->x + bottom->w, bottom->y);
  cairo_line_to (cr, bottom->x + bottom->w, bottom->y + bottom->h);
  cairo_line_to (cr, all->x, bottom->y + bottom->h);
  cairo_line_to (cr, all->x, top->y + top->h);
  cairo_line_to (cr, top->x, top->y + top->h);
  cairo_close_path (cr);
}

gboolean
kvasir_grid_add_run (const KvasirGrid *self, cairo_t *cr, guint cell, guint n, double grow)
{
  guint first, end;
  KvasirRect top, bottom;
  kvasir_grid_get_visible (self, &first, &end);
  guint from = MAX (cell, first);
  guint to = MIN (cell + n, end);
  if (from >= to || !kvasir_grid_get_rect (self, from, &top) ||
      !kvasir_grid_get_rect (self, to - 1, &bottom))
    return FALSE;
  double right = bottom.x + bottom.w + grow;
  guint n_rows = (to - 1) / self->per_row - from / self->per_row;
  top =
      (KvasirRect){ top.x - grow, top.y - grow, self->rect.x + self->rect.w - top.x, top.h + grow };
  if (n_rows == 0)
    {
      cairo_rectangle (cr, top.x, top.y, right - top.x, top.h + grow);
      return TRUE;
    }
  bottom =
      (KvasirRect){ self->rect.x - grow, bottom.y, right - self->rect.x + grow, bottom.h + grow };
  KvasirRect all = { self->rect.x - grow, top.y, self->rect.w + grow * 2, 0 };
  if (n_rows == 1 && top.x > bottom.x + bottom.w)
    {
      cairo_rectangle (cr, top.x, top.y, all.x + all.w - top.x, top.h + grow);
      cairo_rectangle (cr, bottom.x, bottom.y - grow, bottom.w, bottom.h + grow);
      return TRUE;
    }
  add_steps (cr, &top, &bottom, &all);
  return TRUE;
}
