#include "engine/session/worker.h"

KvasirMessage *
kvasir_message_new (guint64 id, KvasirRole role, const char *content)
{
  g_return_val_if_fail (content != NULL, NULL);

  KvasirMessage *self = g_new0 (KvasirMessage, 1);
  self->id = id;
  self->role = role;
  self->content = g_strdup (content);
  return self;
}

KvasirMessage *
kvasir_message_copy (const KvasirMessage *self)
{
  KvasirMessage *copy = kvasir_message_new (self->id, self->role, self->content);
  copy->json = g_strdup (self->json);
  copy->tokens = g_memdup2 (self->tokens, self->n_tokens * sizeof *self->tokens);
  copy->n_tokens = self->n_tokens;
  copy->reasons = self->reasons;
  return copy;
}

void
kvasir_message_free (KvasirMessage *self)
{
  g_free (self->content);
  g_free (self->json);
  g_free (self->tokens);
  g_free (self);
}

KvasirRequest *
kvasir_request_new (guint64 chat_id, guint64 answer_id)
{
  g_return_val_if_fail (chat_id != 0, NULL);

  KvasirRequest *self = g_new0 (KvasirRequest, 1);
  self->chat_id = chat_id;
  self->answer_id = answer_id;
  self->messages = g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_message_free);
  kvasir_sampler_params_init (&self->sampling);
  kvasir_sampling_texts_init (&self->texts);
  return self;
}

void
kvasir_request_free (KvasirRequest *self)
{
  if (self == NULL)
    return;
  g_ptr_array_unref (self->messages);
  kvasir_sampling_texts_clear (&self->texts);
  g_free (self->tools);
  g_free (self->date);
  g_free (self);
}

void
kvasir_notice_free (KvasirNotice *self)
{
  if (self == NULL)
    return;
  g_free (self->text);
  g_clear_pointer (&self->model, kvasir_model_unref);
  if (self->fit != NULL)
    kvasir_fit_clear (self->fit);
  g_free (self->fit);
  g_clear_error (&self->error);
  g_free (self);
}
