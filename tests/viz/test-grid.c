/* Geometry of the cells: every cell has its place, and a point finds the cell that was drawn there.
 */
#include "viz/grid.h"

static const guint sizes[] = { 1, 32, 256, 1000, 4096, 16384, 32768, 131072, 1048576 };
static const KvasirRect spaces[] = { { 61, 28, 512, 600 },
                                     { 10.3, 7.7, 300, 256 },
                                     { 0, 0, 1100, 900 } };

static void
check_hit (const KvasirGrid *grid, guint cell)
{
  KvasirRect rect;
  g_assert_true (kvasir_grid_get_rect (grid, cell, &rect));
  gint64 hit = kvasir_grid_hit (grid, rect.x + rect.w / 2, rect.y + rect.h / 2);
  g_assert_cmpint (hit, <=, cell);
  g_assert_cmpint (hit + grid->bucket, >, cell);
}

static void
test_round_trip (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (spaces) * 2; j++)
      {
        KvasirGrid grid;
        kvasir_grid_fit (&grid, sizes[i], spaces[j / 2], 1 + j % 2);
        for (guint n = 0; n < 500; n++)
          check_hit (&grid, (guint) g_rand_int_range (rand, 0, (gint) sizes[i]));
        check_hit (&grid, 0);
        check_hit (&grid, sizes[i] - 1);
      }
}

static void
test_stays_inside (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (spaces); j++)
      {
        KvasirGrid grid;
        kvasir_grid_fit (&grid, sizes[i], spaces[j], 1);
        g_assert_cmpfloat (grid.rect.w, <=, spaces[j].w);
        g_assert_cmpfloat (grid.rect.h, <=, spaces[j].h);
        g_assert_cmpint (kvasir_grid_hit (&grid, grid.rect.x - 1, grid.rect.y), ==, -1);
        g_assert_cmpint (kvasir_grid_hit (&grid, grid.rect.x, grid.rect.y + grid.rect.h), ==, -1);
      }
}

/* 64 cells per row up to 16 384 cells, 256 beyond, so that an index can be computed. */
static void
test_row_width (void)
{
  const KvasirRect space = { 0, 0, 1100, 1024 };
  KvasirGrid grid;
  kvasir_grid_fit (&grid, 4096, space, 1);
  g_assert_cmpuint (grid.per_row, ==, 64);
  kvasir_grid_fit (&grid, 16384, space, 1);
  g_assert_cmpuint (grid.per_row, ==, 64);
  kvasir_grid_fit (&grid, 32768, space, 1);
  g_assert_cmpuint (grid.per_row, ==, 256);
  kvasir_grid_fit (&grid, 262144, space, 1);
  g_assert_cmpuint (grid.per_row, ==, 256);
  g_assert_cmpuint (grid.bucket, ==, 1);
}

static void
test_zoom (void)
{
  const KvasirRect space = { 50, 20, 430, 500 };
  KvasirGrid grid;
  guint first, end;
  KvasirRect rect;
  kvasir_grid_zoom (&grid, 4096, space, 1, 52, 100);
  kvasir_grid_get_visible (&grid, &first, &end);
  g_assert_cmpuint (grid.per_row, ==, 8);
  g_assert_cmpuint (first, ==, 800);
  g_assert_cmpuint (end, ==, 800 + 9 * 8);
  for (guint cell = first; cell < end; cell++)
    check_hit (&grid, cell);
  g_assert_false (kvasir_grid_get_rect (&grid, first - 1, &rect));
  g_assert_false (kvasir_grid_get_rect (&grid, end, &rect));
  /* Scrolled past the end, the last rows stay in sight. */
  kvasir_grid_zoom (&grid, 4096, space, 1, 52, 100000);
  kvasir_grid_get_visible (&grid, &first, &end);
  g_assert_cmpuint (first, ==, 4096 - 9 * 8);
  g_assert_cmpuint (end, ==, 4096);
}

static gboolean
is_inside (cairo_t *cr, const KvasirGrid *grid, guint cell)
{
  KvasirRect rect;
  g_assert_true (kvasir_grid_get_rect (grid, cell, &rect));
  return cairo_in_fill (cr, rect.x + rect.w / 2, rect.y + rect.h / 2);
}

/* The outline of a run holds exactly the cells of the run. */
static void
test_outline (void)
{
  const guint runs[][2] = {
    { 3, 10 }, { 60, 8 }, { 10, 200 }, { 64, 64 }, { 100, 30 }, { 40, 64 }
  };
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_A8, 8, 8);
  cairo_t *cr = cairo_create (surface);
  KvasirGrid grid;
  kvasir_grid_fit (&grid, 512, (KvasirRect){ 40, 30, 700, 200 }, 1);
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++)
    {
      cairo_new_path (cr);
      g_assert_true (kvasir_grid_add_run (&grid, cr, runs[i][0], runs[i][1], 0.5));
      for (guint cell = 0; cell < 512; cell++)
        g_assert_cmpint (is_inside (cr, &grid, cell), ==,
                         cell >= runs[i][0] && cell < runs[i][0] + runs[i][1]);
    }
  cairo_destroy (cr);
  cairo_surface_destroy (surface);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/grid/centre-of-a-cell-hits-the-cell", test_round_trip);
  g_test_add_func ("/viz/grid/stays-in-its-space", test_stays_inside);
  g_test_add_func ("/viz/grid/rows-are-64-or-256-cells", test_row_width);
  g_test_add_func ("/viz/grid/zoomed-rows-scroll-and-stop-at-the-end", test_zoom);
  g_test_add_func ("/viz/grid/outline-holds-exactly-its-run", test_outline);
  return g_test_run ();
}
