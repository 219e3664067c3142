/* backends/cpu/x86/products-avx2.h - products of block-32 types with int8 activations
 *
 * As products-avx512.h, but vpmaddubsw adds pairs in 16 bits: enough for weights of up to five
 * bits. Wider ones stay signed; there the sign of the weight is moved to the activation, since
 * one side must be unsigned, and no offset is left to correct.
 *
 * Included by kernels-avx2.c.
 */
#pragma once

#include "backends/cpu/x86/blocks-x86.h"
#include "backends/cpu/x86/vec-kernels.h"

INLINE bool
is_signed (const KvasirType type)
{
  return type == KVASIR_TYPE_Q8_0 || type == KVASIR_TYPE_IQ4_NL;
}

INLINE __m256i
load_bytes (const KvasirType type, const uint8_t *block)
{
  return is_signed (type) ? load_signed (type, block) : load_unsigned (type, block);
}

/* Sums of two neighbours in 16 bits. */
INLINE __m256i
multiply_pairs (const KvasirType type, __m256i w, __m256i q)
{
  if (is_signed (type))
    return _mm256_maddubs_epi16 (_mm256_abs_epi8 (w), _mm256_sign_epi8 (q, w));
  return _mm256_maddubs_epi16 (w, q);
}

INLINE __m256i
widen_pairs (__m256i pairs)
{
  return _mm256_madd_epi16 (pairs, _mm256_set1_epi16 (1));
}

INLINE __m256i
multiply_bytes (const KvasirType type, __m256i w, const int8_t *q)
{
  return widen_pairs (multiply_pairs (type, w, _mm256_loadu_si256 ((const void *) q)));
}

/* Scales and minimums out of the first four bytes of eight blocks. */
INLINE void
split_heads (const KvasirType type, __m128i h0, __m128i h1, __m256 *d, __m256 *m)
{
  const __m128i low = _mm_set1_epi32 (0xffff);

  if (type == KVASIR_TYPE_MXFP4)
    *d = get_e8m0_scales (_mm256_set_m128i (h1, h0));
  else
    *d = _mm256_cvtph_ps (_mm_packus_epi32 (_mm_and_si128 (h0, low), _mm_and_si128 (h1, low)));
  if (has_min (type))
    *m = _mm256_cvtph_ps (_mm_packus_epi32 (_mm_srli_epi32 (h0, 16), _mm_srli_epi32 (h1, 16)));
  else
    *m = _mm256_mul_ps (*d, _mm256_set1_ps ((float) -get_offset (type)));
}

/* Scales and minimums of up to 8 blocks of a row, one per lane. Single loads: a gather takes
 * three times as long on some processors and thirty times on others. */
INLINE void
load_scales (const KvasirType type, const uint8_t *block, const int n, __m256 *d, __m256 *m)
{
  const size_t size = get_block_bytes (type);
  __m128i h0 = load_four_heads (block, size, n);
  __m128i h1 = load_four_heads (block + 4 * size, size, n - 4);

  split_heads (type, h0, h1, d, m);
}

#define MAX_FEW 4

/* Blocks [b, b + n_blocks), at most 8, of a row with n tokens. */
INLINE void
add_blocks (const KvasirProduct *p,
            const KvasirType type,
            const uint8_t *row,
            int64_t token,
            int64_t b,
            const int n_blocks,
            const int n,
            __m256 sums[][2],
            __m256 *mins)
{
  const size_t size = get_block_bytes (type);
  const uint8_t *block = row + (size_t) b * size;
  float scales[MAX_FEW][8];
  __m256 d, m;

  load_scales (type, block, n_blocks, &d, &m);
  for (int t = 0; t < n; t++)
    {
      int64_t at = (token + t) * (p->k / 32) + b;
      _mm256_storeu_ps (scales[t], _mm256_mul_ps (d, vec_load_n (p->acts.d + at, n_blocks)));
      if (!is_signed (type))
        mins[t] = _mm256_fmadd_ps (m, vec_load_n (p->acts.s + at, n_blocks), mins[t]);
    }
  for (int i = 0; i < n_blocks; i++)
    {
      __m256i w = load_bytes (type, block + (size_t) i * size);
      prefetch (block + (size_t) i * size);
      for (int t = 0; t < n; t++)
        {
          int64_t at = (token + t) * p->k + (b + i) * 32;
          __m256i high = multiply_bytes (type, w, p->acts.q + at);
          __m256i low = multiply_bytes (type, w, p->acts.fine + at);
          __m256 dot = _mm256_cvtepi32_ps (_mm256_add_epi32 (_mm256_slli_epi32 (high, 8), low));
          __m256 *sum = &sums[t][n > 1 ? 0 : i % 2];
          *sum = _mm256_fmadd_ps (dot, _mm256_broadcast_ss (&scales[t][i]), *sum);
        }
    }
}

/* One row with n tokens from @token on. */
INLINE void
int8_row (const KvasirProduct *p, const KvasirType type, int64_t r, int64_t token, const int n)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  int64_t n_blocks = p->k / 32, b = 0;
  /* One token alone has two sums in turn, so that one addition need not wait for the other. */
  __m256 sums[MAX_FEW][2], mins[MAX_FEW];

  for (int t = 0; t < n; t++)
    sums[t][0] = sums[t][1] = mins[t] = _mm256_setzero_ps ();
  for (; b + 8 <= n_blocks; b += 8)
    add_blocks (p, type, row, token, b, 8, n, sums, mins);
  for (; b + 2 <= n_blocks; b += 2)
    add_blocks (p, type, row, token, b, 2, n, sums, mins);
  if (b < n_blocks)
    add_blocks (p, type, row, token, b, 1, n, sums, mins);
  for (int t = 0; t < n; t++)
    {
      float sum = vec_sum (_mm256_add_ps (_mm256_add_ps (sums[t][0], sums[t][1]), mins[t]));
      p->dst[(size_t) (token + t) * p->dst_stride + (size_t) r] = sum + (p->bias ? p->bias[r] : 0);
    }
}

INLINE void
int8_few (const KvasirProduct *p, const KvasirProductPart *part, const KvasirType type)
{
  for (int64_t r = part->row; r < part->row_end; r++)
    {
      int64_t t = part->token;
      for (; t + 4 <= part->token_end; t += 4)
        int8_row (p, type, r, t, 4);
      for (; t < part->token_end; t++)
        int8_row (p, type, r, t, 1);
    }
}

/* Eight rows side by side, four bytes of each. */
#define TILE_ROWS 8
/* Blocks of a row multiplied at a time, so that the tile stays in the first cache. */
#define TILE_BLOCKS 48

typedef struct
{
  uint8_t *bytes; /* [n_blocks][8][8][4] */
  float *d;       /* [n_blocks][8] */
  float *m;       /* [n_blocks][8] */
} Tile;

/* Eight rows of eight dwords to eight vectors of eight rows. */
INLINE void
store_interleaved (const __m256i rows[8], uint8_t *out)
{
  for (int half = 0; half < 2; half++)
    {
      __m256i r[4];
      for (int i = 0; i < 4; i++)
        r[i] = half ? _mm256_permute2x128_si256 (rows[i], rows[4 + i], 0x31)
                    : _mm256_permute2x128_si256 (rows[i], rows[4 + i], 0x20);
      __m256i a = _mm256_unpacklo_epi32 (r[0], r[1]), b = _mm256_unpackhi_epi32 (r[0], r[1]);
      __m256i c = _mm256_unpacklo_epi32 (r[2], r[3]), d = _mm256_unpackhi_epi32 (r[2], r[3]);
      __m256i *to = (__m256i *) (void *) (out + half * 128);
      _mm256_store_si256 (to, _mm256_unpacklo_epi64 (a, c));
      _mm256_store_si256 (to + 1, _mm256_unpackhi_epi64 (a, c));
      _mm256_store_si256 (to + 2, _mm256_unpacklo_epi64 (b, d));
      _mm256_store_si256 (to + 3, _mm256_unpackhi_epi64 (b, d));
    }
}

/* Rows behind the last one are its copies; what they give is not stored. */
INLINE void
unpack_tile (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const size_t size = get_block_bytes (type);
  const uint8_t *rows[TILE_ROWS];
  __m256i r[TILE_ROWS];

  for (int64_t i = 0; i < TILE_ROWS; i++)
    rows[i] = p->weights + (size_t) (row + i < last ? row + i : last) * p->weight_stride;
  for (int64_t b = 0; b < p->k / 32; b++)
    {
      int heads[TILE_ROWS];
      __m256 d, m;
      for (int i = 0; i < TILE_ROWS; i++)
        {
          const uint8_t *block = rows[i] + (size_t) b * size;
          r[i] = load_bytes (type, block);
          heads[i] = load_dword (block);
        }
      split_heads (type, _mm_loadu_si128 ((const void *) heads),
                   _mm_loadu_si128 ((const void *) (heads + 4)), &d, &m);
      _mm256_store_ps (tile->d + b * TILE_ROWS, d);
      _mm256_store_ps (tile->m + b * TILE_ROWS, m);
      store_interleaved (r, tile->bytes + b * 256);
    }
}

/* How many products of pairs fit into 16 bits: 8 of four-bit weights, 4 of five-bit ones. */
INLINE int
get_pairs_that_fit (const KvasirType type)
{
  if (is_signed (type))
    return 1;
  return type == KVASIR_TYPE_Q4_0 || type == KVASIR_TYPE_Q4_1 ? 8 : 4;
}

/* Integer products of one block of 8 rows with four tokens. */
INLINE void
multiply_block (
    const KvasirType type, const uint8_t *bytes, const int8_t *q, int64_t k, __m256i dots[4])
{
  const int fit = get_pairs_that_fit (type);
  __m256i pairs[4];

#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    {
      __m256i w = _mm256_load_si256 ((const void *) (bytes + 32 * j));
      for (int t = 0; t < 4; t++)
        {
          int four;
          memcpy (&four, q + t * k + 4 * j, sizeof four);
          __m256i product = multiply_pairs (type, w, _mm256_set1_epi32 (four));
          pairs[t] = j % fit == 0 ? product : _mm256_add_epi16 (pairs[t], product);
          /* Otherwise the compiler adds in another order and keeps all products in memory. */
          __asm__("" : "+x"(pairs[t]));
          if (j % fit == fit - 1)
            dots[t] = j < fit ? widen_pairs (pairs[t])
                              : _mm256_add_epi32 (dots[t], widen_pairs (pairs[t]));
        }
    }
}

INLINE void
multiply_tile (const KvasirProduct *p,
               const KvasirType type,
               const Tile *tile,
               int64_t token,
               int64_t b,
               int64_t end,
               __m256 sums[4])
{
  const float *ds = p->acts.d + token * (p->k / 32), *ss = p->acts.s + token * (p->k / 32);

  for (; b < end; b++)
    {
      __m256i dots[4];
      multiply_block (type, tile->bytes + b * 256, p->acts.q + token * p->k + b * 32, p->k, dots);
      __m256 d = _mm256_load_ps (tile->d + b * TILE_ROWS);
      __m256 m = _mm256_load_ps (tile->m + b * TILE_ROWS);
      for (int t = 0; t < 4; t++)
        {
          int64_t at = t * (p->k / 32) + b;
          __m256 scale = _mm256_mul_ps (d, _mm256_set1_ps (ds[at]));
          sums[t] = _mm256_fmadd_ps (_mm256_cvtepi32_ps (dots[t]), scale, sums[t]);
          if (!is_signed (type))
            sums[t] = _mm256_fmadd_ps (m, _mm256_set1_ps (ss[at]), sums[t]);
        }
    }
}

INLINE void
multiply_tokens (const KvasirProduct *p,
                 const KvasirProductPart *part,
                 const KvasirType type,
                 const Tile *tile,
                 int64_t b,
                 int64_t end)
{
  int lanes = (int) (part->row_end - part->row);

  for (int64_t token = part->token; token < part->token_end; token += 4)
    {
      int64_t n = part->token_end - token < 4 ? part->token_end - token : 4;
      __m256 sums[4];
      for (int t = 0; t < 4; t++)
        sums[t] = _mm256_setzero_ps ();
      multiply_tile (p, type, tile, token, b, end, sums);
      for (int64_t t = 0; t < n; t++)
        {
          float *dst = p->dst + (size_t) (token + t) * p->dst_stride + part->row;
          if (b > 0)
            sums[t] = _mm256_add_ps (sums[t], vec_load_n (dst, lanes));
          else if (p->bias)
            sums[t] = _mm256_add_ps (sums[t], vec_load_n (p->bias + part->row, lanes));
          vec_store_n (dst, sums[t], lanes);
        }
    }
}

INLINE void
int8_many (const KvasirProduct *p,
           const KvasirProductPart *part,
           const KvasirType type,
           uint8_t *scratch)
{
  int64_t n_blocks = p->k / 32;
  Tile tile = { .bytes = scratch };

  tile.d = (float *) (void *) (scratch + n_blocks * 256);
  tile.m = tile.d + n_blocks * TILE_ROWS;
  for (int64_t row = part->row; row < part->row_end; row += TILE_ROWS)
    {
      KvasirProductPart rows = *part;
      rows.row = row;
      rows.row_end = row + TILE_ROWS < part->row_end ? row + TILE_ROWS : part->row_end;
      unpack_tile (p, type, row, rows.row_end - 1, &tile);
      for (int64_t b = 0; b < n_blocks; b += TILE_BLOCKS)
        {
          int64_t end = b + TILE_BLOCKS < n_blocks ? b + TILE_BLOCKS : n_blocks;
          multiply_tokens (p, &rows, type, &tile, b, end);
        }
    }
}
