/* The kernels for processors with AVX-512 F, BW, DQ, VL and VNNI. */
#include "backends/cpu/x86/vec-avx512.h"

#include "backends/cpu/x86/products-avx512.h"
#include "backends/cpu/x86/vec-products.h"
#include "backends/cpu/x86/x86-kernels.h"

const KvasirCpuKernels kvasir_avx512_kernels = X86_KERNELS ("avx512-vnni");
