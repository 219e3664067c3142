/* What a batch may be, what is filled in, and how it is cut. The refusals are those of the
 * placement rules ("Ret -1"); messages must name the token, the sequence, what was found and
 * expected. */
#include "engine/error.h"
#include "tests/engine/memory/support.h"

#include <string.h>

typedef struct
{
  TestHeap heap;
  KvasirMemory *memory;
  KvasirBatchPlan *plan;
} Fixture;

static const TestShape shape = {
  .n_ctx = 256, .n_seq_max = 4, .n_batch = 32, .n_ubatch = 8, .type = KVASIR_TYPE_F16
};

/* Sequences 0 and 1 share positions 0 to 4, sequence 2 holds 0 to 2, sequence 3 nothing. */
static void
fixture_init (Fixture *self, gconstpointer data)
{
  test_heap_init (&self->heap);
  self->memory = test_memory_new (&self->heap, &shape);
  self->plan = test_plan_new (&shape);
  g_assert_cmpint (test_decode_some (self->memory, self->plan, 0, 5, 1), ==, 0);
  g_assert_true (kvasir_memory_seq_cp (self->memory, 0, 1, -1, -1));
  g_assert_cmpint (test_decode_some (self->memory, self->plan, 2, 3, 9), ==, 0);
}

static void
fixture_clear (Fixture *self, gconstpointer data)
{
  kvasir_memory_free (self->memory);
  kvasir_batch_plan_free (self->plan);
}

static const gint32 zero = 0;
static const gint32 one = 1;
static const gint32 two = 2;
static const gint32 three = 3;
static const gint32 four = 4;
static const gint32 minus_one = -1;
static const gint32 zero_and_one[] = { 0, 1 };
static const gint32 one_and_zero[] = { 1, 0 };
static const gint32 zero_and_two[] = { 0, 2 };
static const gint32 zero_and_three[] = { 0, 3 };

typedef struct
{
  const char *name;
  guint n;
  gint32 tokens[4];
  gint32 pos[4]; /* all 0: not given */
  const gint32 *seqs[4];
  guint n_seqs[4];
  const char *message; /* a pattern */
} BadBatch;

static const BadBatch bad_batches[] = {
  { "empty", 0, { 0 }, { 0 }, { 0 }, { 0 }, "*no tokens, expected 1 to 32" },
  { "id-below",
    1,
    { -1 },
    { 0 },
    { &three },
    { 1 },
    "Token 0 *sequence 3, *id -1, expected 0 to 383" },
  { "id-above",
    2,
    { 1, 384 },
    { 0 },
    { &three, &three },
    { 1, 1 },
    "Token 1 *sequence 3, *id 384, expected 0*" },
  { "seq-below", 1, { 1 }, { 0 }, { &minus_one }, { 1 }, "Token 0 *sequence -1, expected 0 to 3" },
  { "seq-above",
    2,
    { 1, 1 },
    { 0 },
    { &three, &four },
    { 1, 1 },
    "Token 1 *sequence 4, expected*" },
  { "no-seq", 2, { 1, 1 }, { 0 }, { &three, &three }, { 1, 0 }, "Token 1 *no sequence, expected*" },
  { "negative",
    2,
    { 1, 1 },
    { 1, -1 },
    { &three, &three },
    { 1, 1 },
    "Token 1 *position -1 in sequence 3, expected 0 to *" },
  { "too-far",
    1,
    { 1 },
    { G_MAXINT32 },
    { &three },
    { 1 },
    "Token 0 *position 2147483647 in sequence 3, expected 0 to 2147483646" },
  { "decreases",
    2,
    { 1, 1 },
    { 9, 8 },
    { &three, &three },
    { 1, 1 },
    "Token 1 *position 8 in sequence 3, *position 9: expected at least 9" },
  { "gap-inside",
    2,
    { 1, 1 },
    { 9, 11 },
    { &three, &three },
    { 1, 1 },
    "Token 1 *position 11 in sequence 3, *position 9: expected 10, no gap" },
  { "not-after-last",
    1,
    { 1 },
    { 2 },
    { &two },
    { 1 },
    "Token 0 *position 2 in sequence 2, which holds position 2: expected exactly 3" },
  { "gap-after-last",
    1,
    { 1 },
    { 4 },
    { &two },
    { 1 },
    "Token 0 *position 4 in sequence 2, which holds position 2: expected 3, no gap" },
  { "gap-in-second-sequence",
    2,
    { 1, 1 },
    { 5, 7 },
    { &zero, zero_and_one },
    { 1, 2 },
    "Token 1 *position 7 in sequence 0*expected 6, no gap" },
  /* With positions that go on in both, only their reach tells the two apart. */
  { "sharers-disagree",
    1,
    { 1 },
    { 5 },
    { zero_and_three },
    { 2 },
    "Token 0 *shared by sequences 0 and 3, which hold positions 0 to 4 and -1 to -1*" },
  { "sharers-of-other-length",
    1,
    { 1 },
    { 0 },
    { zero_and_two },
    { 2 },
    "Token 0 *position 5 in sequence 2, which holds position 2: expected 3, no gap" },
};

static KvasirBatch
get_batch (const BadBatch *bad)
{
  KvasirBatch batch = {
    .n_tokens = bad->n, .tokens = bad->tokens, .seqs = bad->seqs, .n_seqs = bad->n_seqs
  };

  for (guint i = 0; i < bad->n; i++)
    if (bad->pos[i] != 0)
      batch.pos = bad->pos;
  return batch;
}

static void
test_refused (Fixture *self, gconstpointer data)
{
  const BadBatch *bad = data;
  KvasirBatch batch = get_batch (bad);
  g_autoptr (GError) error = NULL;
  g_autofree char *before = test_memory_describe (self->memory);
  g_autofree char *after = NULL;

  g_assert_false (kvasir_batch_plan_init (self->plan, &batch, self->memory, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  if (!g_pattern_match_simple (bad->message, error->message))
    g_error ("expected \"%s\", got \"%s\"", bad->message, error->message);
  after = test_memory_describe (self->memory);
  g_assert_cmpstr (before, ==, after);
  g_assert_cmpuint (kvasir_batch_plan_get_n_tokens (self->plan), ==, 0);
}

static void
test_too_long (Fixture *self, gconstpointer data)
{
  gint32 tokens[33] = { 0 };
  KvasirBatch batch = { .n_tokens = 33, .tokens = tokens };
  g_autoptr (GError) error = NULL;

  g_assert_false (kvasir_batch_plan_init (self->plan, &batch, self->memory, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  g_assert_cmpstr (error->message, ==, "The batch has 33 tokens, expected at most n_batch = 32");
  batch.n_tokens = 32;
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
}

static void
test_first_sequence_off_reach (Fixture *self, gconstpointer data)
{
  KvasirBatch batch = {
    .n_tokens = 1, .tokens = &one, .seqs = (const gint32 *[]){ &zero }, .n_seqs = (guint[]){ 1 }
  };
  gint32 pos = G_MAXINT32 - 1;

  /* A sequence that holds the last position there is cannot go on. */
  kvasir_memory_clear (self->memory, FALSE);
  batch.pos = &pos;
  g_assert_cmpint (test_decode (self->memory, self->plan, &batch, NULL, NULL), ==, 0);
  batch.pos = NULL;
  g_assert_cmpint (test_decode (self->memory, self->plan, &batch, NULL, NULL), ==, -1);
}

/* The whole batch as one ubatch. */
static const KvasirUbatch *
get_whole (KvasirBatchPlan *plan)
{
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (plan), ==, 1);
  return kvasir_batch_plan_get_ubatch (plan, 0);
}

static void
test_positions_filled_in (Fixture *self, gconstpointer data)
{
  const gint32 tokens[] = { 10, 11, 12, 13, 14, 15 };
  const gint32 *seqs[] = { &two, &three, &two, zero_and_one, one_and_zero, &three };
  const guint n_seqs[] = { 1, 1, 1, 2, 2, 1 };
  const gint32 expected[] = { 3, 0, 4, 5, 6, 1 };
  KvasirBatch batch = { .n_tokens = 6, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };
  const gint32 leads[] = { 2, 3, 2, 0, 1, 3 };
  const KvasirUbatch *ubatch;

  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  ubatch = get_whole (self->plan);
  g_assert_cmpmem (ubatch->pos, 6 * sizeof *ubatch->pos, expected, sizeof expected);
  g_assert_cmpmem (ubatch->tokens, 6 * sizeof *ubatch->tokens, tokens, sizeof tokens);
  g_assert_cmpmem (ubatch->leads, 6 * sizeof *ubatch->leads, leads, sizeof leads);
}

/* Without a memory every sequence starts at 0, without sequences all is sequence 0. */
static void
test_without_memory (Fixture *self, gconstpointer data)
{
  const gint32 tokens[] = { 5, 6 };
  KvasirBatch batch = { .n_tokens = 2, .tokens = tokens };
  const KvasirUbatch *ubatch;

  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, NULL, NULL));
  ubatch = get_whole (self->plan);
  g_assert_cmpint (ubatch->pos[0], ==, 0);
  g_assert_cmpint (ubatch->pos[1], ==, 1);
  g_assert_true (kvasir_seq_set_has (&ubatch->seqs[0], 0));
  g_assert_cmpuint (kvasir_seq_set_count (&ubatch->seqs[0]), ==, 1);
}

static void
assert_outputs (Fixture *self, const guint8 *given, const guint8 *expected)
{
  const gint32 tokens[] = { 1, 2, 3, 4, 5 };
  const gint32 *seqs[] = { &two, zero_and_one, &three, &three, &two };
  const guint n_seqs[] = { 1, 2, 1, 1, 1 };
  KvasirBatch batch = {
    .n_tokens = 5, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs, .outputs = given
  };
  const KvasirUbatch *ubatch;
  guint n = 0;

  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  ubatch = get_whole (self->plan);
  g_assert_cmpmem (ubatch->outputs, 5, expected, 5);
  for (guint i = 0; i < 5; i++)
    n += expected[i];
  g_assert_cmpuint (ubatch->n_outputs, ==, n);
  g_assert_cmpuint (kvasir_batch_plan_get_n_outputs (self->plan), ==, n);
}

static void
test_outputs (Fixture *self, gconstpointer data)
{
  assert_outputs (self, NULL, (const guint8[]){ 0, 1, 0, 1, 1 });
  assert_outputs (self, (const guint8[]){ 1, 0, 0, 2, 0 }, (const guint8[]){ 1, 0, 0, 1, 0 });
  assert_outputs (self, (const guint8[]){ 0, 0, 0, 0, 0 }, (const guint8[]){ 0, 0, 0, 0, 0 });
}

static void
test_split (Fixture *self, gconstpointer data)
{
  gint32 tokens[20];
  KvasirBatch batch = { .n_tokens = 20, .tokens = tokens };
  const guint n_expected[] = { 8, 8, 4 };
  guint n_outputs = 0;

  for (guint i = 0; i < 20; i++)
    tokens[i] = (gint32) i;
  g_assert_true (kvasir_batch_plan_init (self->plan, &batch, self->memory, NULL));
  g_assert_cmpuint (kvasir_batch_plan_get_n_tokens (self->plan), ==, 20);
  g_assert_true (kvasir_batch_plan_split (self->plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_cmpuint (kvasir_batch_plan_get_n_ubatches (self->plan), ==, 3);
  /* All parts live side by side. */
  for (guint k = 0; k < 3; k++)
    {
      const KvasirUbatch *part = kvasir_batch_plan_get_ubatch (self->plan, k);

      g_assert_cmpuint (part->n_tokens, ==, n_expected[k]);
      g_assert_cmpuint (part->n_seq_tokens, ==, 1);
      g_assert_cmpuint (part->n_seqs, ==, n_expected[k]);
      for (guint i = 0; i < part->n_tokens; i++)
        {
          g_assert_cmpuint (part->index[i], ==, k * 8 + i);
          g_assert_cmpint (part->tokens[i], ==, (gint32) (k * 8 + i));
          g_assert_cmpint (part->pos[i], ==, (gint32) (5 + k * 8 + i));
        }
      n_outputs += part->n_outputs;
    }
  g_assert_cmpuint (n_outputs, ==, 1);
  g_assert_cmpuint (kvasir_batch_plan_get_ubatch (self->plan, 2)->n_outputs, ==, 1);
}

static KvasirBatchPlan *
plan_with_planes_new (void)
{
  KvasirBatchLimits limits = {
    .n_batch = 8, .n_ubatch = 2, .n_seq_max = 4, .n_vocab = 384, .n_pos_per_token = 4
  };

  return kvasir_batch_plan_new (&limits);
}

/* Models with four planes may jump ahead, and text has (p, p, p, 0). */
static void
test_four_planes (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirBatchPlan) plan = plan_with_planes_new ();
  const gint32 tokens[] = { 1, 2, 3 };
  gint32 pos[] = { 10, 10, 15 };
  KvasirBatch batch = { .n_tokens = 3, .tokens = tokens, .pos = pos };
  const gint32 first[] = { 10, 10, 10, 10, 10, 10, 0, 0 };
  const gint32 second[] = { 15, 15, 15, 0 };
  g_autoptr (GError) error = NULL;

  g_assert_true (kvasir_batch_plan_init (plan, &batch, self->memory, NULL));
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_cmpmem (kvasir_batch_plan_get_ubatch (plan, 0)->pos, sizeof first, first, sizeof first);
  g_assert_cmpmem (kvasir_batch_plan_get_ubatch (plan, 1)->pos, sizeof second, second,
                   sizeof second);

  pos[0] = 4;
  g_assert_false (kvasir_batch_plan_init (plan, &batch, self->memory, &error));
  g_assert_true (g_str_has_suffix (error->message, "which holds position 4: expected at least 5"));
}

/* A table of positions ends: what lies behind it could not be looked up. */
static void
test_table_of_positions (Fixture *self, gconstpointer data)
{
  const KvasirBatchLimits limits = { .n_batch = 8,
                                     .n_ubatch = 8,
                                     .n_seq_max = 4,
                                     .n_vocab = 384,
                                     .n_pos_per_token = 1,
                                     .n_positions = 6 };
  g_autoptr (KvasirBatchPlan) plan = kvasir_batch_plan_new (&limits);
  const gint32 tokens[] = { 1, 2 };
  gint32 pos[] = { 4, 5 };
  KvasirBatch batch = { .n_tokens = 2, .tokens = tokens, .pos = pos };
  g_autoptr (GError) error = NULL;

  g_assert_true (kvasir_batch_plan_init (plan, &batch, NULL, NULL));
  pos[0] = 5;
  pos[1] = 6;
  g_assert_false (kvasir_batch_plan_init (plan, &batch, NULL, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  g_assert_cmpstr (error->message, ==,
                   "Token 1 of the batch has position 6 in sequence 0, expected 0 to 5");
}

/* The planes of an image: t stays, rows and columns run. */
static void
test_given_planes (Fixture *self, gconstpointer data)
{
  g_autoptr (KvasirBatchPlan) plan = plan_with_planes_new ();
  const gint32 tokens[] = { 1, 2, 3 };
  const gint32 pos[] = { 5, 5, 9 };
  gint32 planes[] = { 6, 7, 9, 5, 8, 9, 0, 1, 2 };
  KvasirBatch batch = { .n_tokens = 3, .tokens = tokens, .pos = pos, .planes = planes };
  const gint32 first[] = { 5, 5, 6, 7, 5, 8, 0, 1 };
  const gint32 second[] = { 9, 9, 9, 2 };
  g_autoptr (GError) error = NULL;

  g_assert_true (kvasir_batch_plan_init (plan, &batch, self->memory, NULL));
  g_assert_true (kvasir_batch_plan_split (plan, KVASIR_SPLIT_SIMPLE, 0));
  g_assert_cmpmem (kvasir_batch_plan_get_ubatch (plan, 0)->pos, sizeof first, first, sizeof first);
  g_assert_cmpmem (kvasir_batch_plan_get_ubatch (plan, 1)->pos, sizeof second, second,
                   sizeof second);

  planes[4] = -8;
  g_assert_false (kvasir_batch_plan_init (plan, &batch, self->memory, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  g_assert_cmpstr (error->message, ==,
                   "Token 1 of the batch, in sequence 0, has position -8 in plane w, expected 0 to "
                   "2147483646");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name, func)                                                                            \
  g_test_add ("/engine/memory/batch/" name, Fixture, NULL, fixture_init, func, fixture_clear)
  for (guint i = 0; i < G_N_ELEMENTS (bad_batches); i++)
    {
      g_autofree char *path =
          g_strconcat ("/engine/memory/batch/refuses-", bad_batches[i].name, NULL);

      g_test_add (path, Fixture, &bad_batches[i], fixture_init, test_refused, fixture_clear);
    }
  ADD ("refuses-too-long", test_too_long);
  ADD ("refuses-beyond-the-last-position", test_first_sequence_off_reach);
  ADD ("fills-in-positions", test_positions_filled_in);
  ADD ("works-without-memory", test_without_memory);
  ADD ("chooses-outputs", test_outputs);
  ADD ("splits-in-order", test_split);
  ADD ("lays-four-planes", test_four_planes);
  ADD ("takes-given-planes", test_given_planes);
  ADD ("ends-with-the-table-of-positions", test_table_of_positions);
  return g_test_run ();
}
