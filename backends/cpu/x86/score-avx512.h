/* backends/cpu/x86/score-avx512.h - few queries and a tile of keys of Q8_0, as integers
 *
 * Queries count as rounded to blocks of Q8_0, so nothing more is lost. Lanes are rows. Needs
 * AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/sixteen-avx512.h"

/* A block of a query: q d, and what the 128 added to each key must be made up with. */
typedef struct
{
  int8_t q[32];
  float d;
  int offset;
} QueryBlock;

INLINE void
round_query (const float *x, QueryBlock *block)
{
  __m512 a = _mm512_loadu_ps (x), b = _mm512_loadu_ps (x + 16);
  float largest = _mm512_reduce_max_ps (_mm512_max_ps (_mm512_abs_ps (a), _mm512_abs_ps (b)));
  __m512 factor = _mm512_set1_ps (largest > 1e-30f ? 127 / largest : 0);
  __m512i low = _mm512_cvtps_epi32 (_mm512_mul_ps (a, factor));
  __m512i high = _mm512_cvtps_epi32 (_mm512_mul_ps (b, factor));

  _mm_storeu_si128 ((void *) block->q, _mm512_cvtsepi32_epi8 (low));
  _mm_storeu_si128 ((void *) (block->q + 16), _mm512_cvtsepi32_epi8 (high));
  block->d = largest / 127;
  block->offset = -128 * _mm512_reduce_add_epi32 (_mm512_add_epi32 (low, high));
}

/* Block @b of sixteen rows from @row on. */
INLINE void
add_scores (const KvasirTileProduct *p, int b, int row, const QueryBlock *queries)
{
  const uint8_t *rows[16];
  __m512i u[8];

  for (int i = 0; i < 16; i++)
    {
      rows[i] = p->rows + (size_t) (row + i) * p->stride + (size_t) b * sizeof (KvasirBlockQ8_0);
      if (b == 0)
        fetch_next (p, row + i);
    }
  load_interleaved (rows, 2, u);
  load_interleaved (rows, 18, u + 4);
  for (int j = 0; j < 8; j++)
    u[j] = _mm512_xor_si512 (u[j], _mm512_set1_epi8 ((char) 128));
  __m512 d = _mm512_cvtph_ps (_mm512_cvtepi32_epi16 (load_dwords (rows, 0)));
  for (int i = 0; i < p->n; i++)
    {
      float *out = p->out + i * KVASIR_TILE + row;
      const uint8_t *q = (const uint8_t *) queries[i].q;
      __m512i dots[2] = { _mm512_set1_epi32 (queries[i].offset), _mm512_setzero_si512 () };
      for (int j = 0; j < 8; j++)
        dots[j % 2] =
            _mm512_dpbusd_epi32 (dots[j % 2], u[j], _mm512_set1_epi32 (load_dword (q + 4 * j)));
      __m512 dot = _mm512_cvtepi32_ps (_mm512_add_epi32 (dots[0], dots[1]));
      __m512 before = b > 0 ? _mm512_loadu_ps (out) : _mm512_setzero_ps ();
      __m512 scale = _mm512_mul_ps (d, _mm512_set1_ps (queries[i].d));
      _mm512_storeu_ps (out, _mm512_fmadd_ps (dot, scale, before));
    }
}

static void
score_q8_0 (const KvasirTileProduct *p)
{
  QueryBlock queries[KVASIR_FEW_QUERIES];

  for (int b = 0; b < p->width / 32; b++)
    {
      for (int i = 0; i < p->n; i++)
        round_query (p->in + (size_t) i * (size_t) p->width + 32 * b, &queries[i]);
      for (int row = 0; row < KVASIR_TILE; row += 16)
        add_scores (p, b, row, queries);
    }
}
