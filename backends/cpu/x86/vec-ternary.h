/* backends/cpu/x86/vec-ternary.h - rows of the types with one to two bits, and of NVFP4, to f32
 *
 * The order of the products is that of the plain form: both agree bit for bit.
 */
#pragma once

#include "backends/cpu/x86/vec-lattice.h"

/* (byte - 1) scale of eight bytes. */
static inline void
put_digits (__m256i bytes, __m256 scale, float *out)
{
  __m256 values = _mm256_cvtepi32_ps (_mm256_sub_epi32 (bytes, _mm256_set1_epi32 (1)));

  _mm256_storeu_ps (out, _mm256_mul_ps (scale, values));
}

static inline __m256i
load_bytes_wide (const uint8_t *bytes)
{
  return _mm256_cvtepu8_epi32 (_mm_loadl_epi64 ((const void *) bytes));
}

/* The digits of 8 @n bytes, the highest ones first (see dequant-ternary.c). */
static inline float *
put_base3 (const uint8_t *bytes, int n, __m256 scale, float *out)
{
  const __m256i byte = _mm256_set1_epi32 (255), three = _mm256_set1_epi32 (3);

  for (int i = 0, power = 1; i < 5; i++, power *= 3)
    for (int j = 0; j < n; j++, out += 8)
      {
        __m256i rest =
            _mm256_mullo_epi32 (load_bytes_wide (bytes + 8 * j), _mm256_set1_epi32 (power));
        rest = _mm256_mullo_epi32 (_mm256_and_si256 (rest, byte), three);
        put_digits (_mm256_srli_epi32 (rest, 8), scale, out);
      }
  return out;
}

static inline void
expand_tq1_0_vec (const KvasirBlockTq1_0 *block, float out[256])
{
  __m256 d = _mm256_set1_ps (kvasir_f16_to_f32 (block->d));
  uint32_t last;
  const __m256i powers = _mm256_setr_epi32 (1, 1, 1, 1, 3, 3, 3, 3);
  const __m256i byte = _mm256_set1_epi32 (255), three = _mm256_set1_epi32 (3);

  out = put_base3 (block->qs, 4, d, out);
  out = put_base3 (block->qs + 32, 2, d, out);
  memcpy (&last, block->qh, 4);
  __m256i rest = _mm256_cvtepu8_epi32 (_mm_set1_epi32 ((int) last));
  rest = _mm256_mullo_epi32 (rest, powers);
  for (int i = 0; i < 2; i++)
    {
      rest = _mm256_and_si256 (rest, byte);
      put_digits (_mm256_srli_epi32 (_mm256_mullo_epi32 (rest, three), 8), d, out + 8 * i);
      rest = _mm256_mullo_epi32 (rest, _mm256_set1_epi32 (9));
    }
}

static inline void
expand_tq2_0_vec (const KvasirBlockTq2_0 *block, float out[256])
{
  __m256 d = _mm256_set1_ps (kvasir_f16_to_f32 (block->d));

  for (int j = 0; j < 32; j++)
    {
      /* Four runs of 32 from the same 32 bytes. */
      __m256i bytes = load_bytes_wide (block->qs + j / 16 * 32 + j % 4 * 8);
      bytes = _mm256_srl_epi32 (bytes, _mm_cvtsi32_si128 (j / 4 % 4 * 2));
      put_digits (_mm256_and_si256 (bytes, _mm256_set1_epi32 (3)), d, out + 8 * j);
    }
}

static inline void
expand_q1_0_vec (const KvasirBlockQ1_0 *block, float out[128])
{
  __m256 values = _mm256_set1_ps (-kvasir_f16_to_f32 (block->d));

  for (int j = 0; j < 16; j++)
    store_turned (values, block->qs[j], out + 8 * j);
}

static inline void
expand_q2_0_vec (const KvasirBlockQ2_0 *block, float out[64])
{
  const __m256 table = _mm256_setr_ps (-1, 0, 1, 2, -1, 0, 1, 2);
  __m256 d = _mm256_set1_ps (kvasir_f16_to_f32 (block->d));

  for (int j = 0; j < 8; j++)
    {
      uint32_t codes = block->qs[2 * j] | (uint32_t) block->qs[2 * j + 1] << 8;
      _mm256_storeu_ps (out + 8 * j, _mm256_mul_ps (d, look_up_twos (codes, table)));
    }
}

static inline void
expand_nvfp4_vec (const KvasirBlockNvfp4 *block, float out[64])
{
  const __m128i table = _mm_loadu_si128 ((const void *) kvasir_mxfp4_values);
  const __m128i nibble = _mm_set1_epi8 (15);

  for (int j = 0; j < 4; j++, out += 16)
    {
      __m256 d = _mm256_set1_ps (kvasir_half_of_ue4m3 (block->scales[j]));
      __m128i qs = _mm_loadl_epi64 ((const void *) (block->qs + 8 * j));
      __m128i low = _mm_and_si128 (qs, nibble),
              high = _mm_and_si128 (_mm_srli_epi16 (qs, 4), nibble);
      __m256i first = _mm256_cvtepi8_epi32 (_mm_shuffle_epi8 (table, low));
      __m256i second = _mm256_cvtepi8_epi32 (_mm_shuffle_epi8 (table, high));
      _mm256_storeu_ps (out, _mm256_mul_ps (d, _mm256_cvtepi32_ps (first)));
      _mm256_storeu_ps (out + 8, _mm256_mul_ps (d, _mm256_cvtepi32_ps (second)));
    }
}

#define BLOCKS_ROW(name, Block, length)                                                            \
  static void name##_to_float (const void *row, float *out, int64_t n)                             \
  {                                                                                                \
    const Block *blocks = row;                                                                     \
                                                                                                   \
    for (int64_t i = 0; i < n / (length); i++)                                                     \
      expand_##name##_vec (&blocks[i], out + (length) *i);                                         \
  }

BLOCKS_ROW (tq1_0, KvasirBlockTq1_0, 256)
BLOCKS_ROW (tq2_0, KvasirBlockTq2_0, 256)
BLOCKS_ROW (q1_0, KvasirBlockQ1_0, 128)
BLOCKS_ROW (q2_0, KvasirBlockQ2_0, 64)
BLOCKS_ROW (nvfp4, KvasirBlockNvfp4, 64)
