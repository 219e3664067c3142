/* backends/cpu/x86/vec-words.h - attention of many queries as products of 16-bit integers
 *
 * Two products for the price of one of f32. Lanes are queries, so that nothing is added across
 * them, keys and values are read as they lie, and a softmax goes down the cells. Products of a
 * query and a key fit 32 bits because their lengths do (Cauchy and Schwarz), those of weights and a
 * value because the weights of a tile add up to less than 2^15.
 */
#pragma once

#include "backends/cpu/x86/vec-functions.h"

/* Broadcast words times vectors of sums in registers. */
#if LANES == 16
#define WORD_ROWS 4
#else
#define WORD_ROWS 2
#endif
#define WORD_VECS 4
#define WORD_MAX 32700.0f
/* Less than 2^15.5, the square root of the largest sum. */
#define WORD_LENGTH 46000.0f
/* Of a score that does not count: finite, so that nothing becomes NaN. */
#define CLOSED_SCORE -1e30f

static float
to_words (const float *x, int n, bool by_length, int16_t *words)
{
  Vec top = vec_set1 (0), squares = vec_set1 (0);

  for (int i = 0; i < n; i += LANES)
    {
      Vec v = vec_load (x + i);
      top = vec_max (top, vec_abs (v));
      squares = vec_fma (v, v, squares);
    }
  float scale = vec_max_of_lanes (top) / WORD_MAX;
  if (by_length)
    scale = fmaxf (scale, sqrtf (vec_sum (squares)) / WORD_LENGTH);
  const Vec factor = vec_set1 (scale > 1e-30f ? 1 / scale : 0);
  for (int i = 0; i < n; i += LANES)
    vec_store_words (words + i, vec_mul (vec_load (x + i), factor));
  return scale;
}

/* Pairs of words @ones[r][k] with vectors of pairs @vecs[k]. */
INLINE void
multiply_words (const int32_t *ones,
                size_t row_stride,
                size_t stride,
                const int32_t *vecs,
                int depth,
                VecInt sums[WORD_ROWS][WORD_VECS])
{
  for (int r = 0; r < WORD_ROWS; r++)
    for (int v = 0; v < WORD_VECS; v++)
      sums[r][v] = vec_int_set1 (0);
  for (int k = 0; k < depth; k++, ones += stride, vecs += KVASIR_BLOCK_QUERIES)
    {
      VecInt b[WORD_VECS];
      for (int v = 0; v < WORD_VECS; v++)
        b[v] = vec_int_load (vecs + v * LANES);
      for (int r = 0; r < WORD_ROWS; r++)
        {
          VecInt a = vec_int_set1 (ones[(size_t) r * row_stride]);
          for (int v = 0; v < WORD_VECS; v++)
            sums[r][v] = vec_int_add_dots (sums[r][v], a, b[v]);
        }
    }
}

/* Scores without the queries' scales, and the largest of each query. */
INLINE void
score_words (const KvasirWordTile *t, int first, const bool is_open, Vec tops[WORD_VECS])
{
  const int32_t *keys = (const void *) t->keys, *queries = (const void *) t->queries;
  const float *scales = t->key_scales;
  const uint64_t *open = t->open;
  const int depth = t->head_dim_k / 2;
  float *scores = t->scores + first;
  VecInt sums[WORD_ROWS][WORD_VECS];

  for (int v = 0; v < WORD_VECS; v++)
    tops[v] = vec_set1 (CLOSED_SCORE);
  for (int cell = 0; cell < KVASIR_TILE; cell += WORD_ROWS)
    {
      multiply_words (keys + cell * depth, (size_t) depth, 1, queries + first, depth, sums);
      for (int r = 0; r < WORD_ROWS; r++)
        for (int v = 0; v < WORD_VECS; v++)
          {
            Vec s = vec_mul (vec_from_int (sums[r][v]), vec_set1 (scales[cell + r]));
            if (!is_open)
              s = vec_select (vec_mask (open[cell + r] >> (first + v * LANES)), s,
                              vec_set1 (CLOSED_SCORE));
            tops[v] = vec_max (tops[v], s);
            vec_store (scores + (cell + r) * KVASIR_BLOCK_QUERIES + v * LANES, s);
          }
    }
}

/* 2^x for x <= 0, to 3e-6 of it. */
INLINE Vec
vec_exp2 (Vec x)
{
  x = vec_max (vec_set1 (-126), x);
  Vec n = vec_round (x), f = vec_sub (x, n), p = vec_set1 (1.33335581e-3f);
  p = vec_fma (p, f, vec_set1 (9.61812911e-3f));
  p = vec_fma (p, f, vec_set1 (5.55041087e-2f));
  p = vec_fma (p, f, vec_set1 (2.40226507e-1f));
  p = vec_fma (p, f, vec_set1 (6.93147181e-1f));
  p = vec_fma (p, f, vec_set1 (1));
  return vec_scale_by_power (p, n);
}

/* Scores of LANES queries to weights in words, each as much as its value's scale makes of it. The
 * state is brought up to date; earlier sums and those of the tile are to be multiplied with the
 * factors. */
INLINE void
weigh_words (const KvasirWordTile *t, int query, const bool is_open, Vec top, Vec factors[2])
{
  const Vec scale = vec_load (t->query_scales + query), max = vec_mul (top, scale);
  Vec total = vec_set1 (0), weight = vec_set1 (0);
  const float *value_scales = t->value_scales;
  float *scores = t->scores + query;
  int32_t *weights = (int32_t *) (void *) t->weights + query;

  for (int cell = 0; cell < KVASIR_TILE; cell++)
    {
      Vec s = vec_load (scores + cell * KVASIR_BLOCK_QUERIES);
      Vec e = vec_exp2 (vec_fma (s, scale, vec_sub (vec_set1 (0), max)));
      if (!is_open)
        e = vec_select (vec_mask (t->open[cell] >> query), e, vec_set1 (0));
      total = vec_add (total, e);
      e = vec_mul (e, vec_set1 (value_scales[cell]));
      weight = vec_add (weight, e);
      vec_store (scores + cell * KVASIR_BLOCK_QUERIES, e);
    }
  weight = vec_max (weight, vec_set1 (1e-30f));
  const Vec to_word = vec_div (vec_set1 (WORD_MAX), weight);
  for (int cell = 0; cell < KVASIR_TILE; cell += 2, scores += 2 * KVASIR_BLOCK_QUERIES)
    {
      Vec even = vec_mul (vec_load (scores), to_word);
      Vec odd = vec_mul (vec_load (scores + KVASIR_BLOCK_QUERIES), to_word);
      vec_store_word_pairs (weights + cell / 2 * KVASIR_BLOCK_QUERIES, even, odd);
    }
  const Vec before = vec_load (t->max + query), now = vec_max (before, max);
  factors[0] = vec_exp2 (vec_sub (before, now));
  factors[1] = vec_exp2 (vec_sub (max, now));
  vec_store (t->max + query, now);
  vec_store (t->sum + query,
             vec_fma (vec_load (t->sum + query), factors[0], vec_mul (total, factors[1])));
  factors[1] = vec_mul (factors[1], vec_mul (weight, vec_set1 (1 / WORD_MAX)));
}

INLINE void
mix_words (const KvasirWordTile *t, int first, const Vec factors[WORD_VECS][2])
{
  const int32_t *values = (const void *) t->values, *weights = (const void *) t->weights;
  VecInt sums[WORD_ROWS][WORD_VECS];

  for (int i = 0; i < t->head_dim_v; i += WORD_ROWS)
    {
      multiply_words (values + i, 1, (size_t) t->head_dim_v, weights + first, KVASIR_TILE / 2,
                      sums);
      for (int r = 0; r < WORD_ROWS; r++)
        for (int v = 0; v < WORD_VECS; v++)
          {
            float *out = t->out + (i + r) * KVASIR_BLOCK_QUERIES + first + v * LANES;
            Vec sum = vec_mul (vec_from_int (sums[r][v]), factors[v][1]);
            vec_store (out, vec_fma (vec_load (out), factors[v][0], sum));
          }
    }
}

INLINE void
attend_queries (const KvasirWordTile *t, int first, const bool is_open)
{
  Vec tops[WORD_VECS], factors[WORD_VECS][2];

  score_words (t, first, is_open, tops);
  for (int v = 0; v < WORD_VECS; v++)
    weigh_words (t, first + v * LANES, is_open, tops[v], factors[v]);
  mix_words (t, first, (const Vec (*)[2]) factors);
}

static void
attend_words (const KvasirWordTile *t)
{
  for (int first = 0; first < KVASIR_BLOCK_QUERIES; first += WORD_VECS * LANES)
    if (t->open == NULL)
      attend_queries (t, first, true);
    else
      attend_queries (t, first, false);
}
