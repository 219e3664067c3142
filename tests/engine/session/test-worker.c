#include <glib/gstdio.h>
#include <string.h>

#include "desk.h"
#include "engine/error.h"
#include "engine/session/worker-private.h"

/* Fills the window of the tiny model, which does not end its answer to it. */
static const char endless[] = "Aa Ba Ca Da Ea Fa Ga Ha Ia Ja Ka La Ma Na Oa Pa Qa Ra Sa Ta Ua";

static void
test_answer (void)
{
  g_autoptr (Desk) desk = desk_new ();
  guint64 load = desk_load (desk, 512);
  const KvasirNotice *loaded = desk_wait (desk, KVASIR_NOTICE_LOADED, load);
  g_assert_nonnull (loaded->model);
  g_assert_cmpuint (desk_count (desk, KVASIR_NOTICE_LOADING, load), >, 0);

  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 5));
  const KvasirNotice *done = desk_wait_end (desk, id);
  g_assert_cmpint (done->kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (done->chat_id, ==, 1);
  g_assert_cmpuint (done->message_id, ==, 11);
  g_assert_cmpuint (desk_count (desk, KVASIR_NOTICE_TOKEN, id), ==, done->n_generated);
  g_assert_cmpuint (desk_count (desk, KVASIR_NOTICE_READING, id), >, 1);
  g_assert_true (g_ptr_array_index (desk->notices, desk->notices->len - 1) == done);
}

static void
test_load_fails (void)
{
  g_autoptr (Desk) desk = desk_new ();
  KvasirContextParams params;
  desk_load_and_wait (desk, 512);
  kvasir_context_params_init (&params);
  guint64 load = kvasir_worker_load (desk->worker, "/nowhere/there.gguf", &params);
  const KvasirNotice *failed = desk_wait (desk, KVASIR_NOTICE_FAILED, load);
  g_assert_error (failed->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);

  /* The model before it is gone, too. */
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 5));
  failed = desk_wait (desk, KVASIR_NOTICE_FAILED, id);
  g_assert_error (failed->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpuint (failed->chat_id, ==, 1);
  guint64 measure = kvasir_worker_measure (desk->worker, "/nowhere/there.gguf", &params);
  desk_wait (desk, KVASIR_NOTICE_FAILED, measure);

  desk_load_and_wait (desk, 512);
  id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 5));
  g_assert_cmpint (desk_wait_end (desk, id)->kind, ==, KVASIR_NOTICE_DONE);
}

static void
test_too_large (void)
{
  g_autoptr (Desk) desk = desk_new ();
  guint64 load = desk_load (desk, 1u << 26);
  const KvasirNotice *failed = desk_wait (desk, KVASIR_NOTICE_FAILED, load);
  g_assert_error (failed->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_MEMORY);
  /* Found by the plan, before anything was taken. */
  g_assert_nonnull (strstr (failed->error->message, "are free"));
}

static void
test_measure (void)
{
  g_autoptr (Desk) desk = desk_new ();
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
  KvasirContextParams params;
  guint64 n_planned = 0;
  guint64 n_measured = 0;
  kvasir_context_params_init (&params);
  params.n_ctx = 512;
  params.n_seq_max = 4;
  params.n_ubatch = 16;
  g_test_summary ("What the planner says without loading is what is allocated");
  guint64 id = kvasir_worker_measure (desk->worker, path, &params);
  const KvasirNotice *notice = desk_wait (desk, KVASIR_NOTICE_FIT, id);
  g_assert_nonnull (notice->model);
  guint64 need_bytes = notice->fit->need_bytes;

  kvasir_worker_subscribe (desk->worker, KVASIR_VIEW_MEMORY);
  desk_load_and_wait (desk, 512);
  while (desk->snapshot == NULL || desk->snapshot->memory == NULL)
    {
      desk_drain (desk);
      g_usleep (1000);
    }
  const KvasirMemoryShot *memory = desk->snapshot->memory;
  for (guint i = 0; i < memory->n_planned; i++)
    n_planned += memory->planned[i].n_bytes;
  for (guint i = 0; i < memory->n_rows; i++)
    n_measured += memory->rows[i].n_bytes;
  g_assert_cmpuint (n_planned, ==, need_bytes);
  g_assert_cmpuint (n_measured, ==, need_bytes);
  g_assert_cmpuint (memory->process_resident_bytes, >, 0);
}

/* ---- stopping */

static void
test_stop_hits_what_was_before (void)
{
  g_autoptr (Desk) desk = desk_new ();
  desk_load_and_wait (desk, 1024);
  for (guint i = 0; i < 20; i++)
    {
      guint64 a = kvasir_worker_send (desk->worker, desk_new_request (1, endless, 0));
      guint64 queued = kvasir_worker_send (desk->worker, desk_new_request (2, endless, 0));
      if (i % 2)
        desk_wait (desk, KVASIR_NOTICE_TOKEN, a);
      kvasir_worker_stop (desk->worker);
      guint64 b = kvasir_worker_send (desk->worker, desk_new_request (3, "Hello", 4));
      const KvasirNotice *end = desk_wait_end (desk, b);
      g_assert_cmpint (end->kind, ==, KVASIR_NOTICE_DONE);
      g_assert_cmpint (end->reason, !=, KVASIR_DONE_STOPPED);
      end = desk_wait_end (desk, a);
      g_assert_cmpint (end->reason, ==, KVASIR_DONE_STOPPED);
      end = desk_wait_end (desk, queued);
      g_assert_cmpint (end->reason, ==, KVASIR_DONE_STOPPED);
      g_assert_cmpuint (end->n_generated, ==, 0);
      g_assert_cmpuint (end->n_total, ==, 0);
    }
}

static void
test_stop_loading (void)
{
  g_autoptr (Desk) desk = desk_new ();
  guint64 load = desk_load (desk, 512);
  guint64 other = desk_load (desk, 512);
  /* The second load stops the first, unless that was through already. */
  desk_wait (desk, KVASIR_NOTICE_LOADED, other);
  const KvasirNotice *failed = desk_find (desk, KVASIR_NOTICE_FAILED, load);
  if (failed != NULL)
    g_assert_error (failed->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_ABORTED);
  else
    g_assert_nonnull (desk_find (desk, KVASIR_NOTICE_LOADED, load));

  load = desk_load (desk, 512);
  kvasir_worker_stop (desk->worker);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  desk_wait_end (desk, id);
  g_assert_true (desk_find (desk, KVASIR_NOTICE_FAILED, load) != NULL ||
                 desk_find (desk, KVASIR_NOTICE_LOADED, load) != NULL);
}

static void
test_load_stops_answer (void)
{
  g_autoptr (Desk) desk = desk_new ();
  desk_load_and_wait (desk, 2048);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, endless, 0));
  desk_wait (desk, KVASIR_NOTICE_TOKEN, id);
  guint64 load = desk_load (desk, 512);
  desk_wait (desk, KVASIR_NOTICE_LOADED, load);
  g_assert_cmpint (desk_wait_end (desk, id)->reason, ==, KVASIR_DONE_STOPPED);
}

/* ---- between the steps */

static void
test_count_while_writing (void)
{
  g_autoptr (Desk) desk = desk_new ();
  guint64 count = 0;
  desk_load_and_wait (desk, 2048);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, endless, 0));
  desk_wait (desk, KVASIR_NOTICE_TOKEN, id);
  for (guint i = 0; i < 50; i++)
    count = kvasir_worker_count (desk->worker, desk_new_request (2, "A draft", 0));
  const KvasirNotice *draft = desk_wait (desk, KVASIR_NOTICE_DRAFT, count);
  g_assert_null (desk_find (desk, KVASIR_NOTICE_DONE, id));
  g_assert_cmpuint (draft->n_draft, >, 0);
  g_assert_true (draft->fits);
  kvasir_worker_stop (desk->worker);
  desk_wait_end (desk, id);
}

static void
test_drop_while_writing (void)
{
  g_autoptr (Desk) desk = desk_new ();
  desk_load_and_wait (desk, 2048);
  guint64 a = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  desk_wait_end (desk, a);
  kvasir_worker_subscribe (desk->worker, KVASIR_VIEW_CELLS);
  guint64 b = kvasir_worker_send (desk->worker, desk_new_request (2, endless, 0));
  desk_wait (desk, KVASIR_NOTICE_TOKEN, b);
  kvasir_worker_drop_chat (desk->worker, 1);
  /* The chat whose answer is written is stopped. */
  kvasir_worker_drop_chat (desk->worker, 2);
  g_assert_cmpint (desk_wait_end (desk, b)->reason, ==, KVASIR_DONE_STOPPED);
  guint64 c = kvasir_worker_send (desk->worker, desk_new_request (3, "Hello", 4));
  desk_wait_end (desk, c);
  desk_wait_rest (desk);
  while (desk->snapshot->cells->n_seqs != 1 || desk->snapshot->cells->seqs[0].chat_id != 3)
    {
      desk_drain (desk);
      g_usleep (1000);
    }
}

static void
test_views (void)
{
  g_autoptr (Desk) desk = desk_new ();
  desk_load_and_wait (desk, 512);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  desk_wait_end (desk, id);
  g_assert_null (desk->snapshot);

  kvasir_worker_subscribe (desk->worker, KVASIR_VIEW_CELLS | KVASIR_VIEW_MASK | KVASIR_VIEW_MEMORY |
                                             KVASIR_VIEW_LOG);
  desk_wait_rest (desk);
  g_assert_nonnull (desk->snapshot->cells);
  g_assert_nonnull (desk->snapshot->mask);
  g_assert_nonnull (desk->snapshot->memory);
  g_assert_cmpuint (desk->event_types->len, ==, 0);

  /* The last snapshot tells all cells of the answer. */
  id = kvasir_worker_send (desk->worker, desk_new_request (2, "Hello again", 9));
  const KvasirNotice *done = desk_wait_end (desk, id);
  guint n_held = done->n_total + done->n_generated - (done->reason == KVASIR_DONE_LENGTH);
  gint seq = done->seq;
  for (guint tries = 0; tries < 5000; tries++)
    {
      if (desk->snapshot->request_id == 0 && desk->snapshot->cells->n_seqs == 2)
        break;
      desk_drain (desk);
      g_usleep (1000);
    }
  g_assert_cmpuint (desk->snapshot->cells->n_seqs, ==, 2);
  g_assert_cmpint (desk->snapshot->cells->seqs[1].seq, ==, seq);
  g_assert_cmpuint (desk->snapshot->cells->seqs[1].n_cells, ==, n_held);
  g_assert_cmpuint (desk->event_types->len, >, 20);
  g_assert_false (desk->events_lost);

  kvasir_worker_unload (desk->worker);
  desk_wait (desk, KVASIR_NOTICE_UNLOADED, 0);
  while (desk->snapshot->cells != NULL)
    {
      desk_drain (desk);
      g_usleep (1000);
    }
  g_assert_cmpuint (desk->snapshot->model_id, ==, 0);
}

static void
test_gap (void)
{
  g_autoptr (Desk) desk = desk_new ();
  const KvasirSeqOp nothing = { KVASIR_SEQ_OP_RM, 1, -1, 0, -1, 0 };
  g_test_summary ("Who does not drain for long finds a gap, and a snapshot with what was lost");
  desk_load_and_wait (desk, 256);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  desk_wait_end (desk, id);
  kvasir_worker_subscribe (desk->worker, KVASIR_VIEW_LOG);
  for (guint i = 0; i < 8000; i++)
    kvasir_worker_seq_op (desk->worker, &nothing);
  while (!kvasir_mailbox_has_gap (desk->worker->mailbox))
    g_usleep (1000);
  desk_drain (desk);
  g_assert_true (desk->events_lost);
  desk_wait_rest (desk);
  g_assert_cmpuint (desk->snapshot->cells->n_seqs, ==, 1);
}

/* ---- coming and going */

static void
test_load_and_unload (void)
{
  g_autoptr (Desk) desk = desk_new ();
  for (guint i = 0; i < 15; i++)
    {
      desk_load_and_wait (desk, 256 + 256 * (i % 3));
      guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 2));
      g_assert_cmpint (desk_wait_end (desk, id)->kind, ==, KVASIR_NOTICE_DONE);
      if (i % 2)
        desk_wait (desk, KVASIR_NOTICE_UNLOADED, kvasir_worker_unload (desk->worker));
    }
}

static void
test_close (void)
{
  for (guint i = 0; i < 12; i++)
    {
      g_autoptr (Desk) desk = desk_new ();
      guint64 load = desk_load (desk, 2048);
      if (i % 4 == 0)
        continue;
      desk_wait (desk, KVASIR_NOTICE_LOADED, load);
      kvasir_worker_subscribe (desk->worker, KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG);
      guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, endless, 0));
      kvasir_worker_send (desk->worker, desk_new_request (2, endless, 0));
      kvasir_worker_count (desk->worker, desk_new_request (2, endless, 0));
      if (i % 4 == 1)
        desk_wait (desk, KVASIR_NOTICE_READING, id);
      else if (i % 4 == 2)
        desk_wait (desk, KVASIR_NOTICE_TOKEN, id);
    }
}

static void
test_state_files (void)
{
  GError *error = NULL;
  g_autoptr (Desk) desk = desk_new ();
  g_autofree char *dir = g_dir_make_tmp ("kvasir-XXXXXX", &error);
  g_autofree char *path = g_build_filename (dir, "state", NULL);
  desk_load_and_wait (desk, 512);
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  desk_wait_end (desk, id);
  desk_wait (desk, KVASIR_NOTICE_SAVED, kvasir_worker_save_state (desk->worker, 1, path));
  kvasir_worker_clear (desk->worker);
  desk_wait (desk, KVASIR_NOTICE_SAVED, kvasir_worker_load_state (desk->worker, 1, path));
  id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 4));
  const KvasirNotice *done = desk_wait_end (desk, id);
  g_assert_cmpuint (done->n_reused, ==, done->n_total - 1);

  KvasirSeqOp bad = { KVASIR_SEQ_OP_RM, 99, -1, 0, -1, 0 };
  const KvasirNotice *failed =
      desk_wait (desk, KVASIR_NOTICE_FAILED, kvasir_worker_seq_op (desk->worker, &bad));
  g_assert_error (failed->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (dir), ==, 0);
}

static const KvasirNotice *
set_guesses (Desk *desk, KvasirGuessKind kind, const char *path)
{
  const KvasirGuessParams params = { .kind = kind, .width = 2, .always = TRUE, .path = path };
  guint64 id = kvasir_worker_set_guesses (desk->worker, &params);
  return desk_wait (desk, KVASIR_NOTICE_GUESSES, id);
}

static void
test_guesses (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
  g_autoptr (Desk) desk = desk_new ();
  desk_load_and_wait (desk, 512);
  const KvasirNotice *notice = set_guesses (desk, KVASIR_GUESS_LOOKUP, NULL);
  g_assert_no_error (notice->error);
  g_assert_cmpuint (notice->n_total, ==, 2);
  notice = set_guesses (desk, KVASIR_GUESS_MODEL, "/nowhere/there.gguf");
  g_assert_error (notice->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_assert_cmpuint (notice->n_total, ==, 0);

  /* What writes is still there, without guesses. */
  guint64 id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 8));
  const KvasirNotice *done = desk_wait_end (desk, id);
  g_assert_cmpint (done->kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (done->n_guessed, ==, 0);

  notice = set_guesses (desk, KVASIR_GUESS_MODEL, path);
  g_assert_no_error (notice->error);
  g_assert_nonnull (notice->model);
  id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 8));
  done = desk_wait_end (desk, id);
  g_assert_cmpuint (done->n_guessed, >, 0);

  /* It goes for models that are loaded later. */
  guint64 load = desk_load (desk, 256);
  notice = desk_wait (desk, KVASIR_NOTICE_GUESSES, load);
  g_assert_cmpuint (notice->n_total, ==, 2);
  id = kvasir_worker_send (desk->worker, desk_new_request (1, "Hello", 8));
  g_assert_cmpuint (desk_wait_end (desk, id)->n_guessed, >, 0);
  notice = set_guesses (desk, KVASIR_GUESS_OFF, NULL);
  g_assert_cmpuint (notice->n_total, ==, 0);
  g_assert_no_error (notice->error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/worker/answers", test_answer);
  g_test_add_func ("/engine/session/worker/failed-load-leaves-no-model", test_load_fails);
  g_test_add_func ("/engine/session/worker/too-large-a-cache", test_too_large);
  g_test_add_func ("/engine/session/worker/plan-is-what-is-allocated", test_measure);
  g_test_add_func ("/engine/session/worker/stop-never-hits-later", test_stop_hits_what_was_before);
  g_test_add_func ("/engine/session/worker/stop-loading", test_stop_loading);
  g_test_add_func ("/engine/session/worker/load-stops-an-answer", test_load_stops_answer);
  g_test_add_func ("/engine/session/worker/counts-while-writing", test_count_while_writing);
  g_test_add_func ("/engine/session/worker/drops-chats-while-writing", test_drop_while_writing);
  g_test_add_func ("/engine/session/worker/views", test_views);
  g_test_add_func ("/engine/session/worker/gap-and-snapshot", test_gap);
  g_test_add_func ("/engine/session/worker/load-and-unload", test_load_and_unload);
  g_test_add_func ("/engine/session/worker/close-at-any-time", test_close);
  g_test_add_func ("/engine/session/worker/state-files", test_state_files);
  g_test_add_func ("/engine/session/worker/guesses", test_guesses);
  return g_test_run ();
}
