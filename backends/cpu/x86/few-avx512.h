/* backends/cpu/x86/few-avx512.h - rows of quantised weights with a few tokens
 *
 * With u the unsigned bytes of a weight block, q and a the activations' bytes and scale:
 *   sum w x = d a sum (u q) + m a sum (q), m the minimum or - d offset,
 * where sum (u q) is integer and a sum (q) is kept with the activations.
 *
 * Blocks of 256 have scales and minimums for runs of 16 or 32 elements. Rows are read as they lie
 * in the file, some kilobytes of them fetched ahead. Needs AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/blocks-k-x86.h"
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
  const float *s16[MAX_FEW];
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
      acts.s16[t] = p->acts.s16 + (token + t) * (p->k / 16);
    }
  return acts;
}

/* 64 products, four of them in each lane, each lane with a scale of its own. */
INLINE __m512
add_dot (__m512i u, const FewActs *acts, int t, int64_t at, __m512 scale, __m512 sum)
{
  __m512i q = _mm512_loadu_si512 (acts->q[t] + at);
  __m512i fine = _mm512_loadu_si512 (acts->fine[t] + at);
  __m512i high = _mm512_dpbusd_epi32 (_mm512_setzero_si512 (), u, q);
  __m512i dot = _mm512_dpbusd_epi32 (_mm512_slli_epi32 (high, 8), u, fine);

  return _mm512_fmadd_ps (_mm512_cvtepi32_ps (dot), scale, sum);
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
          __m512 *sum = &sums[t][i / 2 % 2];
          *sum = add_dot (u, acts, t, (b + i) * 32, _mm512_permutexvar_ps (pick, scales[t]), *sum);
        }
    }
}

/* All blocks of a row of a block-32 type. */
INLINE void
add_row (const KvasirType type,
         const uint8_t *row,
         const FewActs *acts,
         int64_t n_blocks,
         const int n,
         __m512 sums[][2],
         __m512 *mins)
{
  int64_t b = 0;

  for (; b + 16 <= n_blocks; b += 16)
    add_blocks (type, row, acts, b, 16, n, sums, mins);
  for (; b + 2 <= n_blocks; b += 2)
    add_blocks (type, row, acts, b, 2, n, sums, mins);
  if (b < n_blocks)
    add_blocks (type, row, acts, b, 1, n, sums, mins);
}

/* One row with n tokens from @token on. */
INLINE void
int8_row (const KvasirProduct *p, const KvasirType type, int64_t r, int64_t token, const int n)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  FewActs acts = get_few_acts (p, token, n);
  /* Two sums in turn, so that one addition need not wait for the other. */
  __m512 sums[MAX_FEW][2], mins[MAX_FEW];

  for (int t = 0; t < n; t++)
    sums[t][0] = sums[t][1] = mins[t] = _mm512_setzero_ps ();
  add_row (type, row, &acts, p->k / 32, n, sums, mins);
  for (int t = 0; t < n; t++)
    {
      __m512 both = _mm512_add_ps (sums[t][0], sums[t][1]);
      float sum = _mm512_reduce_add_ps (_mm512_add_ps (both, mins[t]));
      p->dst[(size_t) (token + t) * p->dst_stride + (size_t) r] = sum + (p->bias ? p->bias[r] : 0);
    }
}
