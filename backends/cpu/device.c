/* The CPU device: what ties memory, plans and threads to the contract. */
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/blas.h"
#include "backends/cpu/buffer.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/packed.h"
#include "backends/cpu/plan.h"

#define MAX_DEFAULT_THREADS 16
/* Memory is the limit long before: plans keep scratch for each. */
#define MAX_THREADS 32

typedef struct
{
  KvasirDevice device;
  KvasirBufferType buffer_type;
  KvasirBufferType mapped_type;
  KvasirBufferType packed_type;
  KvasirCpuSetup setup;
  char description[128];
} CpuDevice;

static CpuDevice *
get_cpu (KvasirDevice *device)
{
  return (CpuDevice *) device;
}

static void
cpu_free (KvasirDevice *device)
{
  kvasir_pool_free (get_cpu (device)->setup.pool);
  kvasir_blas_free (get_cpu (device)->setup.blas);
  free (device);
}

static void
cpu_get_memory (KvasirDevice *device, size_t *free_bytes, size_t *total_bytes)
{
  (void) device;
  kvasir_machine_get_memory (free_bytes, total_bytes);
}

static bool
cpu_supports_op (KvasirDevice *device, const KvasirTensor *dst)
{
  return kvasir_op_is_supported (dst, get_cpu (device)->setup.kernels);
}

static KvasirPlan *
cpu_plan_new (KvasirDevice *device, KvasirTensor *const *nodes, size_t n_nodes)
{
  return kvasir_cpu_plan_new (&get_cpu (device)->setup, nodes, n_nodes);
}

static size_t
cpu_plan_get_bytes (KvasirDevice *device, KvasirTensor *const *nodes, size_t n_nodes)
{
  return kvasir_cpu_plan_get_bytes (&get_cpu (device)->setup, nodes, n_nodes);
}

static KvasirStatus
cpu_synchronize (KvasirDevice *device)
{
  (void) device;
  return KVASIR_STATUS_OK;
}

static KvasirBuffer *
cpu_buffer_from_host (KvasirDevice *device, void *base, size_t n_bytes)
{
  return kvasir_cpu_mapped_buffer_new (&get_cpu (device)->mapped_type, base, n_bytes);
}

static int
clamp_threads (const CpuDevice *cpu, int n_threads)
{
  if (n_threads < 1)
    return 1;
  return kvasir_pool_reserve (cpu->setup.pool, n_threads);
}

static void
cpu_set_n_threads (KvasirDevice *device, int n_decode, int n_prefill)
{
  CpuDevice *cpu = get_cpu (device);

  cpu->setup.n_decode = clamp_threads (cpu, n_decode);
  cpu->setup.n_prefill = clamp_threads (cpu, n_prefill);
}

static void
cpu_lend_threads (KvasirDevice *device, int n_threads)
{
  __atomic_store_n (&get_cpu (device)->setup.n_lent, n_threads, __ATOMIC_RELAXED);
}

static void
cpu_get_counters (KvasirDevice *device, KvasirDeviceCounters *counters)
{
  kvasir_pool_get_counters (get_cpu (device)->setup.pool, counters);
}

static bool
cpu_can_pack (KvasirDevice *device, const KvasirTensor *tensor)
{
  return device->packed_buffer_type != NULL && kvasir_packed_is_possible (tensor);
}

static size_t
cpu_pack (KvasirDevice *device, KvasirTensor *tensor, size_t n_bytes)
{
  size_t n_packed = kvasir_packed_pack (tensor, n_bytes);

  __atomic_store_n (&get_cpu (device)->setup.packed_at, kvasir_pool_get_now_ns (),
                    __ATOMIC_RELAXED);
  return n_packed;
}

static const KvasirDeviceVtable cpu_vtable = {
  .free = cpu_free,
  .get_memory = cpu_get_memory,
  .supports_op = cpu_supports_op,
  .plan_new = cpu_plan_new,
  .plan_free = kvasir_cpu_plan_free,
  .plan_get_bytes = cpu_plan_get_bytes,
  .plan_compute = kvasir_cpu_plan_compute,
  .synchronize = cpu_synchronize,
  .buffer_from_host = cpu_buffer_from_host,
  .set_n_threads = cpu_set_n_threads,
  .lend_threads = cpu_lend_threads,
  .get_counters = cpu_get_counters,
  .can_pack = cpu_can_pack,
  .pack = cpu_pack,
};

static int
min_int (int a, int b)
{
  return a < b ? a : b;
}

static int
get_default_threads (void)
{
  return min_int (kvasir_machine_get_n_cores (), MAX_DEFAULT_THREADS);
}

static void
describe (CpuDevice *cpu)
{
  const KvasirBlas *blas = cpu->setup.blas;
  char name[64];

  kvasir_machine_get_cpu_name (name, sizeof name);
  snprintf (cpu->description, sizeof cpu->description, "%s (%s%s%s)",
            name[0] != '\0' ? name : "CPU", cpu->setup.kernels->name, blas ? ", OpenBLAS " : "",
            blas ? kvasir_blas_get_core_name (blas) : "");
}

static bool
wants_blas (const KvasirCpuOptions *wanted, const KvasirCpuKernels *kernels)
{
  if (wanted->blas == KVASIR_CPU_BLAS_AUTO)
    return wanted->isa == KVASIR_CPU_ISA_AUTO && kvasir_cpu_isa_gains_by_blas (kernels);
  return wanted->blas == KVASIR_CPU_BLAS_ALWAYS;
}

KvasirDevice *
kvasir_cpu_device_new (const KvasirCpuOptions *options)
{
  static const KvasirCpuOptions defaults = { KVASIR_CPU_ISA_AUTO, 0 };
  const KvasirCpuOptions *wanted = options ? options : &defaults;
  const KvasirCpuKernels *kernels = kvasir_cpu_isa_get_kernels (wanted->isa);
  int n_threads = wanted->n_threads > 0 ? wanted->n_threads : get_default_threads ();
  CpuDevice *cpu;

  if (kernels == NULL)
    return NULL;
  cpu = calloc (1, sizeof *cpu);
  if (cpu == NULL)
    return NULL;
  cpu->setup.kernels = kernels;
  cpu->setup.as_traces = wanted->as_traces;
  if (wants_blas (wanted, kernels))
    cpu->setup.blas = kvasir_blas_new (kernels, wanted->blas == KVASIR_CPU_BLAS_ALWAYS);
  cpu->setup.max_threads = min_int (kvasir_machine_get_n_cpus (), MAX_THREADS);
  cpu->setup.pool = kvasir_pool_new (cpu->setup.max_threads);
  if (cpu->setup.pool == NULL)
    {
      kvasir_blas_free (cpu->setup.blas);
      free (cpu);
      return NULL;
    }
  describe (cpu);
  kvasir_cpu_buffer_type_init (&cpu->buffer_type, &cpu->device);
  kvasir_cpu_packed_type_init (&cpu->packed_type, &cpu->device);
  kvasir_cpu_mapped_type_init (&cpu->mapped_type, &cpu->device);
  cpu->device = (KvasirDevice){ .abi = KVASIR_BACKEND_ABI,
                                .kind = KVASIR_DEVICE_CPU,
                                .name = "CPU",
                                .description = cpu->description,
                                .buffer_type = &cpu->buffer_type,
                                .host_buffer_type = &cpu->buffer_type,
                                .n_alike = KVASIR_FEW_TOKENS,
                                .vtable = &cpu_vtable };
  if (kernels->reads_packed && !wanted->no_packing)
    cpu->device.packed_buffer_type = &cpu->packed_type;
  cpu_set_n_threads (&cpu->device, n_threads, n_threads);
  return &cpu->device;
}
