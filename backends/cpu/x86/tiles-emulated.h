/* backends/cpu/x86/tiles-emulated.h - tiles.h in plain C
 *
 * Does exactly what the instructions do, bit by bit, and fails where they would: so the layout of
 * the products is tested on machines without AMX.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "backends/cpu/x86/tiles.h"

typedef struct
{
  TileConfig config;
  uint8_t bytes[N_TILES][TILE_HEIGHT][TILE_WIDTH];
} Tiles;

static inline void
tiles_configure (Tiles *tiles, const TileConfig *config)
{
  assert (config->palette == 1 && config->start_row == 0);
  for (int i = 0; i < 16; i++)
    {
      assert (i < N_TILES || (config->n_rows[i] == 0 && config->row_bytes[i] == 0));
      assert (config->n_rows[i] <= TILE_HEIGHT && config->row_bytes[i] <= TILE_WIDTH);
      assert ((config->n_rows[i] == 0) == (config->row_bytes[i] == 0));
    }
  tiles->config = *config;
  memset (tiles->bytes, 0, sizeof tiles->bytes);
}

static inline void
tiles_release (Tiles *tiles)
{
  memset (tiles, 0, sizeof *tiles);
}

static inline void
emulated_zero (Tiles *tiles, int tile)
{
  assert (tiles->config.palette == 1 && tiles->config.n_rows[tile] > 0);
  memset (tiles->bytes[tile], 0, sizeof tiles->bytes[tile]);
}

/* What lies behind the configured rows and columns becomes 0. */
static inline void
emulated_load (Tiles *tiles, int tile, const void *from, ptrdiff_t stride)
{
  const uint8_t *row = from;

  emulated_zero (tiles, tile);
  for (int i = 0; i < tiles->config.n_rows[tile]; i++)
    memcpy (tiles->bytes[tile][i], row + i * stride, tiles->config.row_bytes[tile]);
}

static inline void
emulated_store (const Tiles *tiles, int tile, void *to, ptrdiff_t stride)
{
  uint8_t *row = to;

  assert (tiles->config.palette == 1 && tiles->config.n_rows[tile] > 0);
  for (int i = 0; i < tiles->config.n_rows[tile]; i++)
    memcpy (row + i * stride, tiles->bytes[tile][i], tiles->config.row_bytes[tile]);
}

static inline void
emulated_multiply (Tiles *tiles, int sums, int a, int b, bool is_b_signed)
{
  const TileConfig *c = &tiles->config;
  int n_cols = c->row_bytes[sums] / 4;

  assert (c->palette == 1 && sums != a && sums != b && a != b);
  assert (c->n_rows[sums] == c->n_rows[a] && c->row_bytes[sums] == c->row_bytes[b]);
  assert (c->row_bytes[a] == 4 * c->n_rows[b] && c->row_bytes[b] == 4 * n_cols);
  for (int m = 0; m < c->n_rows[a]; m++)
    {
      uint32_t dots[TILE_WIDTH / 4];
      memcpy (dots, tiles->bytes[sums][m], sizeof dots);
      for (int k = 0; k < c->n_rows[b]; k++)
        for (int n = 0; n < 4 * n_cols; n++)
          {
            uint8_t byte = tiles->bytes[b][k][n];
            int x = (int8_t) tiles->bytes[a][m][4 * k + n % 4];
            dots[n / 4] += (uint32_t) (x * (is_b_signed ? (int8_t) byte : byte));
          }
      memcpy (tiles->bytes[sums][m], dots, sizeof dots);
    }
}

#define TILE_ZERO(tiles, tile) emulated_zero (tiles, tile)
#define TILE_LOAD(tiles, tile, from, stride) emulated_load (tiles, tile, from, stride)
#define TILE_STORE(tiles, tile, to, stride) emulated_store (tiles, tile, to, stride)
#define TILE_DP_SS(tiles, sums, a, b) emulated_multiply (tiles, sums, a, b, true)
#define TILE_DP_SU(tiles, sums, a, b) emulated_multiply (tiles, sums, a, b, false)
