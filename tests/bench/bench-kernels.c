/* Speed of the CPU kernels, as a share of what the machine can do at the same time.
 *
 *   bench-kernels [ISA | TYPE]...    all sets there are and all types of the table below, where
 * none is named bench-kernels blas               own products beside those of OpenBLAS
 *
 * Decode: one token against a matrix larger than the caches, in GB/s of weights, and how much
 * longer a few tokens take. Prefill: 512 tokens against a small matrix, in Gop/s. The last lines
 * compute a whole model of the shape of SmolLM2-135M with random weights, and turn its keys on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model.h"
#include "roof.h"

#define DECODE_BYTES ((size_t) 64 << 20)
#define HUGE_PAGE ((size_t) 2 << 20)
/* Keys of SmolLM2-135M at 8192 cells: 30 layers of 192 halves. */
#define SHIFT_CELLS 8192
#define SHIFT_BYTES ((size_t) 30 * 192 * 2 * SHIFT_CELLS)
#define MEMORY_BYTES ((SHIFT_BYTES + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE)
#define LEG_SECONDS 0.03

static const KvasirType types[] = { KVASIR_TYPE_F32,  KVASIR_TYPE_F16,    KVASIR_TYPE_Q8_0,
                                    KVASIR_TYPE_Q4_1, KVASIR_TYPE_Q4_0,   KVASIR_TYPE_Q5_0,
                                    KVASIR_TYPE_Q5_1, KVASIR_TYPE_IQ4_NL, KVASIR_TYPE_MXFP4,
                                    KVASIR_TYPE_Q2_K, KVASIR_TYPE_Q3_K,   KVASIR_TYPE_Q4_K,
                                    KVASIR_TYPE_Q5_K, KVASIR_TYPE_Q6_K,   KVASIR_TYPE_IQ4_XS };

static double
time_model (BenchModel *model, int n_tokens, int n_kv)
{
  double best = 1e9, begin = bench_now (), last = begin, now;

  bench_model_compute (model, n_tokens, n_kv);
  last = bench_now ();
  do
    {
      bench_model_compute (model, n_tokens, n_kv);
      now = bench_now ();
      best = now - last < best ? now - last : best;
      last = now;
    }
  while (now - begin < LEG_SECONDS);
  return best;
}

static void
bench_decode (KvasirCpuIsa isa, int n_threads, KvasirType type, double roof)
{
  int64_t k = 1536;
  size_t row_bytes = kvasir_type_get_row_bytes ((int) type, k);
  int64_t rows = (int64_t) (DECODE_BYTES / row_bytes) / 64 * 64;
  BenchModel *model = bench_matrix_new (&(KvasirCpuOptions){ isa, n_threads }, type, k, rows, 8);
  double seconds = time_model (model, 1, 0), four = time_model (model, 4, 0);
  double eight = time_model (model, 8, 0);
  double rate = (double) row_bytes * (double) rows / seconds / 1e9;

  printf ("  decode %7.1f GB/s %4.0f %%, 4 and 8 tokens %4.2f %5.2f times as long", rate,
          100 * rate / roof, four / seconds, eight / seconds);
  bench_model_free (model);
}

static void
bench_prefill (KvasirCpuIsa isa, int n_threads, KvasirType type, double roof)
{
  /* Rows of 576 have no whole blocks of 256. */
  bool is_wide = kvasir_type_get_block_len ((int) type) == 256;
  int64_t k = is_wide ? 1536 : 576, rows = is_wide ? 576 : 1536;
  int64_t n_tokens = isa == KVASIR_CPU_ISA_SCALAR ? 16 : 512;
  BenchModel *model =
      bench_matrix_new (&(KvasirCpuOptions){ isa, n_threads }, type, k, rows, n_tokens);
  double seconds = time_model (model, (int) n_tokens, 0);
  double rate = 2.0 * (double) (k * rows * n_tokens) / seconds / 1e9;

  printf ("  prefill %7.1f Gop/s", rate);
  if (roof > 0)
    printf (" %4.0f %%", 100 * rate / roof);
  printf ("\n");
  bench_model_free (model);
}

static void
bench_type (KvasirCpuIsa isa, int n_threads, KvasirType type, const void *memory)
{
  BenchInt8 kind = isa == KVASIR_CPU_ISA_AVX2       ? BENCH_INT8_AVX2
                   : isa == KVASIR_CPU_ISA_AVX_VNNI ? BENCH_INT8_AVX_VNNI
                                                    : BENCH_INT8_AVX512;
  int is_int8 = kvasir_type_get_block_len ((int) type) >= 32;
  double read = bench_probe_read (memory, DECODE_BYTES, n_threads), roof = 0;

  if (isa != KVASIR_CPU_ISA_SCALAR)
    roof = is_int8 ? bench_probe_int8 (kind, n_threads)
                   : bench_probe_f32 (kind == BENCH_INT8_AVX512, n_threads);
  printf ("%-11s %d thread%s %-5s", kvasir_cpu_isa_get_name (isa), n_threads,
          n_threads > 1 ? "s" : " ", kvasir_type_get_name ((int) type));
  bench_decode (isa, n_threads, type, read);
  bench_prefill (isa, n_threads, type, roof);
}

static double
time_encoder (const KvasirCpuOptions *options, KvasirType type, int64_t n_tokens)
{
  BenchModel *model = bench_matrix_new (options, type, 768, 3072, n_tokens);
  double seconds = time_model (model, (int) n_tokens, 0);

  if (options->blas == KVASIR_CPU_BLAS_ALWAYS)
    printf ("  %s\n", bench_model_get_device (model));
  bench_model_free (model);
  return 2.0 * 768 * 3072 * (double) n_tokens / seconds / 1e9;
}

/* The products that OpenBLAS can take, of the shape of an encoder's, without and with it. */
static void
bench_blas (KvasirCpuIsa isa, int n_threads, KvasirType type)
{
  for (int64_t n_tokens = 32; n_tokens <= 512; n_tokens *= 4)
    {
      KvasirCpuOptions options = { isa, n_threads, .blas = KVASIR_CPU_BLAS_NEVER };
      double own = time_encoder (&options, type, n_tokens), other;
      options.blas = KVASIR_CPU_BLAS_ALWAYS;
      other = time_encoder (&options, type, n_tokens);
      printf ("%-11s %d thread%s %-5s 768 x 3072 with %3d tokens: own %7.1f, OpenBLAS %7.1f Gop/s, "
              "%4.2f times\n",
              kvasir_cpu_isa_get_name (isa), n_threads, n_threads > 1 ? "s" : " ",
              kvasir_type_get_name ((int) type), (int) n_tokens, own, other, other / own);
    }
}

/* Whether @name is among the arguments, or none of its kind is. */
static int
is_wanted (const char *name, int is_isa, int argc, char **argv)
{
  KvasirCpuIsa isa;
  int n_alike = 0;

  for (int i = 1; i < argc; i++)
    {
      if (strcmp (argv[i], name) == 0)
        return 1;
      n_alike += kvasir_cpu_isa_find (argv[i], &isa) == is_isa;
    }
  return n_alike == 0;
}

/* A name that there is none of would be waited for in vain. */
static int
is_known (const char *name)
{
  KvasirCpuIsa isa;

  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    if (strcmp (name, kvasir_type_get_name ((int) types[t])) == 0)
      return 1;
  return kvasir_cpu_isa_find (name, &isa) != 0;
}

static int
print_usage (void)
{
  fprintf (stderr,
           "usage: bench-kernels blas, or instruction sets and types, all where none is named:");
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
    fprintf (stderr, " %s", kvasir_type_get_name ((int) types[t]));
  fprintf (stderr, "\n");
  return 2;
}

static void
bench_whole (KvasirCpuIsa isa, int n_threads)
{
  BenchModel *model = bench_smollm_new (isa, n_threads, KVASIR_TYPE_Q4_1, 512, 4096);
  double decode = time_model (model, 1, 256), deep = time_model (model, 1, 4096);
  double few = time_model (model, 8, 256), prefill = time_model (model, 512, 512);

  printf ("%-11s %d thread%s q4_1 model: decode %.0f t/s, at 4096 cells %.0f t/s, 8 tokens %.0f "
          "t/s, prefill 512 %.0f t/s\n",
          kvasir_cpu_isa_get_name (isa), n_threads, n_threads > 1 ? "s" : " ", 1 / decode, 1 / deep,
          8 / few, 512 / prefill);
  bench_model_free (model);
}

static void
bench_shift (KvasirCpuIsa isa, int n_threads, void *memory)
{
  BenchModel *model = bench_shift_new (isa, n_threads, SHIFT_CELLS);
  double shift = time_model (model, 1, 0);
  double rewrite = SHIFT_BYTES / bench_probe_rewrite (memory, SHIFT_BYTES, n_threads) / 1e9;

  printf ("%-11s %d thread%s K-shift of %d cells %.1f ms, reading and writing their bytes %.1f ms: "
          "%.2f times\n",
          kvasir_cpu_isa_get_name (isa), n_threads, n_threads > 1 ? "s" : " ", SHIFT_CELLS,
          1e3 * shift, 1e3 * rewrite, shift / rewrite);
  bench_model_free (model);
}

/* For AVX2 on a processor with AVX-512, OPENBLAS_CORETYPE=Haswell makes it a fair match. */
static int
compare_with_blas (void)
{
  static const KvasirCpuIsa isas[] = { KVASIR_CPU_ISA_SCALAR, KVASIR_CPU_ISA_AVX2,
                                       KVASIR_CPU_ISA_AVX512_VNNI };
  const char *core = kvasir_cpu_get_blas_core_type ();

  if (core != NULL)
    setenv ("OPENBLAS_CORETYPE", core, 0);
  for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++)
    for (int n_threads = 1; n_threads <= 2 && kvasir_cpu_isa_is_available (isas[i]); n_threads++)
      {
        bench_blas (isas[i], n_threads, KVASIR_TYPE_F32);
        bench_blas (isas[i], n_threads, KVASIR_TYPE_F16);
      }
  return 0;
}

int
main (int argc, char **argv)
{
  static const KvasirCpuIsa isas[] = { KVASIR_CPU_ISA_AVX2, KVASIR_CPU_ISA_AVX_VNNI,
                                       KVASIR_CPU_ISA_AVX512_VNNI, KVASIR_CPU_ISA_AMX };
  uint8_t *memory;

  if (argc == 2 && strcmp (argv[1], "blas") == 0)
    return compare_with_blas ();
  for (int i = 1; i < argc; i++)
    if (!is_known (argv[i]))
      return print_usage ();
  memory = aligned_alloc (HUGE_PAGE, MEMORY_BYTES);
  if (memory == NULL)
    return 1;
  /* As the device's buffers are; small pages cost a third of the bandwidth. */
  madvise (memory, MEMORY_BYTES, MADV_HUGEPAGE);
  memset (memory, 1, MEMORY_BYTES);
  for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++)
    for (int n_threads = 1; n_threads <= 2; n_threads++)
      {
        if (!kvasir_cpu_isa_is_available (isas[i]) ||
            !is_wanted (kvasir_cpu_isa_get_name (isas[i]), 1, argc, argv))
          continue;
        printf ("roof: %d thread%s read %.1f GB/s\n", n_threads, n_threads > 1 ? "s" : "",
                bench_probe_read (memory, DECODE_BYTES, n_threads));
        for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
          if (is_wanted (kvasir_type_get_name ((int) types[t]), 0, argc, argv))
            bench_type (isas[i], n_threads, types[t], memory);
        bench_whole (isas[i], n_threads);
        bench_shift (isas[i], n_threads, memory);
      }
  free (memory);
  return 0;
}
