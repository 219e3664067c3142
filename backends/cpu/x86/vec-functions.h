/* backends/cpu/x86/vec-functions.h - exp and what is made of it, over vec-avx2.h or vec-avx512.h */
#pragma once

#include "backends/cpu/kernels.h"

#ifndef INLINE
#define INLINE static inline __attribute__ ((always_inline))
#endif

/* exp (x) = 2^n exp (f) with f = x - n ln 2, |f| <= ln 2 / 2; the series ends with an error below
 * 2e-7. ln 2 is subtracted in two pieces, so that f is exact for large n too. NaN stays NaN. */
INLINE Vec
vec_exp (Vec x)
{
  x = vec_min (vec_set1 (88), vec_max (vec_set1 (-87), x));
  Vec n = vec_round (vec_mul (x, vec_set1 (1.44269504f)));
  Vec f = vec_fma (n, vec_set1 (-0.693359375f), x);
  f = vec_fma (n, vec_set1 (2.12194440e-4f), f);
  Vec p = vec_set1 (1 / 720.0f);
  p = vec_fma (p, f, vec_set1 (1 / 120.0f));
  p = vec_fma (p, f, vec_set1 (1 / 24.0f));
  p = vec_fma (p, f, vec_set1 (1 / 6.0f));
  p = vec_fma (p, f, vec_set1 (0.5f));
  p = vec_fma (p, f, vec_set1 (1));
  p = vec_fma (p, f, vec_set1 (1));
  return vec_scale_by_power (p, n);
}

INLINE Vec
vec_sigmoid (Vec x)
{
  Vec e = vec_exp (vec_sub (vec_set1 (0), x));

  return vec_div (vec_set1 (1), vec_add (vec_set1 (1), e));
}

/* tanh x = 2 sigmoid (2 x) - 1, to about 1e-7 absolute. */
INLINE Vec
vec_tanh (Vec x)
{
  return vec_fma (vec_set1 (2), vec_sigmoid (vec_add (x, x)), vec_set1 (-1));
}

/* erfc of x >= 0: exp (-x^2) times a polynomial in t = 1 / (1 + p x), Abramowitz and Stegun
 * 7.1.26, off by at most 1.5e-7. */
INLINE Vec
vec_erfc (Vec x)
{
  Vec t = vec_div (vec_set1 (1), vec_fma (x, vec_set1 (0.3275911f), vec_set1 (1)));
  Vec p = vec_set1 (1.061405429f);

  p = vec_fma (p, t, vec_set1 (-1.453152027f));
  p = vec_fma (p, t, vec_set1 (1.421413741f));
  p = vec_fma (p, t, vec_set1 (-0.284496736f));
  p = vec_fma (p, t, vec_set1 (0.254829592f));
  return vec_mul (vec_mul (p, t), vec_exp (vec_sub (vec_set1 (0), vec_mul (x, x))));
}

/* ln (1 + u) = 2 artanh s with s = u / (2 + u), for 0 <= u <= 1, where s^2 <= 1 / 9. */
INLINE Vec
vec_log1p (Vec u)
{
  Vec s = vec_div (u, vec_add (u, vec_set1 (2))), s2 = vec_mul (s, s);
  Vec p = vec_set1 (2 / 13.0f);

  for (int k = 11; k > 0; k -= 2)
    p = vec_fma (p, s2, vec_set1 (2 / (float) k));
  return vec_mul (p, s);
}

/* @x stands second, so that NaN survives. */
INLINE Vec
vec_relu (Vec x)
{
  return vec_max (vec_set1 (0), x);
}

INLINE Vec
vec_abs (Vec x)
{
  return vec_max (vec_sub (vec_set1 (0), x), x);
}

/* x (1 + erf (x / sqrt 2)) / 2, written with erfc so that small results of negative x are
 * relatively exact. */
INLINE Vec
vec_gelu_erf (Vec x)
{
  Vec size = vec_abs (x);
  Vec rest = vec_mul (size, vec_erfc (vec_mul (size, vec_set1 (0.70710678f))));

  return vec_fma (rest, vec_set1 (-0.5f), vec_relu (x));
}

INLINE Vec
vec_softplus (Vec x)
{
  return vec_add (vec_relu (x), vec_log1p (vec_exp (vec_sub (vec_set1 (0), vec_abs (x)))));
}

INLINE Vec
apply_unary (KvasirUnary kind, Vec x)
{
  switch (kind)
    {
    case KVASIR_UNARY_SILU:
      return vec_mul (x, vec_sigmoid (x));
    case KVASIR_UNARY_GELU:
      {
        /* (1 + tanh u) / 2 = sigmoid (2 u) */
        Vec cube = vec_fma (vec_mul (vec_mul (x, x), x), vec_set1 (0.044715f), x);
        return vec_mul (x, vec_sigmoid (vec_mul (cube, vec_set1 (2 * 0.79788456f))));
      }
    case KVASIR_UNARY_RELU:
      return vec_relu (x);
    case KVASIR_UNARY_SIGMOID:
      return vec_sigmoid (x);
    case KVASIR_UNARY_TANH:
      return vec_tanh (x);
    case KVASIR_UNARY_GELU_ERF:
      return vec_gelu_erf (x);
    case KVASIR_UNARY_RELU_SQR:
      return vec_mul (vec_relu (x), vec_relu (x));
    case KVASIR_UNARY_SOFTPLUS:
      return vec_softplus (x);
    case KVASIR_UNARY_EXP:
      return vec_exp (x);
    case KVASIR_GLU_OAI:
      break;
    }
  return x;
}

INLINE Vec
apply_glu (KvasirUnary kind, Vec gate, Vec up)
{
  if (kind != KVASIR_GLU_OAI)
    return vec_mul (apply_unary (kind, gate), up);
  Vec g = vec_min (vec_set1 (7), gate);
  Vec u = vec_max (vec_set1 (-7), vec_min (vec_set1 (7), up));
  return vec_mul (vec_mul (g, vec_sigmoid (vec_mul (g, vec_set1 (1.702f)))),
                  vec_add (u, vec_set1 (1)));
}
