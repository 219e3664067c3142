#include "tests/engine/memory/support.h"

#include <string.h>

#define HEAD_DIM 32

static size_t
get_alloc_bytes (const KvasirBufferType *type, const KvasirTensor *tensor)
{
  return tensor->nb[3];
}

static void
buffer_free (KvasirBuffer *buffer)
{
  TestHeap *heap = (TestHeap *) buffer->type;

  heap->n_live--;
  heap->n_live_bytes -= buffer->n_bytes;
  g_free (buffer->base);
  g_free (buffer);
}

static void
buffer_set (KvasirBuffer *buffer, size_t offset, const void *bytes, size_t n_bytes)
{
  g_assert_cmpuint (offset + n_bytes, <=, buffer->n_bytes);
  memcpy ((char *) buffer->base + offset, bytes, n_bytes);
}

static void
buffer_get (const KvasirBuffer *buffer, size_t offset, void *bytes, size_t n_bytes)
{
  g_assert_cmpuint (offset + n_bytes, <=, buffer->n_bytes);
  memcpy (bytes, (const char *) buffer->base + offset, n_bytes);
}

static void
buffer_clear (KvasirBuffer *buffer, uint8_t value)
{
  memset (buffer->base, value, buffer->n_bytes);
}

static void
buffer_settle (KvasirBuffer *buffer)
{
  ((TestHeap *) buffer->type)->n_settled++;
}

static const KvasirBufferVtable buffer_vtable = {
  .free = buffer_free,
  .set = buffer_set,
  .get = buffer_get,
  .clear = buffer_clear,
  .settle = buffer_settle,
};

static KvasirBuffer *
heap_alloc (KvasirBufferType *type, size_t n_bytes)
{
  TestHeap *heap = (TestHeap *) type;
  KvasirBuffer *buffer;

  if (n_bytes > heap->fail_above)
    return NULL;
  buffer = g_new0 (KvasirBuffer, 1);
  buffer->type = type;
  buffer->base = g_malloc0 (n_bytes);
  buffer->n_bytes = n_bytes;
  buffer->vtable = &buffer_vtable;
  heap->n_live++;
  heap->n_live_bytes += n_bytes;
  return buffer;
}

void
test_heap_init (TestHeap *self)
{
  *self = (TestHeap){ .fail_above = SIZE_MAX };
  self->device.name = "TEST0";
  self->type = (KvasirBufferType){ .name = "HEAP",
                                   .device = &self->device,
                                   .alignment = 64,
                                   .max_bytes = SIZE_MAX,
                                   .is_host = true,
                                   .get_alloc_bytes = get_alloc_bytes,
                                   .alloc = heap_alloc };
}

KvasirMemory *
test_memory_new (TestHeap *heap, const TestShape *shape)
{
  KvasirMemoryLayer layers[TEST_N_LAYERS];
  KvasirMemoryParams params = { .klass = KVASIR_MEMORY_KV,
                                .kv_size = (shape->n_ctx + 255) / 256 * 256,
                                .n_streams = 1,
                                .unified = TRUE,
                                .n_seq_max = shape->n_seq_max,
                                .n_ubatch = shape->n_ubatch,
                                .type_k = shape->type,
                                .type_v = shape->type,
                                .is_causal = TRUE,
                                .n_pos_per_token = 1,
                                .n_layers = TEST_N_LAYERS,
                                .layers = layers,
                                .arch = "test",
                                .rope_hash = 7,
                                .n_ctx_seq = (shape->n_ctx + 255) / 256 * 256 };
  g_autoptr (GError) error = NULL;
  KvasirMemory *memory;

  for (guint i = 0; i < TEST_N_LAYERS; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                     .share = -1,
                                     .n_embd_k = HEAD_DIM,
                                     .n_embd_v = 2 * HEAD_DIM,
                                     .head_dim_k = HEAD_DIM,
                                     .head_dim_v = HEAD_DIM,
                                     .buffer_type = &heap->type };
  memory = kvasir_memory_new (&params, &error);
  g_assert_no_error (error);
  g_assert_nonnull (memory);
  return memory;
}

KvasirBatchPlan *
test_plan_new (const TestShape *shape)
{
  guint n_ctx = (shape->n_ctx + 255) / 256 * 256;
  KvasirBatchLimits limits = { .n_batch = MIN (shape->n_batch, n_ctx),
                               .n_seq_max = shape->n_seq_max,
                               .n_vocab = TEST_N_VOCAB,
                               .n_pos_per_token = 1 };

  limits.n_ubatch = MIN (shape->n_ubatch, limits.n_batch);
  return kvasir_batch_plan_new (&limits);
}

/* One row's bytes of tensor @k_or_v of a layer. */
static guint8
get_row_byte (gint32 token, guint layer, gboolean of_v, gsize i)
{
  return (guint8) (token * 31 + (gint32) layer * 7 + (of_v ? 3 : 1) + (gint32) i);
}

void
test_write_rows (const KvasirMemory *memory, guint cell, gint32 token)
{
  for (guint layer = 0; layer < TEST_N_LAYERS; layer++)
    {
      KvasirTensor *tensors[2];
      guint cache;

      kvasir_memory_get_layer (memory, layer, &tensors[0], &tensors[1], &cache);
      for (guint v = 0; v < 2; v++)
        for (gsize i = 0; i < tensors[v]->nb[1]; i++)
          ((guint8 *) tensors[v]->data)[cell * tensors[v]->nb[1] + i] =
              get_row_byte (token, layer, v == 1, i);
    }
}

void
test_assert_rows (KvasirMemory *memory, guint cell, gint32 token)
{
  for (guint layer = 0; layer < TEST_N_LAYERS; layer++)
    {
      KvasirTensor *tensors[2];
      guint cache;

      kvasir_memory_get_layer (memory, layer, &tensors[0], &tensors[1], &cache);
      for (guint v = 0; v < 2; v++)
        for (gsize i = 0; i < tensors[v]->nb[1]; i++)
          g_assert_cmpuint (((guint8 *) tensors[v]->data)[cell * tensors[v]->nb[1] + i], ==,
                            get_row_byte (token, layer, v == 1, i));
    }
}

gint
test_decode (KvasirMemory *memory,
             KvasirBatchPlan *plan,
             const KvasirBatch *batch,
             TestUbatchFunc seen,
             gpointer data)
{
  const KvasirUbatch *ubatch;

  if (!kvasir_batch_plan_init (plan, batch, memory, NULL))
    return -1;
  kvasir_memory_update_done (memory, 0);
  if (kvasir_memory_init_batch (memory, plan) != KVASIR_PREPARE_OK)
    return 1;
  while (kvasir_memory_apply_next (memory, &ubatch))
    {
      g_autofree gint64 *slots = g_new (gint64, ubatch->n_tokens);

      kvasir_memory_fill_slots (memory, 0, slots);
      for (guint i = 0; i < ubatch->n_tokens; i++)
        test_write_rows (memory, (guint) slots[i], ubatch->tokens[i]);
      if (seen != NULL)
        seen (memory, ubatch, data);
    }
  return 0;
}

gint
test_decode_some (KvasirMemory *memory, KvasirBatchPlan *plan, gint seq, guint n, guint seed)
{
  g_autofree gint32 *tokens = g_new (gint32, n);
  g_autofree const gint32 **seqs = g_new (const gint32 *, n);
  g_autofree guint *n_seqs = g_new (guint, n);
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };

  for (guint i = 0; i < n; i++)
    {
      tokens[i] = (gint32) ((seed + 13 * i) % TEST_N_VOCAB);
      seqs[i] = &seq;
      n_seqs[i] = 1;
    }
  return test_decode (memory, plan, &batch, NULL, NULL);
}

char *
test_memory_describe (KvasirMemory *memory)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (
      text, "head %u used %u end %u n_kv %u\n", kvasir_memory_get_head (memory, 0, 0),
      kvasir_memory_get_used (memory, 0, 0), kvasir_memory_get_used_max (memory, 0, 0),
      kvasir_memory_get_n_kv (memory, 0));
  for (guint i = 0; i < kvasir_memory_get_size (memory, 0); i++)
    {
      KvasirCell cell;

      kvasir_memory_get_cell (memory, 0, 0, i, &cell);
      g_string_append_printf (text, "%u: %d %d %d %u", i, cell.pos, cell.shift, cell.token,
                              cell.step);
      for (gint seq = kvasir_seq_set_next (&cell.seqs, 0); seq >= 0;
           seq = kvasir_seq_set_next (&cell.seqs, (guint) seq + 1))
        g_string_append_printf (text, " s%d", seq);
      g_string_append_c (text, '\n');
    }
  return g_string_free (text, FALSE);
}

guint64
test_memory_hash_rows (KvasirMemory *memory)
{
  guint64 hash = 14695981039346656037u;

  for (guint layer = 0; layer < TEST_N_LAYERS; layer++)
    {
      KvasirTensor *tensors[2];
      guint cache;

      kvasir_memory_get_layer (memory, layer, &tensors[0], &tensors[1], &cache);
      for (guint v = 0; v < 2; v++)
        for (gsize i = 0; i < tensors[v]->nb[2]; i++)
          hash = (hash ^ ((guint8 *) tensors[v]->data)[i]) * 1099511628211u;
    }
  return hash;
}
