/* backends/cpu/x86/tile.h - a tile of rows of weights, unpacked once for many tokens
 *
 * Included by the files of both instruction sets, which say how many rows a tile has.
 */
#pragma once

#include "backends/cpu/x86/blocks-k-x86.h"

typedef struct
{
  uint8_t *bytes; /* rows side by side, four bytes of each, as the products say */
  float *d;       /* [n_blocks][n_parts][TILE_ROWS] */
  float *m;       /* likewise */
  /* While this tile is unpacked and multiplied with its first tokens, the next one is fetched: so
   * many streams are too much for the processor to see by itself. */
  const uint8_t *next;
  size_t next_bytes; /* half of what belongs to each block */
  int64_t n_blocks;
  int64_t first_token;
} Tile;

/* A part of the first or of the second half of the next tile. */
INLINE void
fetch_tile (const Tile *tile, int half, int64_t b, int64_t n)
{
  const uint8_t *from = tile->next + (size_t) (tile->n_blocks * half + b) * tile->next_bytes;

  for (size_t at = 0; at < (size_t) n * tile->next_bytes; at += 64)
    _mm_prefetch ((const char *) from + at, _MM_HINT_T1);
}

/* Adds blocks [b, end) of a tile; those from 0 on come first, and with them the bias. */
typedef void (*MultiplyFn) (const KvasirProduct *p,
                            const KvasirProductPart *part,
                            const Tile *tile,
                            int64_t b,
                            int64_t end);
