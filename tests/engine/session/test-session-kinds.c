/* Chats over memories that slide, keep states or have streams: whatever was reused, the answer is
 * that of a session in which nothing happened before. */
#include <string.h>

#include "engine/error.h"
#include "rig.h"

typedef struct
{
  const char *model;
  RigParams params;
  gboolean forgets;
} Kind;

/* Cells are few enough for windows to close. */
static const Kind kinds[] = {
  { "tiny-llama", { 1024, 4, 16, FALSE, TRUE }, FALSE },
  { "tiny-llama", { 4096, 4, 16, TRUE, TRUE }, FALSE },
  { "tiny-gemma3", { 1024, 4, 16, FALSE, TRUE }, TRUE },
  { "tiny-gemma3", { 4096, 4, 16, TRUE, TRUE }, TRUE },
  { "tiny-mamba2", { 1024, 4, 16, FALSE, TRUE }, TRUE },
  { "tiny-lfm2", { 1024, 4, 16, FALSE, TRUE }, TRUE },
  { "tiny-lfm2", { 4096, 4, 16, TRUE, TRUE }, TRUE },
  { "tiny-lfm2-swa", { 1024, 4, 16, FALSE, TRUE }, TRUE },
};

static Rig *
new_rig (const Kind *kind)
{
  g_autofree char *name = g_strconcat (kind->model, ".gguf", NULL);
  g_autofree char *path = g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", name, NULL);
  return rig_new_for (path, &kind->params);
}

static void
assert_as_undisturbed (const Kind *kind, const Answer *answer, KvasirRequest *request)
{
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Answer) expected = rig_run (rig, request, 0);

  g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpint (expected->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (expected->end.n_reused, ==, 0);
  assert_same_tokens (answer->tokens, expected->tokens);
}

static KvasirRequest *
new_first (guint max_tokens)
{
  KvasirRequest *request = rig_new_request (1, 11, max_tokens);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  return request;
}

static KvasirRequest *
new_second (const Answer *first, guint64 answer_id, const char *text)
{
  KvasirRequest *request = rig_new_request (1, answer_id, 6);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  rig_add_answer (request, 11, first);
  rig_add_user (request, answer_id - 1, text);
  return request;
}

static guint
count_prompt (Rig *rig, KvasirRequest *request)
{
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  return prompt->len;
}

/* ---- going on */

static void
test_goes_on (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  guint n_held = (guint) kvasir_memory_seq_pos_max (rig->memory, first->end.seq) + 1;
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 13, "And a position?"), 0);

  g_assert_cmpuint (second->end.n_reused, ==, n_held);
  g_assert_cmpint (second->end.seq, ==, first->end.seq);
  assert_as_undisturbed (kind, second, new_second (first, 13, "And a position?"));
}

/* ---- another answer */

static void
test_another_answer (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Answer) first = rig_run (rig, new_first (8), 0);
  KvasirRequest *again = new_first (8);
  const guint n_prompt = count_prompt (rig, again);
  gint32 last = kvasir_memory_seq_pos_max (rig->memory, first->end.seq);

  again->keep_other = TRUE;
  again->answer_id = 12;
  g_autoptr (Answer) second = rig_run (rig, again, 0);
  g_assert_cmpint (second->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpint (second->end.seq, !=, first->end.seq);
  g_assert_cmpuint (second->end.n_reused, ==, n_prompt - 1);
  assert_same_tokens (second->tokens, first->tokens);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, first->end.seq), ==, last);

  /* The first answer can still be gone on from. */
  g_autoptr (Answer) third = rig_run (rig, new_second (first, 15, "And a position?"), 0);
  g_assert_cmpuint (third->end.n_reused, >=, n_prompt);
  assert_as_undisturbed (kind, third, new_second (first, 15, "And a position?"));
}

/* ---- an edit */

static void
test_edit (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 13, "And a position?"), 0);
  g_autoptr (Answer) third = rig_run (rig, new_second (first, 17, "Or a row, then?"), 0);
  g_autoptr (KvasirRequest) shared = new_first (6);

  g_assert_cmpuint (third->end.n_reused, >=, count_prompt (rig, shared));
  assert_as_undisturbed (kind, third, new_second (first, 17, "Or a row, then?"));
}

/* A message that is longer than the sliding half has cells: what came before it is gone. */
static char *
make_long_text (const char *last)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < 40; i++)
    g_string_append_printf (text, "%u rows of cells, ", 100 + i * 7);
  g_string_append (text, last);
  return g_string_free (text, FALSE);
}

static void
test_edit_behind_window (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autofree char *text = make_long_text ("and what then?");
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 13, text), 0);
  g_autoptr (Answer) third = rig_run (rig, new_second (first, 17, "Or a row, then?"), 0);
  gboolean restored = FALSE;

  g_assert_cmpint (second->end.kind, ==, KVASIR_NOTICE_DONE);
  for (guint i = 0; i < rig->events->len; i++)
    restored |= g_str_has_prefix (g_array_index (rig->events, KvasirEvent, i).text,
                                  "checkpoint restored at position ");
  g_assert_cmpuint (third->end.n_reused, >, 0);
  g_assert_cmpint (restored, ==, kind->forgets);
  assert_as_undisturbed (kind, third, new_second (first, 17, "Or a row, then?"));
}

/* Without checkpoints all of it is read again, and the answer is the same. */
static void
test_edit_without_checkpoint (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autofree char *text = make_long_text ("and what then?");
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 13, text), 0);
  g_autoptr (Answer) third = NULL;

  g_assert_cmpint (second->end.kind, ==, KVASIR_NOTICE_DONE);
  kvasir_checkpoints_drop (rig->session->checkpoints, 0);
  third = rig_run (rig, new_second (first, 17, "Or a row, then?"), 0);
  if (kind->forgets)
    g_assert_cmpuint (third->end.n_reused, ==, 0);
  else
    g_assert_cmpuint (third->end.n_reused, >, 0);
  assert_as_undisturbed (kind, third, new_second (first, 17, "Or a row, then?"));
}

/* ---- what checkpoints take */

static gint64
sum_buffer_events (const Rig *rig, KvasirMemoryKind kind)
{
  gint64 sum = 0;
  for (guint i = 0; i < rig->events->len; i++)
    {
      const KvasirEvent *event = &g_array_index (rig->events, KvasirEvent, i);
      if (event->type == KVASIR_EVENT_BUFFER && event->b == kind)
        sum += event->a;
    }
  return sum;
}

static guint64
sum_rows (const Rig *rig, KvasirMemoryKind kind)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint64 sum = 0;
  kvasir_session_append_breakdown (rig->session, rows);
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, KvasirMemoryRow, i).kind == kind)
      sum += g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  return sum;
}

static void
test_checkpoints_count (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  const guint64 n_bytes = sum_rows (rig, KVASIR_KIND_CHECKPOINTS);

  g_assert_cmpint (n_bytes > 0, ==, kind->forgets);
  g_assert_cmpint (sum_buffer_events (rig, KVASIR_KIND_CHECKPOINTS), ==, (gint64) n_bytes);
  g_array_set_size (rig->events, 0);
  kvasir_session_drop_chat (rig->session, 1);
  g_assert_cmpuint (sum_rows (rig, KVASIR_KIND_CHECKPOINTS), ==, 0);
  g_assert_cmpint (sum_buffer_events (rig, KVASIR_KIND_CHECKPOINTS), ==, -(gint64) n_bytes);
}

/* ---- room */

/* More chats than sequences: the one that was used longest ago gives its own. */
static void
test_chats_take_turns (gconstpointer data)
{
  const Kind *kind = data;
  g_autoptr (Rig) rig = new_rig (kind);

  for (guint64 chat = 1; chat <= 5; chat++)
    {
      KvasirRequest *request = rig_new_request (chat, 100 + chat, 4);
      rig_add_user (request, chat, "Hello there, what is a cell?");
      g_autoptr (Answer) answer = rig_run (rig, request, 0);
      g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_DONE);
      /* The state after the same beginning serves every chat, where it needs no cells beside it. */
      g_assert_cmpuint (answer->end.n_reused, ==,
                        chat > 1 && !rig->session->has_cells ? answer->end.n_total - 1 : 0);
      g_assert_cmpuint (rig_count_notices (rig, KVASIR_NOTICE_EVICTED), ==, chat == 5 ? 1 : 0);
      if (chat == 5)
        g_assert_cmpuint (rig_find_notice (rig, KVASIR_NOTICE_EVICTED)->chat_id, ==, 1);
    }
}

static void
test_refused_cut_says_from_where (void)
{
  g_autoptr (Rig) rig = new_rig (&kinds[4]);
  g_autoptr (Answer) first = rig_run (rig, new_first (6), 0);
  const KvasirSeqOp op = { KVASIR_SEQ_OP_RM, first->end.seq, 0, 5, -1, 0 };
  gint32 last = kvasir_memory_seq_pos_max (rig->memory, first->end.seq);
  g_autoptr (GError) error = NULL;

  g_assert_cmpstr (kinds[4].model, ==, "tiny-mamba2");
  g_assert_false (kvasir_session_seq_op (rig->session, &op, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "must be read again from position 0"));
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, first->end.seq), ==, last);
}

static void
add_kinds (const char *name, GTestDataFunc test)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/session/session-kinds/%s/%s%s", name, kinds[i].model,
                           kinds[i].params.streams ? "-streams" : "");
      g_test_add_data_func (path, &kinds[i], test);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_kinds ("goes-on", test_goes_on);
  add_kinds ("another-answer", test_another_answer);
  add_kinds ("edit", test_edit);
  add_kinds ("edit-behind-window", test_edit_behind_window);
  add_kinds ("edit-without-checkpoint", test_edit_without_checkpoint);
  add_kinds ("checkpoints-count", test_checkpoints_count);
  add_kinds ("chats-take-turns", test_chats_take_turns);
  g_test_add_func ("/engine/session/session-kinds/refused-cut-says-from-where",
                   test_refused_cut_says_from_where);
  return g_test_run ();
}
