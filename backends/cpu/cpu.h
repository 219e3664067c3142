/* backends/cpu/cpu.h - makes the CPU device
 *
 * Thread: any; the device made is then used as backend.h says.
 */
#pragma once

#include "backends/backend.h"

KVASIR_BEGIN_DECLS

typedef enum
{
  KVASIR_CPU_ISA_AUTO = 0, /* the best the processor has */
  KVASIR_CPU_ISA_SCALAR,   /* the reference that every other path is tested against */
  KVASIR_CPU_ISA_AVX2,
  KVASIR_CPU_ISA_AVX_VNNI, /* AVX2 with integer products of quantised weights by vpdpbusd */
  KVASIR_CPU_ISA_AVX512_VNNI,
  KVASIR_CPU_ISA_AMX, /* AVX-512 VNNI with long products of quantised weights by AMX */
  /* The same with plain C in place of the AMX instructions: for tests, and very slow. */
  KVASIR_CPU_ISA_AMX_EMULATED
} KvasirCpuIsa;

#define KVASIR_CPU_N_ISAS (KVASIR_CPU_ISA_AMX_EMULATED + 1)

/* OpenBLAS, found at run time, for long products of weights that are multiplied as floats. */
typedef enum
{
  /* Where it is faster than the own products and no instruction set was asked for: on processors
   * without AVX2, and on those whose AVX-512 lacks VNNI. */
  KVASIR_CPU_BLAS_AUTO = 0,
  KVASIR_CPU_BLAS_NEVER,
  KVASIR_CPU_BLAS_ALWAYS /* however short they are, with any instruction set: to test and measure */
} KvasirCpuBlas;

typedef struct
{
  KvasirCpuIsa isa;
  int n_threads; /* 0: as many as physical cores, at most 16 */
  /* Rounds where recorded traces were rounded, to be compared with them: queries beside F16 keys
   * and sums of F16 values to halves, angles of positions to floats. Slower and less exact. */
  bool as_traces;
  KvasirCpuBlas blas;
  /* Leaves weights in the order of the file. */
  bool no_packing;
} KvasirCpuOptions;

/* The name of an instruction set for people and for --isa: "scalar", "avx2", "avx-vnni",
 * "avx512-vnni", "amx", "amx-emulated". */
const char *kvasir_cpu_isa_get_name (KvasirCpuIsa isa);
/* The other way round; FALSE, and @isa as it was: no set is called so. */
bool kvasir_cpu_isa_find (const char *name, KvasirCpuIsa *isa);
/* Whether this processor runs it, and the system allows it (of AMX the first call asks). */
bool kvasir_cpu_isa_is_available (KvasirCpuIsa isa);

/* The kernels that OpenBLAS should take on this processor, for OPENBLAS_CORETYPE in the environment
 * before a device is made: of processors younger than itself it takes those of the Prescott of
 * 2004. NULL where they are its own business. */
const char *kvasir_cpu_get_blas_core_type (void);

/* A CPU device; @options NULL for the defaults. NULL where memory or threads are not to be had, or
 * where @options asks for an instruction set that the processor lacks. Freed through its vtable. */
KvasirDevice *kvasir_cpu_device_new (const KvasirCpuOptions *options);

KVASIR_END_DECLS
