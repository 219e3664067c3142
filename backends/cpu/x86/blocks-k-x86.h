/* backends/cpu/x86/blocks-k-x86.h - scales and minimums of blocks of 256 elements
 *
 * A block is eight runs of 32 elements or sixteen of 16, with value = scale d u - min dmin, or
 * scale d (u - offset) where a type has no minimums. Needs AVX2; included by the files of both
 * instruction sets.
 */
#pragma once

#include "backends/cpu/x86/blocks-x86.h"

INLINE bool
is_k_type (const KvasirType type)
{
  return type == KVASIR_TYPE_Q2_K || type == KVASIR_TYPE_Q3_K || type == KVASIR_TYPE_Q4_K ||
         type == KVASIR_TYPE_Q5_K || type == KVASIR_TYPE_Q6_K || type == KVASIR_TYPE_IQ4_XS;
}

/* How many scales 32 elements have. */
INLINE int
get_n_parts (const KvasirType type)
{
  return type == KVASIR_TYPE_Q2_K || type == KVASIR_TYPE_Q3_K || type == KVASIR_TYPE_Q6_K ? 2 : 1;
}

INLINE size_t
get_k_block_bytes (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
      return sizeof (KvasirBlockQ2K);
    case KVASIR_TYPE_Q3_K:
      return sizeof (KvasirBlockQ3K);
    case KVASIR_TYPE_Q4_K:
      return sizeof (KvasirBlockQ4K);
    case KVASIR_TYPE_Q5_K:
      return sizeof (KvasirBlockQ5K);
    case KVASIR_TYPE_Q6_K:
      return sizeof (KvasirBlockQ6K);
    default:
      return sizeof (KvasirBlockIq4Xs);
    }
}

/* What the bytes of types without minimums are above the values. */
INLINE int
get_k_offset (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q3_K:
      return 4;
    case KVASIR_TYPE_Q6_K:
      return 32;
    default:
      return 128;
    }
}

typedef struct
{
  float d, dmin;  /* dmin already negative; where the type has none, - offset d */
  __m128i scales; /* 8 or 16 signed bytes */
  __m128i mins;   /* likewise */
} KScales;

INLINE __m128i
load_16 (const void *p)
{
  return _mm_loadu_si128 (p);
}

INLINE KScales
get_q2_k_scales (const KvasirBlockQ2K *block)
{
  const __m128i low = _mm_set1_epi8 (15);
  __m128i both = load_16 (block->scales);

  return (KScales){ .d = _cvtsh_ss (block->d),
                    .dmin = -_cvtsh_ss (block->dmin),
                    .scales = _mm_and_si128 (both, low),
                    .mins = _mm_and_si128 (_mm_srli_epi16 (both, 4), low) };
}

/* The low nibbles of 8 bytes are scales 0 to 7, the high ones 8 to 15; of 4 more bytes each pair
 * of bits goes to every fourth. */
INLINE __m128i
get_q3_k_scales (const uint8_t packed[12])
{
  __m128i nibbles = _mm_loadl_epi64 ((const void *) packed);
  __m128i low = _mm_unpacklo_epi64 (nibbles, _mm_srli_epi16 (nibbles, 4));
  __m128i high =
      _mm_srlv_epi32 (_mm_set1_epi32 (load_dword (packed + 8)), _mm_setr_epi32 (0, 2, 4, 6));

  low = _mm_and_si128 (low, _mm_set1_epi8 (15));
  high = _mm_slli_epi16 (_mm_and_si128 (high, _mm_set1_epi8 (3)), 4);
  return _mm_sub_epi8 (_mm_or_si128 (low, high), _mm_set1_epi8 (32));
}

/* Eight pairs of six bits: the last four have their upper two bits above those of the first. */
INLINE KScales
get_q4_k_scales (const uint8_t *block)
{
  uint32_t a = (uint32_t) load_dword (block + 4), b = (uint32_t) load_dword (block + 8);
  uint32_t c = (uint32_t) load_dword (block + 12);
  uint32_t scales = (c & 0x0f0f0f0f) | (a >> 6 & 0x03030303) << 4;
  uint32_t mins = (c >> 4 & 0x0f0f0f0f) | (b >> 6 & 0x03030303) << 4;

  return (KScales){
    .d = load_half (block),
    .dmin = -load_half (block + 2),
    .scales = _mm_cvtsi64_si128 ((long long) ((uint64_t) scales << 32 | (a & 0x3f3f3f3f))),
    .mins = _mm_cvtsi64_si128 ((long long) ((uint64_t) mins << 32 | (b & 0x3f3f3f3f)))
  };
}

/* Nibbles in order, and as many pairs of bits, which multiplications move to the top of words. */
INLINE __m128i
get_iq4_xs_scales (const KvasirBlockIq4Xs *block)
{
  const __m128i up = _mm_setr_epi16 (1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 4, 1);
  __m128i nibbles = _mm_cvtsi32_si128 (load_dword (block->scales_l));
  __m128i low = _mm_unpacklo_epi8 (nibbles, _mm_srli_epi16 (nibbles, 4));
  __m128i high = _mm_mullo_epi16 (_mm_set1_epi16 ((short) block->scales_h), up);

  low = _mm_cvtepu8_epi16 (_mm_and_si128 (low, _mm_set1_epi8 (15)));
  __m128i words = _mm_or_si128 (low, _mm_slli_epi16 (_mm_srli_epi16 (high, 14), 4));
  return _mm_sub_epi8 (_mm_packus_epi16 (words, words), _mm_set1_epi8 (32));
}

INLINE KScales
get_k_scales (const KvasirType type, const uint8_t *block)
{
  KScales s;

  if (type == KVASIR_TYPE_Q2_K)
    return get_q2_k_scales ((const void *) block);
  if (type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K)
    return get_q4_k_scales (block);
  if (type == KVASIR_TYPE_Q3_K)
    {
      const KvasirBlockQ3K *q3 = (const void *) block;
      s.d = _cvtsh_ss (q3->d);
      s.scales = get_q3_k_scales (q3->scales);
    }
  else if (type == KVASIR_TYPE_Q6_K)
    {
      const KvasirBlockQ6K *q6 = (const void *) block;
      s.d = _cvtsh_ss (q6->d);
      s.scales = load_16 (q6->scales);
    }
  else
    {
      s.d = load_half (block);
      s.scales = get_iq4_xs_scales ((const void *) block);
    }
  s.mins = s.scales;
  s.dmin = s.d * (float) -get_k_offset (type);
  return s;
}

/* Those of runs of 32 elements twice, as if they were of 16. */
INLINE KScales
double_k_scales (const KvasirType type, KScales s)
{
  if (get_n_parts (type) == 1)
    {
      s.scales = _mm_unpacklo_epi8 (s.scales, s.scales);
      s.mins = _mm_unpacklo_epi8 (s.mins, s.mins);
    }
  return s;
}
