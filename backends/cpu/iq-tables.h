/* backends/cpu/iq-tables.h - the lattices that the IQ1, IQ2 and IQ3 types choose points of
 *
 * A point is sixteen bits: eight codes of two bits (IQ1, IQ2) or four nibbles of three (IQ3), the
 * first element lowest. What value a code stands for is the type's.
 */
#pragma once

#include <stdint.h>

extern const uint16_t kvasir_iq2_xxs_points[256];
extern const uint16_t kvasir_iq2_xs_points[512];
extern const uint16_t kvasir_iq2_s_points[1024];
extern const uint16_t kvasir_iq3_xxs_points[256];
extern const uint16_t kvasir_iq3_s_points[512];
/* Of both IQ1 types. */
extern const uint16_t kvasir_iq1_points[2048];
