/* backends/cpu/x86/products-avx512.h - products of block-32 types with int8 activations
 *
 * With u the unsigned bytes of a weight block, q and a the activations' bytes and scale:
 *   sum w x = d a sum (u q) + m a sum (q), m the minimum or - d offset,
 * where sum (u q) is integer and a sum (q) is kept with the activations.
 *
 * Needs AVX-512 VNNI. Included by kernels-avx512.c.
 */
#pragma once

#include "backends/cpu/x86/blocks-x86.h"
#include "backends/cpu/x86/vec-kernels.h"

/* Scales and minimums out of the first four bytes of sixteen blocks. */
INLINE void
split_heads (const KvasirType type, __m512i heads, __m512 *d, __m512 *m)
{
  if (type == KVASIR_TYPE_MXFP4)
    *d = _mm512_insertf32x8 (
        _mm512_castps256_ps512 (get_e8m0_scales (_mm512_castsi512_si256 (heads))),
        get_e8m0_scales (_mm512_extracti64x4_epi64 (heads, 1)), 1);
  else
    *d = _mm512_cvtph_ps (_mm512_cvtepi32_epi16 (heads));
  if (has_min (type))
    *m = _mm512_cvtph_ps (_mm512_cvtepi32_epi16 (_mm512_srli_epi32 (heads, 16)));
  else
    *m = _mm512_mul_ps (*d, _mm512_set1_ps ((float) -get_offset (type)));
}

/* Scales and minimums of up to 16 blocks of a row, one per lane. Single loads: a gather takes
 * three times as long on some processors and thirty times on others. */
INLINE void
load_scales (const KvasirType type, const uint8_t *block, const int n, __m512 *d, __m512 *m)
{
  const size_t size = get_block_bytes (type);
  __m512i heads = _mm512_castsi128_si512 (load_four_heads (block, size, n));

  if (n > 4)
    {
      __m128i h1 = load_four_heads (block + 4 * size, size, n - 4);
      __m256i low = _mm256_inserti128_si256 (_mm512_castsi512_si256 (heads), h1, 1);
      __m128i h2 = load_four_heads (block + 8 * size, size, n - 8);
      __m128i h3 = load_four_heads (block + 12 * size, size, n - 12);
      __m256i high = _mm256_inserti128_si256 (_mm256_castsi128_si256 (h2), h3, 1);
      heads = _mm512_inserti64x4 (_mm512_castsi256_si512 (low), high, 1);
    }
  else
    heads = _mm512_zextsi128_si512 (_mm512_castsi512_si128 (heads));
  split_heads (type, heads, d, m);
}

/* 16 in the byte of each bit that is set. */
INLINE __m512i
add_fifth_bits (__m512i u, const uint8_t *qh0, const uint8_t *qh1)
{
  uint32_t low, high;
  memcpy (&low, qh0, sizeof low);
  memcpy (&high, qh1, sizeof high);
  return _mm512_mask_add_epi8 (u, (__mmask64) high << 32 | low, u, _mm512_set1_epi8 (16));
}

/* The nibbles of two blocks: each quarter takes one half of the bits of one block. */
INLINE __m512i
split_two (const uint8_t *qs0, const uint8_t *qs1)
{
  __m512i x = _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) qs0));

  x = _mm512_mask_broadcast_i32x4 (x, 0xff00, _mm_loadu_si128 ((const void *) qs1));
  x = _mm512_mask_srli_epi16 (x, 0xff00ff00, x, 4);
  return _mm512_and_si512 (x, _mm512_set1_epi8 (15));
}

/* The bytes of two blocks in order. */
INLINE __m512i
load_two (const KvasirType type, const uint8_t *b0, const uint8_t *b1)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_0:
      return split_two (b0 + 2, b1 + 2);
    case KVASIR_TYPE_Q4_1:
      return split_two (b0 + 4, b1 + 4);
    case KVASIR_TYPE_Q5_0:
      return add_fifth_bits (split_two (b0 + 6, b1 + 6), b0 + 2, b1 + 2);
    case KVASIR_TYPE_Q5_1:
      return add_fifth_bits (split_two (b0 + 8, b1 + 8), b0 + 4, b1 + 4);
    default:
      return _mm512_inserti64x4 (_mm512_castsi256_si512 (load_unsigned (type, b0)),
                                 load_unsigned (type, b1), 1);
    }
}

#define MAX_FEW 4

typedef struct
{
  const int8_t *q[MAX_FEW];
  const int8_t *fine[MAX_FEW]; /* of steps of few tokens */
  const float *d[MAX_FEW];
  const float *s[MAX_FEW];
} FewActs;

INLINE FewActs
get_few_acts (const KvasirProduct *p, int64_t token, const int n)
{
  FewActs acts;

  for (int t = 0; t < n; t++)
    {
      acts.q[t] = p->acts.q + (token + t) * p->k;
      acts.fine[t] = p->acts.fine != NULL ? p->acts.fine + (token + t) * p->k : NULL;
      acts.d[t] = p->acts.d + (token + t) * (p->k / 32);
      acts.s[t] = p->acts.s + (token + t) * (p->k / 32);
    }
  return acts;
}

/* Blocks [b, b + n_blocks), at most 16, of a row with n tokens. */
INLINE void
add_blocks (const KvasirType type,
            const uint8_t *row,
            const FewActs *acts,
            int64_t b,
            const int n_blocks,
            const int n,
            __m512 sums[][2],
            __m512 *mins)
{
  const size_t size = get_block_bytes (type);
  const __m512i halves = _mm512_setr_epi32 (0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __mmask16 mask = (__mmask16) ((1u << n_blocks) - 1);
  const uint8_t *block = row + (size_t) b * size;
  __m512 d, m, scales[MAX_FEW];

  load_scales (type, block, n_blocks, &d, &m);
  for (int t = 0; t < n; t++)
    {
      scales[t] = _mm512_mul_ps (d, _mm512_maskz_loadu_ps (mask, acts->d[t] + b));
      mins[t] = _mm512_fmadd_ps (m, _mm512_maskz_loadu_ps (mask, acts->s[t] + b), mins[t]);
    }
  for (int i = 0; i < n_blocks; i += 2)
    {
      /* An odd block is taken twice; the scale of its copy is 0. */
      const uint8_t *b0 = block + (size_t) i * size, *b1 = i + 1 < n_blocks ? b0 + size : b0;
      __m512i u = load_two (type, b0, b1);
      __m512i pick = _mm512_add_epi32 (halves, _mm512_set1_epi32 (i));
      prefetch (block + (size_t) i * size);
      for (int t = 0; t < n; t++)
        {
          __m512i q = _mm512_loadu_si512 (acts->q[t] + (b + i) * 32);
          __m512i fine = _mm512_loadu_si512 (acts->fine[t] + (b + i) * 32);
          __m512i high = _mm512_dpbusd_epi32 (_mm512_setzero_si512 (), u, q);
          __m512 dot =
              _mm512_cvtepi32_ps (_mm512_dpbusd_epi32 (_mm512_slli_epi32 (high, 8), u, fine));
          __m512 *sum = &sums[t][i / 2 % 2];
          *sum = _mm512_fmadd_ps (dot, _mm512_permutexvar_ps (pick, scales[t]), *sum);
        }
    }
}

/* One row with n tokens from @token on. */
INLINE void
int8_row (const KvasirProduct *p, const KvasirType type, int64_t r, int64_t token, const int n)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  FewActs acts = get_few_acts (p, token, n);
  int64_t n_blocks = p->k / 32, b = 0;
  /* Two sums in turn, so that one addition need not wait for the other. */
  __m512 sums[MAX_FEW][2], mins[MAX_FEW];

  for (int t = 0; t < n; t++)
    sums[t][0] = sums[t][1] = mins[t] = _mm512_setzero_ps ();
  for (; b + 16 <= n_blocks; b += 16)
    add_blocks (type, row, &acts, b, 16, n, sums, mins);
  for (; b + 2 <= n_blocks; b += 2)
    add_blocks (type, row, &acts, b, 2, n, sums, mins);
  if (b < n_blocks)
    add_blocks (type, row, &acts, b, 1, n, sums, mins);
  for (int t = 0; t < n; t++)
    {
      __m512 both = _mm512_add_ps (sums[t][0], sums[t][1]);
      float sum = _mm512_reduce_add_ps (_mm512_add_ps (both, mins[t]));
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
      for (; t + 2 <= part->token_end; t += 2)
        int8_row (p, type, r, t, 2);
      if (t < part->token_end)
        int8_row (p, type, r, t, 1);
    }
}

/* 32 rows of weights unpacked for vpdpbusd: 16 rows side by side, four bytes of each. */
#define TILE_ROWS 32
/* Blocks of a row multiplied at a time, so that the tile stays in the first cache. */
#define TILE_BLOCKS 24

typedef struct
{
  uint8_t *bytes; /* [n_blocks][2][8][16][4] */
  float *d;       /* [n_blocks][32] */
  float *m;       /* [n_blocks][32] */
} Tile;

/* Dword @offset / 4 of sixteen rows. */
INLINE __m512i
load_dwords (const uint8_t *const rows[16], size_t offset)
{
  __m128i four[4];

  for (int i = 0; i < 4; i++)
    four[i] = _mm_setr_epi32 (
        load_dword (rows[4 * i] + offset), load_dword (rows[4 * i + 1] + offset),
        load_dword (rows[4 * i + 2] + offset), load_dword (rows[4 * i + 3] + offset));
  __m256i low = _mm256_inserti128_si256 (_mm256_castsi128_si256 (four[0]), four[1], 1);
  __m256i high = _mm256_inserti128_si256 (_mm256_castsi128_si256 (four[2]), four[3], 1);
  return _mm512_inserti64x4 (_mm512_castsi256_si512 (low), high, 1);
}

/* Sixteen bytes of sixteen rows as four vectors: vector j has dword j of all rows in order. */
INLINE void
load_interleaved (const uint8_t *const rows[16], size_t offset, __m512i out[4])
{
  __m512i r[4];

  /* Quarter q of r[i] is row 4 q + i, so that 4x4 blocks inside the quarters give the dwords. */
  for (int i = 0; i < 4; i++)
    {
      r[i] = _mm512_castsi128_si512 (_mm_loadu_si128 ((const void *) (rows[i] + offset)));
      for (int q = 1; q < 4; q++)
        r[i] = _mm512_mask_broadcast_i32x4 (
            r[i], (__mmask16) (0xf << (4 * q)),
            _mm_loadu_si128 ((const void *) (rows[4 * q + i] + offset)));
    }
  __m512i a = _mm512_unpacklo_epi32 (r[0], r[1]), b = _mm512_unpackhi_epi32 (r[0], r[1]);
  __m512i c = _mm512_unpacklo_epi32 (r[2], r[3]), d = _mm512_unpackhi_epi32 (r[2], r[3]);
  out[0] = _mm512_unpacklo_epi64 (a, c);
  out[1] = _mm512_unpackhi_epi64 (a, c);
  out[2] = _mm512_unpacklo_epi64 (b, d);
  out[3] = _mm512_unpackhi_epi64 (b, d);
}

/* Bits [4 j, 4 j + 4) of every dword, each as 16 or 0 in a byte of its own. The product puts copies
 * of the four bits 7 apart, so that bit k of copy k is the lowest one of byte k. */
INLINE __m512i
get_fifth_bits (__m512i qh, int j)
{
  __m512i bits =
      _mm512_and_si512 (_mm512_srl_epi32 (qh, _mm_cvtsi32_si128 (4 * j)), _mm512_set1_epi32 (15));
  __m512i copies = _mm512_mullo_epi32 (bits, _mm512_set1_epi32 (0x00204081));

  return _mm512_slli_epi32 (_mm512_and_si512 (copies, _mm512_set1_epi32 (0x01010101)), 4);
}

/* The low nibbles are the first half of a block, the high ones the second. */
INLINE void
unpack_nibbles (const KvasirType type, const uint8_t *const rows[16], uint8_t *bytes)
{
  const bool has_fifth = type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1;
  const size_t qs = get_block_bytes (type) - 16;
  const __m512i low = _mm512_set1_epi8 (15);
  __m512i x[4], qh = has_fifth ? load_dwords (rows, qs - 4) : low;

  load_interleaved (rows, qs, x);
  for (int j = 0; j < 8; j++)
    {
      __m512i q = _mm512_and_si512 (j < 4 ? x[j] : _mm512_srli_epi16 (x[j - 4], 4), low);
      if (has_fifth)
        q = _mm512_or_si512 (q, get_fifth_bits (qh, j));
      if (type == KVASIR_TYPE_IQ4_NL)
        {
          const __m512i table =
              _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));
          q = _mm512_xor_si512 (_mm512_shuffle_epi8 (table, q), _mm512_set1_epi8 ((char) 128));
        }
      if (type == KVASIR_TYPE_MXFP4)
        q = _mm512_shuffle_epi8 (_mm512_broadcast_i32x4 (get_mxfp4_table ()), q);
      _mm512_store_si512 (bytes + 64 * j, q);
    }
}

INLINE void
unpack_bytes (const uint8_t *const rows[16], uint8_t *bytes)
{
  for (int half = 0; half < 2; half++)
    {
      __m512i x[4];
      load_interleaved (rows, 2 + 16 * (size_t) half, x);
      for (int j = 0; j < 4; j++)
        _mm512_store_si512 (bytes + 64 * (4 * half + j),
                            _mm512_xor_si512 (x[j], _mm512_set1_epi8 ((char) 128)));
    }
}

/* One block of 16 rows. */
INLINE void
unpack_block (
    const KvasirType type, const uint8_t *const rows[16], uint8_t *bytes, float *d, float *m)
{
  __m512 scales, mins;

  split_heads (type, load_dwords (rows, 0), &scales, &mins);
  _mm512_store_ps (d, scales);
  _mm512_store_ps (m, mins);
  if (type == KVASIR_TYPE_Q8_0)
    unpack_bytes (rows, bytes);
  else
    unpack_nibbles (type, rows, bytes);
}

/* Rows behind the last one are its copies; what they give is not stored. */
INLINE void
unpack_tile (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const uint8_t *rows[TILE_ROWS];

  for (int64_t i = 0; i < TILE_ROWS; i++)
    rows[i] = p->weights + (size_t) (row + i < last ? row + i : last) * p->weight_stride;
  for (int64_t b = 0; b < p->k / 32; b++)
    {
      for (int half = 0; half < 2; half++)
        unpack_block (type, rows + 16 * half, tile->bytes + (b * 2 + half) * 512,
                      tile->d + b * 32 + 16 * half, tile->m + b * 32 + 16 * half);
      for (int i = 0; i < TILE_ROWS; i++)
        rows[i] += get_block_bytes (type);
    }
}

/* 32 rows with four tokens over blocks [b, end); everything in registers. */
INLINE void
multiply_tile (const KvasirProduct *p,
               const Tile *tile,
               int64_t token,
               int64_t b,
               int64_t end,
               __m512 sums[2][4])
{
  FewActs acts = get_few_acts (p, token, 4);

  for (; b < end; b++)
    {
      const uint8_t *bytes = tile->bytes + b * 1024;
      __m512i dots[2][4];
      for (int t = 0; t < 4; t++)
        dots[0][t] = dots[1][t] = _mm512_setzero_si512 ();
#pragma GCC unroll 8
      for (int j = 0; j < 8; j++)
        {
          __m512i w0 = _mm512_load_si512 (bytes + 64 * j);
          __m512i w1 = _mm512_load_si512 (bytes + 512 + 64 * j);
          for (int t = 0; t < 4; t++)
            {
              int four;
              memcpy (&four, acts.q[t] + b * 32 + 4 * j, sizeof four);
              __m512i q = _mm512_set1_epi32 (four);
              dots[0][t] = _mm512_dpbusd_epi32 (dots[0][t], w0, q);
              dots[1][t] = _mm512_dpbusd_epi32 (dots[1][t], w1, q);
            }
        }
      for (int h = 0; h < 2; h++)
        {
          __m512 d = _mm512_load_ps (tile->d + b * 32 + 16 * h);
          __m512 m = _mm512_load_ps (tile->m + b * 32 + 16 * h);
          for (int t = 0; t < 4; t++)
            {
              __m512 scale = _mm512_mul_ps (d, _mm512_set1_ps (acts.d[t][b]));
              sums[h][t] = _mm512_fmadd_ps (_mm512_cvtepi32_ps (dots[h][t]), scale, sums[h][t]);
              sums[h][t] = _mm512_fmadd_ps (m, _mm512_set1_ps (acts.s[t][b]), sums[h][t]);
            }
        }
    }
}

INLINE void
multiply_tokens (
    const KvasirProduct *p, const KvasirProductPart *part, const Tile *tile, int64_t b, int64_t end)
{
  for (int64_t token = part->token; token < part->token_end; token += 4)
    {
      int64_t n = part->token_end - token < 4 ? part->token_end - token : 4;
      __m512 sums[2][4];
      for (int h = 0; h < 2; h++)
        for (int t = 0; t < 4; t++)
          sums[h][t] = _mm512_setzero_ps ();
      multiply_tile (p, tile, token, b, end, sums);
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

INLINE void
int8_many (const KvasirProduct *p,
           const KvasirProductPart *part,
           const KvasirType type,
           uint8_t *scratch)
{
  int64_t n_blocks = p->k / 32;
  Tile tile = { .bytes = scratch };

  tile.d = (float *) (void *) (scratch + n_blocks * 1024);
  tile.m = tile.d + n_blocks * 32;
  for (int64_t row = part->row; row < part->row_end; row += TILE_ROWS)
    {
      KvasirProductPart rows = *part;
      rows.row = row;
      rows.row_end = row + TILE_ROWS < part->row_end ? row + TILE_ROWS : part->row_end;
      unpack_tile (p, type, row, rows.row_end - 1, &tile);
      for (int64_t b = 0; b < n_blocks; b += TILE_BLOCKS)
        {
          int64_t end = b + TILE_BLOCKS < n_blocks ? b + TILE_BLOCKS : n_blocks;
          multiply_tokens (p, &rows, &tile, b, end);
        }
    }
}
