/* backends/cpu/acts.h - memory for activations rounded to integers
 *
 * Tokens lie one behind the other, padded to a multiple of KVASIR_ACT_PAD.
 *
 * Thread: any; different tokens by different threads.
 */
#pragma once

#include "backends/cpu/ops.h"

typedef struct
{
  int64_t k; /* elements of a token, a multiple of 32 */
  int64_t n_tokens;
  bool is_fine; /* with the second eight bits, for short steps */
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
