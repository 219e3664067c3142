/* backends/cpu/x86/dots-avx512.h - sixteen rows, a lane each, times some tokens
 *
 * Up to four tokens with activations of sixteen bits, for which bytes of both halves are
 * multiplied, or up to eight with those of eight bits: either way sixteen products at most are on
 * their way, and all sums stay in registers. Needs AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/sixteen-k-avx512.h"

#define MAX_TOKENS 8

/* The activations of some tokens from some block on. Four tokens are reached from one address: the
 * second and third lie one and two strides further, the fourth three. */
typedef struct
{
  const int8_t *q[MAX_TOKENS / 4];
  const int8_t *fine; /* not in steps of eight bits */
  const float *d[MAX_TOKENS / 4];
  const float *s[MAX_TOKENS / 4]; /* sums of blocks or of their halves */
  int64_t one, three;             /* strides of q */
  int64_t sum_one, sum_three;     /* of s; those of d are as long or half as long */
} SixteenActs;

INLINE SixteenActs
get_sixteen_acts (
    const KvasirProduct *p, const KvasirType type, int64_t token, const int n, const bool is_fine)
{
  const int64_t n_blocks = p->k / 32, n_parts = get_n_parts (type);
  const float *s = n_parts == 1 ? p->acts.s : p->acts.s16;
  SixteenActs acts = { .fine = is_fine ? p->acts.fine + token * p->k : NULL,
                       .one = p->k,
                       .three = 3 * p->k,
                       .sum_one = n_blocks * n_parts,
                       .sum_three = 3 * n_blocks * n_parts };

  for (int i = 0; 4 * i < n; i++)
    {
      acts.q[i] = p->acts.q + (token + 4 * i) * p->k;
      acts.d[i] = p->acts.d + (token + 4 * i) * n_blocks;
      acts.s[i] = s + (token + 4 * i) * acts.sum_one;
    }
  return acts;
}

/* Moves on by some blocks. */
INLINE void
advance_acts (
    SixteenActs *acts, const int n_blocks, const int n_parts, const int n, const bool is_fine)
{
  for (int i = 0; 4 * i < n; i++)
    {
      acts->q[i] += 32 * n_blocks;
      acts->d[i] += n_blocks;
      acts->s[i] += n_blocks * n_parts;
    }
  if (is_fine)
    acts->fine += 32 * n_blocks;
}

/* Addresses are written by hand, a register, a stride and a constant each: gcc makes more of them
 * than there are registers. Its sanitizers don't see what is read like that, so that builds with
 * them do without, as do those that are not optimised and have no constants. */
#if defined __OPTIMIZE__ && !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__
#define BY_HAND
#endif

/* An instruction that reads what is @at bytes from @x for the first token of four, and @scale
 * strides @one further for the second. */
#define READ_TOKEN(before, after, scale, twice, one, three, output, x, at, ...)                    \
  switch (t % 4)                                                                                   \
    {                                                                                              \
    case 0:                                                                                        \
      __asm__(before "%c2(%1)" after:output : "r"(x), "i"(at), ##__VA_ARGS__);                     \
      break;                                                                                       \
    case 1:                                                                                        \
      __asm__(before "%c2(%1,%3," #scale ")" after:output                                          \
              : "r"(x), "i"(at), "r"(one), ##__VA_ARGS__);                                         \
      break;                                                                                       \
    case 2:                                                                                        \
      __asm__(before "%c2(%1,%3," #twice ")" after:output                                          \
              : "r"(x), "i"(at), "r"(one), ##__VA_ARGS__);                                         \
      break;                                                                                       \
    default:                                                                                       \
      __asm__(before "%c2(%1,%3," #scale ")" after:output                                          \
              : "r"(x), "i"(at), "r"(three), ##__VA_ARGS__);                                       \
      break;                                                                                       \
    }

/* Adds the products of sixteen rows' four bytes with the same four activations, those of token @t
 * at @at. */
INLINE void
add_four (
    __m512i *sums, __m512i u, const int8_t *q, const SixteenActs *acts, const int t, const int at)
{
#ifdef BY_HAND
  /* Besides, gcc copies and spills sums around the intrinsic where there are many. */
  READ_TOKEN ("vpdpbusd ", "%{1to16%}, %[u], %0", 1, 2, acts->one, acts->three, "+v"(*sums), q,
              at, [u] "v"(u))
#else
  const __m512i four = _mm512_set1_epi32 (load_dword ((const void *) (q + t % 4 * acts->one + at)));
  *sums = _mm512_dpbusd_epi32 (*sums, u, four);
#endif
}

/* Number @at of token @t's in all lanes: of sums, and of scales, one for each of @n_parts sums. */
INLINE __m512
broadcast (const float *x, const SixteenActs *acts, const int n_parts, const int t, const int at)
{
#ifdef BY_HAND
  __m512 all;
  if (n_parts == 1)
    READ_TOKEN ("vbroadcastss ", ", %0", 4, 8, acts->sum_one, acts->sum_three, "=v"(all), x, 4 * at)
  else
    READ_TOKEN ("vbroadcastss ", ", %0", 2, 4, acts->sum_one, acts->sum_three, "=v"(all), x, 4 * at)
  return all;
#else
  return _mm512_set1_ps (x[t % 4 * (acts->sum_one / n_parts) + at]);
#endif
}

/* The sums of all blocks. */
typedef struct
{
  __m512 sums[MAX_TOKENS];
  __m512 mins[MAX_TOKENS]; /* of sixteen bits alone: registers don't do for those of eight tokens */
} LaneSums;

/* The integer sums of a block or a part of it. */
typedef struct
{
  __m512i high[MAX_TOKENS], low[MAX_TOKENS];
} LaneDots;

INLINE void
clear_dots (LaneDots *dots, const int n)
{
#pragma GCC unroll 8
  for (int t = 0; t < n; t++)
    dots->high[t] = dots->low[t] = _mm512_setzero_si512 ();
}

/* Four bytes of sixteen rows with activations from @at on. */
INLINE void
add_tokens (LaneDots *dots,
            __m512i u,
            const SixteenActs *acts,
            const int at,
            const int n,
            const bool is_fine)
{
#pragma GCC unroll 8
  for (int t = 0; t < n; t++)
    {
      add_four (&dots->high[t], u, acts->q[t / 4], acts, t, at);
      if (is_fine)
        add_four (&dots->low[t], u, acts->fine, acts, t, at);
    }
}

/* Dots of run @run, a block or one of @n_parts of it, scaled by @d and the activations; @m is
 * multiplied with their sum. */
INLINE void
add_scaled_dots (const LaneDots *dots,
                 __m512 d,
                 __m512 m,
                 const SixteenActs *acts,
                 const int run,
                 const int n_parts,
                 const int n,
                 const bool is_fine,
                 LaneSums *to)
{
  const int b = run / n_parts;

#pragma GCC unroll 8
  for (int t = 0; t < n; t++)
    {
      __m512 a = broadcast (acts->d[t / 4], acts, n_parts, t, b);
      __m512 x = broadcast (acts->s[t / 4], acts, 1, t, run);
      __m512 scale = _mm512_mul_ps (d, a);
      if (is_fine)
        {
          __m512i dot = _mm512_add_epi32 (_mm512_slli_epi32 (dots->high[t], 8), dots->low[t]);
          to->sums[t] = _mm512_fmadd_ps (_mm512_cvtepi32_ps (dot), scale, to->sums[t]);
          to->mins[t] = _mm512_fmadd_ps (m, x, to->mins[t]);
        }
      else
        {
          to->sums[t] = _mm512_fmadd_ps (_mm512_cvtepi32_ps (dots->high[t]), scale, to->sums[t]);
          to->sums[t] = _mm512_fmadd_ps (m, x, to->sums[t]);
        }
    }
}
