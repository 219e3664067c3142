/* engine/session/prompt.h - from a path of messages to tokens
 *
 * The chat template is rendered with the origin of every byte. A message whose ids were kept when
 * they were generated, and whose text came through the template unchanged, gives these ids again:
 * a text read again may be split into other tokens than it was written in, and then nothing of it
 * would be found in the cells. Everything else is tokenized, control tokens only where the template
 * wrote them.
 *
 * Owner:  whoever built it. Thread: engine thread.
 */
#pragma once

#include "engine/session/prompt-render.h"

G_BEGIN_DECLS

typedef struct
{
  GArray *tokens;  /* (owned) of gint32 */
  GArray *runs;    /* (owned) of KvasirMessageRun, seq 0, covering all tokens */
  guint n_of_last; /* tokens of the last message alone */
  KvasirPromptForm form;
} KvasirPrompt;

/* @template_: the model's, or another. Errors: KVASIR_ENGINE_ERROR_TEMPLATE, _UNSUPPORTED. */
gboolean kvasir_prompt_build (KvasirPrompt *self,
                              const KvasirVocab *vocab,
                              const KvasirTemplate *template_,
                              const KvasirRequest *request,
                              GError **error);
void kvasir_prompt_clear (KvasirPrompt *self);

G_END_DECLS
