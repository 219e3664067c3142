/* backends/cpu/x86/sixteen-k-avx512.h - a block of 256 of sixteen rows side by side
 *
 * As sixteen-avx512.h, for Q4_K, Q5_K and Q6_K: vector j of a block has its dword j of all rows,
 * and the sums of a row stay in its lane. Rows as they lie in the file are turned into such a
 * block first. Needs AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/sixteen-avx512.h"

#define MAX_SIXTEEN_K (16 * sizeof (KvasirBlockQ6K))

INLINE bool
is_sixteen_k (const KvasirType type)
{
  return type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K || type == KVASIR_TYPE_Q6_K;
}

INLINE __m512i
load_vector (const uint8_t *block, int i)
{
  return _mm512_loadu_si512 (block + 64 * i);
}

/* The order of packed.h. */
INLINE void
turn_sixteen_k (const KvasirType type, const uint8_t *const rows[16], uint8_t *block)
{
  const size_t size = get_k_block_bytes (type);
  __m512i four[4];

  for (size_t at = 0; at + 16 <= size; at += 16)
    {
      load_interleaved (rows, at, four);
      for (size_t i = 0; i < 4; i++)
        _mm512_storeu_si512 (block + 16 * at + 64 * i, four[i]);
    }
  for (size_t i = 0; i < 16 && type == KVASIR_TYPE_Q6_K; i++)
    memcpy (block + 16 * (size - 2) + 2 * i, rows[i] + size - 2, 2);
}

/* What the scales of a block are made of; d and dmin are 2^-24 of what they are. */
typedef struct
{
  __m512 d, dmin; /* dmin negative */
  __m512i scales[4];
  __m512i mins[4];
} SixteenScales;

INLINE __m512
load_small_halves (__m256i halves, const float factor)
{
  return _mm512_mul_ps (_mm512_cvtph_ps (halves), _mm512_set1_ps (factor * 0x1p-24f));
}

/* The bits of @mask in each byte of @low, the others out of those of @high. */
INLINE __m512i
choose_bits (__m512i low, __m512i high, const int mask)
{
  return _mm512_ternarylogic_epi32 (_mm512_set1_epi8 ((char) mask), low, high, 0xca);
}

INLINE SixteenScales
load_sixteen_scales (const KvasirType type, const uint8_t *block)
{
  const __m512i six = _mm512_set1_epi8 (63);
  SixteenScales s;

  if (type == KVASIR_TYPE_Q6_K)
    {
      __m256i halves = _mm256_loadu_si256 ((const void *) (block + 64 * 52));
      s.d = load_small_halves (halves, 1);
      s.dmin = load_small_halves (halves, (float) -get_k_offset (type));
      for (int i = 0; i < 4; i++)
        s.scales[i] = s.mins[i] = load_vector (block, 48 + i);
      return s;
    }
  __m512i halves = load_vector (block, 0), a = load_vector (block, 1), b = load_vector (block, 2);
  __m512i c = load_vector (block, 3);
  s.d = load_small_halves (_mm512_cvtepi32_epi16 (halves), 1);
  s.dmin = load_small_halves (_mm512_cvtepi32_epi16 (_mm512_srli_epi32 (halves, 16)), -1);
  s.scales[0] = _mm512_and_si512 (a, six);
  s.mins[0] = _mm512_and_si512 (b, six);
  s.scales[1] = _mm512_and_si512 (choose_bits (c, _mm512_srli_epi16 (a, 2), 15), six);
  s.mins[1] =
      _mm512_and_si512 (choose_bits (_mm512_srli_epi16 (c, 4), _mm512_srli_epi16 (b, 2), 15), six);
  return s;
}

/* Byte @i of each lane, 2^24 times as large: at the top of the lane it keeps its sign. */
INLINE __m512
spread_byte (__m512i bytes, const int i)
{
  const __m512i first = _mm512_set4_epi32 (0x0c808080, 0x08808080, 0x04808080, 0x00808080);

  return _mm512_cvtepi32_ps (
      _mm512_shuffle_epi8 (bytes, _mm512_add_epi32 (first, _mm512_set1_epi32 (i << 24))));
}

/* Scale and minimum of run @i of all rows. */
INLINE void
get_run_scales (const KvasirType type, const SixteenScales *s, const int i, __m512 *d, __m512 *m)
{
  __m512 scale = spread_byte (s->scales[i / 4], i % 4);

  *d = _mm512_mul_ps (scale, s->d);
  *m = _mm512_mul_ps (spread_byte (s->mins[i / 4], i % 4), s->dmin);
}

/* The bits of words moved up by @up, or down by -@up. */
INLINE __m512i
move_bits (__m512i x, const int up)
{
  if (up > 0)
    return _mm512_slli_epi16 (x, (unsigned) up);
  return up < 0 ? _mm512_srli_epi16 (x, (unsigned) -up) : x;
}

/* Elements [32 i + 4 j, 32 i + 4 j + 4) of each row as unsigned bytes. */
INLINE __m512i
load_four_elements (const KvasirType type, const uint8_t *block, const int i, const int j)
{
  __m512i x, y;

  switch (type)
    {
    case KVASIR_TYPE_Q4_K:
      x = move_bits (load_vector (block, 4 + i / 2 * 8 + j), i % 2 * -4);
      return _mm512_and_si512 (x, _mm512_set1_epi8 (15));
    case KVASIR_TYPE_Q5_K:
      x = move_bits (load_vector (block, 12 + i / 2 * 8 + j), i % 2 * -4);
      y = move_bits (load_vector (block, 4 + j), 4 - i);
      return _mm512_and_si512 (choose_bits (x, y, 15), _mm512_set1_epi8 (31));
    default:
      x = move_bits (load_vector (block, i / 4 * 16 + i % 2 * 8 + j), i % 4 / 2 * -4);
      y = move_bits (load_vector (block, 32 + i / 4 * 8 + j), 4 - i % 4 * 2);
      return _mm512_and_si512 (choose_bits (x, y, 15), _mm512_set1_epi8 (63));
    }
}

/* Blocks of 32 that are taken together, which differ from those before and behind by where they lie
 * alone. */
INLINE int
get_turn_blocks (const KvasirType type)
{
  return type == KVASIR_TYPE_Q6_K ? 4 : 2;
}

typedef struct
{
  const uint8_t *low;  /* vectors with four bits of each element */
  const uint8_t *high; /* with more of them */
  __m512i rotation;    /* Q5_K: of the first block's highest bits to where they belong */
} SixteenTurn;

INLINE SixteenTurn
begin_turn (const KvasirType type, const uint8_t *block)
{
  switch (type)
    {
    case KVASIR_TYPE_Q4_K:
      return (SixteenTurn){ .low = block + 64 * 4 };
    case KVASIR_TYPE_Q5_K:
      return (SixteenTurn){ block + 64 * 12, block + 64 * 4, _mm512_set1_epi32 (4) };
    default:
      return (SixteenTurn){ .low = block, .high = block + 64 * 32 };
    }
}

INLINE void
next_turn (const KvasirType type, SixteenTurn *turn)
{
  turn->low += type == KVASIR_TYPE_Q6_K ? 64 * 16 : 64 * 8;
  if (type == KVASIR_TYPE_Q5_K)
    turn->rotation = _mm512_sub_epi32 (turn->rotation, _mm512_set1_epi32 (2));
  if (type == KVASIR_TYPE_Q6_K)
    turn->high += 64 * 8;
}

/* Elements [32 i + 4 j, 32 i + 4 j + 4) of each row. */
INLINE __m512i
load_four_of_turn (const KvasirType type, const SixteenTurn *turn, const int i, const int j)
{
  __m512i x, y;

  switch (type)
    {
    case KVASIR_TYPE_Q4_K:
      x = move_bits (load_vector (turn->low, j), i * -4);
      return _mm512_and_si512 (x, _mm512_set1_epi8 (15));
    case KVASIR_TYPE_Q5_K:
      x = move_bits (load_vector (turn->low, j), i * -4);
      y = _mm512_sub_epi32 (turn->rotation, _mm512_set1_epi32 (i));
      y = _mm512_rolv_epi32 (load_vector (turn->high, j), y);
      return _mm512_and_si512 (choose_bits (x, y, 15), _mm512_set1_epi8 (31));
    default:
      x = move_bits (load_vector (turn->low, i % 2 * 8 + j), i / 2 * -4);
      y = move_bits (load_vector (turn->high, j), 4 - i * 2);
      return _mm512_and_si512 (choose_bits (x, y, 15), _mm512_set1_epi8 (63));
    }
}

/* Scales and minimums of all runs. */
INLINE void
spread_scales (const KvasirType type, const uint8_t *block, __m512 scales[16][2])
{
  const SixteenScales s = load_sixteen_scales (type, block);

#pragma GCC unroll 16
  for (int run = 0; run < 8 * get_n_parts (type); run++)
    get_run_scales (type, &s, run, &scales[run][0], &scales[run][1]);
}
