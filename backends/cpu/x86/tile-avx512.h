/* backends/cpu/x86/tile-avx512.h - tiles of rows unpacked to bytes, from any quantised type
 *
 * Included by products-avx512.h.
 */
#pragma once

#include "backends/cpu/x86/few-k-avx512.h"
#include "backends/cpu/x86/sixteen-avx512.h"
#include "backends/cpu/x86/tile.h"

/* 32 rows of weights unpacked for vpdpbusd: 16 rows side by side, four bytes of each. */
#define TILE_ROWS 32
/* Blocks of a row multiplied at a time, so that the tile stays in the first cache. */
#define TILE_BLOCKS 24

/* One block of 16 rows. */
INLINE void
store_sixteen (const Sixteen *s, uint8_t *bytes, float *d, float *m)
{
  _mm512_store_ps (d, s->d);
  _mm512_store_ps (m, s->m);
#pragma GCC unroll 8
  for (int j = 0; j < 8; j++)
    _mm512_store_si512 (bytes + 64 * j, s->u[j]);
}

/* Sixteen lists of sixteen floats: those of a run of each row become neighbours. */
INLINE void
store_scales (const float *rows, const int n_runs, float *out)
{
  float runs[16 * 16] __attribute__ ((aligned (64)));

  vec_transpose (rows, 16, runs, 16);
  for (int i = 0; i < n_runs; i++)
    _mm512_store_ps (out + TILE_ROWS * i, _mm512_load_ps (runs + 16 * (16 / n_runs * i)));
}

/* One block of 256 of 16 rows as sixteen-k-avx512.h has them. */
INLINE void
unpack_sixteen_k (const KvasirType type, const uint8_t *block, uint8_t *bytes, float *d, float *m)
{
  const int n_parts = get_n_parts (type);
  const SixteenScales s = load_sixteen_scales (type, block);
  __m512 scale, min;

#pragma GCC unroll 16
  for (int run = 0; run < 8 * n_parts; run++)
    {
      get_run_scales (type, &s, run, &scale, &min);
      _mm512_store_ps (d + TILE_ROWS * run, scale);
      _mm512_store_ps (m + TILE_ROWS * run, min);
    }
#pragma GCC unroll 8
  for (int i = 0; i < 8; i++)
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++)
      _mm512_store_si512 (bytes + 512 * i + 64 * j, load_four_elements (type, block, i, j));
}

/* One block of 256 of 16 rows. */
INLINE void
unpack_k_block (
    const KvasirType type, const uint8_t *const rows[16], uint8_t *bytes, float *d, float *m)
{
  float ds[16 * 16] __attribute__ ((aligned (64))), ms[16 * 16] __attribute__ ((aligned (64)));
  __m512i u[16];

  for (int r = 0; r < 16; r++)
    {
      __m512 scale, min;
      load_k_scales (type, rows[r], &scale, &min);
      _mm512_store_ps (ds + 16 * r, scale);
      _mm512_store_ps (ms + 16 * r, min);
    }
  store_scales (ds, 8 * get_n_parts (type), d);
  store_scales (ms, 8 * get_n_parts (type), m);
#pragma GCC unroll 4
  for (int i = 0; i < 4; i++)
    {
      for (int r = 0; r < 16; r++)
        u[r] = load_64 (type, rows[r], i);
      /* Dwords are moved like floats. */
      vec_transpose ((const float *) (const void *) u, 16, (float *) (void *) (bytes + 1024 * i),
                     16);
    }
}

/* Two packed groups; the second one may be missing, what its copy gives is not stored. */
INLINE void
unpack_groups (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const int n_blocks = is_k_type (type) ? 8 : 1, n_parts = get_n_parts (type);
  const size_t size = is_k_type (type) ? get_k_block_bytes (type) : get_block_bytes (type);
  const uint8_t *block = p->weights + (size_t) row * p->weight_stride;
  const size_t second = row + 16 > last ? 0 : 16 * p->weight_stride;
  Sixteen s;

  for (int64_t b = 0; b < p->k / 32; b += n_blocks, block += 16 * size)
    {
      fetch_tile (tile, 0, b, n_blocks);
      for (int half = 0; half < 2; half++)
        {
          uint8_t *bytes = tile->bytes + (p->k / 32 * half + b) * 512;
          int64_t at = b * n_parts * TILE_ROWS + 16 * half;
          if (is_k_type (type))
            unpack_sixteen_k (type, block + (half ? second : 0), bytes, tile->d + at, tile->m + at);
          else
            {
              load_packed (type, block + (half ? second : 0), &s);
              store_sixteen (&s, bytes, tile->d + at, tile->m + at);
            }
        }
    }
}

/* Rows behind the last one are its copies; what they give is not stored. */
INLINE void
unpack_tile (const KvasirProduct *p, const KvasirType type, int64_t row, int64_t last, Tile *tile)
{
  const int n_blocks = is_k_type (type) ? 8 : 1, n_parts = get_n_parts (type);
  const size_t size = is_k_type (type) ? get_k_block_bytes (type) : get_block_bytes (type);
  uint8_t turned[MAX_SIXTEEN_K] __attribute__ ((aligned (64)));
  const uint8_t *rows[TILE_ROWS];
  Sixteen s;

  if (p->is_packed)
    {
      unpack_groups (p, type, row, last, tile);
      return;
    }
  for (int64_t i = 0; i < TILE_ROWS; i++)
    rows[i] = p->weights + (size_t) (row + i < last ? row + i : last) * p->weight_stride;
  for (int64_t b = 0; b < p->k / 32; b += n_blocks)
    {
      fetch_tile (tile, 0, b, n_blocks);
      for (int half = 0; half < 2; half++)
        {
          uint8_t *bytes = tile->bytes + (p->k / 32 * half + b) * 512;
          int64_t at = b * n_parts * TILE_ROWS + 16 * half;
          if (is_sixteen_k (type))
            {
              turn_sixteen_k (type, rows + 16 * half, turned);
              unpack_sixteen_k (type, turned, bytes, tile->d + at, tile->m + at);
            }
          else if (is_k_type (type))
            unpack_k_block (type, rows + 16 * half, bytes, tile->d + at, tile->m + at);
          else
            {
              load_sixteen (type, rows + 16 * half, &s);
              store_sixteen (&s, bytes, tile->d + at, tile->m + at);
            }
        }
      for (int i = 0; i < TILE_ROWS; i++)
        rows[i] += size;
    }
}
