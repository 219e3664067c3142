/* What goes when a cell that slid out of its window is used again, and how that is told. */
#include "tests/engine/memory/support.h"

#define N_SWA 32

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
  GArray *events; /* of KvasirEvent, those of the sliding half */
} Fixture;

static void
collect_event (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data)
{
  Fixture *self = user_data;

  if (event->cache == 1)
    g_array_append_val (self->events, *event);
}

static void
fixture_init (Fixture *self, gconstpointer data)
{
  KvasirMemoryLayer layers[2];
  KvasirMemoryParams params = { .klass = KVASIR_MEMORY_KV_ISWA,
                                .kv_size = 512,
                                .n_streams = 1,
                                .unified = TRUE,
                                .n_seq_max = 3,
                                .n_ubatch = 128,
                                .is_causal = TRUE,
                                .n_pos_per_token = 1,
                                .window = KVASIR_WINDOW_STANDARD,
                                .n_swa = N_SWA,
                                .n_layers = 2,
                                .layers = layers,
                                .arch = "test" };
  KvasirBatchLimits limits = {
    .n_batch = 128, .n_ubatch = 128, .n_seq_max = 3, .n_vocab = TEST_N_VOCAB, .n_pos_per_token = 1
  };

  test_heap_init (&self->heap);
  for (guint i = 0; i < 2; i++)
    layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                     .is_swa = i == 1,
                                     .share = -1,
                                     .n_embd_k = 2,
                                     .n_embd_v = 2,
                                     .head_dim_k = 2,
                                     .head_dim_v = 2,
                                     .buffer_type = &self->heap.type };
  self->memory = kvasir_memory_new (&params, NULL);
  self->plan = kvasir_batch_plan_new (&limits);
  self->events = g_array_new (FALSE, FALSE, sizeof (KvasirEvent));
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
  g_array_unref (self->events);
}

static void
decode (Fixture *self, gint seq, guint n)
{
  gint32 tokens[128] = { 0 };
  guint n_seqs[128];
  const gint32 *seqs[128];
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };
  const KvasirUbatch *ubatch;

  for (guint i = 0; i < n; i++)
    {
      seqs[i] = &seq;
      n_seqs[i] = 1;
    }
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
  while (kvasir_memory_apply_next (self->memory, &ubatch))
    continue;
}

/* The sliding half: cell 0 is free, cells 1 ... 99 hold positions 100 ... 198 of sequence 0, and
 * cells 100 ... 199 its positions 0 ... 99. */
static void
fill (Fixture *self)
{
  decode (self, 2, 1);
  decode (self, 1, 99);
  decode (self, 0, 100);
  g_assert_true (kvasir_memory_seq_rm (self->memory, 1, -1, -1));
  decode (self, 0, 99);
  g_assert_true (kvasir_memory_seq_rm (self->memory, 2, -1, -1));
}

static const KvasirEvent *
find_event (const Fixture *self, KvasirEventType type)
{
  const KvasirEvent *found = NULL;

  for (guint i = 0; i < self->events->len; i++)
    {
      const KvasirEvent *event = &g_array_index (self->events, KvasirEvent, i);

      if (event->type != type)
        continue;
      g_assert_null (found);
      found = event;
    }
  return found;
}

/* The second token takes the cell of position 100, before which the sequence then keeps nothing. */
static void
test_purge (Fixture *self, gconstpointer data)
{
  KvasirEventSink sink = { collect_event, self };
  const KvasirEvent *event;
  guint n_emptied = 0;

  fill (self);
  kvasir_memory_set_sink (self->memory, &sink);
  decode (self, 0, 2);
  event = find_event (self, KVASIR_EVENT_PURGE);
  g_assert_nonnull (event);
  g_assert_cmpint (event->seq, ==, 0);
  g_assert_cmpint (event->pos, ==, 0);
  g_assert_cmpint (event->a, ==, 101);
  g_assert_cmpint (event->cell, ==, 1);
  for (guint i = 0; i < self->events->len; i++)
    {
      event = &g_array_index (self->events, KvasirEvent, i);
      if (event->type == KVASIR_EVENT_CELLS && event->after.pos < 0)
        n_emptied += (guint) event->n;
    }
  g_assert_cmpuint (n_emptied, ==, 100);
  g_assert_cmpint (kvasir_memory_seq_pos_min (self->memory, 0), ==, 101);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 1, 0), ==, 100);
  g_assert_cmpuint (kvasir_memory_get_used (self->memory, 0, 0), ==, 201);
}

/* What a plan would overwrite and purge is there again once the plan is made. */
static void
test_plan_leaves_no_trace (Fixture *self, gconstpointer data)
{
  KvasirEventSink sink = { collect_event, self };
  gint32 tokens[100] = { 0 };
  KvasirBatch batch = { .n_tokens = 100, .tokens = tokens };
  KvasirCell before[256];

  fill (self);
  for (guint i = 0; i < 256; i++)
    kvasir_memory_get_cell (self->memory, 1, 0, i, &before[i]);
  kvasir_memory_set_sink (self->memory, &sink);
  g_array_set_size (self->events, 0);
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (self->memory, self->plan), ==, KVASIR_PREPARE_OK);
  for (guint i = 0; i < 256; i++)
    {
      KvasirCell cell;

      kvasir_memory_get_cell (self->memory, 1, 0, i, &cell);
      g_assert_cmpint (cell.pos, ==, before[i].pos);
      g_assert_cmpint (cell.token, ==, before[i].token);
      g_assert_cmpuint (cell.step, ==, before[i].step);
      g_assert_true (kvasir_seq_set_equal (&cell.seqs, &before[i].seqs));
    }
  g_assert_cmpint (kvasir_memory_seq_pos_min (self->memory, 0), ==, 0);
  g_assert_cmpuint (kvasir_memory_get_head (self->memory, 1, 0), ==, 0);
  g_assert_cmpuint (self->events->len, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/purge/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  ADD ("tells-its-cause", test_purge);
  ADD ("plan-leaves-no-trace", test_plan_leaves_no_trace);
  return g_test_run ();
}
