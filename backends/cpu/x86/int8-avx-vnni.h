/* backends/cpu/x86/int8-avx-vnni.h - integer products by AVX-VNNI, vpdpbusd on 256 bits
 *
 * For processors with it and without AVX-512; the rest of their table is that of AVX2.
 *
 * Thread: any.
 */
#pragma once

#include "backends/cpu/kernels.h"

void kvasir_avx_vnni_few (const KvasirProduct *p,
                          const KvasirProductPart *part,
                          const KvasirRowToFloat *to_float,
                          uint8_t *scratch);
void kvasir_avx_vnni_many (const KvasirProduct *p,
                           const KvasirProductPart *part,
                           const KvasirRowToFloat *to_float,
                           uint8_t *scratch);
