/* backends/cpu/x86/vec-avx2.h - the vectors that vec-kernels.h is written in, for AVX2 */
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define LANES 8
/* Accumulators of a dense product: rows times vectors, within 16 registers. */
#define DENSE_ROWS 6
#define DENSE_VECS 2

typedef __m256 Vec;
typedef __m256 VecMask;
typedef __m256i VecInt;

static inline Vec
vec_load (const float *p)
{
  return _mm256_loadu_ps (p);
}

static inline void
vec_store (float *p, Vec a)
{
  _mm256_storeu_ps (p, a);
}

static inline __m256i
vec_first_lanes (int n)
{
  return _mm256_cmpgt_epi32 (_mm256_set1_epi32 (n), _mm256_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first @n lanes, the others 0; nothing behind them is touched. */
static inline Vec
vec_load_n (const float *p, int n)
{
  return _mm256_maskload_ps (p, vec_first_lanes (n));
}

static inline void
vec_store_n (float *p, Vec a, int n)
{
  _mm256_maskstore_ps (p, vec_first_lanes (n), a);
}

static inline Vec
vec_load_f16 (const uint16_t *p)
{
  return _mm256_cvtph_ps (_mm_loadu_si128 ((const void *) p));
}

static inline void
vec_store_f16 (uint16_t *p, Vec a)
{
  _mm_storeu_si128 ((void *) p, _mm256_cvtps_ph (a, _MM_FROUND_TO_NEAREST_INT));
}

static inline Vec
vec_load_bf16 (const uint16_t *p)
{
  __m256i wide = _mm256_cvtepu16_epi32 (_mm_loadu_si128 ((const void *) p));

  return _mm256_castsi256_ps (_mm256_slli_epi32 (wide, 16));
}

/* Bytes to floats, signed or not. */
static inline Vec
vec_load_i8 (const int8_t *p)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepi8_epi32 (_mm_loadl_epi64 ((const void *) p)));
}

static inline Vec
vec_load_u8 (const uint8_t *p)
{
  return _mm256_cvtepi32_ps (_mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const void *) p)));
}

static inline Vec
vec_set1 (float a)
{
  return _mm256_set1_ps (a);
}

static inline Vec
vec_add (Vec a, Vec b)
{
  return _mm256_add_ps (a, b);
}

static inline Vec
vec_sub (Vec a, Vec b)
{
  return _mm256_sub_ps (a, b);
}

static inline Vec
vec_mul (Vec a, Vec b)
{
  return _mm256_mul_ps (a, b);
}

static inline Vec
vec_div (Vec a, Vec b)
{
  return _mm256_div_ps (a, b);
}

/* @b where one of them is NaN. */
static inline Vec
vec_max (Vec a, Vec b)
{
  return _mm256_max_ps (a, b);
}

static inline Vec
vec_min (Vec a, Vec b)
{
  return _mm256_min_ps (a, b);
}

/* a b + c */
static inline Vec
vec_fma (Vec a, Vec b, Vec c)
{
  return _mm256_fmadd_ps (a, b, c);
}

static inline Vec
vec_round (Vec a)
{
  return _mm256_round_ps (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a 2^n for whole n between -126 and 127. */
static inline Vec
vec_scale_by_power (Vec a, Vec n)
{
  __m256i bits =
      _mm256_slli_epi32 (_mm256_add_epi32 (_mm256_cvtps_epi32 (n), _mm256_set1_epi32 (127)), 23);

  return _mm256_mul_ps (a, _mm256_castsi256_ps (bits));
}

static inline float
vec_sum (Vec a)
{
  __m128 s = _mm_add_ps (_mm256_castps256_ps128 (a), _mm256_extractf128_ps (a, 1));

  s = _mm_add_ps (s, _mm_movehl_ps (s, s));
  return _mm_cvtss_f32 (_mm_add_ss (s, _mm_movehdup_ps (s)));
}

static inline float
vec_max_of_lanes (Vec a)
{
  __m128 s = _mm_max_ps (_mm256_castps256_ps128 (a), _mm256_extractf128_ps (a, 1));

  s = _mm_max_ps (s, _mm_movehl_ps (s, s));
  return _mm_cvtss_f32 (_mm_max_ss (s, _mm_movehdup_ps (s)));
}

/* Lane i is chosen by bit i. */
static inline VecMask
vec_mask (uint64_t bits)
{
  __m256i lanes = _mm256_setr_epi32 (1, 2, 4, 8, 16, 32, 64, 128);
  __m256i set = _mm256_and_si256 (_mm256_set1_epi32 ((int) (bits & 255)), lanes);

  return _mm256_castsi256_ps (_mm256_cmpeq_epi32 (set, lanes));
}

/* @a where the mask is set, @b elsewhere. */
static inline Vec
vec_select (VecMask mask, Vec a, Vec b)
{
  return _mm256_blendv_ps (b, a, mask);
}

static inline VecInt
vec_int_set1 (int32_t a)
{
  return _mm256_set1_epi32 (a);
}

static inline VecInt
vec_int_load (const int32_t *p)
{
  return _mm256_loadu_si256 ((const void *) p);
}

static inline Vec
vec_from_int (VecInt a)
{
  return _mm256_cvtepi32_ps (a);
}

/* sums + the dot product of the two words of each lane */
static inline VecInt
vec_int_add_dots (VecInt sums, VecInt a, VecInt b)
{
  return _mm256_add_epi32 (sums, _mm256_madd_epi16 (a, b));
}

static inline void
vec_store_words (int16_t *p, Vec a)
{
  __m256i words = _mm256_cvtps_epi32 (a);

  _mm_storeu_si128 ((void *) p, _mm_packs_epi32 (_mm256_castsi256_si128 (words),
                                                 _mm256_extracti128_si256 (words, 1)));
}

/* Words of @a and @b in turn. */
static inline void
vec_store_word_pairs (int32_t *p, Vec a, Vec b)
{
  __m256i odd = _mm256_slli_epi32 (_mm256_cvtps_epi32 (b), 16);

  _mm256_storeu_si256 ((void *) p, _mm256_blend_epi16 (_mm256_cvtps_epi32 (a), odd, 0xaa));
}

/* LANES x LANES floats. */
static inline void
vec_transpose (const float *src, size_t src_stride, float *dst, size_t dst_stride)
{
  for (int i = 0; i < 8; i += 4)
    {
      __m256 r[4];
      /* Row j beside row j + 4, so that 4x4 blocks inside the halves give whole columns. */
      for (int j = 0; j < 4; j++)
        r[j] = _mm256_insertf128_ps (
            _mm256_castps128_ps256 (_mm_loadu_ps (src + (size_t) j * src_stride + i)),
            _mm_loadu_ps (src + (size_t) (j + 4) * src_stride + i), 1);
      __m256 a = _mm256_unpacklo_ps (r[0], r[1]), b = _mm256_unpackhi_ps (r[0], r[1]);
      __m256 c = _mm256_unpacklo_ps (r[2], r[3]), d = _mm256_unpackhi_ps (r[2], r[3]);
      vec_store (dst + (size_t) i * dst_stride, _mm256_shuffle_ps (a, c, 0x44));
      vec_store (dst + (size_t) (i + 1) * dst_stride, _mm256_shuffle_ps (a, c, 0xee));
      vec_store (dst + (size_t) (i + 2) * dst_stride, _mm256_shuffle_ps (b, d, 0x44));
      vec_store (dst + (size_t) (i + 3) * dst_stride, _mm256_shuffle_ps (b, d, 0xee));
    }
}

/* The three steps in which eight vectors become one whose lane i is the sum of the lanes of the
 * i-th: each adds up halves of what its two arguments, neighbours, still hold. */
static inline Vec
vec_sum_ones (Vec a, Vec b)
{
  return _mm256_hadd_ps (a, b);
}

static inline Vec
vec_sum_twos (Vec a, Vec b)
{
  return _mm256_hadd_ps (a, b);
}

static inline Vec
vec_sum_fours (Vec a, Vec b)
{
  return _mm256_add_ps (_mm256_permute2f128_ps (a, b, 0x20), _mm256_permute2f128_ps (a, b, 0x31));
}
