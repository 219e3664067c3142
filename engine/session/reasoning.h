/* engine/session/reasoning.h - where an answer holds what the model thought before it
 *
 * Models fence their reasoning with texts of their own. Some templates write the first fence into
 * the prompt; the answer begins inside the reasoning then, and only the second one is in it.
 * Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Bytes of a text. */
typedef struct
{
  gsize start; /* the reasoning, without white space around it */
  gsize len;   /* 0: fenced, but empty */
  gsize answer;
  gboolean is_open; /* the reasoning has not ended: there is no answer yet */
} KvasirReasoning;

/* @opened: the prompt has opened it. FALSE where the text holds none. */
gboolean kvasir_reasoning_find (const char *text, gboolean opened, KvasirReasoning *reasoning);

/* The text that ends the reasoning that the prompt's end @lead leaves open, NULL: it leaves none
 * open. */
const char *kvasir_reasoning_find_awaited (const GString *lead);

/* The texts around reasoning, one pair for each @number from 0 on: the one that opens it, and
 * @close: (out): the one that ends it. NULL: there are no more. */
const char *kvasir_reasoning_get_fence (guint number, const char **close);

/* Whether a control token of this text is a fence, or a part of one, and is to be seen. */
gboolean kvasir_reasoning_is_mark (const char *token);

G_END_DECLS
