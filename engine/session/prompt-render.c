#include "engine/session/prompt-render.h"

#include <string.h>

#include "engine/error.h"
#include "engine/session/reasoning.h"

const char kvasir_prompt_chatml[] =
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/* Between texts that become one message. */
#define JOINT "\n\n"

const char *
kvasir_prompt_get_role_name (KvasirRole role)
{
  static const char *const names[] = { "system", "user", "assistant" };

  return names[role];
}

static json_t *
make_special (const KvasirVocab *vocab, gint32 id)
{
  gsize len;
  const char *text;

  if (id < 0)
    return json_string ("");
  text = kvasir_vocab_get_text (vocab, id, &len);
  return json_stringn_nocheck (text, len);
}

static void
append_message (json_t *messages, KvasirRole role, const char *content)
{
  json_t *object = json_object ();

  json_object_set_new (object, "role", json_string (kvasir_prompt_get_role_name (role)));
  json_object_set_new (object, "content", json_string_nocheck (content));
  json_array_append_new (messages, object);
}

/* FALSE: the template looks for it in no member. */
static gboolean
append_members (json_t *messages,
                const KvasirTemplate *template_,
                const char *content,
                const KvasirReasoning *reasoning)
{
  static const char *const members[] = { "reasoning_content", ".thinking" };
  gboolean is_known = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    {
      const char *name = members[i] + (members[i][0] == '.' ? 1 : 0);
      json_t *message;

      if (!kvasir_template_mentions (template_, members[i]))
        continue;
      if (!is_known)
        append_message (messages, KVASIR_ROLE_ASSISTANT, content + reasoning->answer);
      is_known = TRUE;
      message = json_array_get (messages, json_array_size (messages) - 1);
      json_object_set_new (message, name,
                           json_stringn_nocheck (content + reasoning->start, reasoning->len));
    }
  return is_known;
}

/* A template that takes the reasoning out of the text itself finds its end by the text it knows. An
 * answer that was stopped has none, and that of another model may have another. NULL: the answer
 * has what the template looks for, or that looks for nothing. */
static GString *
fence_anew (const KvasirTemplate *template_, const char *content, const KvasirReasoning *reasoning)
{
  const char *open, *close;
  const char *first_open = NULL, *first_close = NULL;

  for (guint i = 0; (open = kvasir_reasoning_get_fence (i, &close)) != NULL; i++)
    {
      if (!kvasir_template_mentions (template_, close))
        continue;
      if (strstr (content, close) != NULL)
        return NULL;
      if (first_open == NULL)
        {
          first_open = open;
          first_close = close;
        }
    }
  if (first_open == NULL)
    return NULL;
  GString *fenced = g_string_new (first_open);
  g_string_append_c (fenced, '\n');
  g_string_append_len (fenced, content + reasoning->start, (gssize) reasoning->len);
  g_string_append_printf (fenced, "\n%s\n\n%s", first_close, content + reasoning->answer);
  return fenced;
}

/* What a model thought goes where the template looks for it; one that looks nowhere takes the
 * answer as it was written. @opened: the prompt began the reasoning. */
static void
append_answer (json_t *messages,
               const KvasirTemplate *template_,
               const char *content,
               gboolean opened)
{
  KvasirReasoning reasoning;
  g_autoptr (GString) fenced = NULL;

  if (kvasir_reasoning_find (content, opened, &reasoning))
    {
      if (append_members (messages, template_, content, &reasoning))
        return;
      fenced = fence_anew (template_, content, &reasoning);
    }
  append_message (messages, KVASIR_ROLE_ASSISTANT, fenced != NULL ? fenced->str : content);
}

static json_t *
make_messages (const KvasirRequest *request, const KvasirTemplate *template_, GArray *numbers)
{
  json_t *messages = json_array ();

  for (guint i = 0; i < request->messages->len; i++)
    {
      const KvasirMessage *message = g_ptr_array_index (request->messages, i);

      if (message->json != NULL)
        json_array_append_new (messages, json_loads (message->json, 0, NULL));
      else if (message->role == KVASIR_ROLE_ASSISTANT)
        append_answer (messages, template_, message->content, message->reasons);
      else
        append_message (messages, message->role, message->content);
      g_array_append_val (numbers, i);
    }
  return messages;
}

/* System texts count as a person's. A joined message is the last one of its texts: the words that
 * were written last are what an answer is to. */
static json_t *
make_folded_messages (const KvasirRequest *request,
                      const KvasirTemplate *template_,
                      GArray *numbers)
{
  json_t *messages = json_array ();
  g_autoptr (GString) joined = g_string_new (NULL);
  gboolean opened = FALSE;

  for (guint i = 0; i < request->messages->len; i++)
    {
      const KvasirMessage *message = g_ptr_array_index (request->messages, i);
      const KvasirMessage *next =
          i + 1 < request->messages->len ? g_ptr_array_index (request->messages, i + 1) : NULL;
      gboolean is_answer = message->role == KVASIR_ROLE_ASSISTANT;

      if (joined->len > 0)
        g_string_append (joined, JOINT);
      else
        opened = message->reasons;
      g_string_append (joined, message->content);
      if (next != NULL && (next->role == KVASIR_ROLE_ASSISTANT) == is_answer)
        continue;
      if (is_answer)
        append_answer (messages, template_, joined->str, opened);
      else
        append_message (messages, KVASIR_ROLE_USER, joined->str);
      g_array_append_val (numbers, i);
      g_string_truncate (joined, 0);
    }
  return messages;
}

static gboolean
render (KvasirPromptText *self,
        const KvasirVocab *vocab,
        const KvasirTemplate *template_,
        const KvasirRequest *request,
        GError **error)
{
  const KvasirTemplateOptions options = { .now = request->date };
  json_t *vars = json_object ();

  g_array_set_size (self->numbers, 0);
  json_object_set_new (vars, "messages",
                       self->form == KVASIR_PROMPT_FOLDED
                           ? make_folded_messages (request, template_, self->numbers)
                           : make_messages (request, template_, self->numbers));
  json_object_set_new (vars, "add_generation_prompt", json_true ());
  json_object_set_new (vars, "bos_token", make_special (vocab, kvasir_vocab_get_bos (vocab)));
  json_object_set_new (vars, "eos_token", make_special (vocab, kvasir_vocab_get_eos (vocab)));
  if (request->tools != NULL)
    json_object_set_new (vars, "tools", json_loads (request->tools, 0, NULL));
  kvasir_thinking_set_variables (request->thinking, template_, vars);
  self->rendered = kvasir_template_render (template_, vars, &options, error);
  json_decref (vars);
  return self->rendered != NULL;
}

/* A model that is not told of its tools would answer as if there were none. */
static gboolean
check_tools (const KvasirTemplate *template_, const KvasirRequest *request, GError **error)
{
  if (request->tools == NULL || kvasir_template_reads (template_, "tools"))
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
               "chat template: a template that reads \"tools\" expected, this one does not");
  return FALSE;
}

static gboolean
render_simpler (KvasirPromptText *self,
                const KvasirVocab *vocab,
                const KvasirTemplate *template_,
                const KvasirRequest *request)
{
  g_autoptr (KvasirTemplate) chatml = NULL;

  self->form = KVASIR_PROMPT_FOLDED;
  if (render (self, vocab, template_, request, NULL))
    return TRUE;
  self->form = KVASIR_PROMPT_CHATML;
  chatml = kvasir_template_new (kvasir_prompt_chatml, -1, NULL);
  return chatml != NULL && render (self, vocab, chatml, request, NULL);
}

gboolean
kvasir_prompt_render (KvasirPromptText *self,
                      const KvasirVocab *vocab,
                      const KvasirTemplate *template_,
                      const KvasirRequest *request,
                      GError **error)
{
  g_autoptr (GError) refusal = NULL;

  *self = (KvasirPromptText){ .form = KVASIR_PROMPT_AS_IS };
  self->numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  if ((check_tools (template_, request, &refusal) &&
       render (self, vocab, template_, request, &refusal)) ||
      (request->adapt && render_simpler (self, vocab, template_, request)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&refusal));
  kvasir_prompt_text_clear (self);
  return FALSE;
}

void
kvasir_prompt_text_clear (KvasirPromptText *self)
{
  g_clear_pointer (&self->rendered, kvasir_rendered_free);
  g_clear_pointer (&self->numbers, g_array_unref);
}
