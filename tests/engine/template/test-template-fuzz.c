/* Broken and senseless templates: each gives a template or an error, and a render a text or an
 * error, never a crash. Run with the sanitizers this also finds leaks and reads out of bounds. */
#include "support.h"

#include "engine/error.h"

#include <string.h>

static const KvasirTemplateOptions limits = {
  .max_steps = 20000,
  .max_output_bytes = 64 * 1024,
};

static const char *const golden[] = {
  "01-conditions",   "02-loops",      "03-scope",          "04-namespace",      "05-macros",
  "06-slices",       "07-whitespace", "08-break-continue", "09-string-methods", "10-text-filters",
  "11-list-filters", "12-tests",      "13-tojson",         "14-raise",          "15-undefined",
  "16-truth",        "17-arithmetic", "18-literals",       "19-blocks",         "20-generation",
  "21-clock",        "22-parts",      "23-range",          "24-tools",          "25-thinking",
  "26-extras",
};

static json_t *
make_vars (void)
{
  json_error_t error;
  json_t *vars = json_loads (
      "{\"messages\": [{\"role\": \"system\", \"content\": \" Be brief. \"},"
      " {\"role\": \"user\", \"content\": \"Grüße <|im_end|>\\n\"},"
      " {\"role\": \"assistant\", \"content\": null, \"tool_calls\": [{\"function\": {\"name\": "
      "\"f\","
      "  \"arguments\": {\"a\": 1, \"b\": [1.5, null]}}}]},"
      " {\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"x\"}]}],"
      " \"tools\": [{\"name\": \"f\", \"parameters\": {\"properties\": {}}}], \"x\": 5, \"data\": "
      "{},"
      " \"s\": \"a,b c\", \"l\": [3, 1, 2], \"d\": {\"a\": 1}, \"add_generation_prompt\": true}",
      0, &error);
  g_assert_nonnull (vars);
  return vars;
}

/* Both errors must be of this module, and never without a message. */
static gboolean
try_template (const char *source, gsize len, const json_t *vars)
{
  g_autoptr (GError) error = NULL;
  /* An exact copy, so that a read behind the end does not find the rest of a larger buffer. */
  g_autofree char *copy = g_malloc (len + 1);
  memcpy (copy, source, len);
  copy[len] = '\0';
  g_autoptr (KvasirTemplate) self = kvasir_template_new (copy, (gssize) len, &error);
  g_autoptr (KvasirRendered) rendered =
      self != NULL ? kvasir_template_render (self, vars, &limits, &error) : NULL;
  if (rendered != NULL)
    template_check_spans (rendered);
  else
    g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
  return rendered != NULL;
}

static char *
load_golden (guint i)
{
  g_autofree char *path = g_strconcat ("golden/", golden[i], ".jinja", NULL);
  return template_data (path);
}

static void
test_truncated (void)
{
  json_t *vars = make_vars ();
  for (guint i = 0; i < G_N_ELEMENTS (golden); i++)
    {
      g_autofree char *source = load_golden (i);
      for (gsize len = 0; len <= strlen (source); len++)
        try_template (source, len, vars);
    }
  json_decref (vars);
}

/* The same from the other end, which leaves blocks without a beginning. */
static void
test_headless (void)
{
  json_t *vars = make_vars ();
  for (guint i = 0; i < G_N_ELEMENTS (golden); i++)
    {
      g_autofree char *source = load_golden (i);
      for (gsize at = 0; at < strlen (source); at += 3)
        try_template (source + at, strlen (source) - at, vars);
    }
  json_decref (vars);
}

static void
test_flipped_bytes (void)
{
  static const char bytes[] = "{}%#()[]|.,:'\"\\-+~= \n09a_\xC3\x9F\xFF";
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  json_t *vars = make_vars ();
  for (guint i = 0; i < G_N_ELEMENTS (golden); i++)
    {
      g_autofree char *source = load_golden (i);
      gsize len = strlen (source);
      for (guint n = 0; n < 300; n++)
        {
          g_autofree char *copy = g_strdup (source);
          for (guint k = 0; k < 3; k++)
            copy[g_rand_int_range (random, 0, (gint32) len)] =
                bytes[g_rand_int_range (random, 0, sizeof bytes - 1)];
          try_template (copy, len, vars);
        }
    }
  json_decref (vars);
}

/* Pieces that often fit together, so that much of the soup gets past the parser. */
static const char *const values[] = {
  "x",
  "s",
  "l",
  "d",
  "messages",
  "nope",
  "1",
  "-2",
  "2.5",
  "''",
  "'é,b'",
  "[]",
  "{}",
  "(1, 2)",
  "[1, 'a']",
  "{'a': [1]}",
  "none",
  "true",
  "range(3)",
  "loop",
  "ns",
  "m",
  "m()",
  "namespace(a=1)",
  "9223372036854775807",
  "messages[0].content",
  "ns.a",
  "dict(a=s)",
  "1e308",
  "'\\x00'",
};
static const char *const tails[] = {
  "[0]",
  "[-1:]",
  "[::-2]",
  "['a']",
  ".a",
  ".items()",
  ".get(1)",
  ".split()",
  ".strip('a')",
  ".append(x)",
  ".pop()",
  ".join(l)",
  ".format(1, a=2)",
  ".replace('', s)",
  ".update(d)",
  "()",
  "(s, a=1)",
  " | upper",
  " | sort",
  " | list",
  " | tojson(indent=2)",
  " | join(',')",
  " | map('upper')",
  " | select('odd')",
  " | default(1, true)",
  " | from_json",
  " | int",
  " | length",
  " | batch(2)",
  " | indent",
  " | round(1)",
  " | dictsort",
  " | unique",
  " | map(attribute='a')",
  " | sum",
  " | max",
  " | reverse",
  " | items",
  " is defined",
  " is odd",
  " is mapping",
  " is in l",
  " | truncate(3)",
  "[99:-99:-1]",
  ".splitlines(true)",
  " | trim",
  " | first",
};
static const char *const joints[] = {
  " + ", " - ",  " * ",      " / ",   " // ", " % ",  " ** ",        " ~ ", " == ",
  " < ", " in ", " not in ", " and ", " or ", " if ", " if x else ", ", ",
};
static const char *const tags[] = {
  "{% endif %}",
  "{% endfor %}",
  "{% else %}",
  "{% elif x %}",
  "{% endset %}",
  "{% endmacro %}",
  "{% break %}",
  "{% continue %}",
  "{% endfilter %}",
  "{% endcall %}",
  "{% macro m(a, b=s) %}",
  "{% set t %}",
  "{% filter upper %}",
  "{% call m() %}",
  "{% with a = x %}",
  "{% endwith %}",
  "{# c #}",
  "{% raw %}",
  "{% endraw %}",
  " text\n  ",
  "{% set ns = namespace(a=s) %}",
};

static const char *
pick (GRand *random, const char *const *from, gsize n)
{
  return from[g_rand_int_range (random, 0, (gint32) n)];
}

static void
append_expression (GRand *random, GString *out)
{
  guint n = 1 + g_rand_int_range (random, 0, 3);
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (out, pick (random, joints, G_N_ELEMENTS (joints)));
      g_string_append (out, pick (random, values, G_N_ELEMENTS (values)));
      for (guint k = g_rand_int_range (random, 0, 4); k > 1; k--)
        g_string_append (out, pick (random, tails, G_N_ELEMENTS (tails)));
    }
}

static void
append_statement (GRand *random, GString *out)
{
  static const char *const opens[] = {
    "{{ ",          "{{ ",
    "{{- ",         "{% if ",
    "{% for x in ", "{% for a, b in ",
    "{% set x = ",  "{% set ns.a = ",
  };
  const char *open = pick (random, opens, G_N_ELEMENTS (opens));
  if (g_rand_int_range (random, 0, 3) == 0)
    {
      g_string_append (out, pick (random, tags, G_N_ELEMENTS (tags)));
      return;
    }
  g_string_append (out, open);
  append_expression (random, out);
  g_string_append (out, g_str_has_prefix (open, "{{") ? " }}" : " %}");
  if (strstr (open, "if") != NULL || strstr (open, "for") != NULL)
    {
      append_expression (random, out);
      g_string_append (out, strstr (open, "if") != NULL ? "{% endif %}" : "{% endfor %}");
    }
}

static void
test_soup (void)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20260307);
  g_autoptr (GString) source = g_string_new (NULL);
  json_t *vars = make_vars ();
  guint n_rendered = 0;
  for (guint i = 0; i < 30000; i++)
    {
      g_string_assign (source, "{% macro m() %}{{ caller }}{% endmacro %}");
      for (guint k = g_rand_int_range (random, 1, 5); k > 0; k--)
        append_statement (random, source);
      n_rendered += try_template (source->str, source->len, vars);
    }
  json_decref (vars);
  /* Soup that never renders would not test much. */
  g_assert_cmpuint (n_rendered, >, 1000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/template/fuzz/truncated", test_truncated);
  g_test_add_func ("/engine/template/fuzz/headless", test_headless);
  g_test_add_func ("/engine/template/fuzz/flipped-bytes", test_flipped_bytes);
  g_test_add_func ("/engine/template/fuzz/token-soup", test_soup);
  return g_test_run ();
}
