/* The kernels for processors with AVX2, FMA and F16C. */
#include "backends/cpu/x86/vec-avx2.h"

#include "backends/cpu/x86/int8-avx-vnni.h"
#include "backends/cpu/x86/products-avx2.h"
#include "backends/cpu/x86/vec-products.h"
#include "backends/cpu/x86/x86-kernels.h"

static const KvasirProductKernel products[KVASIR_N_TYPES] = X86_PRODUCTS (INT8_KERNEL, INT8_KERNEL);

const KvasirCpuKernels kvasir_avx2_kernels = X86_KERNELS ("avx2", products, true, quantize, false);

#define VNNI_KERNEL(name)                                                                          \
  {                                                                                                \
    .takes_int8 = true, .few = kvasir_avx_vnni_few, .many = kvasir_avx_vnni_many                   \
  }

static const KvasirProductKernel vnni_products[KVASIR_N_TYPES] =
    X86_PRODUCTS (VNNI_KERNEL, VNNI_KERNEL);

const KvasirCpuKernels kvasir_avx_vnni_kernels =
    X86_KERNELS ("avx-vnni", vnni_products, true, quantize, false);
