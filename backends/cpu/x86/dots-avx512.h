/* backends/cpu/x86/dots-avx512.h - sixteen rows, a lane each, times some tokens
 *
 * Up to four tokens with activations of sixteen bits, for which bytes of both halves are multiplied,
 * or up to eight with those of eight bits: either way sixteen products at most are on their way, and
 * all sums stay in registers. Needs AVX-512 VNNI.
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
get_sixteen_acts (const KvasirProduct *p,
                  const KvasirType type,
                  int64_t token,
                  const int n,
                  const bool is_fine)
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

/* Adds the products of sixteen rows' four bytes with the same four activations, those of token @t at
 * @at. By hand, since gcc copies and spills sums around the intrinsic where there are many, and
 * keeps more addresses than there are registers. */
INLINE void
add_four (__m512i *sums,
          __m512i u,
          const int8_t *q,
          const SixteenActs *acts,
          const int t,
          const int at)
{
  switch (t % 4)
    {
    case 0:
      __asm__("vpdpbusd %c3(%2)%{1to16%}, %1, %0" : "+v"(*sums) : "v"(u), "r"(q), "i"(at));
      break;
    case 1:
      __asm__("vpdpbusd %c3(%2,%4)%{1to16%}, %1, %0"
              : "+v"(*sums)
              : "v"(u), "r"(q), "i"(at), "r"(acts->one));
      break;
    case 2:
      __asm__("vpdpbusd %c3(%2,%4,2)%{1to16%}, %1, %0"
              : "+v"(*sums)
              : "v"(u), "r"(q), "i"(at), "r"(acts->one));
      break;
    default:
      __asm__("vpdpbusd %c3(%2,%4)%{1to16%}, %1, %0"
              : "+v"(*sums)
              : "v"(u), "r"(q), "i"(at), "r"(acts->three));
      break;
    }
}

/* Number @at of token @t's, in all lanes; @scale is that of its stride. */
#define BROADCAST(name, scale, twice)                                                              \
  INLINE __m512 name (const float *x, const SixteenActs *acts, const int t, const int at)          \
  {                                                                                                \
    __m512 all;                                                                                    \
    switch (t % 4)                                                                                 \
      {                                                                                            \
      case 0:                                                                                      \
        __asm__("vbroadcastss %c2(%1), %0" : "=v"(all) : "r"(x), "i"(4 * at));                     \
        break;                                                                                     \
      case 1:                                                                                      \
        __asm__("vbroadcastss %c2(%1,%3," #scale "), %0"                                           \
                : "=v"(all)                                                                        \
                : "r"(x), "i"(4 * at), "r"(acts->sum_one));                                        \
        break;                                                                                     \
      case 2:                                                                                      \
        __asm__("vbroadcastss %c2(%1,%3," #twice "), %0"                                           \
                : "=v"(all)                                                                        \
                : "r"(x), "i"(4 * at), "r"(acts->sum_one));                                        \
        break;                                                                                     \
      default:                                                                                     \
        __asm__("vbroadcastss %c2(%1,%3," #scale "), %0"                                           \
                : "=v"(all)                                                                        \
                : "r"(x), "i"(4 * at), "r"(acts->sum_three));                                      \
        break;                                                                                     \
      }                                                                                            \
    return all;                                                                                    \
  }

BROADCAST (broadcast_whole, 4, 8)
BROADCAST (broadcast_half, 2, 4)

/* The sums of all blocks. */
typedef struct
{
  __m512 sums[MAX_TOKENS];
  __m512 mins[MAX_TOKENS]; /* of sixteen bits alone: with eight tokens registers would not do */
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
add_tokens (
    LaneDots *dots, __m512i u, const SixteenActs *acts, const int at, const int n, const bool is_fine)
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
      __m512 a = n_parts == 1 ? broadcast_whole (acts->d[t / 4], acts, t, b)
                              : broadcast_half (acts->d[t / 4], acts, t, b);
      __m512 x = broadcast_whole (acts->s[t / 4], acts, t, run);
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
