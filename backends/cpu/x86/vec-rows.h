/* backends/cpu/x86/vec-rows.h - sums over rows, and lines of recurrent states
 *
 * Included after vec-kernels.h. Ends of rows are loaded as 0, so that they add nothing.
 */
#pragma once

#include "backends/cpu/x86/vec-kernels.h"

static float
sum (const float *x, int64_t n)
{
  Vec total = vec_set1 (0);
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    total = vec_add (total, vec_load (x + i));
  if (i < n)
    total = vec_add (total, vec_load_n (x + i, (int) (n - i)));
  return vec_sum (total);
}

static float
squares (const float *x, float mean, int64_t n)
{
  Vec total = vec_set1 (0), center = vec_set1 (mean);
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    {
      Vec v = vec_sub (vec_load (x + i), center);
      total = vec_fma (v, v, total);
    }
  float rest = 0;
  for (; i < n; i++)
    rest += (x[i] - mean) * (x[i] - mean);
  return vec_sum (total) + rest;
}

static float
dot (const float *a, const float *b, int64_t n)
{
  Vec sums[2] = { vec_set1 (0), vec_set1 (0) };
  int64_t i = 0;

  for (; i + 2 * LANES <= n; i += 2 * LANES)
    {
      sums[0] = vec_fma (vec_load (a + i), vec_load (b + i), sums[0]);
      sums[1] = vec_fma (vec_load (a + i + LANES), vec_load (b + i + LANES), sums[1]);
    }
  for (; i < n; i += LANES)
    {
      int left = n - i < LANES ? (int) (n - i) : LANES;
      sums[0] = vec_fma (vec_load_n (a + i, left), vec_load_n (b + i, left), sums[0]);
    }
  return vec_sum (vec_add (sums[0], sums[1]));
}

INLINE float
max_of (const float *x, int64_t n)
{
  Vec top = vec_set1 (-INFINITY);
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    top = vec_max (top, vec_load (x + i));
  float max = vec_max_of_lanes (top);
  for (; i < n; i++)
    max = x[i] > max ? x[i] : max;
  return max;
}

static void
softmax_row (const float *x, float *y, int64_t n)
{
  Vec max = vec_set1 (max_of (x, n));
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store (y + i, vec_exp (vec_sub (vec_load (x + i), max)));
  if (i < n)
    {
      int left = (int) (n - i);
      vec_store_n (y + i, vec_exp (vec_sub (vec_load_n (x + i, left), max)), left);
    }
  scale (y, 1 / sum (y, n), 0, y, n);
}

static void
add_scaled (const float *x, float factor, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] += factor * x[i];
}

/* Whole vectors without a mask, which some processors are slow with. */
INLINE Vec
load_lanes (const float *p, const int n)
{
  return n == LANES ? vec_load (p) : vec_load_n (p, n);
}

/* @n lanes from @i on. */
INLINE Vec
update_lanes (const KvasirUpdate *update, Vec a, Vec b, float *line, int64_t i, const int n)
{
  Vec s = vec_mul (load_lanes (line + i, n), load_lanes (update->decay + i, n));

  s = vec_fma (a, load_lanes (update->u + i, n), s);
  if (update->v != NULL)
    s = vec_fma (b, load_lanes (update->v + i, n), s);
  if (n == LANES)
    vec_store (line + i, s);
  else
    vec_store_n (line + i, s, n);
  return vec_mul (s, load_lanes (update->read + i, n));
}

static float
update_line (const KvasirUpdate *update, float a, float b, float *line)
{
  Vec total = vec_set1 (0), va = vec_set1 (a), vb = vec_set1 (b);
  int64_t n = update->n, i = 0;

  for (; i + LANES <= n; i += LANES)
    total = vec_add (total, update_lanes (update, va, vb, line, i, LANES));
  if (i < n)
    total = vec_add (total, update_lanes (update, va, vb, line, i, (int) (n - i)));
  return vec_sum (total);
}
