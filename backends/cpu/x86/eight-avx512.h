/* backends/cpu/x86/eight-avx512.h - eight rows of IQ4_XS
 *
 * As few-avx512.h. Each quarter of a vector has 16 elements of one of four rows. So the 32 elements
 * of a scale are two vectors, whose products are summed as integers, the rows share the work on
 * their scales, and two fours of rows share the activations.
 */
#pragma once

#include "backends/cpu/x86/few-avx512.h"

#define FOUR 4
#define MAX_FOURS 2

/* Half a block of each row, 128 elements, as its bytes lie. */
typedef struct
{
  __m512i low[4];
} Columns;

INLINE __m512i
load_two_rows (const uint8_t *a, const uint8_t *b)
{
  __m512i x = _mm512_castsi256_si512 (_mm256_loadu_si256 ((const void *) a));

  return _mm512_inserti64x4 (x, _mm256_loadu_si256 ((const void *) b), 1);
}

/* 32 bytes of each row, in two vectors of 16. */
INLINE void
load_32_bytes (const uint8_t *const blocks[FOUR], size_t offset, __m512i out[2])
{
  __m512i a = load_two_rows (blocks[0] + offset, blocks[1] + offset);
  __m512i b = load_two_rows (blocks[2] + offset, blocks[3] + offset);

  out[0] = _mm512_shuffle_i32x4 (a, b, 0x88);
  out[1] = _mm512_shuffle_i32x4 (a, b, 0xdd);
}

/* The first 16 bytes of each row. */
INLINE __m512i
load_16_bytes (const uint8_t *const blocks[FOUR])
{
  __m256i a = _mm256_inserti128_si256 (_mm256_castsi128_si256 (load_16 (blocks[0])),
                                       load_16 (blocks[1]), 1);
  __m256i b = _mm256_inserti128_si256 (_mm256_castsi128_si256 (load_16 (blocks[2])),
                                       load_16 (blocks[3]), 1);

  return _mm512_inserti64x4 (_mm512_castsi256_si512 (a), b, 1);
}

INLINE void
load_columns (const uint8_t *const blocks[FOUR], int half, Columns *columns)
{
  const size_t qs = offsetof (KvasirBlockIq4Xs, qs) + 64 * (size_t) half;

  load_32_bytes (blocks, qs, columns->low);
  load_32_bytes (blocks, qs + 32, columns->low + 2);
}

/* Run @i of 32 elements as unsigned bytes. */
INLINE void
take_run (const Columns *columns, const int i, __m512i u[2])
{
  const __m512i table = _mm512_broadcast_i32x4 (_mm_loadu_si128 ((const void *) kvasir_iq4_values));

  for (int part = 0; part < 2; part++)
    {
      __m512i q = _mm512_and_si512 (_mm512_srli_epi16 (columns->low[i % 4], 4U * (unsigned) part),
                                    _mm512_set1_epi8 (15));
      u[part] = _mm512_xor_si512 (_mm512_shuffle_epi8 (table, q), _mm512_set1_epi8 ((char) 128));
    }
}

/* As get_iq4_xs_scales; the scales are minimums too. */
INLINE __m512i
get_nonlinear_scales (__m512i heads)
{
  const __m512i up = _mm512_broadcast_i32x4 (
      _mm_setr_epi16 (1 << 14, 1 << 12, 1 << 10, 1 << 8, 1 << 6, 1 << 4, 4, 1));
  __m512i nibbles = _mm512_bsrli_epi128 (heads, 4);
  __m512i low = _mm512_unpacklo_epi8 (nibbles, _mm512_srli_epi16 (nibbles, 4));
  __m512i high = _mm512_shuffle_epi8 (heads, _mm512_set1_epi16 (0x0302));

  low = _mm512_and_si512 (_mm512_unpacklo_epi8 (low, low), _mm512_set1_epi16 (15));
  high = _mm512_slli_epi16 (_mm512_srli_epi16 (_mm512_mullo_epi16 (high, up), 14), 4);
  low = _mm512_or_si512 (low, high);
  return _mm512_sub_epi8 (_mm512_packus_epi16 (low, low), _mm512_set1_epi8 (32));
}

/* Bytes 4 k ... 4 k + 3 of each quarter, 2^24 times as large: at the top of a lane they keep their
 * signs. */
INLINE __m512
spread_bytes (__m512i bytes, int k)
{
  const __m512i first = _mm512_set4_epi32 (0x03ffffff, 0x02ffffff, 0x01ffffff, 0x00ffffff);
  __m512i which = _mm512_add_epi32 (first, _mm512_set1_epi32 (k << 26));

  return _mm512_cvtepi32_ps (_mm512_shuffle_epi8 (bytes, which));
}

/* The first dword of each quarter. */
INLINE __m128i
gather_firsts (__m512i x)
{
  const __m512i which = _mm512_setr_epi32 (0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  return _mm512_castsi512_si128 (_mm512_permutexvar_epi32 (which, x));
}

/* Quarter q of vector k has scales and minimums 4 k ... 4 k + 3 of row q. */
typedef struct
{
  __m512 d[2];
  __m512 m[2]; /* to be subtracted */
} FourScales;

INLINE FourScales
load_four_scales (const uint8_t *const blocks[FOUR])
{
  const __m512i pairs = _mm512_setr_epi32 (0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4, 6, 6, 6, 6);
  const __m512 small = _mm512_set1_ps (0x1p-24f);
  const __m512 offset = _mm512_set1_ps ((float) get_k_offset (KVASIR_TYPE_IQ4_XS));
  __m512i heads = load_16_bytes (blocks);
  __m512i bytes = get_nonlinear_scales (heads);
  __m512 halves =
      _mm512_mul_ps (_mm512_castps256_ps512 (_mm256_cvtph_ps (gather_firsts (heads))), small);
  __m512 d = _mm512_permutexvar_ps (pairs, halves);
  FourScales s;

  for (int k = 0; k < 2; k++)
    {
      s.d[k] = _mm512_mul_ps (spread_bytes (bytes, k), d);
      s.m[k] = _mm512_mul_ps (s.d[k], offset);
    }
  return s;
}

/* Four rows, a quarter of each vector, and their sums with up to MAX_FEW tokens. */
typedef struct
{
  const uint8_t *rows[FOUR];
  __m512 sums[MAX_FEW];
  __m512 mins[MAX_FEW]; /* to be subtracted */
} Rows;

/* Neighbouring rows; what follows them is fetched in the order of the file. */
typedef struct
{
  const uint8_t *fetch;
  Rows fours[MAX_FOURS];
} Eight;

INLINE __m512
load_four_times (const float *p)
{
  return _mm512_broadcast_f32x4 (_mm_loadu_ps (p));
}

/* Adds the minimums of four blocks; returns what each run's integers are to be multiplied with. */
INLINE void
scale_four (const uint8_t *const blocks[FOUR],
            const FewActs *acts,
            int64_t b,
            const int n,
            Rows *rows,
            __m512 scales[MAX_FEW][2])
{
  FourScales s = load_four_scales (blocks);

  for (int t = 0; t < n; t++)
    for (int k = 0; k < 2; k++)
      {
        const int64_t at = 8 * b + 4 * k;
        scales[t][k] = _mm512_mul_ps (s.d[k], load_four_times (acts->d[t] + at));
        rows->mins[t] = _mm512_fmadd_ps (s.m[k], load_four_times (acts->s[t] + at), rows->mins[t]);
      }
}

/* Lane @i of each quarter. */
INLINE __m512
pick_lane (__m512 x, const int i)
{
  switch (i)
    {
    case 0:
      return _mm512_permute_ps (x, 0x00);
    case 1:
      return _mm512_permute_ps (x, 0x55);
    case 2:
      return _mm512_permute_ps (x, 0xaa);
    default:
      return _mm512_permute_ps (x, 0xff);
    }
}

/* 32 activations, for all quarters. */
INLINE void
load_32_acts (const int8_t *p, __m512i out[2])
{
  out[0] = _mm512_broadcast_i32x4 (load_16 (p));
  out[1] = _mm512_broadcast_i32x4 (load_16 (p + 16));
}

INLINE __m512
add_run (const __m512i u[2], const __m512i q[2], const __m512i fine[2], __m512 scale, __m512 sum)
{
  __m512i high = _mm512_dpbusd_epi32 (_mm512_setzero_si512 (), u[0], q[0]);

  high = _mm512_slli_epi32 (_mm512_dpbusd_epi32 (high, u[1], q[1]), 8);
  __m512i dot = _mm512_dpbusd_epi32 (_mm512_dpbusd_epi32 (high, u[0], fine[0]), u[1], fine[1]);
  return _mm512_fmadd_ps (_mm512_cvtepi32_ps (dot), scale, sum);
}

/* Block @b of 4 n_fours rows with n tokens. */
INLINE void
add_eight (const FewActs *acts, int64_t b, const int n, const int n_fours, Eight *eight)
{
  const size_t size = sizeof (KvasirBlockIq4Xs), step = (size_t) n_fours * FOUR * size;
  const uint8_t *blocks[MAX_FOURS][FOUR];
  __m512 scales[MAX_FOURS][MAX_FEW][2];
  Columns columns[MAX_FOURS];

  for (size_t at = 0; at < step; at += 64)
    _mm_prefetch ((const char *) eight->fetch + step * (size_t) b + at, _MM_HINT_T0);
  for (int h = 0; h < n_fours; h++)
    {
      for (int r = 0; r < FOUR; r++)
        blocks[h][r] = eight->fours[h].rows[r] + (size_t) b * size;
      scale_four (blocks[h], acts, b, n, &eight->fours[h], scales[h]);
    }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
    {
      __m512i u[MAX_FOURS][2], q[2], fine[2];
      for (int h = 0; h < n_fours; h++)
        {
          if (i % 4 == 0)
            load_columns (blocks[h], i / 4, &columns[h]);
          take_run (&columns[h], i, u[h]);
        }
      for (int t = 0; t < n; t++)
        {
          load_32_acts (acts->q[t] + 256 * b + 32 * i, q);
          load_32_acts (acts->fine[t] + 256 * b + 32 * i, fine);
          for (int h = 0; h < n_fours; h++)
            {
              __m512 *sum = &eight->fours[h].sums[t];
              *sum = add_run (u[h], q, fine, pick_lane (scales[h][t][i / 4], i % 4), *sum);
            }
        }
    }
}

/* Begins with up to 4 n_fours rows; the last of them stands in for those missing. */
INLINE Eight
begin_eight (const KvasirProduct *p, int64_t r, int64_t n_rows, const int n, const int n_fours)
{
  const uint8_t *row = p->weights + (size_t) r * p->weight_stride;
  Eight eight = { .fetch = row + FOUR * (size_t) n_fours * p->weight_stride + PREFETCH_BYTES };

  for (int i = 0; i < FOUR * n_fours; i++)
    eight.fours[i / FOUR].rows[i % FOUR] =
        row + (size_t) (i < n_rows ? i : n_rows - 1) * p->weight_stride;
  for (int h = 0; h < n_fours; h++)
    for (int t = 0; t < n; t++)
      eight.fours[h].sums[t] = eight.fours[h].mins[t] = _mm512_setzero_ps ();
  return eight;
}

/* The sums of four rows, at most @n_rows of them stored. */
INLINE void
store_four (const KvasirProduct *p, int64_t r, int64_t n_rows, int64_t token, __m512 x)
{
  const __mmask8 mask = (__mmask8) (n_rows < FOUR ? (1 << n_rows) - 1 : 15);

  x = _mm512_add_ps (x, _mm512_permute_ps (x, 0x4e));
  x = _mm512_add_ps (x, _mm512_permute_ps (x, 0xb1));
  __m128 sums = _mm_castsi128_ps (gather_firsts (_mm512_castps_si512 (x)));
  if (p->bias != NULL)
    sums = _mm_add_ps (sums, _mm_maskz_loadu_ps (mask, p->bias + r));
  _mm_mask_storeu_ps (p->dst + (size_t) token * p->dst_stride + r, mask, sums);
}

/* The rows of @part, 4 n_fours at a time, with n tokens from @token on. */
INLINE void
multiply_fours (const KvasirProduct *p,
                const KvasirProductPart *part,
                int64_t token,
                const int n,
                const int n_fours)
{
  FewActs acts = get_few_acts (p, token, n);

  for (int64_t r = part->row; r < part->row_end; r += FOUR * n_fours)
    {
      int64_t n_rows = part->row_end - r;
      Eight eight = begin_eight (p, r, n_rows, n, n_fours);
      for (int64_t b = 0; b < p->k / 256; b++)
        add_eight (&acts, b, n, n_fours, &eight);
      for (int h = 0; h < n_fours && FOUR * h < n_rows; h++)
        for (int t = 0; t < n; t++)
          store_four (p, r + FOUR * h, n_rows - FOUR * h, token + t,
                      _mm512_sub_ps (eight.fours[h].sums[t], eight.fours[h].mins[t]));
    }
}

/* Eight rows at a time with all tokens; more than one token and eight rows are too much for the
 * registers. */
INLINE void
multiply_eights (const KvasirProduct *p, const KvasirProductPart *part)
{
  for (int64_t r = part->row; r < part->row_end; r += MAX_FOURS * FOUR)
    {
      KvasirProductPart rows = { .row = r, .row_end = r + MAX_FOURS * FOUR };
      int64_t token = part->token;
      if (rows.row_end > part->row_end)
        rows.row_end = part->row_end;
      for (; token + 4 <= part->token_end; token += 4)
        multiply_fours (p, &rows, token, 4, 1);
      for (; token + 2 <= part->token_end; token += 2)
        multiply_fours (p, &rows, token, 2, 1);
      if (token < part->token_end)
        multiply_fours (p, &rows, token, 1, MAX_FOURS);
    }
}
