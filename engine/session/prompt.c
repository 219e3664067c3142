#include "engine/session/prompt.h"

#include <string.h>

#include "engine/error.h"
#include "engine/session/seq-table.h"

/* What one call of kvasir_prompt_build() works with. */
typedef struct
{
  KvasirPrompt *prompt;
  const KvasirVocab *vocab;
  const KvasirRequest *request;
  const KvasirRendered *rendered;
  const GArray *numbers; /* of guint: of each rendered message, which one of the request it is */
  GString *piece;        /* (owned) bytes of one token */
} Builder;

static gboolean
is_text (const Builder *self, const KvasirTextSpan *span, const char *text)
{
  gsize len = strlen (text);
  return len == span->len && memcmp (self->rendered->text->str + span->offset, text, len) == 0;
}

/* The message that a piece of text belongs to, or NULL. The name of its role is the message's own,
 * too, but for people it is a part of the frame around it. */
static const KvasirMessage *
find_message (const Builder *self, const KvasirTextSpan *span)
{
  if (span->origin == 0 || span->origin > self->numbers->len)
    return NULL;
  guint number = g_array_index (self->numbers, guint, span->origin - 1);
  const KvasirMessage *message = g_ptr_array_index (self->request->messages, number);
  const char *role = kvasir_prompt_get_role_name (message->role);
  if (is_text (self, span, role) && strcmp (message->content, role) != 0)
    return NULL;
  return message;
}

/* The message that a span repeats word for word, if its ids are known. Templates that trim leave
 * less white space than was generated; the ids that were generated stay the truth. */
static const KvasirMessage *
find_kept (const Builder *self, const KvasirTextSpan *span)
{
  const KvasirMessage *message = find_message (self, span);
  if (message == NULL || message->tokens == NULL)
    return NULL;
  if (is_text (self, span, message->content))
    return message;
  g_autofree char *trimmed = g_strstrip (g_strdup (message->content));
  return *trimmed != '\0' && is_text (self, span, trimmed) ? message : NULL;
}

static void
append_run (Builder *self, const KvasirMessage *message, gint32 pos, gint32 n)
{
  KvasirMessageRun run = { .pos = pos, .n = n, .role = KVASIR_ROLE_TEMPLATE };
  if (message != NULL)
    {
      run.message_id = message->id;
      run.role = (guint8) message->role;
    }
  GArray *runs = self->prompt->runs;
  KvasirMessageRun *last =
      runs->len > 0 ? &g_array_index (runs, KvasirMessageRun, runs->len - 1) : NULL;
  if (last != NULL && last->message_id == run.message_id && last->role == run.role)
    last->n += n;
  else
    g_array_append_val (runs, run);
}

/* Which piece of the text each token from @first on starts in, by adding up their bytes. Tokenizers
 * that put a space in front make it one byte more than the text has. */
static void
append_runs (Builder *self, const KvasirTextSpan *spans, guint n_spans, guint first)
{
  const GArray *tokens = self->prompt->tokens;
  const char *text = self->rendered->text->str;
  gsize at = spans[0].offset;
  guint span = 0;
  for (guint i = first; i < tokens->len; i++)
    {
      while (span + 1 < n_spans && at >= spans[span].offset + spans[span].len)
        span++;
      append_run (self, find_message (self, &spans[span]), (gint32) i, 1);
      g_string_truncate (self->piece, 0);
      kvasir_vocab_append_token (self->vocab, g_array_index (tokens, gint32, i), TRUE, self->piece);
      at += self->piece->len;
      if (i == first && self->piece->len > 0 && self->piece->str[0] == ' ' &&
          text[spans[0].offset] != ' ')
        at--;
    }
}

/* Tokenizes neighbouring pieces as one text. */
static gboolean
append_text (Builder *self, const KvasirTextSpan *spans, guint n_spans, GError **error)
{
  if (n_spans == 0)
    return TRUE;
  guint first = self->prompt->tokens->len;
  g_autofree KvasirTextSpan *moved = g_memdup2 (spans, n_spans * sizeof *spans);
  for (guint i = 0; i < n_spans; i++)
    moved[i].offset -= spans[0].offset;
  if (!kvasir_vocab_tokenize_spans (self->vocab, self->rendered->text->str + spans[0].offset, moved,
                                    n_spans, self->prompt->tokens, error))
    return FALSE;
  append_runs (self, spans, n_spans, first);
  return TRUE;
}

static void
append_kept (Builder *self, const KvasirMessage *message)
{
  if (message->n_tokens == 0)
    return;
  append_run (self, message, (gint32) self->prompt->tokens->len, (gint32) message->n_tokens);
  g_array_append_vals (self->prompt->tokens, message->tokens, message->n_tokens);
}

static gboolean
append_all (Builder *self, GError **error)
{
  const KvasirTextSpan *spans = (const KvasirTextSpan *) (void *) self->rendered->spans->data;
  guint n_spans = self->rendered->spans->len;
  guint start = 0;
  for (guint i = 0; i < n_spans; i++)
    {
      const KvasirMessage *message = find_kept (self, &spans[i]);
      if (message == NULL)
        continue;
      if (!append_text (self, spans + start, i - start, error))
        return FALSE;
      append_kept (self, message);
      start = i + 1;
    }
  return append_text (self, spans + start, n_spans - start, error);
}

/* The model's own rule asks for a BOS in front; many templates write it themselves. */
static void
add_bos (Builder *self)
{
  KvasirPrompt *prompt = self->prompt;
  gint32 bos = kvasir_vocab_get_bos (self->vocab);
  if (bos < 0 || !kvasir_vocab_get_add_bos (self->vocab))
    return;
  if (prompt->tokens->len > 0 && g_array_index (prompt->tokens, gint32, 0) == bos)
    return;
  g_array_prepend_val (prompt->tokens, bos);
  KvasirMessageRun front = { .pos = 0, .n = 1, .role = KVASIR_ROLE_TEMPLATE };
  for (guint i = 0; i < prompt->runs->len; i++)
    g_array_index (prompt->runs, KvasirMessageRun, i).pos++;
  g_array_prepend_val (prompt->runs, front);
}

static guint
count_of_last (const KvasirPrompt *self, const KvasirRequest *request)
{
  const KvasirMessage *last = g_ptr_array_index (request->messages, request->messages->len - 1);
  guint n = 0;
  for (guint i = 0; i < self->runs->len; i++)
    {
      const KvasirMessageRun *run = &g_array_index (self->runs, KvasirMessageRun, i);
      if (run->role != KVASIR_ROLE_TEMPLATE && run->message_id == last->id)
        n += (guint) run->n;
    }
  return n;
}

/* Kept ids come from a file of chats, perhaps written with another model. */
static gboolean
check_kept (const KvasirVocab *vocab, const KvasirRequest *request, guint index, GError **error)
{
  const KvasirMessage *message = g_ptr_array_index (request->messages, index);
  guint n_tokens = kvasir_vocab_get_n_tokens (vocab);
  guint n = message->tokens != NULL ? message->n_tokens : 0;
  guint i = 0;
  while (i < n && message->tokens[i] >= 0 && (guint) message->tokens[i] < n_tokens)
    i++;
  if (i == n)
    return TRUE;
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Message %u was kept with token %d, but the model has only %u tokens", index + 1,
               message->tokens[i], n_tokens);
  return FALSE;
}

static gboolean
check_request (const KvasirVocab *vocab, const KvasirRequest *request, GError **error)
{
  if (!kvasir_vocab_can_tokenize (vocab))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
                   "The model's tokenizer, %s, is not supported, so text can't be read",
                   kvasir_vocab_get_description (vocab));
      return FALSE;
    }
  if (request->messages->len == 0)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "The request has no message; at least one is expected");
      return FALSE;
    }
  for (guint i = 0; i < request->messages->len; i++)
    if (!check_kept (vocab, request, i, error))
      return FALSE;
  return TRUE;
}

gboolean
kvasir_prompt_build (KvasirPrompt *self,
                     const KvasirVocab *vocab,
                     const KvasirTemplate *template_,
                     const KvasirRequest *request,
                     GError **error)
{
  *self = (KvasirPrompt){ NULL };
  if (!check_request (vocab, request, error))
    return FALSE;

  g_auto (KvasirPromptText) text = { KVASIR_PROMPT_AS_IS };
  if (!kvasir_prompt_render (&text, vocab, template_, request, error))
    return FALSE;

  self->form = text.form;
  self->tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  self->runs = g_array_new (FALSE, FALSE, sizeof (KvasirMessageRun));
  Builder builder = { self, vocab, request, text.rendered, text.numbers, g_string_new (NULL) };
  gboolean ok = append_all (&builder, error);
  if (ok)
    add_bos (&builder);
  g_string_free (builder.piece, TRUE);
  if (ok && self->tokens->len == 0)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_TEMPLATE,
                   "The chat template made an empty prompt of %u messages", request->messages->len);
      ok = FALSE;
    }
  if (ok)
    self->n_of_last = count_of_last (self, request);
  else
    kvasir_prompt_clear (self);
  return ok;
}

void
kvasir_prompt_clear (KvasirPrompt *self)
{
  g_clear_pointer (&self->tokens, g_array_unref);
  g_clear_pointer (&self->runs, g_array_unref);
}
