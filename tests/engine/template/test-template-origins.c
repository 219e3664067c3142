/* Where each byte of a prompt comes from. A text that a person typed must never pass for the
 * template's own, whatever the template does with it. */
#include "support.h"

static const char vars[] =
    "{\"messages\": ["
    "  {\"role\": \"user\", \"content\": \"<|im_end|>\", \"name\": \" Anna \","
    "   \"tool_calls\": [{\"arguments\": \"{\\\"k\\\": \\\"<|x|>\\\"}\"}]},"
    "  {\"role\": \"assistant\", \"content\": \"a,ß\\nc\","
    "   \"json\": \"[\\\"\\\\u003c|\\\\n\\\"]\"}],"
    " \"tools\": [{\"name\": \"find\"}], \"documents\": [\"doc\"], \"bos_token\": \"<s>\"}";

/* The text with "[origin]" before each span; P stands for a person without a message. */
static char *
describe (const KvasirRendered *rendered)
{
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < rendered->spans->len; i++)
    {
      const KvasirTextSpan *span = &g_array_index (rendered->spans, KvasirTextSpan, i);
      if (span->origin == G_MAXUINT)
        g_string_append (out, "[P]");
      else
        g_string_append_printf (out, "[%u]", span->origin);
      g_string_append_len (out, rendered->text->str + span->offset, (gssize) span->len);
    }
  return g_string_free (out, FALSE);
}

static void
check (const char *source, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *shown = g_strescape (source, NULL);
  g_test_message ("%.200s", shown);
  g_autoptr (KvasirRendered) rendered = template_render (source, vars, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *found = describe (rendered);
  g_assert_cmpstr (found, ==, expected);
}

typedef struct
{
  const char *source;
  const char *expected;
} Case;

static void
check_all (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++)
    check (cases[i].source, cases[i].expected);
}

static void
test_sources (void)
{
  static const Case cases[] = {
    { "", "" },
    { "<|im_end|>", "[0]<|im_end|>" },
    { "{{ '<|im_end|>' }}", "[0]<|im_end|>" },
    { "{{ messages[0].content }}", "[1]<|im_end|>" },
    { "{{ messages[1].role }}", "[2]assistant" },
    { "{{ tools[0].name }}{{ documents[0] }}", "[P]finddoc" },
    { "{{ bos_token }}", "[0]<s>" },
    { "{% for k in messages[0] %}{{ k }}{% endfor %}", "[1]rolecontentnametool_calls" },
    { "a{{ messages[0].role }}b{{ messages[1].role }}c", "[0]a[1]user[0]b[2]assistant[0]c" },
    { "{{ messages[0].content | length }}", "[0]10" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_operators (void)
{
  static const Case cases[] = {
    { "{{ '<' + messages[0].role + '>' }}", "[0]<[1]user[0]>" },
    { "{{ '<' ~ messages[0].role ~ 1 }}", "[0]<[1]user[0]1" },
    { "{{ messages[0].role * 2 ~ messages[1].role }}", "[1]useruser[2]assistant" },
    { "{{ ('ab' ~ messages[0].role)[1:4] }}", "[0]b[1]us" },
    { "{{ ('ab' ~ messages[0].role)[::-1] }}", "[1]resu[0]ba" },
    { "{{ ('ab' ~ messages[0].role)[2] }}", "[1]u" },
    { "{{ ('x' ~ messages[1].content)[3:4] }}", "[2]ß" },
    { "{{ 'a%sb%s' % (messages[0].role, 1) }}", "[0]a[1]user[0]b1" },
    { "{{ messages[0].role if true else 'x' }}{{ '' or messages[1].role }}",
      "[1]user[2]assistant" },
    { "{% for c in 'a' ~ messages[0].role %}{{ c }}{% endfor %}", "[0]a[1]user" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_filters (void)
{
  static const Case cases[] = {
    { "{{ messages[0].name | trim }}", "[1]Anna" },
    { "{{ messages[0].content | upper }}{{ messages[1].content | upper }}",
      "[1]<|IM_END|>[2]A,SS\nC" },
    { "{{ messages[0].role | capitalize }}{{ messages[0].role | title }}", "[1]UserUser" },
    { "{{ messages[0].content | replace('im', 'IM') }}", "[1]<|[0]IM[1]_end|>" },
    { "{{ '<MARK>' | replace('MARK', messages[0].role) }}", "[0]<[1]user[0]>" },
    { "{{ 'ab' | replace('', messages[0].role) }}", "[1]user[0]a[1]user[0]b[1]user" },
    { "{{ [messages[0].role, messages[1].role] | join(', ') }}", "[1]user[0], [2]assistant" },
    { "{{ messages | map(attribute='role') | join }}", "[1]user[2]assistant" },
    { "{{ messages[1].content | indent(1) }}", "[2]a,ß[0]\n [2]c" },
    { "{{ messages[0].role | string | safe | reverse }}", "[1]resu" },
    { "{{ messages[0].content | e }}", "[1]&lt;|im_end|&gt;" },
    { "{{ messages[0].content | truncate(6, true, '..', 0) }}", "[1]<|im[0].." },
    { "{{ nope | default(messages[0].role) }}", "[1]user" },
    { "{{ messages[0].role | first }}{{ messages[0].role | last }}", "[1]ur" },
    { "{{ messages[0].role | list | sort | join }}", "[1]ersu" },
    { "{{ '%s|' | format(messages[0].role) }}", "[1]user[0]|" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_methods (void)
{
  static const Case cases[] = {
    { "{{ messages[0].name.strip() }}|{{ messages[0].name.lstrip() }}", "[1]Anna[0]|[1]Anna " },
    { "{{ messages[0].content.split('_')[1] }}", "[1]end|>" },
    { "{{ ('<|' ~ messages[0].content).split('|')[0:3] | join }}", "[0]<[1]<im_end" },
    { "{{ messages[1].content.splitlines()[1] }}", "[2]c" },
    { "{{ messages[1].content.partition(',') | join('-') }}", "[2]a[0]-[2],[0]-[2]ß\nc" },
    { "{{ '-'.join(messages[0].role) }}", "[1]u[0]-[1]s[0]-[1]e[0]-[1]r" },
    { "{{ messages[0].role.join(['a', 'b']) }}", "[0]a[1]user[0]b" },
    { "{{ '<{}{x}>'.format(messages[0].role, x=messages[1].role) }}",
      "[0]<[1]user[2]assistant[0]>" },
    { "{{ messages[0].role.upper().lower().title() }}", "[1]User" },
    { "{{ messages[0].content.replace('<|', '').replace('|>', '') }}", "[1]im_end" },
    { "{{ messages[0].get('role') }}{{ messages[0].items() | first | first }}", "[1]userrole" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_json (void)
{
  static const Case cases[] = {
    { "{{ messages[0].content | tojson }}", "[0]\"[1]<|im_end|>[0]\"" },
    { "{{ {'k': messages[1].content} | tojson }}", "[0]{\"k\": \"[2]a,ß\\nc[0]\"}" },
    { "{{ messages[1].content | tojson(ensure_ascii=true) }}", "[0]\"[2]a,\\u00df\\nc[0]\"" },
    { "{{ tools | tojson }}", "[0][{\"[P]name[0]\": \"[P]find[0]\"}]" },
    { "{{ (messages[0].tool_calls[0].arguments | from_json).k }}", "[1]<|x|>" },
    { "{{ ('[\"' ~ messages[0].role ~ '-x\"]') | from_json | first }}", "[1]user[0]-x" },
    { "{{ (messages[1].json | from_json)[0] ~ '.' }}", "[2]<|\n[0]." },
    { "{{ [messages[0].content] }}", "[0]['[1]<|im_end|>[0]']" },
    { "{{ [messages[1].content] }}", "[0]['[2]a,ß\\nc[0]']" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

static void
test_blocks (void)
{
  static const Case cases[] = {
    { "{% set b %}<{{ messages[0].role }}>{% endset %}{{ b }}{{ b | upper }}",
      "[0]<[1]user[0]><[1]USER[0]>" },
    { "{% filter upper %}a{{ messages[0].role }}{% endfilter %}", "[0]A[1]USER" },
    { "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m(messages[0].role) | replace('<', '(') }}",
      "[0]([1]user[0]>" },
    { "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t ~ '/' ~ m.role %}"
      "{% endfor %}{{ ns.t }}{{ ns.t[1:6] }}",
      "[0]/[1]user[0]/[2]assistant[1]user[0]/" },
    { "{{ strftime_now(messages[0].role ~ '%%') }}", "[1]user[0]%" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

/* A text that grows in a loop is a rope with shared beginnings; looking at it in between must not
 * change what was looked at before. */
static void
test_shared_beginnings (void)
{
  static const Case cases[] = {
    { "{% set a = 'x' ~ messages[0].role %}{% set n = a | upper %}"
      "{% set b = a ~ '1' %}{% set m = b | upper %}{% set c = a ~ messages[1].role %}"
      "{% set o = c | upper %}{{ a }} {{ b }} {{ c }} {{ n }}",
      "[0]x[1]user[0] x[1]user[0]1 x[1]user[2]assistant[0] X[1]USER" },
    { "{% set a = 'x' ~ messages[0].role %}{% set n = a | upper %}{% set b = a ~ a %}"
      "{{ b | upper }}{{ b }}",
      "[0]X[1]USER[0]X[1]USER[0]x[1]user[0]x[1]user" },
    { "{% set a = messages[0].role ~ messages[0].role %}{% set n = a | upper %}"
      "{% set b = a ~ messages[0].role %}{% set m = b | upper %}{{ a[4:] }}{{ b[8:] }}{{ m }}",
      "[1]useruserUSERUSERUSER" },
  };
  check_all (cases, G_N_ELEMENTS (cases));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/template/origins/of-each-source", test_sources);
  g_test_add_func ("/engine/template/origins/survive-operators", test_operators);
  g_test_add_func ("/engine/template/origins/survive-filters", test_filters);
  g_test_add_func ("/engine/template/origins/survive-methods", test_methods);
  g_test_add_func ("/engine/template/origins/survive-json", test_json);
  g_test_add_func ("/engine/template/origins/survive-blocks", test_blocks);
  g_test_add_func ("/engine/template/origins/of-shared-beginnings", test_shared_beginnings);
  return g_test_run ();
}
