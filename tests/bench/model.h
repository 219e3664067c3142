/* tests/bench/model.h - tensors and plans to measure, with random contents
 *
 * Everything aborts where memory is missing: a benchmark has nothing to say then.
 */
#pragma once

#include "backends/cpu/cpu.h"

typedef struct BenchModel BenchModel;

/* One matrix product. */
BenchModel *bench_matrix_new (
    const KvasirCpuOptions *options, KvasirType type, int64_t k, int64_t rows, int64_t n_tokens);
/* What its device says that it is. */
const char *bench_model_get_device (const BenchModel *model);

/* 30 layers of the shape of SmolLM2-135M: width 576, 9 heads over 3, 1536 inside, an f16 cache,
 * and 49152 rows of Q8_0 for the last token. */
BenchModel *bench_smollm_new (
    KvasirCpuIsa isa, int n_threads, KvasirType type, int64_t max_tokens, int64_t n_cells);

/* The keys of as many layers of @n_cells each, all turned on by one position. */
BenchModel *bench_shift_new (KvasirCpuIsa isa, int n_threads, int64_t n_cells);

/* Computes @n_tokens, at most as many as the model was made for. */
void bench_model_compute (BenchModel *model, int n_tokens, int n_kv);
void bench_model_free (BenchModel *model);
