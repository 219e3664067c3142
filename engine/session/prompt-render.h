/* engine/session/prompt-render.h - from a path of messages to the text of a prompt
 *
 * A template may refuse a chat: some know no system message, or want users and models to take
 * turns. A request that asks for it (KvasirRequest.adapt) is then tried in simpler forms.
 *
 * Owner:  whoever renders. Thread: engine thread.
 */
#pragma once

#include "engine/session/worker.h"

G_BEGIN_DECLS

typedef enum
{
  KVASIR_PROMPT_AS_IS,
  KVASIR_PROMPT_FOLDED, /* the system text before the first message, neighbours of a role joined */
  KVASIR_PROMPT_CHATML  /* not the model's template */
} KvasirPromptForm;

/* What stands in front of the model. Origins of @rendered count the messages of this form. */
typedef struct
{
  KvasirPromptForm form;
  KvasirRendered *rendered; /* (owned) */
  GArray *numbers;          /* (owned) of guint: of each message, which one of the request it is */
} KvasirPromptText;

/* Used where a model brings no template. */
extern const char kvasir_prompt_chatml[];

/* @template_: the model's, or another. Errors: KVASIR_ENGINE_ERROR_TEMPLATE, with the message of
 * the form as it is. */
gboolean kvasir_prompt_render (KvasirPromptText *self,
                               const KvasirVocab *vocab,
                               const KvasirTemplate *template_,
                               const KvasirRequest *request,
                               GError **error);
void kvasir_prompt_text_clear (KvasirPromptText *self);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirPromptText, kvasir_prompt_text_clear)

/* "system", "user", "assistant" */
const char *kvasir_prompt_get_role_name (KvasirRole role);

G_END_DECLS
