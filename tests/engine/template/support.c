#include "support.h"

#include "engine/error.h"

#include <string.h>

char *
template_data (const char *name)
{
  const char *root = g_getenv ("KVASIR_TEST_DATA");
  g_assert_nonnull (root);
  g_autofree char *path = g_build_filename (root, "templates", name, NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  return text;
}

KvasirRendered *
template_render (const char *source,
                 const char *vars,
                 const KvasirTemplateOptions *options,
                 GError **error)
{
  json_error_t json_error;
  json_t *json = json_loads (vars, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &json_error);
  if (json == NULL)
    g_error ("%s: %s", json_error.text, vars);
  g_autoptr (KvasirTemplate) self = kvasir_template_new (source, -1, error);
  KvasirRendered *rendered =
      self != NULL ? kvasir_template_render (self, json, options, error) : NULL;
  json_decref (json);
  if (rendered != NULL)
    template_check_spans (rendered);
  return rendered;
}

void
template_check_spans (const KvasirRendered *rendered)
{
  gsize at = 0;
  for (guint i = 0; i < rendered->spans->len; i++)
    {
      const KvasirTextSpan *span = &g_array_index (rendered->spans, KvasirTextSpan, i);
      g_assert_cmpuint (span->offset, ==, at);
      g_assert_cmpuint (span->len, >, 0);
      if (i > 0)
        g_assert_cmpuint (span->origin, !=, span[-1].origin);
      at += span->len;
    }
  g_assert_cmpuint (at, ==, rendered->text->len);
}

void
template_each_case (const char *name, TemplateCaseFunc func, gpointer user_data)
{
  g_autofree char *text = template_data (name);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && lines[i][0] != '\0'; i++)
    {
      json_error_t error;
      json_t *line = json_loads (lines[i], JSON_ALLOW_NUL, &error);
      if (line == NULL)
        g_error ("%s:%u: %s", name, i + 1, error.text);
      func (line, user_data);
      json_decref (line);
    }
}

json_t *
template_case_vars (const json_t *line)
{
  json_t *vars = json_object ();
  json_object_set (vars, "messages", json_object_get (line, "messages"));
  json_object_set (vars, "add_generation_prompt", json_object_get (line, "add_generation_prompt"));
  json_object_update (vars, json_object_get (line, "vars"));
  json_object_del (vars, "now");
  return vars;
}

void
template_check_case (const char *source, const json_t *line)
{
  g_autoptr (GError) error = NULL;
  json_t *vars = template_case_vars (line);
  KvasirTemplateOptions options = {
    .now = json_string_value (json_object_get (json_object_get (line, "vars"), "now")),
  };
  const char *expected = json_string_value (json_object_get (line, "expected"));
  const char *message = json_string_value (json_object_get (line, "error"));
  g_test_message ("%s: %s", json_string_value (json_object_get (line, "template_file")),
                  json_string_value (json_object_get (line, "case")));
  g_autoptr (KvasirTemplate) self = kvasir_template_new (source, -1, &error);
  g_autoptr (KvasirRendered) rendered =
      self != NULL ? kvasir_template_render (self, vars, &options, &error) : NULL;
  json_decref (vars);
  if (expected == NULL)
    {
      g_assert_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE);
      g_assert_null (rendered);
      g_assert_nonnull (strstr (error->message, message != NULL ? message : ""));
      return;
    }
  g_assert_no_error (error);
  template_check_spans (rendered);
  g_assert_cmpstr (rendered->text->str, ==, expected);
}
