/* OpenBLAS by its C interface: the functions' types are those of its cblas.h. */
#include "backends/cpu/blas.h"

#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libopenblas.so.0"
/* Products below are too small to be handed over, as measured: see tests/bench/bench-kernels. */
#define LEAST_TOKENS 32
#define LEAST_WORK ((int64_t) 64 << 20)

#define ROW_MAJOR 101
#define AS_IS 111
#define TRANSPOSED 112

typedef void (*GemmFn) (int order,
                        int a_turn,
                        int b_turn,
                        int m,
                        int n,
                        int k,
                        float alpha,
                        const float *a,
                        int a_stride,
                        const float *b,
                        int b_stride,
                        float beta,
                        float *c,
                        int c_stride);

struct KvasirBlas
{
  void *library;
  GemmFn gemm;
  char *(*get_core_name) (void);
  bool for_all;
};

/* ISO C has no conversion from object to function pointers; POSIX says they look alike. */
static bool
find_function (void *library, const char *name, void *fn)
{
  void *symbol = dlsym (library, name);

  memcpy (fn, &symbol, sizeof symbol);
  return symbol != NULL;
}

static bool
open_library (KvasirBlas *blas)
{
  void (*set_num_threads) (int) = NULL;
  char *(*get_config) (void) = NULL;

  /* Its threads would not survive that their code is taken away. */
  blas->library = dlopen (LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (blas->library == NULL || !find_function (blas->library, "cblas_sgemm", &blas->gemm) ||
      !find_function (blas->library, "openblas_get_corename", &blas->get_core_name) ||
      !find_function (blas->library, "openblas_set_num_threads", &set_num_threads) ||
      !find_function (blas->library, "openblas_get_config", &get_config))
    return false;
  /* Built with other sizes of integers than the declaration above. */
  if (strstr (get_config (), "USE64BITINT") != NULL)
    return false;
  set_num_threads (1);
  return true;
}

const char *
kvasir_blas_get_core_name (const KvasirBlas *blas)
{
  return blas->get_core_name ();
}

bool
kvasir_blas_takes (const KvasirBlas *blas, int64_t k, int64_t n_rows, int64_t n_tokens)
{
  if (blas == NULL || k > INT_MAX || n_rows > INT_MAX || n_tokens > INT_MAX)
    return false;
  return blas->for_all || (n_tokens >= LEAST_TOKENS && n_rows * k >= LEAST_WORK / n_tokens);
}

/* Adds elements [k, k + n) of the rows, given as floats. */
static void
add_elements (const KvasirBlas *blas,
              const KvasirProduct *p,
              const KvasirProductPart *part,
              int64_t k,
              int64_t n,
              const float *rows,
              size_t row_stride)
{
  bool is_first = k == 0 && p->bias == NULL;

  blas->gemm (ROW_MAJOR, AS_IS, TRANSPOSED, (int) (part->token_end - part->token),
              (int) (part->row_end - part->row), (int) n, 1,
              p->x + (size_t) part->token * p->x_stride + k, (int) p->x_stride, rows,
              (int) row_stride, is_first ? 0 : 1,
              p->dst + (size_t) part->token * p->dst_stride + part->row, (int) p->dst_stride);
}

void
kvasir_blas_multiply (const KvasirBlas *blas,
                      const KvasirProduct *p,
                      const KvasirProductPart *part,
                      const KvasirRowToFloat *to_float,
                      float *scratch)
{
  const uint8_t *first = p->weights + (size_t) part->row * p->weight_stride;

  if (p->bias != NULL)
    kvasir_product_fill_bias (p, part);
  if (p->type == KVASIR_TYPE_F32 && p->weight_stride % sizeof (float) == 0)
    {
      add_elements (blas, p, part, 0, p->k, (const float *) (const void *) first,
                    p->weight_stride / sizeof (float));
      return;
    }
  for (int64_t k = 0; k < p->k; k += KVASIR_TILE_K)
    {
      int64_t n = p->k - k < KVASIR_TILE_K ? p->k - k : KVASIR_TILE_K;
      size_t offset = kvasir_type_get_row_bytes ((int) p->type, k);
      for (int64_t r = 0; r < part->row_end - part->row; r++)
        to_float[p->type](first + (size_t) r * p->weight_stride + offset,
                          scratch + r * KVASIR_TILE_K, n);
      add_elements (blas, p, part, k, n, scratch, KVASIR_TILE_K);
    }
}

/* Sizes that fill no block of any kernel. */
#define TEST_K 301
#define TEST_ROWS 67
#define TEST_TOKENS 37

typedef struct
{
  float w[TEST_ROWS * TEST_K];
  float x[TEST_TOKENS * TEST_K];
  float own[TEST_TOKENS * TEST_ROWS];
  float other[TEST_TOKENS * TEST_ROWS];
  float scratch[KVASIR_TILE_ROWS * KVASIR_TILE_K * 2];
} Trial;

static void
fill_trial (float *x, size_t n, uint32_t seed)
{
  for (size_t i = 0; i < n; i++)
    {
      seed = seed * 1664525 + 1013904223; /* Knuth's and Lewis' generator */
      x[i] = (float) (seed >> 8) * 0x1p-23f - 1;
    }
}

/* Sums of 301 products of numbers up to 1 differ by some 1e-6 where only the order does. */
static bool
agrees (const KvasirBlas *blas, const KvasirCpuKernels *kernels, Trial *trial)
{
  KvasirProduct product = { .type = KVASIR_TYPE_F32,
                            .weights = (const uint8_t *) trial->w,
                            .weight_stride = TEST_K * sizeof (float),
                            .k = TEST_K,
                            .n_rows = TEST_ROWS,
                            .n_tokens = TEST_TOKENS,
                            .x = trial->x,
                            .x_stride = TEST_K,
                            .dst = trial->own,
                            .dst_stride = TEST_ROWS };
  KvasirProductPart part = { 0, TEST_ROWS, 0, TEST_TOKENS };

  fill_trial (trial->w, sizeof trial->w / sizeof (float), 1);
  fill_trial (trial->x, sizeof trial->x / sizeof (float), 2);
  kernels->products[KVASIR_TYPE_F32].few (&product, &part, kernels->to_float,
                                          (uint8_t *) trial->scratch);
  product.dst = trial->other;
  kvasir_blas_multiply (blas, &product, &part, kernels->to_float, trial->scratch);
  for (size_t i = 0; i < TEST_TOKENS * TEST_ROWS; i++)
    if (!(fabsf (trial->own[i] - trial->other[i]) < 1e-3f))
      return false;
  return true;
}

KvasirBlas *
kvasir_blas_new (const KvasirCpuKernels *kernels, bool for_all)
{
  KvasirBlas *blas = calloc (1, sizeof *blas);
  Trial *trial = calloc (1, sizeof *trial);

  if (blas != NULL)
    blas->for_all = for_all;
  if (blas == NULL || trial == NULL || !open_library (blas) || !agrees (blas, kernels, trial))
    {
      kvasir_blas_free (blas);
      blas = NULL;
    }
  free (trial);
  return blas;
}

void
kvasir_blas_free (KvasirBlas *blas)
{
  if (blas == NULL)
    return;
  if (blas->library != NULL)
    dlclose (blas->library);
  free (blas);
}
