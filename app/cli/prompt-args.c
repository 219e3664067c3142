#include "app/cli/prompt-args.h"

#include "app/cli/cli.h"
#include "engine/session/messages-json.h"

void
kvasir_prompt_args_clear (KvasirPromptArgs *self)
{
  g_clear_pointer (&self->messages_file, g_free);
  g_clear_pointer (&self->tools_file, g_free);
  g_clear_pointer (&self->thinking_name, g_free);
  g_clear_pointer (&self->messages, g_ptr_array_unref);
  g_clear_pointer (&self->tools, g_free);
}

/* What is wrong with a file is wrong with the command line. Takes @reason. */
static gboolean
refuse_file (const char *option, const char *path, GError *reason, GError **error)
{
  g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE, "%s %s: %s", option, path,
               reason->message);
  g_error_free (reason);
  return FALSE;
}

static gboolean
read_messages (KvasirPromptArgs *self, guint64 first_id, GError **error)
{
  GError *reason = NULL;
  g_autofree char *text = NULL;

  self->messages = g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_message_free);
  if (self->messages_file == NULL)
    return TRUE;
  text = kvasir_cli_read_text (self->messages_file, &reason);
  if (text != NULL && kvasir_messages_parse (text, first_id, self->messages, &reason))
    return TRUE;
  return refuse_file ("--messages", self->messages_file, reason, error);
}

static gboolean
read_tools (KvasirPromptArgs *self, GError **error)
{
  GError *reason = NULL;
  g_autofree char *text = NULL;

  if (self->tools_file == NULL)
    return TRUE;
  text = kvasir_cli_read_text (self->tools_file, &reason);
  if (text != NULL)
    self->tools = kvasir_tools_parse (text, &reason);
  return self->tools != NULL || refuse_file ("--tools", self->tools_file, reason, error);
}

gboolean
kvasir_prompt_args_settle (KvasirPromptArgs *self, guint64 first_id, GError **error)
{
  if (!read_messages (self, first_id, error) || !read_tools (self, error))
    return FALSE;
  if (self->thinking_name == NULL || kvasir_thinking_parse (&self->thinking, self->thinking_name))
    return TRUE;
  g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
               "--thinking: on, off, low, medium or high expected, %s found", self->thinking_name);
  return FALSE;
}

gboolean
kvasir_prompt_args_check (const KvasirPromptArgs *self, const KvasirModel *model, GError **error)
{
  const guint choices = kvasir_thinking_get_choices (kvasir_model_get_template (model, NULL));
  g_autoptr (GString) known = g_string_new (NULL);

  if (self->thinking == KVASIR_THINKING_USUAL || (choices & 1u << self->thinking) != 0)
    return TRUE;
  for (guint i = KVASIR_THINKING_OFF; i < KVASIR_N_THINKINGS; i++)
    if ((choices & 1u << i) != 0)
      g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "",
                              kvasir_thinking_get_name (i));
  if (choices == 0)
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL,
                 "--thinking %s: the model's chat template knows no such switch",
                 self->thinking_name);
  else
    g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL,
                 "--thinking: %s expected by the model's chat template, %s found", known->str,
                 self->thinking_name);
  return FALSE;
}

void
kvasir_prompt_args_apply (const KvasirPromptArgs *self, KvasirRequest *request)
{
  request->thinking = self->thinking;
  request->tools = g_strdup (self->tools);
  request->adapt = self->adapt;
}
