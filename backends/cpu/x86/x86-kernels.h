/* backends/cpu/x86/x86-kernels.h - the table of kernels of an instruction set
 *
 * Included last, where int8_few and int8_many of the instruction set are known.
 */
#pragma once

#include "backends/cpu/x86/blocks-x86.h"
#include "backends/cpu/x86/vec-products.h"
#include "backends/cpu/x86/vec-rows.h"
#include "backends/cpu/x86/vec-ternary.h"
#include "backends/cpu/x86/vec-tiles.h"
#include "backends/cpu/x86/vec-turns.h"
#include "backends/cpu/x86/vec-words.h"

#define INT8_PRODUCTS(name, type)                                                                  \
  static void name##_few (const KvasirProduct *p, const KvasirProductPart *part,                   \
                          const KvasirRowToFloat *to_float, uint8_t *scratch)                      \
  {                                                                                                \
    (void) to_float;                                                                               \
    int8_few (p, part, type, scratch);                                                             \
  }                                                                                                \
                                                                                                   \
  static void name##_many (const KvasirProduct *p, const KvasirProductPart *part,                  \
                           const KvasirRowToFloat *to_float, uint8_t *scratch)                     \
  {                                                                                                \
    (void) to_float;                                                                               \
    int8_many (p, part, type, scratch);                                                            \
  }

INT8_PRODUCTS (q4_0, KVASIR_TYPE_Q4_0)
INT8_PRODUCTS (q4_1, KVASIR_TYPE_Q4_1)
INT8_PRODUCTS (q5_0, KVASIR_TYPE_Q5_0)
INT8_PRODUCTS (q5_1, KVASIR_TYPE_Q5_1)
INT8_PRODUCTS (q8_0, KVASIR_TYPE_Q8_0)
INT8_PRODUCTS (iq4_nl, KVASIR_TYPE_IQ4_NL)
INT8_PRODUCTS (mxfp4, KVASIR_TYPE_MXFP4)
INT8_PRODUCTS (q2_k, KVASIR_TYPE_Q2_K)
INT8_PRODUCTS (q3_k, KVASIR_TYPE_Q3_K)
INT8_PRODUCTS (q4_k, KVASIR_TYPE_Q4_K)
INT8_PRODUCTS (q5_k, KVASIR_TYPE_Q5_K)
INT8_PRODUCTS (q6_k, KVASIR_TYPE_Q6_K)
INT8_PRODUCTS (iq4_xs, KVASIR_TYPE_IQ4_XS)

#define INT8_KERNEL(name)                                                                          \
  {                                                                                                \
    .takes_int8 = true, .few = name##_few, .many = name##_many                                     \
  }

/* The products of a table: @kernel makes those of a type that takes integers, @rarer of one that
 * has no packed order. */
#define X86_PRODUCTS(kernel, rarer)                                                                \
  {                                                                                                \
    VEC_PRODUCTS, [KVASIR_TYPE_Q4_0] = kernel (q4_0), [KVASIR_TYPE_Q4_1] = kernel (q4_1),          \
                  [KVASIR_TYPE_Q5_0] = kernel (q5_0), [KVASIR_TYPE_Q5_1] = kernel (q5_1),          \
                  [KVASIR_TYPE_Q8_0] = kernel (q8_0), [KVASIR_TYPE_IQ4_NL] = kernel (iq4_nl),      \
                  [KVASIR_TYPE_MXFP4] = kernel (mxfp4), [KVASIR_TYPE_Q2_K] = rarer (q2_k),         \
                  [KVASIR_TYPE_Q3_K] = rarer (q3_k), [KVASIR_TYPE_Q4_K] = kernel (q4_k),           \
                  [KVASIR_TYPE_Q5_K] = kernel (q5_k), [KVASIR_TYPE_Q6_K] = kernel (q6_k),          \
                  [KVASIR_TYPE_IQ4_XS] = rarer (iq4_xs),                                           \
  }

/* Blocks as floats: a cache of a quantised type is read this way. */
INLINE void
block_to_float (const KvasirType type, const void *row, float *out, int64_t n)
{
  const uint8_t *block = row;
  uint8_t bytes[32];

  for (int64_t i = 0; i < n / 32; i++, block += get_block_bytes (type), out += 32)
    {
      float d = load_scale (type, block);
      Vec m = vec_set1 (has_min (type) ? load_half (block + 2) : d * (float) -get_offset (type));
      _mm256_storeu_si256 ((void *) bytes, load_unsigned (type, block));
      for (int j = 0; j < 32; j += LANES)
        vec_store (out + j, vec_fma (vec_load_u8 (bytes + j), vec_set1 (d), m));
    }
}

#define BLOCK_TO_FLOAT(name, type)                                                                 \
  static void name##_to_float (const void *row, float *out, int64_t n)                             \
  {                                                                                                \
    block_to_float (type, row, out, n);                                                            \
  }

BLOCK_TO_FLOAT (q4_0, KVASIR_TYPE_Q4_0)
BLOCK_TO_FLOAT (q4_1, KVASIR_TYPE_Q4_1)
BLOCK_TO_FLOAT (q5_0, KVASIR_TYPE_Q5_0)
BLOCK_TO_FLOAT (q5_1, KVASIR_TYPE_Q5_1)
BLOCK_TO_FLOAT (q8_0, KVASIR_TYPE_Q8_0)
BLOCK_TO_FLOAT (iq4_nl, KVASIR_TYPE_IQ4_NL)
BLOCK_TO_FLOAT (mxfp4, KVASIR_TYPE_MXFP4)

static const KvasirRowToFloat to_float[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = kvasir_f32_to_float,
  [KVASIR_TYPE_F16] = f16_to_float,
  [KVASIR_TYPE_BF16] = bf16_to_float,
  [KVASIR_TYPE_Q4_0] = q4_0_to_float,
  [KVASIR_TYPE_Q4_1] = q4_1_to_float,
  [KVASIR_TYPE_Q5_0] = q5_0_to_float,
  [KVASIR_TYPE_Q5_1] = q5_1_to_float,
  [KVASIR_TYPE_Q8_0] = q8_0_to_float,
  [KVASIR_TYPE_Q2_K] = kvasir_q2_k_to_float,
  [KVASIR_TYPE_Q3_K] = kvasir_q3_k_to_float,
  [KVASIR_TYPE_Q4_K] = kvasir_q4_k_to_float,
  [KVASIR_TYPE_Q5_K] = kvasir_q5_k_to_float,
  [KVASIR_TYPE_Q6_K] = kvasir_q6_k_to_float,
  [KVASIR_TYPE_IQ4_NL] = iq4_nl_to_float,
  [KVASIR_TYPE_IQ4_XS] = kvasir_iq4_xs_to_float,
  [KVASIR_TYPE_MXFP4] = mxfp4_to_float,
  [KVASIR_TYPE_IQ2_XXS] = iq2_xxs_to_float,
  [KVASIR_TYPE_IQ2_XS] = iq2_xs_to_float,
  [KVASIR_TYPE_IQ2_S] = iq2_s_to_float,
  [KVASIR_TYPE_IQ3_XXS] = iq3_xxs_to_float,
  [KVASIR_TYPE_IQ3_S] = iq3_s_to_float,
  [KVASIR_TYPE_IQ1_S] = iq1_s_to_float,
  [KVASIR_TYPE_IQ1_M] = iq1_m_to_float,
  [KVASIR_TYPE_TQ1_0] = tq1_0_to_float,
  [KVASIR_TYPE_TQ2_0] = tq2_0_to_float,
  [KVASIR_TYPE_NVFP4] = nvfp4_to_float,
  [KVASIR_TYPE_Q1_0] = q1_0_to_float,
  [KVASIR_TYPE_Q2_0] = q2_0_to_float,
};

static const KvasirRowFromFloat from_float[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = kvasir_f32_from_float,       [KVASIR_TYPE_F16] = f16_from_float,
  [KVASIR_TYPE_BF16] = kvasir_bf16_from_float,     [KVASIR_TYPE_Q8_0] = kvasir_q8_0_from_float,
  [KVASIR_TYPE_Q4_0] = kvasir_q4_0_from_float,     [KVASIR_TYPE_Q4_1] = kvasir_q4_1_from_float,
  [KVASIR_TYPE_Q5_0] = kvasir_q5_0_from_float,     [KVASIR_TYPE_Q5_1] = kvasir_q5_1_from_float,
  [KVASIR_TYPE_IQ4_NL] = kvasir_iq4_nl_from_float,
};

#define X86_KERNELS(isa_name, its_products, order, its_quantize, groups)                           \
  {                                                                                                \
    .name = isa_name, .to_float = to_float, .from_float = from_float, .add = add, .mul = mul,      \
    .scale = scale, .unary = unary, .glu = glu, .rms_norm = rms_norm, .sum = sum,                  \
    .squares = squares, .dot = dot, .softmax_row = softmax_row, .add_scaled = add_scaled,          \
    .update = update_line, .rotate = rotate, .quantize = its_quantize, .products = its_products,   \
    .transpose = transpose, .dense = dense, .hadamard = hadamard, .turn = turn, .score = score,    \
    .scores_blocks = LANES == 16, .round_query = round_query, .attend_words = attend_words,        \
    .to_words = to_words, .mix = mix, .softmax = softmax, .reads_packed = order,                   \
    .takes_groups = groups,                                                                        \
  }
