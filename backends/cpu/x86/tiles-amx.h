/* backends/cpu/x86/tiles-amx.h - tiles.h by AMX instructions
 *
 * The compiler does not know that they read memory; the empty statement makes it write first.
 */
#pragma once

#include <immintrin.h>

#include "backends/cpu/x86/tiles.h"

/* Nothing: the processor has them. */
typedef struct
{
  char unused;
} Tiles;

static inline void
tiles_configure (Tiles *tiles, const TileConfig *config)
{
  (void) tiles;
  __asm__ volatile("ldtilecfg %0" : : "m"(*config));
}

static inline void
tiles_release (Tiles *tiles)
{
  (void) tiles;
  _tile_release ();
}

#define TILE_ZERO(tiles, tile) _tile_zero (tile)

#define TILE_LOAD(tiles, tile, from, stride)                                                       \
  do                                                                                               \
    {                                                                                              \
      __asm__ volatile("" : : : "memory");                                                         \
      _tile_loadd (tile, from, stride);                                                            \
    }                                                                                              \
  while (0)

#define TILE_STORE(tiles, tile, to, stride) _tile_stored (tile, to, stride)

#define TILE_DP_SS(tiles, sums, a, b) _tile_dpbssd (sums, a, b)
#define TILE_DP_SU(tiles, sums, a, b) _tile_dpbsud (sums, a, b)
