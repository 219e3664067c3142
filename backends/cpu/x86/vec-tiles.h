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

/* Memory is read fastest in its order and by as much ahead. */
#define AHEAD_BYTES 12288
/* Rows of a tile that all heads read before the next ones. */
#define BLOCK_ROWS 16

/* Walks through the rows in the order in which they lie, head by head, and on into the next ones.
 */
typedef struct
{
  const KvasirTileProduct *p;
  const uint8_t *at;
  size_t stride, head_bytes;
  int head, row;
} Fetch;

INLINE Fetch
fetch_begin (const KvasirTileProduct *p)
{
  Fetch f = { .p = p, .stride = p->stride, .head_bytes = p->head_bytes };
  size_t n_rows = AHEAD_BYTES / ((size_t) p->n_heads * p->head_bytes);

  f.row = n_rows < KVASIR_TILE ? (int) n_rows : KVASIR_TILE - 1;
  f.at = p->rows + (size_t) f.row * p->stride;
  return f;
}

INLINE void
fetch_next_row (Fetch *f)
{
  f->at += f->stride - (size_t) f->p->n_heads * f->head_bytes;
  f->head = 0;
  if (++f->row < KVASIR_TILE || f->p->next == NULL)
    return;
  f->row = 0;
  f->at = f->p->next;
  f->stride = f->p->next_stride;
  f->head_bytes = f->p->next_head_bytes;
}

/* The bytes of one head in one row; little at a time, between products. NULL: nothing. */
INLINE void
fetch (Fetch *f)
{
  if (f == NULL)
    return;
  for (size_t at = 0; at < f->head_bytes; at += 64)
    _mm_prefetch ((const char *) f->at + at, _MM_HINT_T0);
  f->at += f->head_bytes;
  if (++f->head == f->p->n_heads)
    fetch_next_row (f);
}

/* Products of two neighbouring rows with n queries, which are loaded once for both; still to be
 * summed over lanes. */
INLINE void
score_pair (const uint8_t *rows,
            size_t stride,
            const KvasirType type,
            const int width,
            const float *queries,
            const int n,
            Fetch *f,
            Vec out[4])
{
  Vec a[4], b[4];

  fetch (f);
  fetch (f);
  for (int q = 0; q < n; q++)
    a[q] = b[q] = vec_set1 (0);
  for (int j = 0; j < width; j += LANES)
    {
      Vec x = load_elements (type, rows, j), y = load_elements (type, rows + stride, j);
      for (int q = 0; q < n; q++)
        {
          Vec query = vec_load (queries + q * width + j);
          a[q] = vec_fma (x, query, a[q]);
          b[q] = vec_fma (y, query, b[q]);
        }
    }
  for (int q = 0; q < n; q++)
    out[q] = vec_sum_ones (a[q], b[q]);
}

/* As many rows as the name says, in two halves, so that sums stay in registers. */
#define SCORE_ROWS(name, half, n_half, add)                                                        \
  INLINE void name (const uint8_t *rows, size_t stride, const KvasirType type, const int width,    \
                    const float *queries, const int n, Fetch *f, Vec out[4])                       \
  {                                                                                                \
    Vec second[4];                                                                                 \
    half (rows, stride, type, width, queries, n, f, out);                                          \
    half (rows + (n_half) *stride, stride, type, width, queries, n, f, second);                    \
    for (int q = 0; q < n; q++)                                                                    \
      out[q] = add (out[q], second[q]);                                                            \
  }

SCORE_ROWS (score_four, score_pair, 2, vec_sum_twos)
SCORE_ROWS (score_eight, score_four, 4, vec_sum_fours)
#if LANES == 16
SCORE_ROWS (score_lanes, score_eight, 8, vec_sum_eights)
#else
#define score_lanes score_eight
#endif

/* A block of rows and n queries. */
INLINE void
score_queries (const uint8_t *rows,
               size_t stride,
               const KvasirType type,
               const int width,
               const float *queries,
               const int n,
               Fetch *f,
               float *out)
{
  Vec sums[4];

  for (int row = 0; row < BLOCK_ROWS; row += LANES)
    {
      score_lanes (rows + (size_t) row * stride, stride, type, width, queries, n, f, sums);
      for (int q = 0; q < n; q++)
        vec_store (out + q * KVASIR_TILE + row, sums[q]);
    }
}

INLINE void
score_head (
    const KvasirTileProduct *p, const KvasirType type, const int width, int row, int head, Fetch *f)
{
  const uint8_t *rows = p->rows + (size_t) row * p->stride + (size_t) head * p->head_bytes;
  const float *queries = p->in + (size_t) head * p->in_stride;
  float *out = p->out + (size_t) head * p->out_stride + row;

  for (int left = p->n; left > 0; left -= 4, queries += 4 * width, out += 4 * KVASIR_TILE, f = NULL)
    switch (left)
      {
      case 1:
        score_queries (rows, p->stride, type, width, queries, 1, f, out);
        break;
      case 2:
        score_queries (rows, p->stride, type, width, queries, 2, f, out);
        break;
      case 3:
        score_queries (rows, p->stride, type, width, queries, 3, f, out);
        break;
      default:
        score_queries (rows, p->stride, type, width, queries, 4, f, out);
        break;
      }
}

INLINE void
score_of_width (const KvasirTileProduct *p, const KvasirType type, const int width)
{
  Fetch f = fetch_begin (p);

  for (int row = 0; row < KVASIR_TILE; row += BLOCK_ROWS)
    for (int head = 0; head < p->n_heads; head++)
      score_head (p, type, width, row, head, &f);
}

/* Queries of the width of most small models stay in registers. */
INLINE void
score_of_type (const KvasirTileProduct *p, const KvasirType type)
{
  if (p->width == 64)
    score_of_width (p, type, 64);
  else
    score_of_width (p, type, p->width);
}

static void
round_query (const float *x, int64_t n, float scale, KvasirQueryBlock *blocks)
{
  for (; n > 0; n -= 32, x += 32, blocks++)
    {
      float largest = 0, d;
      int sum = 0;
      for (int i = 0; i < 32; i++)
        largest = fmaxf (largest, fabsf (x[i]));
      d = largest > 0 ? 127 / largest : 0;
      for (int i = 0; i < 32; i++)
        {
          int q = (int) (x[i] * d + 128.5f) - 128;
          blocks->q[i] = (int8_t) q;
          sum += q;
        }
      blocks->d = _cvtsh_ss (_cvtss_sh (largest / 127, _MM_FROUND_TO_NEAREST_INT)) * scale;
      blocks->offset = -128 * sum;
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

/* A block of rows times n rows of weights, n_vecs vectors of columns, sums in registers. */
INLINE void
mix_columns (const KvasirTileProduct *p,
             const KvasirType type,
             const uint8_t *rows,
             const float *weights,
             const float *factors,
             float *out,
             int col,
             int n_rows,
             const int n,
             const int n_vecs,
             Fetch *f)
{
  Vec sums[4][DENSE_VECS];

  for (int q = 0; q < n; q++)
    for (int v = 0; v < n_vecs; v++)
      sums[q][v] = vec_load (out + q * p->width + col + v * LANES);
  for (int q = 0; q < n && factors != NULL; q++)
    for (int v = 0; v < n_vecs; v++)
      sums[q][v] = vec_mul (sums[q][v], vec_set1 (factors[q]));
  for (int row = 0; row < n_rows; row++, rows += p->stride)
    {
      fetch (f);
      for (int v = 0; v < n_vecs; v++)
        {
          Vec x = load_elements (type, rows, col + v * LANES);
          for (int q = 0; q < n; q++)
            sums[q][v] = vec_fma (x, vec_set1 (weights[q * KVASIR_TILE + row]), sums[q][v]);
        }
    }
  for (int q = 0; q < n; q++)
    for (int v = 0; v < n_vecs; v++)
      vec_store (out + q * p->width + col + v * LANES, sums[q][v]);
}

INLINE void
mix_rows (const KvasirTileProduct *p,
          const KvasirType type,
          const uint8_t *rows,
          const float *weights,
          const float *factors,
          float *out,
          int n_rows,
          const int n,
          Fetch *f)
{
  int col = 0;

  for (; col + DENSE_VECS * LANES <= p->width; col += DENSE_VECS * LANES, f = NULL)
    mix_columns (p, type, rows, weights, factors, out, col, n_rows, n, DENSE_VECS, f);
  for (; col < p->width; col += LANES, f = NULL)
    mix_columns (p, type, rows, weights, factors, out, col, n_rows, n, 1, f);
}

/* What is there is brought to the new maximum with the first rows. */
INLINE void
mix_head (
    const KvasirTileProduct *p, const KvasirType type, int row, int n_rows, int head, Fetch *f)
{
  const uint8_t *rows = p->rows + (size_t) row * p->stride + (size_t) head * p->head_bytes;
  const float *weights = p->in + (size_t) head * p->in_stride + row;
  float *out = p->out + (size_t) head * p->out_stride;

  for (int first = 0; first < p->n; first += 4)
    {
      const float *factors = row == 0 ? p->factors + head * p->n + first : NULL;
      switch (p->n - first)
        {
        case 1:
          mix_rows (p, type, rows, weights, factors, out, n_rows, 1, f);
          break;
        case 2:
          mix_rows (p, type, rows, weights, factors, out, n_rows, 2, f);
          break;
        case 3:
          mix_rows (p, type, rows, weights, factors, out, n_rows, 3, f);
          break;
        default:
          mix_rows (p, type, rows, weights, factors, out, n_rows, 4, f);
          break;
        }
      weights += 4 * KVASIR_TILE;
      out += 4 * p->width;
      f = NULL;
    }
}

/* Wide heads are long enough runs of memory alone; their sums are not taken up so often. */
INLINE void
mix_of_type (const KvasirTileProduct *p, const KvasirType type)
{
  const int n_rows = p->width > 64 ? KVASIR_TILE : BLOCK_ROWS;
  Fetch f = fetch_begin (p);

  for (int row = 0; row < KVASIR_TILE; row += n_rows)
    for (int head = 0; head < p->n_heads; head++)
      mix_head (p, type, row, n_rows, head, &f);
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
