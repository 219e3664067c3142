/* backends/cpu/x86/vec-tiles.h - attention of few queries over a tile of cache rows as they lie
 *
 * A step of one token reads every row once, so expanding and transposing tiles first would cost
 * more than the products. Included after vec-kernels.h.
 */
#pragma once

#include "backends/cpu/x86/blocks-x86.h"
#include "backends/cpu/x86/vec-kernels.h"

INLINE Vec
load_elements (const KvasirType type, const uint8_t *row, int64_t i)
{
  const KvasirBlockQ8_0 *block = (const void *) row;

  block += i / 32;
  if (type == KVASIR_TYPE_Q8_0)
    return vec_mul (vec_load_i8 (block->qs + i % 32), vec_set1 (_cvtsh_ss (block->d)));
  if (type == KVASIR_TYPE_F16)
    return vec_load_f16 ((const uint16_t *) (const void *) row + i);
  if (type == KVASIR_TYPE_BF16)
    return vec_load_bf16 ((const uint16_t *) (const void *) row + i);
  return vec_load ((const float *) (const void *) row + i);
}

/* As far as the second cache; the first one holds the tile at work. */
INLINE void
fetch_next (const KvasirTileProduct *p, int row)
{
  if (p->next != NULL)
    for (size_t at = 0; at < p->next_bytes; at += 64)
      _mm_prefetch ((const char *) p->next + (size_t) row * p->next_stride + at, _MM_HINT_T1);
}

/* Products of LANES rows with n queries from the first on, still to be summed over lanes. */
INLINE void
score_rows (const KvasirTileProduct *p,
            const KvasirType type,
            int row,
            int first,
            const int n,
            Vec sums[][LANES])
{
  const float *queries = p->in + (size_t) first * (size_t) p->width;

  for (int i = 0; i < LANES; i++)
    {
      const uint8_t *data = p->rows + (size_t) (row + i) * p->stride;
      Vec sum[4];
      for (int q = 0; q < n; q++)
        sum[q] = vec_set1 (0);
      if (first == 0)
        fetch_next (p, row + i);
      for (int j = 0; j < p->width; j += LANES)
        {
          Vec x = load_elements (type, data, j);
          for (int q = 0; q < n; q++)
            sum[q] = vec_fma (x, vec_load (queries + q * p->width + j), sum[q]);
        }
      for (int q = 0; q < n; q++)
        sums[q][i] = sum[q];
    }
}

INLINE void
score_of_type (const KvasirTileProduct *p, const KvasirType type)
{
  Vec sums[4][LANES];

  for (int row = 0; row < KVASIR_TILE; row += LANES)
    for (int first = 0; first < p->n; first += 4)
      {
        int n = p->n - first < 4 ? p->n - first : 4;
        switch (n)
          {
          case 1:
            score_rows (p, type, row, first, 1, sums);
            break;
          case 2:
            score_rows (p, type, row, first, 2, sums);
            break;
          case 3:
            score_rows (p, type, row, first, 3, sums);
            break;
          default:
            score_rows (p, type, row, first, 4, sums);
            break;
          }
        for (int q = 0; q < n; q++)
          vec_store (p->out + (first + q) * KVASIR_TILE + row, vec_sum_each (sums[q]));
      }
}

#if LANES == 16
#include "backends/cpu/x86/score-avx512.h"
#else
static void
score_q8_0 (const KvasirTileProduct *p)
{
  score_of_type (p, KVASIR_TYPE_Q8_0);
}
#endif

static void
score (const KvasirTileProduct *p)
{
  if (p->type == KVASIR_TYPE_F16)
    score_of_type (p, KVASIR_TYPE_F16);
  else if (p->type == KVASIR_TYPE_BF16)
    score_of_type (p, KVASIR_TYPE_BF16);
  else if (p->type == KVASIR_TYPE_Q8_0)
    score_q8_0 (p);
  else
    score_of_type (p, KVASIR_TYPE_F32);
}

/* n rows of weights from the first on, n_vecs vectors of columns, sums in registers. */
INLINE void
mix_block (
    const KvasirTileProduct *p, const KvasirType type, int first, int col, const int n, int n_vecs)
{
  const float *weights = p->in + first * KVASIR_TILE;
  float *out = p->out + (size_t) first * (size_t) p->width + col;
  Vec sums[4][DENSE_VECS];

  for (int q = 0; q < n; q++)
    for (int v = 0; v < n_vecs; v++)
      sums[q][v] = vec_load (out + q * p->width + v * LANES);
  for (int row = 0; row < KVASIR_TILE; row++)
    {
      const uint8_t *data = p->rows + (size_t) row * p->stride;
      if (first == 0 && col == 0)
        fetch_next (p, row);
      for (int v = 0; v < n_vecs; v++)
        {
          Vec x = load_elements (type, data, col + v * LANES);
          for (int q = 0; q < n; q++)
            sums[q][v] = vec_fma (x, vec_set1 (weights[q * KVASIR_TILE + row]), sums[q][v]);
        }
    }
  for (int q = 0; q < n; q++)
    for (int v = 0; v < n_vecs; v++)
      vec_store (out + q * p->width + v * LANES, sums[q][v]);
}

INLINE void
mix_columns (const KvasirTileProduct *p, const KvasirType type, int col, const int n_vecs)
{
  for (int first = 0; first < p->n; first += 4)
    switch (p->n - first)
      {
      case 1:
        mix_block (p, type, first, col, 1, n_vecs);
        break;
      case 2:
        mix_block (p, type, first, col, 2, n_vecs);
        break;
      case 3:
        mix_block (p, type, first, col, 3, n_vecs);
        break;
      default:
        mix_block (p, type, first, col, 4, n_vecs);
        break;
      }
}

INLINE void
mix_of_type (const KvasirTileProduct *p, const KvasirType type)
{
  int col = 0;

  for (; col + DENSE_VECS * LANES <= p->width; col += DENSE_VECS * LANES)
    mix_columns (p, type, col, DENSE_VECS);
  for (; col < p->width; col += LANES)
    mix_columns (p, type, col, 1);
}

static void
mix (const KvasirTileProduct *p)
{
  if (p->type == KVASIR_TYPE_F16)
    mix_of_type (p, KVASIR_TYPE_F16);
  else if (p->type == KVASIR_TYPE_BF16)
    mix_of_type (p, KVASIR_TYPE_BF16);
  else if (p->type == KVASIR_TYPE_Q8_0)
    mix_of_type (p, KVASIR_TYPE_Q8_0);
  else
    mix_of_type (p, KVASIR_TYPE_F32);
}
