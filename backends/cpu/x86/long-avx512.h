/* backends/cpu/x86/long-avx512.h - products with the many tokens of a long step
 *
 * The scales of 16 or 32 elements cost a third of the time of a product: integer sums have to be
 * made floats and multiplied that often, on the ports that multiply integers too. Here the unpacked
 * weights of a tile are rounded once more, to bytes with one scale and one minimum per row and
 * group of 256 elements, and activations have one scale per 64, so that one multiplication is left
 * for each sixteen of the integers'. The error of logits becomes about that of a program that
 * rounds activations in blocks of 256, as is usual beside weights in blocks of 256. Included by
 * products-avx512.h.
 */
#pragma once

#include "backends/cpu/x86/tile-avx512.h"

#define GROUP KVASIR_ACT_GROUP
#define GROUP_BLOCKS (GROUP / 32)
/* Steps between the least and the greatest of a group; one less than bytes have, because factors
 * are rounded too. */
#define N_STEPS 254
/* Tokens whose sums fit into registers. */
#define LONG_TOKENS 6
/* Neighbouring blocks of activations with one scale. */
#define RUN_BLOCKS 2

/* Weights of eight bits keep theirs, as do those whose scales differ by powers of two: the smaller
 * ones of a group would lose too much. */
INLINE bool
is_long (const KvasirProduct *p, const KvasirType type)
{
  return p->acts.groups != NULL && type != KVASIR_TYPE_Q8_0 && type != KVASIR_TYPE_MXFP4;
}

/* The largest of the bytes that a type is unpacked to. */
INLINE int
get_largest_byte (const KvasirType type)
{
  switch (type)
    {
    case KVASIR_TYPE_Q2_K:
      return 3;
    case KVASIR_TYPE_Q3_K:
      return 7;
    case KVASIR_TYPE_Q5_0:
    case KVASIR_TYPE_Q5_1:
    case KVASIR_TYPE_Q5_K:
      return 31;
    case KVASIR_TYPE_Q6_K:
      return 63;
    case KVASIR_TYPE_IQ4_NL:
    case KVASIR_TYPE_IQ4_XS:
      return 128 + 113;
    default:
      return 15;
    }
}

/* What sixteen rows are between in a group. */
typedef struct
{
  __m512 least, greatest;
} Range;

INLINE Range
find_range (const KvasirType type, const float *d, const float *m, int64_t n_runs)
{
  const __m512 largest = _mm512_set1_ps ((float) get_largest_byte (type));
  Range range = { _mm512_load_ps (m), _mm512_load_ps (m) };

  for (int64_t i = 0; i < n_runs; i++)
    {
      __m512 a = _mm512_load_ps (m + TILE_ROWS * i);
      __m512 b = _mm512_fmadd_ps (_mm512_load_ps (d + TILE_ROWS * i), largest, a);
      range.least = _mm512_min_ps (range.least, _mm512_min_ps (a, b));
      range.greatest = _mm512_max_ps (range.greatest, _mm512_max_ps (a, b));
    }
  return range;
}

/* Bytes u become (u factor + offset) / 256, both words of a lane alike. */
INLINE __m512i
round_again (__m512i u, __m512i factor, __m512i offset)
{
  const __m512i low = _mm512_set1_epi16 (255);
  __m512i even = _mm512_mullo_epi16 (_mm512_and_si512 (u, low), factor);
  __m512i odd = _mm512_mullo_epi16 (_mm512_srli_epi16 (u, 8), factor);

  even = _mm512_srli_epi16 (_mm512_add_epi16 (even, offset), 8);
  odd = _mm512_andnot_si512 (low, _mm512_add_epi16 (odd, offset));
  return _mm512_or_si512 (even, odd);
}

INLINE __m512i
double_words (__m512 x)
{
  __m512i words = _mm512_and_si512 (_mm512_cvtps_epi32 (x), _mm512_set1_epi32 (0xffff));

  return _mm512_or_si512 (words, _mm512_slli_epi32 (words, 16));
}

/* Sixteen rows of a group of @n_blocks blocks; @d and @m begin at its first run. */
INLINE Range
round_group (
    const KvasirType type, uint8_t *bytes, const float *d, const float *m, int64_t n_blocks)
{
  const int n_parts = get_n_parts (type), n = 8 / n_parts;
  const __m512 one = _mm512_set1_ps (256);
  Range range = find_range (type, d, m, n_blocks * n_parts);
  __m512 width = _mm512_sub_ps (range.greatest, range.least);
  __mmask16 is_wide = _mm512_cmp_ps_mask (width, _mm512_set1_ps (1e-30f), _CMP_GT_OQ);
  __m512 factor = _mm512_maskz_div_ps (is_wide, _mm512_set1_ps (256 * N_STEPS), width);

  for (int64_t i = 0; i < n_blocks * n_parts; i++)
    {
      __m512 above = _mm512_sub_ps (_mm512_load_ps (m + TILE_ROWS * i), range.least);
      __m512i a = double_words (_mm512_mul_ps (_mm512_load_ps (d + TILE_ROWS * i), factor));
      __m512i b = double_words (
          _mm512_fmadd_ps (above, factor, _mm512_mul_ps (one, _mm512_set1_ps (0.5f))));
#pragma GCC unroll 8
      for (int j = 0; j < n; j++, bytes += 64)
        _mm512_store_si512 (bytes, round_again (_mm512_load_si512 (bytes), a, b));
    }
  return range;
}

/* A whole tile. Scales and minimums of the groups replace those of the runs. */
INLINE void
round_tile (const KvasirType type, const Tile *tile)
{
  const int n_parts = get_n_parts (type);

  for (int64_t b = 0; b < tile->n_blocks; b += GROUP_BLOCKS)
    for (int half = 0; half < 2; half++)
      {
        int64_t n = tile->n_blocks - b < GROUP_BLOCKS ? tile->n_blocks - b : GROUP_BLOCKS;
        int64_t from = b * n_parts * TILE_ROWS + 16 * half;
        int64_t to = b / GROUP_BLOCKS * TILE_ROWS + 16 * half;
        Range range = round_group (type, tile->bytes + (tile->n_blocks * half + b) * 512,
                                   tile->d + from, tile->m + from, n);
        __m512 width = _mm512_sub_ps (range.greatest, range.least);
        _mm512_store_ps (tile->d + to, _mm512_mul_ps (width, _mm512_set1_ps (1.0f / N_STEPS)));
        _mm512_store_ps (tile->m + to, range.least);
      }
}

/* The intrinsic, which lets gcc 12 keep sums in other registers than it adds to: it then moves and
 * spills half of them in every round. */
INLINE void
add_dots (__m512i *sums, __m512i bytes, __m512i x)
{
  __asm__("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(bytes), "v"(x));
}

/* Integer sums of two times sixteen rows with @n tokens over @n_blocks blocks. */
INLINE void
multiply_run (const uint8_t *const bytes[2],
              const int8_t *q,
              int64_t k,
              int64_t n_blocks,
              const int n,
              __m512i dots[2][LONG_TOKENS])
{
  /* Three tokens are reached from one address. */
  const int8_t *from[2] = { q, q + 3 * k };

  for (int t = 0; t < n; t++)
    dots[0][t] = dots[1][t] = _mm512_setzero_si512 ();
  for (int64_t at = 0; at < n_blocks * 512; at += 512)
    {
#pragma GCC unroll 8
      for (int j = 0; j < 8; j++)
        {
          __m512i w0 = _mm512_load_si512 (bytes[0] + at + 64 * j);
          __m512i w1 = _mm512_load_si512 (bytes[1] + at + 64 * j);
#pragma GCC unroll 6
          for (int t = 0; t < n; t++)
            {
              int four;
              memcpy (&four, from[t / 3] + t % 3 * k + 4 * j, sizeof four);
              __m512i x = _mm512_set1_epi32 (four);
              add_dots (&dots[0][t], w0, x);
              add_dots (&dots[1][t], w1, x);
            }
        }
      from[0] += 32;
      from[1] += 32;
    }
}

/* A tile of rows with some tokens, and a group of its blocks. */
typedef struct
{
  const KvasirProduct *p;
  const KvasirProductPart *rows;
  const Tile *tile;
  int64_t token;
  int64_t n_stored; /* tokens that are there */
  int64_t block;
  int64_t n_blocks;
} LongGroup;

/* Sums of the group, scaled as the activations are. */
INLINE void
multiply_group (const LongGroup *g, const int n, __m512 sums[2][LONG_TOKENS])
{
  const int64_t n_all = g->tile->n_blocks, k = g->p->k;
  const float *scales = g->p->acts.d + g->token * n_all + g->block;
  const int8_t *q = g->p->acts.q + g->token * k + g->block * 32;
  const uint8_t *bytes[2] = { g->tile->bytes + g->block * 512,
                              g->tile->bytes + (n_all + g->block) * 512 };
  __m512i dots[2][LONG_TOKENS];

  for (int t = 0; t < n; t++)
    sums[0][t] = sums[1][t] = _mm512_setzero_ps ();
  for (int64_t b = 0; b < g->n_blocks; b += RUN_BLOCKS)
    {
      int64_t left = g->n_blocks - b;
      multiply_run (bytes, q + b * 32, k, left < RUN_BLOCKS ? left : RUN_BLOCKS, n, dots);
      bytes[0] += RUN_BLOCKS * 512;
      bytes[1] += RUN_BLOCKS * 512;
#pragma GCC unroll 6
      for (int t = 0; t < n; t++)
        {
          __m512 scale = _mm512_set1_ps (scales[t * n_all + b]);
          for (int h = 0; h < 2; h++)
            sums[h][t] = _mm512_fmadd_ps (_mm512_cvtepi32_ps (dots[h][t]), scale, sums[h][t]);
        }
    }
}

INLINE void
add_group (const LongGroup *g, const int n)
{
  const KvasirProduct *p = g->p;
  const int64_t n_groups = (g->tile->n_blocks + GROUP_BLOCKS - 1) / GROUP_BLOCKS;
  const int64_t at = g->block / GROUP_BLOCKS;
  const float *x_sums = p->acts.groups + g->token * n_groups + at;
  __m512 sums[2][LONG_TOKENS];

  multiply_group (g, n, sums);
#pragma GCC unroll 2
  for (int h = 0; h < 2; h++)
    {
      int64_t row = g->rows->row + 16 * h, left = g->rows->row_end - row;
      int lanes = left < 0 ? 0 : left < 16 ? (int) left : 16;
      __m512 d = _mm512_load_ps (g->tile->d + at * TILE_ROWS + 16 * h);
      __m512 m = _mm512_load_ps (g->tile->m + at * TILE_ROWS + 16 * h);
      __m512 first = p->bias ? vec_load_n (p->bias + row, lanes) : vec_set1 (0);
#pragma GCC unroll 6
      for (int t = 0; t < n; t++)
        {
          float *dst = p->dst + (size_t) (g->token + t) * p->dst_stride + row;
          if (t >= g->n_stored)
            break;
          __m512 sum = g->block > 0 ? vec_load_n (dst, lanes) : first;
          sum = _mm512_fmadd_ps (m, _mm512_set1_ps (x_sums[t * n_groups]), sum);
          vec_store_n (dst, _mm512_fmadd_ps (d, sums[h][t], sum), lanes);
        }
    }
}

/* Parts begin at even tokens, so that the padding of the activations is enough for an odd end. */
static void
multiply_long (const KvasirProduct *p, const KvasirProductPart *rows, const Tile *tile)
{
  LongGroup g = { .p = p, .rows = rows, .tile = tile };

  for (; g.block < tile->n_blocks; g.block += GROUP_BLOCKS)
    {
      int64_t left = tile->n_blocks - g.block;
      g.n_blocks = left < GROUP_BLOCKS ? left : GROUP_BLOCKS;
      fetch_tile (tile, 1, g.block, g.n_blocks);
      for (g.token = rows->token; g.token < rows->token_end; g.token += LONG_TOKENS)
        {
          g.n_stored = rows->token_end - g.token;
          if (g.n_stored > 4)
            add_group (&g, 6);
          else if (g.n_stored > 2)
            add_group (&g, 4);
          else
            add_group (&g, 2);
        }
    }
}

/* Packing works inside quarters; their groups of four are put back in order. */
INLINE __m512i
pack_sixty_four (const __m512i q[4], __m512i order)
{
  __m512i low = _mm512_packs_epi32 (q[0], q[1]), high = _mm512_packs_epi32 (q[2], q[3]);
  __m512i bytes = _mm512_max_epi8 (_mm512_packs_epi16 (low, high), _mm512_set1_epi8 (-127));

  return _mm512_permutexvar_epi32 (order, bytes);
}

/* Sums of each sixteen of 256 bytes. */
INLINE __m512i
sum_sixteens (const __m512i q[4], __m512i order)
{
  __m512i s[4];

  for (int i = 0; i < 4; i++)
    s[i] = _mm512_dpbusd_epi32 (_mm512_setzero_si512 (), _mm512_set1_epi8 (1), q[i]);
  __m512i a =
      _mm512_add_epi32 (_mm512_unpacklo_epi32 (s[0], s[1]), _mm512_unpackhi_epi32 (s[0], s[1]));
  __m512i b =
      _mm512_add_epi32 (_mm512_unpacklo_epi32 (s[2], s[3]), _mm512_unpackhi_epi32 (s[2], s[3]));
  __m512i sums = _mm512_add_epi32 (_mm512_unpacklo_epi64 (a, b), _mm512_unpackhi_epi64 (a, b));
  return _mm512_permutexvar_epi32 (order, sums);
}

/* The largest magnitudes of each sixty-four of 256 elements, in every quarter. */
INLINE __m512
find_largest (const __m512 v[16])
{
  __m512 max[4];

  for (int i = 0; i < 4; i++)
    max[i] =
        _mm512_max_ps (_mm512_max_ps (_mm512_abs_ps (v[4 * i]), _mm512_abs_ps (v[4 * i + 1])),
                       _mm512_max_ps (_mm512_abs_ps (v[4 * i + 2]), _mm512_abs_ps (v[4 * i + 3])));
  __m512 a =
      _mm512_max_ps (_mm512_unpacklo_ps (max[0], max[1]), _mm512_unpackhi_ps (max[0], max[1]));
  __m512 b =
      _mm512_max_ps (_mm512_unpacklo_ps (max[2], max[3]), _mm512_unpackhi_ps (max[2], max[3]));
  __m512 c = _mm512_max_ps (_mm512_shuffle_ps (a, b, 0x44), _mm512_shuffle_ps (a, b, 0xee));
  c = _mm512_max_ps (c, _mm512_shuffle_f32x4 (c, c, 0x4e));
  return _mm512_max_ps (c, _mm512_shuffle_f32x4 (c, c, 0xb1));
}

/* A group of at most 256 elements, rounded to nearest: the sums that are wanted. */
INLINE float
quantize_group (const float *x, const int n, int8_t *bytes, float *d, float *s, float *s16)
{
  const __m512i order = _mm512_setr_epi32 (0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const __m512i runs = _mm512_setr_epi32 (0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
  const __m512 steps = _mm512_set1_ps (127);
  __m512 v[16];
  __m512i q[4];

#pragma GCC unroll 16
  for (int j = 0; j < 16; j++)
    v[j] = _mm512_maskz_loadu_ps (16 * j < n ? 0xffff : 0, x + 16 * j);
  __m512 largest = find_largest (v);
  __mmask16 is_there = _mm512_cmp_ps_mask (largest, _mm512_set1_ps (1e-30f), _CMP_GT_OQ);
  __m512 factors = _mm512_maskz_div_ps (is_there, steps, largest);
  __m512 scales = _mm512_permutexvar_ps (runs, _mm512_div_ps (largest, steps));
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    {
      __m512 factor = _mm512_permutexvar_ps (_mm512_set1_epi32 (i), factors);
      __m512i four[4];
      for (int c = 0; c < 4; c++)
        four[c] = _mm512_cvtps_epi32 (_mm512_mul_ps (v[4 * i + c], factor));
      q[i] = pack_sixty_four (four, order);
      __mmask64 there = n >= 64 * i + 64 ? ~0ULL : n > 64 * i ? 0xffffffff : 0;
      _mm512_mask_storeu_epi8 (bytes + 64 * i, there, q[i]);
    }
  __m512 sums = _mm512_mul_ps (_mm512_cvtepi32_ps (sum_sixteens (q, order)), scales);
  __mmask16 sixteens = (__mmask16) ((1u << n / 16) - 1);
  __mmask8 blocks = (__mmask8) ((1u << n / 32) - 1);
  /* Of pairs, and then every second one. */
  __m512 pairs = _mm512_add_ps (sums, _mm512_movehdup_ps (sums));
  _mm512_mask_storeu_ps (s16, sixteens, sums);
  _mm256_mask_storeu_ps (s, blocks,
                         _mm256_castsi256_ps (_mm512_cvtepi64_epi32 (_mm512_castps_si512 (pairs))));
  _mm256_mask_storeu_ps (
      d, blocks, _mm256_castsi256_ps (_mm512_cvtepi64_epi32 (_mm512_castps_si512 (scales))));
  return _mm512_reduce_add_ps (sums);
}

static void
quantize_groups (const float *x, int64_t k, KvasirActs acts)
{
  for (int64_t i = 0; i < k; i += GROUP)
    {
      int n = k - i < GROUP ? (int) (k - i) : GROUP;
      float *sum = acts.groups + i / GROUP;
      /* Most groups are whole: a constant for the compiler. */
      if (n == GROUP)
        *sum = quantize_group (x + i, GROUP, acts.q + i, acts.d + i / 32, acts.s + i / 32,
                               acts.s16 + i / 16);
      else
        *sum = quantize_group (x + i, n, acts.q + i, acts.d + i / 32, acts.s + i / 32,
                               acts.s16 + i / 16);
    }
}

static void
quantize_any (const float *x, int64_t k, KvasirActs acts)
{
  if (acts.groups != NULL)
    quantize_groups (x, k, acts);
  else
    quantize (x, k, acts);
}
