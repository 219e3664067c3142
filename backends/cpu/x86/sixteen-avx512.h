/* backends/cpu/x86/sixteen-avx512.h - a block of sixteen rows side by side
 *
 * Lanes are rows: a vector has four bytes of each, so that products with the same four activations
 * for all lanes end with the sums of sixteen rows, and no lane is ever added to another. Rows that
 * are packed (packed.h) lie like that; as they lie in the file they are turned here. Needs AVX-512
 * VNNI.
 */
#pragma once

#include "backends/cpu/x86/blocks-k-x86.h"
#include "backends/cpu/x86/vec-kernels.h"

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

/* Bits [4 j, 4 j + 4) of every dword, one for each of its bytes. */
INLINE __mmask64
test_fifth_bits (__m512i qh, int j)
{
  const __m512i which = _mm512_set1_epi32 ((int) (0x08040201u << (j % 2 * 4)));
  const __m512i pick = _mm512_add_epi8 (
      _mm512_broadcast_i32x4 (_mm_setr_epi32 (0, 0x04040404, 0x08080808, 0x0c0c0c0c)),
      _mm512_set1_epi8 ((char) (j / 2)));

  return _mm512_test_epi8_mask (_mm512_shuffle_epi8 (qh, pick), which);
}

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

/* A block of sixteen rows: elements [4 j, 4 j + 4) of each as unsigned bytes, scales, minimums. */
typedef struct
{
  __m512i u[8];
  __m512 d, m;
} Sixteen;

/* What the nibbles of a type stand for; @fifth: where 16 is added. */
INLINE __m512i
decode_nibbles (const KvasirType type, __m512i q, __mmask64 fifth)
{
  if (type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1)
    return _mm512_mask_add_epi8 (q, fifth, q, _mm512_set1_epi8 (16));
  if (type == KVASIR_TYPE_IQ4_NL)
    {
      const __m512i table =
          _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));
      return _mm512_xor_si512 (_mm512_shuffle_epi8 (table, q), _mm512_set1_epi8 ((char) 128));
    }
  if (type == KVASIR_TYPE_MXFP4)
    return _mm512_shuffle_epi8 (_mm512_broadcast_i32x4 (get_mxfp4_table ()), q);
  return q;
}

/* The low nibbles are the first half of a block, the high ones the second. */
INLINE void
load_nibbles (const KvasirType type, const uint8_t *const rows[16], __m512i u[8])
{
  const bool has_fifth = type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1;
  const size_t qs = get_block_bytes (type) - 16;
  const __m512i low = _mm512_set1_epi8 (15);
  __m512i x[4], qh = has_fifth ? load_dwords (rows, qs - 4) : low;

  load_interleaved (rows, qs, x);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    {
      __m512i q = _mm512_and_si512 (j < 4 ? x[j] : _mm512_srli_epi16 (x[j - 4], 4), low);
      u[j] = decode_nibbles (type, q, has_fifth ? test_fifth_bits (qh, j) : 0);
    }
}

INLINE void
load_bytes (const uint8_t *const rows[16], __m512i u[8])
{
  load_interleaved (rows, 2, u);
  load_interleaved (rows, 18, u + 4);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    u[j] = _mm512_xor_si512 (u[j], _mm512_set1_epi8 ((char) 128));
}

INLINE void
load_sixteen (const KvasirType type, const uint8_t *const rows[16], Sixteen *s)
{
  split_heads (type, load_dwords (rows, 0), &s->d, &s->m);
  if (type == KVASIR_TYPE_Q8_0)
    load_bytes (rows, s->u);
  else
    load_nibbles (type, rows, s->u);
}

INLINE __m512
load_sixteen_halves (const uint8_t *p)
{
  return _mm512_cvtph_ps (_mm256_loadu_si256 ((const void *) p));
}

INLINE void
load_packed_scales (const KvasirType type, const uint8_t *block, Sixteen *s)
{
  if (type == KVASIR_TYPE_MXFP4)
    {
      __m512i e = _mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const void *) block));
      s->d =
          _mm512_insertf32x8 (_mm512_castps256_ps512 (get_e8m0_scales (_mm512_castsi512_si256 (e))),
                              get_e8m0_scales (_mm512_extracti64x4_epi64 (e, 1)), 1);
    }
  else
    s->d = load_sixteen_halves (block);
  if (has_min (type))
    s->m = load_sixteen_halves (block + 32);
  else
    s->m = _mm512_mul_ps (s->d, _mm512_set1_ps ((float) -get_offset (type)));
}

/* The same from a group that is packed. */
INLINE void
load_packed (const KvasirType type, const uint8_t *block, Sixteen *s)
{
  const bool has_fifth = type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1;
  const __m512i low = _mm512_set1_epi8 (15), flip = _mm512_set1_epi8 ((char) 128);
  const uint8_t *qs = block + 16 * get_block_bytes (type) - (type == KVASIR_TYPE_Q8_0 ? 512 : 256);

  load_packed_scales (type, block, s);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    {
      uint64_t fifth = 0;
      if (type == KVASIR_TYPE_Q8_0)
        {
          s->u[j] = _mm512_xor_si512 (_mm512_loadu_si512 (qs + 64 * j), flip);
          continue;
        }
      __m512i x = _mm512_loadu_si512 (qs + 64 * (j % 4));
      if (has_fifth)
        memcpy (&fifth, qs - 64 + 8 * j, sizeof fifth);
      x = _mm512_and_si512 (j < 4 ? x : _mm512_srli_epi16 (x, 4), low);
      s->u[j] = decode_nibbles (type, x, fifth);
    }
}

/* The order of packed.h from sixteen rows as a file has them. */
INLINE void
turn_sixteen (const KvasirType type, const uint8_t *const rows[16], uint8_t *block)
{
  const bool has_fifth = type == KVASIR_TYPE_Q5_0 || type == KVASIR_TYPE_Q5_1;
  const size_t n_quants = type == KVASIR_TYPE_Q8_0 ? 32 : 16,
               qs = get_block_bytes (type) - n_quants;
  const __m512i heads = load_dwords (rows, 0);
  uint8_t *to = block + 16 * qs;
  __m512i four[4];

  if (type == KVASIR_TYPE_MXFP4)
    _mm_storeu_si128 ((void *) block, _mm512_cvtepi32_epi8 (heads));
  else
    _mm256_storeu_si256 ((void *) block, _mm512_cvtepi32_epi16 (heads));
  if (has_min (type))
    _mm256_storeu_si256 ((void *) (block + 32),
                         _mm512_cvtepi32_epi16 (_mm512_srli_epi32 (heads, 16)));
  for (int j = 0; j < 8 && has_fifth; j++)
    {
      uint64_t bits = test_fifth_bits (load_dwords (rows, qs - 4), j);
      memcpy (to - 64 + 8 * j, &bits, sizeof bits);
    }
  for (size_t at = 0; at < n_quants; at += 16)
    {
      load_interleaved (rows, qs + at, four);
      for (size_t i = 0; i < 4; i++)
        _mm512_storeu_si512 (to + 16 * at + 64 * i, four[i]);
    }
}
