#include "engine/session/reasoning.h"

#include <string.h>

/* How models fence their reasoning, as the texts of their tokens. */
typedef struct
{
  const char *open;
  const char *close;
  const char *lead; /* (nullable): what opens it in a prompt, where that is another text */
  const char *tail; /* (nullable): what of the close may stand before it and is no reasoning */
} Fence;

static const Fence fences[] = {
  { "<think>", "</think>", NULL, NULL },
  { "<thinking>", "</thinking>", NULL, NULL },
  { "<thought>", "</thought>", NULL, NULL },
  { "<reasoning>", "</reasoning>", NULL, NULL },
  { "<seed:think>", "</seed:think>", NULL, NULL },
  { "[THINK]", "[/THINK]", NULL, NULL },
  { "<|START_THINKING|>", "<|END_THINKING|>", NULL, NULL },
  { "<|channel>thought", "<channel|>", NULL, NULL },
  { "<|channel|>analysis<|message|>", "<|channel|>final<|message|>", "<|start|>assistant",
    "<|end|><|start|>assistant" },
};

static gsize
skip_space (const char *text, gsize at)
{
  while (g_ascii_isspace (text[at]))
    at++;
  return at;
}

/* An answer may speak of a fence; one that closes stands at an end of a line, or opens the text. */
static gboolean
is_end_of_line (const char *text, gsize at, gsize len)
{
  return skip_space (text, 0) == at || text[at - 1] == '\n' || text[at + len] == '\n' ||
         text[at + len] == '\0';
}

static void
set_bounds (KvasirReasoning *self, const char *text, gsize from, gsize to, const char *tail)
{
  self->start = MIN (skip_space (text, from), to);
  if (tail != NULL && to - self->start >= strlen (tail) &&
      memcmp (text + to - strlen (tail), tail, strlen (tail)) == 0)
    to -= strlen (tail);
  while (to > self->start && g_ascii_isspace (text[to - 1]))
    to--;
  self->len = to - self->start;
}

/* @begins: the reasoning begins with the text, unless its first words are the fence. */
static gboolean
find_fenced (const Fence *fence, const char *text, gboolean begins, KvasirReasoning *reasoning)
{
  gsize from = skip_space (text, 0);
  const gboolean has_open = g_str_has_prefix (text + from, fence->open);
  const char *close;
  gsize at;

  from = has_open ? from + strlen (fence->open) : 0;
  close = strstr (text + from, fence->close);
  at = close != NULL ? (gsize) (close - text) : strlen (text);
  if (!has_open && !begins && (close == NULL || !is_end_of_line (text, at, strlen (fence->close))))
    return FALSE;
  reasoning->is_open = close == NULL;
  reasoning->answer = close != NULL ? skip_space (text, at + strlen (fence->close)) : at;
  set_bounds (reasoning, text, from, at, close != NULL ? fence->tail : NULL);
  return TRUE;
}

gboolean
kvasir_reasoning_find (const char *text, gboolean opened, KvasirReasoning *reasoning)
{
  g_return_val_if_fail (text != NULL && reasoning != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (fences); i++)
    if (find_fenced (&fences[i], text, FALSE, reasoning))
      return TRUE;
  for (guint i = 0; opened && i < G_N_ELEMENTS (fences); i++)
    if (strstr (text, fences[i].close) != NULL)
      return find_fenced (&fences[i], text, TRUE, reasoning);
  /* Which of them will end it does not matter as long as none is there. */
  return opened && find_fenced (&fences[0], text, TRUE, reasoning);
}

const char *
kvasir_reasoning_get_fence (guint number, const char **close)
{
  g_return_val_if_fail (close != NULL, NULL);

  if (number >= G_N_ELEMENTS (fences))
    return NULL;
  *close = fences[number].close;
  return fences[number].open;
}

static const char *
find_last (const GString *text, const char *mark)
{
  return g_strrstr_len (text->str, (gssize) text->len, mark);
}

const char *
kvasir_reasoning_find_awaited (const GString *lead)
{
  for (guint i = 0; i < G_N_ELEMENTS (fences); i++)
    {
      const char *mark = fences[i].lead != NULL ? fences[i].lead : fences[i].open;
      const char *open = find_last (lead, mark);
      const char *close = find_last (lead, fences[i].close);
      if (open != NULL && (close == NULL || close < open))
        return fences[i].close;
    }
  return NULL;
}

gboolean
kvasir_reasoning_is_mark (const char *token)
{
  g_return_val_if_fail (token != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (fences) && *token != '\0'; i++)
    if (strstr (fences[i].open, token) != NULL || strstr (fences[i].close, token) != NULL ||
        (fences[i].tail != NULL && strstr (fences[i].tail, token) != NULL))
      return TRUE;
  return FALSE;
}
