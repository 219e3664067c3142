/* backends/cpu/attention-part.h - some heads of some tokens over a run of cells
 *
 * Thread: any; a part writes only the scratch that it is given, its state included.
 */
#pragma once

#include "backends/cpu/attention-tile.h"

/* Floats of a state of @n_rows rows, and the state in as many. */
size_t kvasir_attention_get_state_floats (const KvasirAttentionParams *p, int64_t n_rows);
KvasirAttentionState kvasir_attention_get_state (float *memory, int64_t n_rows);

/* Floats of the scratch for at most @n_rows rows, and the scratch in as many, with a state of its
 * own. */
size_t kvasir_attention_get_scratch_floats (const KvasirAttentionParams *p, int64_t n_rows);
KvasirAttentionScratch
kvasir_attention_get_scratch (const KvasirAttentionParams *p, int64_t n_rows, uint8_t *memory);

/* A query as it meets @keys, times the node's scale and @factor: as blocks where kernels take them
 * so, else as floats. */
void kvasir_attention_scale_query (const KvasirTensor *node,
                                   const KvasirOpRun *run,
                                   const KvasirAttentionRows *keys,
                                   float factor,
                                   const float *q,
                                   float *query);

/* Clears the state of @scratch and fills it for @part, whose tokens all read one stream. */
void kvasir_attention_add_part (const KvasirTensor *node,
                                const KvasirOpRun *run,
                                const KvasirAttentionPart *part,
                                KvasirAttentionScratch *scratch);
