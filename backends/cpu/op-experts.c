/* dst[rows, u, n] = matrix ids[j, t] of w[k, rows, experts] . x[k, u or 1, n] + its bias
 *
 * A pair is a token and one of its experts, counted as in dst. Short steps go pair by pair, all of
 * one expert together; long ones collect the pairs of an expert, so that its rows are unpacked once
 * for many of them. */
#include "backends/cpu/acts.h"
#include "backends/cpu/ops.h"
#include "backends/cpu/packed.h"

#include <string.h>

/* Weights that a thread takes at a time in short steps. */
#define PIECE_BYTES 16384
/* Pairs that are multiplied together: their copies should stay in the second cache. */
#define CHUNK 64
/* Pieces that a long step is cut into, if it has as many. */
#define PIECES 256

static const KvasirProductKernel *
get_kernel (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  return &kernels->products[node->src[0]->type];
}

static int64_t
get_n_pairs (const KvasirTensor *node)
{
  return node->ne[1] * node->ne[2];
}

static bool
is_short (const KvasirTensor *node)
{
  return node->ne[2] <= KVASIR_FEW_TOKENS;
}

static const int32_t *
get_ids (const KvasirTensor *node)
{
  return node->src[2]->data;
}

/* Which row of x a pair reads: each token has one row for all its experts, or one for each. */
static int64_t
get_x_row (const KvasirTensor *node, int64_t pair)
{
  return node->src[1]->ne[1] == 1 ? pair / node->ne[1] : pair;
}

static const float *
get_x (const KvasirTensor *x, int64_t row)
{
  return (const float *) (const void *) kvasir_tensor_get_row (x, row % x->ne[1], row / x->ne[1],
                                                               0);
}

static float *
get_dst (const KvasirTensor *node, int64_t pair)
{
  return (float *) (void *) kvasir_tensor_get_row (node, pair % node->ne[1], pair / node->ne[1], 0);
}

/* Of all rows of x. */
static KvasirActsLayout
get_layout (const KvasirTensor *node)
{
  const KvasirTensor *x = node->src[1];

  return (KvasirActsLayout){ x->ne[0], x->ne[1] * x->ne[2], is_short (node) };
}

static int64_t
count_quantize (const KvasirOpItem *item, const KvasirOpRun *run)
{
  KvasirActsLayout layout = get_layout (item->node);
  int64_t per_piece = kvasir_acts_get_piece (layout.k);

  (void) run;
  return (layout.n_tokens + per_piece - 1) / per_piece;
}

static void
run_quantize (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  KvasirActsLayout layout = get_layout (item->node);
  int64_t per_piece = kvasir_acts_get_piece (layout.k), row = piece * per_piece;
  int64_t end = row + per_piece < layout.n_tokens ? row + per_piece : layout.n_tokens;

  for (; row < end; row++)
    run->kernels->quantize (get_x (item->node->src[1], row), layout.k,
                            kvasir_acts_get (&layout, item->slot, row));
}

static void
run_halve (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  KvasirActsLayout layout = get_layout (item->node);
  int64_t per_piece = kvasir_acts_get_piece (layout.k), row = piece * per_piece;
  int64_t end = row + per_piece < layout.n_tokens ? row + per_piece : layout.n_tokens;

  for (; row < end; row++)
    kvasir_acts_round_to_halves (run->kernels, get_x (item->node->src[1], row), layout.k,
                                 kvasir_acts_get_halves (item->slot, layout.k, row), run->scratch);
}

/* What a product of floats reads: x, or what it was rounded to. */
static const float *
get_floats (const KvasirOpItem *item, int64_t x_row)
{
  const KvasirTensor *node = item->node;

  if (kvasir_acts_are_halves (node->src[0]->type))
    return kvasir_acts_get_halves (item->slot, node->src[1]->ne[0], x_row);
  return get_x (node->src[1], x_row);
}

/* Rows [row, row + n_rows) of expert @expert, as if they were the whole matrix. */
static KvasirProduct
get_product (const KvasirTensor *node, int64_t expert, int64_t row, int64_t n_rows)
{
  const KvasirTensor *w = node->src[0], *bias = node->src[3];
  KvasirProduct product = {
    .type = w->type,
    .weights = kvasir_tensor_get_row (w, row, expert, 0),
    .weight_stride = w->nb[1],
    .k = w->ne[0],
    .n_rows = n_rows,
  };

  if (bias != NULL)
    product.bias = (const float *) (const void *) kvasir_tensor_get_row (bias, expert, 0, 0) + row;
  kvasir_packed_use (w, &product, 0, n_rows);
  return product;
}

static int64_t
get_rows_per_short_piece (const KvasirTensor *node)
{
  int64_t least = (int64_t) (PIECE_BYTES / node->src[0]->nb[1]) + 1, fair = node->ne[0] / 64;

  return ((least > fair ? least : fair) + 15) / 16 * 16;
}

static void
multiply_pair (
    const KvasirOpItem *item, const KvasirOpRun *run, int64_t pair, int64_t row, int64_t row_end)
{
  const KvasirTensor *node = item->node;
  const KvasirProductKernel *kernel = get_kernel (node, run->kernels);
  KvasirProduct product = get_product (node, get_ids (node)[pair], row, row_end - row);
  KvasirProductPart part = { 0, row_end - row, 0, 1 };
  KvasirActsLayout layout = get_layout (node);
  int64_t x_row = get_x_row (node, pair);

  product.n_tokens = 1;
  product.x = get_floats (item, x_row);
  product.dst = get_dst (node, pair) + row;
  if (kernel->takes_int8)
    product.acts = kvasir_acts_get (&layout, item->slot, x_row);
  kernel->few (&product, &part, run->kernels->to_float, run->scratch);
}

/* A piece of an expert's rows belongs to the first pair that names the expert. */
static void
run_short (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  const int32_t *ids = get_ids (node);
  int64_t n_pairs = get_n_pairs (node), per_piece = get_rows_per_short_piece (node);
  int64_t first = piece % n_pairs, row = piece / n_pairs * per_piece;
  int64_t row_end = row + per_piece < node->ne[0] ? row + per_piece : node->ne[0];

  for (int64_t pair = 0; pair < first; pair++)
    if (ids[pair] == ids[first])
      return;
  for (int64_t pair = first; pair < n_pairs; pair++)
    if (ids[pair] == ids[first])
      multiply_pair (item, run, pair, row, row_end);
}

/* Some pairs of one expert: copies of their inputs, and a tile of their results. */
typedef struct
{
  int64_t n;
  int64_t pairs[CHUNK];
  KvasirActs acts;
  float *x;   /* [CHUNK][k] */
  float *dst; /* [CHUNK][KVASIR_TILE_ROWS] */
  uint8_t *scratch;
} Chunk;

static size_t
align (size_t n_bytes)
{
  return (n_bytes + 63) & ~(size_t) 63;
}

/* What the chunk has of a thread's scratch, in this order: tile, inputs, the kernel's own. */
static size_t
get_inputs_bytes (int64_t k, bool takes_int8)
{
  KvasirActsLayout layout = { k, CHUNK, false };

  return align (takes_int8 ? kvasir_acts_get_bytes (&layout) : CHUNK * (size_t) k * sizeof (float));
}

#define TILE_BYTES (CHUNK * KVASIR_TILE_ROWS * sizeof (float))

static void
gather_acts (const KvasirOpItem *item, Chunk *chunk)
{
  KvasirActsLayout all = get_layout (item->node), own = { all.k, CHUNK, false };
  uint8_t *memory = (uint8_t *) chunk->dst + TILE_BYTES;

  chunk->acts = kvasir_acts_get (&own, memory, 0);
  for (int64_t i = 0; i < kvasir_acts_pad (chunk->n); i++)
    {
      KvasirActs to = kvasir_acts_get (&own, memory, i);
      if (i < chunk->n)
        {
          int64_t row = get_x_row (item->node, chunk->pairs[i]);
          KvasirActs from = kvasir_acts_get (&all, item->slot, row);
          kvasir_acts_copy (from, to, all.k);
        }
      else
        kvasir_acts_clear (to, all.k);
    }
}

static void
gather_floats (const KvasirOpItem *item, Chunk *chunk)
{
  const KvasirTensor *x = item->node->src[1];

  chunk->x = (float *) (void *) ((uint8_t *) chunk->dst + TILE_BYTES);
  for (int64_t i = 0; i < chunk->n; i++)
    memcpy (chunk->x + i * x->ne[0], get_floats (item, get_x_row (item->node, chunk->pairs[i])),
            (size_t) x->ne[0] * sizeof (float));
}

/* At most KVASIR_TILE_ROWS rows. */
static void
multiply_chunk (const KvasirOpItem *item,
                const KvasirOpRun *run,
                const Chunk *chunk,
                int64_t row,
                int64_t n_rows)
{
  const KvasirTensor *node = item->node;
  const KvasirProductKernel *kernel = get_kernel (node, run->kernels);
  int64_t expert = get_ids (node)[chunk->pairs[0]];
  KvasirProduct product = get_product (node, expert, row, n_rows);
  KvasirProductPart part = { 0, n_rows, 0, chunk->n };

  product.n_tokens = chunk->n;
  product.x = chunk->x;
  product.x_stride = (size_t) product.k;
  product.acts = chunk->acts;
  product.dst = chunk->dst;
  product.dst_stride = KVASIR_TILE_ROWS;
  (chunk->n <= kernel->most_few ? kernel->few : kernel->many) (
      &product, &part, run->kernels->to_float, chunk->scratch);
  for (int64_t i = 0; i < chunk->n; i++)
    memcpy (get_dst (node, chunk->pairs[i]) + row, chunk->dst + i * KVASIR_TILE_ROWS,
            (size_t) n_rows * sizeof (float));
}

/* The next pairs of @expert from @pair on; returns where to go on. */
static int64_t
collect (const KvasirTensor *node, int64_t expert, int64_t pair, Chunk *chunk)
{
  const int32_t *ids = get_ids (node);
  int64_t n_pairs = get_n_pairs (node);

  for (chunk->n = 0; pair < n_pairs && chunk->n < CHUNK; pair++)
    if (ids[pair] == expert)
      chunk->pairs[chunk->n++] = pair;
  return pair;
}

/* Each piece looks through all pairs, so that experts which are many are not cut further. */
static int64_t
get_n_parts (const KvasirTensor *node)
{
  int64_t n_tiles = (node->ne[0] + KVASIR_TILE_ROWS - 1) / KVASIR_TILE_ROWS;
  int64_t n_experts = node->src[0]->ne[2], n = (PIECES + n_experts - 1) / n_experts;

  return n < n_tiles ? n : n_tiles;
}

static void
run_long (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  bool takes_int8 = get_kernel (node, run->kernels)->takes_int8;
  int64_t n_parts = get_n_parts (node), part = piece % n_parts;
  int64_t n_tiles = (node->ne[0] + KVASIR_TILE_ROWS - 1) / KVASIR_TILE_ROWS;
  int64_t begin = n_tiles * part / n_parts * KVASIR_TILE_ROWS;
  int64_t end = n_tiles * (part + 1) / n_parts * KVASIR_TILE_ROWS;
  Chunk chunk = { .dst = (float *) (void *) run->scratch };
  int64_t pair = 0;

  chunk.scratch = run->scratch + TILE_BYTES + get_inputs_bytes (node->src[0]->ne[0], takes_int8);
  end = end < node->ne[0] ? end : node->ne[0];
  while (pair < get_n_pairs (node))
    {
      pair = collect (node, piece / n_parts, pair, &chunk);
      if (chunk.n == 0)
        return;
      if (takes_int8)
        gather_acts (item, &chunk);
      else
        gather_floats (item, &chunk);
      for (int64_t row = begin; row < end; row += KVASIR_TILE_ROWS)
        multiply_chunk (item, run, &chunk, row,
                        end - row < KVASIR_TILE_ROWS ? end - row : KVASIR_TILE_ROWS);
    }
}

static int64_t
count_multiply (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *node = item->node;
  int64_t per_piece = get_rows_per_short_piece (node);

  (void) run;
  if (get_n_pairs (node) == 0)
    return 0;
  if (is_short (node))
    return (node->ne[0] + per_piece - 1) / per_piece * get_n_pairs (node);
  return get_n_parts (node) * node->src[0]->ne[2];
}

static void
run_multiply (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  if (is_short (item->node))
    run_short (item, run, piece);
  else
    run_long (item, run, piece);
}

static const KvasirOpStage quantize_stage = {
  .count = count_quantize,
  .run = run_quantize,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage halve_stage = {
  .count = count_quantize,
  .run = run_halve,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage multiply_stage = {
  .count = count_multiply,
  .run = run_multiply,
  .reads_sources = true,
  .writes_dst = true,
  .reads_slot = true,
};

/* Of the longest step, and of the longest short one, whose activations are twice as wide. */
static size_t
get_slot_bytes (const KvasirTensor *node)
{
  const KvasirTensor *x = node->src[1];
  int64_t n_few = x->ne[2] < KVASIR_FEW_TOKENS ? x->ne[2] : KVASIR_FEW_TOKENS;
  KvasirActsLayout few = { x->ne[0], x->ne[1] * n_few, true };
  KvasirActsLayout many = { x->ne[0], x->ne[1] * x->ne[2], false };
  size_t few_bytes = kvasir_acts_get_bytes (&few), many_bytes = kvasir_acts_get_bytes (&many);

  return few_bytes > many_bytes ? few_bytes : many_bytes;
}

void
kvasir_experts_describe (const KvasirTensor *node,
                         const KvasirCpuKernels *kernels,
                         KvasirOpShape *shape)
{
  int64_t k = node->src[0]->ne[0];
  bool takes_int8 = get_kernel (node, kernels)->takes_int8;

  shape->scratch_bytes =
      TILE_BYTES + get_inputs_bytes (k, takes_int8) + kvasir_mul_mat_get_scratch_bytes (k);
  if (takes_int8)
    {
      shape->stages[shape->n_stages++] = &quantize_stage;
      shape->slot_kind = KVASIR_SLOT_ACTS;
      shape->slot_bytes = get_slot_bytes (node);
    }
  else if (kvasir_acts_are_halves (node->src[0]->type))
    {
      shape->stages[shape->n_stages++] = &halve_stage;
      shape->slot_kind = KVASIR_SLOT_ACTS;
      shape->slot_bytes = kvasir_acts_get_half_bytes (k, node->src[1]->ne[1] * node->src[1]->ne[2]);
    }
  shape->stages[shape->n_stages++] = &multiply_stage;
}

static bool
is_weight_supported (const KvasirTensor *w, const KvasirCpuKernels *kernels)
{
  return w != NULL && (int) w->type >= 0 && w->type < KVASIR_N_TYPES &&
         kernels->products[w->type].few != NULL &&
         w->ne[0] % kvasir_type_get_block_len ((int) w->type) == 0 && w->ne[2] > 0 && w->ne[3] == 1;
}

/* One after the other: pieces look through all of them. */
static bool
is_ids_supported (const KvasirTensor *ids, const KvasirTensor *node)
{
  return ids != NULL && ids->type == KVASIR_TYPE_I32 && ids->ne[0] == node->ne[1] &&
         ids->ne[1] == node->ne[2] && ids->nb[0] == sizeof (int32_t) &&
         ids->nb[1] == (size_t) ids->ne[0] * sizeof (int32_t);
}

bool
kvasir_experts_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *w = node->src[0], *x = node->src[1], *bias = node->src[3];

  if (!is_weight_supported (w, kernels) || !kvasir_tensor_is_float (node) ||
      !kvasir_tensor_is_float (x) || !is_ids_supported (node->src[2], node))
    return false;
  if (bias != NULL &&
      (!kvasir_tensor_is_float (bias) || bias->ne[0] != node->ne[0] || bias->ne[1] != w->ne[2]))
    return false;
  return w->ne[0] == x->ne[0] && w->ne[1] == node->ne[0] &&
         (x->ne[1] == node->ne[1] || x->ne[1] == 1) && x->ne[2] == node->ne[2] && x->ne[3] == 1 &&
         node->ne[3] == 1;
}
