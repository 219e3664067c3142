/* Contexts over every kind of memory: settings, what stays after a failure, what shifts say. */
#include "tests/engine/session/context-fixture.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"

/* ---- settings */

/* 600 cells for three sequences are 768; a third of them is padded to 256 again. */
static void
test_streams_share_cells (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  KvasirCacheInfo info;

  params.n_ctx = 600;
  params.n_seq_max = 3;
  params.kv_unified = FALSE;
  make_context (self, &params);
  g_assert_cmpuint (kvasir_context_get_params (self->context)->n_ctx, ==, 768);
  g_assert_cmpuint (kvasir_context_get_n_ctx_seq (self->context), ==, 256);
  kvasir_memory_get_cache_info (kvasir_context_get_memory (self->context), 0, &info);
  g_assert_cmpuint (info.size, ==, 256);
  g_assert_cmpuint (info.n_streams, ==, 3);
}

static void
test_streams_grow (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();

  params.n_ctx = 512;
  params.n_seq_max = 5;
  params.kv_unified = FALSE;
  make_context (self, &params);
  g_assert_cmpuint (kvasir_context_get_params (self->context)->n_ctx, ==, 5 * 256);
}

static void
test_kept_states_need_room (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  params.n_rs_seq = 15;
  g_assert_null (kvasir_context_new (self->model, &params, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "n_ubatch must be greater than n_rs_seq + 1"));
  params.n_rs_seq = 14;
  make_context (self, &params);
}

/* Where a model keeps no earlier states, the setting means nothing. */
static void
test_kept_states_ignored (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();

  params.n_rs_seq = 15;
  make_context (self, &params);
  g_assert_cmpuint (kvasir_context_get_params (self->context)->n_rs_seq, ==, 0);
}

/* ---- shifts */

static void
test_four_positions_do_not_shift (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = make_small_params ();
  KvasirMemory *memory;

  make_context (self, &params);
  memory = kvasir_context_get_memory (self->context);
  decode_ok (self->context, 1, 10);
  g_assert_nonnull (strstr (kvasir_memory_get_shift_obstacle (memory), "four positions"));
  g_assert_false (kvasir_memory_seq_add (memory, 0, 4, -1, 2));
  g_assert_cmpint (get_last (self->context), ==, 9);
}

static void
test_unequal_halves_do_not_shift (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  KvasirMemory *memory;

  params.n_ctx = 1024;
  make_context (self, &params);
  memory = kvasir_context_get_memory (self->context);
  decode_ok (self->context, 1, 10);
  g_assert_nonnull (kvasir_memory_get_shift_obstacle (memory));
  g_assert_false (kvasir_memory_seq_add (memory, 0, 0, -1, 2));
  g_assert_cmpint (get_last (self->context), ==, 9);
  g_clear_pointer (&self->context, kvasir_context_free);
  params.swa_full = TRUE;
  make_context (self, &params);
  memory = kvasir_context_get_memory (self->context);
  decode_ok (self->context, 1, 10);
  g_assert_null (kvasir_memory_get_shift_obstacle (memory));
  g_assert_true (kvasir_memory_seq_add (memory, 0, 0, -1, 2));
  g_assert_cmpint (get_last (self->context), ==, 11);
}

/* ---- what stays after a failure */

/* The call of plan_compute that fails, counted from 1. */
static guint failing_call, n_calls;
static const KvasirDeviceVtable *real_vtable;

static KvasirStatus
compute_or_fail (KvasirPlan *plan, size_t first, size_t n, const KvasirStep *step)
{
  if (++n_calls == failing_call)
    return KVASIR_STATUS_FAILED;
  return real_vtable->plan_compute (plan, first, n, step);
}

/* Two sequences side by side: tokens of both, in turn. */
static KvasirDecode
decode_pair (KvasirContext *context, gint32 first, guint n)
{
  static const gint32 ids[] = { 0, 1 };
  gint32 tokens[64];
  const gint32 *seqs[64];
  guint n_seqs[64];
  const KvasirBatch batch = { .n_tokens = 2 * n, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };

  for (guint i = 0; i < 2 * n; i++)
    {
      tokens[i] = (first + (gint32) i / 2) * 3 % 300 + 10 * ((gint32) i % 2);
      seqs[i] = &ids[i % 2];
      n_seqs[i] = 1;
    }
  return kvasir_context_decode (context, &batch, NULL);
}

/* Logits of the last token of both, [2 * n_vocab], after as many tokens of each as 30 hold. */
static float *
go_on (ContextFixture *self)
{
  const guint n_vocab = kvasir_model_get_info (self->model)->n_vocab;
  KvasirMemory *memory = kvasir_context_get_memory (self->context);
  float *rows = g_new (float, 2 * n_vocab);

  for (gint seq = 0; seq < 2; seq++)
    {
      const gint32 *const seqs[] = { &seq };
      const guint n_seqs[] = { 1 };
      gint32 pos = kvasir_memory_seq_pos_max (memory, seq);
      while (pos < 29)
        {
          const gint32 token = (1 + ++pos) * 3 % 300 + 10 * seq;
          const KvasirBatch batch = {
            .n_tokens = 1, .tokens = &token, .seqs = seqs, .n_seqs = n_seqs
          };
          g_assert_cmpint (kvasir_context_decode (self->context, &batch, NULL), ==,
                           KVASIR_DECODE_OK);
          memcpy (rows + (gsize) seq * n_vocab,
                  kvasir_context_get_logits_of_token (self->context, 0), n_vocab * sizeof (float));
        }
    }
  return rows;
}

static void
assert_near (const float *a, const float *b, guint n)
{
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat_with_epsilon (a[i], b[i], 5e-3);
}

/* Whatever body or head fails, all parts of the memory go back together: going on gives what an
 * undisturbed run gives. */
static void
check_failures (ContextFixture *self, gboolean unified)
{
  const guint n_vocab = kvasir_model_get_info (self->model)->n_vocab;
  KvasirContextParams params = make_small_params ();
  g_autofree float *expected = NULL;
  guint n_whole;

  params.kv_unified = unified;
  make_context (self, &params);
  expected = go_on (self);
  real_vtable = self->real_vtable;
  self->vtable.plan_compute = compute_or_fail;
  failing_call = 0;
  n_calls = 0;
  kvasir_memory_clear (kvasir_context_get_memory (self->context), FALSE);
  g_assert_cmpint (decode_pair (self->context, 1, 29), ==, KVASIR_DECODE_OK);
  n_whole = n_calls;
  g_assert_cmpuint (n_whole, >, 3);
  for (guint i = 1; i <= n_whole; i++)
    {
      g_autofree float *rows = NULL;
      kvasir_memory_clear (kvasir_context_get_memory (self->context), FALSE);
      failing_call = i;
      n_calls = 0;
      g_assert_cmpint (decode_pair (self->context, 1, 29), ==, KVASIR_DECODE_FAILED);
      rows = go_on (self);
      assert_near (rows, expected, 2 * n_vocab);
    }
}

static void
test_failed_part (ContextFixture *self, gconstpointer data)
{
  check_failures (self, TRUE);
}

static void
test_failed_part_of_streams (ContextFixture *self, gconstpointer data)
{
  check_failures (self, FALSE);
}

/* ---- encoders */

/* A sequence alone and beside another one gives the same row, and sequences that are not there give
 * none. */
static void
test_pooled_rows (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = make_small_params ();
  const gint32 tokens[] = { 20, 21, 22, 23, 24 };
  const gint32 ids[] = { 0, 1 };
  const gint32 *const seqs[] = { &ids[0], &ids[0], &ids[0], &ids[1], &ids[1] };
  const guint n_seqs[] = { 1, 1, 1, 1, 1 };
  const KvasirBatch both = { .n_tokens = 5, .tokens = tokens, .seqs = seqs, .n_seqs = n_seqs };
  const KvasirBatch alone = { .n_tokens = 3, .tokens = tokens };
  g_autofree float *row = NULL;
  gsize n_bytes;

  make_context (self, &params);
  n_bytes = kvasir_context_get_n_embd (self->context) * sizeof (float);
  g_assert_cmpint (kvasir_context_decode (self->context, &both, NULL), ==, KVASIR_DECODE_OK);
  g_assert_nonnull (kvasir_context_get_embedding_of_seq (self->context, 1));
  g_assert_null (kvasir_context_get_embedding_of_token (self->context, 4));
  g_assert_null (kvasir_context_get_logits_of_token (self->context, 4));
  row = g_memdup2 (kvasir_context_get_embedding_of_seq (self->context, 0), n_bytes);
  g_assert_cmpint (kvasir_context_decode (self->context, &alone, NULL), ==, KVASIR_DECODE_OK);
  g_assert_null (kvasir_context_get_embedding_of_seq (self->context, 1));
  assert_near (row, kvasir_context_get_embedding_of_seq (self->context, 0),
               kvasir_context_get_n_embd (self->context));
}

static void
test_too_long_for_one_piece (ContextFixture *self, gconstpointer data)
{
  const KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  g_assert_cmpint (decode_run (self->context, 1, 17, FALSE, &error), ==, KVASIR_DECODE_BAD_BATCH);
  g_assert_nonnull (strstr (error->message, "n_ubatch = 16"));
}

static void
add (const char *name, const char *model, void (*test) (ContextFixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/session/context-kinds/%s", name);
  g_test_add (path, ContextFixture, model, context_fixture_set_up, test, context_fixture_tear_down);
}

int
main (int argc, char **argv)
{
  static const char *const models[] = { "tiny-llama.gguf",    "tiny-gemma3.gguf",
                                        "tiny-mamba2.gguf",   "tiny-granitehybrid.gguf",
                                        "tiny-lfm2-swa.gguf", "tiny-qwen2vl.gguf",
                                        "tiny-bloom.gguf" };

  g_test_init (&argc, &argv, NULL);
  add ("streams-share-cells", NULL, test_streams_share_cells);
  add ("streams-grow", NULL, test_streams_grow);
  add ("kept-states-need-room", "tiny-lfm2-swa.gguf", test_kept_states_need_room);
  add ("kept-states-ignored", NULL, test_kept_states_ignored);
  add ("four-positions-do-not-shift", "tiny-qwen2vl.gguf", test_four_positions_do_not_shift);
  add ("unequal-halves-do-not-shift", "tiny-gemma3.gguf", test_unequal_halves_do_not_shift);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autofree char *one = g_strconcat ("failed-part/", models[i], NULL);
      g_autofree char *each = g_strconcat ("failed-part-of-streams/", models[i], NULL);
      add (one, models[i], test_failed_part);
      add (each, models[i], test_failed_part_of_streams);
    }
  add ("pooled-rows", "tiny-bert.gguf", test_pooled_rows);
  add ("too-long-for-one-piece", "tiny-bert.gguf", test_too_long_for_one_piece);
  return g_test_run ();
}
