/* Rows of plain and 32-element types to f32. */
#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/rows.h"

const int8_t kvasir_iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113 };

const int8_t kvasir_mxfp4_values[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

void
kvasir_f32_to_float (const void *row, float *out, int64_t n)
{
  memcpy (out, row, (size_t) n * sizeof (float));
}

static void
f16_to_float (const void *row, float *out, int64_t n)
{
  const uint16_t *in = row;

  for (int64_t i = 0; i < n; i++)
    out[i] = kvasir_f16_to_f32 (in[i]);
}

static void
bf16_to_float (const void *row, float *out, int64_t n)
{
  const uint16_t *in = row;

  for (int64_t i = 0; i < n; i++)
    out[i] = kvasir_float_from_bits ((uint32_t) in[i] << 16);
}

static void
expand_q4_0 (const KvasirBlockQ4_0 *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 16; j++)
    {
      out[j] = (float) ((block->qs[j] & 15) - 8) * d;
      out[j + 16] = (float) ((block->qs[j] >> 4) - 8) * d;
    }
}

static void
expand_q4_1 (const KvasirBlockQ4_1 *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d), m = kvasir_f16_to_f32 (block->m);

  for (int j = 0; j < 16; j++)
    {
      out[j] = (float) (block->qs[j] & 15) * d + m;
      out[j + 16] = (float) (block->qs[j] >> 4) * d + m;
    }
}

/* The fifth bit of element @j, as 16 or 0. */
static int
get_fifth_bit (const uint8_t qh[4], int j)
{
  return (qh[j / 8] >> (j % 8) & 1) << 4;
}

static void
expand_q5_0 (const KvasirBlockQ5_0 *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 16; j++)
    {
      int low = (block->qs[j] & 15) | get_fifth_bit (block->qh, j);
      int high = block->qs[j] >> 4 | get_fifth_bit (block->qh, j + 16);
      out[j] = (float) (low - 16) * d;
      out[j + 16] = (float) (high - 16) * d;
    }
}

static void
expand_q5_1 (const KvasirBlockQ5_1 *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d), m = kvasir_f16_to_f32 (block->m);

  for (int j = 0; j < 16; j++)
    {
      int low = (block->qs[j] & 15) | get_fifth_bit (block->qh, j);
      int high = block->qs[j] >> 4 | get_fifth_bit (block->qh, j + 16);
      out[j] = (float) low * d + m;
      out[j + 16] = (float) high * d + m;
    }
}

static void
expand_q8_0 (const KvasirBlockQ8_0 *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 32; j++)
    out[j] = (float) block->qs[j] * d;
}

static void
expand_iq4_nl (const KvasirBlockIq4Nl *block, float out[32])
{
  float d = kvasir_f16_to_f32 (block->d);

  for (int j = 0; j < 16; j++)
    {
      out[j] = (float) kvasir_iq4_values[block->qs[j] & 15] * d;
      out[j + 16] = (float) kvasir_iq4_values[block->qs[j] >> 4] * d;
    }
}

static void
expand_mxfp4 (const KvasirBlockMxfp4 *block, float out[32])
{
  float d = kvasir_half_of_e8m0 (block->e);

  for (int j = 0; j < 16; j++)
    {
      out[j] = (float) kvasir_mxfp4_values[block->qs[j] & 15] * d;
      out[j + 16] = (float) kvasir_mxfp4_values[block->qs[j] >> 4] * d;
    }
}

/* A row as its blocks one after the other. */
#define TO_FLOAT(name, Block)                                                                      \
  static void name##_to_float (const void *row, float *out, int64_t n)                             \
  {                                                                                                \
    const Block *blocks = row;                                                                     \
                                                                                                   \
    for (int64_t i = 0; i < n / 32; i++)                                                           \
      expand_##name (&blocks[i], out + 32 * i);                                                    \
  }

TO_FLOAT (q4_0, KvasirBlockQ4_0)
TO_FLOAT (q4_1, KvasirBlockQ4_1)
TO_FLOAT (q5_0, KvasirBlockQ5_0)
TO_FLOAT (q5_1, KvasirBlockQ5_1)
TO_FLOAT (q8_0, KvasirBlockQ8_0)
TO_FLOAT (iq4_nl, KvasirBlockIq4Nl)
TO_FLOAT (mxfp4, KvasirBlockMxfp4)

const KvasirRowToFloat kvasir_scalar_to_float[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = kvasir_f32_to_float,
  [KVASIR_TYPE_F16] = f16_to_float,
  [KVASIR_TYPE_BF16] = bf16_to_float,
  [KVASIR_TYPE_Q4_0] = q4_0_to_float,
  [KVASIR_TYPE_Q4_1] = q4_1_to_float,
  [KVASIR_TYPE_Q5_0] = q5_0_to_float,
  [KVASIR_TYPE_Q5_1] = q5_1_to_float,
  [KVASIR_TYPE_Q8_0] = q8_0_to_float,
  [KVASIR_TYPE_Q2_K] = kvasir_q2_k_to_float,
  [KVASIR_TYPE_Q3_K] = kvasir_q3_k_to_float,
  [KVASIR_TYPE_Q4_K] = kvasir_q4_k_to_float,
  [KVASIR_TYPE_Q5_K] = kvasir_q5_k_to_float,
  [KVASIR_TYPE_Q6_K] = kvasir_q6_k_to_float,
  [KVASIR_TYPE_IQ4_NL] = iq4_nl_to_float,
  [KVASIR_TYPE_IQ4_XS] = kvasir_iq4_xs_to_float,
  [KVASIR_TYPE_MXFP4] = mxfp4_to_float,
  [KVASIR_TYPE_IQ2_XXS] = kvasir_iq2_xxs_to_float,
  [KVASIR_TYPE_IQ2_XS] = kvasir_iq2_xs_to_float,
  [KVASIR_TYPE_IQ2_S] = kvasir_iq2_s_to_float,
  [KVASIR_TYPE_IQ3_XXS] = kvasir_iq3_xxs_to_float,
  [KVASIR_TYPE_IQ3_S] = kvasir_iq3_s_to_float,
  [KVASIR_TYPE_IQ1_S] = kvasir_iq1_s_to_float,
  [KVASIR_TYPE_IQ1_M] = kvasir_iq1_m_to_float,
  [KVASIR_TYPE_TQ1_0] = kvasir_tq1_0_to_float,
  [KVASIR_TYPE_TQ2_0] = kvasir_tq2_0_to_float,
  [KVASIR_TYPE_NVFP4] = kvasir_nvfp4_to_float,
  [KVASIR_TYPE_Q1_0] = kvasir_q1_0_to_float,
  [KVASIR_TYPE_Q2_0] = kvasir_q2_0_to_float,
};
