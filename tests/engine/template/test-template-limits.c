/* Hostile templates end with an error that names the limit, in little time and memory. */
#include "support.h"

#include "engine/error.h"

#include <string.h>

/* No render of this file may take longer, sanitizers included. */
#define MAX_SECONDS 10

static const KvasirTemplateOptions small = {
  .max_steps = 1000000,
  .max_output_bytes = 1024 * 1024,
};

static void
check_refused (const char *source, const char *vars, const char *reason)
{
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  g_autofree char *shown = g_strescape (source, NULL);
  g_test_message ("%.200s", shown);
  g_autoptr (KvasirRendered) rendered = template_render (source, vars, &small, &error);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
  g_assert_null (rendered);
  if (strstr (error->message, reason) == NULL)
    g_error ("expected a message with '%s', found '%s'", reason, error->message);
  g_assert_cmpint (g_get_monotonic_time () - start, <, MAX_SECONDS * G_USEC_PER_SEC);
}

typedef struct
{
  const char *source;
  const char *reason;
} Case;

static void
check_all (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    check_refused (cases[i].source, "{}", cases[i].reason);
}

static void
test_time (void)
{
  static const Case cases[] = {
    { "{% for a in range(999) %}{% for b in range(999) %}{% for c in range(999) %}"
      "{% endfor %}{% endfor %}{% endfor %}",
      "steps" },
    { "{% set l = [1] %}{% for x in l %}{% set _ = l.append(1) %}{% endfor %}", "steps" },
    { "{% set t = 'a' * 1000000 %}{% for i in range(99999) %}{% if 'b' in t %}{% endif %}"
      "{% endfor %}",
      "steps" },
    { "{% set t = 'a' * 1000000 %}{% for i in range(99999) %}{{ t.count('b') and '' }}"
      "{% endfor %}",
      "steps" },
    { "{% set t = 'a' * 1000000 %}{% for i in range(99999) %}{% set x = t.rfind('b') %}{% endfor "
      "%}",
      "steps" },
    { "{% set t = 'é' * 100000 %}{% for i in range(99999) %}{% set x = t[90000] %}{% endfor %}",
      "steps" },
    { "{% set t = (' ' * 500000) %}{% for i in range(99999) %}{% set x = t.strip() %}{% endfor %}",
      "steps" },
    { "{% set l = range(100000) | list %}{% for i in range(99999) %}{% if -1 in l %}{% endif %}"
      "{% endfor %}",
      "steps" },
    { "{% set l = range(100000) | list %}{% for i in range(99999) %}{% set x = l | sort %}"
      "{% endfor %}",
      "more than" },
    { "{% set ns = namespace(l=[0]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}"
      "{% endfor %}{% if ns.l == ns.l %}{% endif %}",
      "steps" },
    { "{% set ns = namespace(l=[0]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}"
      "{% endfor %}{{ ns.l | tojson }}",
      "longer than" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_size (void)
{
  static const Case cases[] = {
    { "{{ 'a' * 10 ** 9 }}", "longer than 1048576 bytes" },
    { "{% set t = 'a' * 10 ** 9 %}", "longer than 1048576 bytes" },
    { "{{ 10 ** 9 * 'a' }}", "longer than" },
    { "{{ '' * 10 ** 9 }}{{ 1 / 0 }}", "division" },
    { "{% for i in range(99999) %}{{ 'a' * 100 }}{% endfor %}", "longer than" },
    { "{% set ns = namespace(t='ab') %}{% for i in range(99) %}{% set ns.t = ns.t ~ ns.t %}"
      "{% endfor %}",
      "longer than" },
    { "{% set ns = namespace(l=[1, 2]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}"
      "{% endfor %}",
      "bytes of memory" },
    { "{% set l = [1, 2] %}{% for i in range(99) %}{% set _ = l.extend(l) %}{% endfor %}",
      "bytes of memory" },
    { "{% set x = [0] * 10 ** 9 %}", "bytes of memory" },
    { "{{ ('a' * 1000) | replace('', 'b' * 100000) }}", "longer than" },
    { "{{ ('a' * 1000) | replace('a', 'b' * 100000) }}", "longer than" },
    { "{{ ['a', 'b'] | join('c' * 1000000) * 3 }}", "longer than" },
    { "{{ range(1000) | join('c' * 100000) }}", "longer than" },
    { "{{ '%999999999d' % 1 }}", "longer than" },
    { "{{ '{:>999999999}'.format(1) }}", "longer than" },
    { "{{ '{:é>999999999}'.format(1) }}", "longer than" },
    { "{{ 'a\\nb' | indent(10 ** 9) }}", "longer than" },
    { "{{ [[1]] | tojson(indent=10 ** 9) }}", "longer than" },
    { "{{ ('a\\n' * 1000) | indent('b' * 100000) }}", "longer than" },
    { "{{ range(10 ** 9) }}", "more than 100000 numbers" },
    { "{{ range(-(10 ** 18), 10 ** 18) | list }}", "more than 100000 numbers" },
    { "{% for i in range(99999) %}{% set t = 'a' * 100000 %}{% endfor %}", "bytes of memory" },
    { "{% set ns = namespace(t='') %}{% for i in range(99999) %}{% set ns.t = 'aaaaaaaaaaaaaaaaaa' "
      "~ ns.t %}{% if ns.t | upper %}{% endif %}{% endfor %}",
      "bytes of memory" },
    { "{{ [1] | batch(10 ** 9, 0) | list }}", "bytes of memory" },
    { "{{ 9223372036854775807 + 1 }}", "64 bits" },
    { "{{ -9223372036854775807 - 2 }}", "64 bits" },
    { "{{ 9223372036854775807 * 2 }}", "64 bits" },
    { "{{ 2 ** 64 }}", "64 bits" },
    { "{{ 10 ** 10 ** 10 }}", "64 bits" },
    { "{{ 99999999999999999999 }}", "64 bits" },
    { "{{ 1e300 | int }}", "64 bits" },
    { "{{ '[99999999999999999999]' | from_json }}", "64 bits" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_depth (void)
{
  static const Case cases[] = {
    { "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "deep" },
    { "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
      "deep" },
    { "{% macro m(x) %}{{ x | map('string') | join ~ m([x]) }}{% endmacro %}{{ m([]) }}", "deep" },
    { "{% macro m() %}{% call m() %}{% endcall %}{{ caller }}{% endmacro %}{{ m() }}", "deep" },
    { "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}", "deep" },
    { "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}", "deep" },
    { "{% set l = [] %}{% set _ = l.append(l) %}{% set k = [l] %}{{ l == k }}", "deep" },
    { "{% set ns = namespace(t=()) %}{% for i in range(9999) %}{% set ns.t = (ns.t,) %}"
      "{% endfor %}{{ {ns.t: 1} }}",
      "deep" },
    { "{% set ns = namespace(t=()) %}{% for i in range(9999) %}{% set ns.t = (ns.t,) %}"
      "{% endfor %}{{ {}[ns.t] }}{{ ns.t < ns.t }}",
      "deep" },
    { "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "deep" },
    { "{{ ('[' * 9999) | from_json }}", "deep" },
    { "{{ ('{\"a\":' * 9999) | from_json }}", "deep" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

/* Nesting of the source itself, for each kind of nesting the grammar has. */
static void
test_source_depth (void)
{
  static const struct
  {
    const char *open;
    const char *part;
    const char *reason;
  } nestings[] = {
    { "{{ ", "(", "brackets" },        { "{{ ", "[", "brackets" },
    { "{{ ", "{1: ", "brackets" },     { "{{ ", "not ", "deep" },
    { "{{ ", "- ", "deep" },           { "{{ ", "a[", "brackets" },
    { "{{ ", "a(", "brackets" },       { "{{ ", "a|b(", "brackets" },
    { "{{ ", "1 if 1 else ", "deep" }, { "{{ ", "a(b=", "brackets" },
    { "", "{% if 1 %}", "deep" },      { "", "{% for a in b %}", "deep" },
    { "", "{% macro a() %}", "deep" }, { "", "{% call a() %}", "deep" },
    { "", "{% set a %}", "deep" },     { "", "{% filter a %}", "deep" },
    { "", "{% with %}", "deep" },      { "{% for ", "(", "brackets" },
    { "{{ ", "a is b(", "brackets" },  { "", "{% generation %}", "deep" },
    { "{{ ", "1 + (", "brackets" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (nestings); i++)
    {
      GString *source = g_string_new (nestings[i].open);
      for (guint n = 0; n < 20000; n++)
        g_string_append (source, nestings[i].part);
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirTemplate) self = kvasir_template_new (source->str, -1, &error);
      g_string_free (source, TRUE);
      g_test_message ("%s", nestings[i].part);
      g_assert_null (self);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
      g_assert_nonnull (strstr (error->message, nestings[i].reason));
    }
}

/* Long is not deep: such chains are no nesting for the parser, and the render has its own limit. */
static void
test_long_source (void)
{
  GString *source = g_string_new ("{{ 1");
  for (guint n = 0; n < 20000; n++)
    g_string_append (source, " + 1");
  g_string_append (source, " }}{{ 'a' ");
  for (guint n = 0; n < 20000; n++)
    g_string_append (source, "'b'");
  g_string_append (source, " | length }}{% if 0 %}");
  for (guint n = 0; n < 20000; n++)
    g_string_append (source, "{% elif 0 %}");
  g_string_append (source, "{% endif %}");
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirRendered) rendered = template_render (source->str, "{}", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (rendered->text->str, ==, "2000120001");
  g_string_assign (source, "{{ x");
  for (guint n = 0; n < 20000; n++)
    g_string_append (source, "|upper");
  g_string_append (source, " }}");
  check_refused (source->str, "{}", "deep");
  g_string_free (source, TRUE);
}

static void
test_deep_variables (void)
{
  g_autoptr (GString) vars = g_string_new ("{\"x\": ");
  for (guint n = 0; n < 1000; n++)
    g_string_append_c (vars, '[');
  for (guint n = 0; n < 1000; n++)
    g_string_append_c (vars, ']');
  g_string_append_c (vars, '}');
  check_refused ("", vars->str, "deep");
}

static void
test_large_source (void)
{
  g_autofree char *source = g_strnfill (5 * 1024 * 1024, 'a');
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self = kvasir_template_new (source, -1, &error);
  g_assert_null (self);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
}

/* If every turn copied the text so far, these would need gigabytes, far beyond the memory limit. */
static void
test_linear_cost (void)
{
  static const char *const sources[] = {
    "{% set ns = namespace(t='') %}{% for i in range(30000) %}{% set ns.t = ns.t ~ 'abcdefgh' ~ i "
    "%}"
    "{% endfor %}{{ ns.t | length }}",
    "{% set ns = namespace(t='') %}{% for i in range(30000) %}{% set ns.t = 'abcdefgh' ~ i ~ ns.t "
    "%}"
    "{% endfor %}{{ ns.t | length }}",
    "{% set ns = namespace(t='') %}{% for i in range(30000) %}{% set ns.t = ns.t + 'abcdefgh' ~ i "
    "%}"
    "{% if ns.t.endswith('q') %}{% endif %}{% endfor %}{{ ns.t | length }}",
    "{% set t %}{% for i in range(30000) %}abcdefgh{{ i }}{% endfor %}{% endset %}{{ t | length }}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirRendered) rendered = template_render (sources[i], "{}", &small, &error);
      g_assert_no_error (error);
      /* 8 letters each, and the digits of 0 ... 29999. */
      g_assert_cmpstr (rendered->text->str, ==, "378890");
    }
}

/* The limits are those of the options, and there are some without options. */
static void
test_options (void)
{
  const KvasirTemplateOptions tiny = { .max_steps = 50, .max_depth = 8, .max_output_bytes = 5 };
  static const char *const sources[] = {
    "{% for i in range(50) %}{% endfor %}",
    "{{ [[[[[[[[1]]]]]]]] }}",
    "123456",
    "{% set t = '123' ~ '456' %}",
  };
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (KvasirRendered) rendered = template_render (sources[i], "{}", &tiny, &error);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
      g_clear_error (&error);
      g_autoptr (KvasirRendered) fine = template_render (sources[i], "{}", NULL, &error);
      g_assert_no_error (error);
    }
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirRendered) rendered = template_render ("12{{ 345 }}", "{}", &tiny, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (rendered->text->str, ==, "12345");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/template/limits/time", test_time);
  g_test_add_func ("/engine/template/limits/size", test_size);
  g_test_add_func ("/engine/template/limits/depth", test_depth);
  g_test_add_func ("/engine/template/limits/depth-of-source", test_source_depth);
  g_test_add_func ("/engine/template/limits/long-source-is-fine", test_long_source);
  g_test_add_func ("/engine/template/limits/depth-of-variables", test_deep_variables);
  g_test_add_func ("/engine/template/limits/size-of-source", test_large_source);
  g_test_add_func ("/engine/template/limits/building-text-is-linear", test_linear_cost);
  g_test_add_func ("/engine/template/limits/options", test_options);
  return g_test_run ();
}
