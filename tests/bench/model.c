#include "model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TENSORS 2048

struct BenchModel
{
  KvasirDevice *device;
  KvasirTensor *tensors[MAX_TENSORS];
  size_t n_tensors;
  KvasirBuffer *packed[MAX_TENSORS];
  size_t n_packed;
  KvasirTensor *nodes[MAX_TENSORS];
  size_t n_nodes;
  KvasirPlan *plan;
  KvasirTensor *positions, *ids, *mask;
};

static BenchModel *
new_model (const KvasirCpuOptions *options)
{
  BenchModel *model = calloc (1, sizeof *model);

  assert (model != NULL);
  model->device = kvasir_cpu_device_new (options);
  assert (model->device != NULL);
  return model;
}

static KvasirTensor *
new_tensor (BenchModel *model, KvasirType type, int64_t ne0, int64_t ne1, int64_t ne2)
{
  KvasirBufferType *buffer_type = model->device->buffer_type;
  KvasirTensor *tensor = calloc (1, sizeof *tensor);

  assert (tensor != NULL && model->n_tensors < MAX_TENSORS);
  *tensor = (KvasirTensor){ .type = type, .ne = { ne0, ne1, ne2, 1 } };
  tensor->nb[0] = kvasir_type_get_block_bytes ((int) type);
  tensor->nb[1] = kvasir_type_get_row_bytes ((int) type, ne0);
  tensor->nb[2] = tensor->nb[1] * (size_t) ne1;
  tensor->nb[3] = tensor->nb[2] * (size_t) ne2;
  tensor->buffer =
      buffer_type->alloc (buffer_type, buffer_type->get_alloc_bytes (buffer_type, tensor));
  assert (tensor->buffer != NULL);
  tensor->buffer->vtable->settle (tensor->buffer);
  tensor->data = tensor->buffer->base;
  model->tensors[model->n_tensors++] = tensor;
  return tensor;
}

/* Where the halves of a block's scales are. */
static size_t
get_scale_offset (KvasirType type, size_t block)
{
  if (type == KVASIR_TYPE_Q2_K)
    return 80;
  return type == KVASIR_TYPE_Q3_K || type == KVASIR_TYPE_Q6_K ? block - 2 : 0;
}

static bool
has_two_scales (KvasirType type)
{
  return type == KVASIR_TYPE_Q2_K || type == KVASIR_TYPE_Q4_K || type == KVASIR_TYPE_Q5_K;
}

/* In the order of the device's own, as weights are some time after loading. */
static void
pack (BenchModel *model, KvasirTensor *tensor)
{
  KvasirDevice *device = model->device;
  KvasirBufferType *type = device->packed_buffer_type;

  if (!device->vtable->can_pack (device, tensor))
    return;
  KvasirBuffer *buffer = type->alloc (type, tensor->nb[3]);
  assert (buffer != NULL);
  model->packed[model->n_packed++] = buffer;
  tensor->packed = buffer->base;
  device->vtable->pack (device, tensor, tensor->nb[3]);
}

/* Small numbers in every type: the high bits of floats and halves are fixed. The rest is the same
 * few thousand blocks again and again, which are drawn once. */
static KvasirTensor *
new_weights (BenchModel *model, KvasirType type, int64_t ne0, int64_t ne1)
{
  KvasirTensor *tensor = new_tensor (model, type, ne0, ne1, 1);
  size_t block = tensor->nb[0], size = tensor->nb[3], scale = get_scale_offset (type, block);
  size_t drawn = size < 4096 * block ? size : 4096 * block;
  uint8_t *bytes = tensor->data;
  uint32_t state = 1;

  for (size_t i = 0; i < drawn; i++)
    {
      state = state * 1664525 + 1013904223;
      bytes[i] = (uint8_t) (state >> 24);
    }
  for (size_t i = 0; i < drawn; i += block)
    if (type == KVASIR_TYPE_F32)
      bytes[i + 3] = (uint8_t) (0x3c | (bytes[i + 3] & 0x80));
    else
      for (size_t at = scale + 1; at < scale + (has_two_scales (type) ? 4 : 2); at += 2)
        bytes[i + at] = (uint8_t) (0x18 | (bytes[i + at] & 0x83));
  for (size_t i = drawn; i < size; i += drawn)
    memcpy (bytes + i, bytes, size - i < drawn ? size - i : drawn);
  pack (model, tensor);
  return tensor;
}

static KvasirTensor *
add_node (BenchModel *model, KvasirOp op, int64_t ne0, int64_t ne1, int64_t ne2)
{
  KvasirTensor *node = new_tensor (model, KVASIR_TYPE_F32, ne0, ne1, ne2);

  node->op = op;
  for (int i = 0; i < KVASIR_MAX_DIMS; i++)
    node->dyn[i] = KVASIR_DYN_NONE;
  model->nodes[model->n_nodes++] = node;
  return node;
}

static void
make_plan (BenchModel *model)
{
  model->plan = model->device->vtable->plan_new (model->device, model->nodes, model->n_nodes);
  assert (model->plan != NULL);
}

/* The extent that counts tokens is the last one that is not 1 in the shapes made here. */
static KvasirTensor *
set_dyn (KvasirTensor *tensor, int extent)
{
  tensor->dyn[extent] = KVASIR_DYN_TOKENS;
  return tensor;
}

static KvasirTensor *
add_product (BenchModel *model, KvasirTensor *w, KvasirTensor *x)
{
  KvasirTensor *y = add_node (model, KVASIR_OP_MUL_MAT, w->ne[1], x->ne[1], 1);

  y->src[0] = w;
  y->src[1] = x;
  return set_dyn (y, 1);
}

BenchModel *
bench_matrix_new (
    const KvasirCpuOptions *options, KvasirType type, int64_t k, int64_t rows, int64_t n_tokens)
{
  BenchModel *model = new_model (options);
  KvasirTensor *w = new_weights (model, type, k, rows);
  KvasirTensor *x = new_weights (model, KVASIR_TYPE_F32, k, n_tokens);

  add_product (model, w, set_dyn (x, 1));
  make_plan (model);
  return model;
}

const char *
bench_model_get_device (const BenchModel *model)
{
  return model->device->description;
}

#define WIDTH 576
#define INNER 1536
#define HEAD 64
#define N_HEADS 9
#define N_KV_HEADS 3
#define N_LAYERS 30
#define N_VOCAB 49152

static KvasirTensor *
add_norm (BenchModel *model, KvasirTensor *x)
{
  KvasirTensor *y = add_node (model, KVASIR_OP_RMS_NORM, x->ne[0], x->ne[1], 1);

  y->src[0] = x;
  y->src[1] = new_weights (model, KVASIR_TYPE_F32, x->ne[0], 1);
  y->params.norm.eps = 1e-5f;
  return set_dyn (y, 1);
}

static KvasirTensor *
add_sum (BenchModel *model, KvasirTensor *a, KvasirTensor *b)
{
  KvasirTensor *y = add_node (model, KVASIR_OP_ADD, a->ne[0], a->ne[1], 1);

  y->src[0] = a;
  y->src[1] = b;
  return set_dyn (y, 1);
}

/* The same bytes as heads. */
static KvasirTensor *
add_heads (BenchModel *model, KvasirTensor *x, int64_t n_heads)
{
  KvasirTensor *view = calloc (1, sizeof *view);

  assert (view != NULL);
  *view = *x;
  view->op = KVASIR_OP_VIEW;
  memset (view->src, 0, sizeof view->src);
  view->src[0] = view->view_src = x;
  view->ne[0] = HEAD;
  view->ne[1] = n_heads;
  view->ne[2] = x->ne[1];
  view->nb[1] = HEAD * sizeof (float);
  view->nb[2] = x->nb[1];
  memset (view->dyn, 0, sizeof view->dyn);
  model->tensors[model->n_tensors++] = view;
  return set_dyn (view, 2);
}

static const KvasirRopeParams rope_params = {
  .n_rot = HEAD, .freq_base = 10000, .freq_scale = 1, .attn_factor = 1, .n_ctx_orig = 2048
};

static KvasirTensor *
add_rope (BenchModel *model, KvasirTensor *x, int64_t n_heads)
{
  KvasirTensor *heads = add_heads (model, x, n_heads);
  KvasirTensor *y = add_node (model, KVASIR_OP_ROPE, HEAD, n_heads, heads->ne[2]);

  y->src[0] = heads;
  y->src[1] = model->positions;
  y->params.rope = rope_params;
  return set_dyn (y, 2);
}

BenchModel *
bench_shift_new (KvasirCpuIsa isa, int n_threads, int64_t n_cells)
{
  BenchModel *model = new_model (&(KvasirCpuOptions){ isa, n_threads });
  KvasirTensor *shifts = new_tensor (model, KVASIR_TYPE_I32, n_cells, 1, 1);

  for (int64_t i = 0; i < n_cells; i++)
    ((int32_t *) shifts->data)[i] = -1;
  for (int layer = 0; layer < N_LAYERS; layer++)
    {
      KvasirTensor *cache = new_weights (model, KVASIR_TYPE_F16, HEAD * N_KV_HEADS, n_cells);
      KvasirTensor *node = calloc (1, sizeof *node);
      assert (node != NULL);
      *node = *cache;
      node->op = KVASIR_OP_ROPE_SHIFT;
      node->src[0] = node->view_src = cache;
      node->src[1] = shifts;
      node->params.rope = rope_params;
      model->tensors[model->n_tensors++] = node;
      model->nodes[model->n_nodes++] = node;
    }
  make_plan (model);
  return model;
}

static KvasirTensor *
as_rows (BenchModel *model, KvasirTensor *x)
{
  KvasirTensor *view = add_heads (model, x, 1);

  view->ne[0] = x->ne[0] * x->ne[1];
  view->ne[1] = x->ne[2];
  view->ne[2] = 1;
  view->nb[1] = x->nb[2];
  memset (view->dyn, 0, sizeof view->dyn);
  return set_dyn (view, 1);
}

static KvasirTensor *
add_store (BenchModel *model, KvasirTensor *x, int64_t n_cells)
{
  KvasirTensor *cache = new_weights (model, KVASIR_TYPE_F16, HEAD * N_KV_HEADS, n_cells);
  KvasirTensor *node = calloc (1, sizeof *node);

  assert (node != NULL);
  *node = *cache;
  node->op = KVASIR_OP_SET_ROWS;
  node->src[0] = x;
  node->src[1] = model->ids;
  node->src[2] = node->view_src = cache;
  model->tensors[model->n_tensors++] = node;
  model->nodes[model->n_nodes++] = node;
  return cache;
}

static KvasirTensor *
add_attention (BenchModel *model, KvasirType type, KvasirTensor *x, int64_t n_cells)
{
  KvasirTensor *q = add_product (model, new_weights (model, type, WIDTH, WIDTH), x);
  KvasirTensor *k = add_product (model, new_weights (model, type, WIDTH, HEAD * N_KV_HEADS), x);
  KvasirTensor *v = add_product (model, new_weights (model, type, WIDTH, HEAD * N_KV_HEADS), x);
  KvasirTensor *queries = add_rope (model, q, N_HEADS);
  KvasirTensor *keys = add_rope (model, k, N_KV_HEADS);
  KvasirTensor *k_cache = add_store (model, as_rows (model, keys), n_cells);
  KvasirTensor *v_cache = add_store (model, v, n_cells);
  KvasirTensor *out = add_node (model, KVASIR_OP_ATTENTION, WIDTH, x->ne[1], 1);

  out->src[0] = queries;
  out->src[1] = k_cache;
  out->src[2] = v_cache;
  out->src[3] = model->mask;
  out->params.attention = (KvasirAttentionParams){ .head_dim_k = HEAD,
                                                   .head_dim_v = HEAD,
                                                   .n_heads = N_HEADS,
                                                   .n_kv_heads = N_KV_HEADS,
                                                   .scale = 0.125f };
  return add_product (model, new_weights (model, type, WIDTH, WIDTH), set_dyn (out, 1));
}

static KvasirTensor *
add_mlp (BenchModel *model, KvasirType type, KvasirTensor *x)
{
  KvasirTensor *gate = add_product (model, new_weights (model, type, WIDTH, INNER), x);
  KvasirTensor *up = add_product (model, new_weights (model, type, WIDTH, INNER), x);
  KvasirTensor *glu = add_node (model, KVASIR_OP_GLU, INNER, x->ne[1], 1);

  glu->src[0] = gate;
  glu->src[1] = up;
  glu->params.unary.kind = KVASIR_UNARY_SILU;
  return add_product (model, new_weights (model, type, INNER, WIDTH), set_dyn (glu, 1));
}

BenchModel *
bench_smollm_new (
    KvasirCpuIsa isa, int n_threads, KvasirType type, int64_t max_tokens, int64_t n_cells)
{
  BenchModel *model = new_model (&(KvasirCpuOptions){ isa, n_threads });
  KvasirTensor *x = set_dyn (new_weights (model, KVASIR_TYPE_F32, WIDTH, max_tokens), 1);

  model->positions = set_dyn (new_tensor (model, KVASIR_TYPE_I32, max_tokens, 1, 1), 0);
  model->ids = set_dyn (new_tensor (model, KVASIR_TYPE_I64, max_tokens, 1, 1), 0);
  model->mask = set_dyn (new_tensor (model, KVASIR_TYPE_I64, n_cells / 64, max_tokens, 1), 1);
  memset (model->mask->data, 0xff, model->mask->nb[3]);
  for (int64_t i = 0; i < max_tokens; i++)
    ((int64_t *) model->ids->data)[i] = i;
  for (int layer = 0; layer < N_LAYERS; layer++)
    {
      x = add_sum (model, x, add_attention (model, type, add_norm (model, x), n_cells));
      x = add_sum (model, x, add_mlp (model, type, add_norm (model, x)));
    }
  x = add_norm (model, x);
  KvasirTensor *last = as_rows (model, add_heads (model, x, N_HEADS));
  last->ne[1] = 1;
  last->dyn[1] = KVASIR_DYN_NONE;
  KvasirTensor *logits =
      add_product (model, new_weights (model, KVASIR_TYPE_Q8_0, WIDTH, N_VOCAB), last);
  logits->dyn[1] = KVASIR_DYN_NONE;
  make_plan (model);
  return model;
}

void
bench_model_compute (BenchModel *model, int n_tokens, int n_kv)
{
  KvasirStep step = { .n_tokens = n_tokens, .n_outputs = 1, .n_kv = { n_kv } };
  KvasirStatus status;

  for (size_t i = 0; i < model->n_tensors; i++)
    for (int d = 0; d < KVASIR_MAX_DIMS; d++)
      if (model->tensors[i]->dyn[d] == KVASIR_DYN_TOKENS)
        model->tensors[i]->ne[d] = n_tokens;
  status = model->device->vtable->plan_compute (model->plan, 0, model->n_nodes, &step);
  assert (status == KVASIR_STATUS_OK);
}

void
bench_model_free (BenchModel *model)
{
  model->device->vtable->plan_free (model->plan);
  for (size_t i = 0; i < model->n_tensors; i++)
    {
      if (model->tensors[i]->view_src == NULL)
        model->tensors[i]->buffer->vtable->free (model->tensors[i]->buffer);
      free (model->tensors[i]);
    }
  for (size_t i = 0; i < model->n_packed; i++)
    model->packed[i]->vtable->free (model->packed[i]);
  model->device->vtable->free (model->device);
  free (model);
}
