/* backends/cpu/half.h - 16-bit floats in plain C
 *
 * Both directions round to nearest, ties to even, and keep infinities and NaN, as the vector
 * instructions do, so that all paths agree bit for bit.
 */
#pragma once

#include <stdint.h>
#include <string.h>

static inline uint32_t
kvasir_float_bits (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline float
kvasir_float_from_bits (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static inline float
kvasir_f16_to_f32 (uint16_t half)
{
  uint32_t sign = (uint32_t) (half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;

  if (exponent == 0x1f)
    return kvasir_float_from_bits (sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0)
    {
      float tiny = (float) mantissa * 0x1p-24f;
      return sign ? -tiny : tiny;
    }
  return kvasir_float_from_bits (sign | (exponent + 112) << 23 | mantissa << 13);
}

/* 2^(e - 128), half of what the byte stands for, since tables hold doubled values. The two smallest
 * are below the normal numbers. */
static inline float
kvasir_half_of_e8m0 (uint8_t e)
{
  return kvasir_float_from_bits (e < 2 ? 0x00200000u << e : (uint32_t) (e - 1) << 23);
}

/* Half of an unsigned e4m3 float, since the values of the elements are doubled. The all-ones
 * pattern, which is a NaN there, counts as 0 and the sign is not looked at, as writers expect. */
static inline float
kvasir_half_of_ue4m3 (uint8_t bits)
{
  uint32_t exponent = bits >> 3 & 15, mantissa = bits & 7;

  if (bits == 0x7f)
    return 0;
  if (exponent == 0)
    return (float) mantissa * 0x1p-10f;
  return kvasir_float_from_bits ((exponent + 127 - 8) << 23 | mantissa << 20);
}

static inline uint16_t
kvasir_f32_to_f16 (float value)
{
  uint32_t bits = kvasir_float_bits (value);
  uint32_t sign = (bits >> 16) & 0x8000u;

  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u)
    return (uint16_t) (sign | 0x7e00u | (bits >> 13 & 0x3ffu));
  /* From 65520 on the nearest half is infinity. */
  if (bits >= 0x477ff000u)
    return (uint16_t) (sign | 0x7c00u);
  /* Below 2^-14 halves are multiples of 2^-24, which is also the step of floats in [0.5, 1). */
  if (bits < 0x38800000u)
    return (uint16_t) (sign |
                       (kvasir_float_bits (kvasir_float_from_bits (bits) + 0.5f) - 0x3f000000u));
  bits += 0xfffu + (bits >> 13 & 1u);
  return (uint16_t) (sign | (bits - 0x38000000u) >> 13);
}
