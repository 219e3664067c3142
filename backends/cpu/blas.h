/* backends/cpu/blas.h - OpenBLAS, where the system has it
 *
 * Loaded at run time; nothing needs it. It computes on the thread that calls it, so that the pool
 * shares its work out as all other work.
 *
 * Thread: made and freed by one thread, used by any.
 */
#pragma once

#include "backends/cpu/kernels.h"

typedef struct KvasirBlas KvasirBlas;

/* Rows of weights that are multiplied at a time, which fill a kernel's scratch. */
#define KVASIR_BLAS_ROWS (2 * KVASIR_TILE_ROWS)

/* NULL where the library or something of it is missing, or where it does not compute what the
 * products of @kernels do. @for_all: whatever the size of a product, for tests. */
KvasirBlas *kvasir_blas_new (const KvasirCpuKernels *kernels, bool for_all);
void kvasir_blas_free (KvasirBlas *blas);
/* The processor whose kernels it takes. */
const char *kvasir_blas_get_core_name (const KvasirBlas *blas);

/* Whether a product of these sizes gains by it. @blas may be NULL. */
bool kvasir_blas_takes (const KvasirBlas *blas, int64_t k, int64_t n_rows, int64_t n_tokens);

/* A part of at most KVASIR_BLAS_ROWS rows. @scratch: floats of as many rows of KVASIR_TILE_K. */
void kvasir_blas_multiply (const KvasirBlas *blas,
                           const KvasirProduct *product,
                           const KvasirProductPart *part,
                           const KvasirRowToFloat *to_float,
                           float *scratch);
