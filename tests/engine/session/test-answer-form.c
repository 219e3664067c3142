/* Answers held to a form: when it begins behind reasoning, and through a session. */
#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "rig.h"

static const RigParams normal = { 512, 4, 16 };

/* ---- reasoning */

typedef struct
{
  KvasirModel *model; /* (unowned) */
  const KvasirVocab *vocab;
  Rig *rig;
  KvasirTokenTrie *trie;
  KvasirAnswerForm *form;
} Case;

static void
add_text (Case *self, const char *text)
{
  const KvasirTokenFilter *filter = kvasir_answer_form_get_filter (self->form);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  kvasir_vocab_tokenize (self->vocab, text, -1, FALSE, TRUE, ids, NULL);
  for (guint i = 0; i < ids->len; i++)
    {
      gint32 id = g_array_index (ids, gint32, i);
      g_assert_true (filter->allows (filter->user, id));
      filter->accept (filter->user, id);
    }
}

/* What both ways of asking say of the first token of @text. */
static gboolean
may_follow (Case *self, const char *text)
{
  const KvasirTokenFilter *filter = kvasir_answer_form_get_filter (self->form);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  guint n = kvasir_vocab_get_n_tokens (self->vocab);
  g_autofree float *logits = g_new0 (float, n);
  gint32 id = kvasir_vocab_get_eos (self->vocab);
  if (*text != '\0')
    {
      kvasir_vocab_tokenize (self->vocab, text, -1, FALSE, TRUE, ids, NULL);
      id = g_array_index (ids, gint32, 0);
    }
  filter->mask (filter->user, logits, n);
  gboolean allowed = filter->allows (filter->user, id);
  g_assert_cmpint (allowed, ==, !isinf (logits[id]));
  return allowed;
}

static void
case_begin (Case *self, const char *grammar, const char *lead)
{
  KvasirSamplingTexts texts = { .grammar = (char *) grammar };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (lead);
  *self = (Case){ .rig = rig_new (&normal) };
  self->model = kvasir_context_get_model (kvasir_session_get_context (self->rig->session));
  self->vocab = kvasir_model_get_vocab (self->model);
  kvasir_answer_form_make (&self->form, &texts, self->vocab, &self->trie, &error);
  g_assert_no_error (error);
  kvasir_answer_form_begin (self->form, text);
}

static void
case_clear (Case *self)
{
  kvasir_answer_form_free (self->form);
  kvasir_token_trie_free (self->trie);
  rig_free (self->rig);
}

static void
test_begins_at_once (void)
{
  static const char *const leads[] = { "", "assistant\n", "assistant\n<think>\n\n</think>\n\n" };
  for (guint i = 0; i < G_N_ELEMENTS (leads); i++)
    {
      Case self;
      case_begin (&self, "root ::= \"yes\"", leads[i]);
      g_assert_true (may_follow (&self, "yes"));
      g_assert_false (may_follow (&self, "no"));
      g_assert_false (may_follow (&self, "\n"));
      g_assert_false (may_follow (&self, ""));
      case_clear (&self);
    }
}

static void
test_begins_behind_reasoning (void)
{
  static const struct
  {
    const char *lead;
    const char *reasoning;
  } cases[] = {
    { "assistant\n<think>\n", "no, </thin or so</think>" },
    { "assistant\n<think>a</think><think>", "</think>" },
    { "[THINK]", "</think>hm[/THINK]" },
    { "<|start|>assistant", "<|channel|>analysis<|message|>well<|end|><|start|>assistant"
                            "<|channel|>final<|message|>" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      Case self;
      case_begin (&self, "root ::= \"yes\"", cases[i].lead);
      g_assert_true (may_follow (&self, "no"));
      g_assert_false (may_follow (&self, ""));
      add_text (&self, cases[i].reasoning);
      g_assert_false (may_follow (&self, "no"));
      g_assert_false (may_follow (&self, ""));
      add_text (&self, "\n\n");
      add_text (&self, "yes");
      g_assert_true (may_follow (&self, ""));
      g_assert_false (may_follow (&self, "\n"));
      case_clear (&self);
    }
}

/* White space behind the reasoning is no answer: it comes to an end. */
static void
test_gap_ends (void)
{
  Case self;
  guint n = 0;
  case_begin (&self, "root ::= \"yes\"", "<think>");
  add_text (&self, "</think>");
  for (; n < 20 && may_follow (&self, "\n"); n++)
    add_text (&self, "\n");
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (n, <, 20);
  g_assert_true (may_follow (&self, "yes"));
  case_clear (&self);
}

/* ---- through a session */

static KvasirRequest *
new_request (guint max_tokens)
{
  KvasirRequest *request = rig_new_request (1, 11, max_tokens);
  rig_add_user (request, 10, "Hello there, what is a cell?");
  return request;
}

static void
test_answer_has_the_form (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = new_request (40);
  request->texts.grammar =
      g_strdup ("root ::= \"the \" (\"cell\" | \"member\") \" number \" [0-9]{3}");
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_END);
  g_assert_true (
      g_regex_match_simple ("^the (cell|member) number [0-9]{3}$", answer->text->str, 0, 0));

  request = new_request (200);
  request->texts.schema =
      g_strdup ("{\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":7,\"maximum\":9}},"
                "\"required\":[\"a\"]}");
  g_autoptr (Answer) json = rig_run (rig, request, 0);
  g_assert_cmpint (json->end.reason, ==, KVASIR_DONE_END);
  g_assert_true (g_regex_match_simple ("^{\\s*\"a\":\\s*[7-9]\\s*}$", json->text->str, 0, 0));
}

/* No form, and one that lets everything through, change nothing. */
static void
test_free_form_changes_nothing (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) plain = rig_run (rig, new_request (12), 0);
  KvasirRequest *request = new_request (12);
  request->texts.grammar = g_strdup ("root ::= .*");
  request->texts.schema = g_strdup ("");
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  g_assert_cmpuint (answer->tokens->len, >, 0);
  g_assert_cmpmem (answer->text->str, MIN (answer->text->len, 3), plain->text->str,
                   MIN (answer->text->len, 3));
}

static void
assert_fails (KvasirRequest *request, const char *message)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  const KvasirNotice *notice = rig_find_notice (rig, KVASIR_NOTICE_FAILED);
  g_assert_nonnull (notice);
  g_assert_cmpint (answer->error_code, ==, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpstr (notice->error->message, ==, message);
  g_assert_cmpuint (answer->tokens->len, ==, 0);
}

static void
test_broken_forms_fail_the_request (void)
{
  KvasirRequest *request = new_request (4);
  request->texts.grammar = g_strdup ("root ::= a");
  assert_fails (request, "Grammar, line 1, column 10: the rule 'a' is used here but defined "
                         "nowhere");
  request = new_request (4);
  request->texts.schema = g_strdup ("{\"not\":{}}");
  assert_fails (request, "Schema, at the top: 'not' is not supported");
  request = new_request (4);
  request->texts.grammar = g_strdup ("root ::= \"a\"");
  request->texts.schema = g_strdup ("{}");
  assert_fails (request, "An answer has either a grammar or a schema; both are there");
}

/* The answer ends where no token fits, and says why. */
static void
test_no_way_on_is_explained (void)
{
  g_autoptr (Rig) rig = rig_new (&normal);
  KvasirRequest *request = new_request (12);
  request->texts.grammar = g_strdup ("root ::= \"cell\" [^\\x00-\\U0010FFFF]");
  g_autoptr (Answer) answer = rig_run (rig, request, 0);
  const KvasirNotice *notice = rig_find_notice (rig, KVASIR_NOTICE_DONE);
  g_assert_cmpint (answer->end.reason, ==, KVASIR_DONE_REFUSED);
  g_assert_cmpstr (answer->text->str, ==, "cell");
  g_assert_cmpstr (notice->error->message, ==,
                   "The grammar allows no token of this model behind \"cell\"");
}

static Answer *
run_counting (Rig *rig)
{
  KvasirRequest *request = rig_new_request (1, 11, 40);
  rig_add_user (request, 10, "one two three, one two three, one two three, one two");
  request->texts.grammar = g_strdup ("root ::= (\"one two three, \"){9}");
  return rig_run (rig, request, 0);
}

/* Guesses that do not fit the form are taken back like wrong ones. */
static void
test_guesses_keep_the_form (void)
{
  const KvasirGuessParams params = { .kind = KVASIR_GUESS_LOOKUP, .width = 3, .always = TRUE };
  g_autoptr (Rig) rig = rig_new (&normal);
  g_autoptr (Rig) other = rig_new (&normal);
  g_autoptr (GError) error = NULL;
  g_assert_true (kvasir_session_set_guesses (other->session, &params, NULL, &error));
  g_assert_no_error (error);
  g_autoptr (Answer) plain = run_counting (rig);
  g_autoptr (Answer) guessed = run_counting (other);
  g_assert_cmpuint (plain->tokens->len, >, 0);
  g_assert_true (g_str_has_prefix (plain->text->str, "one two three, one"));
  assert_same_tokens (plain->tokens, guessed->tokens);
  g_assert_cmpuint (guessed->end.n_right, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/session/form/begins-at-once", test_begins_at_once);
  g_test_add_func ("/engine/session/form/begins-behind-reasoning", test_begins_behind_reasoning);
  g_test_add_func ("/engine/session/form/gap-ends", test_gap_ends);
  g_test_add_func ("/engine/session/form/answer-has-the-form", test_answer_has_the_form);
  g_test_add_func ("/engine/session/form/free-form-changes-nothing",
                   test_free_form_changes_nothing);
  g_test_add_func ("/engine/session/form/broken-forms-fail-the-request",
                   test_broken_forms_fail_the_request);
  g_test_add_func ("/engine/session/form/guesses-keep-the-form", test_guesses_keep_the_form);
  g_test_add_func ("/engine/session/form/no-way-on-is-explained", test_no_way_on_is_explained);
  return g_test_run ();
}
