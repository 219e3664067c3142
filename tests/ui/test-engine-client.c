#include "backends/cpu/cpu.h"
#include "ui/engine-client.h"

typedef struct
{
  KvasirDevice *device;
  KvasirEngineClient *client;
  GArray *kinds;  /* of KvasirNoticeKind, as they came */
  GArray *states; /* of KvasirEngineState, as they were notified */
  guint n_model_notified;
  guint n_busy_notified;
  guint n_fraction_notified;
  guint n_events;
  guint n_snapshots;
  guint64 ended_id; /* request of the newest DONE or FAILED */
  KvasirEngineState state_at_end;
} Fixture;

static void
notice_cb (KvasirEngineClient *client, const KvasirNotice *notice, Fixture *fixture)
{
  g_array_append_val (fixture->kinds, notice->kind);
  if (notice->kind == KVASIR_NOTICE_DONE || notice->kind == KVASIR_NOTICE_FAILED)
    {
      fixture->ended_id = notice->request_id;
      fixture->state_at_end = kvasir_engine_client_get_state (client);
    }
}

static void
events_cb (KvasirEngineClient *client, const KvasirMail *mail, Fixture *fixture)
{
  gsize offset = 0;
  while (kvasir_mail_next_event (mail, &offset, NULL, NULL) != NULL)
    fixture->n_events++;
}

static void
snapshot_cb (KvasirEngineClient *client, const KvasirSnapshot *snapshot, Fixture *fixture)
{
  g_assert_true (kvasir_engine_client_get_snapshot (client) == snapshot);
  fixture->n_snapshots++;
}

static void
state_cb (KvasirEngineClient *client, GParamSpec *pspec, Fixture *fixture)
{
  KvasirEngineState state;
  g_object_get (client, "state", &state, NULL);
  g_assert_cmpint (state, ==, kvasir_engine_client_get_state (client));
  g_array_append_val (fixture->states, state);
}

static void
count_cb (KvasirEngineClient *client, GParamSpec *pspec, guint *count)
{
  (*count)++;
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  KvasirCpuOptions options = { .isa = KVASIR_CPU_ISA_SCALAR, .n_threads = 1 };
  fixture->device = kvasir_cpu_device_new (&options);
  fixture->client = kvasir_engine_client_new (fixture->device);
  fixture->kinds = g_array_new (FALSE, FALSE, sizeof (KvasirNoticeKind));
  fixture->states = g_array_new (FALSE, FALSE, sizeof (KvasirEngineState));
  g_signal_connect (fixture->client, "notice", G_CALLBACK (notice_cb), fixture);
  g_signal_connect (fixture->client, "events", G_CALLBACK (events_cb), fixture);
  g_signal_connect (fixture->client, "snapshot", G_CALLBACK (snapshot_cb), fixture);
  g_signal_connect (fixture->client, "notify::state", G_CALLBACK (state_cb), fixture);
  g_signal_connect (fixture->client, "notify::model", G_CALLBACK (count_cb),
                    &fixture->n_model_notified);
  g_signal_connect (fixture->client, "notify::busy", G_CALLBACK (count_cb),
                    &fixture->n_busy_notified);
  g_signal_connect (fixture->client, "notify::load-fraction", G_CALLBACK (count_cb),
                    &fixture->n_fraction_notified);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  if (fixture->client != NULL)
    g_assert_finalize_object (fixture->client);
  fixture->device->vtable->free (fixture->device);
  g_array_unref (fixture->kinds);
  g_array_unref (fixture->states);
}

static void
load (Fixture *fixture, const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", name, NULL);
  KvasirContextParams params;
  kvasir_context_params_init (&params);
  params.n_ctx = 2048;
  kvasir_engine_client_load (fixture->client, path, &params);
  while (kvasir_engine_client_get_state (fixture->client) == KVASIR_ENGINE_LOADING)
    g_main_context_iteration (NULL, TRUE);
}

static KvasirRequest *
new_request (guint64 chat_id, const char *text, guint max_tokens)
{
  KvasirRequest *request = kvasir_request_new (chat_id, 11);
  g_ptr_array_add (request->messages, kvasir_message_new (10, KVASIR_ROLE_USER, text));
  request->sampling.temperature = 0.0f;
  request->max_tokens = max_tokens;
  return request;
}

static void
wait_end (Fixture *fixture, guint64 id)
{
  while (fixture->ended_id != id)
    g_main_context_iteration (NULL, TRUE);
}

static KvasirEngineState
get_state (const Fixture *fixture, guint i)
{
  g_assert_cmpuint (i, <, fixture->states->len);
  return g_array_index (fixture->states, KvasirEngineState, i);
}

static const char endless[] = "Aa Ba Ca Da Ea Fa Ga Ha Ia Ja Ka La Ma Na Oa Pa Qa Ra Sa Ta Ua";

static void
test_states (Fixture *fixture, gconstpointer data)
{
  KvasirModel *model = NULL;
  double fraction = 0.0;
  gboolean busy = TRUE;
  g_assert_cmpint (kvasir_engine_client_get_state (fixture->client), ==, KVASIR_ENGINE_NO_MODEL);
  load (fixture, "tiny-llama-tied.gguf");
  g_object_get (fixture->client, "model", &model, "load-fraction", &fraction, "busy", &busy, NULL);
  g_assert_true (model == kvasir_engine_client_get_model (fixture->client));
  g_assert_nonnull (model);
  kvasir_model_unref (model);
  g_assert_cmpfloat (fraction, ==, 1.0);
  g_assert_false (busy);
  g_assert_cmpuint (kvasir_engine_client_get_params (fixture->client)->n_ctx, ==, 2048);
  g_assert_cmpuint (fixture->n_model_notified, ==, 1);
  g_assert_cmpuint (fixture->n_fraction_notified, >, 0);

  guint64 id = kvasir_engine_client_send (fixture->client, new_request (7, endless, 5));
  g_assert_true (kvasir_engine_client_get_busy (fixture->client));
  g_assert_cmpuint (kvasir_engine_client_get_request (fixture->client), ==, id);
  g_assert_cmpuint (kvasir_engine_client_get_chat (fixture->client), ==, 7);
  wait_end (fixture, id);
  /* The properties follow before the signal. */
  g_assert_cmpint (fixture->state_at_end, ==, KVASIR_ENGINE_READY);
  g_assert_cmpuint (kvasir_engine_client_get_request (fixture->client), ==, 0);
  g_assert_cmpuint (kvasir_engine_client_get_chat (fixture->client), ==, 0);
  g_assert_cmpuint (fixture->n_busy_notified, ==, 2);
  g_assert_cmpuint (fixture->states->len, ==, 5);
  g_assert_cmpint (get_state (fixture, 0), ==, KVASIR_ENGINE_LOADING);
  g_assert_cmpint (get_state (fixture, 1), ==, KVASIR_ENGINE_READY);
  g_assert_cmpint (get_state (fixture, 2), ==, KVASIR_ENGINE_READING);
  g_assert_cmpint (get_state (fixture, 3), ==, KVASIR_ENGINE_WRITING);
  g_assert_cmpint (get_state (fixture, 4), ==, KVASIR_ENGINE_READY);

  kvasir_engine_client_unload (fixture->client);
  while (kvasir_engine_client_get_model (fixture->client) != NULL)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpint (kvasir_engine_client_get_state (fixture->client), ==, KVASIR_ENGINE_NO_MODEL);
}

static void
test_failed_load (Fixture *fixture, gconstpointer data)
{
  load (fixture, "tiny-llama-tied.gguf");
  load (fixture, "no-such-file.gguf");
  g_assert_null (kvasir_engine_client_get_model (fixture->client));
  g_assert_cmpint (kvasir_engine_client_get_state (fixture->client), ==, KVASIR_ENGINE_NO_MODEL);
  guint64 id = kvasir_engine_client_send (fixture->client, new_request (7, endless, 5));
  wait_end (fixture, id);
  g_assert_cmpuint (kvasir_engine_client_get_request (fixture->client), ==, 0);
}

static void
test_stop (Fixture *fixture, gconstpointer data)
{
  load (fixture, "tiny-llama-tied.gguf");
  guint64 a = kvasir_engine_client_send (fixture->client, new_request (1, endless, 0));
  guint64 b = kvasir_engine_client_send (fixture->client, new_request (2, endless, 0));
  while (kvasir_engine_client_get_state (fixture->client) != KVASIR_ENGINE_WRITING)
    g_main_context_iteration (NULL, TRUE);
  g_assert_cmpuint (kvasir_engine_client_get_request (fixture->client), ==, a);
  kvasir_engine_client_stop (fixture->client);
  wait_end (fixture, b);
  g_assert_cmpint (kvasir_engine_client_get_state (fixture->client), ==, KVASIR_ENGINE_READY);
}

static void
test_views (Fixture *fixture, gconstpointer data)
{
  load (fixture, "tiny-llama-tied.gguf");
  kvasir_engine_client_add_views (fixture->client, KVASIR_VIEW_CELLS);
  kvasir_engine_client_add_views (fixture->client, KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG);
  kvasir_engine_client_remove_views (fixture->client, KVASIR_VIEW_CELLS);
  guint64 id = kvasir_engine_client_send (fixture->client, new_request (1, "Hello", 5));
  wait_end (fixture, id);
  while (fixture->n_snapshots == 0 ||
         kvasir_engine_client_get_snapshot (fixture->client)->request_id != 0)
    g_main_context_iteration (NULL, TRUE);
  g_assert_nonnull (kvasir_engine_client_get_snapshot (fixture->client)->cells);
  g_assert_cmpuint (fixture->n_events, >, 10);

  /* What was on its way when the last page closed has come with this answer. */
  kvasir_engine_client_remove_views (fixture->client, KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG);
  id = kvasir_engine_client_send (fixture->client, new_request (1, "Hello", 5));
  wait_end (fixture, id);
  guint n_events = fixture->n_events;
  guint n_snapshots = fixture->n_snapshots;
  id = kvasir_engine_client_send (fixture->client, new_request (1, "Hello", 5));
  wait_end (fixture, id);
  g_assert_cmpuint (fixture->n_events, ==, n_events);
  g_assert_cmpuint (fixture->n_snapshots, ==, n_snapshots);
}

static void
test_close (Fixture *fixture, gconstpointer data)
{
  load (fixture, "tiny-llama-tied.gguf");
  kvasir_engine_client_add_views (fixture->client, KVASIR_VIEW_CELLS | KVASIR_VIEW_LOG);
  kvasir_engine_client_send (fixture->client, new_request (1, endless, 0));
  while (kvasir_engine_client_get_state (fixture->client) != KVASIR_ENGINE_WRITING)
    g_main_context_iteration (NULL, TRUE);
  guint n_kinds = fixture->kinds->len;
  g_assert_finalize_object (fixture->client);
  fixture->client = NULL;
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_cmpuint (fixture->kinds->len, ==, n_kinds);
}

static void
drop_cb (KvasirEngineClient *client, const KvasirNotice *notice, Fixture *fixture)
{
  if (notice->kind == KVASIR_NOTICE_TOKEN)
    g_clear_object (&fixture->client);
}

static void
test_close_from_handler (Fixture *fixture, gconstpointer data)
{
  load (fixture, "tiny-llama-tied.gguf");
  g_signal_connect (fixture->client, "notice", G_CALLBACK (drop_cb), fixture);
  kvasir_engine_client_send (fixture->client, new_request (1, endless, 0));
  while (fixture->client != NULL)
    g_main_context_iteration (NULL, TRUE);
}

#define ADD(path, function) g_test_add (path, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD ("/ui/engine-client/states-follow-the-engine", test_states);
  ADD ("/ui/engine-client/failed-load-leaves-no-model", test_failed_load);
  ADD ("/ui/engine-client/stop-ends-all-that-was-sent", test_stop);
  ADD ("/ui/engine-client/views-are-counted", test_views);
  ADD ("/ui/engine-client/close-while-writing", test_close);
  ADD ("/ui/engine-client/close-from-a-handler", test_close_from_handler);
  return g_test_run ();
}
