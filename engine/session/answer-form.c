#include "engine/session/answer-form.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "engine/grammar/matcher.h"
#include "engine/grammar/schema.h"
#include "engine/session/reasoning.h"

/* Tokens of white space between the end of reasoning and the answer. */
#define MAX_GAP 4
/* Longer than every mark. */
#define MAX_TAIL 256

struct _KvasirAnswerForm
{
  const KvasirVocab *vocab;    /* (unowned) */
  const KvasirTokenTrie *trie; /* (unowned) */
  KvasirGrammar *grammar;      /* (owned) */
  KvasirMatcher *matcher;      /* (owned) */
  KvasirTokenFilter filter;
  const char *awaited; /* (nullable): the form begins behind this text */
  GString *tail;       /* (owned): the last of the answer while something is awaited */
  GArray *blanks;      /* (owned) of gint32: tokens of white space; filled where they may follow */
  GArray *kept;        /* (owned) of float: their logits, one each */
  guint gap;           /* so many of them may still follow before the form begins */
};

/* ---- asking */

static gboolean
is_blank (const KvasirAnswerForm *self, gint32 id)
{
  guint32 n;
  const guint8 *bytes = kvasir_token_trie_get_bytes (self->trie, id, &n);
  guint32 n_blank = 0;
  while (n_blank < n && g_ascii_isspace (bytes[n_blank]))
    n_blank++;
  return n > 0 && n_blank == n;
}

static gboolean
allows (gpointer user, gint32 id)
{
  KvasirAnswerForm *self = user;
  if (self->awaited != NULL)
    return !kvasir_vocab_is_eog (self->vocab, id);
  return kvasir_matcher_allows (self->matcher, id) || (self->gap > 0 && is_blank (self, id));
}

static void
mask_ends (const KvasirAnswerForm *self, float *logits, guint n)
{
  for (guint i = 0; i < n; i++)
    if (kvasir_vocab_is_eog (self->vocab, (gint32) i))
      logits[i] = -INFINITY;
}

static void
mask (gpointer user, float *logits, guint n)
{
  KvasirAnswerForm *self = user;
  const gint32 *blanks = (const gint32 *) (gpointer) self->blanks->data;
  float *kept = (float *) (gpointer) self->kept->data;
  const guint n_blanks = self->gap > 0 ? self->blanks->len : 0;
  if (self->awaited != NULL)
    {
      mask_ends (self, logits, n);
      return;
    }
  for (guint i = 0; i < n_blanks; i++)
    kept[i] = logits[blanks[i]];
  kvasir_matcher_mask (self->matcher, logits, n);
  for (guint i = 0; i < n_blanks; i++)
    logits[blanks[i]] = kept[i];
}

/* ---- following */

/* What of the last token stands behind the mark is of the answer already. */
static void
wake (KvasirAnswerForm *self, const char *rest)
{
  self->awaited = NULL;
  self->gap = MAX_GAP;
  while (g_ascii_isspace (*rest))
    rest++;
  if (*rest == '\0')
    return;
  self->gap = 0;
  kvasir_matcher_accept_bytes (self->matcher, rest, strlen (rest));
}

static void
await (KvasirAnswerForm *self, gint32 id)
{
  const gsize before = MIN (self->tail->len, MAX_TAIL);
  g_string_erase (self->tail, 0, (gssize) (self->tail->len - before));
  kvasir_vocab_append_token (self->vocab, id, TRUE, self->tail);
  const char *found =
      memmem (self->tail->str, self->tail->len, self->awaited, strlen (self->awaited));
  if (found != NULL)
    wake (self, found + strlen (self->awaited));
}

static void
accept (gpointer user, gint32 id)
{
  KvasirAnswerForm *self = user;
  if (self->awaited != NULL)
    await (self, id);
  else if (self->gap > 0 && is_blank (self, id) && !kvasir_matcher_allows (self->matcher, id))
    self->gap--;
  else
    {
      self->gap = 0;
      kvasir_matcher_accept (self->matcher, id);
    }
}

/* ---- beginning */

void
kvasir_answer_form_begin (KvasirAnswerForm *self, const GString *lead)
{
  g_return_if_fail (self != NULL);

  self->awaited = kvasir_reasoning_find_awaited (lead);
  if (self->awaited == NULL)
    return;
  for (gint32 id = 0; id < (gint32) kvasir_vocab_get_n_tokens (self->vocab); id++)
    if (is_blank (self, id))
      g_array_append_val (self->blanks, id);
  g_array_set_size (self->kept, self->blanks->len);
}

/* ---- making */

static gboolean
is_there (const char *text)
{
  return text != NULL && *text != '\0';
}

/* @texts ask for one. */
static KvasirGrammar *
make_grammar (const KvasirSamplingTexts *texts, const KvasirVocab *vocab, GError **error)
{
  if (is_there (texts->grammar) && is_there (texts->schema))
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "An answer has either a grammar or a schema; both are there");
      return NULL;
    }
  g_autofree char *made =
      is_there (texts->schema) ? kvasir_schema_to_grammar (texts->schema, error) : NULL;
  if (is_there (texts->schema) && made == NULL)
    return NULL;
  return kvasir_grammar_new (made != NULL ? made : texts->grammar, vocab, error);
}

gboolean
kvasir_answer_form_make (KvasirAnswerForm **form,
                         const KvasirSamplingTexts *texts,
                         const KvasirVocab *vocab,
                         KvasirTokenTrie **trie,
                         GError **error)
{
  *form = NULL;
  if (!is_there (texts->grammar) && !is_there (texts->schema))
    return TRUE;
  KvasirGrammar *grammar = make_grammar (texts, vocab, error);
  if (grammar == NULL)
    return FALSE;
  if (*trie == NULL)
    *trie = kvasir_token_trie_new (vocab);
  KvasirAnswerForm *self = g_new0 (KvasirAnswerForm, 1);
  self->vocab = vocab;
  self->trie = *trie;
  self->grammar = grammar;
  self->matcher = kvasir_matcher_new (grammar, *trie);
  self->filter = (KvasirTokenFilter){ allows, accept, mask, self };
  self->tail = g_string_new (NULL);
  self->blanks = g_array_new (FALSE, FALSE, sizeof (gint32));
  self->kept = g_array_new (FALSE, FALSE, sizeof (float));
  *form = self;
  return TRUE;
}

void
kvasir_answer_form_free (KvasirAnswerForm *self)
{
  if (self == NULL)
    return;
  kvasir_matcher_free (self->matcher);
  kvasir_grammar_free (self->grammar);
  g_string_free (self->tail, TRUE);
  g_array_unref (self->blanks);
  g_array_unref (self->kept);
  g_free (self);
}

const KvasirTokenFilter *
kvasir_answer_form_get_filter (const KvasirAnswerForm *self)
{
  return &self->filter;
}

void
kvasir_answer_form_explain (const KvasirAnswerForm *self, GError **error)
{
  kvasir_matcher_explain (self->matcher, error);
}
