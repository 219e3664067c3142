/* backends/cpu/x86/vec-products.h - products with f32 activations
 *
 * Weights are expanded to f32: plain types in registers, others through a row in scratch. Included
 * after vec-kernels.h.
 */
#pragma once

#include "backends/cpu/x86/vec-kernels.h"

INLINE Vec
load_weights (const KvasirType type, const uint8_t *row, int64_t i)
{
  if (type == KVASIR_TYPE_F16)
    return vec_load_f16 ((const uint16_t *) (const void *) row + i);
  if (type == KVASIR_TYPE_BF16)
    return vec_load_bf16 ((const uint16_t *) (const void *) row + i);
  return vec_load ((const float *) (const void *) row + i);
}

/* What is left of a row behind the whole vectors. */
static float
multiply_tail (KvasirType type, const uint8_t *row, const float *x, int64_t i, int64_t k)
{
  size_t size = kvasir_type_get_block_bytes ((int) type);
  float rest[LANES], sum = 0;

  kvasir_scalar_to_float[type](row + (size_t) i * size, rest, k - i);
  for (int64_t j = i; j < k; j++)
    sum += rest[j - i] * x[j];
  return sum;
}

/* One row with @n tokens from @token on; sums in two vectors each, so that additions overlap. */
INLINE void
multiply_row (const KvasirProduct *p,
              const KvasirType type,
              const uint8_t *row,
              int64_t r,
              int64_t token,
              const int n)
{
  const float *x = p->x + (size_t) token * p->x_stride;
  size_t size = type == KVASIR_TYPE_F32 ? 4 : 2;
  Vec sums[4][2];
  int64_t i = 0;

  for (int t = 0; t < n; t++)
    sums[t][0] = sums[t][1] = vec_set1 (0);
  for (; i + 2 * LANES <= p->k; i += 2 * LANES)
    {
      Vec w0 = load_weights (type, row, i), w1 = load_weights (type, row, i + LANES);
      prefetch (row + (size_t) i * size);
      for (int t = 0; t < n; t++)
        {
          const float *xs = x + (size_t) t * p->x_stride + i;
          sums[t][0] = vec_fma (w0, vec_load (xs), sums[t][0]);
          sums[t][1] = vec_fma (w1, vec_load (xs + LANES), sums[t][1]);
        }
    }
  for (int t = 0; t < n; t++)
    {
      float sum = vec_sum (vec_add (sums[t][0], sums[t][1]));
      for (int64_t j = i; j < p->k; j += LANES)
        {
          int64_t end = j + LANES < p->k ? j + LANES : p->k;
          sum += multiply_tail (type, row, x + (size_t) t * p->x_stride, j, end);
        }
      if (p->bias)
        sum += p->bias[r];
      p->dst[(size_t) (token + t) * p->dst_stride + (size_t) r] = sum;
    }
}

INLINE void
multiply_few (const KvasirProduct *p,
              const KvasirProductPart *part,
              const KvasirType type,
              const KvasirRowToFloat *to_float,
              uint8_t *scratch)
{
  for (int64_t r = part->row; r < part->row_end; r++)
    {
      const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
      int64_t t = part->token;
      if (to_float != NULL)
        {
          to_float[p->type](row, (float *) (void *) scratch, p->k);
          row = scratch;
        }
      for (; t + 4 <= part->token_end; t += 4)
        multiply_row (p, type, row, r, t, 4);
      for (; t < part->token_end; t++)
        multiply_row (p, type, row, r, t, 1);
    }
}

static void
f32_few (const KvasirProduct *p,
         const KvasirProductPart *part,
         const KvasirRowToFloat *to_float,
         uint8_t *scratch)
{
  (void) to_float;
  multiply_few (p, part, KVASIR_TYPE_F32, NULL, scratch);
}

static void
f16_few (const KvasirProduct *p,
         const KvasirProductPart *part,
         const KvasirRowToFloat *to_float,
         uint8_t *scratch)
{
  (void) to_float;
  multiply_few (p, part, KVASIR_TYPE_F16, NULL, scratch);
}

static void
bf16_few (const KvasirProduct *p,
          const KvasirProductPart *part,
          const KvasirRowToFloat *to_float,
          uint8_t *scratch)
{
  (void) to_float;
  multiply_few (p, part, KVASIR_TYPE_BF16, NULL, scratch);
}

static void
any_few (const KvasirProduct *p,
         const KvasirProductPart *part,
         const KvasirRowToFloat *to_float,
         uint8_t *scratch)
{
  multiply_few (p, part, KVASIR_TYPE_F32, to_float, scratch);
}

/* Expands elements [k, k + n) of the tile's rows, and turns them into columns. */
static void
expand_tile (const KvasirProduct *p,
             const KvasirProductPart *part,
             const KvasirRowToFloat *to_float,
             int64_t k,
             int64_t n,
             float *rows,
             float *tile)
{
  const uint8_t *from = p->weights + (size_t) part->row * p->weight_stride +
                        kvasir_type_get_row_bytes ((int) p->type, k);
  int n_rows = (int) (part->row_end - part->row);

  if (p->type == KVASIR_TYPE_F32 && p->weight_stride % sizeof (float) == 0)
    {
      transpose ((const float *) (const void *) from, p->weight_stride / sizeof (float), n_rows,
                 (int) n, tile);
      return;
    }
  for (int i = 0; i < n_rows; i++)
    to_float[p->type](from + (size_t) i * p->weight_stride, rows + i * KVASIR_TILE_K, n);
  transpose (rows, KVASIR_TILE_K, n_rows, (int) n, tile);
}

/* A tile of at most 64 rows, KVASIR_TILE_K elements of them at a time. */
static void
any_many (const KvasirProduct *p,
          const KvasirProductPart *part,
          const KvasirRowToFloat *to_float,
          uint8_t *scratch)
{
  float *rows = (float *) (void *) scratch, *tile = rows + KVASIR_TILE_ROWS * KVASIR_TILE_K;
  int n_rows = (int) (part->row_end - part->row);
  KvasirDense d = { .n_rows = (int) (part->token_end - part->token),
                    .n_cols = n_rows,
                    .b = tile,
                    .c = p->dst + (size_t) part->token * p->dst_stride + part->row,
                    .a_stride = p->x_stride,
                    .b_stride = KVASIR_TILE,
                    .c_stride = p->dst_stride,
                    .accumulate = p->bias != NULL };

  if (p->bias != NULL)
    kvasir_product_fill_bias (p, part);
  for (int64_t k = 0; k < p->k; k += KVASIR_TILE_K)
    {
      int64_t n = p->k - k < KVASIR_TILE_K ? p->k - k : KVASIR_TILE_K;
      expand_tile (p, part, to_float, k, n, rows, tile);
      d.a = p->x + (size_t) part->token * p->x_stride + k;
      d.depth = (int) n;
      dense (&d);
      d.accumulate = true;
    }
}

/* The types without integer products; the table of an instruction set adds the others. */
#define VEC_PRODUCTS                                                                               \
  [KVASIR_TYPE_F32] = { .few = f32_few, .many = any_many },                                        \
  [KVASIR_TYPE_F16] = { .few = f16_few, .many = any_many },                                        \
  [KVASIR_TYPE_BF16] = { .few = bf16_few, .many = any_many },                                      \
  [KVASIR_TYPE_IQ2_XXS] = { .few = any_few, .many = any_many },                                    \
  [KVASIR_TYPE_IQ2_XS] = { .few = any_few, .many = any_many },                                     \
  [KVASIR_TYPE_IQ2_S] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_IQ3_XXS] = { .few = any_few, .many = any_many },                                    \
  [KVASIR_TYPE_IQ3_S] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_IQ1_S] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_IQ1_M] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_TQ1_0] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_TQ2_0] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_NVFP4] = { .few = any_few, .many = any_many },                                      \
  [KVASIR_TYPE_Q1_0] = { .few = any_few, .many = any_many },                                       \
  [KVASIR_TYPE_Q2_0] = { .few = any_few, .many = any_many }
