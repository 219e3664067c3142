/* softmax (scale q k + mask) v over the open cells of a cache
 *
 * Cells go by in tiles of 64, the width of a mask word. A tile's keys and values are expanded once
 * for all tokens and all heads of a query group that look at it, scores are small dense products,
 * and the softmax is brought up to date once per tile. A word of 0 skips the tile unread.
 *
 * Short steps are split over the cells, and the parts are merged; long ones over heads and tokens.
 * Both ways depend on the extents alone, so that the number of threads never changes a result. */
#include "backends/cpu/attention-tile.h"

#include <math.h>
#include <string.h>

/* Steps of up to as many tokens are split over the cells. */
#define SPLIT_TOKENS 8
#define MAX_SPLITS 16
/* Query rows (tokens times heads of a group) that a piece of a long step holds. */
#define PIECE_ROWS 64

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
  int64_t n = PIECE_ROWS / kvasir_attention_get_group (p);

  return n > 0 ? n : 1;
}

static size_t
get_state_floats (const KvasirAttentionParams *p, int64_t n_rows)
{
  return (size_t) n_rows * (size_t) (p->head_dim_v + 2);
}

static KvasirAttentionState
get_state (float *memory, int64_t n_rows)
{
  return (
      KvasirAttentionState){ .max = memory, .sum = memory + n_rows, .out = memory + 2 * n_rows };
}

static void
clear_state (const KvasirAttentionState *state, int64_t n_rows, int64_t head_dim)
{
  for (int64_t i = 0; i < n_rows; i++)
    state->max[i] = -INFINITY;
  memset (state->sum, 0, (size_t) n_rows * sizeof (float));
  memset (state->out, 0, (size_t) (n_rows * head_dim) * sizeof (float));
}

#define BLOCK_SLACK 64

static int64_t
get_row_width (const KvasirAttentionParams *p)
{
  return (p->head_dim_k > p->head_dim_v ? p->head_dim_k : p->head_dim_v) + BLOCK_SLACK;
}

static int64_t
get_max_rows (const KvasirAttentionParams *p)
{
  int64_t split = SPLIT_TOKENS * p->n_heads,
          piece = get_tokens_per_piece (p) * kvasir_attention_get_group (p);

  return split > piece ? split : piece;
}

static size_t
get_scratch_floats (const KvasirAttentionParams *p)
{
  size_t rows = (size_t) get_max_rows (p);

  return KVASIR_TILE * (size_t) (get_row_width (p) + p->head_dim_k) +
         rows * (size_t) (p->head_dim_k + KVASIR_TILE) + get_state_floats (p, (int64_t) rows);
}

static KvasirAttentionScratch
get_scratch (const KvasirAttentionParams *p, uint8_t *memory)
{
  KvasirAttentionScratch scratch = { 0 };
  int64_t rows = get_max_rows (p);

  scratch.row_width = get_row_width (p);
  scratch.rows = (float *) (void *) memory;
  scratch.keys = scratch.rows + KVASIR_TILE * scratch.row_width;
  scratch.query = scratch.keys + KVASIR_TILE * p->head_dim_k;
  scratch.scores = scratch.query + rows * p->head_dim_k;
  scratch.own = scratch.scores + rows * KVASIR_TILE;
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

/* The queries of a part in the order of the state's rows. */
static void
scale_query (const KvasirTensor *node, const KvasirAttentionPart *part, float *query)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p);

  for (int64_t head = part->head; head < part->head_end; head++)
    for (int64_t t = part->token; t < part->token_end; t++)
      for (int64_t g = 0; g < group; g++, query += p->head_dim_k)
        {
          const float *q = (void *) kvasir_tensor_get_row (node->src[0], head * group + g, t, 0);
          for (int64_t i = 0; i < p->head_dim_k; i++)
            query[i] = q[i] * p->scale;
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

/* Fills the state of @scratch for @part. */
static void
attend (const KvasirTensor *node,
        const KvasirOpRun *run,
        const KvasirAttentionPart *part,
        const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t n_heads = (part->head_end - part->head) * kvasir_attention_get_group (p);
  KvasirAttentionPart at = *part, next;

  clear_state (&scratch->state, n_heads * (part->token_end - part->token), p->head_dim_v);
  scale_query (node, part, scratch->query);
  for (; find_open_tile (node, part, &at); at = next)
    {
      next = at;
      next.cell += KVASIR_TILE;
      int64_t next_cell = find_open_tile (node, part, &next) ? next.cell : -1;
      attend_heads (node, run, part, &at, next_cell, scratch);
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
get_n_tiles (const KvasirOpItem *item, const KvasirOpRun *run)
{
  return (run->step->n_kv[item->node->params.attention.cache] + KVASIR_TILE - 1) / KVASIR_TILE;
}

static int64_t
get_n_splits (const KvasirOpItem *item, const KvasirOpRun *run)
{
  int64_t n_tiles = get_n_tiles (item, run);

  return n_tiles < MAX_SPLITS ? n_tiles : MAX_SPLITS;
}

static int64_t
count_attend (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_tokens = get_n_tokens (item->node), per_piece = get_tokens_per_piece (p);

  if (is_split (item->node))
    return n_tokens > 0 ? get_n_splits (item, run) : 0;
  return p->n_kv_heads * ((n_tokens + per_piece - 1) / per_piece);
}

static float *
get_split_memory (const KvasirOpItem *item, int64_t split)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_rows = p->n_heads * get_n_tokens (item->node);

  return (float *) (void *) item->slot + (size_t) split * get_state_floats (p, n_rows);
}

static KvasirAttentionPart
get_split (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split)
{
  int64_t n_splits = get_n_splits (item, run);
  int64_t n_tiles = get_n_tiles (item, run);

  return (KvasirAttentionPart){ .head_end = item->node->params.attention.n_kv_heads,
                                .token_end = get_n_tokens (item->node),
                                .cell = n_tiles * split / n_splits * KVASIR_TILE,
                                .cell_end = n_tiles * (split + 1) / n_splits * KVASIR_TILE };
}

static void
attend_split (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  KvasirAttentionPart part = get_split (item, run, split);
  KvasirAttentionScratch scratch = get_scratch (p, run->scratch);

  scratch.state = get_state (get_split_memory (item, split), p->n_heads * part.token_end);
  attend (node, run, &part, &scratch);
}

static void
attend_piece (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t per_piece = get_tokens_per_piece (p), n_tokens = get_n_tokens (node);
  int64_t group = kvasir_attention_get_group (p), row = 0;
  KvasirAttentionPart part = { .head = piece % p->n_kv_heads,
                               .token = piece / p->n_kv_heads * per_piece,
                               .cell_end = get_n_tiles (item, run) * KVASIR_TILE };
  KvasirAttentionScratch scratch = get_scratch (p, run->scratch);

  part.head_end = part.head + 1;
  part.token_end = part.token + per_piece < n_tokens ? part.token + per_piece : n_tokens;
  KvasirAttentionState state = get_state (scratch.own, (part.token_end - part.token) * group);
  scratch.state = state;
  attend (node, run, &part, &scratch);
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

/* The first head's keys of a split's first tile. */
static void
fetch_attend (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *keys = item->node->src[1];
  size_t n_bytes = keys->nb[1] < KVASIR_FETCH_BYTES / KVASIR_TILE
                       ? keys->nb[1]
                       : KVASIR_FETCH_BYTES / KVASIR_TILE;

  if (!is_split (item->node))
    return;
  int64_t cell = get_split (item, run, piece).cell;
  for (int64_t i = 0; i < KVASIR_TILE; i++)
    for (size_t at = 0; at < n_bytes; at += 64)
      __builtin_prefetch (kvasir_tensor_get_row (keys, cell + i, 0, 0) + at, 0, 2);
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
  int64_t group = kvasir_attention_get_group (p), n_rows = p->n_heads * get_n_tokens (node);
  int64_t row = (head / group * get_n_tokens (node) + token) * group + head % group;
  int64_t n_splits = get_n_splits (item, run);
  float *out = (float *) (void *) run->scratch;
  float max = -INFINITY, sum = 0;

  memset (out, 0, (size_t) p->head_dim_v * sizeof (float));
  for (int64_t i = 0; i < n_splits; i++)
    max = fmaxf (max, get_state (get_split_memory (item, i), n_rows).max[row]);
  for (int64_t i = 0; i < n_splits; i++)
    {
      KvasirAttentionState state = get_state (get_split_memory (item, i), n_rows);
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
  .fetch = fetch_attend,
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
