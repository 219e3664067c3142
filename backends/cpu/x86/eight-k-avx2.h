/* backends/cpu/x86/eight-k-avx2.h - a block of 256 of eight rows side by side
 *
 * As eight-avx2.h, for Q4_K, Q5_K and Q6_K: vector j of a block has its dword j of all rows, and
 * the sums of a row stay in its lane. Rows as they lie in the file are turned into such a block
 * first. Needs AVX2.
 */
#pragma once

#include "backends/cpu/x86/eight-avx2.h"

#define MAX_PACKED_K (16 * sizeof (KvasirBlockQ6K))

INLINE bool
is_packed_k (const KvasirType type)
{
  return type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K || type == KVASIR_TYPE_Q6_K;
}

/* Dword @i of the rows of a side of a packed block. */
INLINE __m256i
load_dwords (const uint8_t *block, int side, int i)
{
  return _mm256_loadu_si256 ((const void *) (block + 64 * i + 32 * side));
}

/* A side of a block in the order of packed.h from eight rows. */
INLINE void
turn_k_block (const KvasirType type, const uint8_t *const rows[8], int side, uint8_t *block)
{
  const size_t size = get_k_block_bytes (type);

  for (size_t at = 0; at + 16 <= size; at += 16)
    {
      __m256i r[4];
      for (int i = 0; i < 4; i++)
        r[i] = _mm256_inserti128_si256 (
            _mm256_castsi128_si256 (_mm_loadu_si128 ((const void *) (rows[i] + at))),
            _mm_loadu_si128 ((const void *) (rows[4 + i] + at)), 1);
      __m256i a = _mm256_unpacklo_epi32 (r[0], r[1]), b = _mm256_unpackhi_epi32 (r[0], r[1]);
      __m256i c = _mm256_unpacklo_epi32 (r[2], r[3]), d = _mm256_unpackhi_epi32 (r[2], r[3]);
      uint8_t *to = block + 16 * at + 32 * side;
      _mm256_storeu_si256 ((void *) to, _mm256_unpacklo_epi64 (a, c));
      _mm256_storeu_si256 ((void *) (to + 64), _mm256_unpackhi_epi64 (a, c));
      _mm256_storeu_si256 ((void *) (to + 128), _mm256_unpacklo_epi64 (b, d));
      _mm256_storeu_si256 ((void *) (to + 192), _mm256_unpackhi_epi64 (b, d));
    }
  for (size_t i = 0; i < SIDE_ROWS && type == KVASIR_TYPE_Q6_K; i++)
    memcpy (block + 16 * (size - 2) + 16 * side + 2 * i, rows[i] + size - 2, 2);
}

/* What the scales of a side of a block are made of; d and dmin are 2^-24 of what they are. */
typedef struct
{
  __m256 d, dmin; /* dmin negative */
  __m256i scales[4];
  __m256i mins[4];
} SideScales;

INLINE __m256
load_small_halves (__m128i halves, const float factor)
{
  return _mm256_mul_ps (_mm256_cvtph_ps (halves), _mm256_set1_ps (factor * 0x1p-24f));
}

/* The bits of @mask in each byte of @low, the others of @all out of those of @high. */
INLINE __m256i
choose_bits (__m256i low, __m256i high, const int mask, const int all)
{
  return _mm256_or_si256 (_mm256_and_si256 (low, _mm256_set1_epi8 ((char) mask)),
                          _mm256_and_si256 (high, _mm256_set1_epi8 ((char) (all - mask))));
}

INLINE SideScales
load_side_scales (const KvasirType type, const uint8_t *block, int side)
{
  const __m256i six = _mm256_set1_epi8 (63), half = _mm256_set1_epi32 (0xffff);
  SideScales s;

  if (type == KVASIR_TYPE_Q6_K)
    {
      __m128i halves = _mm_loadu_si128 ((const void *) (block + 64 * 52 + 16 * side));
      s.d = load_small_halves (halves, 1);
      s.dmin = load_small_halves (halves, (float) -get_k_offset (type));
      for (int i = 0; i < 4; i++)
        s.scales[i] = s.mins[i] = load_dwords (block, side, 48 + i);
      return s;
    }
  __m256i heads = load_dwords (block, side, 0), a = load_dwords (block, side, 1);
  __m256i b = load_dwords (block, side, 2), c = load_dwords (block, side, 3);
  __m256i both =
      _mm256_packus_epi32 (_mm256_and_si256 (heads, half), _mm256_srli_epi32 (heads, 16));
  both = _mm256_permute4x64_epi64 (both, 0xd8);
  s.d = load_small_halves (_mm256_castsi256_si128 (both), 1);
  s.dmin = load_small_halves (_mm256_extracti128_si256 (both, 1), -1);
  s.scales[0] = _mm256_and_si256 (a, six);
  s.mins[0] = _mm256_and_si256 (b, six);
  s.scales[1] = choose_bits (c, _mm256_srli_epi16 (a, 2), 15, 63);
  s.mins[1] = choose_bits (_mm256_srli_epi16 (c, 4), _mm256_srli_epi16 (b, 2), 15, 63);
  return s;
}

/* Byte @i of each lane, 2^24 times as large: at the top of the lane it keeps its sign. */
INLINE __m256
spread_byte (__m256i bytes, const int i)
{
  const __m256i first = _mm256_setr_epi32 (0x00808080, 0x04808080, 0x08808080, 0x0c808080,
                                           0x00808080, 0x04808080, 0x08808080, 0x0c808080);

  return _mm256_cvtepi32_ps (
      _mm256_shuffle_epi8 (bytes, _mm256_add_epi32 (first, _mm256_set1_epi32 (i << 24))));
}

/* A block has four quarters, of 64 elements each: a vector of nibbles has four elements of each row
 * in its low halves and four of those 32, of Q6_K 64, behind them in its high ones. Everything goes
 * quarter by quarter in a loop, since code that is laid out for a whole block is as long as a third
 * of the first cache, and weights that stream through the second one push it out of both. */
#define N_QUARTERS 4

/* Which run of 32 the low or high nibbles of a quarter are. */
INLINE int
get_run (const KvasirType type, int quarter, const int is_high)
{
  if (type == KVASIR_TYPE_Q6_K)
    return quarter / 2 * 4 + quarter % 2 + 2 * is_high;
  return 2 * quarter + is_high;
}

INLINE __m256i
shift_lanes (__m256i x, int n_bits)
{
  return _mm256_srl_epi32 (x, _mm_cvtsi32_si128 (n_bits));
}

/* Scale and minimum of part @part of a run; only Q6_K has two. */
INLINE void
get_run_scales (const KvasirType type,
                const SideScales *s,
                int quarter,
                const int is_high,
                const int part,
                __m256 scales[2])
{
  const int run = get_run (type, quarter, is_high), first = quarter % 2 * 16;
  __m256 scale, min;

  if (type == KVASIR_TYPE_Q6_K)
    scale = min = spread_byte (shift_lanes (s->scales[run / 2], first), part);
  else
    {
      scale = spread_byte (shift_lanes (s->scales[quarter / 2], first), is_high);
      min = spread_byte (shift_lanes (s->mins[quarter / 2], first), is_high);
    }
  scales[0] = _mm256_mul_ps (scale, s->d);
  scales[1] = _mm256_mul_ps (min, s->dmin);
}

INLINE __m256i
shift_words (__m256i x, int n_bits)
{
  return _mm256_srl_epi16 (x, _mm_cvtsi32_si128 (n_bits));
}

/* Elements [4 j, 4 j + 4) of a run of each row as unsigned bytes. */
INLINE __m256i
load_four_elements (const KvasirType type,
                    const uint8_t *block,
                    int side,
                    int quarter,
                    const int is_high,
                    const int j)
{
  const int begin = type == KVASIR_TYPE_Q4_K ? 4 : type == KVASIR_TYPE_Q5_K ? 12 : 0;
  __m256i x = load_dwords (block, side, begin + 8 * quarter + j), y;

  x = is_high ? _mm256_srli_epi16 (x, 4) : x;
  switch (type)
    {
    case KVASIR_TYPE_Q4_K:
      return _mm256_and_si256 (x, _mm256_set1_epi8 (15));
    case KVASIR_TYPE_Q5_K:
      y = shift_words (load_dwords (block, side, 4 + j), 2 * quarter);
      return choose_bits (x, _mm256_slli_epi16 (y, is_high ? 3 : 4), 15, 31);
    default:
      y = shift_words (load_dwords (block, side, 32 + quarter / 2 * 8 + j), quarter % 2 * 2);
      return choose_bits (x, is_high ? y : _mm256_slli_epi16 (y, 4), 15, 63);
    }
}

/* A side as bytes, with the scales of each run; runs are @pitch floats apart. */
INLINE void
unpack_packed_k (const KvasirType type,
                 const uint8_t *block,
                 int side,
                 uint8_t *bytes,
                 float *scales[2],
                 const int pitch)
{
  const SideScales s = load_side_scales (type, block, side);
  const int n_parts = get_n_parts (type);

#pragma GCC unroll 1
  for (int quarter = 0; quarter < N_QUARTERS; quarter++)
    for (int is_high = 0; is_high < 2; is_high++)
      {
        const int run = get_run (type, quarter, is_high);
        for (int part = 0; part < n_parts; part++)
          {
            __m256 dm[2];
            get_run_scales (type, &s, quarter, is_high, part, dm);
            _mm256_store_ps (scales[0] + pitch * (run * n_parts + part), dm[0]);
            _mm256_store_ps (scales[1] + pitch * (run * n_parts + part), dm[1]);
          }
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++)
          _mm256_store_si256 ((void *) (bytes + 256 * run + 32 * j),
                              load_four_elements (type, block, side, quarter, is_high, j));
      }
}
