/* The rule for zoomed-out pictures: what is rare does not vanish. */
#include <math.h>

#include "viz/buckets.h"

#define MAX_RUNS 200
#define MAX_PIXELS 600

typedef struct
{
  KvasirCategoryRun runs[MAX_RUNS];
  guint n_runs;
  guint64 cells[KVASIR_MAX_CATEGORIES];
  guint64 n_cells;
} Row;

static void
fill (Row *row, GRand *rand)
{
  guint n_categories = (guint) g_rand_int_range (rand, 1, KVASIR_MAX_CATEGORIES + 1);
  gint longest = g_rand_int_range (rand, 2, 3000);
  *row = (Row){ .n_runs = (guint) g_rand_int_range (rand, 1, MAX_RUNS) };
  for (guint i = 0; i < row->n_runs; i++)
    {
      KvasirCategoryRun *run = &row->runs[i];
      run->n = (guint) g_rand_int_range (rand, 1, longest);
      run->category = (guint) g_rand_int_range (rand, 0, (gint) n_categories);
      row->cells[run->category] += run->n;
      row->n_cells += run->n;
    }
}

/* |pixels x cells per pixel - cells| is below one pixel for every category of every row. */
static void
test_conservation (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint8 pixels[MAX_PIXELS];
  for (guint round = 0; round < 2000; round++)
    {
      Row row;
      guint64 counts[KVASIR_MAX_CATEGORIES] = { 0 };
      guint n_pixels = (guint) g_rand_int_range (rand, 1, MAX_PIXELS + 1);
      fill (&row, rand);
      kvasir_buckets_share (row.runs, row.n_runs, pixels, n_pixels);
      for (guint i = 0; i < n_pixels; i++)
        counts[pixels[i]]++;
      double per_pixel = (double) row.n_cells / n_pixels;
      for (guint c = 0; c < KVASIR_MAX_CATEGORIES; c++)
        g_assert_cmpfloat (fabs ((double) counts[c] * per_pixel - (double) row.cells[c]), <,
                           per_pixel + 1e-6);
    }
}

static void
test_one_to_one (void)
{
  const KvasirCategoryRun runs[] = { { 3, 1 }, { 1, 0 }, { 2, 2 } };
  const guint8 expected[] = { 1, 1, 1, 0, 2, 2 };
  guint8 pixels[6];
  kvasir_buckets_share (runs, G_N_ELEMENTS (runs), pixels, 6);
  g_assert_cmpmem (pixels, sizeof pixels, expected, sizeof expected);
}

/* Majority colouring would show no free cell at all here. */
static void
test_rare (void)
{
  KvasirCategoryRun runs[128];
  guint8 pixels[64];
  guint n_free = 0;
  for (guint i = 0; i < 128; i++)
    runs[i] = (KvasirCategoryRun){ i % 2 == 0 ? 15 : 1, i % 2 == 0 ? 1 : 0 };
  kvasir_buckets_share (runs, 128, pixels, 64);
  for (guint i = 0; i < 64; i++)
    n_free += pixels[i] == 0;
  g_assert_cmpuint (n_free, ==, 4);
}

/* A block of a kind stays where it is: its pixels lie within a pixel of its place. */
static void
test_place (void)
{
  const KvasirCategoryRun runs[] = { { 4000, 0 }, { 400, 1 }, { 3600, 0 } };
  guint8 pixels[100];
  kvasir_buckets_share (runs, G_N_ELEMENTS (runs), pixels, 100);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (pixels[i], ==, i >= 50 && i < 55 ? 1 : 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/viz/buckets/pixels-are-in-proportion-in-every-row", test_conservation);
  g_test_add_func ("/viz/buckets/one-pixel-per-cell-keeps-the-order", test_one_to_one);
  g_test_add_func ("/viz/buckets/what-is-rare-stays", test_rare);
  g_test_add_func ("/viz/buckets/blocks-stay-in-place", test_place);
  return g_test_run ();
}
