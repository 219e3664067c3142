/* Rows of the types with one to two bits and no lattice, and of NVFP4, to f32. */
#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/rows.h"

/* The digits of @n_bytes bytes, base 3, the highest first: a byte is the number of five digits as a
 * fraction of 256, rounded up, so that the highest is what lies above a third and two thirds. */
static float *
put_digits (const uint8_t *bytes, int n_bytes, int n_digits, float d, float *out)
{
  uint8_t power = 1;

  for (int i = 0; i < n_digits; i++, power = (uint8_t) (power * 3))
    for (int j = 0; j < n_bytes; j++)
      {
        uint8_t rest = (uint8_t) (bytes[j] * power);
        *out++ = d * (float) ((rest * 3 >> 8) - 1);
      }
  return out;
}

static void
expand_tq1_0 (const KvasirBlockTq1_0 *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  out = put_digits (block->qs, 32, 5, d, out);
  out = put_digits (block->qs + 32, 16, 5, d, out);
  put_digits (block->qh, 4, 4, d, out);
}

static void
expand_tq2_0 (const KvasirBlockTq2_0 *block, float out[256])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int run = 0; run < 8; run++)
    for (int l = 0; l < 32; l++)
      out[run * 32 + l] = d * (float) ((block->qs[run / 4 * 32 + l] >> (run % 4 * 2) & 3) - 1);
}

static void
expand_q1_0 (const KvasirBlockQ1_0 *block, float out[128])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 128; j++)
    out[j] = block->qs[j / 8] >> (j % 8) & 1 ? d : -d;
}

static void
expand_q2_0 (const KvasirBlockQ2_0 *block, float out[64])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 64; j++)
    out[j] = d * (float) ((block->qs[j / 4] >> (j % 4 * 2) & 3) - 1);
}

static void
expand_nvfp4 (const KvasirBlockNvfp4 *block, float out[64])
{
  for (int j = 0; j < 32; j++)
    {
      float d = kvasir_half_of_ue4m3 (block->scales[j / 8]);
      float *run = out + j / 8 * 16 + j % 8;
      run[0] = d * (float) kvasir_mxfp4_values[block->qs[j] & 15];
      run[8] = d * (float) kvasir_mxfp4_values[block->qs[j] >> 4];
    }
}

/* A row as its blocks one after the other. */
#define TO_FLOAT(name, Block, length)                                                              \
  void kvasir_##name##_to_float (const void *row, float *out, int64_t n)                           \
  {                                                                                                \
    const Block *blocks = row;                                                                     \
                                                                                                   \
    for (int64_t i = 0; i < n / (length); i++)                                                     \
      expand_##name (&blocks[i], out + (length) *i);                                               \
  }

TO_FLOAT (tq1_0, KvasirBlockTq1_0, 256)
TO_FLOAT (tq2_0, KvasirBlockTq2_0, 256)
TO_FLOAT (q1_0, KvasirBlockQ1_0, 128)
TO_FLOAT (q2_0, KvasirBlockQ2_0, 64)
TO_FLOAT (nvfp4, KvasirBlockNvfp4, 64)
