/* Asking the real engine with a tiny model: what is on the disk when, stopping, refusals. */
#include <glib/gstdio.h>
#include <string.h>

#include "backends/cpu/cpu.h"
#include "engine/error.h"
#include "tests/ui/wait.h"
#include "ui/history/answers.h"

typedef struct
{
  char *folder;
  char *path;
  KvasirDevice *device;
  KvasirEngineClient *client;
  KvasirStore *store;
  KvasirHistory *history;
  KvasirAnswers *answers;
  KvasirConversation *conversation; /* (unowned) */
  guint n_ended;
  guint n_refused;
  char *refused_text;
  guint64 edited_id;
  GError *error;
} Fixture;

static void
ended_cb (KvasirAnswers *answers,
          KvasirConversation *conversation,
          KvasirMessageNode *answer,
          const KvasirNotice *notice,
          Fixture *f)
{
  f->n_ended++;
}

static void
refused_cb (KvasirAnswers *answers,
            KvasirConversation *conversation,
            const char *text,
            guint64 edited_id,
            const KvasirNotice *notice,
            Fixture *f)
{
  f->n_refused++;
  g_free (f->refused_text);
  f->refused_text = g_strdup (text);
  f->edited_id = edited_id;
  g_clear_error (&f->error);
  f->error = g_error_copy (notice->error);
}

static void
load_model (Fixture *f, guint n_ctx)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", "tiny-llama-tied.gguf", NULL);
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  params.n_ctx = n_ctx;
  kvasir_engine_client_load (f->client, path, &params);
  test_wait (kvasir_engine_client_get_state (f->client) == KVASIR_ENGINE_READY);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  const KvasirCpuOptions options = { .n_threads = 1 };
  KvasirChat *chat;

  f->folder = g_dir_make_tmp ("kvasir-answers-XXXXXX", NULL);
  f->path = g_build_filename (f->folder, "history.db", NULL);
  f->device = kvasir_cpu_device_new (&options);
  f->client = kvasir_engine_client_new (f->device);
  f->store = kvasir_store_new (f->path);
  f->history = kvasir_history_new (f->store);
  f->answers = kvasir_answers_new (f->client, f->history);
  g_signal_connect (f->answers, "ended", G_CALLBACK (ended_cb), f);
  g_signal_connect (f->answers, "refused", G_CALLBACK (refused_cb), f);
  test_wait (kvasir_history_get_loaded (f->history));
  load_model (f, 256);
  chat = kvasir_history_add_chat (f->history, "{\"max_tokens\":8,\"temperature\":1}");
  f->conversation = kvasir_history_open_chat (f->history, chat);
}

static void
close_all (Fixture *f)
{
  kvasir_engine_client_stop (f->client);
  kvasir_answers_stop_all (f->answers);
  kvasir_history_close (f->history);
  g_clear_object (&f->answers);
  g_clear_object (&f->history);
  g_clear_object (&f->store);
  g_assert_finalize_object (g_steal_pointer (&f->client));
  while (g_main_context_iteration (NULL, FALSE))
    ;
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  if (f->client != NULL)
    close_all (f);
  f->device->vtable->free (f->device);
  g_unlink (f->path);
  g_rmdir (f->folder);
  g_free (f->path);
  g_free (f->folder);
  g_free (f->refused_text);
  g_clear_error (&f->error);
}

static void
set_max_tokens (Fixture *f, guint max_tokens)
{
  g_auto (KvasirSampling) sampling = { 0 };

  kvasir_sampling_init (&sampling);
  sampling.max_tokens = max_tokens;
  kvasir_chat_set_sampling (kvasir_conversation_get_chat (f->conversation), &sampling);
}

static void
test_answer_is_written_down (Fixture *f, gconstpointer data)
{
  KvasirMessageNode *answer;
  guint n_tokens;

  kvasir_answers_send (f->answers, f->conversation, "hello", NULL);
  g_assert_true (kvasir_chat_get_busy (kvasir_conversation_get_chat (f->conversation)));
  test_wait (f->n_ended == 1);
  g_assert_false (kvasir_chat_get_busy (kvasir_conversation_get_chat (f->conversation)));
  answer = kvasir_conversation_get_leaf (f->conversation);
  g_assert_cmpint (kvasir_message_node_get_role (answer), ==, KVASIR_ROLE_ASSISTANT);
  g_assert_cmpint (kvasir_message_node_get_state (answer), !=, KVASIR_MESSAGE_WRITING);
  g_assert_nonnull (kvasir_message_node_get_tokens (answer, &n_tokens));
  g_assert_cmpuint (n_tokens, >=, 1);
  g_assert_cmpuint (n_tokens, <=, 8);
  g_assert_cmpuint (kvasir_message_node_get_costs (answer)->n_read, >, 0);
}

static void
rows_cb (GObject *source, GAsyncResult *result, gpointer user_data)
{
  *(GPtrArray **) user_data = kvasir_store_read_finish (KVASIR_STORE (source), result, NULL);
}

static GPtrArray *
list_messages (Fixture *f)
{
  GPtrArray *rows = NULL;

  kvasir_store_list_messages_async (
      f->store, kvasir_chat_get_id (kvasir_conversation_get_chat (f->conversation)), rows_cb,
      &rows);
  test_wait (rows != NULL);
  return rows;
}

static void
sent_cb (KvasirEngineClient *client, GParamSpec *pspec, Fixture *f)
{
  /* The engine has just been asked; the message has to be in the file already. */
  if (f->n_refused == 0 && kvasir_engine_client_get_busy (client))
    f->n_refused = 100;
}

static void
test_message_is_kept_before_it_is_sent (Fixture *f, gconstpointer data)
{
  g_autoptr (GPtrArray) rows = NULL;

  g_signal_connect (f->client, "notify::busy", G_CALLBACK (sent_cb), f);
  kvasir_answers_send (f->answers, f->conversation, "typed", NULL);
  g_assert_false (kvasir_engine_client_get_busy (f->client));
  test_wait (f->n_refused == 100);
  rows = list_messages (f);
  g_assert_cmpuint (rows->len, ==, 2);
  g_assert_cmpstr (((KvasirMessageRecord *) g_ptr_array_index (rows, 0))->content, ==, "typed");
  test_wait (f->n_ended == 1);
}

static void
test_stop_keeps_what_is_there (Fixture *f, gconstpointer data)
{
  KvasirMessageNode *answer;
  guint n_tokens = 0;

  set_max_tokens (f, 0);
  kvasir_answers_send (f->answers, f->conversation, "go on", NULL);
  answer = kvasir_conversation_get_leaf (f->conversation);
  test_wait (kvasir_message_node_get_tokens (answer, &n_tokens) != NULL || f->n_ended > 0);
  kvasir_answers_stop (f->answers);
  test_wait (f->n_ended == 1);
  g_assert_cmpint (kvasir_message_node_get_state (answer), !=, KVASIR_MESSAGE_WRITING);
  /* And the chat goes on. */
  set_max_tokens (f, 3);
  kvasir_answers_send (f->answers, f->conversation, "again", NULL);
  test_wait (f->n_ended == 2);
}

static void
test_stop_before_sending (Fixture *f, gconstpointer data)
{
  kvasir_answers_send (f->answers, f->conversation, "never", NULL);
  kvasir_answers_stop (f->answers);
  g_assert_false (kvasir_chat_get_busy (kvasir_conversation_get_chat (f->conversation)));
  g_assert_cmpint (kvasir_message_node_get_state (kvasir_conversation_get_leaf (f->conversation)),
                   ==, KVASIR_MESSAGE_STOPPED);
}

/* Neither the text nor the tokens of a stop text are kept. */
static void
test_stop_text_ends_an_answer (Fixture *f, gconstpointer data)
{
  KvasirChat *chat = kvasir_conversation_get_chat (f->conversation);
  KvasirMessageNode *answer;
  guint n_tokens;

  g_object_set (chat, "sampling",
                "{\"temperature\":0,\"frequency_penalty\":10,\"max_tokens\":20,"
                "\"penalty_last_n\":64,\"stop\":[\"answer\"],"
                "\"logit_bias\":[\"cell answer member sequence poet+1000\"]}",
                NULL);
  kvasir_answers_send (f->answers, f->conversation, "hello", NULL);
  test_wait (f->n_ended == 1);
  answer = kvasir_conversation_get_leaf (f->conversation);
  g_assert_cmpint (kvasir_message_node_get_state (answer), ==, KVASIR_MESSAGE_STOP_TEXT);
  g_assert_null (strstr (kvasir_message_node_get_content (answer), "answer"));
  kvasir_message_node_get_tokens (answer, &n_tokens);
  g_assert_cmpuint (n_tokens, <, 20);
  g_object_set (chat, "sampling", "{\"max_tokens\":2}", NULL);
  kvasir_answers_send (f->answers, f->conversation, "again", NULL);
  test_wait (f->n_ended == 2);
}

static void
test_try_again_adds_an_answer (Fixture *f, gconstpointer data)
{
  kvasir_answers_send (f->answers, f->conversation, "hello", NULL);
  test_wait (f->n_ended == 1);
  kvasir_answers_try_again (f->answers, f->conversation,
                            kvasir_conversation_get_leaf (f->conversation));
  test_wait (f->n_ended == 2);
  g_assert_cmpuint (
      kvasir_message_node_get_n_versions (kvasir_conversation_get_leaf (f->conversation)), ==, 2);
  g_assert_cmpuint (
      kvasir_message_node_get_version (kvasir_conversation_get_leaf (f->conversation)), ==, 2);
  /* The prompt was found in the cells. */
  g_assert_cmpuint (
      kvasir_message_node_get_costs (kvasir_conversation_get_leaf (f->conversation))->n_reused, >,
      0);
}

static void
test_too_long_a_message_comes_back (Fixture *f, gconstpointer data)
{
  g_autofree char *text = g_strnfill (4000, 'x');
  KvasirMessageNode *leaf;

  for (guint i = 3; i < 4000; i += 4)
    text[i] = ' ';
  kvasir_answers_send (f->answers, f->conversation, "hello", NULL);
  test_wait (f->n_ended == 1);
  leaf = kvasir_conversation_get_leaf (f->conversation);
  kvasir_answers_send (f->answers, f->conversation, text, NULL);
  test_wait (f->n_refused == 1);
  g_assert_error (f->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM);
  g_assert_cmpstr (f->refused_text, ==, text);
  g_assert_true (kvasir_conversation_get_leaf (f->conversation) == leaf);
  kvasir_answers_send (f->answers, f->conversation, "short", NULL);
  test_wait (f->n_ended == 2);
}

static void
test_refused_edit_restores_the_version (Fixture *f, gconstpointer data)
{
  g_autofree char *text = g_strnfill (9000, 'x');
  KvasirMessageNode *leaf;
  KvasirMessageNode *asked;

  for (guint i = 3; i < 9000; i += 4)
    text[i] = ' ';
  kvasir_answers_send (f->answers, f->conversation, "hello", NULL);
  test_wait (f->n_ended == 1);
  leaf = kvasir_conversation_get_leaf (f->conversation);
  asked = kvasir_message_node_get_parent (leaf);
  kvasir_answers_send (f->answers, f->conversation, text, asked);
  test_wait (f->n_refused == 1);
  g_assert_cmpuint (f->edited_id, ==, kvasir_message_node_get_id (asked));
  g_assert_cmpuint (kvasir_message_node_get_n_versions (asked), ==, 1);
  g_assert_true (kvasir_conversation_get_leaf (f->conversation) == leaf);
}

static void
test_closing_while_writing_keeps_the_answer (Fixture *f, gconstpointer data)
{
  g_autoptr (GPtrArray) rows = NULL;
  const KvasirMessageRecord *read;
  KvasirMessageNode *answer;
  guint n_tokens = 0;
  guint64 chat_id;

  set_max_tokens (f, 0);
  kvasir_answers_send (f->answers, f->conversation, "go on", NULL);
  answer = kvasir_conversation_get_leaf (f->conversation);
  test_wait (kvasir_message_node_get_tokens (answer, &n_tokens) != NULL || f->n_ended > 0);
  chat_id = kvasir_chat_get_id (kvasir_conversation_get_chat (f->conversation));
  close_all (f);
  {
    KvasirStoreOpening opening = { 0 };
    KvasirDatabase *db = kvasir_database_new (f->path, &opening);

    g_assert_cmpint (opening.status, ==, KVASIR_STORE_KEPT);
    g_assert_cmpuint (opening.n_interrupted, ==, 0);
    rows = kvasir_database_list_messages (db, chat_id, NULL);
    kvasir_database_free (db);
  }
  g_assert_cmpuint (rows->len, ==, 2);
  read = g_ptr_array_index (rows, 1);
  g_assert_cmpuint (read->n_tokens, >=, n_tokens);
}

#define add(name, function)                                                                        \
  g_test_add ("/ui/answers/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("answer-is-written-down", test_answer_is_written_down);
  add ("message-is-kept-before-it-is-sent", test_message_is_kept_before_it_is_sent);
  add ("stop-keeps-what-is-there", test_stop_keeps_what_is_there);
  add ("stop-before-sending", test_stop_before_sending);
  add ("stop-text-ends-an-answer", test_stop_text_ends_an_answer);
  add ("try-again-adds-an-answer", test_try_again_adds_an_answer);
  add ("too-long-a-message-comes-back", test_too_long_a_message_comes_back);
  add ("refused-edit-restores-the-version", test_refused_edit_restores_the_version);
  add ("closing-while-writing-keeps-the-answer", test_closing_while_writing_keeps_the_answer);
  return g_test_run ();
}
