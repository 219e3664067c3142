/* backends/cpu/x86/tile-avx512.h - tiles of rows unpacked to bytes, from any quantised type
 *
 * Included by products-avx512.h.
 */
#pragma once

#include "backends/cpu/x86/few-k-avx512.h"
#include "backends/cpu/x86/tile.h"

/* 32 rows of weights unpacked for vpdpbusd: 16 rows side by side, four bytes of each. */
#define TILE_ROWS 32
/* Blocks of a row multiplied at a time, so that the tile stays in the first cache. */
#define TILE_BLOCKS 24

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

/* Sixteen lists of sixteen floats: those of a run of each row become neighbours. */
INLINE void
store_scales (const float *rows, const int n_runs, float *out)
{
  float runs[16 * 16] __attribute__ ((aligned (64)));

  vec_transpose (rows, 16, runs, 16);
  for (int i = 0; i < n_runs; i++)
    _mm512_store_ps (out + TILE_ROWS * i, _mm512_load_ps (runs + 16 * (16 / n_runs * i)));
}

/* One block of 256 of 16 rows. */
INLINE void
unpack_k_block (
    const KvasirType type, const uint8_t *const rows[16], uint8_t *bytes, float *d, float *m)
{
  float ds[16 * 16] __attribute__ ((aligned (64))), ms[16 * 16] __attribute__ ((aligned (64)));
  __m512i u[16];

  for (int r = 0; r < 16; r++)
    {
      __m512 scale, min;
      load_k_scales (type, rows[r], &scale, &min);
      _mm512_store_ps (ds + 16 * r, scale);
      _mm512_store_ps (ms + 16 * r, min);
    }
  store_scales (ds, 8 * get_n_parts (type), d);
  store_scales (ms, 8 * get_n_parts (type), m);
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    {
      for (int r = 0; r < 16; r++)
        u[r] = load_64 (type, rows[r], i);
      /* Dwords are moved like floats. */
      vec_transpose ((const float *) (const void *) u, 16, (float *) (void *) (bytes + 1024 * i),
                     16);
    }
}

/* Rows behind the last one are its copies; what they give is not stored. */
INLINE void
unpack_tile (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const int n_blocks = is_k_type (type) ? 8 : 1, n_parts = get_n_parts (type);
  const size_t size = is_k_type (type) ? get_k_block_bytes (type) : get_block_bytes (type);
  const uint8_t *rows[TILE_ROWS];

  for (int64_t i = 0; i < TILE_ROWS; i++)
    rows[i] = p->weights + (size_t) (row + i < last ? row + i : last) * p->weight_stride;
  for (int64_t b = 0; b < p->k / 32; b += n_blocks)
    {
      fetch_tile (tile, 0, b, n_blocks);
      for (int half = 0; half < 2; half++)
        {
          uint8_t *bytes = tile->bytes + (p->k / 32 * half + b) * 512;
          int64_t at = b * n_parts * TILE_ROWS + 16 * half;
          if (is_k_type (type))
            unpack_k_block (type, rows + 16 * half, bytes, tile->d + at, tile->m + at);
          else
            unpack_block (type, rows + 16 * half, bytes, tile->d + at, tile->m + at);
        }
      for (int i = 0; i < TILE_ROWS; i++)
        rows[i] += size;
    }
}
