/* The unified cache seen through memory.h: two phases, events, room, buffers. */
#include <string.h>

#include "engine/error.h"
#include "tests/engine/memory/replay.h"
#include "tests/engine/memory/support.h"

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  Replay *replay;
  guint n_seen; /* events looked at */
} Fixture;

static const TestShape shape = {
  .n_ctx = 256, .n_seq_max = 3, .n_batch = 256, .n_ubatch = 16, .type = KVASIR_TYPE_F16
};

static void
fixture_init (Fixture *self, gconstpointer data)
{
  KvasirEventSink sink;

  test_heap_init (&self->heap);
  self->memory = test_memory_new (&self->heap, &shape);
  self->plan = test_plan_new (&shape);
  self->replay = replay_new (self->memory);
  sink = replay_get_sink (self->replay);
  kvasir_memory_set_sink (self->memory, &sink);
  self->n_seen = replay_get_n_events (self->replay);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  replay_free (self->replay);
}

static void
decode (Fixture *self, gint seq, guint n, guint seed)
{
  g_assert_cmpint (test_decode_some (self->memory, self->plan, seq, n, seed), ==, 0);
}

/* The next event, which must be of @type. */
static const KvasirEvent *
expect (Fixture *self, KvasirEventType type, const gint32 **data)
{
  const KvasirEvent *event;

  g_assert_cmpuint (self->n_seen, <, replay_get_n_events (self->replay));
  event = replay_peek_event (self->replay, self->n_seen++, data);
  g_assert_cmpint (event->type, ==, type);
  return event;
}

static void
expect_end (Fixture *self)
{
  g_assert_cmpuint (self->n_seen, ==, replay_get_n_events (self->replay));
}

static void
skip_events (Fixture *self)
{
  self->n_seen = replay_get_n_events (self->replay);
}

static void
expect_number (Fixture *self, KvasirEventType type, gint64 a, gint64 b)
{
  const KvasirEvent *event = expect (self, type, NULL);

  g_assert_cmpint (event->a, ==, a);
  g_assert_cmpint (event->b, ==, b);
}

/* A few cells of each layer are not worth whole huge pages. */
static void
test_settles_once_when_many (void)
{
  const TestShape large = {
    .n_ctx = 2048, .n_seq_max = 2, .n_batch = 1024, .n_ubatch = 512, .type = KVASIR_TYPE_F16
  };
  TestHeap heap;
  KvasirBatchPlan *plan = test_plan_new (&large);
  KvasirMemory *memory;

  test_heap_init (&heap);
  memory = test_memory_new (&heap, &large);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 1024, 1), ==, 0);
  g_assert_cmpuint (heap.n_settled, ==, 0);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 1, 2), ==, 0);
  g_assert_cmpuint (heap.n_settled, ==, heap.n_live);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 600, 3), ==, 0);
  g_assert_cmpuint (heap.n_settled, ==, heap.n_live);
  kvasir_memory_free (memory);
  kvasir_batch_plan_free (plan);
}

/* ---- two phases */

static void
test_prepare_touches_nothing (Fixture *self, gconstpointer data)
{
  gint32 tokens[100] = { 0 };
  KvasirBatch batch = { .n_tokens = 100, .tokens = tokens };
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  KvasirRoom room;

  decode (self, 0, 20, 1);
  kvasir_memory_seq_rm (self->memory, 0, 10, 12);
  before = test_memory_describe (self->memory);
  skip_events (self);
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  room = kvasir_memory_get_room (self->memory, 0, 238);
  g_assert_true (room.fits);
  g_assert_cmpuint (room.n_free, ==, 238);
  expect_end (self);
}

static void
test_no_room (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  const KvasirEvent *event;

  decode (self, 0, 200, 1);
  kvasir_memory_seq_rm (self->memory, 0, 100, 110);
  before = test_memory_describe (self->memory);
  skip_events (self);
  /* Several parts would fit before the one that does not. */
  g_assert_cmpint (test_decode_some (self->memory, self->plan, 1, 67, 1), ==, 1);
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  event = expect (self, KVASIR_EVENT_SEARCH_FAILED, NULL);
  g_assert_cmpint (event->cell, ==, 100);
  g_assert_cmpint (event->n, ==, 67);
  g_assert_cmpint (event->a, ==, 66);
  g_assert_cmpint (event->b, ==, 56);
  expect_end (self);
  decode (self, 1, 66, 1);
}

static void
test_rollback (Fixture *self, gconstpointer data)
{
  gint32 tokens[40] = { 0 };
  KvasirBatch batch = { .n_tokens = 40, .tokens = tokens };
  const KvasirUbatch *ubatch;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  decode (self, 1, 5, 1);
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
  g_assert_true (kvasir_memory_apply_next (self->memory, &ubatch));
  before = test_memory_describe (self->memory);
  g_assert_true (kvasir_memory_apply_next (self->memory, &ubatch));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 0), ==, 31);
  skip_events (self);
  kvasir_memory_rollback (self->memory);
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 0), ==, 15);
  g_assert_false (kvasir_memory_apply_next (self->memory, &ubatch));

  g_assert_cmpint (expect (self, KVASIR_EVENT_ROLLBACK, NULL)->n, ==, 16);
  expect (self, KVASIR_EVENT_CELLS, NULL);
  expect_number (self, KVASIR_EVENT_HEAD, 37, 0);
  expect_end (self);
}

/* ---- events */

static void
test_decode_events (Fixture *self, gconstpointer data)
{
  const KvasirEvent *event;
  const gint32 *numbers;

  /* Cells 2 and 3 of ten are free, and the head goes back to them. */
  decode (self, 0, 10, 1);
  kvasir_memory_seq_rm (self->memory, 0, 2, 4);
  skip_events (self);
  kvasir_memory_set_step (self->memory, 5);
  decode (self, 1, 3, 100);

  event = expect (self, KVASIR_EVENT_UBATCH, &numbers);
  g_assert_cmpint (event->n, ==, 3);
  g_assert_cmpint (event->a, ==, 0);
  g_assert_cmpint (event->b, ==, 256);
  g_assert_cmpuint (event->step, ==, 5);
  g_assert_cmpmem (numbers, 9 * sizeof *numbers,
                   ((const gint32[]){ 100, 0, 1, 113, 1, 1, 126, 2, 1 }), 9 * sizeof *numbers);
  event = expect (self, KVASIR_EVENT_SEARCH, &numbers);
  g_assert_cmpint (event->cell, ==, 2);
  g_assert_cmpint (event->n, ==, 3);
  g_assert_cmpint (event->a, ==, 9);
  g_assert_cmpint (event->b, ==, 0);
  g_assert_cmpmem (numbers, 4 * sizeof *numbers, ((const gint32[]){ 2, 2, 10, 1 }),
                   4 * sizeof *numbers);
  event = expect (self, KVASIR_EVENT_CELLS, &numbers);
  g_assert_cmpint (event->cell, ==, 2);
  g_assert_cmpint (event->n, ==, 2);
  g_assert_cmpint (event->before.pos, ==, -1);
  g_assert_cmpint (event->after.pos, ==, 0);
  g_assert_cmphex (event->after.seqs.w[0], ==, 2);
  g_assert_cmpmem (numbers, 2 * sizeof *numbers, ((const gint32[]){ 100, 113 }),
                   2 * sizeof *numbers);
  event = expect (self, KVASIR_EVENT_CELLS, NULL);
  g_assert_cmpint (event->cell, ==, 10);
  event = expect (self, KVASIR_EVENT_HEAD, NULL);
  g_assert_cmpint (event->cell, ==, 11);
  g_assert_cmpint (event->a, ==, 2);
  expect_end (self);
}

/* A shift that empties cells sets the head to the first of them, far above what is used. */
static void
test_search_events (Fixture *self, gconstpointer data)
{
  const KvasirEvent *event;
  const gint32 *numbers;

  decode (self, 0, 50, 1);
  decode (self, 1, 20, 1);
  kvasir_memory_seq_rm (self->memory, 0, -1, -1);
  g_assert_true (kvasir_memory_seq_add (self->memory, 1, -1, -1, -10));
  kvasir_memory_update_done (self->memory, 1);
  skip_events (self);
  decode (self, 2, 3, 1);

  expect (self, KVASIR_EVENT_UBATCH, NULL);
  event = expect (self, KVASIR_EVENT_SEARCH, &numbers);
  g_assert_cmpint (event->cell, ==, 50);
  g_assert_cmpint (event->a, ==, 3);
  g_assert_cmpint (event->b, ==, 1);
  g_assert_cmpmem (numbers, 2 * sizeof *numbers, ((const gint32[]){ 0, 3 }), 2 * sizeof *numbers);
}

static void
test_operation_events (Fixture *self, gconstpointer data)
{
  const KvasirEvent *event;

  decode (self, 0, 10, 1);
  skip_events (self);

  g_assert_true (kvasir_memory_seq_cp (self->memory, 0, 2, -1, 6));
  event = expect (self, KVASIR_EVENT_SEQ_CP, NULL);
  g_assert_cmpint (event->seq, ==, 0);
  g_assert_cmpint (event->pos, ==, 0);
  g_assert_cmpint (event->a, ==, 6);
  g_assert_cmpint (event->b, ==, 2);
  event = expect (self, KVASIR_EVENT_CELLS, NULL);
  g_assert_cmpint (event->n, ==, 6);
  g_assert_cmphex (event->before.seqs.w[0], ==, 1);
  g_assert_cmphex (event->after.seqs.w[0], ==, 5);

  /* Done again it changes nothing. */
  g_assert_true (kvasir_memory_seq_cp (self->memory, 0, 2, -1, 6));
  expect (self, KVASIR_EVENT_SEQ_CP, NULL);
  expect_end (self);

  g_assert_true (kvasir_memory_seq_add (self->memory, 0, 4, -1, 3));
  event = expect (self, KVASIR_EVENT_SEQ_ADD, NULL);
  g_assert_cmpint (event->a, ==, -1);
  g_assert_cmpint (event->b, ==, 3);
  event = expect (self, KVASIR_EVENT_CELLS, NULL);
  g_assert_cmpint (event->cell, ==, 4);
  g_assert_cmpint (event->n, ==, 2);
  g_assert_cmpint (event->after.pos, ==, 7);
  g_assert_cmpint (event->after.shift, ==, 3);
  expect (self, KVASIR_EVENT_CELLS, NULL);
  expect_number (self, KVASIR_EVENT_HEAD, 10, 0);

  g_assert_true (kvasir_memory_has_update (self->memory));
  kvasir_memory_update_done (self->memory, 77);
  event = expect (self, KVASIR_EVENT_SHIFT_APPLIED, NULL);
  g_assert_cmpint (event->n, ==, 6);
  g_assert_cmpint (event->b, ==, 77);
  g_assert_false (kvasir_memory_has_update (self->memory));
  skip_events (self);

  g_assert_true (kvasir_memory_seq_div (self->memory, 0, 10, -1, 2));
  g_assert_cmpint (expect (self, KVASIR_EVENT_SEQ_DIV, NULL)->b, ==, 2);
  skip_events (self);
  kvasir_memory_seq_keep (self->memory, 2);
  g_assert_cmpint (expect (self, KVASIR_EVENT_SEQ_KEEP, NULL)->seq, ==, 2);
  skip_events (self);
  kvasir_memory_clear (self->memory, TRUE);
  g_assert_cmpint (expect (self, KVASIR_EVENT_CLEAR, NULL)->a, ==, 1);
  g_assert_cmpint (expect (self, KVASIR_EVENT_CELLS, NULL)->n, ==, 4);
  g_assert_cmpint (expect (self, KVASIR_EVENT_CELLS, NULL)->n, ==, 2);
  expect_end (self);
}

static void
test_state_events (Fixture *self, gconstpointer data)
{
  g_autoptr (GByteArray) blob = g_byte_array_new ();
  const KvasirEvent *event;

  decode (self, 0, 10, 1);
  skip_events (self);
  g_assert_true (kvasir_memory_state_write (self->memory, 0, FALSE, blob, NULL));
  event = expect (self, KVASIR_EVENT_STATE_SAVE, NULL);
  g_assert_cmpint (event->seq, ==, 0);
  g_assert_cmpint (event->n, ==, 10);
  g_assert_cmpint (event->a, ==, blob->len);
  g_assert_false (kvasir_memory_state_read (self->memory, 1, TRUE, blob->data, blob->len, NULL));
  expect_number (self, KVASIR_EVENT_STATE_LOAD, blob->len, 0);
  expect_end (self);
  g_assert_true (kvasir_memory_state_read (self->memory, 1, FALSE, blob->data, blob->len, NULL));
  expect_number (self, KVASIR_EVENT_STATE_LOAD, blob->len, 1);
  expect (self, KVASIR_EVENT_CELLS, NULL);
}

/* A sink is told of the buffers that are there, and of their end. */
static void
test_buffer_events (void)
{
  TestHeap heap;
  KvasirMemory *memory;
  Replay *replay = replay_new (NULL);
  KvasirEventSink sink = replay_get_sink (replay);
  gint64 n_bytes = 0;

  test_heap_init (&heap);
  memory = test_memory_new (&heap, &shape);
  kvasir_memory_set_sink (memory, &sink);
  for (guint i = 0; i < replay_get_n_events (replay); i++)
    {
      const KvasirEvent *event = replay_peek_event (replay, i, NULL);

      g_assert_cmpint (event->type, ==, KVASIR_EVENT_BUFFER);
      g_assert_cmpstr (event->text, ==, "HEAP");
      n_bytes += event->a;
    }
  g_assert_cmpint (n_bytes, ==, heap.n_live_bytes);
  kvasir_memory_free (memory);
  for (guint i = 0; i < replay_get_n_events (replay); i++)
    n_bytes += i >= 2 ? replay_peek_event (replay, i, NULL)->a : 0;
  g_assert_cmpuint (replay_get_n_events (replay), ==, 4);
  g_assert_cmpint (n_bytes, ==, 0);

  /* Without a sink nothing is told. */
  memory = test_memory_new (&heap, &shape);
  kvasir_memory_set_sink (memory, &sink);
  kvasir_memory_set_sink (memory, NULL);
  kvasir_memory_clear (memory, FALSE);
  kvasir_memory_free (memory);
  g_assert_cmpuint (replay_get_n_events (replay), ==, 6);
  replay_free (replay);
}

/* n_kv covers every occupied cell in steps of 256, and a part taken back takes it back. */
static void
test_horizon (void)
{
  TestShape large = shape;
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  Replay *replay = replay_new (NULL);
  KvasirEventSink sink = replay_get_sink (replay);
  const KvasirEvent *event;

  large.n_ctx = 512;
  large.n_ubatch = 256;
  test_heap_init (&heap);
  memory = test_memory_new (&heap, &large);
  plan = test_plan_new (&large);
  g_assert_cmpuint (kvasir_memory_get_n_kv (memory, 0), ==, 0);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 1, 1), ==, 0);
  g_assert_cmpuint (kvasir_memory_get_n_kv (memory, 0), ==, 256);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 255, 1), ==, 0);
  g_assert_cmpuint (kvasir_memory_get_n_kv (memory, 0), ==, 256);

  kvasir_memory_set_sink (memory, &sink);
  g_assert_cmpint (test_decode_some (memory, plan, 0, 1, 1), ==, 0);
  g_assert_cmpuint (kvasir_memory_get_n_kv (memory, 0), ==, 512);
  event = replay_peek_event (replay, 2, NULL);
  g_assert_cmpint (event->type, ==, KVASIR_EVENT_UBATCH);
  g_assert_cmpint (event->b, ==, 512);
  event = replay_peek_event (replay, replay_get_n_events (replay) - 1, NULL);
  g_assert_cmpint (event->type, ==, KVASIR_EVENT_HORIZON);
  g_assert_cmpint (event->a, ==, 512);
  g_assert_cmpint (event->b, ==, 256);
  kvasir_memory_rollback (memory);
  g_assert_cmpuint (kvasir_memory_get_n_kv (memory, 0), ==, 256);

  kvasir_memory_free (memory);
  kvasir_batch_plan_free (plan);
  replay_free (replay);
}

/* ---- inputs of the graph */

static void
test_inputs (Fixture *self, gconstpointer data)
{
  gint32 cell_pos[256];
  gint32 shifts[256];

  decode (self, 0, 4, 1);
  decode (self, 1, 2, 1);
  kvasir_memory_seq_rm (self->memory, 0, 2, 3);
  g_assert_true (kvasir_memory_seq_add (self->memory, 0, 3, -1, -1));
  kvasir_memory_fill_cell_pos (self->memory, 0, cell_pos);
  kvasir_memory_fill_shifts (self->memory, 0, shifts);
  g_assert_cmpmem (cell_pos, 7 * sizeof (gint32), ((const gint32[]){ 0, 1, -1, 2, 0, 1, -1 }),
                   7 * sizeof (gint32));
  g_assert_cmpmem (shifts, 7 * sizeof (gint32), ((const gint32[]){ 0, 0, 0, -1, 0, 0, 0 }),
                   7 * sizeof (gint32));
  g_assert_cmpuint (kvasir_memory_get_n_caches (self->memory), ==, 1);
  g_assert_cmpuint (kvasir_memory_get_stream (self->memory, 0, 2), ==, 0);
}

/* Only the words up to n_kv are written, whatever the length of a row. */
static void
test_mask_bounds (Fixture *self, gconstpointer data)
{
  guint64 words[2 * 6];
  gint32 tokens[2] = { 1, 2 };
  KvasirBatch batch = { .n_tokens = 2, .tokens = tokens };
  const KvasirUbatch *ubatch;

  memset (words, 0x5a, sizeof words);
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
  g_assert_true (kvasir_memory_apply_next (self->memory, &ubatch));
  kvasir_memory_fill_mask (self->memory, 0, words, 6);
  g_assert_cmphex (words[0], ==, 1);
  g_assert_cmphex (words[6], ==, 3);
  for (guint i = 1; i < 4; i++)
    g_assert_cmphex (words[i] | words[6 + i], ==, 0);
  g_assert_cmphex (words[4], ==, 0x5a5a5a5a5a5a5a5a);
  g_assert_cmphex (words[11], ==, 0x5a5a5a5a5a5a5a5a);
}

static void
test_layers (Fixture *self, gconstpointer data)
{
  KvasirTensor *k;
  KvasirTensor *v;
  guint cache;

  kvasir_memory_get_layer (self->memory, 1, &k, &v, &cache);
  g_assert_cmpuint (cache, ==, 0);
  g_assert_cmpint (k->type, ==, KVASIR_TYPE_F16);
  g_assert_cmpint (k->ne[0], ==, 32);
  g_assert_cmpint (k->ne[1], ==, 256);
  g_assert_cmpint (k->ne[2], ==, 1);
  g_assert_cmpuint (k->nb[0], ==, 2);
  g_assert_cmpuint (k->nb[1], ==, 64);
  g_assert_cmpint (v->ne[0], ==, 64);
  g_assert_cmpstr (v->name, ==, "cache_v_l1");
  g_assert_true (k->buffer == v->buffer);
  kvasir_memory_get_layer (self->memory, 7, &k, &v, &cache);
  g_assert_null (k);
  g_assert_null (v);
}

static void
test_clear_zeroes (Fixture *self, gconstpointer data)
{
  KvasirTensor *k;
  KvasirTensor *v;
  guint cache;

  decode (self, 0, 3, 5);
  kvasir_memory_get_layer (self->memory, 0, &k, &v, &cache);
  kvasir_memory_clear (self->memory, FALSE);
  g_assert_cmpuint (*(guint8 *) k->data, !=, 0);
  kvasir_memory_clear (self->memory, TRUE);
  for (gsize i = 0; i < k->nb[2]; i++)
    g_assert_cmpuint (((guint8 *) k->data)[i], ==, 0);
}

/* ---- shifts */

/* Only layer 2 has attention. */
static void
fill_params (TestHeap *heap, KvasirMemoryParams *params, KvasirMemoryLayer layers[3])
{
  test_heap_init (heap);
  memset (layers, 0, 3 * sizeof *layers);
  layers[2] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                   .share = -1,
                                   .n_embd_k = 64,
                                   .n_embd_v = 32,
                                   .head_dim_k = 32,
                                   .head_dim_v = 16,
                                   .buffer_type = &heap->type };
  params->klass = KVASIR_MEMORY_KV;
  params->kv_size = params->kv_size != 0 ? params->kv_size : 256;
  params->n_streams = 1;
  params->n_seq_max = 2;
  params->n_ubatch = 8;
  params->n_pos_per_token = 1;
  params->is_causal = TRUE;
  params->n_layers = 3;
  params->layers = layers;
  params->arch = "test";
}

static KvasirMemory *
make (TestHeap *heap, KvasirMemoryParams *params, KvasirMemoryLayer *layers, GError **error)
{
  fill_params (heap, params, layers);
  return kvasir_memory_new (params, error);
}

static void
test_shift_obstacle (void)
{
  TestHeap heap;
  KvasirMemoryLayer layers[3];
  KvasirMemoryParams params = { .shift_obstacle = "four positions per token" };
  g_autoptr (KvasirMemory) memory = make (&heap, &params, layers, NULL);

  g_assert_cmpstr (kvasir_memory_get_shift_obstacle (memory), ==, "four positions per token");
  g_assert_false (kvasir_memory_seq_add (memory, 0, -1, -1, 1));
  g_assert_false (kvasir_memory_seq_div (memory, 0, -1, -1, 2));
}

/* Positions end before the largest number, so that there is one after every last one. */
static void
test_shift_beyond_range (Fixture *self, gconstpointer data)
{
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;

  g_assert_null (kvasir_memory_get_shift_obstacle (self->memory));
  decode (self, 0, 5, 1);
  before = test_memory_describe (self->memory);
  g_assert_false (kvasir_memory_seq_add (self->memory, 0, -1, -1, G_MAXINT32 - 4));
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  g_assert_true (kvasir_memory_seq_add (self->memory, 0, -1, -1, G_MAXINT32 - 5));
  g_assert_cmpint (kvasir_memory_seq_pos_max (self->memory, 0), ==, G_MAXINT32 - 1);
  g_assert_true (kvasir_memory_seq_add (self->memory, 0, -1, -1, G_MININT32));
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 0);
  g_assert_false (kvasir_memory_has_update (self->memory));
}

/* ---- buffers */

static guint64
sum_rows (const KvasirMemory *memory, GArray *rows)
{
  guint64 n_bytes = 0;

  kvasir_memory_append_breakdown (memory, rows);
  for (guint i = 0; i < rows->len; i++)
    n_bytes += g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  return n_bytes;
}

static void
test_measuring (void)
{
  TestHeap heap;
  KvasirMemoryLayer layers[3];
  KvasirMemoryParams params = { .type_k = KVASIR_TYPE_Q8_0, .type_v = KVASIR_TYPE_F16 };
  g_autoptr (KvasirMemory) real = make (&heap, &params, layers, NULL);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  g_autoptr (GArray) planned = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  g_autoptr (KvasirMemory) measured = NULL;
  TestHeap other;
  const KvasirMemoryRow *row;
  KvasirCacheInfo info;

  /* 256 cells of 2 blocks of 34 bytes, and of 32 values of 2 bytes. */
  g_assert_cmpuint (sum_rows (real, rows), ==, 256 * 68 + 256 * 64);
  g_assert_cmpuint (heap.n_live_bytes, ==, 256 * 68 + 256 * 64);
  g_assert_cmpuint (heap.n_live, ==, 1);
  row = &g_array_index (rows, KvasirMemoryRow, 0);
  g_assert_cmpstr (row->device, ==, "TEST0");
  g_assert_cmpstr (row->buffer_type, ==, "HEAP");
  g_assert_cmpint (row->kind, ==, KVASIR_KIND_KV_K);
  g_assert_cmpint (row->layer, ==, 2);
  kvasir_memory_get_cache_info (real, 0, &info);
  g_assert_cmpuint (info.bytes_per_cell, ==, 132);
  g_assert_cmpuint (info.k_bytes_per_cell, ==, 68);

  params.no_alloc = TRUE;
  measured = make (&other, &params, layers, NULL);
  g_assert_cmpuint (other.n_live, ==, 0);
  g_assert_cmpuint (sum_rows (measured, planned), ==, 256 * 132);
  g_assert_cmpuint (planned->len, ==, rows->len);
}

/* Where a buffer may not be as large as all tensors of its type, there are several. */
static void
test_chunks (void)
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirMemoryLayer layers[3];
  KvasirMemoryParams params = { .klass = KVASIR_MEMORY_KV,
                                .kv_size = 256,
                                .n_streams = 1,
                                .n_seq_max = 1,
                                .n_ubatch = 1,
                                .type_k = KVASIR_TYPE_F32,
                                .type_v = KVASIR_TYPE_F32,
                                .n_layers = 3,
                                .layers = layers,
                                .arch = "test" };
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  g_autoptr (GError) error = NULL;

  test_heap_init (&heap);
  for (gint i = 0; i < 3; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                     .share = -1,
                                     .n_embd_k = 4,
                                     .n_embd_v = 4,
                                     .head_dim_k = 4,
                                     .head_dim_v = 4,
                                     .buffer_type = &heap.type };
  /* Six tensors of 4096 bytes, two in each buffer. */
  heap.type.max_bytes = 3 * 4096 - 1;
  memory = kvasir_memory_new (&params, NULL);
  g_assert_cmpuint (heap.n_live, ==, 3);
  g_assert_cmpuint (sum_rows (memory, rows), ==, heap.n_live_bytes);
  kvasir_memory_free (memory);
  g_assert_cmpuint (heap.n_live, ==, 0);

  heap.type.max_bytes = 4095;
  g_assert_null (kvasir_memory_new (&params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  g_assert_cmpstr (error->message, ==, "cache_k_l0: no memory for 4096 bytes of buffer type HEAP");
}

static void
assert_not_made (KvasirMemoryParams *params, gsize fail_above, gint code, const char *message)
{
  TestHeap heap;
  KvasirMemoryLayer layers[3];
  g_autoptr (GError) error = NULL;

  fill_params (&heap, params, layers);
  heap.fail_above = fail_above;
  g_assert_null (kvasir_memory_new (params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_cmpuint (heap.n_live, ==, 0);
}

static void
test_not_made (void)
{
  assert_not_made (&(KvasirMemoryParams){ .kv_size = 256 }, 1000, KVASIR_ENGINE_ERROR_NO_MEMORY,
                   "KV cache: no memory for 98304 bytes of buffer type HEAP");
  assert_not_made (&(KvasirMemoryParams){ .kv_size = 256, .type_k = KVASIR_TYPE_Q4_K }, SIZE_MAX,
                   KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The K cache cannot be of type q4_K: expected f32, f16, bf16, q8_0, q4_0, "
                   "q4_1, iq4_nl, q5_0 or q5_1");
  assert_not_made (&(KvasirMemoryParams){ .kv_size = 256, .type_v = KVASIR_TYPE_Q8_0 }, SIZE_MAX,
                   KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The V cache of layer 2 cannot be of type q8_0: its blocks hold 32 values, "
                   "which does not divide the head width 16");
  assert_not_made (&(KvasirMemoryParams){ .kv_size = 1u << 31 }, SIZE_MAX,
                   KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "KV cache: 2147483648 cells asked for, expected at most 268435456");
}

/* Models that keep one row for all heads have K alone. */
static void
test_without_v (void)
{
  TestHeap heap;
  KvasirMemoryLayer layers[3];
  KvasirMemoryParams params = { .kv_size = 256 };
  KvasirMemory *memory;
  g_autoptr (GByteArray) blob = g_byte_array_new ();
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  KvasirTensor *k;
  KvasirTensor *v;
  KvasirCacheInfo info;
  guint cache;

  fill_params (&heap, &params, layers);
  layers[2].n_embd_k = layers[2].head_dim_k = 8;
  layers[2].n_embd_v = 0;
  memory = kvasir_memory_new (&params, NULL);
  kvasir_memory_get_layer (memory, 2, &k, &v, &cache);
  g_assert_nonnull (k);
  g_assert_null (v);
  kvasir_memory_get_cache_info (memory, cache, &info);
  g_assert_cmpuint (info.k_bytes_per_cell, ==, info.bytes_per_cell);
  g_assert_cmpuint (sum_rows (memory, rows), ==, 256 * 32);
  g_assert_cmpuint (rows->len, ==, 1);
  g_assert_true (kvasir_memory_state_write (memory, 0, FALSE, blob, NULL));
  g_assert_true (kvasir_memory_state_read (memory, 0, FALSE, blob->data, blob->len, NULL));
  kvasir_memory_free (memory);
}

static void
test_names (void)
{
  g_assert_cmpstr (kvasir_memory_class_get_name (KVASIR_MEMORY_NONE), ==, "none");
  g_assert_cmpstr (kvasir_memory_class_get_name (KVASIR_MEMORY_HYBRID_ISWA), ==, "hybrid_iswa");
  g_assert_cmpstr (kvasir_memory_kind_get_name (KVASIR_KIND_WEIGHTS), ==, "weights");
  g_assert_cmpstr (kvasir_memory_kind_get_name (KVASIR_KIND_CHECKPOINTS), ==, "checkpoints");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/kv-cache/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  ADD ("prepare-touches-nothing", test_prepare_touches_nothing);
  ADD ("no-room-changes-nothing", test_no_room);
  ADD ("rollback-takes-back-the-last-part", test_rollback);
  ADD ("decode-tells-what-happened", test_decode_events);
  ADD ("search-tells-where-it-looked", test_search_events);
  ADD ("operations-tell-what-happened", test_operation_events);
  ADD ("states-tell-what-happened", test_state_events);
  ADD ("inputs-of-the-graph", test_inputs);
  ADD ("mask-stays-in-its-words", test_mask_bounds);
  ADD ("layers-have-tensors", test_layers);
  ADD ("clear-zeroes-data", test_clear_zeroes);
  ADD ("shift-stays-in-range", test_shift_beyond_range);
  g_test_add_func ("/engine/memory/kv-cache/horizon-follows", test_horizon);
  g_test_add_func ("/engine/memory/kv-cache/sink-hears-of-buffers", test_buffer_events);
  g_test_add_func ("/engine/memory/kv-cache/shift-obstacle-refuses", test_shift_obstacle);
  g_test_add_func ("/engine/memory/kv-cache/measuring-agrees", test_measuring);
  g_test_add_func ("/engine/memory/kv-cache/splits-large-buffers", test_chunks);
  g_test_add_func ("/engine/memory/kv-cache/layers-without-v", test_without_v);
  g_test_add_func ("/engine/memory/kv-cache/refuses-what-cannot-be", test_not_made);
  g_test_add_func ("/engine/memory/kv-cache/names", test_names);
  g_test_add_func ("/engine/memory/kv-cache/settles-once-when-many", test_settles_once_when_many);
  return g_test_run ();
}
