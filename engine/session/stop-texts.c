#include "engine/session/stop-texts.h"

#include <string.h>

struct _KvasirStopTexts
{
  char **texts;  /* (owned) none empty */
  GString *held; /* (owned) what has not come out yet */
  gsize n_out;   /* bytes that have */
  GArray *ends;  /* (owned) of gsize: bytes in and out after each token */
};

KvasirStopTexts *
kvasir_stop_texts_new (char **texts)
{
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();

  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    if (texts[i][0] != '\0')
      g_ptr_array_add (kept, g_strdup (texts[i]));
  if (kept->len == 0)
    return NULL;
  g_ptr_array_add (kept, NULL);

  KvasirStopTexts *self = g_new0 (KvasirStopTexts, 1);
  self->texts = (char **) g_ptr_array_steal (kept, NULL);
  self->held = g_string_new (NULL);
  self->ends = g_array_new (FALSE, FALSE, sizeof (gsize));
  return self;
}

void
kvasir_stop_texts_free (KvasirStopTexts *self)
{
  if (self == NULL)
    return;
  g_strfreev (self->texts);
  g_string_free (self->held, TRUE);
  g_array_unref (self->ends);
  g_free (self);
}

/* Where in what is held the first stop text begins; -1: none is complete. */
static gssize
find_complete (const KvasirStopTexts *self)
{
  const char *first = NULL;
  for (guint i = 0; self->texts[i] != NULL; i++)
    {
      const char *at = strstr (self->held->str, self->texts[i]);
      if (at != NULL && (first == NULL || at < first))
        first = at;
    }
  return first != NULL ? first - self->held->str : -1;
}

/* Where in what is held the first beginning of a stop text stands; its length: nowhere. */
static gsize
find_begun (const KvasirStopTexts *self)
{
  for (gsize at = 0; at < self->held->len; at++)
    for (guint i = 0; self->texts[i] != NULL; i++)
      if (g_str_has_prefix (self->texts[i], self->held->str + at))
        return at;
  return self->held->len;
}

static void
let_out (KvasirStopTexts *self, gsize n, GString *out)
{
  g_string_append_len (out, self->held->str, (gssize) n);
  g_string_erase (self->held, 0, (gssize) n);
  self->n_out += n;
}

gboolean
kvasir_stop_texts_push (KvasirStopTexts *self, const char *text, GString *out)
{
  g_return_val_if_fail (self != NULL && text != NULL && out != NULL, FALSE);

  g_string_append (self->held, text);
  gsize end = self->n_out + self->held->len;
  g_array_append_val (self->ends, end);
  gssize complete = find_complete (self);
  let_out (self, complete >= 0 ? (gsize) complete : find_begun (self), out);
  return complete >= 0;
}

void
kvasir_stop_texts_flush (KvasirStopTexts *self, GString *out)
{
  g_return_if_fail (self != NULL && out != NULL);

  let_out (self, self->held->len, out);
}

guint
kvasir_stop_texts_count_kept (const KvasirStopTexts *self)
{
  g_return_val_if_fail (self != NULL, 0);

  /* The first of those that end there: later ones hold the first bytes of a character that is part
   * of the stop text. */
  for (guint i = 0; i < self->ends->len; i++)
    if (g_array_index (self->ends, gsize, i) == self->n_out)
      return self->n_out > 0 ? i + 1 : 0;
  return 0;
}
