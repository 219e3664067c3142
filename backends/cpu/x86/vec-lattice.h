/* backends/cpu/x86/vec-lattice.h - rows of the IQ types to f32, eight elements at a time
 *
 * A point is sent to all lanes, each shifts its own code to the bottom and looks its value up. Of
 * an index only three bits count: of codes of two bits the next code's lowest is among them, so
 * their table holds everything twice.
 */
#pragma once

#include "backends/cpu/rows.h"

#include <immintrin.h>

static inline void
store_turned (__m256 values, uint8_t signs, float *out)
{
  const __m256i to_top = _mm256_setr_epi32 (31, 30, 29, 28, 27, 26, 25, 24);
  __m256i bits = _mm256_sllv_epi32 (_mm256_set1_epi32 (signs), to_top);
  __m256 turn = _mm256_and_ps (_mm256_castsi256_ps (bits), _mm256_set1_ps (-0.0f));

  _mm256_storeu_ps (out, _mm256_xor_ps (values, turn));
}

static inline __m256
look_up_twos (uint32_t point, __m256 table)
{
  const __m256i to_bottom = _mm256_setr_epi32 (0, 2, 4, 6, 8, 10, 12, 14);

  return _mm256_permutevar8x32_ps (table,
                                   _mm256_srlv_epi32 (_mm256_set1_epi32 ((int) point), to_bottom));
}

static inline void
put_twos (uint32_t point, uint8_t signs, float scale, float out[8])
{
  __m256 values = look_up_twos (point, _mm256_setr_ps (8, 25, 43, 0, 8, 25, 43, 0));

  store_turned (_mm256_mul_ps (_mm256_set1_ps (scale), values), signs, out);
}

static inline void
put_threes (uint32_t points, uint8_t signs, float scale, const float values[8], float out[8])
{
  const __m256i to_bottom = _mm256_setr_epi32 (0, 4, 8, 12, 16, 20, 24, 28);
  __m256i codes = _mm256_srlv_epi32 (_mm256_set1_epi32 ((int) points), to_bottom);
  __m256 found = _mm256_permutevar8x32_ps (_mm256_loadu_ps (values), codes);

  store_turned (_mm256_mul_ps (_mm256_set1_ps (scale), found), signs, out);
}

static inline void
put_ternary (uint32_t point, float delta, float scale, float out[8])
{
  __m256 values = look_up_twos (point, _mm256_setr_ps (-1, 0, 1, 0, -1, 0, 1, 0));

  values = _mm256_add_ps (values, _mm256_set1_ps (delta));
  _mm256_storeu_ps (out, _mm256_mul_ps (_mm256_set1_ps (scale), values));
}

#include "backends/cpu/lattice.h"

static LATTICE_ROW (iq2_xxs, iq2_xxs_to_float, KvasirBlockIq2Xxs) static LATTICE_ROW (iq2_xs, iq2_xs_to_float, KvasirBlockIq2Xs) static LATTICE_ROW (
    iq2_s,
    iq2_s_to_float,
    KvasirBlockIq2S) static LATTICE_ROW (iq3_xxs,
                                         iq3_xxs_to_float,
                                         KvasirBlockIq3Xxs) static LATTICE_ROW (iq3_s,
                                                                                iq3_s_to_float,
                                                                                KvasirBlockIq3S) static LATTICE_ROW (iq1_s,
                                                                                                                     iq1_s_to_float,
                                                                                                                     KvasirBlockIq1S) static LATTICE_ROW (iq1_m,
                                                                                                                                                          iq1_m_to_float,
                                                                                                                                                          KvasirBlockIq1M)
