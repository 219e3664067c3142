/* Chats and their trees of messages, and what the settings remember. */
#include <glib/gstdio.h>
#include <string.h>

#include "tests/ui/wait.h"
#include "ui/base/settings.h"
#include "ui/history/history.h"

typedef struct
{
  char *folder;
  char *path;
  KvasirStore *store;
  KvasirHistory *history;
} Fixture;

static void
open_history (Fixture *f)
{
  f->store = kvasir_store_new (f->path);
  f->history = kvasir_history_new (f->store);
  test_wait (kvasir_history_get_loaded (f->history));
}

static void
close_history (Fixture *f)
{
  kvasir_history_close (f->history);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_assert_finalize_object (g_steal_pointer (&f->history));
  g_assert_finalize_object (g_steal_pointer (&f->store));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  f->folder = g_dir_make_tmp ("kvasir-history-XXXXXX", NULL);
  f->path = g_build_filename (f->folder, "history.db", NULL);
  open_history (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  close_history (f);
  g_unlink (f->path);
  g_rmdir (f->folder);
  g_free (f->path);
  g_free (f->folder);
}

/* A chat with one question and its answer. */
static KvasirConversation *
make_chat (Fixture *f, const char *question)
{
  KvasirChat *chat = kvasir_history_add_chat (f->history, "");
  KvasirConversation *conversation = kvasir_history_open_chat (f->history, chat);
  KvasirMessageNode *asked;

  kvasir_history_touch (f->history, chat, question);
  asked = kvasir_conversation_add (conversation, NULL, KVASIR_ROLE_USER, question);
  kvasir_conversation_add (conversation, asked, KVASIR_ROLE_ASSISTANT, "answer 1");
  return conversation;
}

static char *
describe (KvasirConversation *conversation)
{
  GString *out = g_string_new (NULL);
  guint n = g_list_model_get_n_items (G_LIST_MODEL (conversation));

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (KvasirMessageNode) node = g_list_model_get_item (G_LIST_MODEL (conversation), i);

      g_string_append_printf (out, "%s[%u/%u]", kvasir_message_node_get_content (node),
                              kvasir_message_node_get_version (node),
                              kvasir_message_node_get_n_versions (node));
    }
  return g_string_free (out, FALSE);
}

#define assert_path(conversation, expected)                                                        \
  G_STMT_START                                                                                     \
  {                                                                                                \
    g_autofree char *path = describe (conversation);                                               \
    g_assert_cmpstr (path, ==, expected);                                                          \
  }                                                                                                \
  G_STMT_END

static void
count_changes_cb (GListModel *model, guint position, guint removed, guint added, guint *changes)
{
  changes[0] += 1;
  changes[1] = position;
}

static void
test_versions_stay (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question 1");
  KvasirMessageNode *answer = kvasir_conversation_get_leaf (chat);
  KvasirMessageNode *question = kvasir_message_node_get_parent (answer);
  KvasirMessageNode *second;
  guint changes[2] = { 0, 0 };

  g_signal_connect (chat, "items-changed", G_CALLBACK (count_changes_cb), changes);
  assert_path (chat, "question 1[1/1]answer 1[1/1]");
  kvasir_conversation_add (chat, question, KVASIR_ROLE_ASSISTANT, "answer 2");
  assert_path (chat, "question 1[1/1]answer 2[2/2]");
  g_assert_cmpuint (changes[0], ==, 1);
  g_assert_cmpuint (changes[1], ==, 1);
  second = kvasir_conversation_add (chat, NULL, KVASIR_ROLE_USER, "question 2");
  assert_path (chat, "question 2[2/2]");
  kvasir_conversation_step_version (chat, second, -1);
  assert_path (chat, "question 1[1/2]answer 2[2/2]");
  kvasir_conversation_step_version (chat, kvasir_conversation_get_leaf (chat), -1);
  assert_path (chat, "question 1[1/2]answer 1[1/2]");
  kvasir_conversation_step_version (chat, kvasir_conversation_get_leaf (chat), -1);
  assert_path (chat, "question 1[1/2]answer 1[1/2]");
  /* The choice below a version is kept while another one is shown. */
  kvasir_conversation_step_version (chat, question, 1);
  kvasir_conversation_step_version (chat, second, -1);
  assert_path (chat, "question 1[1/2]answer 1[1/2]");
}

static void
test_path_comes_back_from_the_file (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *answer = kvasir_conversation_get_leaf (chat);

  kvasir_conversation_add (chat, kvasir_message_node_get_parent (answer), KVASIR_ROLE_ASSISTANT,
                           "answer 2");
  kvasir_conversation_step_version (chat, kvasir_conversation_get_leaf (chat), -1);
  close_history (f);
  open_history (f);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (f->history)), ==, 1);
  {
    g_autoptr (KvasirChat) read = g_list_model_get_item (G_LIST_MODEL (f->history), 0);

    g_assert_cmpstr (kvasir_chat_get_title (read), ==, "question");
    chat = kvasir_history_open_chat (f->history, read);
  }
  test_wait (kvasir_conversation_get_loaded (chat));
  assert_path (chat, "question[1/1]answer 1[1/2]");
}

static void
test_taking_back_restores_the_path (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *refused;

  refused = kvasir_conversation_add (chat, NULL, KVASIR_ROLE_USER, "edited");
  kvasir_conversation_add_answer (chat, refused, "Tiny");
  assert_path (chat, "edited[2/2][1/1]");
  kvasir_conversation_take_back (chat, refused);
  assert_path (chat, "question[1/1]answer 1[1/1]");
  close_history (f);
  open_history (f);
  {
    g_autoptr (KvasirChat) read = g_list_model_get_item (G_LIST_MODEL (f->history), 0);
    chat = kvasir_history_open_chat (f->history, read);
  }
  test_wait (kvasir_conversation_get_loaded (chat));
  assert_path (chat, "question[1/1]answer 1[1/1]");
}

static void
test_branch_copies_the_path (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *answer = kvasir_conversation_get_leaf (chat);
  KvasirChat *other = kvasir_history_add_chat (f->history, "");
  KvasirConversation *copy = kvasir_history_open_chat (f->history, other);

  kvasir_message_node_append (answer, "!", 17);
  kvasir_conversation_add (chat, answer, KVASIR_ROLE_USER, "not copied");
  kvasir_history_touch (f->history, other, NULL);
  kvasir_conversation_copy_path (chat, answer, copy);
  assert_path (copy, "question[1/1]answer 1![1/1]");
  g_assert_cmpuint (kvasir_message_node_get_id (kvasir_conversation_get_leaf (copy)), !=,
                    kvasir_message_node_get_id (answer));
  {
    guint n_tokens;
    const gint32 *tokens =
        kvasir_message_node_get_tokens (kvasir_conversation_get_leaf (copy), &n_tokens);

    g_assert_cmpuint (n_tokens, ==, 1);
    g_assert_cmpint (tokens[0], ==, 17);
  }
}

static void
test_request_holds_the_path (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *answer = kvasir_conversation_get_leaf (chat);
  KvasirMessageNode *asked = kvasir_conversation_add (chat, answer, KVASIR_ROLE_USER, "and?");
  KvasirMessageNode *first = kvasir_conversation_add_answer (chat, asked, NULL);
  KvasirMessageNode *second = kvasir_conversation_add_answer (chat, asked, NULL);
  g_autoptr (KvasirRequest) request = NULL;
  g_autoptr (KvasirRequest) draft = NULL;
  const KvasirMessage *message;

  g_object_set (kvasir_conversation_get_chat (chat), "system-prompt", "be brief", NULL);
  request = kvasir_conversation_make_request (chat, asked, NULL, second);
  g_assert_cmpuint (request->messages->len, ==, 4);
  message = g_ptr_array_index (request->messages, 0);
  g_assert_cmpint (message->role, ==, KVASIR_ROLE_SYSTEM);
  g_assert_cmpstr (message->content, ==, "be brief");
  message = g_ptr_array_index (request->messages, 3);
  g_assert_cmpstr (message->content, ==, "and?");
  g_assert_cmpuint (request->answer_id, ==, kvasir_message_node_get_id (second));
  /* A second answer leaves the first in the cells, and another seed draws it. */
  g_assert_true (request->keep_other);
  g_assert_cmpuint (request->sampling.seed, ==, 43);
  draft = kvasir_conversation_make_request (chat, first, "more", NULL);
  g_assert_cmpuint (draft->messages->len, ==, 6);
  g_assert_false (draft->keep_other);
}

static void
test_reasoning_is_told_apart (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *asked = kvasir_conversation_add (chat, kvasir_conversation_get_leaf (chat),
                                                      KVASIR_ROLE_USER, "</think>\nno answer");
  KvasirMessageNode *answer = kvasir_conversation_add_answer (chat, asked, NULL);
  g_auto (KvasirSampling) sampling = { 0 };
  g_autoptr (KvasirRequest) request = NULL;
  KvasirReasoning reasoning;

  g_assert_cmpstr (kvasir_message_node_get_answer (asked), ==, "</think>\nno answer");
  kvasir_message_node_append (answer, "Well", 1);
  g_assert_cmpstr (kvasir_message_node_get_answer (answer), ==, "Well");
  kvasir_message_node_set_reasons (answer, TRUE);
  kvasir_message_node_find_reasoning (answer, &reasoning);
  g_assert_true (reasoning.is_open && reasoning.len == 4);
  g_assert_cmpstr (kvasir_message_node_get_answer (answer), ==, "");
  kvasir_message_node_append (answer, "\n</think>\n\nYes.", 2);
  g_assert_cmpstr (kvasir_message_node_get_answer (answer), ==, "Yes.");
  /* What is asked of the model's template is the chat's. */
  kvasir_chat_get_sampling (kvasir_conversation_get_chat (chat), &sampling);
  sampling.thinking = KVASIR_THINKING_ON;
  kvasir_chat_set_sampling (kvasir_conversation_get_chat (chat), &sampling);
  request = kvasir_conversation_make_request (chat, answer, "more", NULL);
  g_assert_cmpint (request->thinking, ==, KVASIR_THINKING_ON);
}

/* Stopped inside the reasoning that the prompt had opened. */
static void
test_reasoning_is_kept (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *asked =
      kvasir_conversation_add (chat, kvasir_conversation_get_leaf (chat), KVASIR_ROLE_USER, "and?");
  KvasirMessageNode *answer = kvasir_conversation_add_answer (chat, asked, NULL);
  KvasirConversation *copy;
  g_autoptr (KvasirRequest) request = NULL;
  const KvasirMessage *message;

  kvasir_message_node_set_reasons (answer, TRUE);
  kvasir_message_node_append (answer, "Well", 1);
  kvasir_message_node_set_state (answer, KVASIR_MESSAGE_STOPPED);
  kvasir_conversation_write (chat, answer, NULL, NULL);
  close_history (f);
  open_history (f);
  {
    g_autoptr (KvasirChat) read = g_list_model_get_item (G_LIST_MODEL (f->history), 0);
    chat = kvasir_history_open_chat (f->history, read);
  }
  test_wait (kvasir_conversation_get_loaded (chat));
  answer = kvasir_conversation_get_leaf (chat);
  g_assert_cmpstr (kvasir_message_node_get_content (answer), ==, "Well");
  g_assert_cmpstr (kvasir_message_node_get_answer (answer), ==, "");
  request = kvasir_conversation_make_request (chat, answer, "more", NULL);
  message = g_ptr_array_index (request->messages, 2);
  g_assert_false (message->reasons);
  message = g_ptr_array_index (request->messages, 3);
  g_assert_true (message->reasons);
  /* A branch keeps it, too. */
  {
    KvasirChat *other = kvasir_history_add_chat (f->history, "");
    copy = kvasir_history_open_chat (f->history, other);
    kvasir_history_touch (f->history, other, NULL);
  }
  kvasir_conversation_copy_path (chat, answer, copy);
  g_assert_cmpstr (kvasir_message_node_get_answer (kvasir_conversation_get_leaf (copy)), ==, "");
}

static void
test_loading_survives_nonsense (Fixture *f, gconstpointer data)
{
  static const struct
  {
    guint64 id;
    guint64 parent;
  } rows[] = { { 5, 5 }, { 6, 99 }, { 7, 6 }, { 8, 9 }, { 9, 8 } };
  KvasirChat *chat = kvasir_history_add_chat (f->history, "");
  g_autoptr (KvasirConversation) conversation = kvasir_conversation_new (chat, f->store);
  g_autoptr (GPtrArray) records =
      g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_message_record_free);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      KvasirMessageRecord *record = g_new0 (KvasirMessageRecord, 1);

      record->id = rows[i].id;
      record->parent_id = rows[i].parent;
      record->role = (KvasirRole) 77;
      record->content = g_strdup_printf ("m%u", (guint) rows[i].id);
      g_ptr_array_add (records, record);
    }
  kvasir_conversation_load (conversation, records);
  assert_path (conversation, "m8[3/3]m9[1/1]");
}

static void
test_deleting_can_be_undone (Fixture *f, gconstpointer data)
{
  KvasirChat *first = kvasir_conversation_get_chat (make_chat (f, "first"));
  KvasirChat *second = kvasir_conversation_get_chat (make_chat (f, "second"));
  guint64 id = kvasir_chat_get_id (first);

  g_assert_true (kvasir_history_find_chat (f->history, id) == first);
  kvasir_history_delete_chat (f->history, first);
  g_assert_null (kvasir_history_find_chat (f->history, id));
  kvasir_history_undo_delete (f->history, first);
  g_assert_true (kvasir_history_find_chat (f->history, id) == first);
  kvasir_history_delete_chat (f->history, first);
  kvasir_history_finish_delete (f->history, first);
  kvasir_history_delete_chat (f->history, second);
  /* Closing finishes what the toast had not. */
  close_history (f);
  open_history (f);
  g_assert_cmpuint (g_list_model_get_n_items (G_LIST_MODEL (f->history)), ==, 0);
}

static void
test_latest_chat_is_first (Fixture *f, gconstpointer data)
{
  KvasirChat *first = kvasir_conversation_get_chat (make_chat (f, "first"));
  g_autoptr (KvasirChat) top = NULL;

  make_chat (f, "second");
  kvasir_history_touch (f->history, first, "does not rename");
  top = g_list_model_get_item (G_LIST_MODEL (f->history), 0);
  g_assert_true (top == first);
}

static void
test_first_message_names_the_chat (Fixture *f, gconstpointer data)
{
  KvasirChat *chat = kvasir_conversation_get_chat (make_chat (f, "  Why\n\nis it   so? "));

  g_assert_cmpstr (kvasir_chat_get_title (chat), ==, "Why is it so?");
  kvasir_chat_set_title (chat, "mine", TRUE);
  kvasir_history_touch (f->history, chat, "not this");
  g_assert_cmpstr (kvasir_chat_get_title (chat), ==, "mine");
}

static void
count_found_cb (KvasirHistory *history, guint *n)
{
  *n += 1;
}

static void
test_search_marks_what_is_found (Fixture *f, gconstpointer data)
{
  KvasirChat *first = kvasir_conversation_get_chat (make_chat (f, "apples"));
  KvasirChat *second = kvasir_conversation_get_chat (make_chat (f, "pears"));
  guint n = 0;

  g_signal_connect (f->history, "found", G_CALLBACK (count_found_cb), &n);
  kvasir_history_search (f->history, "app");
  kvasir_history_search (f->history, "PEAR");
  test_wait (n == 1);
  g_assert_false (kvasir_history_is_found (f->history, first));
  g_assert_true (kvasir_history_is_found (f->history, second));
  kvasir_history_search (f->history, "");
  g_assert_cmpuint (n, ==, 2);
  g_assert_true (kvasir_history_is_found (f->history, first));
}

static void
test_draft_is_kept (Fixture *f, gconstpointer data)
{
  KvasirChat *chat = kvasir_history_add_chat (f->history, "");

  g_object_set (chat, "draft", "half a thou", NULL);
  g_object_set (chat, "draft", "half a thought", NULL);
  close_history (f);
  open_history (f);
  {
    g_autoptr (KvasirChat) read = g_list_model_get_item (G_LIST_MODEL (f->history), 0);
    g_assert_cmpstr (kvasir_chat_get_draft (read), ==, "half a thought");
  }
}

/* ---- properties */

static void
count_notify_cb (GObject *object, GParamSpec *pspec, guint *n)
{
  *n += 1;
}

static void
fill_other (GParamSpec *pspec, GValue *value)
{
  if (pspec->value_type == G_TYPE_STRING)
    g_value_set_string (value, "other");
  else if (pspec->value_type == G_TYPE_BOOLEAN)
    g_value_set_boolean (value, !g_value_get_boolean (value));
  else if (pspec->value_type == G_TYPE_INT)
    g_value_set_int (value, MIN (g_value_get_int (value) + 1, G_PARAM_SPEC_INT (pspec)->maximum));
  else if (pspec->value_type == G_TYPE_UINT)
    g_value_set_uint (value, g_value_get_uint (value) + 1);
  else if (pspec->value_type == G_TYPE_INT64)
    g_value_set_int64 (value, g_value_get_int64 (value) + 1);
  else if (pspec->value_type == G_TYPE_UINT64)
    g_value_set_uint64 (value, g_value_get_uint64 (value) + 1);
  else
    g_assert_not_reached ();
}

/* Sets each property to another value and to the same once more: one notification, the value is
 * there. */
static void
check_properties (GObject *object)
{
  guint n_props;
  g_autofree GParamSpec **props =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n_props);

  g_assert_cmpuint (n_props, >, 0);
  for (guint i = 0; i < n_props; i++)
    {
      g_autofree char *signal = g_strconcat ("notify::", props[i]->name, NULL);
      g_auto (GValue) value = G_VALUE_INIT;
      g_auto (GValue) read = G_VALUE_INIT;
      guint n = 0;
      gulong id = g_signal_connect (object, signal, G_CALLBACK (count_notify_cb), &n);

      g_value_init (&value, props[i]->value_type);
      g_value_init (&read, props[i]->value_type);
      g_object_get_property (object, props[i]->name, &value);
      fill_other (props[i], &value);
      g_object_set_property (object, props[i]->name, &value);
      g_object_set_property (object, props[i]->name, &value);
      g_assert_cmpuint (n, ==, 1);
      g_object_get_property (object, props[i]->name, &read);
      g_assert_cmpint (g_param_values_cmp (props[i], &value, &read), ==, 0);
      g_signal_handler_disconnect (object, id);
    }
}

static void
test_chat_properties (Fixture *f, gconstpointer data)
{
  check_properties (G_OBJECT (kvasir_history_add_chat (f->history, "")));
}

static void
test_node_notifies (Fixture *f, gconstpointer data)
{
  KvasirConversation *chat = make_chat (f, "question");
  KvasirMessageNode *answer =
      kvasir_conversation_add_answer (chat, kvasir_conversation_get_leaf (chat), "Tiny");
  const KvasirMessageProgress progress = { 1, 4, 100 };
  double fraction;
  guint n_content = 0;
  guint n_state = 0;

  g_signal_connect (answer, "notify::content", G_CALLBACK (count_notify_cb), &n_content);
  g_signal_connect (answer, "notify::state", G_CALLBACK (count_notify_cb), &n_state);
  kvasir_message_node_append (answer, "", 5);
  g_assert_cmpuint (n_content, ==, 0);
  kvasir_message_node_append (answer, "a", 6);
  kvasir_message_node_append (answer, "b", -1);
  g_assert_cmpuint (n_content, ==, 2);
  g_assert_cmpstr (kvasir_message_node_get_content (answer), ==, "ab");
  kvasir_message_node_set_state (answer, KVASIR_MESSAGE_STOPPED);
  kvasir_message_node_set_state (answer, KVASIR_MESSAGE_STOPPED);
  g_assert_cmpuint (n_state, ==, 1);
  kvasir_message_node_set_progress (answer, &progress);
  g_object_get (answer, "progress", &fraction, NULL);
  g_assert_cmpfloat (fraction, ==, 0.25);
}

static void
test_settings_are_kept (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "settings.ini", NULL);
  KvasirSettings *settings = kvasir_settings_new (path);
  g_autofree char *model = NULL;

  g_assert_cmpint (kvasir_settings_get_int (settings, "window-width"), ==, 1280);
  check_properties (G_OBJECT (settings));
  g_object_set (settings, "last-model", "/x/y=ä.gguf", "window-width", 900, NULL);
  g_assert_finalize_object (settings);
  settings = kvasir_settings_new (path);
  model = kvasir_settings_dup_string (settings, "last-model");
  g_assert_cmpstr (model, ==, "/x/y=ä.gguf");
  g_assert_cmpint (kvasir_settings_get_int (settings, "window-width"), ==, 900);
  g_assert_finalize_object (settings);
  g_unlink (path);
}

static void
test_broken_settings_are_defaults (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "settings.ini", NULL);
  KvasirSettings *settings;

  g_assert_true (g_file_set_contents (
      path, "[kvasir]\nwindow-width=-5\ncolor-scheme=77\nmaximized=perhaps\n", -1, NULL));
  settings = kvasir_settings_new (path);
  g_assert_cmpint (kvasir_settings_get_int (settings, "window-width"), ==, 360);
  g_assert_cmpint (kvasir_settings_get_int (settings, "color-scheme"), ==, 2);
  g_assert_false (kvasir_settings_get_boolean (settings, "maximized"));
  g_assert_finalize_object (settings);
  g_unlink (path);
}

static void
test_sampling_round_trip (void)
{
  g_auto (KvasirSampling) sampling = { 0 };
  g_auto (KvasirSampling) read = { 0 };
  g_autofree char *text = NULL;
  g_autofree char *again = NULL;
  g_autofree char *words = NULL;

  kvasir_sampling_parse (&sampling, "{\"temperature\":0.25,\"top_k\":20,\"seed\":7,"
                                    "\"max_tokens\":-3,\"top_p\":9,\"min_p\":\"x\"}");
  g_assert_cmpfloat (sampling.params.temperature, ==, 0.25f);
  g_assert_cmpuint (sampling.params.top_k, ==, 20);
  g_assert_cmpuint (sampling.params.seed, ==, 7);
  g_assert_cmpuint (sampling.max_tokens, ==, 0);
  g_assert_cmpfloat (sampling.params.top_p, ==, 0.95f);
  text = kvasir_sampling_to_string (&sampling);
  kvasir_sampling_parse (&read, text);
  again = kvasir_sampling_to_string (&read);
  g_assert_cmpstr (again, ==, text);
  words = kvasir_sampling_describe (&sampling);
  g_assert_cmpstr (words, ==, "Temperature 0.25 · top-p 0.95 · top-k 20 · seed 7");
  kvasir_sampling_clear (&read);
  kvasir_sampling_parse (&read, "no JSON");
  g_assert_cmpuint (read.params.seed, ==, 42);
}

/* Every number, list and the order, each with a value that is not its default. */
static void
test_all_sampling_is_kept (void)
{
  g_auto (KvasirSampling) sampling = { 0 };
  g_auto (KvasirSampling) read = { 0 };
  const char *const stops[] = { "\n\nUser:", "###", NULL };
  const char *const biases[] = { "7-inf", NULL };
  g_autofree char *text = NULL;
  g_autofree char *words = NULL;

  kvasir_sampling_init (&sampling);
  for (guint i = 0; i < KVASIR_SAMPLING_N_NUMBERS; i++)
    {
      double min, max;
      kvasir_sampling_get_range (i, &min, &max);
      kvasir_sampling_set_number (&sampling, i, max > 1 ? 2 : 0.25);
    }
  sampling.texts.stops = g_strdupv ((char **) stops);
  sampling.texts.biases = g_strdupv ((char **) biases);
  g_strfreev (sampling.texts.breakers);
  sampling.texts.breakers = g_new0 (char *, 1);
  sampling.texts.grammar = g_strdup ("root ::= \"é\"\n");
  sampling.texts.schema = g_strdup ("{\"type\":\"null\"}");
  sampling.adapt = TRUE;
  sampling.thinking = KVASIR_THINKING_OFF;
  sampling.params.order[0] = KVASIR_STAGE_XTC;
  sampling.params.order[1] = KVASIR_STAGE_TOP_K;
  text = kvasir_sampling_to_string (&sampling);
  kvasir_sampling_parse (&read, text);
  for (guint i = 0; i < KVASIR_SAMPLING_N_NUMBERS; i++)
    g_assert_cmpfloat (kvasir_sampling_get_number (&read, i), ==,
                       kvasir_sampling_get_number (&sampling, i));
  g_assert_true (g_strv_equal (stops, (const char *const *) read.texts.stops));
  g_assert_true (g_strv_equal (biases, (const char *const *) read.texts.biases));
  g_assert_cmpstr (read.texts.grammar, ==, sampling.texts.grammar);
  g_assert_cmpstr (read.texts.schema, ==, sampling.texts.schema);
  g_assert_true (read.adapt);
  g_assert_cmpint (read.thinking, ==, KVASIR_THINKING_OFF);
  g_assert_nonnull (read.texts.breakers);
  g_assert_null (read.texts.breakers[0]);
  g_assert_cmpmem (read.params.order, sizeof read.params.order, sampling.params.order,
                   sizeof sampling.params.order);
  words = kvasir_sampling_describe (&read);
  g_assert_nonnull (strstr (words,
                            "DRY 2 · own order · 1 bias · 2 stop texts · by a grammar · JSON by a "
                            "schema · seed 2"));
}

#define add(name, function)                                                                        \
  g_test_add ("/ui/history/" name, Fixture, NULL, set_up, function, tear_down)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("versions-stay", test_versions_stay);
  add ("path-comes-back-from-the-file", test_path_comes_back_from_the_file);
  add ("taking-back-restores-the-path", test_taking_back_restores_the_path);
  add ("branch-copies-the-path", test_branch_copies_the_path);
  add ("request-holds-the-path", test_request_holds_the_path);
  add ("reasoning-is-told-apart", test_reasoning_is_told_apart);
  add ("reasoning-is-kept", test_reasoning_is_kept);
  add ("loading-survives-nonsense", test_loading_survives_nonsense);
  add ("deleting-can-be-undone", test_deleting_can_be_undone);
  add ("latest-chat-is-first", test_latest_chat_is_first);
  add ("first-message-names-the-chat", test_first_message_names_the_chat);
  add ("search-marks-what-is-found", test_search_marks_what_is_found);
  add ("draft-is-kept", test_draft_is_kept);
  add ("chat-properties", test_chat_properties);
  add ("node-notifies", test_node_notifies);
  add ("settings-are-kept", test_settings_are_kept);
  add ("broken-settings-are-defaults", test_broken_settings_are_defaults);
  g_test_add_func ("/ui/history/sampling-round-trip", test_sampling_round_trip);
  g_test_add_func ("/ui/history/all-sampling-is-kept", test_all_sampling_is_kept);
  return g_test_run ();
}
