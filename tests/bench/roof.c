#include "roof.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 64
#define PROBE_SECONDS 0.015

double
bench_now (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* A piece of work that returns how much it did. */
typedef double (*ProbeFn) (const void *memory, size_t n_bytes);

typedef struct
{
  ProbeFn fn;
  const void *memory;
  size_t n_bytes;
  pthread_barrier_t *start;
  double rate;
} Probe;

static void *
run_probe (void *data)
{
  Probe *probe = data;
  double amount, begin, last, now;

  probe->fn (probe->memory, probe->n_bytes);
  pthread_barrier_wait (probe->start);
  /* The best pass, as the legs take their best one. */
  for (begin = last = bench_now (); last - begin < PROBE_SECONDS; last = now)
    {
      amount = probe->fn (probe->memory, probe->n_bytes);
      now = bench_now ();
      probe->rate =
          amount / (now - last) / 1e9 > probe->rate ? amount / (now - last) / 1e9 : probe->rate;
    }
  return NULL;
}

static double
run_probes (ProbeFn fn, const void *memory, size_t n_bytes, int n_threads)
{
  pthread_t threads[MAX_THREADS];
  Probe probes[MAX_THREADS];
  pthread_barrier_t start;
  size_t part = n_bytes / (size_t) n_threads / 4096 * 4096;
  double rate = 0;

  pthread_barrier_init (&start, NULL, (unsigned) n_threads);
  for (int i = 0; i < n_threads; i++)
    {
      const uint8_t *own = memory ? (const uint8_t *) memory + (size_t) i * part : NULL;
      probes[i] = (Probe){ fn, own, part, &start, 0 };
      pthread_create (&threads[i], NULL, run_probe, &probes[i]);
    }
  for (int i = 0; i < n_threads; i++)
    {
      pthread_join (threads[i], NULL);
      rate += probes[i].rate;
    }
  pthread_barrier_destroy (&start);
  return rate;
}

/* Reads with a hint some lines ahead, as the kernels do. */
static double
read_all (const void *memory, size_t n_bytes)
{
  const uint64_t *p = memory;
  uint64_t sum[8] = { 0 };

  for (size_t i = 0; i + 8 <= n_bytes / 8; i += 8)
    {
      __builtin_prefetch (p + i + 384, 0, 3);
      for (int j = 0; j < 8; j++)
        sum[j] += p[i + (size_t) j];
    }
  __asm__ volatile("" ::"r"(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7]));
  return (double) n_bytes;
}

static double
rewrite_all (const void *memory, size_t n_bytes)
{
  uint64_t *p = (uint64_t *) (uintptr_t) memory;

  for (size_t i = 0; i + 8 <= n_bytes / 8; i += 8)
    {
      __builtin_prefetch (p + i + 384, 1, 3);
      for (int j = 0; j < 8; j++)
        p[i + (size_t) j] ^= 1;
    }
  __asm__ volatile("" ::"r"(p) : "memory");
  return (double) n_bytes;
}

#define N_ROUNDS 100000
#define N_CHAINS 12

#ifdef __x86_64__
#include <immintrin.h>

__attribute__ ((target ("avx512f,avx512vnni"))) static double
int8_avx512 (const void *memory, size_t n_bytes)
{
  __m512i sums[N_CHAINS], a = _mm512_set1_epi32 (0x01020304), b = _mm512_set1_epi32 (0x01010101);

#pragma GCC unroll 12
  for (int i = 0; i < N_CHAINS; i++)
    sums[i] = _mm512_setzero_si512 ();
  for (int round = 0; round < N_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < N_CHAINS; i++)
      {
        sums[i] = _mm512_dpbusd_epi32 (sums[i], a, b);
        __asm__ volatile("" : "+v"(sums[i]));
      }
  return 128.0 * N_ROUNDS * N_CHAINS;
}

__attribute__ ((target ("avx2"))) static double
int8_avx2 (const void *memory, size_t n_bytes)
{
  __m256i sums[N_CHAINS], a = _mm256_set1_epi32 (0x01020304), b = _mm256_set1_epi32 (0x01010101);

#pragma GCC unroll 12
  for (int i = 0; i < N_CHAINS; i++)
    sums[i] = _mm256_setzero_si256 ();
  for (int round = 0; round < N_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < N_CHAINS; i++)
      {
        sums[i] = _mm256_add_epi16 (sums[i], _mm256_maddubs_epi16 (a, b));
        __asm__ volatile("" : "+x"(sums[i]), "+x"(a));
      }
  return 64.0 * N_ROUNDS * N_CHAINS;
}

__attribute__ ((target ("avx2,avxvnni"))) static double
int8_avx_vnni (const void *memory, size_t n_bytes)
{
  __m256i sums[N_CHAINS], a = _mm256_set1_epi32 (0x01020304), b = _mm256_set1_epi32 (0x01010101);

#pragma GCC unroll 12
  for (int i = 0; i < N_CHAINS; i++)
    sums[i] = _mm256_setzero_si256 ();
  for (int round = 0; round < N_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < N_CHAINS; i++)
      {
        sums[i] = _mm256_dpbusd_avx_epi32 (sums[i], a, b);
        __asm__ volatile("" : "+x"(sums[i]));
      }
  return 64.0 * N_ROUNDS * N_CHAINS;
}

__attribute__ ((target ("avx512f"))) static double
f32_avx512 (const void *memory, size_t n_bytes)
{
  __m512 sums[N_CHAINS], a = _mm512_set1_ps (0.5f);

#pragma GCC unroll 12
  for (int i = 0; i < N_CHAINS; i++)
    sums[i] = a;
  for (int round = 0; round < N_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < N_CHAINS; i++)
      {
        sums[i] = _mm512_fmadd_ps (sums[i], a, a);
        __asm__ volatile("" : "+v"(sums[i]));
      }
  return 32.0 * N_ROUNDS * N_CHAINS;
}

__attribute__ ((target ("avx2,fma"))) static double
f32_avx2 (const void *memory, size_t n_bytes)
{
  __m256 sums[N_CHAINS], a = _mm256_set1_ps (0.5f);

#pragma GCC unroll 12
  for (int i = 0; i < N_CHAINS; i++)
    sums[i] = a;
  for (int round = 0; round < N_ROUNDS; round++)
#pragma GCC unroll 12
    for (int i = 0; i < N_CHAINS; i++)
      {
        sums[i] = _mm256_fmadd_ps (sums[i], a, a);
        __asm__ volatile("" : "+x"(sums[i]));
      }
  return 16.0 * N_ROUNDS * N_CHAINS;
}

/* Ordinary registers can't take in what a core can get. */
__attribute__ ((target ("avx2"))) static double
read_avx2 (const void *memory, size_t n_bytes)
{
  const __m256i *p = memory;
  __m256i sums[4] = { 0 };

  for (size_t i = 0; i + 4 <= n_bytes / sizeof *p; i += 4)
    {
      __builtin_prefetch (p + i + 96, 0, 3);
      __builtin_prefetch (p + i + 98, 0, 3);
      for (int j = 0; j < 4; j++)
        sums[j] = _mm256_add_epi64 (sums[j], _mm256_loadu_si256 (p + i + j));
    }
  for (int j = 0; j < 4; j++)
    __asm__ volatile("" ::"x"(sums[j]));
  return (double) n_bytes;
}

double
bench_probe_rewrite (void *memory, size_t n_bytes, int n_threads)
{
  return run_probes (rewrite_all, memory, n_bytes, n_threads);
}

double
bench_probe_read (const void *memory, size_t n_bytes, int n_threads)
{
  bool is_wide = __builtin_cpu_supports ("avx2");

  return run_probes (is_wide ? read_avx2 : read_all, memory, n_bytes, n_threads);
}

double
bench_probe_int8 (BenchInt8 kind, int n_threads)
{
  static const ProbeFn probes[] = { int8_avx2, int8_avx_vnni, int8_avx512 };

  return run_probes (probes[kind], NULL, 0, n_threads);
}

double
bench_probe_f32 (int use_avx512, int n_threads)
{
  return run_probes (use_avx512 ? f32_avx512 : f32_avx2, NULL, 0, n_threads);
}

#else

double
bench_probe_read (const void *memory, size_t n_bytes, int n_threads)
{
  return run_probes (read_all, memory, n_bytes, n_threads);
}

double
bench_probe_int8 (BenchInt8 kind, int n_threads)
{
  return 0;
}

double
bench_probe_f32 (int use_avx512, int n_threads)
{
  return 0;
}

#endif
