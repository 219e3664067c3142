/* backends/cpu/x86/blocks-x86.h - blocks of 32 as bytes, and activations as int8
 *
 * For all block-32 types value = d * (u - offset) or d * u + m with u an unsigned byte, so that
 * one product serves them all. Needs AVX2; included by the files of both instruction sets.
 */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/kernels.h"

#ifndef INLINE
#define INLINE static inline __attribute__ ((always_inline))
#endif

INLINE size_t
get_block_bytes (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_1:
      return sizeof (KvasirBlockQ4_1);
    case KVASIR_TYPE_Q5_0:
      return sizeof (KvasirBlockQ5_0);
    case KVASIR_TYPE_Q5_1:
      return sizeof (KvasirBlockQ5_1);
    case KVASIR_TYPE_Q8_0:
      return sizeof (KvasirBlockQ8_0);
    case KVASIR_TYPE_MXFP4:
      return sizeof (KvasirBlockMxfp4);
    default:
      return sizeof (KvasirBlockQ4_0);
    }
}

/* Whether the block has a minimum of its own behind its scale. */
INLINE bool
has_min (const KvasirType type)
{
  return type == KVASIR_TYPE_Q4_1 || type == KVASIR_TYPE_Q5_1;
}

/* What the bytes of types without a minimum are above the values. */
INLINE int
get_offset (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_0:
      return 8;
    case KVASIR_TYPE_Q5_0:
      return 16;
    case KVASIR_TYPE_MXFP4:
      return 12;
    case KVASIR_TYPE_Q8_0:
    case KVASIR_TYPE_IQ4_NL:
      return 128;
    default:
      return 0;
    }
}

/* 16 bytes of two nibbles each as 32 bytes, the low ones first. */
INLINE __m256i
split_nibbles (const uint8_t *qs)
{
  __m128i x = _mm_loadu_si128 ((const void *) qs);
  __m256i both = _mm256_inserti128_si256 (_mm256_castsi128_si256 (x), _mm_srli_epi16 (x, 4), 1);

  return _mm256_and_si256 (both, _mm256_set1_epi8 (15));
}

/* 16 in byte i where bit i of the four bytes is set. */
INLINE __m256i
spread_bits (const uint8_t *qh)
{
  int bits;
  memcpy (&bits, qh, sizeof bits);
  const __m256i which =
      _mm256_setr_epi64x (0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i one = _mm256_set1_epi64x ((long long) 0x8040201008040201);
  __m256i bytes = _mm256_and_si256 (_mm256_shuffle_epi8 (_mm256_set1_epi32 (bits), which), one);

  return _mm256_and_si256 (_mm256_cmpeq_epi8 (bytes, one), _mm256_set1_epi8 (16));
}

INLINE __m256i
look_up_iq4 (const uint8_t *qs)
{
  const __m256i table =
      _mm256_broadcastsi128_si256 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));

  return _mm256_shuffle_epi8 (table, split_nibbles (qs));
}

/* kvasir_mxfp4_values and 12. */
INLINE __m128i
get_mxfp4_table (void)
{
  return _mm_add_epi8 (_mm_loadu_si128 ((const void *) kvasir_mxfp4_values), _mm_set1_epi8 (12));
}

/* The 32 elements of a block as unsigned bytes, in order. */
INLINE __m256i
load_unsigned (const KvasirType type, const uint8_t *block)
{
  const __m256i flip = _mm256_set1_epi8 ((char) 128);

  switch (type)
    {
    case KVASIR_TYPE_Q4_0:
      return split_nibbles (block + 2);
    case KVASIR_TYPE_Q4_1:
      return split_nibbles (block + 4);
    case KVASIR_TYPE_Q5_0:
      return _mm256_or_si256 (split_nibbles (block + 6), spread_bits (block + 2));
    case KVASIR_TYPE_Q5_1:
      return _mm256_or_si256 (split_nibbles (block + 8), spread_bits (block + 4));
    case KVASIR_TYPE_IQ4_NL:
      return _mm256_xor_si256 (look_up_iq4 (block + 2), flip);
    case KVASIR_TYPE_MXFP4:
      return _mm256_shuffle_epi8 (_mm256_broadcastsi128_si256 (get_mxfp4_table ()),
                                  split_nibbles (block + 1));
    default:
      return _mm256_xor_si256 (_mm256_loadu_si256 ((const void *) (block + 2)), flip);
    }
}

/* The same as signed bytes, for types whose unsigned ones are too large for 16-bit sums. */
INLINE __m256i
load_signed (const KvasirType type, const uint8_t *block)
{
  if (type == KVASIR_TYPE_IQ4_NL)
    return look_up_iq4 (block + 2);
  return _mm256_loadu_si256 ((const void *) (block + 2));
}

INLINE int
load_dword (const uint8_t *p)
{
  int dword;
  memcpy (&dword, p, sizeof dword);
  return dword;
}

/* The first four bytes of up to four blocks, one per lane. */
INLINE __m128i
load_four_heads (const uint8_t *block, size_t size, int n)
{
  return _mm_setr_epi32 (n > 0 ? load_dword (block) : 0, n > 1 ? load_dword (block + size) : 0,
                         n > 2 ? load_dword (block + 2 * size) : 0,
                         n > 3 ? load_dword (block + 3 * size) : 0);
}

INLINE float
load_half (const uint8_t *p)
{
  uint16_t half;
  memcpy (&half, p, sizeof half);
  return _cvtsh_ss (half);
}

INLINE float
load_scale (const KvasirType type, const uint8_t *block)
{
  return type == KVASIR_TYPE_MXFP4 ? kvasir_half_of_e8m0 (*block) : load_half (block);
}

/* 2^(e - 128) of the lowest byte of each lane. */
INLINE __m256
get_e8m0_scales (__m256i heads)
{
  const __m256i one = _mm256_set1_epi32 (1), tiny = _mm256_set1_epi32 (0x00200000);
  __m256i e = _mm256_and_si256 (heads, _mm256_set1_epi32 (255));
  __m256i normal = _mm256_slli_epi32 (_mm256_sub_epi32 (e, one), 23);
  __m256i small = _mm256_sllv_epi32 (tiny, e);

  return _mm256_castsi256_ps (_mm256_blendv_epi8 (small, normal, _mm256_cmpgt_epi32 (e, one)));
}

INLINE __m256
max_abs (__m256 max, __m256 x)
{
  return _mm256_max_ps (max, _mm256_andnot_ps (_mm256_set1_ps (-0.0f), x));
}

INLINE float
max_of_8 (__m256 x)
{
  __m128 m = _mm_max_ps (_mm256_castps256_ps128 (x), _mm256_extractf128_ps (x, 1));

  m = _mm_max_ps (m, _mm_movehl_ps (m, m));
  return _mm_cvtss_f32 (_mm_max_ss (m, _mm_movehdup_ps (m)));
}

/* Sums of the first and of the last 16 bytes. */
typedef struct
{
  int first, last;
} Sums;

INLINE Sums
sum_bytes (__m256i q)
{
  __m256i pairs = _mm256_maddubs_epi16 (_mm256_set1_epi8 (1), q);
  __m256i s = _mm256_madd_epi16 (pairs, _mm256_set1_epi16 (1));

  s = _mm256_add_epi32 (s, _mm256_shuffle_epi32 (s, 0x4e));
  s = _mm256_add_epi32 (s, _mm256_shuffle_epi32 (s, 0xb1));
  return (Sums){ _mm256_cvtsi256_si32 (s), _mm_cvtsi128_si32 (_mm256_extracti128_si256 (s, 1)) };
}

/* Packing works inside halves; the groups of four are put back in order. What does not fit
 * becomes the nearest of -127 ... 127: -128 has no negative, which the AVX2 products need. */
INLINE __m256i
pack_bytes (const __m256i q[4])
{
  const __m256i order = _mm256_setr_epi32 (0, 4, 1, 5, 2, 6, 3, 7);
  __m256i words0 = _mm256_packs_epi32 (q[0], q[1]), words1 = _mm256_packs_epi32 (q[2], q[3]);
  __m256i bytes = _mm256_max_epi8 (_mm256_packs_epi16 (words0, words1), _mm256_set1_epi8 (-127));

  return _mm256_permutevar8x32_epi32 (bytes, order);
}

/* What is too large for a half keeps its value: an infinite sum would spoil the whole row. */
INLINE float
round_to_half (float x)
{
  float half = _cvtsh_ss (_cvtss_sh (x, _MM_FROUND_TO_NEAREST_INT));

  return half - half == 0 ? half : x;
}

/* Rounds one token, to nearest. */
static void
quantize (const float *x, int64_t k, KvasirActs acts)
{
  for (int64_t i = 0; i < k / 32; i++, x += 32)
    {
      __m256 v[4], max = _mm256_setzero_ps ();
      __m256i q[4], fine[4];
      for (int j = 0; j < 4; j++)
        {
          v[j] = _mm256_loadu_ps (x + 8 * j);
          max = max_abs (max, v[j]);
        }
      float largest = max_of_8 (max), d = largest / 127;
      __m256 factor = _mm256_set1_ps (largest > 1e-30f ? 127 / largest : 0);
      for (int j = 0; j < 4; j++)
        {
          __m256 scaled = _mm256_mul_ps (v[j], factor);
          q[j] = _mm256_cvtps_epi32 (scaled);
          __m256 rest = _mm256_sub_ps (scaled, _mm256_cvtepi32_ps (q[j]));
          fine[j] = _mm256_cvtps_epi32 (_mm256_mul_ps (rest, _mm256_set1_ps (KVASIR_FINE)));
        }
      __m256i bytes = pack_bytes (q);
      Sums sums = sum_bytes (bytes);
      _mm256_storeu_si256 ((void *) (acts.q + 32 * i), bytes);
      if (acts.fine != NULL)
        {
          __m256i rest = pack_bytes (fine);
          _mm256_storeu_si256 ((void *) (acts.fine + 32 * i), rest);
          Sums of_rest = sum_bytes (rest);
          sums.first = KVASIR_FINE * sums.first + of_rest.first;
          sums.last = KVASIR_FINE * sums.last + of_rest.last;
          d /= KVASIR_FINE;
        }
      /* Eight bits come with scales and sums of a half's precision, as the Q8_1 blocks do that
       * the expected outputs of the tests were made with. */
      bool exact = acts.fine != NULL;
      float s = d * (float) (sums.first + sums.last);
      acts.d[i] = exact ? d : round_to_half (d);
      acts.s[i] = exact ? s : round_to_half (s);
      acts.s16[2 * i] = acts.d[i] * (float) sums.first;
      acts.s16[2 * i + 1] = acts.d[i] * (float) sums.last;
    }
}
