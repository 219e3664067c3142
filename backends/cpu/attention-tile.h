/* backends/cpu/attention-tile.h - one tile of 64 cells against the queries that see it
 *
 * Thread: any; a tile writes only the state and scratch that it is given.
 */
#pragma once

#include "backends/cpu/ops.h"

/* Which queries look at which cells. */
typedef struct
{
  int64_t stream;         /* of the caches, that all tokens read */
  int64_t head, head_end; /* key/value heads */
  int64_t token, token_end;
  int64_t cell, cell_end;
} KvasirAttentionPart;

/* The running softmax of the rows of a part: row ((head * n_tokens) + token) * group + g. */
typedef struct
{
  float *max;
  float *sum;
  float *out; /* [n_rows][head_dim_v], not yet divided by sum */
} KvasirAttentionState;

/* A thread's scratch, in floats. */
typedef struct
{
  int64_t row_width;
  float *rows;   /* [64][row_width, blocks included]: a tile as it comes from the cache */
  float *keys;   /* [head_dim_k][64], or [64][64] of transposed values */
  float *query;  /* [rows of the state][head_dim_k], scaled */
  float *scores; /* [group * tokens][64] */
  KvasirAttentionState state;
} KvasirAttentionScratch;

/* What is multiplied with one head of one tile: @query and @state begin at the first of its rows.
 */
typedef struct
{
  KvasirAttentionPart part; /* the tile's cell and the tokens that see it */
  int64_t head;
  /* The keys that will be wanted after this tile's values; next_cell -1: none. */
  int64_t next_cell, next_head;
  int64_t n_rows;
  const float *query;
  KvasirAttentionState state;
} KvasirAttentionTile;

/* Query heads that share a key/value head. */
static inline int64_t
kvasir_attention_get_group (const KvasirAttentionParams *p)
{
  return p->n_heads / p->n_kv_heads;
}

/* The mask's bits of @token for the tile at @cell. */
static inline uint64_t
kvasir_attention_get_word (const KvasirTensor *node, int64_t token, int64_t cell)
{
  const void *row = kvasir_tensor_get_row (node->src[3], token, 0, 0);

  return ((const uint64_t *) row)[cell / KVASIR_TILE];
}

/* Brings the tile's state up to date with its cells. */
void kvasir_attention_add_tile (const KvasirTensor *node,
                                const KvasirOpRun *run,
                                const KvasirAttentionTile *tile,
                                const KvasirAttentionScratch *scratch);
