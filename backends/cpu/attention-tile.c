/* Keys and values of plain types and of Q8_0 are read in place for few queries, and expanded to f32
 * once for many or where they are of other types or transposed; then scores and values are small
 * dense products. */
#include "backends/cpu/attention-tile.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/attention-trace.h"

/* Elements of one head in 64 rows of a cache. */
typedef struct
{
  const KvasirTensor *cache;
  int64_t stream;
  int64_t cell; /* -1: no slice */
  int64_t first, n;
} Slice;

/* The bytes of a slice's first row, whole blocks. */
static const uint8_t *
get_slice_bytes (const Slice *slice, size_t *n_bytes)
{
  const KvasirTensor *cache = slice->cache;
  int64_t block = kvasir_type_get_block_len ((int) cache->type);
  int64_t begin = slice->first / block * block;
  int64_t end = (slice->first + slice->n + block - 1) / block * block;

  *n_bytes = kvasir_type_get_row_bytes ((int) cache->type, end - begin);
  return kvasir_tensor_get_row (cache, slice->cell, slice->stream, 0) +
         kvasir_type_get_row_bytes ((int) cache->type, begin);
}

/* Expands a slice into rows of @row_width; returns where its first element is. The slice that is
 * wanted next is fetched meanwhile, as far as the second cache: the first one holds the tile at
 * work. */
static const float *
expand_slice (
    const KvasirOpRun *run, const Slice *slice, const Slice *next, float *rows, int64_t row_width)
{
  const KvasirTensor *cache = slice->cache;
  int64_t block = kvasir_type_get_block_len ((int) cache->type);
  KvasirRowToFloat to_float = run->kernels->to_float[cache->type];
  size_t n_bytes, n_fetch = 0;
  const uint8_t *data = get_slice_bytes (slice, &n_bytes), *fetch = data;
  int64_t n = (int64_t) (n_bytes / kvasir_type_get_block_bytes ((int) cache->type)) * block;

  if (next->cell >= 0)
    fetch = get_slice_bytes (next, &n_fetch);
  for (size_t i = 0; i < KVASIR_TILE; i++)
    {
      for (size_t at = 0; at < n_fetch; at += 64)
        __builtin_prefetch (fetch + i * next->cache->nb[1] + at, 0, 2);
      to_float (data + i * cache->nb[1], rows + (int64_t) i * row_width, n);
    }
  return rows + slice->first % block;
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
add_distances (const KvasirTensor *node,
               const KvasirAttentionPart *at,
               int64_t head,
               int64_t token,
               float *scores)
{
  const KvasirTensor *keys = node->src[1];
  const int32_t *cells = (const int32_t *) node->src[5]->data;
  int32_t position = cells[keys->ne[1] * keys->ne[2] + token];
  float slope = get_slope (&node->params.attention, head);

  cells += at->stream * keys->ne[1] + at->cell;
  for (int64_t i = 0; i < KVASIR_TILE; i++)
    {
      int64_t distance = (int64_t) cells[i] - position;
      scores[i] -= slope * (float) (distance < 0 ? -distance : distance);
    }
}

static void
cap_scores (float cap, float *scores)
{
  for (int i = 0; i < KVASIR_TILE; i++)
    scores[i] = cap * tanhf (scores[i] / cap);
}

/* Scores of one row as the softmax wants them. */
static void
finish_scores (const KvasirTensor *node,
               const KvasirAttentionTile *tile,
               int64_t row,
               float *scores)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p);

  if (p->softcap != 0)
    cap_scores (p->softcap, scores);
  if (p->max_bias != 0)
    add_distances (node, &tile->part, tile->head * group + row % group,
                   tile->part.token + row / group, scores);
}

/* Scores of one row to weights, and what was summed before to the new maximum. */
static void
update_row (const KvasirTensor *node,
            const KvasirOpRun *run,
            const KvasirAttentionTile *tile,
            int64_t row,
            float *scores)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirAttentionState *state = &tile->state;
  int64_t token = tile->part.token + row / kvasir_attention_get_group (p);
  uint64_t open = kvasir_attention_get_word (node, token, tile->part.cell);
  float *out = state->out + row * p->head_dim_v;

  if (open == 0)
    {
      memset (scores, 0, KVASIR_TILE * sizeof (float));
      return;
    }
  finish_scores (node, tile, row, scores);
  float factor = run->kernels->softmax (scores, open, &state->max[row], &state->sum[row]);
  if (factor != 1)
    run->kernels->scale (out, factor, 0, out, p->head_dim_v);
}

/* Scores and values of a tile as in recorded traces. */
static void
mix_halves (const KvasirTensor *node,
            const KvasirOpRun *run,
            const KvasirAttentionTile *tile,
            const Slice *values,
            const KvasirAttentionScratch *scratch)
{
  const Slice none = { .cell = -1 };

  for (int64_t row = 0; row < tile->n_rows; row++)
    finish_scores (node, tile, row, scratch->scores + row * KVASIR_TILE);
  kvasir_attention_sum_halves (node, run, tile,
                               expand_slice (run, values, &none, scratch->rows, scratch->row_width),
                               scratch);
}

/* Rows of the tile's width that begin with a block. */
static bool
is_readable (const Slice *slice)
{
  if (slice->cache->type == KVASIR_TYPE_Q8_0)
    return slice->first % 32 == 0 && slice->n % 32 == 0;
  return slice->n % 16 == 0 && kvasir_type_get_block_len ((int) slice->cache->type) == 1;
}

/* A short step goes the way that each of its tokens would go alone, so that a token's sums are the
 * same in both: what is guessed ahead must not change what is written. */
static bool
is_read_in_place (const KvasirTensor *node,
                  const KvasirOpRun *run,
                  const Slice *slice,
                  int64_t n_rows)
{
  bool is_short = node->src[0]->ne[2] <= KVASIR_FEW_TOKENS;
  int64_t n_together = is_short ? kvasir_attention_get_group (&node->params.attention) : n_rows;

  return run->kernels->score != NULL && n_together <= KVASIR_FEW_QUERIES && is_readable (slice);
}

static KvasirTileProduct
get_tile_product (const Slice *slice, const Slice *next, const float *in, float *out)
{
  size_t n_bytes;
  KvasirTileProduct product = {
    .type = slice->cache->type,
    .rows = get_slice_bytes (slice, &n_bytes),
    .stride = slice->cache->nb[1],
    .width = (int) slice->n,
    .in = in,
    .out = out,
  };

  if (next->cell >= 0)
    {
      product.next = get_slice_bytes (next, &product.next_bytes);
      product.next_stride = next->cache->nb[1];
    }
  return product;
}

typedef void (*TileProductFn) (const KvasirTileProduct *product);

/* @n_rows rows of @n_in floats to rows of @n_out, as many at a time as the kernel takes. */
static void
multiply_in_place (
    TileProductFn multiply, KvasirTileProduct product, int64_t n_rows, int64_t n_in, int64_t n_out)
{
  for (; n_rows > 0; n_rows -= KVASIR_FEW_QUERIES)
    {
      product.n = n_rows < KVASIR_FEW_QUERIES ? (int) n_rows : KVASIR_FEW_QUERIES;
      multiply (&product);
      product.in += n_in * KVASIR_FEW_QUERIES;
      product.out += n_out * KVASIR_FEW_QUERIES;
      product.next = NULL;
    }
}

static void
score_tile (const KvasirTensor *node,
            const KvasirOpRun *run,
            const KvasirAttentionTile *tile,
            const Slice *keys,
            const Slice *next,
            const KvasirAttentionScratch *scratch)
{
  size_t width = (size_t) scratch->row_width;
  KvasirDense expanded = { .n_rows = (int) tile->n_rows,
                           .n_cols = KVASIR_TILE,
                           .depth = (int) keys->n,
                           .a = tile->query,
                           .b = scratch->keys,
                           .c = scratch->scores,
                           .a_stride = (size_t) keys->n,
                           .b_stride = KVASIR_TILE,
                           .c_stride = KVASIR_TILE };

  if (is_read_in_place (node, run, keys, tile->n_rows))
    {
      multiply_in_place (run->kernels->score,
                         get_tile_product (keys, next, tile->query, scratch->scores), tile->n_rows,
                         keys->n, KVASIR_TILE);
      return;
    }
  const float *rows = expand_slice (run, keys, next, scratch->rows, scratch->row_width);
  run->kernels->transpose (rows, width, KVASIR_TILE, (int) keys->n, scratch->keys);
  run->kernels->dense (&expanded);
}

static void
mix_tile (const KvasirTensor *node,
          const KvasirOpRun *run,
          const KvasirAttentionTile *tile,
          const Slice *values,
          const Slice *next,
          const KvasirAttentionScratch *scratch)
{
  KvasirDense expanded = { .n_rows = (int) tile->n_rows,
                           .n_cols = (int) values->n,
                           .depth = KVASIR_TILE,
                           .a = scratch->scores,
                           .c = tile->state.out,
                           .a_stride = KVASIR_TILE,
                           .b_stride = (size_t) scratch->row_width,
                           .c_stride = (size_t) values->n,
                           .accumulate = true };

  if (is_read_in_place (node, run, values, tile->n_rows))
    {
      multiply_in_place (run->kernels->mix,
                         get_tile_product (values, next, scratch->scores, tile->state.out),
                         tile->n_rows, KVASIR_TILE, values->n);
      return;
    }
  expanded.b = expand_slice (run, values, next, scratch->rows, scratch->row_width);
  run->kernels->dense (&expanded);
}

/* Transposed values: 64 rows of them at a time, turned into rows of cells. */
static void
mix_transposed (const KvasirOpRun *run,
                const KvasirAttentionTile *tile,
                const Slice *values,
                const KvasirAttentionScratch *scratch)
{
  const KvasirTensor *cache = values->cache;
  size_t column = (size_t) values->cell * kvasir_type_get_block_bytes ((int) cache->type);
  KvasirDense mix = { .n_rows = (int) tile->n_rows,
                      .depth = KVASIR_TILE,
                      .a = scratch->scores,
                      .b = scratch->keys,
                      .a_stride = KVASIR_TILE,
                      .b_stride = KVASIR_TILE,
                      .c_stride = (size_t) values->n,
                      .accumulate = true };

  for (int64_t first = 0; first < values->n; first += KVASIR_TILE)
    {
      mix.n_cols = (int) (values->n - first < KVASIR_TILE ? values->n - first : KVASIR_TILE);
      mix.c = tile->state.out + first;
      for (int64_t i = 0; i < mix.n_cols; i++)
        run->kernels->to_float[cache->type](
            kvasir_tensor_get_row (cache, values->first + first + i, values->stream, 0) + column,
            scratch->rows + i * KVASIR_TILE, KVASIR_TILE);
      run->kernels->transpose (scratch->rows, KVASIR_TILE, mix.n_cols, KVASIR_TILE, scratch->keys);
      run->kernels->dense (&mix);
    }
}

void
kvasir_attention_add_tile (const KvasirTensor *node,
                           const KvasirOpRun *run,
                           const KvasirAttentionTile *tile,
                           const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  const KvasirAttentionPart *part = &tile->part;
  int64_t dk = p->head_dim_k, dv = p->head_dim_v;
  Slice keys = { node->src[1], part->stream, part->cell, tile->head * dk, dk };
  Slice values = { node->src[2], part->stream, part->cell, tile->head * dv, dv };
  Slice next = { node->src[1], part->stream, tile->next_cell, tile->next_head * dk, dk };

  score_tile (node, run, tile, &keys, p->v_transposed ? &next : &values, scratch);
  if (kvasir_attention_sums_halves (node, run))
    {
      mix_halves (node, run, tile, &values, scratch);
      return;
    }
  for (int64_t row = 0; row < tile->n_rows; row++)
    update_row (node, run, tile, row, scratch->scores + row * KVASIR_TILE);
  if (p->v_transposed)
    mix_transposed (run, tile, &values, scratch);
  else
    mix_tile (node, run, tile, &values, &next, scratch);
}
