/* What a template can be asked about thinking, where answers hold it, and conversations as JSON. */
#include <string.h>

#include "engine/error.h"
#include "engine/session/messages-json.h"
#include "engine/session/reasoning.h"

/* ---- the switch */

#define BIT(what) (1u << KVASIR_THINKING_##what)
#define SWITCH (BIT (USUAL) | BIT (OFF) | BIT (ON))
#define STRENGTH (BIT (USUAL) | BIT (LOW) | BIT (MEDIUM) | BIT (HIGH))

/* The first ones are as templates in use write it. */
static const struct
{
  const char *name;
  const char *source;
  guint choices;
} templates[] = {
  { "qwen3",
    "{%- if add_generation_prompt %}{%- if enable_thinking is defined and enable_thinking is "
    "false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}",
    SWITCH },
  { "deepseek-v3.1",
    "{% if not thinking is defined %}{% set thinking = false %}{% endif %}"
    "{% if not thinking %}</think>{% endif %}",
    SWITCH },
  { "gpt-oss",
    "{%- macro head() %}{%- if reasoning_effort is not defined %}{%- set reasoning_effort = "
    "'medium' %}{%- endif %}Reasoning: {{ reasoning_effort }}{%- endmacro %}{{ head() }}",
    STRENGTH },
  { "both", "{{ reasoning_effort ~ enable_thinking }}", SWITCH | STRENGTH },
  { "in-arguments", "{{ dict(a=enable_thinking) | default(1) }}", SWITCH },
  { "in-a-filtered-loop", "{% for m in messages if thinking %}{% endfor %}", SWITCH },
  { "member-of-a-message", "{{ messages[0].thinking }}{{ messages[0]['enable_thinking'] }}", 0 },
  { "plain-words", "enable_thinking {{ 'enable_thinking' }}", 0 },
  { "only-set", "{% set thinking = 1 %}", 0 },
};

static void
test_choices (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) chat = kvasir_template_new (templates[i].source, -1, &error);

  g_assert_no_error (error);
  g_assert_cmphex (kvasir_thinking_get_choices (chat), ==, templates[i].choices);
}

static void
assert_variables (const char *source, KvasirThinking thinking, const char *expected)
{
  g_autoptr (KvasirTemplate) chat = kvasir_template_new (source, -1, NULL);
  json_t *vars = json_object ();
  char *dump;

  kvasir_thinking_set_variables (thinking, chat, vars);
  dump = json_dumps (vars, JSON_COMPACT | JSON_SORT_KEYS);
  g_assert_cmpstr (dump, ==, expected);
  free (dump);
  json_decref (vars);
}

static void
test_variables (void)
{
  static const char either[] = "{{ enable_thinking }}", effort[] = "{{ reasoning_effort }}";
  static const char both[] = "{{ thinking }}{{ reasoning_effort }}";

  assert_variables (either, KVASIR_THINKING_USUAL, "{}");
  assert_variables (either, KVASIR_THINKING_OFF, "{\"enable_thinking\":false}");
  assert_variables (either, KVASIR_THINKING_MEDIUM, "{\"enable_thinking\":true}");
  assert_variables (effort, KVASIR_THINKING_MEDIUM, "{\"reasoning_effort\":\"medium\"}");
  assert_variables (effort, KVASIR_THINKING_OFF, "{\"reasoning_effort\":\"low\"}");
  assert_variables (effort, KVASIR_THINKING_ON, "{\"reasoning_effort\":\"high\"}");
  assert_variables (both, KVASIR_THINKING_ON, "{\"thinking\":true}");
  assert_variables (both, KVASIR_THINKING_LOW, "{\"reasoning_effort\":\"low\",\"thinking\":true}");
  assert_variables ("{{ messages }}", KVASIR_THINKING_OFF, "{}");
}

static void
test_names (void)
{
  KvasirThinking thinking;

  g_assert_true (kvasir_thinking_parse (&thinking, "medium"));
  g_assert_cmpint (thinking, ==, KVASIR_THINKING_MEDIUM);
  g_assert_cmpstr (kvasir_thinking_get_name (KVASIR_THINKING_OFF), ==, "off");
  g_assert_false (kvasir_thinking_parse (&thinking, "maybe"));
}

/* ---- reasoning in answers */

/* @reasoning NULL: none; @answer NULL: it has not ended. */
static void
assert_reasoning (const char *text, gboolean opened, const char *reasoning, const char *answer)
{
  KvasirReasoning found;
  g_autofree char *thought = NULL;

  g_assert_cmpint (kvasir_reasoning_find (text, opened, &found), ==, reasoning != NULL);
  if (reasoning == NULL)
    return;
  thought = g_strndup (text + found.start, found.len);
  g_assert_cmpstr (thought, ==, reasoning);
  g_assert_cmpint (found.is_open, ==, answer == NULL);
  g_assert_cmpstr (text + found.answer, ==, answer != NULL ? answer : "");
}

static void
test_fences (void)
{
  assert_reasoning ("<think>\nWell.\n</think>\n\nYes.", FALSE, "Well.", "Yes.");
  assert_reasoning ("\n<think>\n\n</think>\n\nYes.", FALSE, "", "Yes.");
  assert_reasoning ("<think>\nWe", FALSE, "We", NULL);
  assert_reasoning ("<think>", FALSE, "", NULL);
  assert_reasoning ("[THINK]Well.[/THINK]Yes.", FALSE, "Well.", "Yes.");
  assert_reasoning ("<|channel>thought\nWell.<channel|>Yes.", FALSE, "Well.", "Yes.");
  assert_reasoning ("<|channel|>analysis<|message|>Well.<|end|><|start|>assistant<|channel|>final"
                    "<|message|>Yes.",
                    FALSE, "Well.", "Yes.");
  assert_reasoning ("<|channel|>final<|message|>Yes.", FALSE, "", "Yes.");
  assert_reasoning ("Yes.", FALSE, NULL, NULL);
  assert_reasoning ("", FALSE, NULL, NULL);
}

static void
test_opened_by_the_prompt (void)
{
  assert_reasoning ("Well.\n</think>\n\nYes.", FALSE, "Well.", "Yes.");
  assert_reasoning ("Well.\n</think>\n\nYes.", TRUE, "Well.", "Yes.");
  assert_reasoning ("Well", TRUE, "Well", NULL);
  assert_reasoning ("Well.</think>Yes.", TRUE, "Well.", "Yes.");
  assert_reasoning ("Well.[/THINK]Yes.", TRUE, "Well.", "Yes.");
  assert_reasoning ("A tag like </think> ends it.", FALSE, NULL, NULL);
}

static void
test_marks (void)
{
  g_assert_true (kvasir_reasoning_is_mark ("[THINK]"));
  g_assert_true (kvasir_reasoning_is_mark ("<|channel>"));
  g_assert_true (kvasir_reasoning_is_mark ("<|end|>"));
  g_assert_false (kvasir_reasoning_is_mark ("<|im_end|>"));
  g_assert_false (kvasir_reasoning_is_mark (""));
}

/* ---- conversations */

static GPtrArray *
parse (const char *text, GError **error)
{
  GPtrArray *messages = g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_message_free);

  g_assert_cmpint (kvasir_messages_parse (text, 7, messages, error), ==, messages->len > 0);
  return messages;
}

static void
test_messages (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) messages =
      parse ("[{\"role\":\"developer\",\"content\":\"Be brief.\"},"
             "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"What\"},"
             "{\"type\":\"image\"},{\"type\":\"text\",\"text\":\"is it?\"}]},"
             "{\"role\":\"assistant\",\"reasoning_content\":\"Look.\",\"tool_calls\":[{\"type\":"
             "\"function\",\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\": 1}\"}}]},"
             "{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"A cat.\"}]",
             &error);
  const KvasirMessage *message;

  g_assert_no_error (error);
  g_assert_cmpuint (messages->len, ==, 4);
  message = messages->pdata[0];
  g_assert_cmpint (message->role, ==, KVASIR_ROLE_SYSTEM);
  g_assert_cmpuint (message->id, ==, 7);
  message = messages->pdata[1];
  g_assert_cmpstr (message->content, ==, "What\nis it?");
  g_assert_nonnull (strstr (message->json, "{\"type\":\"image\"}"));
  message = messages->pdata[2];
  g_assert_cmpstr (message->content, ==, "");
  g_assert_nonnull (strstr (message->json, "\"arguments\":{\"at\":1}"));
  message = messages->pdata[3];
  g_assert_cmpint (message->role, ==, KVASIR_ROLE_USER);
  g_assert_cmpuint (message->id, ==, 10);
}

static const struct
{
  const char *text;
  const char *message;
} wrong_messages[] = {
  { "", "messages, line 1, column 0: JSON expected, found: " },
  { "[{\"role\":\"user\",\n \"content\": x}]", "messages, line 2, column " },
  { "{}", "messages: a list that is not empty expected, an object found" },
  { "[]", "messages: a list that is not empty expected, an empty one found" },
  { "[3]", "messages[0]: an object expected, a whole number found" },
  { "[{\"content\":\"a\"}]",
    "messages[0].role: system, developer, user, assistant or tool expected, nothing found" },
  { "[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"model\",\"content\":\"a\"}]",
    "messages[1].role: system, developer, user, assistant or tool expected, \"model\" found" },
  { "[{\"role\":\"user\"}]",
    "messages[0].content: a text or a list of parts expected, nothing found" },
  { "[{\"role\":\"user\",\"content\":true}]",
    "messages[0].content: a text or a list of parts expected, true found" },
  { "[{\"role\":\"user\",\"content\":[\"a\"]}]",
    "messages[0].content[0]: an object with a type expected, a text found" },
  { "[{\"role\":\"user\",\"content\":[{\"text\":\"a\"}]}]",
    "messages[0].content[0].type: a text expected, nothing found" },
  { "[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]",
    "messages[0].content[0].text: a text expected, nothing found" },
  { "[{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_content\":[]}]",
    "messages[0].reasoning_content: a text expected, a list found" },
  { "[{\"role\":\"assistant\",\"tool_calls\":{}}]",
    "messages[0].tool_calls: a list expected, an object found" },
  { "[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":{}}]}]",
    "messages[0].tool_calls[0].function.name: a text expected, nothing found" },
  { "[{\"role\":\"assistant\",\"tool_calls\":[null]}]",
    "messages[0].tool_calls[0]: an object expected, null found" },
  { "[{\"role\":\"assistant\",\"tool_calls\":[{\"function\":3}]}]",
    "messages[0].tool_calls[0].function: an object expected, a whole number found" },
  { "[{\"role\":\"assistant\",\"tool_calls\":[{\"name\":\"a\",\"arguments\":[1]}]}]",
    "messages[0].tool_calls[0].arguments: an object, or a text that spells one expected, a list "
    "found" },
  { "[{\"role\":\"0123456789012345678901234567890123456789ABC\",\"content\":\"a\"}]",
    "messages[0].role: system, developer, user, assistant or tool expected, "
    "\"0123456789012345678901234567890123456789…\" found" },
};

static void
test_wrong_messages (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrong_messages); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GPtrArray) messages = parse (wrong_messages[i].text, &error);

      g_assert_cmpuint (messages->len, ==, 0);
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
      g_test_message ("%s", error->message);
      g_assert_true (g_str_has_prefix (error->message, wrong_messages[i].message));
    }
}

static void
assert_wrong_tools (const char *text, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *tools = kvasir_tools_parse (text, &error);

  g_assert_null (tools);
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_true (g_str_has_prefix (error->message, message));
}

static void
test_tools (void)
{
  g_autofree char *tools =
      kvasir_tools_parse (" [ {\"type\": \"search\"}, {\"name\": \"a\"},"
                          " {\"type\": \"function\", \"function\": {\"name\": \"b\"}} ]",
                          NULL);

  g_assert_cmpstr (tools, ==,
                   "[{\"type\":\"search\"},{\"name\":\"a\"},"
                   "{\"type\":\"function\",\"function\":{\"name\":\"b\"}}]");
  assert_wrong_tools ("[{}]", "tools[0].name: a text expected, nothing found");
  assert_wrong_tools ("[{\"type\":3}]", "tools[0].type: a text expected, a whole number found");
  assert_wrong_tools ("[{\"name\":\"a\"},{\"type\":\"function\",\"function\":{\"name\":null}}]",
                      "tools[1].function.name: a text expected, null found");
  assert_wrong_tools ("[{\"type\":\"function\",\"function\":3}]",
                      "tools[0].function: an object expected, a whole number found");
  assert_wrong_tools ("[{\"name\":\"a\"}, 1]",
                      "tools[1]: an object expected, a whole number found");
  assert_wrong_tools ("\"a\"", "tools, line 1, column ");
  assert_wrong_tools ("{\"a\":[]}", "tools: a list that is not empty expected, an object found");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (templates); i++)
    {
      g_autofree char *path = g_strdup_printf ("/engine/session/thinking/%s", templates[i].name);
      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_choices);
    }
  g_test_add_func ("/engine/session/thinking/variables", test_variables);
  g_test_add_func ("/engine/session/thinking/names", test_names);
  g_test_add_func ("/engine/session/reasoning/fences", test_fences);
  g_test_add_func ("/engine/session/reasoning/opened-by-the-prompt", test_opened_by_the_prompt);
  g_test_add_func ("/engine/session/reasoning/marks", test_marks);
  g_test_add_func ("/engine/session/messages-json/messages", test_messages);
  g_test_add_func ("/engine/session/messages-json/wrong-messages", test_wrong_messages);
  g_test_add_func ("/engine/session/messages-json/tools", test_tools);
  return g_test_run ();
}
