/* backends/cpu/x86/vec-avx512.h - the vectors that vec-kernels.h is written in, for AVX-512 */
#pragma once

#include <immintrin.h>
#include <stdint.h>

#define LANES 16
/* Accumulators of a dense product: rows times vectors, within 32 registers. */
#define DENSE_ROWS 4
#define DENSE_VECS 4

typedef __m512 Vec;
typedef __mmask16 VecMask;
typedef __m512i VecInt;

static inline Vec
vec_load (const float *p)
{
  return _mm512_loadu_ps (p);
}

static inline void
vec_store (float *p, Vec a)
{
  _mm512_storeu_ps (p, a);
}

/* The first @n lanes, the others 0; nothing behind them is touched. */
static inline Vec
vec_load_n (const float *p, int n)
{
  return _mm512_maskz_loadu_ps ((VecMask) ((1u << n) - 1), p);
}

static inline void
vec_store_n (float *p, Vec a, int n)
{
  _mm512_mask_storeu_ps (p, (VecMask) ((1u << n) - 1), a);
}

static inline Vec
vec_load_f16 (const uint16_t *p)
{
  return _mm512_cvtph_ps (_mm256_loadu_si256 ((const void *) p));
}

static inline void
vec_store_f16 (uint16_t *p, Vec a)
{
  _mm256_storeu_si256 ((void *) p, _mm512_cvtps_ph (a, _MM_FROUND_TO_NEAREST_INT));
}

static inline Vec
vec_load_bf16 (const uint16_t *p)
{
  __m512i wide = _mm512_cvtepu16_epi32 (_mm256_loadu_si256 ((const void *) p));

  return _mm512_castsi512_ps (_mm512_slli_epi32 (wide, 16));
}

/* Bytes to floats, signed or not. */
static inline Vec
vec_load_i8 (const int8_t *p)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepi8_epi32 (_mm_loadu_si128 ((const void *) p)));
}

static inline Vec
vec_load_u8 (const uint8_t *p)
{
  return _mm512_cvtepi32_ps (_mm512_cvtepu8_epi32 (_mm_loadu_si128 ((const void *) p)));
}

static inline Vec
vec_set1 (float a)
{
  return _mm512_set1_ps (a);
}

static inline Vec
vec_add (Vec a, Vec b)
{
  return _mm512_add_ps (a, b);
}

static inline Vec
vec_sub (Vec a, Vec b)
{
  return _mm512_sub_ps (a, b);
}

static inline Vec
vec_mul (Vec a, Vec b)
{
  return _mm512_mul_ps (a, b);
}

static inline Vec
vec_div (Vec a, Vec b)
{
  return _mm512_div_ps (a, b);
}

/* @b where one of them is NaN. */
static inline Vec
vec_max (Vec a, Vec b)
{
  return _mm512_max_ps (a, b);
}

static inline Vec
vec_min (Vec a, Vec b)
{
  return _mm512_min_ps (a, b);
}

/* a b + c */
static inline Vec
vec_fma (Vec a, Vec b, Vec c)
{
  return _mm512_fmadd_ps (a, b, c);
}

static inline Vec
vec_round (Vec a)
{
  return _mm512_roundscale_ps (a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* a 2^n for whole n between -126 and 127. */
static inline Vec
vec_scale_by_power (Vec a, Vec n)
{
  return _mm512_scalef_ps (a, n);
}

static inline float
vec_sum (Vec a)
{
  return _mm512_reduce_add_ps (a);
}

static inline float
vec_max_of_lanes (Vec a)
{
  return _mm512_reduce_max_ps (a);
}

/* Lane i is chosen by bit i. */
static inline VecMask
vec_mask (uint64_t bits)
{
  return (VecMask) bits;
}

/* @a where the mask is set, @b elsewhere. */
static inline Vec
vec_select (VecMask mask, Vec a, Vec b)
{
  return _mm512_mask_blend_ps (mask, b, a);
}

static inline VecInt
vec_int_set1 (int32_t a)
{
  return _mm512_set1_epi32 (a);
}

static inline VecInt
vec_int_load (const int32_t *p)
{
  return _mm512_loadu_si512 (p);
}

static inline Vec
vec_from_int (VecInt a)
{
  return _mm512_cvtepi32_ps (a);
}

/* sums + the dot product of the two words of each lane */
static inline VecInt
vec_int_add_dots (VecInt sums, VecInt a, VecInt b)
{
  /* Compilers copy the sums before and after the intrinsic, which halves its speed. */
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(a), "v"(b));
  return sums;
}

static inline void
vec_store_words (int16_t *p, Vec a)
{
  _mm256_storeu_si256 ((void *) p, _mm512_cvtsepi32_epi16 (_mm512_cvtps_epi32 (a)));
}

/* Words of @a and @b in turn. */
static inline void
vec_store_word_pairs (int32_t *p, Vec a, Vec b)
{
  __m512i odd = _mm512_slli_epi32 (_mm512_cvtps_epi32 (b), 16);

  _mm512_storeu_si512 (p, _mm512_mask_blend_epi16 (0xaaaaaaaa, _mm512_cvtps_epi32 (a), odd));
}

/* 4x4 blocks inside the four quarters of each of four vectors. */
static inline void
transpose_quarters (__m512 r[4])
{
  __m512 a = _mm512_unpacklo_ps (r[0], r[1]), b = _mm512_unpackhi_ps (r[0], r[1]);
  __m512 c = _mm512_unpacklo_ps (r[2], r[3]), d = _mm512_unpackhi_ps (r[2], r[3]);

  r[0] = _mm512_shuffle_ps (a, c, 0x44);
  r[1] = _mm512_shuffle_ps (a, c, 0xee);
  r[2] = _mm512_shuffle_ps (b, d, 0x44);
  r[3] = _mm512_shuffle_ps (b, d, 0xee);
}

/* LANES x LANES floats. */
static inline void
vec_transpose (const float *src, size_t src_stride, float *dst, size_t dst_stride)
{
  __m512 r[16];

  for (int i = 0; i < 16; i++)
    r[i] = vec_load (src + (size_t) i * src_stride);
  for (int i = 0; i < 16; i += 4)
    transpose_quarters (r + i);
  /* r[4 g + c] has column 4 q + c of rows 4 g ... in quarter q: gather the groups of a column. */
  for (int c = 0; c < 4; c++)
    {
      __m512 ab_low = _mm512_shuffle_f32x4 (r[c], r[4 + c], 0x44);
      __m512 ab_high = _mm512_shuffle_f32x4 (r[c], r[4 + c], 0xee);
      __m512 cd_low = _mm512_shuffle_f32x4 (r[8 + c], r[12 + c], 0x44);
      __m512 cd_high = _mm512_shuffle_f32x4 (r[8 + c], r[12 + c], 0xee);
      vec_store (dst + (size_t) c * dst_stride, _mm512_shuffle_f32x4 (ab_low, cd_low, 0x88));
      vec_store (dst + (size_t) (4 + c) * dst_stride, _mm512_shuffle_f32x4 (ab_low, cd_low, 0xdd));
      vec_store (dst + (size_t) (8 + c) * dst_stride,
                 _mm512_shuffle_f32x4 (ab_high, cd_high, 0x88));
      vec_store (dst + (size_t) (12 + c) * dst_stride,
                 _mm512_shuffle_f32x4 (ab_high, cd_high, 0xdd));
    }
}

/* The four steps in which sixteen vectors become one whose lane i is the sum of the lanes of the
 * i-th: each adds up halves of what its two arguments, neighbours, still hold. */
static inline Vec
vec_sum_ones (Vec a, Vec b)
{
  return _mm512_add_ps (_mm512_unpacklo_ps (a, b), _mm512_unpackhi_ps (a, b));
}

static inline Vec
vec_sum_twos (Vec a, Vec b)
{
  __m512d x = _mm512_castps_pd (a), y = _mm512_castps_pd (b);

  return _mm512_add_ps (_mm512_castpd_ps (_mm512_unpacklo_pd (x, y)),
                        _mm512_castpd_ps (_mm512_unpackhi_pd (x, y)));
}

static inline Vec
vec_sum_fours (Vec a, Vec b)
{
  return _mm512_add_ps (_mm512_shuffle_f32x4 (a, b, 0x88), _mm512_shuffle_f32x4 (a, b, 0xdd));
}

static inline Vec
vec_sum_eights (Vec a, Vec b)
{
  return vec_sum_fours (a, b);
}
