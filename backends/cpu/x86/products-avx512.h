/* backends/cpu/x86/products-avx512.h - products of quantised weights with int8 activations
 *
 * Few tokens go row by row; for many a tile of rows is unpacked to bytes once, and one product
 * serves all types. Needs AVX-512 VNNI. Included by kernels-avx512.c.
 */
#pragma once

#include "backends/cpu/x86/few-k-avx512.h"
#include "backends/cpu/x86/long-avx512.h"
#include "backends/cpu/x86/tile-avx512.h"

/* Integer products of a part of a block of 32 rows with four tokens, everything in registers. */
INLINE void
multiply_part (
    const FewActs *acts, const uint8_t *const bytes[2], int64_t at, const int n, __m512i dots[2][4])
{
  for (int t = 0; t < 4; t++)
    dots[0][t] = dots[1][t] = _mm512_setzero_si512 ();
#pragma GCC unroll 8
  for (int j = 0; j < n; j++)
    {
      __m512i w0 = _mm512_load_si512 (bytes[0] + 64 * j);
      __m512i w1 = _mm512_load_si512 (bytes[1] + 64 * j);
      for (int t = 0; t < 4; t++)
        {
          int four;
          memcpy (&four, acts->q[t] + at + 4 * j, sizeof four);
          __m512i q = _mm512_set1_epi32 (four);
          dots[0][t] = _mm512_dpbusd_epi32 (dots[0][t], w0, q);
          dots[1][t] = _mm512_dpbusd_epi32 (dots[1][t], w1, q);
        }
    }
}

/* 32 rows with four tokens over blocks [b, end). */
INLINE void
multiply_tile (const KvasirProduct *p,
               const Tile *tile,
               const int n_parts,
               int64_t token,
               int64_t b,
               int64_t end,
               __m512 sums[2][4])
{
  FewActs acts = get_few_acts (p, token, 4);
  __m512i dots[2][4];

  for (; b < end; b++)
    for (int part = 0; part < n_parts; part++)
      {
        if (token == tile->first_token && part == 0)
          fetch_tile (tile, 1, b, 1);
        const int n = 8 / n_parts;
        int64_t run = b * n_parts + part;
        const uint8_t *first = tile->bytes + run * n * 64;
        const uint8_t *bytes[2] = { first, first + p->k / 32 * 512 };
        multiply_part (&acts, bytes, run * n * 4, n, dots);
        for (int h = 0; h < 2; h++)
          {
            __m512 d = _mm512_load_ps (tile->d + run * TILE_ROWS + 16 * h);
            __m512 m = _mm512_load_ps (tile->m + run * TILE_ROWS + 16 * h);
            for (int t = 0; t < 4; t++)
              {
                const float *s = n_parts == 1 ? acts.s[t] : acts.s16[t];
                __m512 scale = _mm512_mul_ps (d, _mm512_set1_ps (acts.d[t][b]));
                sums[h][t] = _mm512_fmadd_ps (_mm512_cvtepi32_ps (dots[h][t]), scale, sums[h][t]);
                sums[h][t] = _mm512_fmadd_ps (m, _mm512_set1_ps (s[run]), sums[h][t]);
              }
          }
      }
}

INLINE void
multiply_tokens (const KvasirProduct *p,
                 const KvasirProductPart *part,
                 const Tile *tile,
                 const int n_parts,
                 int64_t b,
                 int64_t end)
{
  for (int64_t token = part->token; token < part->token_end; token += 4)
    {
      int64_t n = part->token_end - token < 4 ? part->token_end - token : 4;
      __m512 sums[2][4];
      for (int h = 0; h < 2; h++)
        for (int t = 0; t < 4; t++)
          sums[h][t] = _mm512_setzero_ps ();
      multiply_tile (p, tile, n_parts, token, b, end, sums);
      for (int h = 0; h < 2; h++)
        for (int64_t t = 0; t < n; t++)
          {
            int64_t row = part->row + 16 * h, left = part->row_end - row;
            float *dst = p->dst + (size_t) (token + t) * p->dst_stride + row;
            int lanes = left < 0 ? 0 : left < 16 ? (int) left : 16;
            if (b > 0)
              sums[h][t] = _mm512_add_ps (sums[h][t], vec_load_n (dst, lanes));
            else if (p->bias)
              sums[h][t] = _mm512_add_ps (sums[h][t], vec_load_n (p->bias + row, lanes));
            vec_store_n (dst, sums[h][t], lanes);
          }
    }
}

/* One product for the types whose scales go with 32 elements, one for those of 16. */
static void
multiply_blocks (
    const KvasirProduct *p, const KvasirProductPart *part, const Tile *tile, int64_t b, int64_t end)
{
  multiply_tokens (p, part, tile, 1, b, end);
}

static void
multiply_halves (
    const KvasirProduct *p, const KvasirProductPart *part, const Tile *tile, int64_t b, int64_t end)
{
  multiply_tokens (p, part, tile, 2, b, end);
}

INLINE MultiplyFn
get_multiply (const KvasirType type)
{
  return get_n_parts (type) == 1 ? multiply_blocks : multiply_halves;
}

#define HAS_LONG
#include "backends/cpu/x86/many-x86.h"
