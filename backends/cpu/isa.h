/* backends/cpu/isa.h - the kernels of an instruction set
 *
 * Thread: any.
 */
#pragma once

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels.h"

/* NULL where the processor lacks it. KVASIR_CPU_ISA_AUTO: the best there is. */
const KvasirCpuKernels *kvasir_cpu_isa_get_kernels (KvasirCpuIsa isa);

/* Whether OpenBLAS is faster on this processor: 10 to 45 times beside plain C, 1.3 to 1.8 times
 * with its AVX-512 beside AVX2, but 0.94 to 1.00 with AVX2 and 0.7 to 0.9 beside AVX-512. */
bool kvasir_cpu_isa_gains_by_blas (const KvasirCpuKernels *kernels);
