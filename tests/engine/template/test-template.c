/* The public functions: errors with their place, variables, the clock, threads. */
#include "support.h"

#include "engine/template/stability.h"

#include "engine/error.h"

#include <pthread.h>
#include <string.h>

typedef struct
{
  const char *source;
  const char *message; /* the whole of it behind "chat template, " */
} ErrorCase;

static void
check_errors (const ErrorCase *cases, guint n)
{
  static const char vars[] =
      "{\"s\": \"text\", \"l\": [1], \"n\": null, \"m\": [{\"role\": \"user\"}]}";
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirRendered) rendered = template_render (cases[i].source, vars, NULL, &error);
      g_test_message ("%s", cases[i].source);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
      g_assert_null (rendered);
      g_assert_true (g_str_has_prefix (error->message, "chat template, "));
      g_assert_cmpstr (error->message + strlen ("chat template, "), ==, cases[i].message);
    }
}

static void
test_syntax_errors (void)
{
  static const ErrorCase cases[] = {
    { "{{ 1", "line 1, column 5: expected '}}', found the end of the template" },
    { "a\nbc{{ }}", "line 2, column 6: expected an expression, found '}}'" },
    { "ä{% if 1 %}", "line 1, column 12: the template ends before 'elif'" },
    { "{% nope %}", "line 1, column 4: the tag 'nope' is unknown here" },
    { "{% endif %}", "line 1, column 4: the tag 'endif' is unknown here" },
    { "{% 1 %}", "line 1, column 4: expected the name of a tag, found integer" },
    { "{{ 'abc }}", "line 1, column 4: a string without its closing quote" },
    { "{{ 'a\\ud800' }}", "line 1, column 6: an escape that names no character" },
    { "x{# abc", "line 1, column 2: a comment without its end '#}'" },
    { "{% raw %}{% raw %}", "line 1, column 10: a raw block without its end '{% endraw %}'" },
    { "{{ (1] }}", "line 1, column 6: unexpected ']', expected ')'" },
    { "{{ 1) }}", "line 1, column 5: unexpected ')'" },
    { "{{ a ? b }}", "line 1, column 6: unexpected character '?'" },
    { "{{ é€¶ }}", "line 1, column 5: unexpected character '€'" },
    { "{% for x of l %}{% endfor %}", "line 1, column 10: expected 'in', found name" },
    { "{% for x in l recursive %}{% endfor %}",
      "line 1, column 15: recursive loops are not supported" },
    { "{% break %}", "line 1, column 10: 'break' outside of a loop" },
    { "{% for x in l %}{% macro m() %}{% continue %}{% endmacro %}{% endfor %}",
      "line 1, column 44: 'continue' outside of a loop" },
    { "{% set true = 1 %}", "line 1, column 8: 'true' cannot be assigned to" },
    { "{% macro m(a=1, b) %}{% endmacro %}",
      "line 1, column 18: a parameter without default after one with" },
    { "{{ f(a=1, 2) }}", "line 1, column 11: a positional argument after a keyword or * argument" },
    { "{{ f(*a, *b) }}", "line 1, column 10: a second * or ** argument" },
    { "{% call 1 %}{% endcall %}", "line 1, column 11: a call block needs the call of a macro" },
    { "{{ x is none is none }}", "line 1, column 14: tests with 'is' cannot follow each other" },
    { "{{ 99999999999999999999 }}", "line 1, column 4: an integer that does not fit into 64 bits" },
  };
  check_errors (cases, G_N_ELEMENTS (cases));
}

static void
test_render_errors (void)
{
  static const ErrorCase cases[] = {
    { "{{ raise_exception('Nö!') }}", "line 1, column 19: Nö!" },
    { "a\n  {{ x.y }}", "line 2, column 7: 'x' is undefined" },
    { "{{ m[0].name.first }}", "line 1, column 13: 'dict object' has no attribute 'name'" },
    { "{{ x() }}", "line 1, column 5: 'x' is undefined" },
    { "{{ l() }}", "line 1, column 5: 'list' object cannot be called" },
    { "{{ s.shout() }}", "line 1, column 11: 'str object' has no attribute 'shout'" },
    { "{{ 1 +\n s }}", "line 1, column 6: '+' does not work between 'int' and 'str'" },
    { "{{ 1 / 0 }}", "line 1, column 6: division by zero" },
    { "{{ s < 1 }}", "line 1, column 6: 'str' and 'int' have no order" },
    { "{{ 1 in 2 }}", "line 1, column 6: 'int' object is not iterable" },
    { "{% for x in 5 %}{% endfor %}", "line 1, column 8: 'int' object is not iterable" },
    { "{% set a, b = [1] %}", "line 1, column 8: expected 2 values to unpack, found 1" },
    { "{% set s.x = 1 %}", "line 1, column 8: attributes can be set on a namespace, not 'str'" },
    { "{{ s | nope }}", "line 1, column 8: no filter is named 'nope'" },
    { "{{ s is nope }}", "line 1, column 6: no test is named 'nope'" },
    { "{{ s | map('nope') | list }}", "line 1, column 8: map: no filter is named 'nope'" },
    { "{{ l | select('nope') | list }}", "line 1, column 8: select: no test is named 'nope'" },
    { "{{ s | replace('a') }}", "line 1, column 8: replace needs the argument 'new'" },
    { "{{ s | upper(1) }}", "line 1, column 8: upper takes at most 0 arguments, found 1" },
    { "{{ s | trim(char='x') }}", "line 1, column 8: trim has no argument 'char'" },
    { "{{ s.split(1) }}", "line 1, column 11: split: expected a str, found 'int'" },
    { "{{ {l: 1} }}", "line 1, column 4: unhashable type: 'list'" },
    { "{% macro m(a) %}{% endmacro %}{{ m(b=1) }}",
      "line 1, column 35: the macro takes no argument 'b'" },
    { "{% macro m() %}\n{{ x.y }}{% endmacro %}\n{{ m() }}", "line 2, column 5: 'x' is undefined" },
    { "{{ range | tojson }}", "line 1, column 12: 'function' cannot be written as JSON" },
    { "{{ '{\"a\" 1}' | from_json }}", "line 1, column 16: from_json: expected ':' at byte 5" },
  };
  check_errors (cases, G_N_ELEMENTS (cases));
}

static void
test_raised_text_is_clipped (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirRendered) rendered =
      template_render ("{{ raise_exception('€' * 100000) }}", "{}", NULL, &error);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
  g_assert_cmpuint (strlen (error->message), <, 5000);
  g_assert_true (g_utf8_validate (error->message, -1, NULL));
  g_assert_true (g_str_has_suffix (error->message, "€"));
}

static void
test_bad_text (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new ("a\xff", -1, &error);
  g_assert_null (self);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
  g_clear_error (&error);
  g_autoptr (KvasirTemplate) good = kvasir_template_new ("{{ a }}", -1, &error);
  json_t *vars = json_object ();
  json_object_set_new_nocheck (vars, "a", json_string_nocheck ("\xC3"));
  g_autoptr (KvasirRendered) rendered = kvasir_template_render (good, vars, NULL, &error);
  json_decref (vars);
  g_assert_null (rendered);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
}

/* A NUL is a character like any other. */
static void
test_nul (void)
{
  static const char source[] = "a\0{{ x }}\0{{ '\\0' ~ x | length }}";
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new (source, sizeof source - 1, &error);
  g_assert_no_error (error);
  json_t *vars = json_object ();
  json_object_set_new (vars, "x", json_stringn ("b\0c", 3));
  g_autoptr (KvasirRendered) rendered = kvasir_template_render (self, vars, NULL, &error);
  json_decref (vars);
  g_assert_no_error (error);
  g_assert_cmpmem (rendered->text->str, rendered->text->len, "a\0b\0c\0\0003", 8);
}

static void
test_length_is_respected (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new ("abc{{ oops", 3, &error);
  g_assert_no_error (error);
  json_t *vars = json_object ();
  g_autoptr (KvasirRendered) rendered = kvasir_template_render (self, vars, NULL, &error);
  json_decref (vars);
  g_assert_cmpstr (rendered->text->str, ==, "abc");
}

/* Nothing is filled in, and a variable may take the name of a function. */
static void
test_variables (void)
{
  static const struct
  {
    const char *source;
    const char *vars;
    const char *expected;
  } cases[] = {
    { "{{ bos_token is defined }}{{ tools is defined }}{{ now is defined }}", "{}",
      "FalseFalseFalse" },
    { "{{ range }}{{ namespace is callable }}", "{\"range\": 5}", "5True" },
    { "{{ a | tojson }}", "{\"a\": {\"z\": 1, \"b\": 1.0, \"a\": 10000000000000000.0}}",
      "{\"z\": 1, \"b\": 1.0, \"a\": 1e+16}" },
    { "{{ messages }}", "{\"messages\": \"text\"}", "text" },
    { "{% set a = 2 %}{{ a }}", "{\"a\": 1}", "2" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirRendered) rendered =
          template_render (cases[i].source, cases[i].vars, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (rendered->text->str, ==, cases[i].expected);
    }
}

/* What a render changes stays in that render. */
static void
test_renders_are_apart (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new (
      "{% set l = [1] %}{% set _ = l.append(2) %}{% set _ = d.update({'k': l}) %}{{ l }}{{ d }}",
      -1, &error);
  g_assert_no_error (error);
  json_error_t json_error;
  json_t *vars = json_loads ("{\"d\": {\"a\": 1}}", 0, &json_error);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (KvasirRendered) rendered = kvasir_template_render (self, vars, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpstr (rendered->text->str, ==, "[1, 2]{'a': 1, 'k': [1, 2]}");
    }
  json_decref (vars);
}

static void
test_clock (void)
{
  static const KvasirTemplateOptions broken = { .now = "soon" };
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirRendered) rendered =
      template_render ("{{ strftime_now('%Y') }}", "{}", &broken, &error);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
  g_clear_error (&error);
  g_autoptr (GDateTime) before = g_date_time_new_now_local ();
  g_autoptr (KvasirRendered) real =
      template_render ("{{ strftime_now('%Y-%m-%d') }}", "{}", NULL, &error);
  g_autoptr (GDateTime) after = g_date_time_new_now_local ();
  g_autofree char *first = g_date_time_format (before, "%Y-%m-%d");
  g_autofree char *last = g_date_time_format (after, "%Y-%m-%d");
  g_assert_no_error (error);
  g_assert_true (g_str_equal (real->text->str, first) || g_str_equal (real->text->str, last));
}

#define N_THREADS 4
#define N_RENDERS 50

static void *
render_many (void *data)
{
  json_t *vars = json_object ();
  for (guint i = 0; i < N_RENDERS; i++)
    {
      g_autoptr (KvasirRendered) rendered = kvasir_template_render (data, vars, NULL, NULL);
      g_assert_nonnull (rendered);
      g_assert_cmpstr (rendered->text->str, ==, "ab-ab1{'ab': 3}ABXX");
    }
  json_decref (vars);
  return NULL;
}

static void
test_threads (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new (
      "{% macro m(x='a' 'b') %}{{ x }}{% endmacro %}{{ m() }}-{{ m() ~ 1 }}{{ {'a' 'b': 3} }}"
      "{{ 'ab' 'x' | upper }}{{ 'x' | upper }}",
      -1, &error);
  g_assert_no_error (error);
  pthread_t threads[N_THREADS];
  for (guint i = 0; i < N_THREADS; i++)
    g_assert_cmpint (pthread_create (&threads[i], NULL, render_many, self), ==, 0);
  for (guint i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
}

typedef struct
{
  const char *source;
  KvasirPrefixStability expected;
} StabilityCase;

/* Each kind by the plainest template that has it. */
static void
test_stability (void)
{
  static const StabilityCase cases[] = {
    { "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}<assistant>",
      KVASIR_PREFIX_STABLE },
    { "{% for m in messages %}<{{ m.role }}>{% if m.role == 'assistant' and not loop.last %}"
      "(old){% endif %}{{ m.content }}</>{% endfor %}<assistant>",
      KVASIR_PREFIX_REPLY_MOVES },
    { "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}<assistant><think>",
      KVASIR_PREFIX_PROMPT_MOVES },
    { "{% for m in messages %}{% if m.role != 'system' %}[{{ messages[0].content if loop.last }} "
      "{{ m.content }}]{% endif %}{% endfor %}",
      KVASIR_PREFIX_ALL_MOVES },
    /* Asked again without what it does not know. */
    { "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
      "<{{ m.role }}>{{ m.content }}</>{% endfor %}<assistant>",
      KVASIR_PREFIX_STABLE },
    { "{{ raise_exception('no') }}", KVASIR_PREFIX_UNKNOWN },
    { "always the same", KVASIR_PREFIX_UNKNOWN },
    { "{% for i in range(100000000) %}{% endfor %}", KVASIR_PREFIX_UNKNOWN },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (KvasirTemplate) self = kvasir_template_new (cases[i].source, -1, NULL);

      g_test_message ("%s", cases[i].source);
      g_assert_nonnull (self);
      g_assert_cmpint (kvasir_template_measure_stability (self, "<s>", "</s>"), ==,
                       cases[i].expected);
    }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/template/errors/of-syntax-have-their-place", test_syntax_errors);
  g_test_add_func ("/engine/template/errors/of-rendering-have-their-place", test_render_errors);
  g_test_add_func ("/engine/template/errors/raised-text-is-clipped", test_raised_text_is_clipped);
  g_test_add_func ("/engine/template/errors/text-that-is-not-utf-8", test_bad_text);
  g_test_add_func ("/engine/template/text-with-nul", test_nul);
  g_test_add_func ("/engine/template/length-is-respected", test_length_is_respected);
  g_test_add_func ("/engine/template/variables", test_variables);
  g_test_add_func ("/engine/template/renders-are-apart", test_renders_are_apart);
  g_test_add_func ("/engine/template/clock", test_clock);
  g_test_add_func ("/engine/template/stability-of-prompts", test_stability);
  g_test_add_func ("/engine/template/threads-share-a-template", test_threads);
  return g_test_run ();
}
