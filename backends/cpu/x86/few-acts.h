/* backends/cpu/x86/few-acts.h - the activations of the few tokens that are multiplied at a time */
#pragma once

#include "backends/cpu/x86/vec-kernels.h"

typedef struct
{
  const int8_t *q[KVASIR_FEW_TOKENS];
  const int8_t *fine[KVASIR_FEW_TOKENS]; /* of steps of few tokens */
  const float *d[KVASIR_FEW_TOKENS];
  const float *s[KVASIR_FEW_TOKENS];
  const float *s16[KVASIR_FEW_TOKENS];
} FewActs;

INLINE FewActs
get_few_acts (const KvasirProduct *p, int64_t token, const int n)
{
  FewActs acts;

  for (int t = 0; t < n; t++)
    {
      acts.q[t] = p->acts.q + (token + t) * p->k;
      acts.fine[t] = p->acts.fine != NULL ? p->acts.fine + (token + t) * p->k : NULL;
      acts.d[t] = p->acts.d + (token + t) * (p->k / 32);
      acts.s[t] = p->acts.s + (token + t) * (p->k / 32);
      acts.s16[t] = p->acts.s16 + (token + t) * (p->k / 16);
    }
  return acts;
}
