/* Which instruction sets the processor runs, and their kernels. */
#include "backends/cpu/isa.h"

#include <string.h>

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
    case KVASIR_CPU_ISA_AVX_VNNI:
      return "avx-vnni";
    case KVASIR_CPU_ISA_AVX512_VNNI:
      return "avx512-vnni";
    case KVASIR_CPU_ISA_AMX:
      return "amx";
    case KVASIR_CPU_ISA_AMX_EMULATED:
      return "amx-emulated";
    }
  return NULL;
}

bool
kvasir_cpu_isa_find (const char *name, KvasirCpuIsa *isa)
{
  for (int i = KVASIR_CPU_ISA_SCALAR; i < KVASIR_CPU_N_ISAS; i++)
    if (strcmp (name, kvasir_cpu_isa_get_name ((KvasirCpuIsa) i)) == 0)
      {
        *isa = (KvasirCpuIsa) i;
        return true;
      }
  return false;
}

#ifdef KVASIR_CPU_X86

#include <cpuid.h>

#include "backends/cpu/x86/amx.h"

static bool
has_avx2 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("f16c");
}

/* Leaf 7.1, which the compiler's own function knows from its next version on. */
static bool
has_avx_vnni (void)
{
  unsigned a, b, c, d;

  return has_avx2 () && __get_cpuid_count (7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}

static bool
has_avx512 (void)
{
  return has_avx2 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("avx512dq");
}

static bool
has_avx512_vnni (void)
{
  return has_avx512 () && __builtin_cpu_supports ("avx512vnni");
}

static const KvasirCpuKernels *
find_kernels (KvasirCpuIsa isa)
{
  switch (isa)
    {
    case KVASIR_CPU_ISA_SCALAR:
      return &kvasir_scalar_kernels;
    case KVASIR_CPU_ISA_AVX2:
      return has_avx2 () ? &kvasir_avx2_kernels : NULL;
    case KVASIR_CPU_ISA_AVX_VNNI:
      return has_avx_vnni () ? &kvasir_avx_vnni_kernels : NULL;
    case KVASIR_CPU_ISA_AVX512_VNNI:
      return has_avx512_vnni () ? &kvasir_avx512_kernels : NULL;
    case KVASIR_CPU_ISA_AMX:
      return has_avx512_vnni () && kvasir_amx_is_usable () ? &kvasir_amx_kernels : NULL;
    case KVASIR_CPU_ISA_AMX_EMULATED:
      return has_avx512_vnni () ? &kvasir_amx_emulated_kernels : NULL;
    default:
      return NULL;
    }
}

const KvasirCpuKernels *
kvasir_cpu_isa_get_kernels (KvasirCpuIsa isa)
{
  static const KvasirCpuIsa best_first[] = { KVASIR_CPU_ISA_AMX, KVASIR_CPU_ISA_AVX512_VNNI,
                                             KVASIR_CPU_ISA_AVX_VNNI, KVASIR_CPU_ISA_AVX2,
                                             KVASIR_CPU_ISA_SCALAR };
  const KvasirCpuKernels *kernels = NULL;

  if (isa != KVASIR_CPU_ISA_AUTO)
    return find_kernels (isa);
  for (size_t i = 0; i < sizeof best_first / sizeof best_first[0] && kernels == NULL; i++)
    kernels = find_kernels (best_first[i]);
  return kernels;
}

const char *
kvasir_cpu_get_blas_core_type (void)
{
  if (has_avx512 ())
    return __builtin_cpu_supports ("avx512bf16") ? "Cooperlake" : "SkylakeX";
  if (has_avx2 ())
    return __builtin_cpu_is ("amd") ? "Zen" : "Haswell";
  if (__builtin_cpu_supports ("avx"))
    return "Sandybridge";
  return __builtin_cpu_supports ("sse4.2") ? "Nehalem" : NULL;
}

bool
kvasir_cpu_isa_gains_by_blas (const KvasirCpuKernels *kernels)
{
  return kernels == &kvasir_scalar_kernels || (kernels == &kvasir_avx2_kernels && has_avx512 ());
}

#else

const char *
kvasir_cpu_get_blas_core_type (void)
{
  return NULL;
}

bool
kvasir_cpu_isa_gains_by_blas (const KvasirCpuKernels *kernels)
{
  return kernels == &kvasir_scalar_kernels;
}

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
