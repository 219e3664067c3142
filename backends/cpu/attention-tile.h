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

/* The rows of a cache in one stream. */
typedef struct
{
  KvasirType type;
  const uint8_t *rows;
  size_t stride;     /* bytes from row to row */
  int64_t block_len; /* elements */
  size_t block_bytes;
  int64_t head_dim;
  bool is_read_in_place; /* and not expanded to f32 first */
} KvasirAttentionRows;

/* A thread's scratch, in floats. */
typedef struct
{
  KvasirAttentionRows k, v;
  int64_t row_width;
  float *rows;    /* [64][row_width, blocks included]: a tile as it comes from the cache */
  float *keys;    /* [head_dim_k][64], or [64][64] of transposed values */
  float *query;   /* [rows of the state][head_dim_k], scaled */
  float *scores;  /* [rows of the state][64] */
  float *factors; /* [rows of the state] */
  KvasirAttentionState state;
} KvasirAttentionScratch;

/* What is multiplied with some heads of one tile: @query and @state begin at the first row of the
 * first head. */
typedef struct
{
  KvasirAttentionPart part; /* the tile's cell, the heads, and the tokens that see it */
  /* The keys that will be wanted after this tile's values; next_cell -1: none. */
  int64_t next_cell, next_head;
  int64_t n_rows;      /* of a head */
  int64_t head_stride; /* rows of query and state from head to head */
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

/* Floats that a row of either cache takes expanded, with the ends of two blocks of 32 that a head
 * begins and ends in. */
static inline int64_t
kvasir_attention_get_row_width (const KvasirAttentionParams *p)
{
  return (p->head_dim_k > p->head_dim_v ? p->head_dim_k : p->head_dim_v) + 64;
}

static inline KvasirAttentionRows
kvasir_attention_get_rows (const KvasirTensor *cache, int64_t stream, int64_t head_dim)
{
  return (KvasirAttentionRows){ .type = cache->type,
                                .rows = kvasir_tensor_get_row (cache, 0, stream, 0),
                                .stride = cache->nb[1],
                                .block_len = kvasir_type_get_block_len ((int) cache->type),
                                .block_bytes = kvasir_type_get_block_bytes ((int) cache->type),
                                .head_dim = head_dim };
}

/* A head's elements of the tile at @cell into rows of @row_width; returns where the first is. Those
 * at @next_cell, if not -1, are fetched meanwhile. */
const float *kvasir_attention_expand (const KvasirOpRun *run,
                                      const KvasirAttentionRows *rows,
                                      int64_t cell,
                                      int64_t next_cell,
                                      int64_t head,
                                      float *out,
                                      int64_t row_width);

/* Brings the tile's state up to date with its cells. */
void kvasir_attention_add_tile (const KvasirTensor *node,
                                const KvasirOpRun *run,
                                const KvasirAttentionTile *tile,
                                const KvasirAttentionScratch *scratch);
