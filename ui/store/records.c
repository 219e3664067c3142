#include "ui/store/records.h"

KvasirChatRecord *
kvasir_chat_record_copy (const KvasirChatRecord *self)
{
  KvasirChatRecord *copy = g_memdup2 (self, sizeof *self);

  copy->title = g_strdup (self->title);
  copy->system_prompt = g_strdup (self->system_prompt);
  copy->draft = g_strdup (self->draft);
  copy->sampling = g_strdup (self->sampling);
  return copy;
}

void
kvasir_chat_record_free (KvasirChatRecord *self)
{
  g_free (self->title);
  g_free (self->system_prompt);
  g_free (self->draft);
  g_free (self->sampling);
  g_free (self);
}

KvasirMessageRecord *
kvasir_message_record_copy (const KvasirMessageRecord *self)
{
  KvasirMessageRecord *copy = g_memdup2 (self, sizeof *self);

  copy->content = g_strdup (self->content);
  copy->tokens = g_memdup2 (self->tokens, self->n_tokens * sizeof *self->tokens);
  copy->model_title = g_strdup (self->model_title);
  return copy;
}

void
kvasir_message_record_free (KvasirMessageRecord *self)
{
  g_free (self->content);
  g_free (self->tokens);
  g_free (self->model_title);
  g_free (self);
}

void
kvasir_search_hit_free (KvasirSearchHit *self)
{
  g_free (self->snippet);
  g_free (self);
}
