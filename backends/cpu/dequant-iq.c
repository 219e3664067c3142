/* Rows of the types whose elements are points of a lattice, to f32. */
#include "backends/cpu/rows.h"

#include <stdbool.h>

static inline void
put (float value, bool turn, float *out)
{
  *out = turn ? -value : value;
}

static inline void
put_twos (uint32_t point, uint8_t signs, float scale, float out[8])
{
  static const float values[4] = { 8, 25, 43, 0 };

  for (int j = 0; j < 8; j++)
    put (scale * values[point >> (2 * j) & 3], signs >> j & 1, out + j);
}

static inline void
put_threes (uint32_t points, uint8_t signs, float scale, const float values[8], float out[8])
{
  for (int j = 0; j < 8; j++)
    put (scale * values[points >> (4 * j) & 7], signs >> j & 1, out + j);
}

static inline void
put_ternary (uint32_t point, float delta, float scale, float out[8])
{
  for (int j = 0; j < 8; j++)
    out[j] = scale * ((float) ((int) (point >> (2 * j) & 3) - 1) + delta);
}

#include "backends/cpu/lattice.h"

LATTICE_ROW (iq2_xxs, kvasir_iq2_xxs_to_float, KvasirBlockIq2Xxs)
LATTICE_ROW (iq2_xs, kvasir_iq2_xs_to_float, KvasirBlockIq2Xs)
LATTICE_ROW (iq2_s, kvasir_iq2_s_to_float, KvasirBlockIq2S)
LATTICE_ROW (iq3_xxs, kvasir_iq3_xxs_to_float, KvasirBlockIq3Xxs)
LATTICE_ROW (iq3_s, kvasir_iq3_s_to_float, KvasirBlockIq3S)
LATTICE_ROW (iq1_s, kvasir_iq1_s_to_float, KvasirBlockIq1S)
LATTICE_ROW (iq1_m, kvasir_iq1_m_to_float, KvasirBlockIq1M)
