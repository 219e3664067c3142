/* backends/cpu/x86/many-amx.h - products of quantised weights with many tokens, by AMX
 *
 * For the types that the AVX-512 products take as integers, with the activations that they take.
 * Both give the same numbers: the second has plain C in place of the tile instructions, runs
 * wherever AVX-512 VNNI does and is there for tests.
 *
 * Thread: any; tiles are configured and released inside.
 */
#pragma once

#include "backends/cpu/kernels.h"

void kvasir_amx_many (const KvasirProduct *p,
                      const KvasirProductPart *part,
                      const KvasirRowToFloat *to_float,
                      uint8_t *scratch);
void kvasir_amx_emulated_many (const KvasirProduct *p,
                               const KvasirProductPart *part,
                               const KvasirRowToFloat *to_float,
                               uint8_t *scratch);
