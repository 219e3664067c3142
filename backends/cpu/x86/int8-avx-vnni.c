/* The integer products of AVX2, compiled with AVX-VNNI. */
#include "backends/cpu/x86/int8-avx-vnni.h"

#include "backends/cpu/x86/vec-avx2.h"

#include "backends/cpu/x86/products-avx2.h"

#define TYPE_CASE(type, call)                                                                      \
  case type:                                                                                       \
    call;                                                                                          \
    break

#define FOR_TYPE(call)                                                                             \
  switch (p->type)                                                                                 \
    {                                                                                              \
      TYPE_CASE (KVASIR_TYPE_Q4_0, call (KVASIR_TYPE_Q4_0));                                       \
      TYPE_CASE (KVASIR_TYPE_Q4_1, call (KVASIR_TYPE_Q4_1));                                       \
      TYPE_CASE (KVASIR_TYPE_Q5_0, call (KVASIR_TYPE_Q5_0));                                       \
      TYPE_CASE (KVASIR_TYPE_Q5_1, call (KVASIR_TYPE_Q5_1));                                       \
      TYPE_CASE (KVASIR_TYPE_Q8_0, call (KVASIR_TYPE_Q8_0));                                       \
      TYPE_CASE (KVASIR_TYPE_IQ4_NL, call (KVASIR_TYPE_IQ4_NL));                                   \
      TYPE_CASE (KVASIR_TYPE_MXFP4, call (KVASIR_TYPE_MXFP4));                                     \
      TYPE_CASE (KVASIR_TYPE_Q2_K, call (KVASIR_TYPE_Q2_K));                                       \
      TYPE_CASE (KVASIR_TYPE_Q3_K, call (KVASIR_TYPE_Q3_K));                                       \
      TYPE_CASE (KVASIR_TYPE_Q4_K, call (KVASIR_TYPE_Q4_K));                                       \
      TYPE_CASE (KVASIR_TYPE_Q5_K, call (KVASIR_TYPE_Q5_K));                                       \
      TYPE_CASE (KVASIR_TYPE_Q6_K, call (KVASIR_TYPE_Q6_K));                                       \
      TYPE_CASE (KVASIR_TYPE_IQ4_XS, call (KVASIR_TYPE_IQ4_XS));                                   \
    default:                                                                                       \
      break;                                                                                       \
    }

void
kvasir_avx_vnni_few (const KvasirProduct *p,
                     const KvasirProductPart *part,
                     const KvasirRowToFloat *to_float,
                     uint8_t *scratch)
{
  (void) to_float;
#define FEW(type) int8_few (p, part, type, scratch)
  FOR_TYPE (FEW)
#undef FEW
}

void
kvasir_avx_vnni_many (const KvasirProduct *p,
                      const KvasirProductPart *part,
                      const KvasirRowToFloat *to_float,
                      uint8_t *scratch)
{
  (void) to_float;
#define MANY(type) int8_many (p, part, type, scratch)
  FOR_TYPE (MANY)
#undef MANY
}
