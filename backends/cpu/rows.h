/* backends/cpu/rows.h - rows of any tensor type to and from f32, the plain C form
 *
 * Thread: any, pure.
 */
#pragma once

#include "backends/backend.h"

/* Expands @n elements, a multiple of the type's block length, from @row. */
typedef void (*KvasirRowToFloat) (const void *row, float *out, int64_t n);
/* Rounds @n elements, a multiple of the type's block length, into @row. */
typedef void (*KvasirRowFromFloat) (const float *in, void *row, int64_t n);

/* Indexed by KvasirType, NULL where the type can't be read (written). */
extern const KvasirRowToFloat kvasir_scalar_to_float[KVASIR_N_TYPES];
extern const KvasirRowFromFloat kvasir_scalar_from_float[KVASIR_N_TYPES];

/* Those that the tables of the instruction sets take over. */
void kvasir_f32_to_float (const void *row, float *out, int64_t n);
void kvasir_f32_from_float (const float *in, void *row, int64_t n);
void kvasir_bf16_from_float (const float *in, void *row, int64_t n);
void kvasir_q8_0_from_float (const float *in, void *row, int64_t n);
void kvasir_q4_0_from_float (const float *in, void *row, int64_t n);
void kvasir_q4_1_from_float (const float *in, void *row, int64_t n);
void kvasir_q5_0_from_float (const float *in, void *row, int64_t n);
void kvasir_q5_1_from_float (const float *in, void *row, int64_t n);
void kvasir_iq4_nl_from_float (const float *in, void *row, int64_t n);

/* The 256-element types; their blocks are unpacked in a file of their own. */
void kvasir_q2_k_to_float (const void *row, float *out, int64_t n);
void kvasir_q3_k_to_float (const void *row, float *out, int64_t n);
void kvasir_q4_k_to_float (const void *row, float *out, int64_t n);
void kvasir_q5_k_to_float (const void *row, float *out, int64_t n);
void kvasir_q6_k_to_float (const void *row, float *out, int64_t n);
void kvasir_iq4_xs_to_float (const void *row, float *out, int64_t n);

/* Points of lattices. */
void kvasir_iq2_xxs_to_float (const void *row, float *out, int64_t n);
void kvasir_iq2_xs_to_float (const void *row, float *out, int64_t n);
void kvasir_iq2_s_to_float (const void *row, float *out, int64_t n);
void kvasir_iq3_xxs_to_float (const void *row, float *out, int64_t n);
void kvasir_iq3_s_to_float (const void *row, float *out, int64_t n);
void kvasir_iq1_s_to_float (const void *row, float *out, int64_t n);
void kvasir_iq1_m_to_float (const void *row, float *out, int64_t n);

/* Few bits without a lattice, and NVFP4. */
void kvasir_tq1_0_to_float (const void *row, float *out, int64_t n);
void kvasir_tq2_0_to_float (const void *row, float *out, int64_t n);
void kvasir_q1_0_to_float (const void *row, float *out, int64_t n);
void kvasir_q2_0_to_float (const void *row, float *out, int64_t n);
void kvasir_nvfp4_to_float (const void *row, float *out, int64_t n);
