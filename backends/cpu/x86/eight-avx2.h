/* backends/cpu/x86/eight-avx2.h - blocks of eight rows side by side
 *
 * Lanes are rows: a vector has four bytes of each, so that products with the same four activations
 * for all lanes end with the sums of eight rows, and no lane is ever added to another. Sixteen rows
 * that are packed (packed.h) are two such sides; as they lie in the file they are turned here.
 *
 * vpmaddubsw, whose bytes of one side are unsigned, adds pairs in 16 bits: enough for weights of up
 * to six bits. Wider ones stay signed there. With AVX-VNNI all are unsigned, as vpdpbusd adds four
 * products in 32 bits. Needs AVX2.
 */
#pragma once

#include "backends/cpu/x86/blocks-k-x86.h"
#include "backends/cpu/x86/vec-kernels.h"

#define SIDE_ROWS 8

#ifdef __AVXVNNI__
INLINE bool
takes_signs (const KvasirType type)
{
  (void) type;
  return false;
}
#else
INLINE bool
takes_signs (const KvasirType type)
{
  return type == KVASIR_TYPE_Q8_0 || type == KVASIR_TYPE_IQ4_NL || type == KVASIR_TYPE_IQ4_XS;
}
#endif

INLINE __m256i
load_bytes (const KvasirType type, const uint8_t *block)
{
  return takes_signs (type) ? load_signed (type, block) : load_unsigned (type, block);
}

/* ---- rows as they lie in the file */

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

/* One block of 32 of eight rows: elements [4 j, 4 j + 4) of all of them as vector j. */
INLINE void
unpack_block (
    const KvasirType type, const uint8_t *const rows[8], uint8_t *bytes, float *d, float *m)
{
  int heads[SIDE_ROWS];
  __m256i r[SIDE_ROWS];
  __m256 scales, mins;

  for (int i = 0; i < SIDE_ROWS; i++)
    {
      r[i] = load_bytes (type, rows[i]);
      heads[i] = load_dword (rows[i]);
    }
  split_heads (type, _mm_loadu_si128 ((const void *) heads),
               _mm_loadu_si128 ((const void *) (heads + 4)), &scales, &mins);
  _mm256_store_ps (d, scales);
  _mm256_store_ps (m, mins);
  store_interleaved (r, bytes);
}

/* ---- packed blocks of 32 */

/* What the nibbles of a type stand for; @fifth: the four bytes whose bits add 16. */
INLINE __m256i
decode_nibbles (const KvasirType type, __m256i q, const uint8_t *fifth)
{
  __m256i table;

  if (type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1)
    return _mm256_or_si256 (q, spread_bits (fifth));
  if (type == KVASIR_TYPE_MXFP4)
    return _mm256_shuffle_epi8 (_mm256_broadcastsi128_si256 (get_mxfp4_table ()), q);
  if (type != KVASIR_TYPE_IQ4_NL)
    return q;
  table = _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));
  if (!takes_signs (type))
    table = _mm256_xor_si256 (table, _mm256_set1_epi8 ((char) 128));
  return _mm256_shuffle_epi8 (table, q);
}

/* Vector j of a side of a packed block. */
INLINE __m256i
load_packed_bytes (const KvasirType type, const uint8_t *block, int side, const int j)
{
  const uint8_t *qs = block + 16 * get_block_bytes (type) - (type == KVASIR_TYPE_Q8_0 ? 512 : 256);
  const bool is_wide = type == KVASIR_TYPE_Q8_0;
  __m256i x = _mm256_loadu_si256 ((const void *) (qs + 64 * (is_wide ? j : j % 4) + 32 * side));

  if (is_wide)
    return takes_signs (type) ? x : _mm256_xor_si256 (x, _mm256_set1_epi8 ((char) 128));
  x = _mm256_and_si256 (j < 4 ? x : _mm256_srli_epi16 (x, 4), _mm256_set1_epi8 (15));
  return decode_nibbles (type, x, qs - 64 + 8 * j + 4 * side);
}

INLINE void
load_packed_scales (const KvasirType type, const uint8_t *block, int side, __m256 *d, __m256 *m)
{
  if (type == KVASIR_TYPE_MXFP4)
    *d = get_e8m0_scales (
        _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const void *) (block + 8 * side))));
  else
    *d = _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) (block + 16 * side)));
  if (has_min (type))
    *m = _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) (block + 32 + 16 * side)));
  else
    *m = _mm256_mul_ps (*d, _mm256_set1_ps ((float) -get_offset (type)));
}

/* The same as unpack_block() from a side of a packed block. */
INLINE void
unpack_packed (
    const KvasirType type, const uint8_t *block, int side, uint8_t *bytes, float *d, float *m)
{
  __m256 scales, mins;

  load_packed_scales (type, block, side, &scales, &mins);
  _mm256_store_ps (d, scales);
  _mm256_store_ps (m, mins);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    _mm256_store_si256 ((void *) (bytes + 32 * j), load_packed_bytes (type, block, side, j));
}
