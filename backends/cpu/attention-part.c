/* A part of the cells, tile by tile, for some heads and tokens. */
#include "backends/cpu/attention-part.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/attention-trace.h"
#include "backends/cpu/blocks.h"

/* The ends of two blocks of 32 that a head begins and ends in. */
#define BLOCK_SLACK 64

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

static int64_t
get_row_width (const KvasirAttentionParams *p)
{
  return (p->head_dim_k > p->head_dim_v ? p->head_dim_k : p->head_dim_v) + BLOCK_SLACK;
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
  return KVASIR_TILE * (size_t) (get_row_width (p) + get_n_keys (p)) +
         (size_t) n_rows * (size_t) (p->head_dim_k + KVASIR_TILE) +
         kvasir_attention_get_state_floats (p, n_rows);
}

KvasirAttentionScratch
kvasir_attention_get_scratch (const KvasirAttentionParams *p, int64_t n_rows, uint8_t *memory)
{
  KvasirAttentionScratch scratch = { .row_width = get_row_width (p) };

  scratch.rows = (float *) (void *) memory;
  scratch.keys = scratch.rows + KVASIR_TILE * scratch.row_width;
  scratch.query = scratch.keys + KVASIR_TILE * get_n_keys (p);
  scratch.scores = scratch.query + n_rows * p->head_dim_k;
  scratch.state = kvasir_attention_get_state (scratch.scores + n_rows * KVASIR_TILE, n_rows);
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
round_query_to_blocks (const KvasirCpuKernels *kernels, float *query, int64_t n)
{
  KvasirBlockQ8_0 block;
  float piece[32];

  for (int64_t i = 0; i < n; i += 32)
    {
      size_t n_bytes = (size_t) (n - i < 32 ? n - i : 32) * sizeof *query;
      memset (piece, 0, sizeof piece);
      memcpy (piece, query + i, n_bytes);
      kernels->from_float[KVASIR_TYPE_Q8_0](piece, &block, 32);
      kernels->to_float[KVASIR_TYPE_Q8_0](&block, piece, 32);
      memcpy (query + i, piece, n_bytes);
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

static void
round_query (const KvasirTensor *node, const KvasirOpRun *run, float *query)
{
  KvasirType type = node->src[1]->type;

  if (kvasir_type_get_block_len ((int) type) > 1)
    round_query_to_blocks (run->kernels, query, node->params.attention.head_dim_k);
  else if (type == KVASIR_TYPE_F16 && kvasir_attention_is_as_traces (node, run))
    round_query_to_halves (run->kernels, query, node->params.attention.head_dim_k);
}

/* The queries of a part in the order of the state's rows. */
static void
scale_query (const KvasirTensor *node,
             const KvasirOpRun *run,
             const KvasirAttentionPart *part,
             float *query)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p);

  for (int64_t head = part->head; head < part->head_end; head++)
    for (int64_t t = part->token; t < part->token_end; t++)
      for (int64_t g = 0; g < group; g++, query += p->head_dim_k)
        {
          const float *q = (void *) kvasir_tensor_get_row (node->src[0], head * group + g, t, 0);

          memcpy (query, q, (size_t) p->head_dim_k * sizeof *q);
          round_query (node, run, query);
          for (int64_t i = 0; i < p->head_dim_k; i++)
            query[i] *= p->scale;
        }
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

  for (int64_t head = part->head; head < part->head_end; head++)
    {
      bool is_last = head == part->head_end - 1;
      int64_t row = ((head - part->head) * n_tokens + at->token - part->token) * group;
      KvasirAttentionTile tile = {
        .part = *at,
        .head = head,
        .next_cell = is_last ? next_cell : at->cell,
        .next_head = is_last ? part->head : head + 1,
        .n_rows = (at->token_end - at->token) * group,
        .query = scratch->query + row * p->head_dim_k,
        .state = { state->max + row, state->sum + row, state->out + row * p->head_dim_v },
      };
      kvasir_attention_add_tile (node, run, &tile, scratch);
    }
}

void
kvasir_attention_add_part (const KvasirTensor *node,
                           const KvasirOpRun *run,
                           const KvasirAttentionPart *part,
                           const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n_heads = (part->head_end - part->head) * kvasir_attention_get_group (p);
  KvasirAttentionPart at = *part, next;

  clear_state (&scratch->state, n_heads * (part->token_end - part->token), p->head_dim_v);
  scale_query (node, run, part, scratch->query);
  for (; find_open_tile (node, part, &at); at = next)
    {
      next = at;
      next.cell += KVASIR_TILE;
      int64_t next_cell = find_open_tile (node, part, &next) ? next.cell : -1;
      attend_heads (node, run, part, &at, next_cell, scratch);
    }
}
