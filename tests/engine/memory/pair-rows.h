/* tests/engine/memory/pair-rows.h - what a computation would write, and whether it is still there
 */
#pragma once

#include "tests/engine/memory/naive.h"

/* K and V of all tokens of an ubatch in cache @c, which naive has placed already. */
void pair_write_rows (KvasirMemory *memory,
                      const NaiveCache *cache,
                      guint c,
                      const NaiveToken *batch,
                      const NaiveUbatch *ubatch);
/* Every occupied cell of a stream has the rows of its token. */
void pair_assert_rows (KvasirMemory *memory, const NaiveCache *cache, guint c, guint stream);

/* Checks the states that an ubatch reads, those of @before, and writes those of @after. */
void pair_scan_states (KvasirMemory *memory,
                       const Naive *before,
                       const Naive *after,
                       const NaiveToken *batch,
                       const NaiveUbatch *ubatch);
/* All states that are kept, and what they can go back to. */
void pair_assert_states (KvasirMemory *memory, const Naive *naive);
