/* dst[rows, h, n] = s0[k, rows, h] . s1[k, h, n]: each head has a matrix of its own
 *
 * A head's matrix is small and its tokens lie apart, so a piece is a head of some tokens, and the
 * activations are rounded inside it. */
#include "backends/cpu/acts.h"
#include "backends/cpu/ops.h"
#include "backends/cpu/packed.h"

#define PIECE_TOKENS 64

static int64_t
count_heads (const KvasirOpItem *item, const KvasirOpRun *run)
{
  const KvasirTensor *node = item->node;

  (void) run;
  return node->ne[1] * ((node->ne[2] + PIECE_TOKENS - 1) / PIECE_TOKENS);
}

/* The tokens of one head from @token on, rounded into @memory. */
static KvasirActs
round_tokens (const KvasirTensor *x,
              const KvasirOpRun *run,
              int64_t head,
              int64_t token,
              const KvasirActsLayout *layout,
              uint8_t *memory)
{
  for (int64_t i = 0; i < kvasir_acts_pad (layout->n_tokens); i++)
    {
      KvasirActs acts = kvasir_acts_get (layout, memory, i);
      if (i < layout->n_tokens)
        run->kernels->quantize ((const void *) kvasir_tensor_get_row (x, head, token + i, 0),
                                layout->k, acts);
      else
        kvasir_acts_clear (acts, layout->k);
    }
  return kvasir_acts_get (layout, memory, 0);
}

static void
run_heads (const KvasirOpItem *item, const KvasirOpRun *run, int64_t piece)
{
  const KvasirTensor *node = item->node, *w = node->src[0], *x = node->src[1];
  const KvasirProductKernel *kernel = &run->kernels->products[w->type];
  int64_t head = piece % node->ne[1], token = piece / node->ne[1] * PIECE_TOKENS;
  int64_t left = node->ne[2] - token;
  bool is_short = node->ne[2] <= KVASIR_FEW_TOKENS;
  KvasirActsLayout layout = { w->ne[0], left < PIECE_TOKENS ? left : PIECE_TOKENS, is_short };
  size_t kernel_bytes = kvasir_mul_mat_get_scratch_bytes (w->ne[0]);
  KvasirProduct product = {
    .type = w->type,
    .weights = kvasir_tensor_get_row (w, 0, head, 0),
    .weight_stride = w->nb[1],
    .k = w->ne[0],
    .n_rows = w->ne[1],
    .n_tokens = layout.n_tokens,
    .x = (const float *) (const void *) kvasir_tensor_get_row (x, head, token, 0),
    .x_stride = x->nb[2] / sizeof (float),
    .dst = (float *) (void *) kvasir_tensor_get_row (node, head, token, 0),
    .dst_stride = node->nb[2] / sizeof (float),
  };

  if (kernel->takes_int8)
    product.acts = round_tokens (x, run, head, token, &layout, run->scratch + kernel_bytes);
  kvasir_packed_use (w, &product, 0, w->ne[1]);
  for (int64_t row = 0; row < w->ne[1]; row += KVASIR_TILE_ROWS)
    {
      int64_t end = row + KVASIR_TILE_ROWS < w->ne[1] ? row + KVASIR_TILE_ROWS : w->ne[1];
      KvasirProductPart part = { row, end, 0, layout.n_tokens };
      (is_short || layout.n_tokens <= kernel->most_few ? kernel->few : kernel->many) (
          &product, &part, run->kernels->to_float, run->scratch);
    }
}

static const KvasirOpStage heads_stage = {
  .count = count_heads,
  .run = run_heads,
  .reads_sources = true,
  .writes_dst = true,
};

bool
kvasir_heads_have_matrices (const KvasirTensor *node)
{
  return node->src[0] != NULL && (node->src[0]->ne[2] > 1 || node->ne[2] > 1);
}

void
kvasir_heads_describe (const KvasirTensor *node, KvasirOpShape *shape)
{
  /* Short steps round to more bits, but have fewer tokens by far. */
  KvasirActsLayout most = { node->src[0]->ne[0], PIECE_TOKENS, false };

  shape->stages[shape->n_stages++] = &heads_stage;
  shape->scratch_bytes = kvasir_mul_mat_get_scratch_bytes (most.k) + kvasir_acts_get_bytes (&most);
}

bool
kvasir_heads_is_supported (const KvasirTensor *node, const KvasirCpuKernels *kernels)
{
  const KvasirTensor *w = node->src[0], *x = node->src[1];

  if (!kvasir_tensor_is_float (node) || !kvasir_tensor_is_float (x) || node->src[2] != NULL)
    return false;
  if ((int) w->type < 0 || w->type >= KVASIR_N_TYPES || kernels->products[w->type].few == NULL ||
      w->ne[0] % kvasir_type_get_block_len ((int) w->type) != 0)
    return false;
  return w->ne[0] == x->ne[0] && w->ne[1] == node->ne[0] && w->ne[2] == x->ne[1] &&
         x->ne[1] == node->ne[1] && x->ne[2] == node->ne[2] && w->ne[3] == 1 && x->ne[3] == 1 &&
         node->ne[3] == 1;
}
