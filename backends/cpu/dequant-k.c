/* Rows of the 256-element types to f32. The bit packing is that of the file format: scales of
 * Q4_K and Q5_K are eight six-bit pairs in 12 bytes, those of Q3_K sixteen six-bit values. */
#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/rows.h"

void
kvasir_q2_k_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockQ2K *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
    {
      float d = kvasir_f16_to_f32 (block->d);
      float dmin = kvasir_f16_to_f32 (block->dmin);
      for (int j = 0; j < 256; j++)
        {
          /* Each half of 128 owns 32 bytes; a shift of 0, 2, 4 or 6 gives a run of 32. */
          int shift = j / 32 % 4 * 2;
          int q = block->qs[j / 128 * 32 + j % 32] >> shift & 3;
          uint8_t scale = block->scales[j / 16];
          out[j] = d * (float) (scale & 15) * (float) q - dmin * (float) (scale >> 4);
        }
    }
}

static int
get_q3_k_scale (const uint8_t b[12], int j)
{
  int low = j < 8 ? b[j] & 15 : b[j - 8] >> 4;
  int high = b[8 + j % 4] >> (j / 4 * 2) & 3;

  return (low | high << 4) - 32;
}

void
kvasir_q3_k_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockQ3K *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
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
}

static void
get_q4_k_pair (const uint8_t b[12], int j, int *scale, int *min)
{
  if (j < 4)
    {
      *scale = b[j] & 63;
      *min = b[j + 4] & 63;
    }
  else
    {
      *scale = (b[j + 4] & 15) | b[j - 4] >> 6 << 4;
      *min = b[j + 4] >> 4 | b[j] >> 6 << 4;
    }
}

void
kvasir_q4_k_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockQ4K *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
    for (int j = 0; j < 8; j++)
      {
        const uint8_t *qs = block->qs + j / 2 * 32;
        int scale, min;

        get_q4_k_pair (block->scales, j, &scale, &min);
        float d = kvasir_f16_to_f32 (block->d) * (float) scale;
        float m = kvasir_f16_to_f32 (block->dmin) * (float) min;
        for (int l = 0; l < 32; l++)
          out[j * 32 + l] = d * (float) (qs[l] >> (j % 2 * 4) & 15) - m;
      }
}

void
kvasir_q5_k_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockQ5K *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
    for (int j = 0; j < 8; j++)
      {
        const uint8_t *qs = block->qs + j / 2 * 32;
        int scale, min;

        get_q4_k_pair (block->scales, j, &scale, &min);
        float d = kvasir_f16_to_f32 (block->d) * (float) scale;
        float m = kvasir_f16_to_f32 (block->dmin) * (float) min;
        for (int l = 0; l < 32; l++)
          {
            int q = (qs[l] >> (j % 2 * 4) & 15) | (block->qh[l] >> j & 1) << 4;
            out[j * 32 + l] = d * (float) q - m;
          }
      }
}

void
kvasir_q6_k_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockQ6K *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
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
}

void
kvasir_iq4_xs_to_float (const void *row, float *out, int64_t n)
{
  const KvasirBlockIq4Xs *block = row;

  for (int64_t i = 0; i < n / 256; i++, block++, out += 256)
    for (int j = 0; j < 8; j++)
      {
        const uint8_t *qs = block->qs + j * 16;
        int low = block->scales_l[j / 2] >> (j % 2 * 4) & 15;
        int high = block->scales_h >> (2 * j) & 3;
        float d = kvasir_f16_to_f32 (block->d) * (float) ((low | high << 4) - 32);
        for (int l = 0; l < 16; l++)
          {
            out[j * 32 + l] = d * (float) kvasir_iq4_values[qs[l] & 15];
            out[j * 32 + l + 16] = d * (float) kvasir_iq4_values[qs[l] >> 4];
          }
      }
}
