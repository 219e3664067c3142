/* backends/cpu/isa.h - the kernels of an instruction set
 *
 * Thread: any.
 */
#pragma once

#include "backends/cpu/cpu.h"
#include "backends/cpu/kernels.h"

/* NULL where the processor lacks it. KVASIR_CPU_ISA_AUTO: the best there is. */
const KvasirCpuKernels *kvasir_cpu_isa_get_kernels (KvasirCpuIsa isa);
