/* Guessing ahead: the answers and the cells after them are those that come without. */
#include <glib/gstdio.h>
#include <string.h>

#include "engine/error.h"
#include "engine/session/guess-lookup.h"
#include "engine/session/guess-model.h"
#include "engine/session/guess-pace.h"
#include "rig.h"

typedef struct
{
  const char *model;
  RigParams params;
} Kind;

static const Kind kinds[] = {
  { "tiny-llama", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16 } },
  { "tiny-llama", { .n_ctx = 4096, .n_seq_max = 4, .n_ubatch = 16, .streams = TRUE } },
  { "tiny-llama-d64", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16, .coarse = TRUE } },
  { "tiny-gemma3", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16 } },
  { "tiny-gemma3", { .n_ctx = 4096, .n_seq_max = 4, .n_ubatch = 16, .streams = TRUE } },
  { "tiny-llama4", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16 } },
  { "tiny-lfm2", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16, .n_rs_seq = 3 } },
  { "tiny-lfm2",
    { .n_ctx = 4096, .n_seq_max = 4, .n_ubatch = 16, .streams = TRUE, .n_rs_seq = 3 } },
  { "tiny-lfm2-swa", { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16, .n_rs_seq = 3 } },
};

static char *
get_path (const char *model)
{
  g_autofree char *name = g_strconcat (model, ".gguf", NULL);
  return g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "models", name, NULL);
}

static Rig *
new_rig (const Kind *kind)
{
  g_autofree char *path = get_path (kind->model);
  return rig_new_for (path, &kind->params);
}

static KvasirContext *
open_second (Rig *rig, const char *path, guint n_ctx)
{
  const KvasirModelParams params = { .device = rig->device };
  GError *error = NULL;
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);
  KvasirContextParams context_params;
  KvasirContext *context;

  g_assert_no_error (error);
  kvasir_context_params_init (&context_params);
  context_params.n_ctx = n_ctx;
  context_params.n_seq_max = 1;
  context_params.n_ubatch = 16;
  context_params.n_rs_seq = 3;
  context = kvasir_context_new (model, &context_params, &error);
  g_assert_no_error (error);
  return context;
}

static void
look_up (Rig *rig, guint width)
{
  const KvasirGuessParams params = { .kind = KVASIR_GUESS_LOOKUP, .width = width, .always = TRUE };
  GError *error = NULL;

  g_assert_true (kvasir_session_set_guesses (rig->session, &params, NULL, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (kvasir_session_get_guess_width (rig->session), ==, MIN (width, 3));
}

static void
ask_model (Rig *rig, const char *path, guint n_ctx)
{
  const KvasirGuessParams params = { .kind = KVASIR_GUESS_MODEL, .width = 3, .always = TRUE };
  GError *error = NULL;

  g_assert_true (
      kvasir_session_set_guesses (rig->session, &params, open_second (rig, path, n_ctx), &error));
  g_assert_no_error (error);
}

static const char first_text[] = "one two three, one two three, one two three, one two";

static KvasirRequest *
new_request (guint64 chat_id, const char *text, guint max_tokens, float temperature)
{
  KvasirRequest *request = rig_new_request (chat_id, 11, max_tokens);
  request->sampling.temperature = temperature;
  request->sampling.top_k = 3;
  request->sampling.repeat_penalty = temperature > 0 ? 1.05f : 1.0f;
  request->sampling.seed = 5;
  rig_add_user (request, 10, text);
  return request;
}

/* The same but for the steps at which cells were written. */
static void
assert_same_cells (Rig *a, Rig *b)
{
  for (guint cache = 0; cache < kvasir_memory_get_n_caches (a->memory); cache++)
    {
      KvasirCacheInfo info;
      kvasir_memory_get_cache_info (a->memory, cache, &info);
      for (guint i = 0; i < info.size * info.n_streams; i++)
        {
          KvasirCell of_a, of_b;
          kvasir_memory_get_cell (a->memory, cache, i / info.size, i % info.size, &of_a);
          kvasir_memory_get_cell (b->memory, cache, i / info.size, i % info.size, &of_b);
          of_a.step = of_b.step = 0;
          g_assert_cmpmem (&of_a, sizeof of_a, &of_b, sizeof of_b);
        }
    }
}

static void
assert_same_end (const Answer *a, const Answer *b)
{
  assert_same_tokens (a->tokens, b->tokens);
  g_assert_cmpstr (a->text->str, ==, b->text->str);
  g_assert_cmpint (a->end.kind, ==, b->end.kind);
  g_assert_cmpint (a->end.reason, ==, b->end.reason);
  g_assert_cmpuint (a->end.n_generated, ==, b->end.n_generated);
}

/* ---- answers */

/* Returns: how many tokens were guessed */
static guint
check_answers (const Kind *kind, guint width, float temperature)
{
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Rig) plain = new_rig (kind);
  look_up (rig, width);
  g_autoptr (Answer) first = rig_run (rig, new_request (1, first_text, 60, temperature), 0);
  g_autoptr (Answer) plain_first = rig_run (plain, new_request (1, first_text, 60, temperature), 0);
  g_assert_cmpuint (first->end.n_right, <=, first->end.n_guessed);
  g_assert_cmpuint (plain_first->end.n_guessed, ==, 0);
  assert_same_end (first, plain_first);
  assert_same_cells (rig, plain);

  /* Another answer beside it, of the same and then of another chat. */
  KvasirRequest *again = new_request (1, first_text, 30, temperature);
  again->keep_other = TRUE;
  again->answer_id = 12;
  g_autoptr (Answer) second = rig_run (rig, again, 0);
  again = new_request (1, first_text, 30, temperature);
  again->keep_other = TRUE;
  again->answer_id = 12;
  g_autoptr (Answer) plain_second = rig_run (plain, again, 0);
  assert_same_end (second, plain_second);
  g_autoptr (Answer) third = rig_run (rig, new_request (2, "a b c a b c", 30, temperature), 0);
  g_autoptr (Answer) plain_third =
      rig_run (plain, new_request (2, "a b c a b c", 30, temperature), 0);
  assert_same_end (third, plain_third);
  assert_same_cells (rig, plain);
  return first->end.n_guessed + second->end.n_guessed + third->end.n_guessed;
}

static void
test_same (gconstpointer data)
{
  guint n = 0;

  for (guint width = 1; width <= 3; width += 2)
    n += check_answers (data, width, 0.0f) + check_answers (data, width, 0.9f);
  /* What this one writes does not repeat anything; it guesses for itself in another test. */
  if (!g_str_has_prefix (((const Kind *) data)->model, "tiny-lfm2"))
    g_assert_cmpuint (n, >, 0);
}

/* Guesses come right where a text turns in a circle, as the greedy ones of tiny models do. */
static void
test_comes_right (void)
{
  g_autoptr (Rig) rig = new_rig (&kinds[3]);
  look_up (rig, 3);
  g_autoptr (Answer) answer = rig_run (rig, new_request (1, first_text, 300, 0), 0);
  guint n_steps = rig_count_events (rig, KVASIR_EVENT_STEP_BEGIN);

  g_assert_cmpuint (answer->end.n_generated, ==, 300);
  g_assert_cmpuint (answer->end.n_right, >, 100);
  g_assert_cmpuint (n_steps, <, 200);
  /* What was wrong has left the cells in the log, too. */
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_SEQ_RM), >, 0);
  g_assert_cmpuint (rig_count_events (rig, KVASIR_EVENT_NOTE), >, 0);
}

static void
test_stops (gconstpointer data)
{
  for (guint n_steps = 18; n_steps < 26; n_steps++)
    {
      g_autoptr (Rig) rig = new_rig (data);
      g_autoptr (Rig) plain = new_rig (data);
      look_up (rig, 3);
      g_autoptr (Answer) stopped = rig_run (rig, new_request (1, first_text, 60, 0), n_steps);
      g_autoptr (Answer) same =
          rig_run (plain, new_request (1, first_text, stopped->end.n_generated, 0), 0);
      g_assert_cmpint (stopped->end.reason, ==, KVASIR_DONE_STOPPED);
      assert_same_tokens (stopped->tokens, same->tokens);
      if (stopped->end.n_generated > 0)
        g_assert_cmpint (kvasir_memory_seq_pos_max (rig->memory, stopped->end.seq), <=,
                         kvasir_memory_seq_pos_max (plain->memory, same->end.seq) + 1);
      g_autoptr (Answer) next = rig_run (rig, new_request (1, "and four?", 20, 0), 0);
      g_autoptr (Rig) cold = new_rig (data);
      g_autoptr (Answer) expected = rig_run (cold, new_request (1, "and four?", 20, 0), 0);
      assert_same_tokens (next->tokens, expected->tokens);
    }
}

/* In the middle of a step, of guesses too. */
static void
test_aborts (gconstpointer data)
{
  const Kind *kind = data;
  guint n_stopped = 0;

  for (guint n = 12; n < 30; n += 3)
    {
      g_autoptr (Rig) rig = new_rig (kind);
      look_up (rig, 3);
      rig->stop_in_step = n;
      g_autoptr (Answer) stopped = rig_run (rig, new_request (1, first_text, 60, 0), 0);
      if (stopped->end.reason != KVASIR_DONE_STOPPED)
        continue;
      n_stopped++;
      g_autoptr (Rig) plain = new_rig (kind);
      g_autoptr (Answer) same =
          rig_run (plain, new_request (1, first_text, MAX (stopped->end.n_generated, 1), 0), 0);
      assert_same_tokens (stopped->tokens, same->tokens);
      assert_same_cells (rig, plain);
    }
  g_assert_cmpuint (n_stopped, >=, 2);
}

static void
test_lengths (gconstpointer data)
{
  for (guint n = 30; n < 38; n++)
    {
      g_autoptr (Rig) rig = new_rig (data);
      g_autoptr (Rig) plain = new_rig (data);
      look_up (rig, 3);
      g_autoptr (Answer) a = rig_run (rig, new_request (1, first_text, n, 0), 0);
      g_autoptr (Answer) b = rig_run (plain, new_request (1, first_text, n, 0), 0);
      g_assert_cmpuint (a->end.n_generated, ==, n);
      assert_same_end (a, b);
      assert_same_cells (rig, plain);
    }
}

/* A stop text of the request: the last letters that the answer would have. */
static void
test_stop_text (void)
{
  g_autoptr (Rig) rig = new_rig (&kinds[0]);
  g_autoptr (Rig) plain = new_rig (&kinds[0]);
  g_autoptr (Answer) whole = rig_run (plain, new_request (1, first_text, 40, 0), 0);
  const char *stops[] = { whole->text->str + whole->text->len - 5, NULL };
  KvasirRequest *request = new_request (1, first_text, 80, 0);
  KvasirRequest *same = new_request (1, first_text, 80, 0);

  g_assert_true (g_utf8_validate (stops[0], -1, NULL));
  request->texts.stops = g_strdupv ((char **) stops);
  same->texts.stops = g_strdupv ((char **) stops);
  look_up (rig, 3);
  g_autoptr (Answer) a = rig_run (rig, request, 0);
  g_autoptr (Rig) other = new_rig (&kinds[0]);
  g_autoptr (Answer) b = rig_run (other, same, 0);
  g_assert_cmpint (b->end.reason, ==, KVASIR_DONE_STOP_TEXT);
  g_assert_cmpuint (a->end.n_guessed, >, 0);
  assert_same_end (a, b);
  assert_same_cells (rig, other);
}

static gint32
find_end_token (Rig *rig)
{
  const gint32 n = (gint32) kvasir_vocab_get_n_tokens (rig->session->vocab);
  for (gint32 id = 0; id < n; id++)
    if (kvasir_vocab_is_eog (rig->session->vocab, id))
      return id;
  g_assert_not_reached ();
}

/* The end token made likelier step by step, so that it comes where others were guessed. */
static void
test_end_token (gconstpointer data)
{
  const Kind *kind = data;
  g_autofree char *path = get_path (kind->model);
  guint n_ended = 0, n_cut = 0;

  for (guint i = 0; i < 40; i++)
    {
      g_autoptr (Rig) rig = new_rig (data);
      g_autoptr (Rig) plain = new_rig (data);
      KvasirRequest *requests[2];
      for (guint j = 0; j < 2; j++)
        {
          requests[j] = new_request (1, first_text, 60, 0.9f);
          requests[j]->sampling.top_k = 0;
          requests[j]->sampling.seed = i;
          requests[j]->texts.biases = g_new0 (char *, 2);
          requests[j]->texts.biases[0] = g_strdup_printf ("%d+2", find_end_token (rig));
        }
      ask_model (rig, path, 512);
      g_autoptr (Answer) a = rig_run (rig, requests[0], 0);
      g_autoptr (Answer) b = rig_run (plain, requests[1], 0);
      assert_same_end (a, b);
      assert_same_cells (rig, plain);
      n_ended += a->end.reason == KVASIR_DONE_END;
      n_cut += a->end.reason == KVASIR_DONE_END && a->end.n_guessed > a->end.n_right;
    }
  g_autoptr (Rig) greedy = new_rig (data);
  ask_model (greedy, path, 512);
  g_autoptr (Answer) answer = rig_run (greedy, new_request (1, first_text, 0, 0), 0);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_END);
  /* It is foreseen, but not read. */
  g_assert_cmpuint (answer->end.n_right, ==, answer->end.n_guessed);
  g_assert_cmpuint (n_ended, >, 5);
  g_assert_cmpuint (n_cut, >, 0);
}

/* The window fills up in the middle of an answer: its last cells hold no guesses, and another
 * chat's are not taken for them. */
static void
test_room (gconstpointer data)
{
  const Kind *kind = data;
  g_autofree char *path = get_path (kind->model);
  Kind small = *kind;
  small.params.n_ctx = kind->params.streams ? 1024 : 256;
  g_autoptr (Rig) rig = new_rig (&small);
  g_autoptr (Rig) plain = new_rig (&small);
  ask_model (rig, path, 1024);
  g_autoptr (Answer) a = rig_run (rig, new_request (1, first_text, 0, 0), 0);
  g_autoptr (Answer) b = rig_run (plain, new_request (1, first_text, 0, 0), 0);
  assert_same_end (a, b);
  assert_same_cells (rig, plain);

  kvasir_session_clear (rig->session);
  kvasir_session_clear (plain->session);
  g_autoptr (Answer) c = rig_run (rig, new_request (3, "x", 100, 0), 0);
  g_autoptr (Answer) d = rig_run (plain, new_request (3, "x", 100, 0), 0);
  g_autoptr (Answer) e = rig_run (rig, new_request (4, first_text, 0, 0), 0);
  g_autoptr (Answer) f = rig_run (plain, new_request (4, first_text, 0, 0), 0);
  assert_same_end (c, d);
  assert_same_end (e, f);
  assert_same_cells (rig, plain);
}

/* ---- a second model */

static void
test_itself (gconstpointer data)
{
  const Kind *kind = data;
  g_autofree char *path = get_path (kind->model);
  g_autoptr (Rig) rig = new_rig (kind);
  g_autoptr (Rig) plain = new_rig (kind);
  ask_model (rig, path, 1024);
  g_autoptr (Answer) a = rig_run (rig, new_request (1, first_text, 60, 0), 0);
  g_autoptr (Answer) b = rig_run (plain, new_request (1, first_text, 60, 0), 0);
  assert_same_end (a, b);
  assert_same_cells (rig, plain);
  if (!kind->params.coarse)
    {
      g_assert_cmpuint (a->end.n_guessed, >=, 40);
      g_assert_cmpuint (a->end.n_right, ==, a->end.n_guessed);
    }

  /* Drawn by chance, from another chat, and back again. */
  for (guint64 chat = 2; chat > 0; chat--)
    {
      g_autoptr (Answer) c = rig_run (rig, new_request (chat, "ups and downs", 40, 0.9f), 0);
      g_autoptr (Answer) d = rig_run (plain, new_request (chat, "ups and downs", 40, 0.9f), 0);
      g_assert_cmpuint (c->end.n_guessed, >, 0);
      assert_same_end (c, d);
    }
}

/* Too small a memory of its own: it guesses as far as it reaches. */
static void
test_second_without_room (void)
{
  g_autofree char *path = get_path ("tiny-gemma3");
  g_autoptr (Rig) rig = new_rig (&kinds[3]);
  g_autoptr (Rig) plain = new_rig (&kinds[3]);
  ask_model (rig, path, 256);
  g_autoptr (Answer) a = rig_run (rig, new_request (1, first_text, 400, 0), 0);
  g_autoptr (Answer) b = rig_run (plain, new_request (1, first_text, 400, 0), 0);
  g_assert_cmpuint (a->end.n_guessed, >, 50);
  g_assert_cmpuint (a->end.n_guessed, <, 300);
  assert_same_end (a, b);
}

static void
assert_refused (Rig *rig, const char *path, const char *why)
{
  const KvasirGuessParams params = { .kind = KVASIR_GUESS_MODEL, .width = 3 };
  g_autoptr (GError) error = NULL;

  g_assert_false (
      kvasir_session_set_guesses (rig->session, &params, open_second (rig, path, 512), &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  if (strstr (error->message, why) == NULL)
    g_error ("%s", error->message);
  g_assert_cmpuint (kvasir_session_get_guess_width (rig->session), ==, 0);
  g_autoptr (Answer) answer = rig_run (rig, new_request (1, first_text, 8, 0), 0);
  g_assert_cmpuint (answer->end.n_guessed, ==, 0);
  g_assert_cmpint (answer->end.kind, ==, KVASIR_NOTICE_DONE);
}

static void
test_vocabularies (void)
{
  g_autoptr (Rig) rig = rig_new (&(RigParams){ .n_ctx = 512, .n_seq_max = 2, .n_ubatch = 16 });
  g_autofree char *mamba = get_path ("tiny-mamba2");
  g_autofree char *gemma = get_path ("tiny-gemma3");
  g_autofree char *changed = rig_write_changed ("<|im_end|>", "<|im_fin|>", 10);

  assert_refused (rig, mamba, "no token can be taken back");
  assert_refused (rig, gemma, "another vocabulary");
  assert_refused (rig, changed, "\"<|im_fin|>\", of the model that writes it is \"<|im_end|>\"");
  g_remove (changed);
}

static void
test_memories (void)
{
  static const char *const models[] = { "tiny-mamba2", "tiny-lfm2" };
  const KvasirGuessParams params = { .kind = KVASIR_GUESS_LOOKUP, .width = 3 };

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      const Kind kind = { models[i], { .n_ctx = 1024, .n_seq_max = 4, .n_ubatch = 16 } };
      g_autoptr (Rig) rig = new_rig (&kind);
      g_autoptr (GError) error = NULL;
      g_assert_false (kvasir_session_set_guesses (rig->session, &params, NULL, &error));
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED);
      g_assert_nonnull (strstr (error->message, "could not be taken back"));
    }
}

static guint64
sum_guessing (Rig *rig)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint64 sum = 0;
  kvasir_session_append_breakdown (rig->session, rows);
  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, KvasirMemoryRow, i).kind == KVASIR_KIND_GUESSING)
      sum += g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  return sum;
}

static void
test_bytes (void)
{
  const KvasirGuessParams off = { .kind = KVASIR_GUESS_OFF };
  g_autofree char *path = get_path ("tiny-llama");
  g_autoptr (Rig) rig = new_rig (&kinds[0]);
  g_autoptr (KvasirContext) context = open_second (rig, path, 512);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint64 expected = 0;
  gint64 told = 0;

  kvasir_context_append_breakdown (context, rows);
  for (guint i = 0; i < rows->len; i++)
    expected += g_array_index (rows, KvasirMemoryRow, i).n_bytes;
  g_assert_cmpuint (sum_guessing (rig), ==, 0);
  ask_model (rig, path, 512);
  g_assert_cmpuint (sum_guessing (rig), ==, expected);
  g_assert_true (kvasir_session_set_guesses (rig->session, &off, NULL, NULL));
  g_assert_cmpuint (sum_guessing (rig), ==, 0);
  for (guint i = 0; i < rig->events->len; i++)
    {
      const KvasirEvent *event = &g_array_index (rig->events, KvasirEvent, i);
      if (event->type == KVASIR_EVENT_BUFFER && event->b == KVASIR_KIND_GUESSING)
        told = MAX (told, told + event->a);
    }
  g_assert_cmpuint ((guint64) told, ==, expected);
}

/* ---- looking up */

static void
test_lookup (void)
{
  static const gint32 text[] = { 5, 1, 2, 3, 9, 1, 2, 4, 8, 7, 1, 2 };
  static const gint32 longer[] = { 1, 2, 3, 6, 0, 2, 3, 7, 1, 2, 3 };
  static const gint32 circle[] = { 4, 5, 6, 4, 5, 6 };
  static const gint32 nothing[] = { 1, 2, 3, 2 };
  gint32 guesses[8];

  /* The last of several places. */
  g_assert_cmpuint (kvasir_guess_lookup (text, G_N_ELEMENTS (text), 3, guesses), ==, 2);
  g_assert_cmpmem (guesses, 12, ((gint32[]){ 4, 8, 7 }), 12);
  /* A longer likeness goes before a later one. */
  g_assert_cmpuint (kvasir_guess_lookup (longer, G_N_ELEMENTS (longer), 2, guesses), ==, 3);
  g_assert_cmpmem (guesses, 8, ((gint32[]){ 6, 0 }), 8);
  g_assert_cmpuint (kvasir_guess_lookup (circle, G_N_ELEMENTS (circle), 8, guesses), ==, 3);
  g_assert_cmpmem (guesses, 32, ((gint32[]){ 4, 5, 6, 4, 5, 6, 4, 5 }), 32);
  g_assert_cmpuint (kvasir_guess_lookup (nothing, G_N_ELEMENTS (nothing), 3, guesses), ==, 0);
  g_assert_cmpuint (kvasir_guess_lookup (circle, 1, 3, guesses), ==, 0);
  g_assert_cmpuint (kvasir_guess_lookup (circle, 0, 3, guesses), ==, 0);
}

/* ---- the pace */

/* The width that a model would take after a while whose step of 1, 2, 3, 4 tokens takes @us, with
 * so many of ten guesses coming right. */
static guint
settle (const double us[4], guint n_right)
{
  KvasirGuessPace pace = { .n_right = { 0 } };
  guint counts[4] = { 0 }, most = 0;

  kvasir_guess_pace_forget (&pace);
  for (guint i = 0; i < 400; i++)
    {
      guint width = kvasir_guess_pace_choose (&pace, 1, 3);
      kvasir_guess_pace_note_step (&pace, 1 + width, us[width]);
      kvasir_guess_pace_note_right (&pace, 1, i % 10 < n_right);
      counts[width] += i >= 100;
    }
  for (guint width = 0; width <= 3; width++)
    if (counts[width] > counts[most])
      most = width;
  /* What does not pay is tried again now and then, but seldom. */
  if (most == 0)
    g_assert_cmpuint (counts[0], >, 270);
  return most;
}

static void
test_pace (void)
{
  static const double nearly_free[4] = { 1000, 1100, 1200, 1300 };
  static const double dear[4] = { 1000, 1900, 2800, 3700 };
  static const double jump[4] = { 1000, 1300, 2600, 2800 };

  g_assert_cmpuint (settle (nearly_free, 10), ==, 3);
  g_assert_cmpuint (settle (nearly_free, 0), ==, 0);
  g_assert_cmpuint (settle (dear, 3), ==, 0);
  g_assert_cmpuint (settle (jump, 7), ==, 1);
}

static void
add_kinds (const char *name, GTestDataFunc test)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/engine/session/guess/%s/%s%s", name, kinds[i].model,
                           kinds[i].params.streams ? "-streams" : "");
      g_test_add_data_func (path, &kinds[i], test);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_kinds ("same-answers-and-cells", test_same);
  add_kinds ("stop", test_stops);
  add_kinds ("abort", test_aborts);
  add_kinds ("length", test_lengths);
  add_kinds ("room", test_room);
  add_kinds ("guessing-for-itself", test_itself);
  g_test_add_data_func ("/engine/session/guess/end-token", &kinds[0], test_end_token);
  g_test_add_func ("/engine/session/guess/stop-text", test_stop_text);
  g_test_add_func ("/engine/session/guess/comes-right", test_comes_right);
  g_test_add_func ("/engine/session/guess/second-without-room", test_second_without_room);
  g_test_add_func ("/engine/session/guess/other-vocabularies-are-refused", test_vocabularies);
  g_test_add_func ("/engine/session/guess/memories-that-can-not", test_memories);
  g_test_add_func ("/engine/session/guess/bytes", test_bytes);
  g_test_add_func ("/engine/session/guess/lookup", test_lookup);
  g_test_add_func ("/engine/session/guess/pace", test_pace);
  return g_test_run ();
}
