/* backends/cpu/x86/many-x86.h - many tokens with tiles of unpacked rows
 *
 * Included where TILE_ROWS, TILE_BLOCKS, unpack_tile and get_multiply of the instruction set are
 * known. HAS_LONG: so are is_long, round_tile and multiply_long.
 */
#pragma once

#include "backends/cpu/x86/tile.h"

INLINE void
multiply_rows (const KvasirProduct *p,
               const KvasirProductPart *rows,
               const KvasirType type,
               const Tile *tile)
{
#ifdef HAS_LONG
  if (is_long (p, type))
    {
      round_tile (type, tile);
      multiply_long (p, rows, tile);
      return;
    }
#endif
  for (int64_t b = 0; b < tile->n_blocks; b += TILE_BLOCKS)
    {
      int64_t end = b + TILE_BLOCKS < tile->n_blocks ? b + TILE_BLOCKS : tile->n_blocks;
      get_multiply (type) (p, rows, tile, b, end);
    }
}

INLINE void
int8_many (const KvasirProduct *p,
           const KvasirProductPart *part,
           const KvasirType type,
           uint8_t *scratch)
{
  int64_t n_blocks = p->k / 32;
  Tile tile = { .bytes = scratch, .n_blocks = n_blocks, .first_token = part->token };

  tile.d = (float *) (void *) (scratch + n_blocks * 32 * TILE_ROWS);
  tile.m = tile.d + n_blocks * get_n_parts (type) * TILE_ROWS;
  tile.next_bytes = TILE_ROWS / 2 * p->weight_stride / (size_t) n_blocks;
  for (int64_t row = part->row; row < part->row_end; row += TILE_ROWS)
    {
      KvasirProductPart rows = *part;
      rows.row = row;
      rows.row_end = row + TILE_ROWS < part->row_end ? row + TILE_ROWS : part->row_end;
      tile.next = p->weights + (size_t) (row + TILE_ROWS) * p->weight_stride;
      unpack_tile (p, type, row, rows.row_end - 1, &tile);
      multiply_rows (p, &rows, type, &tile);
    }
}
