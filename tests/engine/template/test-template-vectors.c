/* Small templates with what Jinja2 3.1.6 makes of them (made by make-vectors.py). */
#include "support.h"

#include <string.h>

typedef struct
{
  json_t *vars; /* (owned) (nullable): of the lines that follow */
  guint n;
} Vectors;

static void
check_line (const json_t *line, gpointer user_data)
{
  Vectors *self = user_data;
  json_t *vars = json_object_get (line, "vars");
  if (vars != NULL)
    {
      json_decref (self->vars);
      self->vars = json_incref (vars);
      return;
    }
  const json_t *source = json_object_get (line, "template");
  const json_t *expected = json_object_get (line, "expected");
  KvasirTemplateOptions options = { .now = "2026-03-07T14:05:09" };
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirTemplate) self_template = kvasir_template_new (
      json_string_value (source), (gssize) json_string_length (source), &error);
  g_autoptr (KvasirRendered) rendered =
      self_template != NULL ? kvasir_template_render (self_template, self->vars, &options, &error)
                            : NULL;
  self->n++;
  if (json_is_null (expected) ? rendered != NULL : rendered == NULL)
    g_error ("%s: expected %s, found %s", json_string_value (source),
             json_is_null (expected) ? "an error" : json_string_value (expected),
             error != NULL ? error->message : rendered->text->str);
  if (rendered == NULL)
    return;
  template_check_spans (rendered);
  g_assert_cmpmem (rendered->text->str, rendered->text->len, json_string_value (expected),
                   json_string_length (expected));
}

static void
test_vectors (void)
{
  Vectors self = { 0 };
  template_each_case ("vectors.jsonl", check_line, &self);
  json_decref (self.vars);
  g_assert_cmpuint (self.n, >, 1000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/engine/template/renders-as-jinja2", test_vectors);
  return g_test_run ();
}
