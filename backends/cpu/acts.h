/* backends/cpu/acts.h - memory for activations rounded to what their weights are made of
 *
 * To integers: tokens lie one behind the other, padded to a multiple of KVASIR_ACT_PAD. Beside F16
 * weights to halves, kept as floats: rows of k.
 *
 * Thread: any; different tokens by different threads.
 */
#pragma once

#include "backends/cpu/ops.h"

typedef struct
{
  int64_t k; /* elements of a token, a multiple of 32 */
  int64_t n_tokens;
  bool is_fine;    /* with the second eight bits, for short steps */
  bool has_groups; /* with groups, for long ones */
} KvasirActsLayout;

int64_t kvasir_acts_pad (int64_t n_tokens);
size_t kvasir_acts_get_bytes (const KvasirActsLayout *layout);
/* The activations of token @token in @memory. */
KvasirActs kvasir_acts_get (const KvasirActsLayout *layout, uint8_t *memory, int64_t token);
/* Tokens of @k elements that are rounded as one piece. */
int64_t kvasir_acts_get_piece (int64_t k);
/* Without the second eight bits. */
void kvasir_acts_copy (KvasirActs from, KvasirActs to, int64_t k);
void kvasir_acts_clear (KvasirActs acts, int64_t k);

/* Whether activations are rounded to halves beside weights of @type. */
bool kvasir_acts_are_halves (KvasirType type);
size_t kvasir_acts_get_half_bytes (int64_t k, int64_t n_tokens);
/* Row @token of such memory. */
float *kvasir_acts_get_halves (uint8_t *memory, int64_t k, int64_t token);
/* @scratch: k halves. What halves can't hold stays as it is. */
void kvasir_acts_round_to_halves (
    const KvasirCpuKernels *kernels, const float *x, int64_t k, float *y, uint8_t *scratch);
