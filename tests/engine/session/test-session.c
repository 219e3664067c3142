#include <glib/gstdio.h>
#include <string.h>

#include "engine/error.h"
#include "rig.h"

static const RigParams normal = { 512, 4, 16 };
static const RigParams small = { 256, 4, 32 };

/* ---- what is read and what is found */

static void
test_reads_all (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = rig_new_request (1, 11, 6);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);

  g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (answer->end.n_reused, ==, 0);
  g_assert_cmpuint (answer->end.n_read, ==, prompt->len);
  g_assert_cmpuint (answer->end.n_total, ==, prompt->len);
  g_assert_cmpuint (answer->end.n_generated, ==, answer->tokens->len);
  g_assert_cmpuint (rig_count_notices (rig, KVASIR_NOTICE_READING), ==,
                    1 + (prompt->len + normal.n_ubatch - 1) / normal.n_ubatch);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_SAMPLE), >=, answer->tokens->len);

  /* The last token that was told is not in the cells, as nothing was asked after it. */
  g_autoptr (GArray) cells = rig_dup_tokens (rig, answer->end.seq);
  g_array_append_vals (prompt, answer->tokens->data, answer->tokens->len);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_LENGTH);
  g_array_set_size (prompt, prompt->len - 1);
  assert_same_tokens (cells, prompt);
}

/* The answer of a session in which nothing happened before. */
static Answer *
run_undisturbed (KvasirRequest *request)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  return rig_run (rig, request, 0);
}

static KvasirRequest *
new_second (const Answer *first, guint max_tokens)
{
  KvasirRequest *request = rig_new_request (1, 13, max_tokens);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  rig_add_answer (request, 11, first);
  rig_add_user (request, 12, "And a position?");
  return request;
}

static Answer *
run_first (Rig *rig, guint max_tokens)
{
  KvasirRequest *request = rig_new_request (1, 11, max_tokens);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  return rig_run (rig, request, 0);
}

static void
test_goes_on (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  guint n_held = (guint) kvasir_memory_seq_pos_max (rig->memory, first->end.seq) + 1;
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 6), 0);
  g_autoptr (Answer) expected = run_undisturbed (new_second (first, 6));

  g_assert_cmpuint (second->end.n_reused, ==, n_held);
  g_assert_cmpint (second->end.seq, ==, first->end.seq);
  g_assert_cmpuint (expected->end.n_reused, ==, 0);
  assert_same_tokens (second->tokens, expected->tokens);
}

static void
test_edit (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 6), 0);
  KvasirRequest *edited = rig_new_request (1, 21, 4);
  rig_add_user (edited, 20, "Hello there, what is a row?");
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, edited);
  g_autoptr (GArray) before = rig_dup_tokens (rig, second->end.seq);
  g_autoptr (Answer) third = rig_run (rig, edited, 0);
  guint n_common = 0;

  while (g_array_index (prompt, gint32, n_common) == g_array_index (before, gint32, n_common))
    n_common++;
  g_assert_cmpuint (n_common, >, 5);
  g_assert_cmpuint (third->end.n_reused, ==, n_common);
  g_assert_cmpint (third->end.seq, ==, first->end.seq);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, third->end.seq), <,
                   (gint32) prompt->len + 4);
  for (gint seq = 0; seq < 4; seq++)
    if (seq != third->end.seq)
      g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, seq), ==, -1);
}

/* ---- branches */

static KvasirRequest *
new_again (guint64 answer_id, guint64 seed)
{
  KvasirRequest *request = rig_new_request (1, answer_id, 6);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  request->keep_other = TRUE;
  request->sampling.temperature = 1.5f;
  request->sampling.top_k = 0;
  request->sampling.min_p = 0.0f;
  request->sampling.seed = seed;
  return request;
}

static void
test_try_again (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *again = new_again (21, 3);
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, again);
  g_autoptr (Answer) first = run_first (rig, 6);
  guint used = kvasir_memory_get_used (rig->memory, 0, 0);
  g_autoptr (Answer) second = rig_run (rig, again, 0);

  g_assert_cmpint (second->end.seq, !=, first->end.seq);
  g_assert_cmpuint (second->end.n_reused, ==, prompt->len - 1);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_SEQ_CP), ==, 1);
  /* Only the last token of the prompt and the answer took new cells. */
  g_assert_cmpuint (kvasir_memory_get_used (rig->memory, 0, 0), ==, used + second->tokens->len);

  g_autoptr (GArray) one = rig_dup_tokens (rig, first->end.seq);
  g_autoptr (GArray) two = rig_dup_tokens (rig, second->end.seq);
  g_assert_cmpmem (one->data + prompt->len * sizeof (gint32),
                   (first->tokens->len - 1) * sizeof (gint32), first->tokens->data,
                   (first->tokens->len - 1) * sizeof (gint32));
  g_assert_cmpmem (two->data + prompt->len * sizeof (gint32),
                   (second->tokens->len - 1) * sizeof (gint32), second->tokens->data,
                   (second->tokens->len - 1) * sizeof (gint32));
}

static void
test_switch_back (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  g_autoptr (Answer) second = rig_run (rig, new_again (21, 3), 0);
  guint n_first = (guint) kvasir_memory_seq_pos_max (rig->memory, first->end.seq) + 1;
  guint n_second = (guint) kvasir_memory_seq_pos_max (rig->memory, second->end.seq) + 1;

  g_autoptr (Answer) third = rig_run (rig, new_second (first, 3), 0);
  g_assert_cmpint (third->end.seq, ==, first->end.seq);
  g_assert_cmpuint (third->end.n_reused, ==, n_first);

  KvasirRequest *other = rig_new_request (1, 33, 3);
  rig_add_user (other, 10, "Hello there, what is a cell?");
  rig_add_answer (other, 21, second);
  rig_add_user (other, 32, "Really?");
  g_autoptr (Answer) fourth = rig_run (rig, other, 0);
  g_assert_cmpint (fourth->end.seq, ==, second->end.seq);
  g_assert_cmpuint (fourth->end.n_reused, ==, n_second);
}

static void
test_replace (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  KvasirRequest *request = new_again (21, 3);
  request->keep_other = FALSE;
  g_autoptr (Answer) second = rig_run (rig, request, 0);
  g_assert_cmpint (second->end.seq, ==, first->end.seq);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_SEQ_CP), ==, 0);
}

static void
test_parts_inside_answer (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 8);
  g_autoptr (GArray) before = rig_dup_tokens (rig, first->end.seq);
  Answer other = { .tokens = g_array_copy (first->tokens), .text = g_string_new ("other") };
  g_assert_cmpuint (first->tokens->len, ==, 8);
  g_array_index (other.tokens, gint32, 3) = (g_array_index (other.tokens, gint32, 3) + 1) % 300;

  KvasirRequest *request = rig_new_request (1, 33, 3);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  rig_add_answer (request, 21, &other);
  rig_add_user (request, 32, "Really?");
  g_autoptr (Answer) second = rig_run (rig, request, 0);
  g_autoptr (GArray) after = rig_dup_tokens (rig, first->end.seq);
  g_assert_cmpint (second->end.seq, !=, first->end.seq);
  g_assert_cmpuint (second->end.n_reused, ==, before->len - 7 + 3);
  assert_same_tokens (before, after);
  g_array_unref (other.tokens);
  g_string_free (other.text, TRUE);
}

static void
test_empty_branch (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  g_autoptr (Answer) second = rig_run (rig, new_again (21, 3), 1);
  g_test_summary ("A branch that was stopped before its first token is taken by the next answer");
  g_assert_cmpuint (second->tokens->len, ==, 0);
  g_assert_cmpint (second->end.seq, !=, first->end.seq);
  g_autoptr (Answer) third = rig_run (rig, new_again (31, 4), 0);
  g_assert_cmpint (third->end.seq, ==, second->end.seq);
}

/* ---- sampling */

static void
test_penalties (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = rig_new_request (1, 11, 30);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  request->sampling.presence_penalty = 1000.0f;
  request->sampling.penalty_last_n = 1000;
  g_autoptr (GArray) seen = rig_dup_prompt (rig, request);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_test_summary ("Neither the prompt's tokens nor the answer's own come again");
  g_assert_cmpuint (answer->tokens->len, >, 5);
  for (guint i = 0; i < answer->tokens->len; i++)
    {
      gint32 id = g_array_index (answer->tokens, gint32, i);
      for (guint k = 0; k < seen->len; k++)
        g_assert_cmpint (g_array_index (seen, gint32, k), !=, id);
      g_array_append_val (seen, id);
    }
}

/* ---- stopping */

static const char long_text[] =
    "Tell me all about the cells of a cache, their positions, their sequences, the head and the "
    "horizon, and what happens where the window ends and the oldest positions are left behind.";

static void
test_stop_reading (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = rig_new_request (1, 11, 6);
  rig_add_user (request, 10, long_text);
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  g_assert_cmpuint (prompt->len, >, 3 * normal.n_ubatch);
  rig->stop_after_ubatches = 2;
  g_autoptr (Answer) first = rig_run (rig, request, 0);
  rig->stop_after_ubatches = 0;

  g_assert_cmpint (first->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpint (first->end.reason, ==, KVASIR_DONE_STOPPED);
  g_assert_cmpuint (first->tokens->len, ==, 0);
  g_autoptr (GArray) cells = rig_dup_tokens (rig, first->end.seq);
  g_assert_cmpuint (cells->len, ==, 2 * normal.n_ubatch);
  g_assert_cmpmem (cells->data, cells->len * sizeof (gint32), prompt->data,
                   cells->len * sizeof (gint32));

  request = rig_new_request (1, 12, 6);
  rig_add_user (request, 10, long_text);
  g_autoptr (Answer) second = rig_run (rig, request, 0);
  request = rig_new_request (1, 12, 6);
  rig_add_user (request, 10, long_text);
  g_autoptr (Answer) expected = run_undisturbed (request);
  g_assert_cmpuint (second->end.n_reused, ==, 2 * normal.n_ubatch);
  assert_same_tokens (second->tokens, expected->tokens);
}

static void
test_stop_writing (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = rig_new_request (1, 11, 20);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  g_autoptr (GArray) kept = rig_dup_prompt (rig, request);
  guint n_parts = (kept->len + normal.n_ubatch - 1) / normal.n_ubatch;
  g_autoptr (Answer) first = rig_run (rig, request, n_parts + 5);
  g_assert_cmpint (first->end.reason, ==, KVASIR_DONE_STOPPED);
  g_assert_cmpuint (first->tokens->len, ==, 5);

  g_array_append_vals (kept, first->tokens->data, first->tokens->len);
  g_autoptr (GArray) cells = rig_dup_tokens (rig, first->end.seq);
  assert_same_tokens (cells, kept);
  g_autoptr (Answer) second = rig_run (rig, new_second (first, 6), 0);
  g_autoptr (Answer) expected = run_undisturbed (new_second (first, 6));
  g_assert_cmpuint (second->end.n_reused, ==, cells->len);
  assert_same_tokens (second->tokens, expected->tokens);
}

/* ---- room */

static KvasirRequest *
new_sized (guint64 chat_id, guint n_words, guint max_tokens)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < n_words; i++)
    g_string_append_printf (text, "%c%c ", 'A' + (int) (i % 26), 'a' + (int) (i / 26 % 26));
  KvasirRequest *request = rig_new_request (chat_id, chat_id * 100 + 1, max_tokens);
  rig_add_user (request, chat_id * 100, text->str);
  return request;
}

static void
test_no_room (void)
{
  g_autoptr (Rig) rig = rig_new (&small);
  g_autoptr (Answer) first = run_first (rig, 4);
  g_autoptr (GBytes) before = rig_dump_cells (rig);
  KvasirRequest *request = new_sized (1, 300, 4);
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  g_autoptr (GArray) held = rig_dup_tokens (rig, first->end.seq);
  guint n_common = 0;
  while (g_array_index (prompt, gint32, n_common) == g_array_index (held, gint32, n_common))
    n_common++;
  g_autoptr (Answer) second = rig_run (rig, request, 0);
  g_autoptr (GBytes) after = rig_dump_cells (rig);

  g_assert_cmpint (second->end.kind, ==, KVASIR_NOTICE_FAILED);
  g_assert_cmpint (second->error_code, ==, KVASIR_ENGINE_ERROR_NO_ROOM);
  g_assert_cmpuint (second->end.n_needed, ==, prompt->len - n_common);
  g_assert_cmpuint (second->end.n_free, ==, small.n_ctx - n_common);
  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (rig->events->len, ==, 0);
}

static void
test_evicts (void)
{
  g_autoptr (Rig) rig = rig_new (&small);
  g_autoptr (Answer) a = rig_run (rig, new_sized (1, 30, 2), 0);
  g_autoptr (Answer) b = rig_run (rig, new_sized (2, 30, 2), 0);
  g_autoptr (Answer) a_again = rig_run (rig, new_sized (1, 30, 2), 0);
  guint n_of_b = (guint) kvasir_memory_seq_pos_max (rig->memory, b->end.seq) + 1;
  guint used = kvasir_memory_get_used (rig->memory, 0, 0);
  g_assert_cmpuint (used, <, small.n_ctx);

  KvasirRequest *request = new_sized (3, 40, 2);
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  g_assert_cmpuint (prompt->len, >, small.n_ctx - used);
  g_assert_cmpuint (prompt->len + 2, <=, small.n_ctx - used + n_of_b);
  g_autoptr (Answer) c = rig_run (rig, request, 0);
  g_assert_cmpint (c->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (rig_count_notices (rig, KVASIR_NOTICE_EVICTED), ==, 1);
  const KvasirNotice *notice = rig_find_notice (rig, KVASIR_NOTICE_EVICTED);
  g_assert_cmpuint (notice->chat_id, ==, 2);
  g_assert_cmpuint (notice->n_total, ==, n_of_b);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_EVICT), ==, 1);
  g_assert_cmpint (c->end.seq, ==, b->end.seq);
  g_assert_cmpuint (kvasir_memory_get_used (rig->memory, 0, 0), ==,
                    used - n_of_b + prompt->len + 1);
}

static void
test_sequences_run_out (void)
{
  static const RigParams two = { 512, 2, 32 };
  g_autoptr (Rig) rig = rig_new (&two);
  g_autoptr (Answer) a = rig_run (rig, new_sized (1, 5, 2), 0);
  g_autoptr (Answer) b = rig_run (rig, new_sized (2, 5, 2), 0);
  g_autoptr (Answer) c = rig_run (rig, new_sized (3, 5, 2), 0);
  g_assert_cmpint (b->end.seq, !=, a->end.seq);
  g_assert_cmpint (c->end.seq, ==, a->end.seq);

  KvasirRequest *again = new_sized (3, 5, 2);
  again->keep_other = TRUE;
  g_autoptr (Answer) d = rig_run (rig, again, 0);
  g_assert_cmpint (d->end.seq, ==, b->end.seq);
  again = new_sized (3, 5, 2);
  again->keep_other = TRUE;
  g_autoptr (GBytes) before = rig_dump_cells (rig);
  g_autoptr (Answer) e = rig_run (rig, again, 0);
  g_autoptr (GBytes) after = rig_dump_cells (rig);
  g_assert_cmpint (e->error_code, ==, KVASIR_ENGINE_ERROR_NO_ROOM);
  g_assert_true (g_bytes_equal (before, after));
}

static void
test_window_fills (void)
{
  g_autoptr (Rig) rig = rig_new (&small);
  g_test_summary ("The tiny model's greedy answer to this text runs on to the end of the window");
  g_autoptr (Answer) other = rig_run (rig, new_sized (9, 20, 2), 0);
  KvasirRequest *request = new_sized (1, 20, 0);
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, request);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_NO_ROOM);
  g_assert_cmpuint (rig_count_notices (rig, KVASIR_NOTICE_EVICTED), ==, 1);
  g_assert_cmpuint (kvasir_memory_get_used (rig->memory, 0, 0), ==, small.n_ctx);
  g_assert_cmpuint (prompt->len + answer->tokens->len, ==, small.n_ctx + 1);
}

/* ---- the rest */

static void
test_count (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  g_autoptr (GBytes) before = rig_dump_cells (rig);
  KvasirRequest *request = new_second (first, 3);
  g_ptr_array_set_size (rig->notices, 0);
  g_array_set_size (rig->events, 0);
  kvasir_session_count (rig->session, 5, request);
  g_autoptr (GBytes) after = rig_dump_cells (rig);

  g_assert_true (g_bytes_equal (before, after));
  g_assert_cmpuint (rig->events->len, ==, 0);
  g_assert_cmpuint (rig->notices->len, ==, 1);
  KvasirNotice draft = *rig_find_notice (rig, KVASIR_NOTICE_DRAFT);
  g_assert_cmpuint (draft.request_id, ==, 5);
  g_assert_true (draft.fits);
  g_assert_cmpuint (draft.n_draft, >, 3);
  g_assert_cmpuint (draft.n_draft, <, draft.n_needed);

  g_autoptr (Answer) second = rig_run (rig, request, 0);
  g_assert_cmpuint (draft.n_reused, ==, second->end.n_reused);
  g_assert_cmpuint (draft.n_needed, ==, second->end.n_read);
  g_assert_cmpuint (draft.n_total, ==, second->end.n_total);
}

static void
test_drop_and_clear (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) a = rig_run (rig, new_sized (1, 5, 2), 0);
  g_autoptr (Answer) again = rig_run (rig, new_again (21, 3), 0);
  g_autoptr (Answer) b = rig_run (rig, new_sized (2, 5, 2), 0);
  kvasir_session_drop_chat (rig->session, 1);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, a->end.seq), ==, -1);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, again->end.seq), ==, -1);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, b->end.seq), >, 0);
  kvasir_session_clear (rig->session);
  g_assert_cmpuint (kvasir_memory_get_used (rig->memory, 0, 0), ==, 0);
  g_autoptr (Answer) c = rig_run (rig, new_sized (2, 5, 2), 0);
  g_assert_cmpuint (c->end.n_reused, ==, 0);
}

static void
test_seq_ops (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) a = rig_run (rig, new_sized (1, 5, 2), 0);
  GError *error = NULL;
  KvasirSeqOp copy = { KVASIR_SEQ_OP_CP, a->end.seq, 3, 0, 10, 0 };
  KvasirSeqOp remove = { KVASIR_SEQ_OP_RM, a->end.seq, -1, 10, -1, 0 };
  KvasirSeqOp bad = { KVASIR_SEQ_OP_RM, 4, -1, 0, -1, 0 };
  KvasirSeqOp zero = { KVASIR_SEQ_OP_DIV, 0, -1, 0, -1, 0 };
  g_assert_true (kvasir_session_seq_op (rig->session, &copy, &error));
  g_assert_no_error (error);
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, 3), ==, 9);
  g_assert_true (kvasir_session_seq_op (rig->session, &remove, &error));
  g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, a->end.seq), ==, 9);

  g_assert_false (kvasir_session_seq_op (rig->session, &bad, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (kvasir_session_seq_op (rig->session, &zero, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_clear_error (&error);

  /* Moved positions are no longer the chat's text from the start. */
  KvasirSeqOp add = { KVASIR_SEQ_OP_ADD, a->end.seq, -1, 0, -1, 5 };
  g_assert_true (kvasir_session_seq_op (rig->session, &add, &error));
  g_autoptr (Answer) b = rig_run (rig, new_sized (1, 5, 2), 0);
  g_assert_cmpint (b->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (b->end.n_reused, ==, 0);
}

static void
test_no_numbers (void)
{
  char nan[256];
  memset (nan, 0xff, sizeof nan);
  g_autofree char *path = rig_write_changed (NULL, nan, sizeof nan);
  g_autoptr (Rig) rig = rig_new_for (path, &normal);
  g_test_summary ("A weight that is no number spoils all logits; what was read leaves the cells");
  g_autoptr (Answer) answer = run_first (rig, 6);
  g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_FAILED);
  g_assert_cmpint (answer->error_code, ==, KVASIR_ENGINE_ERROR_COMPUTE);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_ERROR), ==, 1);
  g_assert_cmpuint (kvasir_memory_get_used (rig->memory, 0, 0), ==, 0);
  g_remove (path);
}

static void
test_save_and_load (void)
{
  GError *error = NULL;
  g_autofree char *dir = g_dir_make_tmp ("kvasir-XXXXXX", &error);
  g_autofree char *path = g_build_filename (dir, "state", NULL);
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Rig) other = rig_new (&normal);
  g_autoptr (Answer) first = run_first (rig, 6);
  guint n_held = (guint) kvasir_memory_seq_pos_max (rig->memory, first->end.seq) + 1;
  g_autoptr (Answer) expected = NULL;

  g_assert_true (kvasir_session_save (rig->session, 1, path, &error));
  g_assert_no_error (error);
  expected = rig_run (rig, new_second (first, 5), 0);
  g_assert_true (kvasir_session_load (other->session, 1, path, &error));
  g_assert_no_error (error);
  g_autoptr (Answer) second = rig_run (other, new_second (first, 5), 0);
  g_assert_cmpuint (second->end.n_reused, ==, n_held);
  assert_same_tokens (second->tokens, expected->tokens);

  /* The whole memory is nobody's until a chat finds its text in it. */
  g_assert_true (kvasir_session_save (rig->session, 0, path, &error));
  kvasir_session_clear (rig->session);
  g_assert_true (kvasir_session_load (rig->session, 0, path, &error));
  g_autoptr (Answer) third = rig_run (rig, new_second (first, 5), 0);
  g_assert_cmpuint (third->end.n_reused, >=, n_held);
  assert_same_tokens (third->tokens, expected->tokens);

  g_assert_false (kvasir_session_save (rig->session, 99, path, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_clear_error (&error);
  g_assert_false (kvasir_session_load (rig->session, 1, dir, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE);
  g_clear_error (&error);
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (dir), ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/first-request-is-read-whole", test_reads_all);
  g_test_add_func ("/engine/session/going-on-reads-only-what-is-new", test_goes_on);
  g_test_add_func ("/engine/session/edit-rewinds", test_edit);
  g_test_add_func ("/engine/session/try-again-keeps-both-answers", test_try_again);
  g_test_add_func ("/engine/session/switching-back-reuses-all", test_switch_back);
  g_test_add_func ("/engine/session/replacing-rewinds", test_replace);
  g_test_add_func ("/engine/session/parting-inside-an-answer-forks", test_parts_inside_answer);
  g_test_add_func ("/engine/session/empty-branch-is-used-again", test_empty_branch);
  g_test_add_func ("/engine/session/penalties-see-prompt-and-answer", test_penalties);
  g_test_add_func ("/engine/session/stop-while-reading", test_stop_reading);
  g_test_add_func ("/engine/session/stop-while-writing", test_stop_writing);
  g_test_add_func ("/engine/session/no-room-changes-nothing", test_no_room);
  g_test_add_func ("/engine/session/oldest-chat-makes-room", test_evicts);
  g_test_add_func ("/engine/session/sequences-run-out", test_sequences_run_out);
  g_test_add_func ("/engine/session/window-full-in-an-answer", test_window_fills);
  g_test_add_func ("/engine/session/count-equals-what-is-read", test_count);
  g_test_add_func ("/engine/session/drop-and-clear", test_drop_and_clear);
  g_test_add_func ("/engine/session/sequence-operations", test_seq_ops);
  g_test_add_func ("/engine/session/numbers-that-are-none", test_no_numbers);
  g_test_add_func ("/engine/session/save-and-load", test_save_and_load);
  return g_test_run ();
}
