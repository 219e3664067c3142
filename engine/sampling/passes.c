#include "engine/sampling/passes.h"

#include <float.h>

#include "engine/sampling/select.h"

/* NaN can never be chosen, and infinity must not make all others NaN. */
static inline float
make_usable (float logit)
{
  float value = logit < FLT_MAX ? logit : FLT_MAX;
  return logit == logit ? value : -__builtin_inff ();
}

/* The largest of one block. Halving keeps the loops free of carried values, so that the compiler
 * does several at once. */
static inline __attribute__ ((always_inline)) float
find_max (const float *values)
{
  float best[KVASIR_BLOCK / 2];
  for (guint i = 0; i < KVASIR_BLOCK / 2; i++)
    best[i] = values[i] > values[i + KVASIR_BLOCK / 2] ? values[i] : values[i + KVASIR_BLOCK / 2];
  for (guint i = 0; i < KVASIR_BLOCK / 4; i++)
    best[i] = best[i] > best[i + KVASIR_BLOCK / 4] ? best[i] : best[i + KVASIR_BLOCK / 4];
  for (guint i = 0; i < KVASIR_BLOCK / 8; i++)
    best[i] = best[i] > best[i + KVASIR_BLOCK / 8] ? best[i] : best[i + KVASIR_BLOCK / 8];
  for (guint i = 0; i < KVASIR_BLOCK / 16; i++)
    best[i] = best[i] > best[i + KVASIR_BLOCK / 16] ? best[i] : best[i + KVASIR_BLOCK / 16];
  float a = best[0] > best[1] ? best[0] : best[1];
  float b = best[2] > best[3] ? best[2] : best[3];
  return a > b ? a : b;
}

static inline __attribute__ ((always_inline)) double
weigh (const float *logits, float max, float scale)
{
  float weights[KVASIR_BLOCK];
  /* A block of -inf alone has no maximum to take away; it must weigh nothing, not NaN. */
  float peak = max > -FLT_MAX ? max : -FLT_MAX;
  for (guint i = 0; i < KVASIR_BLOCK; i++)
    weights[i] = kvasir_exp_negative ((logits[i] - peak) * scale);
  for (guint i = 0; i < KVASIR_BLOCK / 2; i++)
    weights[i] += weights[i + KVASIR_BLOCK / 2];
  for (guint i = 0; i < KVASIR_BLOCK / 4; i++)
    weights[i] += weights[i + KVASIR_BLOCK / 4];
  for (guint i = 0; i < KVASIR_BLOCK / 8; i++)
    weights[i] += weights[i + KVASIR_BLOCK / 8];
  for (guint i = 0; i < KVASIR_BLOCK / 16; i++)
    weights[i] += weights[i + KVASIR_BLOCK / 16];
  return ((double) weights[0] + (double) weights[1]) + ((double) weights[2] + (double) weights[3]);
}

static inline __attribute__ ((always_inline)) void
load_blocks (const float *from, guint n_blocks, float *logits, float *maxima, double *masses)
{
  for (guint b = 0; b < n_blocks; b++)
    {
      float *block = logits + b * KVASIR_BLOCK;
      for (guint i = 0; i < KVASIR_BLOCK; i++)
        block[i] = make_usable (from[b * KVASIR_BLOCK + i]);
      maxima[b] = find_max (block);
      masses[b] = weigh (block, maxima[b], 1.0f);
    }
}

static inline __attribute__ ((always_inline)) void
weigh_blocks (const float *logits, const float *maxima, guint n_blocks, float scale, double *masses)
{
  for (guint b = 0; b < n_blocks; b++)
    masses[b] = weigh (logits + b * KVASIR_BLOCK, maxima[b], scale);
}

#if defined(__x86_64__)
#define WIDER(name, isa)                                                                           \
  static __attribute__ ((target (isa))) void load_##name (                                         \
      const float *from, guint n_blocks, float *logits, float *maxima, double *masses)             \
  {                                                                                                \
    load_blocks (from, n_blocks, logits, maxima, masses);                                          \
  }                                                                                                \
  static __attribute__ ((target (isa))) void weigh_##name (                                        \
      const float *logits, const float *maxima, guint n_blocks, float scale, double *masses)       \
  {                                                                                                \
    weigh_blocks (logits, maxima, n_blocks, scale, masses);                                        \
  }

WIDER (avx2, "avx2")
WIDER (avx512, "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

void
kvasir_pass_load (const float *from, guint n_blocks, float *logits, float *maxima, double *masses)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
      __builtin_cpu_supports ("avx512vl"))
    {
      load_avx512 (from, n_blocks, logits, maxima, masses);
      return;
    }
  if (__builtin_cpu_supports ("avx2"))
    {
      load_avx2 (from, n_blocks, logits, maxima, masses);
      return;
    }
#endif
  load_blocks (from, n_blocks, logits, maxima, masses);
}

void
kvasir_pass_weigh (
    const float *logits, const float *maxima, guint n_blocks, float scale, double *masses)
{
#if defined(__x86_64__)
  if (__builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
      __builtin_cpu_supports ("avx512vl"))
    {
      weigh_avx512 (logits, maxima, n_blocks, scale, masses);
      return;
    }
  if (__builtin_cpu_supports ("avx2"))
    {
      weigh_avx2 (logits, maxima, n_blocks, scale, masses);
      return;
    }
#endif
  weigh_blocks (logits, maxima, n_blocks, scale, masses);
}
