/* backends/cpu/x86/tiles.h - what a tile configuration looks like, for AMX and its imitation
 *
 * Layout from Intel's manual, volume 1, chapter 18 (palette 1: eight tiles of at most 16 rows of 64
 * bytes). tiles-amx.h and tiles-emulated.h both give:
 *   Tiles                            what a thread's tiles are kept in
 *   tiles_configure (tiles, config)  sets the sizes, and all tiles to 0
 *   tiles_release (tiles)            back to no tiles at all
 *   TILE_ZERO (tiles, tile)
 *   TILE_LOAD (tiles, tile, from, stride)
 *   TILE_STORE (tiles, tile, to, stride)
 *   TILE_DP_SS, TILE_DP_SU (tiles, sums, a, b)
 *     sums[m][n] += sum over i < 4 and k of a[m][4 k + i] b[k][4 n + i], sums as int32, a signed
 *     bytes, b signed or unsigned ones
 * Numbers of tiles are part of an instruction, so that they must be literal: hence macros.
 *
 * Thread: tiles belong to the thread that has configured them.
 */
#pragma once

#include <stdint.h>

#define N_TILES 8
#define TILE_HEIGHT 16
#define TILE_WIDTH 64

typedef struct
{
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t n_rows[16];
} TileConfig;

_Static_assert(sizeof (TileConfig) == 64, "the size that the instruction reads");
