/* The kernels for processors with AVX2, FMA and F16C. */
#include "backends/cpu/x86/vec-avx2.h"

#include "backends/cpu/x86/products-avx2.h"
#include "backends/cpu/x86/vec-products.h"
#include "backends/cpu/x86/x86-kernels.h"

const KvasirCpuKernels kvasir_avx2_kernels = X86_KERNELS ("avx2", products, false);
