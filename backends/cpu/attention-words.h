/* backends/cpu/attention-words.h - attention of many queries by 16-bit integers
 *
 * Rows of queries, keys and values become words with a scale for each row, exact to 2^-15 of its
 * largest element, which loses less than halves would. F32 caches, distances and caps of scores are
 * left to the tiles of attention-tile.h.
 *
 * Thread: any; a part writes only the scratch that it is given.
 */
#pragma once

#include "backends/cpu/attention-tile.h"

/* Query rows that a part may have. */
#define KVASIR_WORD_ROWS (6 * KVASIR_BLOCK_QUERIES)

/* Whether that is a way for the node at all; steps that should be as in traces have another. */
bool kvasir_attention_takes_words (const KvasirTensor *node, const KvasirOpRun *run);

size_t kvasir_attention_get_word_scratch_floats (const KvasirAttentionParams *p);

/* Called with each row of a part once it is done: @out is [head_dim_v], to be divided by @sum, and
 * @max the largest score. */
typedef void (*KvasirFinishRowFn) (
    const KvasirTensor *node, int64_t head, int64_t token, float max, float sum, const float *out);

/* Attends the part, of one head. */
void kvasir_attention_run_words (const KvasirTensor *node,
                                 const KvasirOpRun *run,
                                 const KvasirAttentionPart *part,
                                 KvasirFinishRowFn finish);
