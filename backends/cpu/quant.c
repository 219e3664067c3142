/* Rows of f32 rounded to the types that a cache may have. The rules are part of the semantics of a
 * cache: golden values depend on them, ties and the order of tests included. */
#include <math.h>

#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/rows.h"

void
kvasir_f32_from_float (const float *in, void *row, int64_t n)
{
  memcpy (row, in, (size_t) n * sizeof (float));
}

static void
f16_from_float (const float *in, void *row, int64_t n)
{
  uint16_t *out = row;

  for (int64_t i = 0; i < n; i++)
    out[i] = kvasir_f32_to_f16 (in[i]);
}

/* To nearest, ties to even; a NaN stays one. */
static uint16_t
round_to_bf16 (float value)
{
  uint32_t bits = kvasir_float_bits (value);

  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return (uint16_t) (bits >> 16 | 0x40u);
  return (uint16_t) ((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

void
kvasir_bf16_from_float (const float *in, void *row, int64_t n)
{
  uint16_t *out = row;

  for (int64_t i = 0; i < n; i++)
    out[i] = round_to_bf16 (in[i]);
}

/* The value of largest magnitude, with its sign; the first of equals. */
static float
find_peak (const float in[32])
{
  float peak = 0, largest = 0;

  for (int j = 0; j < 32; j++)
    if (fabsf (in[j]) > largest)
      {
        largest = fabsf (in[j]);
        peak = in[j];
      }
  return peak;
}

static void
find_range (const float in[32], float *min, float *max)
{
  *min = in[0];
  *max = in[0];
  for (int j = 1; j < 32; j++)
    {
      *min = in[j] < *min ? in[j] : *min;
      *max = in[j] > *max ? in[j] : *max;
    }
}

/* trunc (value + half), at most @top. NaN and infinities, which only a broken model makes, become
 * 0, so that the conversion is defined. */
static int
round_up_to (float value, float half, int top)
{
  float shifted = value + half;

  if (!(shifted > 0))
    return 0;
  return shifted >= (float) top ? top : (int) shifted;
}

static float
invert (float d)
{
  return d != 0 ? 1.0f / d : 0.0f;
}

static void
round_q8_0 (const float in[32], KvasirBlockQ8_0 *block)
{
  float d = fabsf (find_peak (in)) / 127, id = invert (d);

  block->d = kvasir_f32_to_f16 (d);
  for (int j = 0; j < 32; j++)
    {
      float q = roundf (in[j] * id);
      block->qs[j] = q >= -127 && q <= 127 ? (int8_t) q : 0;
    }
}

static void
round_q4_0 (const float in[32], KvasirBlockQ4_0 *block)
{
  float d = find_peak (in) / -8, id = invert (d);

  block->d = kvasir_f32_to_f16 (d);
  for (int j = 0; j < 16; j++)
    {
      int low = round_up_to (in[j] * id, 8.5f, 15);
      int high = round_up_to (in[j + 16] * id, 8.5f, 15);
      block->qs[j] = (uint8_t) (low | high << 4);
    }
}

static void
round_q4_1 (const float in[32], KvasirBlockQ4_1 *block)
{
  float min, max;

  find_range (in, &min, &max);
  float d = (max - min) / 15, id = invert (d);
  block->d = kvasir_f32_to_f16 (d);
  block->m = kvasir_f32_to_f16 (min);
  for (int j = 0; j < 16; j++)
    {
      int low = round_up_to ((in[j] - min) * id, 0.5f, 15);
      int high = round_up_to ((in[j + 16] - min) * id, 0.5f, 15);
      block->qs[j] = (uint8_t) (low | high << 4);
    }
}

static void
store_five_bits (const int q[32], uint8_t qh[4], uint8_t qs[16])
{
  memset (qh, 0, 4);
  for (int j = 0; j < 16; j++)
    qs[j] = (uint8_t) ((q[j] & 15) | (q[j + 16] & 15) << 4);
  for (int j = 0; j < 32; j++)
    qh[j / 8] |= (uint8_t) ((q[j] >> 4) << (j % 8));
}

static void
round_q5_0 (const float in[32], KvasirBlockQ5_0 *block)
{
  float d = find_peak (in) / -16, id = invert (d);
  int q[32];

  block->d = kvasir_f32_to_f16 (d);
  for (int j = 0; j < 32; j++)
    q[j] = round_up_to (in[j] * id, 16.5f, 31);
  store_five_bits (q, block->qh, block->qs);
}

static void
round_q5_1 (const float in[32], KvasirBlockQ5_1 *block)
{
  float min, max;
  int q[32];

  find_range (in, &min, &max);
  float d = (max - min) / 31, id = invert (d);
  block->d = kvasir_f32_to_f16 (d);
  block->m = kvasir_f32_to_f16 (min);
  for (int j = 0; j < 32; j++)
    q[j] = round_up_to ((in[j] - min) * id, 0.5f, 31);
  store_five_bits (q, block->qh, block->qs);
}

/* The table value nearest to @value; the upper one of two equally near. */
static int
find_iq4 (float value)
{
  int i = 0;

  while (i < 15 && value - (float) kvasir_iq4_values[i] >= (float) kvasir_iq4_values[i + 1] - value)
    i++;
  return i;
}

/* The indices are chosen with the scale that maps the peak onto the first table value; then the
 * scale is fitted to them by least squares, weighted by x^2. */
static void
round_iq4_nl (const float in[32], KvasirBlockIq4Nl *block)
{
  float peak = find_peak (in), id = 1.0f / (peak / -127), sum_qx = 0, sum_qq = 0;

  memset (block, 0, sizeof *block);
  if (peak == 0)
    return;
  for (int j = 0; j < 32; j++)
    {
      int index = find_iq4 (in[j] * id);
      float q = kvasir_iq4_values[index], weight = in[j] * in[j];
      block->qs[j % 16] |= (uint8_t) (index << (j / 16 * 4));
      sum_qx += weight * q * in[j];
      sum_qq += weight * q * q;
    }
  block->d = kvasir_f32_to_f16 (sum_qq > 0 ? sum_qx / sum_qq : 0.0f);
}

/* A row as its blocks one after the other. */
#define FROM_FLOAT(name, Block)                                                                    \
  void kvasir_##name##_from_float (const float *in, void *row, int64_t n)                          \
  {                                                                                                \
    Block *blocks = row;                                                                           \
                                                                                                   \
    for (int64_t i = 0; i < n / 32; i++)                                                           \
      round_##name (in + 32 * i, &blocks[i]);                                                      \
  }

FROM_FLOAT (q8_0, KvasirBlockQ8_0)
FROM_FLOAT (q4_0, KvasirBlockQ4_0)
FROM_FLOAT (q4_1, KvasirBlockQ4_1)
FROM_FLOAT (q5_0, KvasirBlockQ5_0)
FROM_FLOAT (q5_1, KvasirBlockQ5_1)
FROM_FLOAT (iq4_nl, KvasirBlockIq4Nl)

const KvasirRowFromFloat kvasir_scalar_from_float[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = kvasir_f32_from_float,       [KVASIR_TYPE_F16] = f16_from_float,
  [KVASIR_TYPE_BF16] = kvasir_bf16_from_float,     [KVASIR_TYPE_Q8_0] = kvasir_q8_0_from_float,
  [KVASIR_TYPE_Q4_0] = kvasir_q4_0_from_float,     [KVASIR_TYPE_Q4_1] = kvasir_q4_1_from_float,
  [KVASIR_TYPE_Q5_0] = kvasir_q5_0_from_float,     [KVASIR_TYPE_Q5_1] = kvasir_q5_1_from_float,
  [KVASIR_TYPE_IQ4_NL] = kvasir_iq4_nl_from_float,
};
