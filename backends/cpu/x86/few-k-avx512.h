/* backends/cpu/x86/few-k-avx512.h - rows of the rarer blocks of 256 with a few tokens
 *
 * As few-avx512.h, which has the others. Q2_K and Q3_K go two rows at a time, which share the
 * activations; IQ4_XS as eight-avx512.h says.
 */
#pragma once

#include "backends/cpu/x86/eight-avx512.h"

INLINE __m512i
twice (const uint8_t *p)
{
  return _mm512_broadcast_i64x4 (_mm256_loadu_si256 ((const void *) p));
}

/* Words shifted right by @low in the lower half, by @high in the upper one. */
INLINE __m512i
shift_halves (__m512i x, int low, int high)
{
  __m512i counts =
      _mm512_mask_set1_epi16 (_mm512_set1_epi16 ((short) low), 0xffff0000, (short) high);

  return _mm512_srlv_epi16 (x, counts);
}

/* Where bit @bit, in the upper half @bit + 1, is set. */
INLINE __mmask64
test_halves (__m512i x, int bit)
{
  __m512i which = _mm512_mask_set1_epi8 (_mm512_set1_epi8 ((char) (1 << bit)), 0xffffffff00000000,
                                         (char) (2 << bit));

  return _mm512_test_epi8_mask (x, which);
}

INLINE __m512i
load_64_of_iq4_xs (const KvasirBlockIq4Xs *block, int i)
{
  const __m512i table = _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));
  __m512i q = split_two (block->qs + 32 * i, block->qs + 32 * i + 16);

  return _mm512_xor_si512 (_mm512_shuffle_epi8 (table, q), _mm512_set1_epi8 ((char) 128));
}

/* Elements [64 i, 64 i + 64) of a block of 256 as unsigned bytes, in order. */
INLINE __m512i
load_64 (const KvasirType type, const uint8_t *block, int i)
{
  const KvasirBlockQ2K *q2 = (const void *) block;
  const KvasirBlockQ3K *q3 = (const void *) block;
  const __m512i two_bits = _mm512_set1_epi8 (3);
  __m512i u;

  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
      u = shift_halves (twice (q2->qs + i / 2 * 32), i % 2 * 4, i % 2 * 4 + 2);
      return _mm512_and_si512 (u, two_bits);
    case KVASIR_TYPE_Q3_K:
      u = shift_halves (twice (q3->qs + i / 2 * 32), i % 2 * 4, i % 2 * 4 + 2);
      u = _mm512_and_si512 (u, two_bits);
      return _mm512_mask_add_epi8 (u, test_halves (twice (q3->hmask), 2 * i), u,
                                   _mm512_set1_epi8 (4));
    default:
      return load_64_of_iq4_xs ((const void *) block, i);
    }
}

/* Scale and minimum of each run of 16 elements. */
INLINE void
load_k_scales (const KvasirType type, const uint8_t *block, __m512 *d, __m512 *m)
{
  KScales s = double_k_scales (type, get_k_scales (type, block));

  *d = _mm512_mul_ps (_mm512_cvtepi32_ps (_mm512_cvtepi8_epi32 (s.scales)), _mm512_set1_ps (s.d));
  *m = _mm512_mul_ps (_mm512_cvtepi32_ps (_mm512_cvtepi8_epi32 (s.mins)), _mm512_set1_ps (s.dmin));
}

/* Two rows and their sums. */
typedef struct
{
  const uint8_t *rows[2];
  __m512 sums[2][MAX_FEW];
  __m512 mins[2][MAX_FEW];
} Pair;

/* Scales for n tokens of two blocks; their minimums are added. */
INLINE void
scale_blocks (const KvasirType type,
              const uint8_t *const blocks[2],
              const FewActs *acts,
              int64_t b,
              const int n,
              Pair *pair,
              __m512 scales[2][MAX_FEW])
{
  const __m512i pairs = _mm512_setr_epi32 (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);

  for (int r = 0; r < 2; r++)
    {
      __m512 d, m;
      load_k_scales (type, blocks[r], &d, &m);
      for (int t = 0; t < n; t++)
        {
          __m512 a = _mm512_castps256_ps512 (_mm256_loadu_ps (acts->d[t] + 8 * b));
          __m512 s = _mm512_loadu_ps (acts->s16[t] + 16 * b);
          scales[r][t] = _mm512_mul_ps (d, _mm512_permutexvar_ps (pairs, a));
          pair->mins[r][t] = _mm512_fmadd_ps (m, s, pair->mins[r][t]);
        }
    }
}

/* Block @b of two rows with n tokens. */
INLINE void
add_pair (const KvasirType type, const FewActs *acts, int64_t b, const int n, Pair *pair)
{
  const __m512i quads = _mm512_setr_epi32 (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const size_t size = get_k_block_bytes (type);
  const uint8_t *blocks[2] = { pair->rows[0] + (size_t) b * size,
                               pair->rows[1] + (size_t) b * size };
  __m512 scales[2][MAX_FEW];

  /* The rows lie one behind the other, and are fetched in that order. */
  for (size_t at = 0; at < 2 * size; at += 64)
    prefetch (pair->rows[0] + 2 * size * (size_t) b + at);
  scale_blocks (type, blocks, acts, b, n, pair, scales);
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    for (int r = 0; r < 2; r++)
      {
        __m512i u = load_64 (type, blocks[r], i);
        __m512i pick = _mm512_add_epi32 (quads, _mm512_set1_epi32 (4 * i));
        for (int t = 0; t < n; t++)
          pair->sums[r][t] = add_dot (u, acts, t, 256 * b + 64 * i,
                                      _mm512_permutexvar_ps (pick, scales[r][t]), pair->sums[r][t]);
      }
}

/* The sums of the lanes of a and b. */
INLINE void
sum_two (__m512 a, __m512 b, float sums[2])
{
  __m512 x = _mm512_add_ps (_mm512_shuffle_f32x4 (a, b, 0x44), _mm512_shuffle_f32x4 (a, b, 0xee));
  __m512 y = _mm512_add_ps (_mm512_shuffle_f32x4 (x, x, 0x88), _mm512_shuffle_f32x4 (x, x, 0xdd));
  __m256 z = _mm256_hadd_ps (_mm512_castps512_ps256 (y), _mm512_castps512_ps256 (y));

  z = _mm256_hadd_ps (z, z);
  sums[0] = _mm256_cvtss_f32 (z);
  sums[1] = _mm_cvtss_f32 (_mm256_extractf128_ps (z, 1));
}

/* One or two rows with n tokens from @token on; a row alone is its own second one. */
INLINE void
int8_pair (const KvasirProduct *p,
           const KvasirType type,
           int64_t r,
           int n_rows,
           int64_t token,
           const int n)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  FewActs acts = get_few_acts (p, token, n);
  Pair pair = { .rows = { row, n_rows > 1 ? row + p->weight_stride : row } };

  for (int t = 0; t < n; t++)
    for (int i = 0; i < 2; i++)
      pair.sums[i][t] = pair.mins[i][t] = _mm512_setzero_ps ();
  for (int64_t b = 0; b < p->k / 256; b++)
    add_pair (type, &acts, b, n, &pair);
  for (int t = 0; t < n; t++)
    {
      float *dst = p->dst + (size_t) (token + t) * p->dst_stride + r;
      __m512 a = _mm512_add_ps (pair.sums[0][t], pair.mins[0][t]);
      __m512 b = _mm512_add_ps (pair.sums[1][t], pair.mins[1][t]);
      float sums[2];
      sum_two (a, b, sums);
      for (int i = 0; i < n_rows; i++)
        dst[i] = sums[i] + (p->bias ? p->bias[r + i] : 0);
    }
}

INLINE void
int8_few (const KvasirProduct *p,
          const KvasirProductPart *part,
          const KvasirType type,
          uint8_t *scratch)
{
  if (!is_k_type (type) || is_sixteen_k (type))
    {
      int8_few_sixteens (p, part, type, scratch);
      return;
    }
  if (type == KVASIR_TYPE_IQ4_XS)
    {
      multiply_eights (p, part);
      return;
    }
  for (int64_t r = part->row; r < part->row_end; r += 2)
    {
      int n_rows = part->row_end - r < 2 ? 1 : 2;
      int64_t t = part->token;
      for (; t + 4 <= part->token_end; t += 4)
        int8_pair (p, type, r, n_rows, t, 4);
      for (; t + 2 <= part->token_end; t += 2)
        int8_pair (p, type, r, n_rows, t, 2);
      if (t < part->token_end)
        int8_pair (p, type, r, n_rows, t, 1);
    }
}
