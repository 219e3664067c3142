/* softmax (scale q k + mask) v over the open cells of a cache
 *
 * Cells go by in tiles of 64, the width of a mask word. A tile's keys and values are expanded once
 * for all tokens and all heads of a query group that look at it, scores are small dense products,
 * and the softmax is brought up to date once per tile. A word of 0 skips the tile unread.
 *
 * Short steps are split over the cells, and the parts are merged; long ones over heads and tokens.
 * Both ways depend on the extents alone, so that the number of threads never changes a result. */
#include <math.h>
#include <string.h>

#include "backends/cpu/ops.h"

/* Steps of up to as many tokens are split over the cells. */
#define SPLIT_TOKENS 15
#define MAX_SPLITS 16
/* Query rows (tokens times heads of a group) that a piece of a long step holds. */
#define PIECE_ROWS 64

/* Which queries look at which cells. */
typedef struct
{
  int64_t head, head_end; /* key/value heads */
  int64_t token, token_end;
  int64_t cell, cell_end;
} Part;

/* The running softmax of the rows of a part: row ((head * n_tokens) + token) * group + g. */
typedef struct
{
  float *max;
  float *sum;
  float *out; /* [n_rows][head_dim_v], not yet divided by sum */
} State;

static int64_t
get_group (const KvasirAttentionParams *p)
{
  return p->n_heads / p->n_kv_heads;
}

static int64_t
get_n_tokens (const KvasirTensor *node)
{
  return node->src[0]->ne[2];
}

static bool
is_split (const KvasirTensor *node)
{
  return get_n_tokens (node) <= SPLIT_TOKENS;
}

static int64_t
get_tokens_per_piece (const KvasirAttentionParams *p)
{
  int64_t n = PIECE_ROWS / get_group (p);

  return n > 0 ? n : 1;
}

static size_t
get_state_floats (const KvasirAttentionParams *p, int64_t n_rows)
{
  return (size_t) n_rows * (size_t) (p->head_dim_v + 2);
}

static State
get_state (float *memory, int64_t n_rows)
{
  return (State){ .max = memory, .sum = memory + n_rows, .out = memory + 2 * n_rows };
}

static void
clear_state (const State *state, int64_t n_rows, int64_t head_dim)
{
  for (int64_t i = 0; i < n_rows; i++)
    state->max[i] = -INFINITY;
  memset (state->sum, 0, (size_t) n_rows * sizeof (float));
  memset (state->out, 0, (size_t) (n_rows * head_dim) * sizeof (float));
}

/* A thread's scratch, in floats. */
typedef struct
{
  float *rows;   /* [64][row width, blocks included]: a tile as it comes from the cache */
  float *keys;   /* [head_dim_k][64] */
  float *query;  /* [group * tokens][head_dim_k], scaled */
  float *scores; /* [group * tokens][64] */
  float *state;
} Scratch;

#define BLOCK_SLACK 64

static int64_t
get_row_width (const KvasirAttentionParams *p)
{
  return (p->head_dim_k > p->head_dim_v ? p->head_dim_k : p->head_dim_v) + BLOCK_SLACK;
}

static int64_t
get_max_rows (const KvasirAttentionParams *p)
{
  int64_t split = SPLIT_TOKENS * get_group (p), piece = get_tokens_per_piece (p) * get_group (p);

  return split > piece ? split : piece;
}

static size_t
get_scratch_floats (const KvasirAttentionParams *p)
{
  size_t rows = (size_t) get_max_rows (p);

  return KVASIR_TILE * (size_t) (get_row_width (p) + p->head_dim_k) +
         rows * (size_t) (p->head_dim_k + KVASIR_TILE) + get_state_floats (p, (int64_t) rows);
}

static Scratch
get_scratch (const KvasirAttentionParams *p, uint8_t *memory)
{
  Scratch scratch;
  int64_t rows = get_max_rows (p);

  scratch.rows = (float *) (void *) memory;
  scratch.keys = scratch.rows + KVASIR_TILE * get_row_width (p);
  scratch.query = scratch.keys + KVASIR_TILE * p->head_dim_k;
  scratch.scores = scratch.query + rows * p->head_dim_k;
  scratch.state = scratch.scores + rows * KVASIR_TILE;
  return scratch;
}

/* Expands elements [first, first + n) of 64 rows of @cache from @cell on; returns where the first
 * one of the first row is. Quantised blocks may begin before and end behind them. */
static const float *
expand_tile (const KvasirOpRun *run,
             const KvasirTensor *cache,
             int64_t cell,
             int64_t first,
             int64_t n,
             float *rows,
             int64_t row_width)
{
  int64_t block = kvasir_type_get_block_len ((int) cache->type);
  int64_t begin = first / block * block, end = (first + n + block - 1) / block * block;
  size_t offset = kvasir_type_get_row_bytes ((int) cache->type, begin);

  for (int64_t i = 0; i < KVASIR_TILE; i++)
    run->kernels->to_float[cache->type](kvasir_tensor_get_row (cache, cell + i, 0, 0) + offset,
                                        rows + i * row_width, end - begin);
  return rows + (first - begin);
}

/* ALiBi's slope of query head @head. */
static float
get_slope (const KvasirAttentionParams *p, int64_t head)
{
  int n2 = 1;

  while (n2 * 2 <= p->n_heads)
    n2 *= 2;
  if (head < n2)
    return exp2f (-p->max_bias / (float) n2 * (float) (head + 1));
  return exp2f (-p->max_bias / 2 / (float) n2 * (float) (2 * (head - n2) + 1));
}

static void
add_distances (const KvasirTensor *node, int64_t head, int64_t token, int64_t cell, float *scores)
{
  const int32_t *positions = node->src[5]->data;
  int64_t n_cells = node->src[1]->ne[1];
  float slope = get_slope (&node->params.attention, head);

  for (int64_t i = 0; i < KVASIR_TILE; i++)
    {
      int64_t distance = (int64_t) positions[cell + i] - positions[n_cells + token];
      scores[i] -= slope * (float) (distance < 0 ? -distance : distance);
    }
}

static void
cap_scores (float cap, float *scores)
{
  for (int i = 0; i < KVASIR_TILE; i++)
    scores[i] = cap * tanhf (scores[i] / cap);
}

static uint64_t
get_word (const KvasirTensor *node, int64_t token, int64_t cell)
{
  const void *row = kvasir_tensor_get_row (node->src[3], token, 0, 0);

  return ((const uint64_t *) row)[cell / KVASIR_TILE];
}

/* Narrows the tokens of @part to those between the first and the last that see the tile. */
static bool
narrow_to_open (const KvasirTensor *node, Part *part)
{
  while (part->token < part->token_end && get_word (node, part->token, part->cell) == 0)
    part->token++;
  while (part->token < part->token_end && get_word (node, part->token_end - 1, part->cell) == 0)
    part->token_end--;
  return part->token < part->token_end;
}

static void
scale_query (const KvasirTensor *node, const Part *part, int64_t head, float *query)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = get_group (p);

  for (int64_t t = part->token; t < part->token_end; t++)
    for (int64_t g = 0; g < group; g++, query += p->head_dim_k)
      {
        const float *q = (void *) kvasir_tensor_get_row (node->src[0], head * group + g, t, 0);
        for (int64_t i = 0; i < p->head_dim_k; i++)
          query[i] = q[i] * p->scale;
      }
}

/* Scores to weights, row by row, and what was summed before to the new maximum. */
static void
update_softmax (const KvasirTensor *node,
                const KvasirOpRun *run,
                const Part *part,
                int64_t head,
                float *scores,
                const State *state)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = get_group (p), row = 0;

  for (int64_t t = part->token; t < part->token_end; t++)
    for (int64_t g = 0; g < group; g++, row++, scores += KVASIR_TILE)
      {
        uint64_t open = get_word (node, t, part->cell);
        float *out = state->out + row * p->head_dim_v;
        if (open == 0)
          {
            memset (scores, 0, KVASIR_TILE * sizeof (float));
            continue;
          }
        if (p->softcap != 0)
          cap_scores (p->softcap, scores);
        if (p->max_bias != 0)
          add_distances (node, head * group + g, t, part->cell, scores);
        float factor = run->kernels->softmax (scores, open, &state->max[row], &state->sum[row]);
        if (factor != 1)
          run->kernels->scale (out, factor, 0, out, p->head_dim_v);
      }
}

/* One tile, one key/value head, the tokens of @part. @state begins at the part's first row. */
static void
attend_tile (const KvasirTensor *node,
             const KvasirOpRun *run,
             const Part *part,
             int64_t head,
             const Scratch *scratch,
             const State *state)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n_rows = (part->token_end - part->token) * get_group (p), width = get_row_width (p);
  int64_t dk = p->head_dim_k, dv = p->head_dim_v;
  KvasirDense scores = { .n_rows = (int) n_rows,
                         .n_cols = KVASIR_TILE,
                         .depth = (int) dk,
                         .a = scratch->query,
                         .b = scratch->keys,
                         .c = scratch->scores,
                         .a_stride = (size_t) dk,
                         .b_stride = KVASIR_TILE,
                         .c_stride = KVASIR_TILE };
  KvasirDense values = { .n_rows = (int) n_rows,
                         .n_cols = (int) dv,
                         .depth = KVASIR_TILE,
                         .a = scratch->scores,
                         .c = state->out,
                         .a_stride = KVASIR_TILE,
                         .b_stride = (size_t) width,
                         .c_stride = (size_t) dv,
                         .accumulate = true };

  const float *rows =
      expand_tile (run, node->src[1], part->cell, head * dk, dk, scratch->rows, width);
  run->kernels->transpose (rows, (size_t) width, KVASIR_TILE, (int) dk, scratch->keys);
  run->kernels->dense (&scores);
  update_softmax (node, run, part, head, scratch->scores, state);
  values.b = expand_tile (run, node->src[2], part->cell, head * dv, dv, scratch->rows, width);
  run->kernels->dense (&values);
}

static void
attend (const KvasirTensor *node,
        const KvasirOpRun *run,
        const Part *part,
        const Scratch *scratch,
        const State *state)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = get_group (p), n_tokens = part->token_end - part->token;

  clear_state (state, (part->head_end - part->head) * n_tokens * group, p->head_dim_v);
  for (int64_t cell = part->cell; cell < part->cell_end; cell += KVASIR_TILE)
    {
      Part tile = *part;
      tile.cell = cell;
      if (!narrow_to_open (node, &tile))
        continue;
      for (int64_t head = part->head; head < part->head_end; head++)
        {
          int64_t row = ((head - part->head) * n_tokens + tile.token - part->token) * group;
          State rows = { state->max + row, state->sum + row, state->out + row * p->head_dim_v };
          scale_query (node, &tile, head, scratch->query);
          attend_tile (node, run, &tile, head, scratch, &rows);
        }
    }
}

/* Divides by the sum, which the head's sink joins; a row that saw nothing is 0. */
static void
finish_row (
    const KvasirTensor *node, int64_t head, int64_t token, float max, float sum, const float *out)
{
  const KvasirAttentionParams *p = &node->params.attention;
  float *dst = (float *) (void *) kvasir_tensor_get_row (node, token, 0, 0) + head * p->head_dim_v;
  float factor = 1;

  if (node->src[4] != NULL)
    {
      float sink = ((const float *) node->src[4]->data)[head];
      float top = fmaxf (max, sink);
      factor = expf (max - top);
      sum = sum * factor + expf (sink - top);
    }
  for (int64_t i = 0; i < p->head_dim_v; i++)
    dst[i] = sum > 0 ? out[i] * factor / sum : 0;
}

static int64_t
get_n_splits (const KvasirOpRun *run)
{
  int64_t n_tiles = (run->step->n_kv + KVASIR_TILE - 1) / KVASIR_TILE;

  return n_tiles < MAX_SPLITS ? n_tiles : MAX_SPLITS;
}

static int64_t
count_attend (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_tokens = get_n_tokens (item->node), per_piece = get_tokens_per_piece (p);

  if (is_split (item->node))
    return n_tokens > 0 ? get_n_splits (run) : 0;
  return p->n_kv_heads * ((n_tokens + per_piece - 1) / per_piece);
}

static float *
get_split_memory (const KvasirOpItem *item, int64_t split)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_rows = p->n_heads * get_n_tokens (item->node);

  return (float *) (void *) item->slot + (size_t) split * get_state_floats (p, n_rows);
}

static void
attend_split (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n_splits = get_n_splits (run), n_tokens = get_n_tokens (node);
  int64_t n_tiles = (run->step->n_kv + KVASIR_TILE - 1) / KVASIR_TILE;
  Part part = { .head_end = p->n_kv_heads,
                .token_end = n_tokens,
                .cell = n_tiles * split / n_splits * KVASIR_TILE,
                .cell_end = n_tiles * (split + 1) / n_splits * KVASIR_TILE };
  Scratch scratch = get_scratch (p, run->scratch);
  State state = get_state (get_split_memory (item, split), p->n_heads * n_tokens);

  attend (node, run, &part, &scratch, &state);
}

static void
attend_piece (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t per_piece = get_tokens_per_piece (p), n_tokens = get_n_tokens (node);
  int64_t group = get_group (p), row = 0;
  Part part = { .head = piece % p->n_kv_heads,
                .token = piece / p->n_kv_heads * per_piece,
                .cell_end = (run->step->n_kv + KVASIR_TILE - 1) / KVASIR_TILE * KVASIR_TILE };
  Scratch scratch = get_scratch (p, run->scratch);

  part.head_end = part.head + 1;
  part.token_end = part.token + per_piece < n_tokens ? part.token + per_piece : n_tokens;
  State state = get_state (scratch.state, (part.token_end - part.token) * group);
  attend (node, run, &part, &scratch, &state);
  for (int64_t t = part.token; t < part.token_end; t++)
    for (int64_t g = 0; g < group; g++, row++)
      finish_row (node, part.head * group + g, t, state.max[row], state.sum[row],
                  state.out + row * p->head_dim_v);
}

static void
run_attend (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  if (is_split (item->node))
    attend_split (item, run, piece);
  else
    attend_piece (item, run, piece);
}

static int64_t
count_merge (const KvasirOpItem *item, const KvasirOpRun *run)
{
  (void) run;
  return is_split (item->node) ? get_n_tokens (item->node) : 0;
}

static void
merge_row (const KvasirOpItem *item, const KvasirOpRun *run, int64_t head, int64_t token)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = get_group (p), n_rows = p->n_heads * get_n_tokens (node);
  int64_t row = (head / group * get_n_tokens (node) + token) * group + head % group;
  int64_t n_splits = get_n_splits (run);
  float *out = (float *) (void *) run->scratch;
  float max = -INFINITY, sum = 0;

  memset (out, 0, (size_t) p->head_dim_v * sizeof (float));
  for (int64_t i = 0; i < n_splits; i++)
    max = fmaxf (max, get_state (get_split_memory (item, i), n_rows).max[row]);
  for (int64_t i = 0; i < n_splits; i++)
    {
      State state = get_state (get_split_memory (item, i), n_rows);
      if (state.max[row] == -INFINITY)
        continue;
      float factor = expf (state.max[row] - max);
      sum += state.sum[row] * factor;
      for (int64_t j = 0; j < p->head_dim_v; j++)
        out[j] += state.out[row * p->head_dim_v + j] * factor;
    }
  finish_row (node, head, token, max, sum, out);
}

static void
run_merge (const KvasirOpItem *item, const KvasirOpRun *run, int64_t token)
{
  for (int64_t head = 0; head < item->node->params.attention.n_heads; head++)
    merge_row (item, run, head, token);
}

static const KvasirOpStage attend_stage = {
  .count = count_attend,
  .run = run_attend,
  .reads_sources = true,
  .writes_dst = true,
  .writes_slot = true,
};

static const KvasirOpStage merge_stage = {
  .count = count_merge,
  .run = run_merge,
  .reads_sources = true,
  .writes_dst = true,
  .reads_slot = true,
};

void
kvasir_attention_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n = get_n_tokens (node) < SPLIT_TOKENS ? get_n_tokens (node) : SPLIT_TOKENS;

  shape->stages[shape->n_stages++] = &attend_stage;
  shape->stages[shape->n_stages++] = &merge_stage;
  shape->slot_kind = KVASIR_SLOT_PARTS;
  shape->slot_bytes = MAX_SPLITS * get_state_floats (p, p->n_heads * n) * sizeof (float);
  shape->scratch_bytes = get_scratch_floats (p) * sizeof (float);
}

static bool
is_cache (const KvasirTensor *cache, int64_t width, const KvasirCpuKernels *kernels)
{
  if (cache == NULL || kernels->to_float[cache->type] == NULL)
    return false;
  /* The slack of a scratch row holds the ends of two blocks of 32. */
  return kvasir_type_get_block_len ((int) cache->type) <= 32 && cache->ne[0] == width &&
         cache->ne[1] % KVASIR_TILE == 0;
}

bool
kvasir_attention_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirTensor *q = node->src[0], *mask = node->src[3], *sinks = node->src[4];

  if (p->n_kv_heads <= 0 || p->n_heads % p->n_kv_heads != 0 || q == NULL || mask == NULL)
    return false;
  if (!is_cache (node->src[1], (int64_t) p->head_dim_k * p->n_kv_heads, kernels) ||
      !is_cache (node->src[2], (int64_t) p->head_dim_v * p->n_kv_heads, kernels))
    return false;
  if (sinks != NULL && (sinks->type != KVASIR_TYPE_F32 || sinks->ne[0] != p->n_heads))
    return false;
  if (p->max_bias != 0 && (node->src[5] == NULL || node->src[5]->type != KVASIR_TYPE_I32))
    return false;
  return node->type == KVASIR_TYPE_F32 && q->type == KVASIR_TYPE_F32 &&
         q->nb[0] == sizeof (float) && q->ne[0] == p->head_dim_k && q->ne[1] == p->n_heads &&
         mask->type == KVASIR_TYPE_I64 && node->ne[0] == (int64_t) p->head_dim_v * p->n_heads &&
         node->ne[1] == q->ne[2];
}
