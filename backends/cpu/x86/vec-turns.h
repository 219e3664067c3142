/* backends/cpu/x86/vec-turns.h - the Walsh-Hadamard transform
 *
 * Included after vec-kernels.h.
 */
#pragma once

#include "backends/cpu/x86/vec-kernels.h"

typedef int32_t VecInts __attribute__ ((vector_size (sizeof (Vec))));

/* Of two lanes @h apart the sum goes to the lower, the difference to the upper one. */
INLINE Vec
mix_lanes (Vec x, const int h)
{
  VecInts partners = { 0 };
  Vec signs = vec_set1 (1);

  for (int i = 0; i < LANES; i++)
    {
      partners[i] = i ^ h;
      signs[i] = i & h ? -1 : 1;
    }
  return vec_fma (x, signs, __builtin_shuffle (x, partners));
}

static void
hadamard (const float *x, int n, float *y)
{
  Vec factor = vec_set1 (1 / sqrtf ((float) n));

  if (n < LANES)
    {
      kvasir_scalar_kernels.hadamard (x, n, y);
      return;
    }
  for (int i = 0; i < n; i += LANES)
    {
      Vec v = vec_mul (vec_load (x + i), factor);
      v = mix_lanes (mix_lanes (mix_lanes (v, 1), 2), 4);
      if (LANES == 16)
        v = mix_lanes (v, 8);
      vec_store (y + i, v);
    }
  for (int h = LANES; h < n; h *= 2)
    for (int i = 0; i < n; i += 2 * h)
      for (int j = i; j < i + h; j += LANES)
        {
          Vec a = vec_load (y + j), b = vec_load (y + j + h);
          vec_store (y + j, vec_add (a, b));
          vec_store (y + j + h, vec_sub (a, b));
        }
}
