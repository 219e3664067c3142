/* The reference: every kernel in plain C, as close to its formula as possible. */
#include <math.h>

#include "backends/cpu/blocks.h"
#include "backends/cpu/half.h"
#include "backends/cpu/kernels.h"

static void
add (const float *a, const float *b, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = a[i] + b[i];
}

static void
mul (const float *a, const float *b, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = a[i] * b[i];
}

static void
scale (const float *x, float factor, float bias, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * factor + bias;
}

static float
apply_unary (KvasirUnary kind, float x)
{
  switch (kind)
    {
    case KVASIR_UNARY_SILU:
      return x / (1 + expf (-x));
    case KVASIR_UNARY_GELU:
      return 0.5f * x * (1 + tanhf (0.79788456f * x * (1 + 0.044715f * x * x)));
    case KVASIR_UNARY_RELU:
      return x > 0 ? x : 0;
    case KVASIR_UNARY_SIGMOID:
      return 1 / (1 + expf (-x));
    case KVASIR_UNARY_TANH:
      return tanhf (x);
    case KVASIR_UNARY_GELU_ERF:
      return 0.5f * x * erfcf (-0.70710678f * x);
    case KVASIR_UNARY_RELU_SQR:
      return x > 0 ? x * x : 0;
    case KVASIR_UNARY_SOFTPLUS:
      return (x > 0 ? x : 0) + log1pf (expf (-fabsf (x)));
    case KVASIR_UNARY_EXP:
      return expf (x);
    case KVASIR_GLU_OAI:
      break;
    }
  return x;
}

static void
unary (KvasirUnary kind, const float *x, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = apply_unary (kind, x[i]);
}

static void
glu (KvasirUnary kind, const float *gate, const float *up, float *y, int64_t n)
{
  if (kind == KVASIR_GLU_OAI)
    for (int64_t i = 0; i < n; i++)
      {
        float g = fminf (gate[i], 7), u = fmaxf (-7, fminf (up[i], 7));
        y[i] = g / (1 + expf (-1.702f * g)) * (u + 1);
      }
  else
    for (int64_t i = 0; i < n; i++)
      y[i] = apply_unary (kind, gate[i]) * up[i];
}

static float
sum (const float *x, int64_t n)
{
  float total = 0;

  for (int64_t i = 0; i < n; i++)
    total += x[i];
  return total;
}

static float
squares (const float *x, float mean, int64_t n)
{
  float total = 0;

  for (int64_t i = 0; i < n; i++)
    total += (x[i] - mean) * (x[i] - mean);
  return total;
}

static void
rms_norm (const float *x, const float *weight, float eps, float *y, int64_t n)
{
  float factor = 1 / sqrtf (squares (x, 0, n) / (float) n + eps);

  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] * factor * (weight ? weight[i] : 1);
}

static void
softmax_row (const float *x, float *y, int64_t n)
{
  float max = -INFINITY, total = 0;

  for (int64_t i = 0; i < n; i++)
    max = fmaxf (max, x[i]);
  for (int64_t i = 0; i < n; i++)
    {
      y[i] = expf (x[i] - max);
      total += y[i];
    }
  for (int64_t i = 0; i < n; i++)
    y[i] /= total;
}

static void
add_scaled (const float *x, float factor, float *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] += factor * x[i];
}

static float
update_line (const KvasirUpdate *update, float a, float b, float *line)
{
  float total = 0;

  for (int64_t i = 0; i < update->n; i++)
    {
      line[i] = line[i] * update->decay[i] + a * update->u[i];
      if (update->v != NULL)
        line[i] += b * update->v[i];
      total += line[i] * update->read[i];
    }
  return total;
}

static void
rotate (const float *x, const float *table, int n_rot, bool neox, float *y)
{
  int half = n_rot / 2;
  int step = neox ? 1 : 2, partner = neox ? half : 1;

  for (int i = 0; i < half; i++)
    {
      float c = table[i], s = table[half + i];
      float x0 = x[i * step], x1 = x[i * step + partner];
      y[i * step] = x0 * c - x1 * s;
      y[i * step + partner] = x0 * s + x1 * c;
    }
}

static void
hadamard (const float *x, int n, float *y)
{
  float factor = 1 / sqrtf ((float) n);

  for (int i = 0; i < n; i++)
    y[i] = x[i] * factor;
  for (int h = 1; h < n; h *= 2)
    for (int i = 0; i < n; i++)
      if ((i & h) == 0)
        {
          float a = y[i], b = y[i + h];
          y[i] = a + b;
          y[i + h] = a - b;
        }
}

static float
dot (const float *a, const float *b, int64_t n)
{
  float total = 0;

  for (int64_t i = 0; i < n; i++)
    total += a[i] * b[i];
  return total;
}

/* Weights of any type: a row is expanded once and multiplied with every token. */
static void
product (const KvasirProduct *p,
         const KvasirProductPart *part,
         const KvasirRowToFloat *to_float,
         uint8_t *scratch)
{
  float *row = (float *) (void *) scratch;

  for (int64_t r = part->row; r < part->row_end; r++)
    {
      float bias = p->bias ? p->bias[r] : 0;
      to_float[p->type](p->weights + (size_t) r * p->weight_stride, row, p->k);
      for (int64_t t = part->token; t < part->token_end; t++)
        p->dst[(size_t) t * p->dst_stride + (size_t) r] =
            dot (row, p->x + (size_t) t * p->x_stride, p->k) + bias;
    }
}

static void
transpose (const float *src, size_t src_stride, int n_rows, int n_cols, float *dst)
{
  for (int col = 0; col < n_cols; col++)
    for (int row = 0; row < KVASIR_TILE; row++)
      dst[col * KVASIR_TILE + row] = row < n_rows ? src[(size_t) row * src_stride + col] : 0;
}

static void
dense (const KvasirDense *d)
{
  for (int r = 0; r < d->n_rows; r++)
    for (int j = 0; j < d->n_cols; j++)
      {
        float *c = d->c + (size_t) r * d->c_stride + j;
        float total = d->accumulate ? *c : 0;
        for (int i = 0; i < d->depth; i++)
          total += d->a[(size_t) r * d->a_stride + i] * d->b[(size_t) i * d->b_stride + j];
        *c = total;
      }
}

static void
round_query (const float *x, int64_t n, float scale, KvasirQueryBlock *blocks)
{
  for (; n > 0; n -= 32, x += 32, blocks++)
    {
      KvasirBlockQ8_0 block;
      int sum = 0;
      kvasir_q8_0_from_float (x, &block, 32);
      memcpy (blocks->q, block.qs, sizeof blocks->q);
      for (int i = 0; i < 32; i++)
        sum += block.qs[i];
      blocks->d = kvasir_f16_to_f32 (block.d) * scale;
      blocks->offset = -128 * sum;
    }
}

static void
softmax_of_row (float *scores, uint64_t open, float *max, float *total, float *factor)
{
  float new_max = *max, new_sum = 0;

  for (int i = 0; i < KVASIR_TILE; i++)
    if (open >> i & 1)
      new_max = fmaxf (new_max, scores[i]);
  *factor = open != 0 ? expf (*max - new_max) : 1;
  for (int i = 0; i < KVASIR_TILE; i++)
    {
      scores[i] = open >> i & 1 ? expf (scores[i] - new_max) : 0;
      new_sum += scores[i];
    }
  *total = *total * *factor + new_sum;
  *max = new_max;
}

static void
softmax (const KvasirTileSoftmax *s)
{
  for (int i = 0; i < s->n; i++)
    softmax_of_row (s->scores + i * KVASIR_TILE, s->open[i], &s->max[i], &s->sum[i],
                    &s->factors[i]);
}

#define PLAIN                                                                                      \
  {                                                                                                \
    .few = product, .many = product                                                                \
  }

static const KvasirProductKernel products[KVASIR_N_TYPES] = {
  [KVASIR_TYPE_F32] = PLAIN,   [KVASIR_TYPE_F16] = PLAIN,     [KVASIR_TYPE_BF16] = PLAIN,
  [KVASIR_TYPE_Q4_0] = PLAIN,  [KVASIR_TYPE_Q4_1] = PLAIN,    [KVASIR_TYPE_Q5_0] = PLAIN,
  [KVASIR_TYPE_Q5_1] = PLAIN,  [KVASIR_TYPE_Q8_0] = PLAIN,    [KVASIR_TYPE_Q2_K] = PLAIN,
  [KVASIR_TYPE_Q3_K] = PLAIN,  [KVASIR_TYPE_Q4_K] = PLAIN,    [KVASIR_TYPE_Q5_K] = PLAIN,
  [KVASIR_TYPE_Q6_K] = PLAIN,  [KVASIR_TYPE_IQ4_NL] = PLAIN,  [KVASIR_TYPE_IQ4_XS] = PLAIN,
  [KVASIR_TYPE_MXFP4] = PLAIN, [KVASIR_TYPE_IQ2_XXS] = PLAIN, [KVASIR_TYPE_IQ2_XS] = PLAIN,
  [KVASIR_TYPE_IQ2_S] = PLAIN, [KVASIR_TYPE_IQ3_XXS] = PLAIN, [KVASIR_TYPE_IQ3_S] = PLAIN,
  [KVASIR_TYPE_IQ1_S] = PLAIN, [KVASIR_TYPE_IQ1_M] = PLAIN,   [KVASIR_TYPE_TQ1_0] = PLAIN,
  [KVASIR_TYPE_TQ2_0] = PLAIN, [KVASIR_TYPE_NVFP4] = PLAIN,   [KVASIR_TYPE_Q1_0] = PLAIN,
  [KVASIR_TYPE_Q2_0] = PLAIN,
};

const KvasirCpuKernels kvasir_scalar_kernels = {
  .name = "scalar",
  .to_float = kvasir_scalar_to_float,
  .from_float = kvasir_scalar_from_float,
  .add = add,
  .mul = mul,
  .scale = scale,
  .unary = unary,
  .glu = glu,
  .rms_norm = rms_norm,
  .sum = sum,
  .squares = squares,
  .dot = dot,
  .softmax_row = softmax_row,
  .add_scaled = add_scaled,
  .update = update_line,
  .hadamard = hadamard,
  .rotate = rotate,
  .products = products,
  .transpose = transpose,
  .dense = dense,
  .round_query = round_query,
  .softmax = softmax,
};
