/* The decode loop: its codes, what stays after a failure, rows, settings and events. */
#include "tests/engine/session/context-fixture.h"

#include <math.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"

#define N_VOCAB 384

/* ---- settings */

static void
test_settings_are_settled (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  const KvasirContextParams *in_force;

  params.n_ctx = 300;
  params.n_batch = 2048;
  params.n_ubatch = 4096;
  make_context (self, &params);
  in_force = kvasir_context_get_params (self->context);
  g_assert_cmpuint (in_force->n_ctx, ==, 512);
  g_assert_cmpuint (in_force->n_batch, ==, 512);
  g_assert_cmpuint (in_force->n_ubatch, ==, 512);
}

static void
test_trained_length (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();

  params.n_ctx = 0;
  make_context (self, &params);
  g_assert_cmpuint (kvasir_context_get_params (self->context)->n_ctx, ==, 4096);
}

static void
check_refused (ContextFixture *self, const KvasirContextParams *params, int code, const char *text)
{
  g_autoptr (GError) error = NULL;
  KvasirContext *context = kvasir_context_new (self->model, params, &error);

  g_assert_null (context);
  g_assert_error (error, KVASIR_ENGINE_ERROR, code);
  g_assert_nonnull (strstr (error->message, text));
}

static void
test_refused_settings (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();

  params.flash_attn = FALSE;
  params.type_v = KVASIR_TYPE_Q8_0;
  check_refused (self, &params, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "type_v");
  params = make_small_params ();
  params.n_seq_max = 257;
  check_refused (self, &params, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "n_seq_max");
  params = make_small_params ();
  params.n_ctx = G_MAXUINT;
  check_refused (self, &params, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "n_ctx");
  params = make_small_params ();
  params.type_k = KVASIR_TYPE_Q8_0; /* blocks of 32, heads of 16 */
  check_refused (self, &params, KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "q8_0");
}

/* ---- codes */

static void
test_bad_batch (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  decode_ok (self->context, 1, 3);
  g_assert_cmpint (decode_run (self->context, 1, 65, FALSE, &error), ==, KVASIR_DECODE_BAD_BATCH);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_BATCH);
  g_assert_cmpint (get_last (self->context), ==, 2);
  g_assert_null (kvasir_context_get_logits_of_token (self->context, 0));
}

static void
test_no_room (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  for (guint i = 0; i < 4; i++)
    decode_ok (self->context, 1, i == 3 ? 60 : 64);
  g_assert_cmpint (decode_run (self->context, 1, 5, FALSE, &error), ==, KVASIR_DECODE_NO_ROOM);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM);
  g_assert_nonnull (strstr (error->message, "5 tokens"));
  g_assert_nonnull (strstr (error->message, "4 of 256 are free"));
  g_assert_cmpint (get_last (self->context), ==, 251);
}

static int abort_flag;

static void
stop_after_first (const KvasirUbatch *ubatch, guint n_done, gpointer user_data)
{
  __atomic_store_n (&abort_flag, 1, __ATOMIC_RELAXED);
}

static void
test_abort_keeps_a_prefix (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  abort_flag = 0;
  kvasir_context_set_abort_flag (self->context, &abort_flag);
  kvasir_context_set_ubatch_callback (self->context, stop_after_first, NULL);
  g_assert_cmpint (decode_run (self->context, 1, 40, FALSE, &error), ==, KVASIR_DECODE_ABORTED);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED);
  g_assert_cmpint (get_last (self->context), ==, 15);
  kvasir_context_set_ubatch_callback (self->context, NULL, NULL);
  abort_flag = 0;
  decode_ok (self->context, 17, 24);
  g_assert_cmpint (get_last (self->context), ==, 39);
}

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

/* Whatever part fails, the cells are as before it, and going on gives what an undisturbed run
 * gives. */
static void
test_failed_part_is_taken_back (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  float expected[N_VOCAB];
  const float *row;
  gint32 last;

  make_context (self, &params);
  decode_ok (self->context, 1, 40);
  memcpy (expected, kvasir_context_get_logits_of_token (self->context, 39), sizeof expected);
  real_vtable = self->real_vtable;
  self->vtable.plan_compute = compute_or_fail;
  /* Three bodies and the head of the last. */
  for (failing_call = 1; failing_call <= 4; failing_call++)
    {
      g_autoptr (GError) error = NULL;
      kvasir_memory_clear (kvasir_context_get_memory (self->context), FALSE);
      n_calls = 0;
      g_assert_cmpint (decode_run (self->context, 1, 40, FALSE, &error), ==, KVASIR_DECODE_FAILED);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_COMPUTE);
      last = get_last (self->context);
      g_assert_cmpint (last, ==, 16 * MIN ((gint32) failing_call - 1, 2) - 1);
      g_assert_null (kvasir_context_get_logits_of_token (self->context, 39));
      decode_ok (self->context, last + 2, (guint) (39 - last));
      row = kvasir_context_get_logits_of_token (self->context, (guint) (38 - last));
      for (guint i = 0; i < N_VOCAB; i++)
        g_assert_cmpfloat (row[i], ==, expected[i]);
    }
}

static KvasirBuffer *
alloc_nothing (KvasirBufferType *type, size_t n_bytes)
{
  return NULL;
}

static void
test_no_memory_for_logits (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  decode_ok (self->context, 1, 3);
  self->host.alloc = alloc_nothing;
  g_assert_cmpint (decode_run (self->context, 4, 5, TRUE, &error), ==, KVASIR_DECODE_NO_MEMORY);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  g_assert_cmpint (get_last (self->context), ==, 2);
  decode_ok (self->context, 4, 1);
}

/* ---- rows */

/* More rows than pass through the head at once, over several parts, against one row at a time. */
static void
test_rows (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  g_autofree float *all = g_new (float, 50 * N_VOCAB);
  g_autoptr (GError) error = NULL;

  params.n_ubatch = 40;
  make_context (self, &params);
  g_assert_cmpint (decode_run (self->context, 1, 50, TRUE, &error), ==, KVASIR_DECODE_OK);
  for (guint i = 0; i < 50; i++)
    {
      const float *row = kvasir_context_get_logits_of_token (self->context, i);
      g_assert_nonnull (row);
      memcpy (all + i * N_VOCAB, row, N_VOCAB * sizeof (float));
    }
  kvasir_memory_clear (kvasir_context_get_memory (self->context), FALSE);
  for (guint i = 0; i < 50; i++)
    {
      const float *row;
      decode_ok (self->context, (gint32) i + 1, 1);
      row = kvasir_context_get_logits_of_token (self->context, 0);
      for (guint v = 0; v < N_VOCAB; v++)
        g_assert_cmpfloat_with_epsilon (row[v], all[i * N_VOCAB + v], 3e-3);
    }
}

static void
test_chosen_rows (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  const gint32 tokens[] = { 5, 6, 7, 8 };
  const guint8 outputs[] = { 0, 1, 0, 1 };
  const KvasirBatch batch = { .n_tokens = 4, .tokens = tokens, .outputs = outputs };
  g_autoptr (GError) error = NULL;

  make_context (self, &params);
  g_assert_cmpint (kvasir_context_decode (self->context, &batch, &error), ==, KVASIR_DECODE_OK);
  g_assert_null (kvasir_context_get_logits_of_token (self->context, 0));
  g_assert_null (kvasir_context_get_logits_of_token (self->context, 4));
  g_assert_nonnull (kvasir_context_get_logits_of_token (self->context, 1));
  g_assert_null (kvasir_context_get_logits_of_token (self->context, 2));
  g_assert_nonnull (kvasir_context_get_logits_of_token (self->context, 3));
}

/* ---- shifts */

/* Keys that were moved down by 7 give what keys read at the lower positions give. */
static void
test_shift_equals_a_fresh_read (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  KvasirMemory *memory;
  float moved[N_VOCAB];
  const gint32 tokens[] = { 30, 31, 32 }, pos[] = { 7, 8, 9 };
  const KvasirBatch batch = { .n_tokens = 3, .tokens = tokens, .pos = pos };

  params.type_k = KVASIR_TYPE_F32;
  make_context (self, &params);
  memory = kvasir_context_get_memory (self->context);
  g_assert_cmpint (kvasir_context_decode (self->context, &batch, NULL), ==, KVASIR_DECODE_OK);
  g_assert_true (kvasir_memory_seq_add (memory, 0, 0, -1, -7));
  g_assert_true (kvasir_context_update (self->context));
  g_assert_false (kvasir_context_update (self->context));
  decode_ok (self->context, 33, 1);
  memcpy (moved, kvasir_context_get_logits_of_token (self->context, 0), sizeof moved);
  kvasir_memory_clear (memory, FALSE);
  decode_ok (self->context, 30, 3);
  decode_ok (self->context, 33, 1);
  for (guint i = 0; i < N_VOCAB; i++)
    g_assert_cmpfloat_with_epsilon (moved[i],
                                    kvasir_context_get_logits_of_token (self->context, 0)[i], 1e-4);
}

/* ---- events */

typedef struct
{
  GArray *types; /* of KvasirEventType */
  gint64 buffer_bytes;
  gint64 last_code;
  gint64 n_outputs;
} EventLog;

static void
note_event (gpointer user_data, const KvasirEvent *event, const gint32 *numbers, guint n)
{
  EventLog *log = user_data;
  g_array_append_val (log->types, event->type);
  if (event->type == KVASIR_EVENT_BUFFER)
    log->buffer_bytes += event->a;
  if (event->type == KVASIR_EVENT_STEP_BEGIN)
    log->n_outputs = event->a;
  if (event->type == KVASIR_EVENT_STEP_END)
    log->last_code = event->a;
}

static gint64
sum_rows (KvasirContext *context)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  gint64 sum = 0;

  kvasir_context_append_breakdown (context, rows);
  for (guint i = 0; i < rows->len; i++)
    sum += (gint64) g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  return sum;
}

static void
test_events (ContextFixture *self, gconstpointer data)
{
  KvasirContextParams params = make_small_params ();
  EventLog log = { g_array_new (FALSE, FALSE, sizeof (KvasirEventType)) };
  const KvasirEventSink sink = { note_event, &log };

  make_context (self, &params);
  kvasir_context_set_sink (self->context, &sink);
  g_assert_cmpint (log.buffer_bytes, ==, sum_rows (self->context));
  g_array_set_size (log.types, 0);
  g_assert_cmpint (decode_run (self->context, 1, 20, TRUE, NULL), ==, KVASIR_DECODE_OK);
  g_assert_cmpint (g_array_index (log.types, KvasirEventType, 0), ==, KVASIR_EVENT_STEP_BEGIN);
  g_assert_cmpint (g_array_index (log.types, KvasirEventType, log.types->len - 1), ==,
                   KVASIR_EVENT_STEP_END);
  g_assert_cmpint (log.n_outputs, ==, 20);
  g_assert_cmpint (log.last_code, ==, KVASIR_DECODE_OK);
  /* The logits took more room than was reserved; the log knows. */
  g_assert_cmpint (log.buffer_bytes, ==, sum_rows (self->context));
  g_assert_cmpint (decode_run (self->context, 1, 65, FALSE, NULL), ==, KVASIR_DECODE_BAD_BATCH);
  g_assert_cmpint (log.last_code, ==, KVASIR_DECODE_BAD_BATCH);
  g_clear_pointer (&self->context, kvasir_context_free);
  g_assert_cmpint (log.buffer_bytes, ==, 0);
  g_array_unref (log.types);
}

static void
add (const char *name, void (*test) (ContextFixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/engine/session/context/%s", name);
  g_test_add (path, ContextFixture, NULL, context_fixture_set_up, test, context_fixture_tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("settings-are-settled", test_settings_are_settled);
  add ("no-cells-asked-means-trained-length", test_trained_length);
  add ("refuses-settings", test_refused_settings);
  add ("bad-batch", test_bad_batch);
  add ("no-room", test_no_room);
  add ("abort-keeps-a-prefix", test_abort_keeps_a_prefix);
  add ("failed-part-is-taken-back", test_failed_part_is_taken_back);
  add ("no-memory-for-logits", test_no_memory_for_logits);
  add ("rows", test_rows);
  add ("chosen-rows", test_chosen_rows);
  add ("shift-equals-a-fresh-read", test_shift_equals_a_fresh_read);
  add ("events", test_events);
  return g_test_run ();
}
