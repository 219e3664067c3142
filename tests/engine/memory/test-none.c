/* What encoders have in place of a memory: the scratch rows, who reads whom, and that a sequence
 * lies in one ubatch. The masks of mixed sequences are those of a golden trace (none/masks); those
 * of windows follow the definition in memory-params.h. */
#include "engine/memory/none.h"

#include <string.h>

#include "engine/error.h"
#include "tests/engine/memory/support.h"

#define N_LAYERS 4
#define N_UBATCH 70

typedef struct
{
  TestHeap heap;
  KvasirMemoryLayer layers[N_LAYERS];
  KvasirMemoryParams params;
  KvasirPart *part;
  KvasirBatchPlan *plan;
} Fixture;

/* Layers 0 and 1 have one shape, 2 another; 3 slides. */
static void
fixture_init (Fixture *self, gconstpointer data)
{
  KvasirBatchLimits limits = {
    .n_batch = 200, .n_ubatch = N_UBATCH, .n_seq_max = 4, .n_vocab = 100, .n_pos_per_token = 1
  };

  test_heap_init (&self->heap);
  for (guint i = 0; i < N_LAYERS; i++)
    self->layers[i] = (KvasirMemoryLayer){ .has_attention = TRUE,
                                           .is_swa = i == 3,
                                           .share = -1,
                                           .n_embd_k = i == 2 ? 16 : 8,
                                           .n_embd_v = 8,
                                           .buffer_type = &self->heap.type };
  self->params = (KvasirMemoryParams){ .klass = KVASIR_MEMORY_NONE,
                                       .n_streams = 1,
                                       .n_seq_max = 4,
                                       .n_ubatch = N_UBATCH,
                                       .window = KVASIR_WINDOW_SYMMETRIC,
                                       .n_swa = 4,
                                       .n_pos_per_token = 1,
                                       .n_layers = N_LAYERS,
                                       .layers = self->layers };
  self->plan = kvasir_batch_plan_new (&limits);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  if (self->part != NULL)
    self->part->vtable->free (self->part);
  kvasir_batch_plan_free (self->plan);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
}

static void
make (Fixture *self, gboolean is_swa)
{
  g_autoptr (GError) error = NULL;

  self->part = kvasir_none_new (&self->params, is_swa, &error);
  g_assert_no_error (error);
  self->part->name = "none";
}

/* One digit for each token's sequence. Returns: whether the batch may be computed so */
static gboolean
prepare (Fixture *self, const char *digits, KvasirSplit split)
{
  static const gint32 ids[] = { 0, 1, 2, 3 };
  guint n = (guint) strlen (digits);
  g_autofree gint32 *tokens = g_new0 (gint32, n);
  g_autofree const gint32 **seqs = g_new (const gint32 *, n);
  g_autofree guint *n_seqs = g_new (guint, n);
  KvasirBatch batch = { .n_tokens = n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };

  for (guint i = 0; i < n; i++)
    {
      seqs[i] = &ids[digits[i] - '0'];
      n_seqs[i] = 1;
    }
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, NULL, NULL));
  g_assert_true (kvasir_batch_plan_split (self->plan, split, 0));
  return self->part->vtable->prepare (self->part, self->plan, FALSE);
}

/* The mask of the only ubatch, a row of digits for each token. */
static char *
describe_mask (Fixture *self)
{
  const KvasirPartVtable *vtable = self->part->vtable;
  const KvasirUbatch *ubatch = kvasir_batch_plan_get_ubatch (self->plan, 0);
  GString *text = g_string_new (NULL);
  guint n_words;
  g_autofree guint64 *words = NULL;

  vtable->apply (self->part, ubatch, 0);
  n_words = vtable->get_n_kv (self->part) / 64;
  words = g_new (guint64, (n_words + 1) * ubatch->n_tokens);
  memset (words, 0xff, (n_words + 1) * ubatch->n_tokens * sizeof *words);
  vtable->fill_mask (self->part, words, n_words + 1);
  for (guint t = 0; t < ubatch->n_tokens; t++)
    {
      const guint64 *row = words + t * (n_words + 1);

      if (t > 0)
        g_string_append_c (text, ' ');
      for (guint c = 0; c < ubatch->n_tokens; c++)
        g_string_append_c (text, (row[c / 64] >> (c % 64)) & 1 ? '1' : '0');
      for (guint c = ubatch->n_tokens; c < 64 * n_words; c++)
        g_assert_cmpuint ((row[c / 64] >> (c % 64)) & 1, ==, 0);
      /* Words above n_kv are left alone. */
      g_assert_cmpuint (row[n_words], ==, G_MAXUINT64);
    }
  return g_string_free (text, FALSE);
}

static void
assert_mask (Fixture *self, const char *digits, const char *expected)
{
  g_autofree char *mask = NULL;

  g_assert_true (prepare (self, digits, KVASIR_SPLIT_SIMPLE));
  mask = describe_mask (self);
  g_assert_cmpstr (mask, ==, expected);
}

static void
test_sequences_apart (Fixture *self, gconstpointer data)
{
  make (self, FALSE);
  assert_mask (self, "111", "111 111 111");
  assert_mask (self, "10101", "10101 01010 10101 01010 10101");
  assert_mask (self, "20002", "10001 01110 01110 01110 10001");
}

static void
test_causal (Fixture *self, gconstpointer data)
{
  self->params.is_causal = TRUE;
  make (self, FALSE);
  assert_mask (self, "00100", "10000 11000 00100 11010 11011");
}

static void
test_symmetric_window (Fixture *self, gconstpointer data)
{
  make (self, TRUE);
  assert_mask (self, "00000", "11100 11110 11111 01111 00111");
}

static void
test_standard_window (Fixture *self, gconstpointer data)
{
  self->params.window = KVASIR_WINDOW_STANDARD;
  self->params.n_swa = 2;
  self->params.is_causal = TRUE;
  make (self, TRUE);
  assert_mask (self, "0000", "1000 1100 0110 0011");
}

static void
test_chunked_window (Fixture *self, gconstpointer data)
{
  self->params.window = KVASIR_WINDOW_CHUNKED;
  self->params.n_swa = 2;
  self->params.is_causal = TRUE;
  make (self, TRUE);
  assert_mask (self, "0000", "1000 1100 0010 0011");
}

/* More than one word of cells. */
static void
test_long_rows (Fixture *self, gconstpointer data)
{
  char digits[N_UBATCH + 1] = { 0 };
  g_autofree char *mask = NULL;

  memset (digits, '0', N_UBATCH);
  make (self, FALSE);
  g_assert_true (prepare (self, digits, KVASIR_SPLIT_SIMPLE));
  mask = describe_mask (self);
  g_assert_cmpuint (self->part->vtable->get_n_kv (self->part), ==, 128);
  g_assert_cmpuint (strspn (mask, "1 "), ==, N_UBATCH * (N_UBATCH + 1) - 1);
}

/* 40 tokens of each of two sequences: more than an ubatch, but each sequence fits. */
static void
test_sequences_stay_whole (Fixture *self, gconstpointer data)
{
  char digits[81] = { 0 };

  for (guint i = 0; i < 80; i++)
    digits[i] = i % 2 ? '1' : '0';
  make (self, FALSE);
  g_assert_false (prepare (self, digits, KVASIR_SPLIT_SIMPLE));
  g_assert_true (prepare (self, digits, KVASIR_SPLIT_BY_SEQUENCE));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (self->plan), ==, 2);
  g_assert_cmpuint (self->part->vtable->get_planned_n_kv (self->part, 1), ==, 64);
}

/* The whole memory: longer sequences are named before anything runs, and what fits into one ubatch
 * is not cut. */
static void
test_batches (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirMemory) memory = NULL;
  const gint32 one = 1, two = 2;
  gint32 tokens[N_UBATCH + 1] = { 0 };
  const gint32 *seqs[N_UBATCH + 1];
  guint n_seqs[N_UBATCH + 1];
  KvasirBatch batch = {
    .n_tokens = N_UBATCH + 1, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs
  };
  g_autoptr (GError) error = NULL;

  self->params.arch = "test";
  memory = kvasir_memory_new (&self->params, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N_UBATCH + 1; i++)
    {
      seqs[i] = &two;
      n_seqs[i] = 1;
    }
  g_assert_false (kvasir_batch_plan_init (self->plan, &batch, memory, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  g_assert_cmpstr (error->message, ==,
                   "Token 70 of the batch is number 71 of sequence 2, expected at most n_ubatch = "
                   "70: this model reads a sequence in one piece");

  seqs[5] = &one;
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (memory, self->plan), ==, KVASIR_PREPARE_OK);
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (self->plan), ==, 2);
  batch.n_tokens = N_UBATCH;
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, memory, NULL));
  g_assert_cmpint (kvasir_memory_init_batch (memory, self->plan), ==, KVASIR_PREPARE_OK);
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (self->plan), ==, 1);
  g_assert_cmpint (kvasir_memory_seq_pos_max (memory, 2), ==, -1);
}

static void
test_slots (Fixture *self, gconstpointer data)
{
  gint64 slots[3] = { -1, -1, -1 };

  make (self, FALSE);
  g_assert_true (prepare (self, "012", KVASIR_SPLIT_SIMPLE));
  self->part->vtable->apply (self->part, kvasir_batch_plan_get_ubatch (self->plan, 0), 0);
  self->part->vtable->fill_slots (self->part, slots);
  for (gint64 i = 0; i < 3; i++)
    g_assert_cmpint (slots[i], ==, i);
  g_assert_cmpint (self->part->vtable->pos_max (self->part, 0), ==, -1);
}

static void
test_layers_share_rows (Fixture *self, gconstpointer data)
{
  KvasirTensor *k[N_LAYERS], *v[N_LAYERS];
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryRow));

  make (self, FALSE);
  for (guint i = 0; i < N_LAYERS; i++)
    self->part->vtable->get_layer (self->part, i, &k[i], &v[i]);
  g_assert_true (k[0] == k[1] && v[0] == v[1]);
  g_assert_true (k[2] != k[0] && k[2] != NULL);
  g_assert_true (k[3] == NULL && v[3] == NULL);
  g_assert_cmpint (k[0]->type, ==, KVASIR_TYPE_F32);
  g_assert_cmpint (k[2]->ne[0], ==, 16);
  /* 70 tokens, padded to words of the mask. */
  g_assert_cmpint (k[0]->ne[1], ==, 128);
  self->part->vtable->append_breakdown (self->part, rows);
  g_assert_cmpuint (rows->len, ==, 4);
  g_assert_cmpint (g_array_index (rows, KvasirMemoryRow, 0).kind, ==, KVASIR_KIND_COMPUTE);
  g_assert_cmpuint (self->heap.n_live_bytes, ==, 4 * 128 * (8 + 8 + 16 + 8));
}

static void
test_measures (Fixture *self, gconstpointer data)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, TRUE, sizeof (KvasirMemoryRow));

  self->params.no_alloc = TRUE;
  make (self, FALSE);
  g_assert_cmpuint (self->heap.n_live, ==, 0);
  self->part->vtable->append_breakdown (self->part, rows);
  g_assert_cmpuint (rows->len, ==, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/none/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  ADD ("sequences-apart", test_sequences_apart);
  ADD ("causal", test_causal);
  ADD ("symmetric-window", test_symmetric_window);
  ADD ("standard-window", test_standard_window);
  ADD ("chunked-window", test_chunked_window);
  ADD ("long-rows", test_long_rows);
  ADD ("sequences-stay-whole", test_sequences_stay_whole);
  ADD ("batches", test_batches);
  ADD ("slots", test_slots);
  ADD ("layers-share-rows", test_layers_share_rows);
  ADD ("measures", test_measures);
  return g_test_run ();
}
