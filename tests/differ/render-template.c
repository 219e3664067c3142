/* Renders what it is given, for a comparison with another implementation. Lines of the input are
 * JSON objects, {"vars"} for all lines behind it or {"template", "now"}, with "measure" for how
 * stable its prompts are; lines of the output are {"text"} or {"error"}. */
#include "engine/template/stability.h"

#include <stdio.h>
#include <stdlib.h>

static json_t *
render (const json_t *line, const json_t *vars)
{
  const json_t *source = json_object_get (line, "template");
  const KvasirTemplateOptions options = {
    .now = json_string_value (json_object_get (line, "now")),
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirRendered) rendered = NULL;
  g_autoptr (KvasirTemplate) parsed = kvasir_template_new (
      json_string_value (source), (gssize) json_string_length (source), &error);

  if (parsed != NULL && json_object_get (line, "measure") != NULL)
    return json_pack ("{s:s}", "text",
                      kvasir_prefix_stability_get_name (
                          kvasir_template_measure_stability (parsed, "<s>", "</s>")));
  if (parsed != NULL)
    rendered = kvasir_template_render (parsed, vars, &options, &error);
  if (rendered == NULL)
    return json_pack ("{s:s}", "error", error->message);
  return json_pack ("{s:s%}", "text", rendered->text->str, rendered->text->len);
}

static void
print (json_t *answer)
{
  /* A text with a byte that is no UTF-8 can't be packed. */
  g_autofree char *text = answer != NULL ? json_dumps (answer, JSON_ENSURE_ASCII)
                                         : g_strdup ("{\"error\":\"no UTF-8\"}");

  puts (text);
  json_decref (answer);
}

int
main (void)
{
  char *text = NULL;
  size_t room = 0;
  ssize_t len;
  json_t *vars = NULL;

  while ((len = getline (&text, &room, stdin)) > 0)
    {
      json_t *line = json_loadb (text, (size_t) len, JSON_ALLOW_NUL, NULL);
      json_t *own = json_object_get (line, "vars");

      if (own != NULL)
        {
          json_decref (vars);
          vars = json_incref (own);
        }
      else
        print (render (line, vars));
      json_decref (line);
    }
  json_decref (vars);
  free (text);
  return 0;
}
