/* Grammars of JSON schemas, beside what the PyPI package jsonschema finds
 * (tests/tools/make-schema-goldens.py). */
#include "engine/grammar/schema.h"

#include <jansson.h>
#include <string.h>

#include "engine/error.h"
#include "tests/engine/grammar/support.h"

static KvasirGrammar *
make_from_schema (const char *schema)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = kvasir_schema_to_grammar (schema, &error);
  g_assert_no_error (error);
  return make_grammar (text);
}

static void
check_texts (const KvasirGrammar *grammar,
             const char *schema,
             const json_t *texts,
             gboolean expected)
{
  for (gsize i = 0; i < json_array_size (texts); i++)
    {
      const char *text = json_string_value (json_array_get (texts, i));
      if (matches (grammar, text, -1) != expected)
        g_test_message ("%s: %s", schema, text);
      g_assert_cmpint (matches (grammar, text, -1), ==, expected);
    }
}

static void
test_as_jsonschema (void)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("KVASIR_TEST_DATA"), "grammar", "schema.jsonl", NULL);
  g_autofree char *all = NULL;
  g_autoptr (GError) error = NULL;
  g_file_get_contents (path, &all, NULL, &error);
  g_assert_no_error (error);
  g_auto (GStrv) lines = g_strsplit (all, "\n", -1);
  guint n = 0;
  for (; lines[n] != NULL && *lines[n] != '\0'; n++)
    {
      json_t *line = json_loads (lines[n], 0, NULL);
      char *schema = json_dumps (json_object_get (line, "schema"), JSON_ENCODE_ANY);
      g_autoptr (KvasirGrammar) grammar = make_from_schema (schema);
      check_texts (grammar, schema, json_object_get (line, "yes"), TRUE);
      check_texts (grammar, schema, json_object_get (line, "no"), FALSE);
      free (schema);
      json_decref (line);
    }
  g_assert_cmpuint (n, ==, 33);
}

/* ---- refused */

static void
assert_schema_refused (const char *schema, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (kvasir_schema_to_grammar (schema, &error));
  g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_unsupported_is_named_with_its_place (void)
{
  static const struct
  {
    const char *schema;
    const char *message;
  } cases[] = {
    { "{\"a\":1,\"a\":2}", "Schema, line 1, column 10: it is no JSON: duplicate object key near "
                           "'\"a\"'" },
    { "12", "Schema, at the top: a schema must be an object, true or false" },
    { "false", "Schema, at the top: nothing satisfies it" },
    { "{\"type\":\"int\"}", "Schema, at the top: 'type' must be one of null, boolean, integer, "
                            "number, string, array and object, or a list of them" },
    { "{\"properties\":{\"a/b\":{\"items\":{\"not\":{}}}}}",
      "Schema, at /properties/a~1b/items: 'not' is not supported" },
    { "{\"anyOf\":[{},{\"multipleOf\":3}]}", "Schema, at /anyOf/1: 'multipleOf' is not supported" },
    { "{\"type\":\"array\",\"uniqueItems\":true}",
      "Schema, at the top: 'uniqueItems' is not supported" },
    { "{\"type\":\"string\",\"format\":\"color\"}",
      "Schema, at the top: the format 'color' is not supported" },
    { "{\"type\":\"string\",\"pattern\":\"^a\",\"maxLength\":3}",
      "Schema, at the top: 'pattern' together with 'maxLength' is not supported" },
    { "{\"type\":\"string\",\"pattern\":\"^(?=a)b\"}",
      "Schema, at the top: the pattern '^(?=a)b': this kind of group is not supported at character "
      "3" },
    { "{\"type\":\"string\",\"pattern\":\"(a)\\\\1\"}",
      "Schema, at the top: the pattern '(a)\\1': this escape is not supported at character 5" },
    { "{\"type\":\"string\",\"pattern\":\"a{3,2}\"}",
      "Schema, at the top: the pattern 'a{3,2}': the bounds run backwards at character 2" },
    { "{\"type\":\"string\",\"pattern\":\"a(b\"}",
      "Schema, at the top: the pattern 'a(b': a group does not end at character 4" },
    { "{\"type\":\"string\",\"minLength\":-1}",
      "Schema, at the top: 'minLength' must be a whole number of at least 0" },
    { "{\"type\":\"number\",\"minimum\":\"1\"}", "Schema, at the top: 'minimum' must be a number" },
    { "{\"$ref\":\"#/x\"}", "Schema, at the top: there is nothing at '#/x'" },
    { "{\"$ref\":\"#\"}", "Schema, at the top: the reference leads back to itself" },
    { "{\"$ref\":\"http://example.com/a\"}",
      "Schema, at the top: the reference 'http://example.com/a' is not supported, only those to a "
      "place in the same schema ('#/...')" },
    { "{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"number\"}]}",
      "Schema, at the top: the alternatives 0 and 1 of 'oneOf' may both hold, which is not "
      "supported; 'anyOf' allows it" },
    { "{\"allOf\":[{\"pattern\":\"a\"},{\"pattern\":\"b\"}]}",
      "Schema, at /allOf: 'pattern' is there twice with different meanings, which is not "
      "supported" },
    { "{\"properties\":{\"a\":{}},\"minProperties\":1}",
      "Schema, at the top: 'minProperties' and 'maxProperties' are supported only where all named "
      "properties are required" },
    { "{\"enum\":[\"a\"],\"pattern\":\"b\"}",
      "Schema, at the top: 'enum' or 'const' together with 'pattern' is not supported" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    assert_schema_refused (cases[i].schema, cases[i].message);
}

/* ---- hostile schemas */

static void
test_deep_schemas_end (void)
{
  g_autoptr (GString) deep = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 1000; i++)
    g_string_append (deep, "{\"items\":");
  g_string_append (deep, "{}");
  for (guint i = 0; i < 1000; i++)
    g_string_append_c (deep, '}');
  g_assert_null (kvasir_schema_to_grammar (deep->str, &error));
  g_assert_true (strstr (error->message, "nested more than 64 deep") != NULL);
}

static void
test_products_end (void)
{
  g_autoptr (GString) many = g_string_new ("{\"allOf\":[");
  for (guint i = 0; i < 40; i++)
    g_string_append_printf (many, "%s{\"anyOf\":[{\"minimum\":%u},{\"maximum\":%u}]}",
                            i > 0 ? "," : "", i, i + 100);
  g_string_append (many, "]}");
  assert_schema_refused (many->str,
                         "Schema, at /allOf: its alternatives multiply to more than 256");
}

/* A schema that refers to itself twice, again and again. */
static void
test_self_reference_ends (void)
{
  g_autoptr (GError) error = NULL;
  const char *schema = "{\"allOf\":[{\"$ref\":\"#\"},{\"$ref\":\"#\"}]}";
  g_assert_null (kvasir_schema_to_grammar (schema, &error));
  g_assert_true (strstr (error->message, "one contains itself") != NULL);
}

/* What Python's list of names makes: a long enumeration and many optional properties. */
static void
test_large_schemas_are_quick (void)
{
  g_autoptr (GString) large = g_string_new ("{\"type\":\"object\",\"properties\":{");
  for (guint i = 0; i < 2000; i++)
    g_string_append_printf (large, "%s\"property %u\":{\"enum\":[\"a%u\",\"b%u\"]}",
                            i > 0 ? "," : "", i, i, i);
  g_string_append (large, "}}");
  g_autoptr (KvasirGrammar) grammar = make_from_schema (large->str);
  g_assert_true (matches (grammar, "{\"property 3\":\"a3\",\"property 1999\":\"b1999\"}", -1));
  g_assert_false (matches (grammar, "{\"property 1999\":\"a1999\",\"property 3\":\"b3\"}", -1));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/grammar/schema/as-jsonschema", test_as_jsonschema);
  g_test_add_func ("/engine/grammar/schema/unsupported-is-named-with-its-place",
                   test_unsupported_is_named_with_its_place);
  g_test_add_func ("/engine/grammar/schema/deep-schemas-end", test_deep_schemas_end);
  g_test_add_func ("/engine/grammar/schema/products-end", test_products_end);
  g_test_add_func ("/engine/grammar/schema/self-reference-ends", test_self_reference_ends);
  g_test_add_func ("/engine/grammar/schema/large-schemas-are-quick", test_large_schemas_are_quick);
  return g_test_run ();
}
