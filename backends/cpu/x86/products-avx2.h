/* backends/cpu/x86/products-avx2.h - products of quantised weights with int8 activations
 *
 * As products-avx512.h, with smaller tiles. Included by kernels-avx2.c.
 */
#pragma once

#include "backends/cpu/x86/few-k-avx2.h"
#include "backends/cpu/x86/tile.h"

/* How many times as many rows a tile has: with vpdpbusd activations take longer to load than to
 * multiply, unless they serve two vectors of weights. */
#ifdef __AVXVNNI__
#define N_SIDES 2
#else
#define N_SIDES 1
#endif
#define TILE_ROWS (N_SIDES * SIDE_ROWS)
/* Blocks of a row multiplied at a time, so that the tile stays in the first cache. */
#define TILE_BLOCKS 48

/* Eight lists of sixteen floats: those of a run of each row become neighbours. */
INLINE void
store_scales (const float *rows, const int n_runs, float *out)
{
  float runs[16 * SIDE_ROWS];

  vec_transpose (rows, 16, runs, SIDE_ROWS);
  vec_transpose (rows + 8, 16, runs + 8 * SIDE_ROWS, SIDE_ROWS);
  for (int i = 0; i < n_runs; i++)
    vec_store (out + TILE_ROWS * i, vec_load (runs + SIDE_ROWS * (16 / n_runs * i)));
}

/* One block of 256 of 8 rows. */
INLINE void
unpack_k_block (
    const KvasirType type, const uint8_t *const rows[8], uint8_t *bytes, float *d, float *m)
{
  float ds[SIDE_ROWS * 16], ms[SIDE_ROWS * 16];
  __m256i r[SIDE_ROWS];

  for (int i = 0; i < SIDE_ROWS; i++)
    {
      __m256 scales[2], mins[2];
      load_k_scales (type, rows[i], scales, mins);
      for (int half = 0; half < 2; half++)
        {
          vec_store (ds + 16 * i + 8 * half, scales[half]);
          vec_store (ms + 16 * i + 8 * half, mins[half]);
        }
    }
  store_scales (ds, 8 * get_n_parts (type), d);
  store_scales (ms, 8 * get_n_parts (type), m);
#pragma GCC unroll 8
  for (int b = 0; b < 8; b++)
    {
      for (int i = 0; i < SIDE_ROWS; i++)
        r[i] = load_32 (type, rows[i], b);
      store_interleaved (r, bytes + 256 * b);
    }
}

/* One block, of 32 or of 256, of a packed side. */
INLINE void
unpack_packed_block (
    const KvasirType type, const uint8_t *block, int side, uint8_t *bytes, float *d, float *m)
{
  if (is_k_type (type))
    unpack_packed_k (type, block, side, bytes, (float *[2]){ d, m }, TILE_ROWS);
  else
    unpack_packed (type, block, side, bytes, d, m);
}

/* The same of eight rows as they lie in the file. */
INLINE void
unpack_rows (
    const KvasirType type, const uint8_t *const rows[8], uint8_t *bytes, float *d, float *m)
{
  uint8_t turned[MAX_PACKED_K] __attribute__ ((aligned (64)));

  if (is_packed_k (type))
    {
      turn_k_block (type, rows, 0, turned);
      unpack_packed_block (type, turned, 0, bytes, d, m);
    }
  else if (is_k_type (type))
    unpack_k_block (type, rows, bytes, d, m);
  else
    unpack_block (type, rows, bytes, d, m);
}

/* Rows behind the last one are its copies; what they give is not stored. */
INLINE void
unpack_tile (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const int n_blocks = is_k_type (type) ? 8 : 1, n_parts = get_n_parts (type);
  const size_t size = is_k_type (type) ? get_k_block_bytes (type) : get_block_bytes (type);
  const uint8_t *group = p->weights + (size_t) (row / 16 * 16) * p->weight_stride;
  const uint8_t *rows[TILE_ROWS];

  for (int64_t i = 0; i < TILE_ROWS; i++)
    rows[i] = p->weights + (size_t) (row + i < last ? row + i : last) * p->weight_stride;
  for (int64_t b = 0; b < p->k / 32; b += n_blocks, group += 16 * size)
    {
      fetch_tile (tile, 0, b, n_blocks);
      for (int side = 0; side < N_SIDES; side++)
        {
          uint8_t *bytes = tile->bytes + (p->k / 32 * side + b) * 256;
          int64_t at = b * n_parts * TILE_ROWS + SIDE_ROWS * side;
          if (p->is_packed)
            unpack_packed_block (type, group, (int) (row / SIDE_ROWS % 2) + side, bytes,
                                 tile->d + at, tile->m + at);
          else
            unpack_rows (type, rows + SIDE_ROWS * side, bytes, tile->d + at, tile->m + at);
        }
      for (int i = 0; i < TILE_ROWS; i++)
        rows[i] += size;
    }
}

/* What the product of a type depends on. */
typedef struct
{
  bool is_signed;
  int n_parts;
  int fit; /* how many products of pairs fit into 16 bits, 2 * 127 * weight each */
} Form;

/* Integer products of a part of a block of the tile's rows with four tokens. */
#ifdef __AVXVNNI__
INLINE void
multiply_part (const Form form,
               const uint8_t *const bytes[N_SIDES],
               const int8_t *q,
               int64_t k,
               __m256i dots[N_SIDES][4])
{
  for (int t = 0; t < 4; t++)
    dots[0][t] = dots[1][t] = _mm256_setzero_si256 ();
  for (int j = 0; j < 8 / form.n_parts; j++)
    {
      __m256i w0 = _mm256_load_si256 ((const void *) (bytes[0] + 32 * j));
      __m256i w1 = _mm256_load_si256 ((const void *) (bytes[1] + 32 * j));
      for (int t = 0; t < 4; t++)
        {
          __m256i four = _mm256_set1_epi32 (load_dword ((const uint8_t *) q + t * k + 4 * j));
          dots[0][t] = _mm256_dpbusd_avx_epi32 (dots[0][t], w0, four);
          dots[1][t] = _mm256_dpbusd_avx_epi32 (dots[1][t], w1, four);
        }
    }
}
#else
INLINE void
multiply_part (const Form form,
               const uint8_t *const bytes[N_SIDES],
               const int8_t *q,
               int64_t k,
               __m256i dots[N_SIDES][4])
{
  const int n = 8 / form.n_parts, fit = form.fit;
  __m256i pairs[4];

#pragma GCC unroll 8
  for (int j = 0; j < n; j++)
    {
      __m256i w = _mm256_load_si256 ((const void *) (bytes[0] + 32 * j));
      for (int t = 0; t < 4; t++)
        {
          int four;
          memcpy (&four, q + t * k + 4 * j, sizeof four);
          __m256i product = multiply_pairs (form.is_signed, w, _mm256_set1_epi32 (four));
          pairs[t] = j % fit == 0 ? product : _mm256_add_epi16 (pairs[t], product);
          /* Otherwise the compiler adds in another order and keeps all products in memory. */
          __asm__("" : "+x"(pairs[t]));
          if (j % fit == fit - 1)
            dots[0][t] = j < fit ? widen_pairs (pairs[t])
                                 : _mm256_add_epi32 (dots[0][t], widen_pairs (pairs[t]));
        }
    }
}
#endif

INLINE void
multiply_tile (const KvasirProduct *p,
               const Form form,
               const Tile *tile,
               int64_t token,
               int64_t b,
               int64_t end,
               __m256 sums[N_SIDES][4])
{
  const int n_parts = form.n_parts;
  const float *ds = p->acts.d + token * (p->k / 32);
  const float *ss = (n_parts == 1 ? p->acts.s : p->acts.s16) + token * (p->k / 32) * n_parts;

  for (; b < end; b++)
    for (int part = 0; part < n_parts; part++)
      {
        if (token == tile->first_token && part == 0)
          fetch_tile (tile, 1, b, 1);
        int64_t run = b * n_parts + part;
        const int8_t *q = p->acts.q + token * p->k + run * (32 / n_parts);
        const uint8_t *bytes[N_SIDES];
        __m256i dots[N_SIDES][4];
        for (int side = 0; side < N_SIDES; side++)
          bytes[side] = tile->bytes + p->k / 32 * side * 256 + run * (256 / n_parts);
        multiply_part (form, bytes, q, p->k, dots);
        for (int side = 0; side < N_SIDES; side++)
          {
            __m256 d = _mm256_load_ps (tile->d + run * TILE_ROWS + SIDE_ROWS * side);
            __m256 m = _mm256_load_ps (tile->m + run * TILE_ROWS + SIDE_ROWS * side);
            for (int t = 0; t < 4; t++)
              {
                __m256 scale = _mm256_mul_ps (d, _mm256_set1_ps (ds[t * (p->k / 32) + b]));
                __m256 s = _mm256_set1_ps (ss[t * (p->k / 32) * n_parts + run]);
                __m256 *sum = &sums[side][t];
                *sum = _mm256_fmadd_ps (_mm256_cvtepi32_ps (dots[side][t]), scale, *sum);
                if (!form.is_signed)
                  *sum = _mm256_fmadd_ps (m, s, *sum);
              }
          }
      }
}

/* Of the rows of one side with one token. */
INLINE void
store_sum (const KvasirProduct *p, __m256 sum, int64_t row, int lanes, int64_t token, bool is_first)
{
  float *dst = p->dst + (size_t) token * p->dst_stride + row;

  if (lanes <= 0)
    return;
  if (!is_first)
    sum = _mm256_add_ps (sum, vec_load_n (dst, lanes));
  else if (p->bias)
    sum = _mm256_add_ps (sum, vec_load_n (p->bias + row, lanes));
  vec_store_n (dst, sum, lanes);
}

INLINE void
multiply_tokens (const KvasirProduct *p,
                 const KvasirProductPart *part,
                 const Form form,
                 const Tile *tile,
                 int64_t b,
                 int64_t end)
{
  for (int64_t token = part->token; token < part->token_end; token += 4)
    {
      int64_t n = part->token_end - token < 4 ? part->token_end - token : 4;
      __m256 sums[N_SIDES][4];
      for (int side = 0; side < N_SIDES; side++)
        for (int t = 0; t < 4; t++)
          sums[side][t] = _mm256_setzero_ps ();
      multiply_tile (p, form, tile, token, b, end, sums);
      for (int side = 0; side < N_SIDES; side++)
        {
          int64_t row = part->row + SIDE_ROWS * side, left = part->row_end - row;
          int lanes = left < SIDE_ROWS ? (int) left : SIDE_ROWS;
          for (int64_t t = 0; t < n; t++)
            store_sum (p, sums[side][t], row, lanes, token + t, b == 0);
        }
    }
}

#define MULTIPLY(name, is_signed, n_parts, fit)                                                    \
  static void multiply_##name (const KvasirProduct *p, const KvasirProductPart *part,              \
                               const Tile *tile, int64_t b, int64_t end)                           \
  {                                                                                                \
    multiply_tokens (p, part, (Form){ is_signed, n_parts, fit }, tile, b, end);                    \
  }

MULTIPLY (four_bits, false, 1, 8)
MULTIPLY (five_bits, false, 1, 4)
MULTIPLY (signed, true, 1, 1)
/* With scales for 16 elements. */
MULTIPLY (three_bits, false, 2, 4)
MULTIPLY (six_bits, false, 2, 2)

INLINE MultiplyFn
get_multiply (const KvasirType type)
{
  if (takes_signs (type))
    return multiply_signed;
  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
    case KVASIR_TYPE_Q3_K:
      return multiply_three_bits;
    case KVASIR_TYPE_Q6_K:
      return multiply_six_bits;
    case KVASIR_TYPE_Q4_0:
    case KVASIR_TYPE_Q4_1:
    case KVASIR_TYPE_Q4_K:
      return multiply_four_bits;
    default:
      return multiply_five_bits;
    }
}

#include "backends/cpu/x86/many-x86.h"
