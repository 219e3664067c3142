/* A part of the cells, tile by tile, for some heads and tokens. */
#include "backends/cpu/attention-part.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/attention-trace.h"
#include "backends/cpu/blocks.h"

#define TOGETHER_BYTES ((size_t) 64 << 10)

size_t
kvasir_attention_get_state_floats (const KvasirAttentionParams *p, int64_t n_rows)
{
  return (size_t) n_rows * (size_t) (p->head_dim_v + 2);
}

KvasirAttentionState
kvasir_attention_get_state (float *memory, int64_t n_rows)
{
  return (KvasirAttentionState){ memory, memory + n_rows, memory + 2 * n_rows };
}

static void
clear_state (const KvasirAttentionState *state, int64_t n_rows, int64_t head_dim)
{
  for (int64_t i = 0; i < n_rows; i++)
    state->max[i] = -INFINITY;
  memset (state->sum, 0, (size_t) n_rows * sizeof (float));
  memset (state->out, 0, (size_t) (n_rows * head_dim) * sizeof (float));
}

/* Columns of the tile of keys, which is also that of transposed values. */
static int64_t
get_n_keys (const KvasirAttentionParams *p)
{
  return p->v_transposed && p->head_dim_k < KVASIR_TILE ? KVASIR_TILE : p->head_dim_k;
}

size_t
kvasir_attention_get_scratch_floats (const KvasirAttentionParams *p, int64_t n_rows)
{
  return KVASIR_TILE * (size_t) (kvasir_attention_get_row_width (p) + get_n_keys (p)) +
         (size_t) n_rows * (size_t) (p->head_dim_k + KVASIR_TILE + 1) +
         kvasir_attention_get_state_floats (p, n_rows);
}

KvasirAttentionScratch
kvasir_attention_get_scratch (const KvasirAttentionParams *p, int64_t n_rows, uint8_t *memory)
{
  KvasirAttentionScratch scratch = { .row_width = kvasir_attention_get_row_width (p) };

  scratch.rows = (float *) (void *) memory;
  scratch.keys = scratch.rows + KVASIR_TILE * scratch.row_width;
  scratch.query = scratch.keys + KVASIR_TILE * get_n_keys (p);
  scratch.scores = scratch.query + n_rows * p->head_dim_k;
  scratch.factors = scratch.scores + n_rows * KVASIR_TILE;
  scratch.state = kvasir_attention_get_state (scratch.factors + n_rows, n_rows);
  return scratch;
}

/* Moves @tile on to the first tile that a token of @part sees, and narrows its tokens to those
 * from the first to the last that see it. */
static bool
find_open_tile (const KvasirTensor *node,
                const KvasirAttentionPart *part,
                KvasirAttentionPart *tile)
{
  for (; tile->cell < part->cell_end; tile->cell += KVASIR_TILE)
    {
      tile->token = part->token;
      tile->token_end = part->token_end;
      while (tile->token < tile->token_end &&
             kvasir_attention_get_word (node, tile->token, tile->cell) == 0)
        tile->token++;
      while (tile->token < tile->token_end &&
             kvasir_attention_get_word (node, tile->token_end - 1, tile->cell) == 0)
        tile->token_end--;
      if (tile->token < tile->token_end)
        return true;
    }
  return false;
}

/* Quantised keys are met by queries rounded alike, in blocks of Q8_0: what integer products of the
 * two would give, and what traces were made with. */
static void
round_query_to_blocks (const KvasirOpRun *run,
                       const KvasirAttentionRows *keys,
                       float scale,
                       const float *q,
                       float *query)
{
  bool as_blocks = keys->is_read_in_place && run->kernels->scores_blocks;
  KvasirQueryBlock block, *blocks = (void *) query;
  float piece[32] = { 0 };

  for (int64_t i = 0; i < keys->head_dim; i += 32)
    {
      int64_t n = keys->head_dim - i < 32 ? keys->head_dim - i : 32;
      memset (piece, 0, sizeof piece);
      memcpy (piece, q + i, (size_t) n * sizeof *q);
      run->kernels->round_query (piece, 32, scale, &block);
      if (as_blocks)
        blocks[i / 32] = block;
      for (int64_t j = 0; j < n && !as_blocks; j++)
        query[i + j] = (float) block.q[j] * block.d;
    }
}

static void
round_query_to_halves (const KvasirCpuKernels *kernels, float *query, int64_t n)
{
  uint8_t halves[32 * 2];

  for (int64_t i = 0; i < n; i += 32)
    {
      int64_t n_piece = n - i < 32 ? n - i : 32;
      kernels->from_float[KVASIR_TYPE_F16](query + i, halves, n_piece);
      kernels->to_float[KVASIR_TYPE_F16](halves, query + i, n_piece);
    }
}

void
kvasir_attention_scale_query (const KvasirTensor *node,
                              const KvasirOpRun *run,
                              const KvasirAttentionRows *keys,
                              float factor,
                              const float *q,
                              float *query)
{
  float scale = node->params.attention.scale * factor;

  if (keys->block_len > 1)
    {
      round_query_to_blocks (run, keys, scale, q, query);
      return;
    }
  memcpy (query, q, (size_t) keys->head_dim * sizeof *q);
  if (keys->type == KVASIR_TYPE_F16 && kvasir_attention_is_as_traces (node, run))
    round_query_to_halves (run->kernels, query, keys->head_dim);
  for (int64_t i = 0; i < keys->head_dim; i++)
    query[i] *= scale;
}

/* The queries of a part in the order of the state's rows. */
static void
scale_query (const KvasirTensor *node,
             const KvasirOpRun *run,
             const KvasirAttentionPart *part,
             const KvasirAttentionScratch *scratch)
{
  int64_t group = kvasir_attention_get_group (&node->params.attention);
  float *query = scratch->query;

  for (int64_t head = part->head; head < part->head_end; head++)
    for (int64_t t = part->token; t < part->token_end; t++)
      for (int64_t g = 0; g < group; g++, query += scratch->k.head_dim)
        kvasir_attention_scale_query (
            node, run, &scratch->k, 1,
            (void *) kvasir_tensor_get_row (node->src[0], head * group + g, t, 0), query);
}

/* Heads that begin with a block, of the width that the kernels take. */
static bool
is_readable (const KvasirAttentionRows *rows)
{
  if (rows->type == KVASIR_TYPE_Q8_0)
    return rows->head_dim % 32 == 0;
  return rows->head_dim % 16 == 0 && rows->block_len == 1;
}

/* A short step goes the way that each of its tokens would go alone, so that a token's sums are the
 * same in both: what is guessed ahead must not change what is written. */
static bool
is_read_in_place (const KvasirTensor *node,
                  const KvasirOpRun *run,
                  const KvasirAttentionPart *part,
                  const KvasirAttentionRows *rows)
{
  bool is_short = node->src[0]->ne[2] <= KVASIR_FEW_TOKENS;
  int64_t n_tokens = is_short ? 1 : part->token_end - part->token;

  return run->kernels->score != NULL && is_readable (rows) &&
         n_tokens * kvasir_attention_get_group (&node->params.attention) <= KVASIR_FEW_QUERIES;
}

/* Heads whose keys and values of a tile stay in the second cache from when they are fetched. */
static int64_t
get_heads_together (const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionRows *k = &scratch->k;
  size_t n_bytes = (size_t) (k->head_dim / k->block_len + 1) * k->block_bytes * KVASIR_TILE;

  return n_bytes < TOGETHER_BYTES ? (int64_t) (TOGETHER_BYTES / n_bytes) : 1;
}

/* All heads of @part at the tile @at; @next_cell is that of the tile after it, or -1. */
static void
attend_heads (const KvasirTensor *node,
              const KvasirOpRun *run,
              const KvasirAttentionPart *part,
              const KvasirAttentionPart *at,
              int64_t next_cell,
              const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirAttentionState *state = &scratch->state;
  int64_t group = kvasir_attention_get_group (p), n_tokens = part->token_end - part->token;
  int64_t together = get_heads_together (scratch);
  KvasirAttentionTile tile = { .part = *at,
                               .n_rows = (at->token_end - at->token) * group,
                               .head_stride = n_tokens * group };

  for (int64_t head = part->head; head < part->head_end; head = tile.part.head_end)
    {
      int64_t row = ((head - part->head) * n_tokens + at->token - part->token) * group;
      bool is_last = head + together >= part->head_end;
      tile.part.head = head;
      tile.part.head_end = is_last ? part->head_end : head + together;
      tile.next_cell = is_last ? next_cell : at->cell;
      tile.next_head = is_last ? part->head : head + together;
      tile.query = scratch->query + row * p->head_dim_k;
      tile.state = (KvasirAttentionState){ state->max + row, state->sum + row,
                                           state->out + row * p->head_dim_v };
      kvasir_attention_add_tile (node, run, &tile, scratch);
    }
}

void
kvasir_attention_add_part (const KvasirTensor *node,
                           const KvasirOpRun *run,
                           const KvasirAttentionPart *part,
                           KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n_heads = (part->head_end - part->head) * kvasir_attention_get_group (p);
  KvasirAttentionPart at = *part, next;

  scratch->k = kvasir_attention_get_rows (node->src[1], part->stream, p->head_dim_k);
  /* Transposed values are no such rows, but what is said of a row is not read then. */
  scratch->k.is_read_in_place = is_read_in_place (node, run, part, &scratch->k);
  scratch->v = kvasir_attention_get_rows (node->src[2], part->stream, p->head_dim_v);
  scratch->v.is_read_in_place = !p->v_transposed && is_read_in_place (node, run, part, &scratch->v);
  clear_state (&scratch->state, n_heads * (part->token_end - part->token), p->head_dim_v);
  scale_query (node, run, part, scratch);
  for (; find_open_tile (node, part, &at); at = next)
    {
      next = at;
      next.cell += KVASIR_TILE;
      int64_t next_cell = find_open_tile (node, part, &next) ? next.cell : -1;
      attend_heads (node, run, part, &at, next_cell, scratch);
    }
}
