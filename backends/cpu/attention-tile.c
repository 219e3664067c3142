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
  const KvasirAttentionRows *rows;
  int64_t cell; /* -1: no slice */
  int64_t first;
} Slice;

static Slice
get_slice (const KvasirAttentionRows *rows, int64_t cell, int64_t head)
{
  return (Slice){ rows, cell, head * rows->head_dim };
}

/* The bytes of a slice's first row, whole blocks. */
static const uint8_t *
get_slice_bytes (const Slice *slice, size_t *n_bytes)
{
  const KvasirAttentionRows *rows = slice->rows;
  int64_t begin = slice->first / rows->block_len;
  int64_t end = (slice->first + rows->head_dim + rows->block_len - 1) / rows->block_len;

  *n_bytes = (size_t) (end - begin) * rows->block_bytes;
  return rows->rows + (size_t) slice->cell * rows->stride + (size_t) begin * rows->block_bytes;
}

/* Expands a slice into rows of @row_width; returns where its first element is. The slice that is
 * wanted next is fetched meanwhile, as far as the second cache: the first one holds the tile at
 * work. */
static const float *
expand_slice (
    const KvasirOpRun *run, const Slice *slice, const Slice *next, float *out, int64_t row_width)
{
  const KvasirAttentionRows *rows = slice->rows;
  KvasirRowToFloat to_float = run->kernels->to_float[rows->type];
  size_t n_bytes, n_fetch = 0;
  const uint8_t *data = get_slice_bytes (slice, &n_bytes), *fetch = data;
  int64_t n = (int64_t) (n_bytes / rows->block_bytes) * rows->block_len;

  if (next->cell >= 0)
    fetch = get_slice_bytes (next, &n_fetch);
  for (size_t i = 0; i < KVASIR_TILE; i++)
    {
      for (size_t at = 0; at < n_fetch; at += 64)
        __builtin_prefetch (fetch + i * next->rows->stride + at, 0, 2);
      to_float (data + i * rows->stride, out + (int64_t) i * row_width, n);
    }
  return out + slice->first % rows->block_len;
}

const float *
kvasir_attention_expand (const KvasirOpRun *run,
                         const KvasirAttentionRows *rows,
                         int64_t cell,
                         int64_t next_cell,
                         int64_t head,
                         float *out,
                         int64_t row_width)
{
  const Slice slice = get_slice (rows, cell, head), next = get_slice (rows, next_cell, head);

  return expand_slice (run, &slice, &next, out, row_width);
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

/* Scores of one row of a head as the softmax wants them. */
static void
finish_scores (const KvasirTensor *node,
               const KvasirAttentionTile *tile,
               int64_t head,
               int64_t row,
               float *scores)
{
  const KvasirAttentionParams *p = &node->params.attention;
  int64_t group = kvasir_attention_get_group (p);

  if (p->softcap != 0)
    cap_scores (p->softcap, scores);
  if (p->max_bias != 0)
    add_distances (node, &tile->part, head * group + row % group, tile->part.token + row / group,
                   scores);
}

static void
finish_heads (const KvasirTensor *node,
              const KvasirAttentionTile *tile,
              const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionParams *p = &node->params.attention;
  float *scores = scratch->scores;

  if (p->softcap == 0 && p->max_bias == 0)
    return;
  for (int64_t head = tile->part.head; head < tile->part.head_end; head++)
    for (int64_t row = 0; row < tile->n_rows; row++, scores += KVASIR_TILE)
      finish_scores (node, tile, head, row, scores);
}

/* Scores of a head's rows to weights, and what their sums before have to be multiplied with. */
static void
update_rows (const KvasirTensor *node,
             const KvasirOpRun *run,
             const KvasirAttentionTile *tile,
             int64_t i,
             const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionState *state = &tile->state;
  int64_t group = kvasir_attention_get_group (&node->params.attention);
  KvasirTileSoftmax softmax;

  for (int64_t row = 0; row < tile->n_rows; row += softmax.n)
    {
      int64_t left = tile->n_rows - row, at = i * tile->n_rows + row;
      softmax.n = left < KVASIR_FEW_QUERIES ? (int) left : KVASIR_FEW_QUERIES;
      softmax.scores = scratch->scores + at * KVASIR_TILE;
      softmax.factors = scratch->factors + at;
      softmax.max = state->max + i * tile->head_stride + row;
      softmax.sum = state->sum + i * tile->head_stride + row;
      for (int64_t j = 0; j < softmax.n; j++)
        softmax.open[j] =
            kvasir_attention_get_word (node, tile->part.token + (row + j) / group, tile->part.cell);
      run->kernels->softmax (&softmax);
    }
}

/* Values of a head as in recorded traces. */
static void
mix_halves (const KvasirTensor *node,
            const KvasirOpRun *run,
            const KvasirAttentionTile *tile,
            int64_t i,
            const KvasirAttentionScratch *scratch)
{
  const float *rows =
      kvasir_attention_expand (run, &scratch->v, tile->part.cell, -1, tile->part.head + i,
                               scratch->rows, scratch->row_width);

  kvasir_attention_sum_halves (node, run, tile, i, rows, scratch);
}

/* Some heads of a tile and of what will be wanted next, which are fetched meanwhile. */
static KvasirTileProduct
get_tile_product (const KvasirAttentionTile *tile, const Slice *slice, const Slice *next)
{
  const KvasirAttentionRows *rows = slice->rows;
  size_t n_bytes;
  KvasirTileProduct product = {
    .type = rows->type,
    .rows = get_slice_bytes (slice, &n_bytes),
    .stride = rows->stride,
    .head_bytes = n_bytes,
    .width = (int) rows->head_dim,
    .n_heads = (int) (tile->part.head_end - tile->part.head),
    .n = (int) tile->n_rows,
  };

  if (next->cell >= 0)
    {
      product.next = get_slice_bytes (next, &product.next_head_bytes);
      product.next_stride = next->rows->stride;
    }
  return product;
}

static void
score_in_place (const KvasirOpRun *run,
                const KvasirAttentionTile *tile,
                const Slice *next,
                const KvasirAttentionScratch *scratch)
{
  Slice keys = get_slice (&scratch->k, tile->part.cell, tile->part.head);
  KvasirTileProduct product = get_tile_product (tile, &keys, next);

  product.in = tile->query;
  product.in_stride = (size_t) (tile->head_stride * scratch->k.head_dim);
  product.out = scratch->scores;
  product.out_stride = (size_t) tile->n_rows * KVASIR_TILE;
  run->kernels->score (&product);
}

static void
mix_in_place (const KvasirOpRun *run,
              const KvasirAttentionTile *tile,
              const Slice *next,
              const KvasirAttentionScratch *scratch)
{
  Slice values = get_slice (&scratch->v, tile->part.cell, tile->part.head);
  KvasirTileProduct product = get_tile_product (tile, &values, next);

  product.in = scratch->scores;
  product.in_stride = (size_t) tile->n_rows * KVASIR_TILE;
  product.factors = scratch->factors;
  product.out = tile->state.out;
  product.out_stride = (size_t) (tile->head_stride * scratch->v.head_dim);
  run->kernels->mix (&product);
}

static void
score_expanded (const KvasirOpRun *run,
                const KvasirAttentionTile *tile,
                int64_t i,
                const Slice *next,
                const KvasirAttentionScratch *scratch)
{
  size_t width = (size_t) scratch->row_width;
  int64_t depth = scratch->k.head_dim;
  Slice keys = get_slice (&scratch->k, tile->part.cell, tile->part.head + i);
  const float *rows = expand_slice (run, &keys, next, scratch->rows, scratch->row_width);
  KvasirDense product = { .n_rows = (int) tile->n_rows,
                          .n_cols = KVASIR_TILE,
                          .depth = (int) depth,
                          .a = tile->query + i * tile->head_stride * depth,
                          .b = scratch->keys,
                          .c = scratch->scores + i * tile->n_rows * KVASIR_TILE,
                          .a_stride = (size_t) depth,
                          .b_stride = KVASIR_TILE,
                          .c_stride = KVASIR_TILE };

  run->kernels->transpose (rows, width, KVASIR_TILE, (int) depth, scratch->keys);
  run->kernels->dense (&product);
}

/* What was summed before, to the new maximum. */
static void
scale_sums (const KvasirOpRun *run, const float *factors, int64_t n_rows, float *out, int64_t n)
{
  for (int64_t row = 0; row < n_rows; row++, out += n)
    if (factors[row] != 1)
      run->kernels->scale (out, factors[row], 0, out, n);
}

static void
mix_expanded (const KvasirOpRun *run,
              const KvasirAttentionTile *tile,
              int64_t i,
              const Slice *next,
              const KvasirAttentionScratch *scratch)
{
  int64_t n = scratch->v.head_dim;
  float *out = tile->state.out + i * tile->head_stride * n;
  Slice values = get_slice (&scratch->v, tile->part.cell, tile->part.head + i);
  KvasirDense product = { .n_rows = (int) tile->n_rows,
                          .n_cols = (int) n,
                          .depth = KVASIR_TILE,
                          .a = scratch->scores + i * tile->n_rows * KVASIR_TILE,
                          .c = out,
                          .a_stride = KVASIR_TILE,
                          .b_stride = (size_t) scratch->row_width,
                          .c_stride = (size_t) n,
                          .accumulate = true };

  scale_sums (run, scratch->factors + i * tile->n_rows, tile->n_rows, out, n);
  product.b = expand_slice (run, &values, next, scratch->rows, scratch->row_width);
  run->kernels->dense (&product);
}

/* Transposed values: 64 rows of them at a time, turned into rows of cells. */
static void
mix_transposed (const KvasirTensor *node,
                const KvasirOpRun *run,
                const KvasirAttentionTile *tile,
                int64_t i,
                const KvasirAttentionScratch *scratch)
{
  const KvasirTensor *cache = node->src[2];
  int64_t n = node->params.attention.head_dim_v, first_row = (tile->part.head + i) * n;
  size_t column = (size_t) tile->part.cell * kvasir_type_get_block_bytes ((int) cache->type);
  float *out = tile->state.out + i * tile->head_stride * n;
  KvasirDense mix = { .n_rows = (int) tile->n_rows,
                      .depth = KVASIR_TILE,
                      .a = scratch->scores + i * tile->n_rows * KVASIR_TILE,
                      .b = scratch->keys,
                      .a_stride = KVASIR_TILE,
                      .b_stride = KVASIR_TILE,
                      .c_stride = (size_t) n,
                      .accumulate = true };

  scale_sums (run, scratch->factors + i * tile->n_rows, tile->n_rows, out, n);
  for (int64_t first = 0; first < n; first += KVASIR_TILE)
    {
      mix.n_cols = (int) (n - first < KVASIR_TILE ? n - first : KVASIR_TILE);
      mix.c = out + first;
      for (int64_t j = 0; j < mix.n_cols; j++)
        run->kernels->to_float[cache->type](
            kvasir_tensor_get_row (cache, first_row + first + j, tile->part.stream, 0) + column,
            scratch->rows + j * KVASIR_TILE, KVASIR_TILE);
      run->kernels->transpose (scratch->rows, KVASIR_TILE, mix.n_cols, KVASIR_TILE, scratch->keys);
      run->kernels->dense (&mix);
    }
}

/* While keys are read, the values of the same tile are fetched. */
static void
score_heads (const KvasirTensor *node,
             const KvasirOpRun *run,
             const KvasirAttentionTile *tile,
             const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionPart *part = &tile->part;
  bool transposed = node->params.attention.v_transposed;
  Slice next = transposed ? get_slice (&scratch->k, tile->next_cell, tile->next_head)
                          : get_slice (&scratch->v, part->cell, part->head);

  if (scratch->k.is_read_in_place)
    score_in_place (run, tile, &next, scratch);
  else
    for (int64_t i = 0; i < part->head_end - part->head; i++)
      {
        score_expanded (run, tile, i, &next, scratch);
        next.first += next.rows->head_dim;
      }
}

/* While values are read, the keys of the next tile are fetched. */
static void
mix_heads (const KvasirTensor *node,
           const KvasirOpRun *run,
           const KvasirAttentionTile *tile,
           const KvasirAttentionScratch *scratch)
{
  const KvasirAttentionPart *part = &tile->part;
  Slice next = get_slice (&scratch->k, tile->next_cell, tile->next_head);

  if (scratch->v.is_read_in_place)
    {
      mix_in_place (run, tile, &next, scratch);
      return;
    }
  for (int64_t i = 0; i < part->head_end - part->head; i++)
    {
      if (node->params.attention.v_transposed)
        mix_transposed (node, run, tile, i, scratch);
      else
        mix_expanded (run, tile, i, &next, scratch);
      next.first += next.rows->head_dim;
    }
}

void
kvasir_attention_add_tile (const KvasirTensor *node,
                           const KvasirOpRun *run,
                           const KvasirAttentionTile *tile,
                           const KvasirAttentionScratch *scratch)
{
  int64_t n_heads = tile->part.head_end - tile->part.head;

  score_heads (node, run, tile, scratch);
  finish_heads (node, tile, scratch);
  if (kvasir_attention_sums_halves (node, run))
    {
      for (int64_t i = 0; i < n_heads; i++)
        mix_halves (node, run, tile, i, scratch);
      return;
    }
  for (int64_t i = 0; i < n_heads; i++)
    update_rows (node, run, tile, i, scratch);
  mix_heads (node, run, tile, scratch);
}
