/* backends/cpu/x86/vec-kernels.h - the f32 kernels, written once over vec-avx2.h or vec-avx512.h
 *
 * Included by one file per instruction set, after its vectors. Plain loops are left to the
 * compiler where it does as well.
 */
#pragma once

#include <math.h>
#include <string.h>

#include "backends/cpu/kernels.h"
#include "backends/cpu/x86/vec-functions.h"

/* Bytes that weights are fetched ahead: the latency of memory at the speed one thread reads. */
#define PREFETCH_BYTES 3072

INLINE void
prefetch (const void *p)
{
  _mm_prefetch ((const char *) p + PREFETCH_BYTES, _MM_HINT_T0);
}

static void
add (const float *a, const float *b, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = a[i] + b[i];
}

static void
mul (const float *a, const float *b, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = a[i] * b[i];
}

static void
scale (const float *x, float factor, float bias, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * factor + bias;
}

INLINE void
unary_of_kind (const KvasirUnary kind, const float *x, float *y, int64_t n)
{
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store (y + i, apply_unary (kind, vec_load (x + i)));
  if (i < n)
    vec_store_n (y + i, apply_unary (kind, vec_load_n (x + i, (int) (n - i))), (int) (n - i));
}

INLINE void
glu_of_kind (const KvasirUnary kind, const float *gate, const float *up, float *y, int64_t n)
{
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store (y + i, apply_glu (kind, vec_load (gate + i), vec_load (up + i)));
  if (i < n)
    {
      int left = (int) (n - i);
      Vec g = vec_load_n (gate + i, left), u = vec_load_n (up + i, left);
      vec_store_n (y + i, apply_glu (kind, g, u), left);
    }
}

/* A loop per kind, so that the choice is not made in it. */
#define CASE(kind, call)                                                                           \
  case kind:                                                                                       \
    call (kind);                                                                                   \
    break
#define FOR_KIND(kind, call)                                                                       \
  switch (kind)                                                                                    \
    {                                                                                              \
      CASE (KVASIR_UNARY_SILU, call);                                                              \
      CASE (KVASIR_UNARY_GELU, call);                                                              \
      CASE (KVASIR_UNARY_RELU, call);                                                              \
      CASE (KVASIR_UNARY_SIGMOID, call);                                                           \
      CASE (KVASIR_UNARY_TANH, call);                                                              \
      CASE (KVASIR_UNARY_GELU_ERF, call);                                                          \
      CASE (KVASIR_UNARY_RELU_SQR, call);                                                          \
      CASE (KVASIR_UNARY_SOFTPLUS, call);                                                          \
      CASE (KVASIR_UNARY_EXP, call);                                                               \
      CASE (KVASIR_GLU_OAI, call);                                                                 \
    }

static void
unary (KvasirUnary kind, const float *x, float *y, int64_t n)
{
#define UNARY(constant) unary_of_kind (constant, x, y, n)
  FOR_KIND (kind, UNARY)
#undef UNARY
}

static void
glu (KvasirUnary kind, const float *gate, const float *up, float *y, int64_t n)
{
#define GLU(constant) glu_of_kind (constant, gate, up, y, n)
  FOR_KIND (kind, GLU)
#undef GLU
}

static void
rms_norm (const float *x, const float *weight, float eps, float *y, int64_t n)
{
  Vec sums[4] = { vec_set1 (0), vec_set1 (0), vec_set1 (0), vec_set1 (0) };
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    {
      Vec v = vec_load (x + i);
      sums[i / LANES % 4] = vec_fma (v, v, sums[i / LANES % 4]);
    }
  if (i < n)
    {
      Vec v = vec_load_n (x + i, (int) (n - i));
      sums[0] = vec_fma (v, v, sums[0]);
    }
  float sum = vec_sum (vec_add (vec_add (sums[0], sums[1]), vec_add (sums[2], sums[3])));
  float factor = 1 / sqrtf (sum / (float) n + eps);
  if (weight != NULL)
    for (i = 0; i < n; i++)
      y[i] = x[i] * factor * weight[i];
  else
    for (i = 0; i < n; i++)
      y[i] = x[i] * factor;
}

static void
rotate (const float *x, const float *table, int n_rot, bool neox, float *y)
{
  const float *cosines = table, *sines = table + n_rot / 2;
  int half = n_rot / 2;

  for (int i = 0; neox && i < half; i++)
    {
      float x0 = x[i], x1 = x[i + half];
      y[i] = x0 * cosines[i] - x1 * sines[i];
      y[i + half] = x0 * sines[i] + x1 * cosines[i];
    }
  for (int i = 0; !neox && i < half; i++)
    {
      float x0 = x[2 * i], x1 = x[2 * i + 1];
      y[2 * i] = x0 * cosines[i] - x1 * sines[i];
      y[2 * i + 1] = x0 * sines[i] + x1 * cosines[i];
    }
}

static void
transpose (const float *src, size_t src_stride, int n_rows, int n_cols, float *dst)
{
  for (int row = 0; row < KVASIR_TILE; row += LANES)
    for (int col = 0; col < n_cols; col += LANES)
      {
        const float *from = src + (size_t) row * src_stride + col;
        float *to = dst + (size_t) col * KVASIR_TILE + row;
        if (row + LANES <= n_rows && col + LANES <= n_cols)
          {
            vec_transpose (from, src_stride, to, KVASIR_TILE);
            continue;
          }
        for (int j = 0; j < LANES && col + j < n_cols; j++)
          for (int i = 0; i < LANES; i++)
            to[j * KVASIR_TILE + i] = row + i < n_rows ? from[(size_t) i * src_stride + j] : 0;
      }
}

/* @n_rows rows and @n_vecs vectors of columns, all sums in registers. @last: lanes of the last
 * vector that exist. */
INLINE void
dense_block (
    const KvasirDense *d, int row, int col, const int n_rows, const int n_vecs, const int last)
{
  const float *a = d->a + (size_t) row * d->a_stride, *b = d->b + col;
  float *c = d->c + (size_t) row * d->c_stride + col;
  Vec sums[DENSE_ROWS][DENSE_VECS];

  for (int r = 0; r < n_rows; r++)
    for (int v = 0; v < n_vecs; v++)
      sums[r][v] = vec_set1 (0);
  for (int i = 0; i < d->depth; i++, b += d->b_stride)
    {
      Vec bs[DENSE_VECS];
      for (int v = 0; v < n_vecs; v++)
        bs[v] = vec_load (b + v * LANES);
      for (int r = 0; r < n_rows; r++)
        {
          Vec as = vec_set1 (a[(size_t) r * d->a_stride + (size_t) i]);
          for (int v = 0; v < n_vecs; v++)
            sums[r][v] = vec_fma (as, bs[v], sums[r][v]);
        }
    }
  for (int r = 0; r < n_rows; r++)
    for (int v = 0; v < n_vecs; v++)
      {
        float *out = c + (size_t) r * d->c_stride + v * LANES;
        int lanes = v == n_vecs - 1 ? last : LANES;
        if (d->accumulate)
          sums[r][v] = vec_add (sums[r][v], vec_load_n (out, lanes));
        vec_store_n (out, sums[r][v], lanes);
      }
}

/* All rows of some vectors of columns. A block takes about as long with a row less, so that what
 * is left goes in as few as possible. */
INLINE void
dense_columns (const KvasirDense *d, int col, const int n_vecs, const int last)
{
  int row = 0;

  for (; row + DENSE_ROWS <= d->n_rows; row += DENSE_ROWS)
    dense_block (d, row, col, DENSE_ROWS, n_vecs, last);
  for (; row + 4 <= d->n_rows; row += 4)
    dense_block (d, row, col, 4, n_vecs, last);
  for (; row + 2 <= d->n_rows; row += 2)
    dense_block (d, row, col, 2, n_vecs, last);
  if (row < d->n_rows)
    dense_block (d, row, col, 1, n_vecs, last);
}

static void
dense (const KvasirDense *d)
{
  const int wide = DENSE_VECS * LANES;
  int col = 0;

  for (; col + wide <= d->n_cols; col += wide)
    dense_columns (d, col, DENSE_VECS, LANES);
  for (; col < d->n_cols; col += LANES)
    dense_columns (d, col, 1, d->n_cols - col < LANES ? d->n_cols - col : LANES);
}

INLINE float
max_of_open (const float *scores, uint64_t open, float max)
{
  Vec top = vec_set1 (max);

  for (int i = 0; i < KVASIR_TILE; i += LANES)
    {
      Vec s = vec_load (scores + i);
      if (~open != 0)
        s = vec_select (vec_mask (open >> i), s, vec_set1 (-INFINITY));
      top = vec_max (top, s);
    }
  return vec_max_of_lanes (top);
}

INLINE float
exp_of_open (float *scores, uint64_t open, float max)
{
  Vec total = vec_set1 (0);

  for (int i = 0; i < KVASIR_TILE; i += LANES)
    {
      Vec s = vec_exp (vec_sub (vec_load (scores + i), vec_set1 (max)));
      if (~open != 0)
        s = vec_select (vec_mask (open >> i), s, vec_set1 (0));
      total = vec_add (total, s);
      vec_store (scores + i, s);
    }
  return vec_sum (total);
}

/* Each step for all rows, so that none waits for its own. */
static void
softmax (const KvasirTileSoftmax *s)
{
  float tops[LANES] = { 0 }, factors[LANES];

  for (int i = 0; i < s->n; i++)
    tops[i] = max_of_open (s->scores + i * KVASIR_TILE, s->open[i], s->max[i]);
  vec_store (factors, vec_exp (vec_sub (vec_load_n (s->max, s->n), vec_load (tops))));
  for (int i = 0; i < s->n; i++)
    {
      float factor = s->open[i] != 0 ? factors[i] : 1;
      s->sum[i] =
          s->sum[i] * factor + exp_of_open (s->scores + i * KVASIR_TILE, s->open[i], tops[i]);
      s->max[i] = tops[i];
      s->factors[i] = factor;
    }
}

static void
f16_to_float (const void *row, float *out, int64_t n)
{
  const uint16_t *in = row;
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store (out + i, vec_load_f16 (in + i));
  if (i < n)
    kvasir_scalar_to_float[KVASIR_TYPE_F16](in + i, out + i, n - i);
}

static void
bf16_to_float (const void *row, float *out, int64_t n)
{
  const uint16_t *in = row;
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store (out + i, vec_load_bf16 (in + i));
  if (i < n)
    kvasir_scalar_to_float[KVASIR_TYPE_BF16](in + i, out + i, n - i);
}

static void
f16_from_float (const float *in, void *row, int64_t n)
{
  uint16_t *out = row;
  int64_t i = 0;

  for (; i + LANES <= n; i += LANES)
    vec_store_f16 (out + i, vec_load (in + i));
  if (i < n)
    kvasir_scalar_from_float[KVASIR_TYPE_F16](in + i, out + i, n - i);
}
