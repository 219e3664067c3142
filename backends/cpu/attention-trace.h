/* backends/cpu/attention-trace.h - the sums of a tile as in recorded traces
 *
 * Thread: any; only the tile's state and scratch are written.
 */
#pragma once

#include "backends/cpu/attention-tile.h"

/* Whether @run asks for it, the step is short and its queries are as exact as recorded ones. */
bool kvasir_attention_is_as_traces (const KvasirTensor *node, const KvasirOpRun *run);
/* Whether that is so and @node's values are such that it makes a difference. */
bool kvasir_attention_sums_halves (const KvasirTensor *node, const KvasirOpRun *run);
/* Adds head @i of a tile whose scores are final; @values: [64][scratch->row_width] from the head's
 * first. */
void kvasir_attention_sum_halves (const KvasirTensor *node,
                                  const KvasirOpRun *run,
                                  const KvasirAttentionTile *tile,
                                  int64_t i,
                                  const float *values,
                                  const KvasirAttentionScratch *scratch);
