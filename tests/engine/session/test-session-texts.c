#include <math.h>
#include <string.h>

#include "rig.h"

static const RigParams normal = { 512, 4, 16 };

static KvasirRequest *
new_request (guint max_tokens)
{
  KvasirRequest *request = rig_new_request (1, 11, max_tokens);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  return request;
}

static char **
make_list (const char *text)
{
  const char *const list[] = { text, NULL };
  return g_strdupv ((char **) list);
}

/* What was generated up to the stop text, told as tokens and as text, and then read again. */
static void
check_next (Rig *rig, const Answer *answer)
{
  KvasirRequest *next = rig_new_request (1, 13, 2);
  rig_add_user (next, 10, "Hello there, what is a cell?");
  g_array_set_size (answer->tokens, answer->end.n_kept);
  rig_add_answer (next, 11, answer);
  rig_add_user (next, 12, "And now?");
  g_autoptr (GArray) prompt = rig_dup_prompt (rig, next);
  g_autoptr (Answer) second = rig_run (rig, next, 0);
  g_assert_cmpint (second->end.kind, ==, KVASIR_NOTICE_DONE);
  g_assert_cmpuint (second->end.n_total, ==, prompt->len);
  g_assert_cmpuint (second->end.n_reused, >, 0);
}

/* Greedy, but of few tokens, which are whole words and take turns. */
static KvasirRequest *
new_wordy (guint max_tokens)
{
  KvasirRequest *request = new_request (max_tokens);
  request->texts.biases = make_list ("cell answer member sequence poet+1000");
  request->sampling.frequency_penalty = 50.0f;
  return request;
}

static void
test_stop_text_between_tokens (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) free_one = rig_run (rig, new_wordy (12), 0);
  KvasirModel *model = kvasir_context_get_model (kvasir_session_get_context (rig->session));
  const KvasirVocab *vocab = kvasir_model_get_vocab (model);
  const gint32 *ids = (const gint32 *) (gpointer) free_one->tokens->data;
  g_autoptr (GString) before = g_string_new (NULL);
  g_autoptr (GString) stop = g_string_new (NULL);
  kvasir_vocab_detokenize (vocab, ids, 4, FALSE, before);
  kvasir_vocab_detokenize (vocab, ids, 7, FALSE, stop);
  g_string_erase (stop, 0, (gssize) before->len);
  g_assert_null (strstr (before->str, stop->str));

  KvasirRequest *request = new_wordy (12);
  request->texts.stops = make_list (stop->str);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_STOP_TEXT);
  g_assert_cmpstr (answer->text->str, ==, before->str);
  g_assert_cmpuint (answer->end.n_generated, ==, 7);
  g_assert_cmpuint (answer->end.n_kept, ==, 4);
  check_next (rig, answer);
}

/* A text that only begins is given out late, but whole. */
static void
test_stop_text_that_never_ends (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) free_one = rig_run (rig, new_wordy (12), 0);
  g_autofree char *stop = g_strconcat (free_one->text->str, "\x01", NULL);
  KvasirRequest *request = new_wordy (12);
  request->texts.stops = make_list (stop);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_assert_cmpint (answer->end.reason, ==, free_one->end.reason);
  g_assert_cmpstr (answer->text->str, ==, free_one->text->str);
  g_assert_cmpuint (answer->end.n_kept, ==, answer->end.n_generated);
}

static void
test_bias_of_an_id (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) free_one = rig_run (rig, new_request (1), 0);
  gint32 first = g_array_index (free_one->tokens, gint32, 0);
  KvasirRequest *request = new_request (1);
  g_autofree char *entry = g_strdup_printf ("%d-inf", first);
  request->texts.biases = make_list (entry);
  g_autoptr (Answer) other = rig_run (rig, request, 0);
  g_assert_cmpint (g_array_index (other->tokens, gint32, 0), !=, first);

  request = new_request (3);
  request->texts.biases = make_list ("97+1000");
  g_autoptr (Answer) forced = rig_run (rig, request, 0);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (g_array_index (forced->tokens, gint32, i), ==, 97);
}

/* All tokens of the text, and none else, are drawn. */
static void
test_bias_of_a_text (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirModel *model = kvasir_context_get_model (kvasir_session_get_context (rig->session));
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  kvasir_vocab_tokenize (kvasir_model_get_vocab (model), "cell", -1, FALSE, TRUE, ids, NULL);
  KvasirRequest *request = new_request (6);
  request->texts.biases = make_list ("cell+1000");
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  for (guint i = 0; i < answer->tokens->len; i++)
    {
      gboolean found = FALSE;
      for (guint j = 0; j < ids->len; j++)
        found |= g_array_index (ids, gint32, j) == g_array_index (answer->tokens, gint32, i);
      g_assert_true (found);
    }
}

static void
test_bias_entries (void)
{
  static const struct
  {
    const char *entry;
    gboolean ok;
    gint32 id;
    gsize len;
    float bias;
  } cases[] = {
    { "15043+1", TRUE, 15043, 5, 1.0f },
    { "15043-0.5", TRUE, 15043, 5, -0.5f },
    { "7-inf", TRUE, 7, 1, -INFINITY },
    { "Certainly-5", TRUE, -1, 9, -5.0f },
    { "a+b-1", TRUE, -1, 3, -1.0f },
    { " the+2", TRUE, -1, 4, 2.0f },
    { "99999999999+1", TRUE, -1, 11, 1.0f },
    { "15043", FALSE, 0, 0, 0 },
    { "15043+", FALSE, 0, 0, 0 },
    { "15043+ 1", FALSE, 0, 0, 0 },
    { "15043+1x", FALSE, 0, 0, 0 },
    { "15043+nan", FALSE, 0, 0, 0 },
    { "+1", FALSE, 0, 0, 0 },
    { "", FALSE, 0, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      KvasirTokenBias bias;
      g_test_message ("%s", cases[i].entry);
      g_assert_cmpint (kvasir_token_bias_parse (cases[i].entry, &bias), ==, cases[i].ok);
      if (!cases[i].ok)
        continue;
      g_assert_cmpint (bias.id, ==, cases[i].id);
      g_assert_cmpuint (bias.len, ==, cases[i].len);
      g_assert_cmpfloat (bias.bias, ==, cases[i].bias);
    }
}

static void
test_escapes (void)
{
  static const char *const cases[][3] = {
    { "a\nb", "a\\nb", "a\nb" },
    { "\t\\", "\\t\\\\", "\t\\" },
    { "\xc3\xa9\"", "\xc3\xa9\"", "\xc3\xa9\"" },
    { NULL, "\\x\\", "\\x\\" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = kvasir_sampling_text_unescape (cases[i][1]);
      g_assert_cmpstr (text, ==, cases[i][2]);
      if (cases[i][0] == NULL)
        continue;
      g_autofree char *line = kvasir_sampling_text_escape (cases[i][0]);
      g_assert_cmpstr (line, ==, cases[i][1]);
    }
}

/* With a strong DRY the same row is not said again; with every letter a breaker it is. */
static void
test_breakers (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = new_request (24);
  request->texts.biases = make_list ("aaaa+30");
  g_autoptr (Answer) plain = rig_run (rig, request, 0);

  request = new_request (24);
  request->texts.biases = make_list ("aaaa+30");
  request->sampling.dry_multiplier = 100.0f;
  g_autoptr (Answer) dry = rig_run (rig, request, 0);
  g_assert_cmpstr (dry->text->str, !=, plain->text->str);

  request = new_request (24);
  request->texts.biases = make_list ("aaaa+30");
  request->sampling.dry_multiplier = 100.0f;
  g_strfreev (request->texts.breakers);
  request->texts.breakers = make_list ("a");
  g_autoptr (Answer) broken = rig_run (rig, request, 0);
  g_assert_cmpstr (broken->text->str, ==, plain->text->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/texts/stop-between-tokens", test_stop_text_between_tokens);
  g_test_add_func ("/engine/session/texts/stop-that-never-ends", test_stop_text_that_never_ends);
  g_test_add_func ("/engine/session/texts/bias-of-an-id", test_bias_of_an_id);
  g_test_add_func ("/engine/session/texts/bias-of-a-text", test_bias_of_a_text);
  g_test_add_func ("/engine/session/texts/bias-entries", test_bias_entries);
  g_test_add_func ("/engine/session/texts/escapes", test_escapes);
  g_test_add_func ("/engine/session/texts/breakers", test_breakers);
  return g_test_run ();
}
