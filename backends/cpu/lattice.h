/* backends/cpu/lattice.h - the blocks of the IQ1, IQ2 and IQ3 types, eight elements at a time
 *
 * Whoever includes it has defined what becomes of eight elements, in plain C or in vectors:
 *
 *   put_twos (point, signs, scale, out)        values 8, 25, 43 of codes of two bits
 *   put_threes (points, signs, scale, values, out)  @values of eight nibbles
 *   put_ternary (point, delta, scale, out)     scale (code - 1 + delta)
 *
 * Bit j of @signs turns the sign of element j. The order of the products is part of what is
 * promised: all forms agree bit for bit.
 */
#pragma once

#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/iq-tables.h"

static const float iq3_xxs_values[8] = { 4, 12, 20, 28, 36, 44, 52, 62 };
static const float iq3_s_values[8] = { 1, 3, 5, 7, 9, 11, 13, 15 };

/* Seven signs are stored; their number is even, which gives the eighth. */
static inline uint8_t
complete_signs (uint32_t seven)
{
  uint32_t folded = (seven ^ seven >> 4) & 15;

  return (uint8_t) (seven | (0x6996u >> folded & 1u) << 7);
}

static inline uint32_t
join_halves (const uint16_t *halves)
{
  return halves[0] | (uint32_t) halves[1] << 16;
}

/* Scale of the @j-th 16 elements, out of nibbles. */
static inline float
get_iq2_scale (float d, const uint8_t *scales, int j)
{
  return d * (0.5f + (float) (scales[j / 2] >> (j % 2 * 4) & 15)) * 0.25f;
}

static inline void
expand_iq2_xxs (const KvasirBlockIq2Xxs *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 8; j++)
    {
      uint32_t points = join_halves (block->qs + 4 * j), rest = join_halves (block->qs + 4 * j + 2);
      float scale = d * (0.5f + (float) (rest >> 28)) * 0.25f;
      for (int l = 0; l < 4; l++)
        put_twos (kvasir_iq2_xxs_points[points >> (8 * l) & 255],
                  complete_signs (rest >> (7 * l) & 127), scale, out + 32 * j + 8 * l);
    }
}

static inline void
expand_iq2_xs (const KvasirBlockIq2Xs *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    put_twos (kvasir_iq2_xs_points[block->qs[j] & 511], complete_signs (block->qs[j] >> 9),
              get_iq2_scale (d, block->scales, j / 2), out + 8 * j);
}

static inline void
expand_iq2_s (const KvasirBlockIq2S *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    {
      int high = block->qh[j / 4] >> (j % 4 * 2) & 3;
      put_twos (kvasir_iq2_s_points[block->qs[j] | high << 8], block->signs[j],
                get_iq2_scale (d, block->scales, j / 2), out + 8 * j);
    }
}

static inline void
expand_iq3_xxs (const KvasirBlockIq3Xxs *block, float out[256])
{
  const uint16_t *table = kvasir_iq3_xxs_points;
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    {
      uint32_t rest = join_halves (block->rest + j / 4 * 2);
      float scale = d * (0.5f + (float) (rest >> 28)) * 0.5f;
      uint32_t points = table[block->qs[2 * j]] | (uint32_t) table[block->qs[2 * j + 1]] << 16;
      put_threes (points, complete_signs (rest >> (j % 4 * 7) & 127), scale, iq3_xxs_values,
                  out + 8 * j);
    }
}

static inline void
expand_iq3_s (const KvasirBlockIq3S *block, float out[256])
{
  const uint16_t *table = kvasir_iq3_s_points;
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    {
      float scale = d * (float) (1 + 2 * (block->scales[j / 8] >> (j / 4 % 2 * 4) & 15));
      int high = block->qh[j / 4] >> (j % 4 * 2);
      uint32_t first = table[block->qs[2 * j] | (high & 1) << 8];
      uint32_t second = table[block->qs[2 * j + 1] | (high & 2) << 7];
      put_threes (first | second << 16, block->signs[j], scale, iq3_s_values, out + 8 * j);
    }
}

static inline void
expand_iq1_s (const KvasirBlockIq1S *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    {
      int qh = block->qh[j / 4];
      int high = qh >> (j % 4 * 3) & 7;
      put_ternary (kvasir_iq1_points[block->qs[j] | high << 8], qh & 0x8000 ? -0.125f : 0.125f,
                   d * (float) (2 * (qh >> 12 & 7) + 1), out + 8 * j);
    }
}

/* The scale of a block lies in the highest nibbles of its four words of scales. */
static inline float
get_iq1_m_scale (const uint16_t scales[4])
{
  return kvasir_f16_to_f32 ((uint16_t) (scales[0] >> 12 | scales[1] >> 12 << 4 |
                                        scales[2] >> 12 << 8 | scales[3] >> 12 << 12));
}

static inline void
expand_iq1_m (const KvasirBlockIq1M *block, float out[256])
{
  float d = get_iq1_m_scale (block->scales);

  for (int j = 0; j < 32; j++)
    {
      int scale = block->scales[j / 8] >> (j / 2 % 4 * 3) & 7;
      int high = block->qh[j / 2] >> (j % 2 * 4);
      put_ternary (kvasir_iq1_points[block->qs[j] | (high & 7) << 8], high & 8 ? -0.125f : 0.125f,
                   d * (float) (2 * scale + 1), out + 8 * j);
    }
}

/* A row as its blocks one after the other. */
#define LATTICE_ROW(name, function, Block)                                                         \
  void function (const void *row, float *out, int64_t n)                                           \
  {                                                                                                \
    const Block *blocks = row;                                                                     \
                                                                                                   \
    for (int64_t i = 0; i < n / 256; i++)                                                          \
      expand_##name (&blocks[i], out + 256 * i);                                                   \
  }
