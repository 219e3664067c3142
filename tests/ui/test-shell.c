/* Words of the window that need no window: errors, drafts, days, facts. */
#include <string.h>

#include "engine/error.h"
#include "ui/history/message-node-private.h"
#include "ui/shell/chat-list.h"
#include "ui/shell/draft-status.h"
#include "ui/shell/explain.h"
#include "ui/transcript/message-facts.h"
#include "viz/format.h"

#define THIN "\u2009\u2060"

static void
check_load (KvasirEngineError code, const char *title)
{
  g_autoptr (GError) error =
      g_error_new_literal (KVASIR_ENGINE_ERROR, (int) code, "what, where, expected, found");
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_load (&words, error, "/some/where/m.gguf");
  g_assert_cmpstr (words.title, ==, title);
  g_assert_cmpstr (words.detail, ==, "what, where, expected, found");
}

static void
test_load_errors_have_their_own_sentence (void)
{
  check_load (KVASIR_ENGINE_ERROR_FILE, "“m.gguf” cannot be read.");
  check_load (KVASIR_ENGINE_ERROR_BAD_FILE, "“m.gguf” is not a sound model file.");
  check_load (KVASIR_ENGINE_ERROR_UNSUPPORTED, "Kvasir cannot run “m.gguf” yet.");
  check_load (KVASIR_ENGINE_ERROR_NO_MEMORY, "There is not enough memory for “m.gguf”.");
  check_load (KVASIR_ENGINE_ERROR_ABORTED, "Opening “m.gguf” was stopped.");
  check_load (KVASIR_ENGINE_ERROR_BAD_ARGUMENT, "“m.gguf” could not be opened.");
}

static void
check_answer (KvasirEngineError code, const char *title)
{
  g_autoptr (GError) error = g_error_new_literal (KVASIR_ENGINE_ERROR, (int) code, "line 3");
  const KvasirNotice notice = { .error = error, .n_needed = 530, .n_free = 412 };
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_answer (&words, &notice, 4096);
  g_assert_cmpstr (words.title, ==, title);
}

static void
test_answer_errors_have_their_own_sentence (void)
{
  check_answer (KVASIR_ENGINE_ERROR_NO_ROOM, "This message needs 530 cells, 412 are free.");
  check_answer (KVASIR_ENGINE_ERROR_TEMPLATE, "The model's chat template refused this chat.");
  check_answer (KVASIR_ENGINE_ERROR_NO_MEMORY, "There was not enough memory for this step.");
  check_answer (KVASIR_ENGINE_ERROR_UNSUPPORTED, "This model cannot be chatted with yet.");
  check_answer (KVASIR_ENGINE_ERROR_COMPUTE, "The answer failed.");
}

static void
test_room_names_the_numbers (void)
{
  g_auto (KvasirExplanation) some = { NULL, NULL };
  g_auto (KvasirExplanation) all = { NULL, NULL };

  kvasir_explain_draft (&some, 530, 412, 4096);
  g_assert_nonnull (strstr (some.detail, "118 too many"));
  kvasir_explain_draft (&all, 5000, 412, 4096);
  g_assert_cmpstr (all.title, ==,
                   "This message needs 5" THIN "000 cells, the whole window has 4" THIN "096.");
}

static void
test_full_window_names_the_cells (void)
{
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_full (&words, 4096);
  g_assert_cmpstr (words.title, ==, "The window is full: all 4" THIN "096 cells are used.");
}

static void
test_error_text_is_made_safe (void)
{
  g_autoptr (GError) error =
      g_error_new_literal (KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE, "a\x1b]52;c;x\a");
  g_auto (KvasirExplanation) words = { NULL, NULL };

  kvasir_explain_load (&words, error, "/tmp/x\x1b[2J.gguf");
  g_assert_null (strchr (words.detail, '\x1b'));
  g_assert_null (strchr (words.title, '\x1b'));
}

static void
test_draft_says_whether_it_fits (void)
{
  const KvasirDraftCount fits = { 19, 25, 2255, TRUE };
  const KvasirDraftCount too_many = { 530, 548, 412, FALSE };
  g_autofree char *good = kvasir_draft_status_describe (&fits);
  g_autofree char *bad = kvasir_draft_status_describe (&too_many);

  g_assert_cmpstr (good, ==, "draft 19 tokens · 2" THIN "255 cells free · fits");
  g_assert_cmpstr (bad, ==, "draft 530 tokens · needs 548, free 412 · 136 too many");
}

static gint64
get_time (int year, int month, int day, int hour)
{
  g_autoptr (GDateTime) time = g_date_time_new_local (year, month, day, hour, 0, 0);

  return g_date_time_to_unix (time) * G_USEC_PER_SEC;
}

static void
check_day (gint64 then, gint64 now, const char *name)
{
  g_autofree char *found = kvasir_chat_list_name_day (then, now);

  g_assert_cmpstr (found, ==, name);
}

static void
test_days_have_names (void)
{
  gint64 now = get_time (2026, 8, 20, 1);

  check_day (get_time (2026, 8, 20, 0), now, "Today");
  check_day (get_time (2026, 8, 19, 23), now, "Yesterday");
  check_day (get_time (2026, 8, 19, 0), now, "Yesterday");
  check_day (get_time (2026, 8, 13, 1), now, "Last 7 Days");
  check_day (get_time (2026, 8, 12, 1), now, "Last 30 Days");
  check_day (get_time (2026, 6, 30, 1), now, "June");
  check_day (get_time (2025, 12, 31, 23), now, "2025");
  /* A clock that was set back must not invent a day. */
  check_day (get_time (2026, 9, 1, 0), now, "Today");
}

#define add(name, function) g_test_add_func ("/ui/shell/" name, function)

static void
test_facts_tell_of_guesses (void)
{
  gint32 tokens[] = { 1, 2, 3, 4 };
  const KvasirMessageRecord record = {
    .id = 1, .role = KVASIR_ROLE_ASSISTANT, .content = (char *) "x", .tokens = tokens, .n_tokens = 4
  };
  g_autoptr (KvasirMessageNode) node = kvasir_message_node_new (&record);
  KvasirMessageCosts costs = { .n_read = 5, .generate_us = 2 * G_USEC_PER_SEC };
  g_autofree char *before = NULL, *after = NULL;

  kvasir_message_node_set_costs (node, &costs);
  before = kvasir_message_facts_describe (node);
  costs.n_guessed = 3;
  costs.n_right = 2;
  kvasir_message_node_set_costs (node, &costs);
  after = kvasir_message_facts_describe (node);
  g_assert_cmpstr (before, ==, "4 tokens · 2.0 tok/s · reused 0, read 5");
  g_assert_cmpstr (after, ==, "4 tokens · 2.0 tok/s · reused 0, read 5 · guessed 3, 2 right");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add ("load-errors-have-their-own-sentence", test_load_errors_have_their_own_sentence);
  add ("answer-errors-have-their-own-sentence", test_answer_errors_have_their_own_sentence);
  add ("room-names-the-numbers", test_room_names_the_numbers);
  add ("full-window-names-the-cells", test_full_window_names_the_cells);
  add ("error-text-is-made-safe", test_error_text_is_made_safe);
  add ("draft-says-whether-it-fits", test_draft_says_whether_it_fits);
  add ("days-have-names", test_days_have_names);
  add ("facts-tell-of-guesses", test_facts_tell_of_guesses);
  return g_test_run ();
}
