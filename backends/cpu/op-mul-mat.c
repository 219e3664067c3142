/* dst[rows, n] = s0[k, rows] . s1[k, n] + s2[rows]
 *
 * Two steps: the activations are rounded to int8 where the kernel wants that, or to halves beside
 * weights that are halves, once for all products with the same input; then rows of weights are
 * multiplied with them. */
#include "backends/cpu/acts.h"
#include "backends/cpu/blas.h"
#include "backends/cpu/ops.h"
#include "backends/cpu/packed.h"

/* Weights that a thread takes at a time: enough to hide the hand-over, small enough that the
 * threads end together. */
#define PIECE_BYTES 16384
/* Tokens below which a tile is not worth its unpacking a second time. */
#define LEAST_TOKENS 32
/* Steps that are worth rounding weights a second time for. */
#define LONG_TOKENS 64
/* Parts end where tiles of tokens do. */
#define TOKEN_GROUP 16
#define BLAS_TOKENS 256

static const KvasirProductKernel *
get_kernel (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  return &kernels->products[node->src[0]->type];
}

static KvasirActsLayout
get_layout (const KvasirCpuKernels *kernels, int64_t k, int64_t n_tokens)
{
  return (KvasirActsLayout){ k, n_tokens, n_tokens <= KVASIR_FEW_TOKENS,
                             kernels->takes_groups && n_tokens >= LONG_TOKENS };
}

/* Whether rows go as they come from memory, and not in tiles. */
static bool
is_few (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirProductKernel *kernel = get_kernel (node, kernels);

  return kvasir_product_kernel_choose (kernel, node->ne[1]) == kernel->few;
}

/* Sixteen bits are for kernels that don't read the tokens that others are padded with. */
static int64_t
count_tokens_of_acts (int64_t n_tokens)
{
  return n_tokens <= KVASIR_FEW_TOKENS ? n_tokens : kvasir_acts_pad (n_tokens);
}

static int64_t
count_quantize (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *x = item->node->src[1];
  int64_t per_piece = kvasir_acts_get_piece (x->ne[0]);

  if (!get_kernel (item->node, run->kernels)->takes_int8 || x->ne[1] == 0)
    return 0;
  return (count_tokens_of_acts (x->ne[1]) + per_piece - 1) / per_piece;
}

static void
run_quantize (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *x = item->node->src[1];
  int64_t per_piece = kvasir_acts_get_piece (x->ne[0]);
  int64_t token = piece * per_piece;
  int64_t end = token + per_piece;
  KvasirActsLayout layout = get_layout (run->kernels, x->ne[0], x->ne[1]);

  for (; token < end && token < count_tokens_of_acts (x->ne[1]); token++)
    {
      KvasirActs acts = kvasir_acts_get (&layout, item->slot, token);
      const void *row = kvasir_tensor_get_row (x, token, 0, 0);
      if (token < x->ne[1])
        run->kernels->quantize (row, x->ne[0], acts);
      else
        kvasir_acts_clear (acts, x->ne[0]);
    }
}

static int64_t
count_halve (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *x = item->node->src[1];
  int64_t per_piece = kvasir_acts_get_piece (x->ne[0]);

  (void) run;
  return (x->ne[1] + per_piece - 1) / per_piece;
}

static void
run_halve (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *x = item->node->src[1];
  int64_t k = x->ne[0], per_piece = kvasir_acts_get_piece (k);
  int64_t token = piece * per_piece;
  int64_t end = token + per_piece < x->ne[1] ? token + per_piece : x->ne[1];

  for (; token < end; token++)
    kvasir_acts_round_to_halves (run->kernels, (void *) kvasir_tensor_get_row (x, token, 0, 0), k,
                                 kvasir_acts_get_halves (item->slot, k, token), run->scratch);
}

/* How the rows and tokens of a product are cut into pieces. */
typedef struct
{
  int64_t rows, tokens;
  int64_t n_row_pieces, n_token_pieces;
} Cut;

/* Long steps: tiles of rows, with all tokens where that gives every thread a few pieces. */
static Cut
cut_for_many (const KvasirTensor *node, int n_threads)
{
  int64_t n_rows = node->ne[0], n_tokens = node->ne[1], wanted = 4 * (int64_t) n_threads;
  int64_t n_tiles = n_rows / KVASIR_TILE_ROWS;
  Cut cut = { .rows = n_tiles < wanted ? KVASIR_TILE_ROWS / 2 : KVASIR_TILE_ROWS };

  cut.n_row_pieces = (n_rows + cut.rows - 1) / cut.rows;
  int64_t n_parts = (wanted + cut.n_row_pieces - 1) / cut.n_row_pieces;
  int64_t tokens = (n_tokens + n_parts - 1) / n_parts;
  tokens = tokens > LEAST_TOKENS ? tokens : LEAST_TOKENS;
  cut.tokens = (tokens + TOKEN_GROUP - 1) / TOKEN_GROUP * TOKEN_GROUP;
  cut.n_token_pieces = (n_tokens + cut.tokens - 1) / cut.tokens;
  return cut;
}

/* Only products of floats, for which weights of all types are expanded. */
static bool
takes_blas (const KvasirTensor *node, const KvasirOpRun *run)
{
  return node->ne[1] > KVASIR_FEW_TOKENS && !get_kernel (node, run->kernels)->takes_int8 &&
         kvasir_blas_takes (run->blas, node->src[0]->ne[0], node->ne[0], node->ne[1]);
}

/* Each call puts both matrices in an order of its own first, so that pieces are large. They may not
 * depend on the number of threads: who knows in which order it adds. */
static Cut
cut_for_blas (const KvasirTensor *node)
{
  int64_t n_rows = node->ne[0], n_tokens = node->ne[1];
  Cut cut = { .rows = KVASIR_BLAS_ROWS, .tokens = BLAS_TOKENS };

  cut.n_row_pieces = (n_rows + cut.rows - 1) / cut.rows;
  cut.n_token_pieces = (n_tokens + cut.tokens - 1) / cut.tokens;
  return cut;
}

static Cut
cut_product (const KvasirTensor *node, const KvasirOpRun *run)
{
  int64_t n_rows = node->ne[0], n_tokens = node->ne[1];
  size_t row_bytes = node->src[0]->nb[1];
  Cut cut = { .tokens = n_tokens, .n_token_pieces = n_tokens > 0 ? 1 : 0 };

  if (takes_blas (node, run))
    return cut_for_blas (node);
  if (!is_few (node, run->kernels))
    return cut_for_many (node, run->n_threads);
  int64_t least = (int64_t) (PIECE_BYTES / row_bytes) + 1, fair = n_rows / 128;
  cut.rows = ((least > fair ? least : fair) + 15) / 16 * 16;
  cut.n_row_pieces = (n_rows + cut.rows - 1) / cut.rows;
  return cut;
}

static int64_t
count_multiply (const KvasirOpItem *item, const KvasirOpRun *run)
{
  Cut cut = cut_product (item->node, run);

  return cut.n_row_pieces * cut.n_token_pieces;
}

static int64_t
min_int64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static void
multiply_part (const KvasirOpItem *item, const KvasirOpRun *run, const KvasirProductPart *part)
{
  const KvasirTensor *node = item->node, *w = node->src[0], *x = node->src[1];
  const KvasirProductKernel *kernel = get_kernel (node, run->kernels);
  KvasirProduct product = {
    .type = w->type,
    .weights = w->data,
    .weight_stride = w->nb[1],
    .k = w->ne[0],
    .n_rows = w->ne[1],
    .n_tokens = x->ne[1],
    .x = x->data,
    .x_stride = x->nb[1] / sizeof (float),
    .bias = node->src[2] ? node->src[2]->data : NULL,
    .dst = node->data,
    .dst_stride = node->nb[1] / sizeof (float),
  };

  kvasir_packed_use (w, &product, part->row, part->row_end);
  if (kernel->takes_int8)
    {
      KvasirActsLayout layout = get_layout (run->kernels, w->ne[0], x->ne[1]);
      product.acts = kvasir_acts_get (&layout, item->slot, 0);
    }
  else if (kvasir_acts_are_halves (w->type))
    {
      product.x = kvasir_acts_get_halves (item->slot, product.k, 0);
      product.x_stride = (size_t) product.k;
    }
  if (takes_blas (node, run))
    {
      kvasir_blas_multiply (run->blas, &product, part, run->kernels->to_float,
                            (float *) (void *) run->scratch);
      return;
    }
  kvasir_product_kernel_choose (kernel, node->ne[1]) (&product, part, run->kernels->to_float,
                                                      run->scratch);
}

static void
run_multiply (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node;
  Cut cut = cut_product (node, run);
  KvasirProductPart part = {
    .row = piece % cut.n_row_pieces * cut.rows,
    .token = piece / cut.n_row_pieces * cut.tokens,
  };

  part.row_end = min_int64 (part.row + cut.rows, node->ne[0]);
  part.token_end = min_int64 (part.token + cut.tokens, node->ne[1]);
  multiply_part (item, run, &part);
}

static void
run_multiply_part (const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end)
{
  KvasirProductPart part = { .row = begin, .row_end = end, .token_end = 1 };

  multiply_part (item, run, &part);
}

/* The weights of short steps come from memory. */
static bool
fetch_multiply_part (
    const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end_row, size_t at)
{
  const KvasirTensor *w = item->node->src[0];
  size_t n_bytes = (size_t) (end_row - begin) * w->nb[1];
  const uint8_t *row = kvasir_tensor_get_row (w, begin, 0, 0);

  (void) run;
  if (at >= n_bytes)
    return false;
  const uint8_t *packed = kvasir_packed_find (w, row, n_bytes);
  size_t end = at + KVASIR_FETCH_BYTES < n_bytes ? at + KVASIR_FETCH_BYTES : n_bytes;
  for (; at < end; at += 64)
    __builtin_prefetch ((packed != NULL ? packed : row) + at, 0, 2);
  return true;
}

static bool
fetch_multiply (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece, size_t at)
{
  const KvasirTensor *node = item->node;
  Cut cut = cut_product (node, run);
  int64_t begin = piece % cut.n_row_pieces * cut.rows;

  return is_few (node, run->kernels) &&
         fetch_multiply_part (item, run, begin, min_int64 (begin + cut.rows, node->ne[0]), at);
}

/* Of the first token. */
static void
claim_quantize (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *x = item->node->src[1];
  KvasirActsLayout layout = get_layout (run->kernels, x->ne[0], x->ne[1]);
  KvasirActs acts = kvasir_acts_get (&layout, item->slot, 0);
  size_t k = (size_t) x->ne[0];

  kvasir_claim (x->data, k * sizeof (float), false);
  kvasir_claim (acts.q, k, true);
  if (acts.fine != NULL)
    kvasir_claim (acts.fine, k, true);
  kvasir_claim (acts.d, k / 32 * sizeof (float), true);
  kvasir_claim (acts.s, k / 32 * sizeof (float), true);
  kvasir_claim (acts.s16, k / 16 * sizeof (float), true);
}

static void
run_quantize_part (const KvasirOpItem *item, const KvasirOpRun *run, int64_t begin, int64_t end)
{
  const KvasirTensor *x = item->node->src[1];
  KvasirActsLayout layout = get_layout (run->kernels, x->ne[0], x->ne[1]);
  KvasirActs acts = kvasir_acts_get (&layout, item->slot, 0);

  acts.q += begin;
  acts.fine = acts.fine != NULL ? acts.fine + begin : NULL;
  acts.d += begin / 32;
  acts.s += begin / 32;
  acts.s16 += begin / 16;
  run->kernels->quantize ((const float *) x->data + begin, end - begin, acts);
}

static const KvasirOpStage quantize_stage = {
  .count = count_quantize,
  .run = run_quantize,
  .run_part = run_quantize_part,
  .claim = claim_quantize,
  .is_elementwise = true,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage halve_stage = {
  .count = count_halve,
  .run = run_halve,
  .reads_sources = true,
  .writes_slot = true,
  .is_shareable = true,
};

static const KvasirOpStage multiply_stage = {
  .count = count_multiply,
  .run = run_multiply,
  .run_part = run_multiply_part,
  .fetch = fetch_multiply,
  .fetch_part = fetch_multiply_part,
  .reads_sources = true,
  .writes_dst = true,
  .reads_slot = true,
};

size_t
kvasir_mul_mat_get_scratch_bytes (int64_t k)
{
  size_t row = (size_t) k * sizeof (float);
  size_t floats = (size_t) KVASIR_TILE_ROWS * KVASIR_TILE_K * sizeof (float) * 2;
  size_t bytes = (size_t) KVASIR_TILE_ROWS * ((size_t) k + (size_t) k / 32 * 2 * sizeof (float));
  size_t most = floats > bytes ? floats : bytes;

  return row > most ? row : most;
}

/* Activations are rounded part by part while other products are read still. */
static KvasirSlotKind
get_slot_kind (const KvasirTensor *node)
{
  KvasirOp op = node->src[1]->op;

  return op == KVASIR_OP_GLU || op == KVASIR_OP_UNARY ? KVASIR_SLOT_INNER : KVASIR_SLOT_ACTS;
}

void
kvasir_mul_mat_describe (const KvasirTensor *node,
                         const KvasirCpuKernels *kernels,
                         KvasirOpShape *shape)
{
  int64_t k = node->src[1]->ne[0];
  KvasirActsLayout layout = get_layout (kernels, k, node->src[1]->ne[1]);

  shape->scratch_bytes = kvasir_mul_mat_get_scratch_bytes (k);
  if (get_kernel (node, kernels)->takes_int8)
    {
      shape->stages[shape->n_stages++] = &quantize_stage;
      shape->slot_kind = get_slot_kind (node);
      shape->slot_bytes = kvasir_acts_get_bytes (&layout);
    }
  else if (kvasir_acts_are_halves (node->src[0]->type))
    {
      shape->stages[shape->n_stages++] = &halve_stage;
      shape->slot_kind = KVASIR_SLOT_ACTS;
      shape->slot_bytes = kvasir_acts_get_half_bytes (k, node->src[1]->ne[1]);
    }
  shape->stages[shape->n_stages++] = &multiply_stage;
}

static bool
is_float_matrix (const KvasirTensor *tensor)
{
  return tensor != NULL && tensor->type == KVASIR_TYPE_F32 && tensor->nb[0] == sizeof (float) &&
         tensor->ne[2] == 1 && tensor->ne[3] == 1;
}

bool
kvasir_mul_mat_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *w = node->src[0], *x = node->src[1], *bias = node->src[2];

  if (w == NULL || !is_float_matrix (node) || !is_float_matrix (x))
    return false;
  if ((int) w->type < 0 || w->type >= KVASIR_N_TYPES || kernels->products[w->type].few == NULL ||
      w->ne[0] % kvasir_type_get_block_len ((int) w->type) != 0)
    return false;
  if (bias != NULL && (!is_float_matrix (bias) || bias->ne[0] != node->ne[0]))
    return false;
  return w->ne[0] == x->ne[0] && w->ne[1] == node->ne[0] && x->ne[1] == node->ne[1] &&
         w->ne[2] == 1 && w->ne[3] == 1;
}
