/* backends/cpu/x86/few-k-avx2.h - rows of the rarer blocks of 256 with a few tokens
 *
 * As few-avx2.h, which has the others: Q2_K, Q3_K and IQ4_XS go row by row, and the lanes of a
 * row's sums are added at its end.
 */
#pragma once

#include "backends/cpu/x86/few-avx2.h"

/* Tokens of a row at a time. */
#define MAX_OF_ROW 4

/* Sums of two neighbours in 16 bits. */
INLINE __m256i
multiply_pairs (const bool is_signed, __m256i w, __m256i q)
{
  if (is_signed)
    return _mm256_maddubs_epi16 (_mm256_abs_epi8 (w), _mm256_sign_epi8 (q, w));
  return _mm256_maddubs_epi16 (w, q);
}

INLINE __m256i
widen_pairs (__m256i pairs)
{
  return _mm256_madd_epi16 (pairs, _mm256_set1_epi16 (1));
}

/* Sums of four neighbours with activations of sixteen bits, as floats. */
#ifdef __AVXVNNI__
INLINE __m256
multiply_fine (const KvasirType type, __m256i w, const int8_t *q, const int8_t *fine)
{
  const __m256i qs = _mm256_loadu_si256 ((const void *) q);
  const __m256i fines = _mm256_loadu_si256 ((const void *) fine);
  __m256i high = _mm256_dpbusd_avx_epi32 (_mm256_setzero_si256 (), w, qs);

  (void) type;
  return _mm256_cvtepi32_ps (_mm256_dpbusd_avx_epi32 (_mm256_slli_epi32 (high, 8), w, fines));
}
#else
INLINE __m256
multiply_fine (const KvasirType type, __m256i w, const int8_t *q, const int8_t *fine)
{
  __m256i high = multiply_pairs (takes_signs (type), w, _mm256_loadu_si256 ((const void *) q));
  __m256i low = multiply_pairs (takes_signs (type), w, _mm256_loadu_si256 ((const void *) fine));

  high = _mm256_madd_epi16 (high, _mm256_set1_epi16 (KVASIR_FINE));
  return _mm256_cvtepi32_ps (_mm256_add_epi32 (high, widen_pairs (low)));
}
#endif

/* In byte i @value where bit @bit of the byte at @bits + i is set. */
INLINE __m256i
pick_bits (const uint8_t *bits, int bit, char value)
{
  const __m256i one = _mm256_set1_epi8 ((char) (1 << bit));
  __m256i x = _mm256_loadu_si256 ((const void *) bits);

  return _mm256_and_si256 (_mm256_cmpeq_epi8 (_mm256_and_si256 (x, one), one),
                           _mm256_set1_epi8 (value));
}

/* The bits of @mask of each of 32 bytes behind the first @shift. */
INLINE __m256i
shift_bytes (const uint8_t *bytes, int shift, char mask)
{
  __m256i x = _mm256_loadu_si256 ((const void *) bytes);

  return _mm256_and_si256 (_mm256_srl_epi16 (x, _mm_cvtsi32_si128 (shift)),
                           _mm256_set1_epi8 (mask));
}

/* Elements [32 i, 32 i + 32) of a block of 256 as bytes, in order. */
INLINE __m256i
load_32 (const KvasirType type, const uint8_t *block, int i)
{
  const KvasirBlockQ2K *q2 = (const void *) block;
  const KvasirBlockQ3K *q3 = (const void *) block;
  const KvasirBlockIq4Xs *iq4 = (const void *) block;

  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
      return shift_bytes (q2->qs + i / 4 * 32, i % 4 * 2, 3);
    case KVASIR_TYPE_Q3_K:
      return _mm256_or_si256 (shift_bytes (q3->qs + i / 4 * 32, i % 4 * 2, 3),
                              pick_bits (q3->hmask, i, 4));
    default:
      return takes_signs (type)
                 ? look_up_iq4 (iq4->qs + 16 * i)
                 : _mm256_xor_si256 (look_up_iq4 (iq4->qs + 16 * i), _mm256_set1_epi8 ((char) 128));
    }
}

/* Scale and minimum of each run of 16 elements. */
INLINE void
load_k_scales (const KvasirType type, const uint8_t *block, __m256 d[2], __m256 m[2])
{
  KScales s = double_k_scales (type, get_k_scales (type, block));

  for (int i = 0; i < 2; i++)
    {
      __m256i scales = _mm256_cvtepi8_epi32 (i ? _mm_srli_si128 (s.scales, 8) : s.scales);
      __m256i mins = _mm256_cvtepi8_epi32 (i ? _mm_srli_si128 (s.mins, 8) : s.mins);
      d[i] = _mm256_mul_ps (_mm256_cvtepi32_ps (scales), _mm256_set1_ps (s.d));
      m[i] = _mm256_mul_ps (_mm256_cvtepi32_ps (mins), _mm256_set1_ps (s.dmin));
    }
}

/* Scales of the runs of a block with n tokens; its minimums are added. */
INLINE void
scale_k_block (const KvasirProduct *p,
               const KvasirType type,
               const uint8_t *block,
               int64_t first,
               const int n,
               float scales[][16],
               __m256 *mins)
{
  const __m256i pairs = _mm256_setr_epi32 (0, 0, 1, 1, 2, 2, 3, 3);
  __m256 d[2], m[2];

  load_k_scales (type, block, d, m);
  for (int t = 0; t < n; t++)
    {
      int64_t at = first + t * (p->k / 32);
      for (int i = 0; i < 2; i++)
        {
          __m256 a = _mm256_castps128_ps256 (_mm_loadu_ps (p->acts.d + at + 4 * i));
          __m256 scale = _mm256_mul_ps (d[i], _mm256_permutevar8x32_ps (a, pairs));
          _mm256_storeu_ps (scales[t] + 8 * i, scale);
          if (!takes_signs (type))
            mins[t] =
                _mm256_fmadd_ps (m[i], _mm256_loadu_ps (p->acts.s16 + 2 * at + 8 * i), mins[t]);
        }
    }
}

/* The scales of elements [32 i, 32 i + 32) for sums of four neighbours each. */
INLINE __m256
pick_scales (const KvasirType type, const float scales[16], int i)
{
  __m256i pick = _mm256_setr_epi32 (0, 0, 0, 0, 1, 1, 1, 1);

  if (get_n_parts (type) == 1)
    return _mm256_broadcast_ss (scales + 2 * i);
  pick = _mm256_add_epi32 (pick, _mm256_set1_epi32 (i % 4 * 2));
  return _mm256_permutevar8x32_ps (_mm256_loadu_ps (scales + i / 4 * 8), pick);
}

/* Block @b of 256 elements of a row with n tokens. */
INLINE void
add_k_block (const KvasirProduct *p,
             const KvasirType type,
             const uint8_t *row,
             int64_t token,
             int64_t b,
             const int n,
             __m256 sums[][2],
             __m256 *mins)
{
  const uint8_t *block = row + (size_t) b * get_k_block_bytes (type);
  float scales[MAX_OF_ROW][16];

  for (size_t at = 0; at < get_k_block_bytes (type); at += 64)
    prefetch (block + at);
  scale_k_block (p, type, block, token * (p->k / 32) + 8 * b, n, scales, mins);
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    {
      __m256i w = load_32 (type, block, i);
      for (int t = 0; t < n; t++)
        {
          int64_t at = (token + t) * p->k + 256 * b + 32 * i;
          __m256 dot = multiply_fine (type, w, p->acts.q + at, p->acts.fine + at);
          __m256 *sum = &sums[t][i % 2];
          *sum = _mm256_fmadd_ps (dot, pick_scales (type, scales[t], i), *sum);
        }
    }
}

/* One row with n tokens from @token on. */
INLINE void
int8_row (const KvasirProduct *p, const KvasirType type, int64_t r, int64_t token, const int n)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  /* Two sums in turn, so that one addition need not wait for the other; several tokens, which could
   * do without, each get what they would get alone. */
  __m256 sums[MAX_OF_ROW][2], mins[MAX_OF_ROW];

  for (int t = 0; t < n; t++)
    sums[t][0] = sums[t][1] = mins[t] = _mm256_setzero_ps ();
  for (int64_t b = 0; b < p->k / 256; b++)
    add_k_block (p, type, row, token, b, n, sums, mins);
  for (int t = 0; t < n; t++)
    {
      float sum = vec_sum (_mm256_add_ps (_mm256_add_ps (sums[t][0], sums[t][1]), mins[t]));
      p->dst[(size_t) (token + t) * p->dst_stride + (size_t) r] = sum + (p->bias ? p->bias[r] : 0);
    }
}

INLINE void
int8_few (const KvasirProduct *p,
          const KvasirProductPart *part,
          const KvasirType type,
          uint8_t *scratch)
{
  (void) scratch;
  if (!is_k_type (type) || is_packed_k (type))
    {
      int8_few_sides (p, part, type);
      return;
    }
  for (int64_t r = part->row; r < part->row_end; r++)
    {
      int64_t t = part->token;
      for (; t + 4 <= part->token_end; t += 4)
        int8_row (p, type, r, t, 4);
      for (; t < part->token_end; t++)
        int8_row (p, type, r, t, 1);
    }
}
