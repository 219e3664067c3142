/* tests/bench/roof.h - what the machine could do at best, measured now
 *
 * Shared machines change from minute to minute, so figures only mean something as a share of a
 * roof that was probed in the same run.
 */
#pragma once

#include <stddef.h>

double bench_now (void);

/* GB/s that @n_threads read from @n_bytes of memory, each its own part. */
double bench_probe_read (const void *memory, size_t n_bytes, int n_threads);

/* GB/s of memory that @n_threads read and write back, each byte counted once. */
double bench_probe_rewrite (void *memory, size_t n_bytes, int n_threads);

typedef enum
{
  BENCH_INT8_AVX2,
  BENCH_INT8_AVX_VNNI,
  BENCH_INT8_AVX512
} BenchInt8;

/* int8 Gop/s (a multiplication and an addition are two) that @n_threads do in registers with an
 * instruction set's integer product, which the processor must have. */
double bench_probe_int8 (BenchInt8 kind, int n_threads);

/* The same for f32 fused multiply and add. */
double bench_probe_f32 (int use_avx512, int n_threads);
