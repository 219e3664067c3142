/* Which instruction sets the processor runs, and their kernels. */
#include "backends/cpu/isa.h"

#include "backends/cpu/cpu.h"

const char *
kvasir_cpu_isa_get_name (KvasirCpuIsa isa)
{
  switch (isa)
    {
    case KVASIR_CPU_ISA_AUTO:
      return "auto";
    case KVASIR_CPU_ISA_SCALAR:
      return "scalar";
    case KVASIR_CPU_ISA_AVX2:
      return "avx2";
    case KVASIR_CPU_ISA_AVX512_VNNI:
      return "avx512-vnni";
    }
  return NULL;
}

#ifdef KVASIR_CPU_X86

static bool
has_avx2 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("f16c");
}

static bool
has_avx512_vnni (void)
{
  return has_avx2 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("avx512dq") &&
         __builtin_cpu_supports ("avx512vnni");
}

const KvasirCpuKernels *
kvasir_cpu_isa_get_kernels (KvasirCpuIsa isa)
{
  if (isa == KVASIR_CPU_ISA_SCALAR)
    return &kvasir_scalar_kernels;
  if ((isa == KVASIR_CPU_ISA_AVX512_VNNI || isa == KVASIR_CPU_ISA_AUTO) && has_avx512_vnni ())
    return &kvasir_avx512_kernels;
  if ((isa == KVASIR_CPU_ISA_AVX2 || isa == KVASIR_CPU_ISA_AUTO) && has_avx2 ())
    return &kvasir_avx2_kernels;
  return isa == KVASIR_CPU_ISA_AUTO ? &kvasir_scalar_kernels : NULL;
}

#else

const KvasirCpuKernels *
kvasir_cpu_isa_get_kernels (KvasirCpuIsa isa)
{
  if (isa == KVASIR_CPU_ISA_SCALAR || isa == KVASIR_CPU_ISA_AUTO)
    return &kvasir_scalar_kernels;
  return NULL;
}

#endif

bool
kvasir_cpu_isa_is_available (KvasirCpuIsa isa)
{
  return kvasir_cpu_isa_get_kernels (isa) != NULL;
}
