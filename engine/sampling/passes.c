#include "engine/sampling/passes.h"

#include <float.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Adding and subtracting 1.5 * 2^23 rounds to a whole number, which the low bits of the sum are. */
#define ROUNDING 12582912.0f
#define LOG2_E 1.44269504f
/* Nothing weighs less than this many bits, not even what is -inf, which no sum can tell; blocks
 * whose best lies deeper than this many nats weigh nothing. */
#define LEAST_LOG2 -126.0f
#define LEAST_LOG -87.0f

/* ---- one at a time, sixteen lanes in an array */

static inline float
add_exponent (float p, float rounded)
{
  guint32 a, b;
  memcpy (&a, &p, sizeof a);
  memcpy (&b, &rounded, sizeof b);
  a += b << 23;
  memcpy (&p, &a, sizeof p);
  return p;
}

static inline float
reduce_add_16 (const float *v)
{
  float eight[8];
  for (guint i = 0; i < 8; i++)
    eight[i] = v[i] + v[i + 8];
  for (guint i = 0; i < 4; i++)
    eight[i] += eight[i + 4];
  return (eight[0] + eight[2]) + (eight[1] + eight[3]);
}

static inline float
reduce_max_16 (const float *v)
{
  float max = v[0];
  for (guint i = 1; i < 16; i++)
    max = v[i] > max ? v[i] : max;
  return max;
}

#define W 1
#define NAME(x) x##_plain
#define VEC float
#define FLAGS guint
#define NO_FLAGS 0u
#define INLINE __attribute__ ((always_inline))
#define INLINE_TARGET
#define SET(x) (x)
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define STORE_TRUNCATED(p, v) (*(p) = (gint32) (v))
#define STORE_THOSE(p, m, v) (*(p) = (v))
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
/* Of an unordered pair the second, as the processor's instructions have it. */
#define MAX_OF(a, b) ((a) > (b) ? (a) : (b))
#define MIN_OF(a, b) ((a) < (b) ? (a) : (b))
#define AT_LEAST(a, b) ((guint) ((a) >= (b)))
#define BELOW(a, b) ((guint) ((a) < (b)))
#define EQUAL(a, b) ((guint) ((a) == (b)))
#define BOTH(a, b) ((a) & (b))
#define NOT_USABLE(v) ((guint) !((v) <= FLT_MAX))
#define OR(a, b) ((a) | (b))
#define IS_ANY(m) ((guint8) ((m) != 0))
#define COUNT(m) (m)
#define GET_BITS(m) ((guint64) (m))
#define KEEP_WHERE(m, v) ((m) ? (v) : 0.0f)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define ADD_EXPONENT(p, r) add_exponent (p, r)
#define REDUCE_MAX(v) reduce_max_16 (v)
#define REDUCE_ADD(v) reduce_add_16 (v)
#include "engine/sampling/passes-body.h"

#if defined(__x86_64__)

/* ---- eight at once */

#define TARGET __attribute__ ((target ("avx2,popcnt")))

static inline TARGET float
reduce_add_8 (__m256 v)
{
  __m128 four = _mm_add_ps (_mm256_castps256_ps128 (v), _mm256_extractf128_ps (v, 1));
  __m128 two = _mm_add_ps (four, _mm_movehl_ps (four, four));
  return _mm_cvtss_f32 (_mm_add_ss (two, _mm_shuffle_ps (two, two, 1)));
}

static inline TARGET float
reduce_max_8 (__m256 v)
{
  __m128 four = _mm_max_ps (_mm256_castps256_ps128 (v), _mm256_extractf128_ps (v, 1));
  __m128 two = _mm_max_ps (four, _mm_movehl_ps (four, four));
  return _mm_cvtss_f32 (_mm_max_ss (two, _mm_shuffle_ps (two, two, 1)));
}

static inline TARGET void
store_those_8 (float *to, __m256 those, __m256 v)
{
  float all[8];
  _mm256_storeu_ps (all, v);
  for (guint bits = (guint) _mm256_movemask_ps (those); bits != 0; bits &= bits - 1)
    *to++ = all[__builtin_ctz (bits)];
}

static inline TARGET __m256
add_exponent_8 (__m256 p, __m256 rounded)
{
  __m256i shifted = _mm256_slli_epi32 (_mm256_castps_si256 (rounded), 23);
  return _mm256_castsi256_ps (_mm256_add_epi32 (_mm256_castps_si256 (p), shifted));
}

#define W 8
#define NAME(x) x##_avx2
#define VEC __m256
#define FLAGS __m256
#define NO_FLAGS _mm256_setzero_ps ()
#define INLINE __attribute__ ((always_inline)) TARGET
#define INLINE_TARGET TARGET
#define SET(x) _mm256_set1_ps (x)
#define LOAD(p) _mm256_loadu_ps (p)
#define STORE(p, v) _mm256_storeu_ps (p, v)
#define STORE_TRUNCATED(p, v)                                                                      \
  _mm256_storeu_si256 ((__m256i *) (gpointer) (p), _mm256_cvttps_epi32 (v))
#define STORE_THOSE(p, m, v) store_those_8 (p, m, v)
#define ADD(a, b) _mm256_add_ps (a, b)
#define SUB(a, b) _mm256_sub_ps (a, b)
#define MUL(a, b) _mm256_mul_ps (a, b)
#define MAX_OF(a, b) _mm256_max_ps (a, b)
#define MIN_OF(a, b) _mm256_min_ps (a, b)
#define AT_LEAST(a, b) _mm256_cmp_ps (a, b, _CMP_GE_OQ)
#define BELOW(a, b) _mm256_cmp_ps (a, b, _CMP_LT_OQ)
#define EQUAL(a, b) _mm256_cmp_ps (a, b, _CMP_EQ_OQ)
#define BOTH(a, b) _mm256_and_ps (a, b)
#define NOT_USABLE(v) _mm256_cmp_ps (v, _mm256_set1_ps (FLT_MAX), _CMP_NLE_UQ)
#define OR(a, b) _mm256_or_ps (a, b)
#define IS_ANY(m) ((guint8) (_mm256_movemask_ps (m) != 0))
#define COUNT(m) ((guint) __builtin_popcount ((guint) _mm256_movemask_ps (m)))
#define GET_BITS(m) ((guint64) (guint) _mm256_movemask_ps (m))
#define KEEP_WHERE(m, v) _mm256_and_ps (m, v)
#define SELECT(m, a, b) _mm256_blendv_ps (b, a, m)
#define ADD_EXPONENT(p, r) add_exponent_8 (p, r)
#define REDUCE_MAX(v) reduce_max_8 (_mm256_max_ps ((v)[0], (v)[1]))
#define REDUCE_ADD(v) reduce_add_8 (_mm256_add_ps ((v)[0], (v)[1]))
#include "engine/sampling/passes-body.h"
#undef TARGET

/* ---- sixteen at once */

#define TARGET __attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx2,popcnt")))

static inline TARGET __m256
get_high (__m512 v)
{
  return _mm512_extractf32x8_ps (v, 1);
}

static inline TARGET float
reduce_add_16_wide (__m512 v)
{
  return reduce_add_8 (_mm256_add_ps (_mm512_castps512_ps256 (v), get_high (v)));
}

static inline TARGET float
reduce_max_16_wide (__m512 v)
{
  return reduce_max_8 (_mm256_max_ps (_mm512_castps512_ps256 (v), get_high (v)));
}

static inline TARGET __m512
add_exponent_16 (__m512 p, __m512 rounded)
{
  __m512i shifted = _mm512_slli_epi32 (_mm512_castps_si512 (rounded), 23);
  return _mm512_castsi512_ps (_mm512_add_epi32 (_mm512_castps_si512 (p), shifted));
}

#define W 16
#define NAME(x) x##_avx512
#define VEC __m512
#define FLAGS __mmask16
#define NO_FLAGS 0
#define INLINE __attribute__ ((always_inline)) TARGET
#define INLINE_TARGET TARGET
#define SET(x) _mm512_set1_ps (x)
#define LOAD(p) _mm512_loadu_ps (p)
#define STORE(p, v) _mm512_storeu_ps (p, v)
#define STORE_TRUNCATED(p, v) _mm512_storeu_si512 (p, _mm512_cvttps_epi32 (v))
/* Packed in the register first: some processors take very long to do so in memory. */
#define STORE_THOSE(p, m, v) _mm512_storeu_ps (p, _mm512_maskz_compress_ps (m, v))
#define ADD(a, b) _mm512_add_ps (a, b)
#define SUB(a, b) _mm512_sub_ps (a, b)
#define MUL(a, b) _mm512_mul_ps (a, b)
#define MAX_OF(a, b) _mm512_max_ps (a, b)
#define MIN_OF(a, b) _mm512_min_ps (a, b)
#define AT_LEAST(a, b) _mm512_cmp_ps_mask (a, b, _CMP_GE_OQ)
#define BELOW(a, b) _mm512_cmp_ps_mask (a, b, _CMP_LT_OQ)
#define EQUAL(a, b) _mm512_cmp_ps_mask (a, b, _CMP_EQ_OQ)
#define BOTH(a, b) ((__mmask16) ((a) & (b)))
#define NOT_USABLE(v) _mm512_cmp_ps_mask (v, _mm512_set1_ps (FLT_MAX), _CMP_NLE_UQ)
#define OR(a, b) ((__mmask16) ((a) | (b)))
#define IS_ANY(m) ((guint8) ((m) != 0))
#define COUNT(m) ((guint) __builtin_popcount (m))
#define GET_BITS(m) ((guint64) (m))
#define KEEP_WHERE(m, v) _mm512_maskz_mov_ps (m, v)
#define SELECT(m, a, b) _mm512_mask_blend_ps (m, b, a)
#define ADD_EXPONENT(p, r) add_exponent_16 (p, r)
#define REDUCE_MAX(v) reduce_max_16_wide ((v)[0])
#define REDUCE_ADD(v) reduce_add_16_wide ((v)[0])
#include "engine/sampling/passes-body.h"
#undef TARGET

#endif

const KvasirPasses *
kvasir_passes_get (KvasirPassesKind kind)
{
#if defined(__x86_64__)
  if (kind == KVASIR_PASSES_AVX512)
    return __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
                   __builtin_cpu_supports ("avx512vl")
               ? &passes_avx512
               : NULL;
  if (kind == KVASIR_PASSES_AVX2)
    return __builtin_cpu_supports ("avx2") ? &passes_avx2 : NULL;
#endif
  return kind == KVASIR_PASSES_PLAIN ? &passes_plain : NULL;
}

const KvasirPasses *
kvasir_passes_get_best (void)
{
  const KvasirPasses *passes = NULL;
  for (int kind = KVASIR_PASSES_AVX512; passes == NULL; kind--)
    passes = kvasir_passes_get (kind);
  return passes;
}
