#include <float.h>
#include <math.h>
#include <string.h>

#include "engine/sampling/passes.h"

#define N_BLOCKS 37

typedef struct
{
  float logits[N_BLOCKS * KVASIR_BLOCK];
  const float *blocks[N_BLOCKS];
  float peak;
  float scale;
} Row;

/* What a row gives, but for addresses. */
typedef struct
{
  float maxima[N_BLOCKS];
  guint8 odd[N_BLOCKS];
  float masses[N_BLOCKS];
  double moment;
  double sum;
  double squares;
  guint n_there;
  guint n_above;
  guint64 found[N_BLOCKS];
  guint64 equal[N_BLOCKS];
  guint n_taken[N_BLOCKS];
  float taken[N_BLOCKS * KVASIR_BLOCK];
  float floored[N_BLOCKS * KVASIR_BLOCK];
  float weights[N_BLOCKS * KVASIR_BLOCK];
  gint32 buckets[N_BLOCKS * KVASIR_BLOCK];
} Result;

static float
draw_logit (gboolean usable)
{
  gint kind = g_test_rand_int_range (0, 100);
  if (kind < 5)
    return -INFINITY;
  if (kind < 7)
    return -FLT_MAX;
  if (kind < 20)
    return (float) g_test_rand_int_range (-3, 4);
  if (!usable && kind < 22)
    return NAN;
  if (!usable && kind < 24)
    return INFINITY;
  return (float) g_test_rand_double_range (-120.0, 20.0);
}

/* Blocks lie in any order, as those that were changed do. */
static void
make_row (Row *row, gboolean usable)
{
  row->peak = -INFINITY;
  for (guint i = 0; i < N_BLOCKS * KVASIR_BLOCK; i++)
    row->logits[i] = draw_logit (usable);
  for (guint i = 0; i < KVASIR_BLOCK; i++)
    row->logits[i] = -INFINITY;
  for (guint b = 0; b < N_BLOCKS; b++)
    row->blocks[b] = row->logits + (b * 5 % N_BLOCKS) * KVASIR_BLOCK;
  for (guint i = 0; i < N_BLOCKS * KVASIR_BLOCK; i++)
    if (row->logits[i] > row->peak)
      row->peak = row->logits[i];
  row->scale = (float) g_test_rand_double_range (0.2, 3.0);
}

static void
run_passes (const KvasirPasses *passes, const Row *row, float bound, Result *r)
{
  float room[KVASIR_BLOCK + 16];

  memset (r, 0, sizeof *r);
  passes->scan (row->blocks, N_BLOCKS, r->maxima, r->odd);
  passes->weigh (row->blocks, r->maxima, N_BLOCKS, row->peak, row->scale, r->masses);
  r->moment = passes->moment (row->blocks, r->maxima, N_BLOCKS, row->peak, row->scale);
  r->n_there = passes->spread (row->blocks, N_BLOCKS, row->peak, &r->sum, &r->squares);
  r->n_above = passes->count (row->blocks, r->maxima, N_BLOCKS, bound, G_MAXUINT);
  for (guint b = 0; b < N_BLOCKS; b++)
    {
      guint at = b * KVASIR_BLOCK;
      r->found[b] = passes->find (row->blocks[b], bound, bound + 9.0f);
      r->n_taken[b] = passes->take (row->blocks[b], bound, room);
      memcpy (r->taken + at, room, r->n_taken[b] * sizeof *room);
      r->equal[b] = passes->floor (row->blocks[b], bound, r->floored + at);
      passes->sort (row->blocks[b], row->peak, row->scale, r->weights + at, r->buckets + at);
    }
}

/* The same bits from all widths that this processor has. */
static void
test_widths (void)
{
  static const KvasirPassesKind kinds[] = { KVASIR_PASSES_AVX2, KVASIR_PASSES_AVX512 };
  g_autofree Row *row = g_new (Row, 1);
  g_autofree Result *plain = g_new (Result, 1);
  g_autofree Result *wide = g_new (Result, 1);

  for (guint round = 0; round < 200; round++)
    {
      make_row (row, TRUE);
      float bound = (float) g_test_rand_int_range (-3, 4);
      run_passes (kvasir_passes_get (KVASIR_PASSES_PLAIN), row, bound, plain);
      for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
        {
          const KvasirPasses *passes = kvasir_passes_get (kinds[k]);
          if (passes == NULL)
            continue;
          run_passes (passes, row, bound, wide);
          g_assert_cmpmem (plain, sizeof *plain, wide, sizeof *wide);
        }
    }
}

/* What is no number or too much is told by all, whatever else is in the block. */
static void
test_odd_blocks (void)
{
  g_autofree Row *row = g_new (Row, 1);
  float maxima[N_BLOCKS];
  guint8 odd[N_BLOCKS];

  for (guint round = 0; round < 200; round++)
    {
      make_row (row, FALSE);
      for (int kind = KVASIR_PASSES_PLAIN; kind <= (int) KVASIR_PASSES_AVX512; kind++)
        {
          const KvasirPasses *passes = kvasir_passes_get (kind);
          if (passes == NULL)
            continue;
          passes->scan (row->blocks, N_BLOCKS, maxima, odd);
          for (guint b = 0; b < N_BLOCKS; b++)
            {
              gboolean expected = FALSE;
              for (guint i = 0; i < KVASIR_BLOCK; i++)
                expected |= isnan (row->blocks[b][i]) || row->blocks[b][i] == INFINITY;
              g_assert_cmpint (odd[b], ==, expected);
            }
        }
    }
}

static void
check_block (const Row *row, const Result *r, guint b, float bound)
{
  double mass = 0.0;
  float max = -INFINITY;
  guint n_taken = 0;
  for (guint i = 0; i < KVASIR_BLOCK; i++)
    {
      float v = row->blocks[b][i];
      guint at = b * KVASIR_BLOCK + i;
      if (v >= bound)
        g_assert_cmpfloat (r->taken[b * KVASIR_BLOCK + n_taken++], ==, v);
      double depth = ((double) v - (double) row->peak) * (double) row->scale;
      double weight = exp (depth);
      mass += weight;
      max = MAX (max, v);
      g_assert_cmpfloat (fabs ((double) r->weights[at] - weight), <=,
                         (2e-7 - 2e-7 * MAX (depth, -200.0)) * weight + 2e-38);
      g_assert_cmpint (r->found[b] >> i & 1, ==, v >= bound && v < bound + 9.0f);
      g_assert_cmpint (r->equal[b] >> i & 1, ==, v == bound);
      g_assert_cmpfloat (r->floored[at], ==, v >= bound ? v : -INFINITY);
      g_assert_cmpfloat (fabs (MIN (depth * -8.0, 1023.0) - ((double) r->buckets[at] + 0.5)), <=,
                         0.5 + 1e-3);
    }
  g_assert_cmpfloat (r->maxima[b], ==, max);
  g_assert_cmpfloat (fabs ((double) r->masses[b] - mass), <=, 4e-6 * mass + 1e-35);
  g_assert_cmpuint (r->n_taken[b], ==, n_taken);
}

static void
test_values (void)
{
  g_autofree Row *row = g_new (Row, 1);
  g_autofree Result *r = g_new (Result, 1);

  for (guint round = 0; round < 50; round++)
    {
      double sum = 0.0, squares = 0.0, moment = 0.0;
      guint n = 0, n_above = 0;
      make_row (row, TRUE);
      float bound = (float) g_test_rand_int_range (-3, 4);
      for (guint i = 0; i < N_BLOCKS * KVASIR_BLOCK; i++)
        if (row->logits[i] == -FLT_MAX)
          row->logits[i] = -100.0f;
      run_passes (kvasir_passes_get_best (), row, bound, r);
      for (guint b = 0; b < N_BLOCKS; b++)
        check_block (row, r, b, bound);
      for (guint i = 0; i < N_BLOCKS * KVASIR_BLOCK; i++)
        {
          double x = (double) row->logits[i] - (double) row->peak;
          n_above += row->logits[i] >= bound;
          if (row->logits[i] == -INFINITY)
            continue;
          n++;
          sum += x;
          squares += x * x;
          moment += exp (x * (double) row->scale) * x * (double) row->scale / G_LN2;
        }
      g_assert_cmpuint (r->n_there, ==, n);
      g_assert_cmpuint (r->n_above, ==, n_above);
      g_assert_cmpfloat (fabs (r->sum - sum), <=, 1e-6 * fabs (sum));
      g_assert_cmpfloat (fabs (r->squares - squares), <=, 1e-6 * squares);
      g_assert_cmpfloat (fabs (r->moment - moment), <=, 1e-5 * fabs (moment) + 1e-6);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/sampling/passes/same-bits-at-all-widths", test_widths);
  g_test_add_func ("/engine/sampling/passes/odd-blocks-are-told", test_odd_blocks);
  g_test_add_func ("/engine/sampling/passes/right-values", test_values);
  return g_test_run ();
}
