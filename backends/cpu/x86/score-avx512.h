/* backends/cpu/x86/score-avx512.h - few queries and a tile of keys of Q8_0, as integers
 *
 * Queries count as rounded to blocks of Q8_0, so nothing more is lost. Lanes are rows. Needs
 * AVX-512 VNNI.
 */
#pragma once

#include "backends/cpu/x86/sixteen-avx512.h"

/* Sixteen rows and n queries. */
INLINE void
score_blocks (const uint8_t *data,
              size_t stride,
              int width,
              const float *queries,
              const int n,
              Fetch *f,
              float *out)
{
  const uint8_t *rows[16];
  const int n_blocks = width / 32;
  __m512 sums[4];

  for (int i = 0; i < 16; i++)
    rows[i] = data + (size_t) i * stride;
  for (int i = 0; i < n; i++)
    sums[i] = _mm512_setzero_ps ();
  for (int b = 0; b < n_blocks; b++)
    {
      const size_t at = (size_t) b * sizeof (KvasirBlockQ8_0);
      Sixteen s;
      load_interleaved (rows, at + 2, s.u);
      load_interleaved (rows, at + 18, s.u + 4);
      for (int j = 0; j < 8; j++)
        s.u[j] = _mm512_xor_si512 (s.u[j], _mm512_set1_epi8 ((char) 128));
      s.d = _mm512_cvtph_ps (_mm512_cvtepi32_epi16 (load_dwords (rows, at)));
      /* A block's share of the sixteen rows that are fetched. */
      for (int row = 16 * b / n_blocks; row < 16 * (b + 1) / n_blocks; row++)
        fetch (f);
      for (int i = 0; i < n; i++)
        {
          const KvasirQueryBlock *query =
              (const KvasirQueryBlock *) (const void *) (queries + i * width) + b;
          const uint8_t *q = (const uint8_t *) query->q;
          __m512i dots[2] = { _mm512_set1_epi32 (query->offset), _mm512_setzero_si512 () };
#pragma GCC unroll 8
          for (int j = 0; j < 8; j++)
            dots[j % 2] = _mm512_dpbusd_epi32 (dots[j % 2], s.u[j],
                                               _mm512_set1_epi32 (load_dword (q + 4 * j)));
          __m512 dot = _mm512_cvtepi32_ps (_mm512_add_epi32 (dots[0], dots[1]));
          sums[i] = _mm512_fmadd_ps (dot, _mm512_mul_ps (s.d, _mm512_set1_ps (query->d)), sums[i]);
        }
    }
  for (int i = 0; i < n; i++)
    _mm512_storeu_ps (out + i * KVASIR_TILE, sums[i]);
}

INLINE void
score_head_q8_0 (const KvasirTileProduct *p, int row, int head, Fetch *f)
{
  const uint8_t *rows = p->rows + (size_t) row * p->stride + (size_t) head * p->head_bytes;
  const float *queries = p->in + (size_t) head * p->in_stride;
  float *out = p->out + (size_t) head * p->out_stride + row;

  for (int left = p->n; left > 0;
       left -= 4, queries += 4 * p->width, out += 4 * KVASIR_TILE, f = NULL)
    switch (left)
      {
      case 1:
        score_blocks (rows, p->stride, p->width, queries, 1, f, out);
        break;
      case 2:
        score_blocks (rows, p->stride, p->width, queries, 2, f, out);
        break;
      case 3:
        score_blocks (rows, p->stride, p->width, queries, 3, f, out);
        break;
      default:
        score_blocks (rows, p->stride, p->width, queries, 4, f, out);
        break;
      }
}

static void
score_q8_0 (const KvasirTileProduct *p)
{
  Fetch f = fetch_begin (p);

  for (int row = 0; row < KVASIR_TILE; row += BLOCK_ROWS)
    for (int head = 0; head < p->n_heads; head++)
      score_head_q8_0 (p, row, head, &f);
}
