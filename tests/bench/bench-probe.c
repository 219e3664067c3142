/* What the machine can do, whenever asked: each line of the input is answered by one of JSON.
 *
 *   bench-probe THREADS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/cpu/cpu.h"
#include "roof.h"

/* As much as the weights of SmolLM2, of which a large cache holds a part. */
#define SMALL_BYTES ((size_t) 96 << 20)
#define LARGE_BYTES ((size_t) 1 << 30)
#define HUGE_PAGE ((size_t) 2 << 20)
#define MAX_THREADS 64
/* Short probes may meet another program; the best of a few shows the roof. */
#define N_TRIES 4

typedef struct
{
  double small, large, int8;
} Roofs;

static double
get_larger (double a, double b)
{
  return a > b ? a : b;
}

static Roofs
probe (const uint8_t *memory, int n_threads)
{
  const BenchInt8 kind =
      kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_AVX512_VNNI) ? BENCH_INT8_AVX512
      : kvasir_cpu_isa_is_available (KVASIR_CPU_ISA_AVX_VNNI)  ? BENCH_INT8_AVX_VNNI
                                                               : BENCH_INT8_AVX2;
  Roofs best = { 0, 0, 0 };

  for (int i = 0; i < N_TRIES; i++)
    {
      best.small = get_larger (best.small, bench_probe_read (memory, SMALL_BYTES, n_threads));
      best.large = get_larger (best.large, bench_probe_read (memory, LARGE_BYTES, n_threads));
      best.int8 = get_larger (best.int8, bench_probe_int8 (kind, n_threads));
    }
  return best;
}

int
main (int argc, char **argv)
{
  const int n_threads = argc == 2 ? atoi (argv[1]) : 0;
  uint8_t *memory = aligned_alloc (HUGE_PAGE, LARGE_BYTES);
  char line[16];

  if (n_threads < 1 || n_threads > MAX_THREADS || memory == NULL)
    {
      fprintf (stderr, "usage: bench-probe THREADS (1 to %d; takes 1 GiB)\n", MAX_THREADS);
      return 2;
    }
  madvise (memory, LARGE_BYTES, MADV_HUGEPAGE);
  memset (memory, 1, LARGE_BYTES);
  while (fgets (line, sizeof line, stdin) != NULL)
    {
      const Roofs roofs = probe (memory, n_threads);
      printf ("{\"read_96m\": %.2f, \"read_1g\": %.2f, \"int8\": %.1f}\n", roofs.small, roofs.large,
              roofs.int8);
      fflush (stdout);
    }
  free (memory);
  return 0;
}
