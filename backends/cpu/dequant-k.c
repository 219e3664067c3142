/* Rows of the 256-element types to f32. The bit packing is that of the file format: scales of
 * Q4_K and Q5_K are eight six-bit pairs in 12 bytes, those of Q3_K sixteen six-bit values. */
#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/rows.h"

static void
expand_q2_k (const KvasirBlockQ2K *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d), dmin = kvasir_f16_to_f32 (block->dmin);

  for (int j = 0; j < 256; j++)
    {
      /* Each half of 128 owns 32 bytes; a shift of 0, 2, 4 or 6 gives a run of 32. */
      int shift = j / 32 % 4 * 2;
      int q = block->qs[j / 128 * 32 + j % 32] >> shift & 3;
      uint8_t scale = block->scales[j / 16];
      out[j] = d * (float) (scale & 15) * (float) q - dmin * (float) (scale >> 4);
    }
}

static int
get_q3_k_scale (const uint8_t b[12], int j)
{
  int low = j < 8 ? b[j] & 15 : b[j - 8] >> 4;
  int high = b[8 + j % 4] >> (j / 4 * 2) & 3;

  return (low | high << 4) - 32;
}

static void
expand_q3_k (const KvasirBlockQ3K *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 256; j++)
    {
      int run = j / 32;
      int q = block->qs[j / 128 * 32 + j % 32] >> (run % 4 * 2) & 3;
      int high = block->hmask[j % 32] >> run & 1;
      int scale = get_q3_k_scale (block->scales, j / 16);
      out[j] = d * (float) scale * (float) (q - (high ? 0 : 4));
    }
}

/* Scale and minimum of a run of 32. */
typedef struct
{
  float d, m;
} Pair;

static Pair
get_q4_k_pair (uint16_t d, uint16_t dmin, const uint8_t b[12], int j)
{
  int scale = j < 4 ? b[j] & 63 : (b[j + 4] & 15) | b[j - 4] >> 6 << 4;
  int min = j < 4 ? b[j + 4] & 63 : b[j + 4] >> 4 | b[j] >> 6 << 4;

  return (Pair){ kvasir_f16_to_f32 (d) * (float) scale, kvasir_f16_to_f32 (dmin) * (float) min };
}

static void
expand_q4_k (const KvasirBlockQ4K *block, float out[256])
{
  for (int j = 0; j < 8; j++)
    {
      Pair pair = get_q4_k_pair (block->d, block->dmin, block->scales, j);
      const uint8_t *qs = block->qs + j / 2 * 32;
      for (int l = 0; l < 32; l++)
        out[j * 32 + l] = pair.d * (float) (qs[l] >> (j % 2 * 4) & 15) - pair.m;
    }
}

static void
expand_q5_k_run (const KvasirBlockQ5K *block, int j, float out[32])
{
  Pair pair = get_q4_k_pair (block->d, block->dmin, block->scales, j);
  const uint8_t *qs = block->qs + j / 2 * 32;

  for (int l = 0; l < 32; l++)
    {
      int q = (qs[l] >> (j % 2 * 4) & 15) | (block->qh[l] >> j & 1) << 4;
      out[l] = pair.d * (float) q - pair.m;
    }
}

static void
expand_q5_k (const KvasirBlockQ5K *block, float out[256])
{
  for (int j = 0; j < 8; j++)
    expand_q5_k_run (block, j, out + j * 32);
}

static void
expand_q6_k (const KvasirBlockQ6K *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 256; j++)
    {
      int half = j / 128, run = j / 32 % 4, l = j % 32;
      int low = block->ql[half * 64 + run % 2 * 32 + l] >> (run / 2 * 4) & 15;
      int high = block->qh[half * 32 + l] >> (run * 2) & 3;
      int scale = block->scales[half * 8 + run * 2 + l / 16];
      out[j] = d * (float) scale * (float) ((low | high << 4) - 32);
    }
}

static void
expand_iq4_xs_run (const KvasirBlockIq4Xs *block, int j, float out[32])
{
  const uint8_t *qs = block->qs + j * 16;
  int low = block->scales_l[j / 2] >> (j % 2 * 4) & 15;
  int high = block->scales_h >> (2 * j) & 3;
  float d = kvasir_f16_to_f32 (block->d) * (float) ((low | high << 4) - 32);

  for (int l = 0; l < 16; l++)
    {
      out[l] = d * (float) kvasir_iq4_values[qs[l] & 15];
      out[l + 16] = d * (float) kvasir_iq4_values[qs[l] >> 4];
    }
}

static void
expand_iq4_xs (const KvasirBlockIq4Xs *block, float out[256])
{
  for (int j = 0; j < 8; j++)
    expand_iq4_xs_run (block, j, out + j * 32);
}

/* A row as its blocks one after the other. */
#define TO_FLOAT(name, Block)                                                                      \
  void kvasir_##name##_to_float (const void *row, float *out, int64_t n)                           \
  {                                                                                                \
    const Block *blocks = row;                                                                     \
                                                                                                   \
    for (int64_t i = 0; i < n / 256; i++)                                                          \
      expand_##name (&blocks[i], out + 256 * i);                                                   \
  }

TO_FLOAT (q2_k, KvasirBlockQ2K)
TO_FLOAT (q3_k, KvasirBlockQ3K)
TO_FLOAT (q4_k, KvasirBlockQ4K)
TO_FLOAT (q5_k, KvasirBlockQ5K)
TO_FLOAT (q6_k, KvasirBlockQ6K)
TO_FLOAT (iq4_xs, KvasirBlockIq4Xs)
