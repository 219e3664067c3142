/* The kernels for processors with AVX-512 F, BW, DQ, VL and VNNI. */
#include "backends/cpu/x86/vec-avx512.h"

#include "backends/cpu/x86/many-amx.h"
#include "backends/cpu/x86/products-avx512.h"
#include "backends/cpu/x86/vec-products.h"
#include "backends/cpu/x86/x86-kernels.h"

/* Sixteen rows at a time are faster than tiles as long as these don't round weights again. */
#define SIXTEEN_KERNEL(name)                                                                       \
  {                                                                                                \
    .takes_int8 = true, .few = name##_few, .many = name##_many, .most_few = 63                     \
  }

static const KvasirProductKernel products[KVASIR_N_TYPES] =
    X86_PRODUCTS (SIXTEEN_KERNEL, INT8_KERNEL);

const KvasirCpuKernels kvasir_avx512_kernels =
    X86_KERNELS ("avx512-vnni", products, true, quantize_any, true);

/* The same, but for the long products. Tiles have sixteen tokens. */
#define AMX_KERNEL(name)                                                                           \
  {                                                                                                \
    .takes_int8 = true, .few = name##_few, .many = kvasir_amx_many, .most_few = 8                  \
  }
#define RARER_AMX_KERNEL(name)                                                                     \
  {                                                                                                \
    .takes_int8 = true, .few = name##_few, .many = kvasir_amx_many                                 \
  }
#define AMX_EMULATED_KERNEL(name)                                                                  \
  {                                                                                                \
    .takes_int8 = true, .few = name##_few, .many = kvasir_amx_emulated_many                        \
  }

static const KvasirProductKernel amx_products[KVASIR_N_TYPES] =
    X86_PRODUCTS (AMX_KERNEL, RARER_AMX_KERNEL);
static const KvasirProductKernel amx_emulated_products[KVASIR_N_TYPES] =
    X86_PRODUCTS (AMX_EMULATED_KERNEL, AMX_EMULATED_KERNEL);

const KvasirCpuKernels kvasir_amx_kernels =
    X86_KERNELS ("amx", amx_products, true, quantize, false);
const KvasirCpuKernels kvasir_amx_emulated_kernels =
    X86_KERNELS ("amx-emulated", amx_emulated_products, true, quantize, false);
