/* softmax (scale q k + mask) v over the open cells of a cache
 *
 * Cells go by in tiles of 64, the width of a mask word. A tile's keys and values are expanded once
 * for all tokens and all heads of a query group that look at it, scores are small dense products,
 * and the softmax is brought up to date once per tile. A word of 0 skips the tile unread.
 *
 * Short steps are split over the cells, and the parts are merged; long ones over heads and tokens.
 * A step over several streams is one such step per stream, each with its share of the tokens.
 * Both ways depend on the extents alone, so that the number of threads never changes a result. */
#include "backends/cpu/attention-part.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/attention-trace.h"
#include "backends/cpu/attention-words.h"

/* Steps of up to as many tokens are split over the cells. */
#define SPLIT_TOKENS 8
#define MAX_SPLITS 16
/* Query rows (tokens times heads of a group) that a piece of a long step holds, and of a very long
 * one, where there are pieces enough and a tile should serve many. */
#define PIECE_ROWS 64
#define VERY_LONG 192
/* Of each key of a tile, by a thread that waits. */
#define FETCH_KEY_BYTES 128

static int64_t
get_n_tokens (const KvasirTensor *node)
{
  return node->src[0]->ne[2];
}

/* Sums of halves keep the order of the cells. */
static bool
is_split (const KvasirTensor *node, const KvasirOpRun *run)
{
  return get_n_tokens (node) <= SPLIT_TOKENS && !kvasir_attention_sums_halves (node, run);
}

static int64_t
get_tokens_per_piece (const KvasirAttentionParams *p, int64_t n_tokens)
{
  int64_t n_rows = n_tokens < VERY_LONG ? PIECE_ROWS : KVASIR_WORD_ROWS;
  int64_t n = n_rows / kvasir_attention_get_group (p);

  return n > 0 ? n : 1;
}

/* Rows of the largest state of a step with @n_tokens. */
static int64_t
get_max_rows (const KvasirAttentionParams *p, int64_t n_tokens)
{
  int64_t n_short = n_tokens < SPLIT_TOKENS ? n_tokens : SPLIT_TOKENS;
  int64_t per_piece = get_tokens_per_piece (p, n_tokens);
  int64_t split = n_short * p->n_heads;
  int64_t piece = (n_tokens < per_piece ? n_tokens : per_piece) * kvasir_attention_get_group (p);

  return split > piece ? split : piece;
}

/* A step's tokens, in order, belong to its streams, as many to each. */
static int64_t
get_n_streams (const KvasirOpRun *run)
{
  return run->step->n_streams > 1 ? run->step->n_streams : 1;
}

static int64_t
get_tokens_per_stream (const KvasirOpItem *item, const KvasirOpRun *run)
{
  return get_n_tokens (item->node) / get_n_streams (run);
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
  factor = sum > 0 ? factor / sum : 0;
  for (int64_t i = 0; i < p->head_dim_v; i++)
    dst[i] = out[i] * factor;
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
get_pieces_per_stream (const KvasirOpItem *item, const KvasirOpRun *run)
{
  int64_t per_piece =
      get_tokens_per_piece (&item->node->params.attention, get_tokens_per_stream (item, run));

  return (get_tokens_per_stream (item, run) + per_piece - 1) / per_piece;
}

static int64_t
count_attend (const KvasirOpItem *item, const KvasirOpRun *run)
{
  if (is_split (item->node, run))
    return get_n_tokens (item->node) > 0 ? get_n_splits (item, run) : 0;
  return item->node->params.attention.n_kv_heads * get_n_streams (run) *
         get_pieces_per_stream (item, run);
}

/* The state of the rows of the step's stream @stream in split @split. */
static KvasirAttentionState
get_split_state (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split, int64_t stream)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_rows = p->n_heads * get_n_tokens (item->node);
  int64_t row = p->n_heads * get_tokens_per_stream (item, run) * stream;
  float *memory = (float *) (void *) item->slot;
  KvasirAttentionState state = kvasir_attention_get_state (
      memory + (size_t) split * kvasir_attention_get_state_floats (p, n_rows), n_rows);

  return (KvasirAttentionState){ state.max + row, state.sum + row,
                                 state.out + row * p->head_dim_v };
}

static KvasirAttentionPart
get_split (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split, int64_t stream)
{
  int64_t n_splits = get_n_splits (item, run), n_tiles = get_n_tiles (item, run);
  int64_t n_tokens = get_tokens_per_stream (item, run);

  return (KvasirAttentionPart){ .stream = run->step->first_stream + stream,
                                .head_end = item->node->params.attention.n_kv_heads,
                                .token = n_tokens * stream,
                                .token_end = n_tokens * (stream + 1),
                                .cell = n_tiles * split / n_splits * KVASIR_TILE,
                                .cell_end = n_tiles * (split + 1) / n_splits * KVASIR_TILE };
}

static KvasirAttentionScratch
get_scratch (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirAttentionParams *p = &item->node->params.attention;

  return kvasir_attention_get_scratch (p, get_max_rows (p, get_n_tokens (item->node)),
                                       run->scratch);
}

static void
attend_split (const KvasirOpItem *item, const KvasirOpRun *run, int64_t split)
{
  KvasirAttentionScratch scratch = get_scratch (item, run);

  for (int64_t stream = 0; stream < get_n_streams (run); stream++)
    {
      KvasirAttentionPart part = get_split (item, run, split, stream);
      scratch.state = get_split_state (item, run, split, stream);
      kvasir_attention_add_part (item->node, run, &part, &scratch);
    }
}

static KvasirAttentionPart
get_piece (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirAttentionParams *p = &item->node->params.attention;
  int64_t n_pieces = get_pieces_per_stream (item, run);
  int64_t per_stream = get_tokens_per_stream (item, run),
          per_piece = get_tokens_per_piece (p, per_stream);
  int64_t head = piece % p->n_kv_heads, stream = piece / p->n_kv_heads / n_pieces;
  int64_t begin = piece / p->n_kv_heads % n_pieces * per_piece;
  int64_t end = begin + per_piece < per_stream ? begin + per_piece : per_stream;

  return (KvasirAttentionPart){ .stream = run->step->first_stream + stream,
                                .head = head,
                                .head_end = head + 1,
                                .token = per_stream * stream + begin,
                                .token_end = per_stream * stream + end,
                                .cell_end = get_n_tiles (item, run) * KVASIR_TILE };
}

static void
attend_piece (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p), row = 0;
  KvasirAttentionPart part = get_piece (item, run, piece);

  if (kvasir_attention_takes_words (node, run))
    {
      kvasir_attention_run_words (node, run, &part, finish_row);
      return;
    }
  KvasirAttentionScratch scratch = get_scratch (item, run);
  const KvasirAttentionState *state = &scratch.state;
  kvasir_attention_add_part (node, run, &part, &scratch);
  for (int64_t t = part.token; t < part.token_end; t++)
    for (int64_t g = 0; g < group; g++, row++)
      finish_row (node, part.head * group + g, t, state->max[row], state->sum[row],
                  state->out + row * p->head_dim_v);
}

static void
run_attend (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  if (is_split (item->node, run))
    attend_split (item, run, piece);
  else
    attend_piece (item, run, piece);
}

/* The first head's keys of a split's first tile. */
static bool
fetch_attend (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece, size_t at_first)
{
  const KvasirTensor *keys = item->node->src[1];
  size_t n_bytes = keys->nb[1] < FETCH_KEY_BYTES ? keys->nb[1] : FETCH_KEY_BYTES;

  if (at_first > 0 || !is_split (item->node, run))
    return false;
  int64_t cell = get_split (item, run, piece, 0).cell;
  for (int64_t i = 0; i < KVASIR_TILE; i++)
    for (size_t at = 0; at < n_bytes; at += 64)
      __builtin_prefetch (kvasir_tensor_get_row (keys, cell + i, run->step->first_stream, 0) + at,
                          0, 2);
  return true;
}

static int64_t
count_merge (const KvasirOpItem *item, const KvasirOpRun *run)
{
  return is_split (item->node, run) ? get_n_tokens (item->node) : 0;
}

/* What the sum of each split is multiplied with; returns the sum of all. */
static float
weigh_splits (const KvasirOpItem *item,
              const KvasirOpRun *run,
              int64_t stream,
              int64_t row,
              float *max,
              float factors[MAX_SPLITS])
{
  int64_t n_splits = get_n_splits (item, run);
  float sum = 0;

  *max = -INFINITY;
  for (int64_t i = 0; i < n_splits; i++)
    *max = fmaxf (*max, get_split_state (item, run, i, stream).max[row]);
  for (int64_t i = 0; i < n_splits; i++)
    {
      KvasirAttentionState state = get_split_state (item, run, i, stream);
      factors[i] = state.max[row] == -INFINITY ? 0 : expf (state.max[row] - *max);
      sum += state.sum[row] * factors[i];
    }
  return sum;
}

static void
merge_row (const KvasirOpItem *item, const KvasirOpRun *run, int64_t head, int64_t token)
{
  const KvasirTensor *node = item->node;
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p), n_tokens = get_tokens_per_stream (item, run);
  int64_t stream = token / n_tokens, n_splits = get_n_splits (item, run);
  int64_t row = (head / group * n_tokens + token % n_tokens) * group + head % group;
  float *out = (float *) (void *) run->scratch;
  float factors[MAX_SPLITS], max;
  float sum = weigh_splits (item, run, stream, row, &max, factors);
  KvasirDense merge = { .n_rows = 1,
                        .n_cols = p->head_dim_v,
                        .depth = (int) n_splits,
                        .a = factors,
                        .b = get_split_state (item, run, 0, stream).out + row * p->head_dim_v,
                        .b_stride =
                            kvasir_attention_get_state_floats (p, p->n_heads * get_n_tokens (node)),
                        .c = out };

  run->kernels->dense (&merge);
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
  /* Merging reads whole vectors of the last sums. */
  shape->slot_bytes =
      (MAX_SPLITS * kvasir_attention_get_state_floats (p, p->n_heads * n) + 16) * sizeof (float);
  size_t tiles = kvasir_attention_get_scratch_floats (p, get_max_rows (p, get_n_tokens (node)));
  size_t words = kvasir_attention_get_word_scratch_floats (p);
  shape->scratch_bytes = (tiles > words ? tiles : words) * sizeof (float);
}

static bool
is_cache (const KvasirTensor *cache, int64_t width, const KvasirCpuKernels *kernels)
{
  if (cache == NULL || kernels->to_float[cache->type] == NULL)
    return false;
  /* The slack of a scratch row holds the ends of two blocks of 32. */
  return kvasir_type_get_block_len ((int) cache->type) <= 32 && cache->ne[0] == width &&
         cache->ne[1] % KVASIR_TILE == 0 && cache->ne[3] == 1;
}

static bool
are_caches_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirTensor *k = node->src[1], *v = node->src[2];
  int64_t width = (int64_t) p->head_dim_v * p->n_kv_heads;

  if (!is_cache (k, (int64_t) p->head_dim_k * p->n_kv_heads, kernels) || v == NULL ||
      v->ne[2] != k->ne[2])
    return false;
  if (!p->v_transposed)
    return is_cache (v, width, kernels) && v->ne[1] == k->ne[1];
  return kvasir_type_get_block_len ((int) v->type) == 1 && kernels->to_float[v->type] != NULL &&
         v->ne[0] == k->ne[1] && v->ne[1] == width && v->ne[3] == 1;
}

/* The mask, the sinks and the distances. */
static bool
are_extras_supported (const KvasirTensor *node)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirTensor *k = node->src[1], *mask = node->src[3], *sinks = node->src[4];
  const KvasirTensor *places = node->src[5];
  int64_t n_tokens = get_n_tokens (node);

  if (mask == NULL || mask->type != KVASIR_TYPE_I64 || mask->ne[0] < k->ne[1] / KVASIR_TILE ||
      mask->ne[1] != n_tokens)
    return false;
  if (sinks != NULL && (sinks->type != KVASIR_TYPE_F32 || sinks->ne[0] != p->n_heads))
    return false;
  return p->max_bias == 0 || (places != NULL && places->type == KVASIR_TYPE_I32 &&
                              places->ne[0] >= k->ne[1] * k->ne[2] + n_tokens);
}

bool
kvasir_attention_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirTensor *q = node->src[0];

  if (p->head_dim_k <= 0 || p->head_dim_v <= 0 || p->n_kv_heads <= 0 ||
      p->n_heads % p->n_kv_heads != 0 || p->cache < 0 || p->cache >= KVASIR_MAX_CACHES)
    return false;
  if (q == NULL || q->type != KVASIR_TYPE_F32 || q->nb[0] != sizeof (float) ||
      q->ne[0] != p->head_dim_k || q->ne[1] != p->n_heads || q->ne[3] != 1)
    return false;
  return node->type == KVASIR_TYPE_F32 && node->ne[0] == (int64_t) p->head_dim_v * p->n_heads &&
         node->ne[1] == q->ne[2] && are_caches_supported (node, kernels) &&
         are_extras_supported (node);
}
