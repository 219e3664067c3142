#include "engine/error.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

static void
encoder_clear (KvasirEncoder *encoder)
{
  kvasir_merger_clear (&encoder->merger);
  kvasir_piece_cache_clear (&encoder->pieces);
  g_free (encoder->chars);
  g_free (encoder->steps);
  if (encoder->scratch)
    g_string_free (encoder->scratch, TRUE);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (KvasirEncoder, encoder_clear)

static gboolean
encode_raw (KvasirEncoder *encoder, const char *text, gsize len)
{
  if (len == 0)
    return TRUE;
  switch (encoder->vocab->kind)
    {
    case KVASIR_VOCAB_SPM:
      return kvasir_spm_encode (encoder, text, len);
    case KVASIR_VOCAB_WPM:
      return kvasir_wpm_encode (encoder, text, len);
    case KVASIR_VOCAB_UGM:
      return kvasir_ugm_encode (encoder, text, len);
    case KVASIR_VOCAB_RWKV:
      return kvasir_rwkv_encode (encoder, text, len);
    default:
      return kvasir_bpe_encode (encoder, text, len);
    }
}

/* The white space that a special token eats, of the text between two of them. */
static void
strip (const KvasirVocab *self, guint32 before, guint32 after, const char *text, gsize range[2])
{
  if (before != KVASIR_VOCAB_NO_ID && (self->flags[before] & KVASIR_TOKEN_STRIPS_RIGHT))
    while (range[0] < range[1] && g_ascii_isspace (text[range[0]]))
      range[0]++;
  if (after != KVASIR_VOCAB_NO_ID && (self->flags[after] & KVASIR_TOKEN_STRIPS_LEFT))
    while (range[1] > range[0] && g_ascii_isspace (text[range[1] - 1]))
      range[1]--;
}

/* Special tokens and the texts between them in turn. */
static gboolean
encode_matches (KvasirEncoder *encoder, const char *text, gsize len, const GArray *matches)
{
  const KvasirVocab *self = encoder->vocab;
  guint32 before = KVASIR_VOCAB_NO_ID;
  gsize end = 0;

  for (guint i = 0; i <= matches->len; i++)
    {
      KvasirSpecialMatch match = { (guint32) len, KVASIR_VOCAB_NO_ID };
      gsize range[2] = { end, len };
      gint32 id;

      if (i < matches->len)
        match = g_array_index (matches, KvasirSpecialMatch, i);
      range[1] = match.offset;
      strip (self, before, match.id, text, range);
      if (!encode_raw (encoder, text + range[0], range[1] - range[0]))
        return FALSE;
      if (match.id == KVASIR_VOCAB_NO_ID)
        break;
      id = (gint32) match.id;
      g_array_append_val (encoder->ids, id);
      before = match.id;
      end = match.offset + kvasir_text_table_get_len (&self->texts, match.id);
    }
  return TRUE;
}

static gboolean
check_text (const KvasirVocab *self, gsize len, GError **error)
{
  if (!kvasir_vocab_can_tokenize (self))
    {
      g_set_error (
          error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
          "text cannot be split into tokens: expected a tokenizer of kind SPM, WPM, UGM or "
          "RWKV, or BPE with a known pre-tokenizer, found %s",
          self->description);
      return FALSE;
    }
  if (len > KVASIR_VOCAB_MAX_TEXT_BYTES)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "text is too long to be split into tokens: expected at most %d bytes, found "
                   "%" G_GSIZE_FORMAT,
                   KVASIR_VOCAB_MAX_TEXT_BYTES, len);
      return FALSE;
    }
  return TRUE;
}

/* Which special tokens count in a text. */
typedef struct
{
  KvasirSpecialFilter filter;
  gpointer data;
} Rule;

static gboolean
encode (const KvasirVocab *self,
        const char *text,
        gsize len,
        const Rule *rule,
        GArray *ids,
        GError **error)
{
  g_auto (KvasirEncoder) encoder = { .vocab = self, .ids = ids };
  g_autoptr (GArray) matches = NULL;

  if (!check_text (self, len, error))
    return FALSE;
  encoder.scratch = g_string_new (NULL);
  kvasir_piece_cache_init (&encoder.pieces, len);
  matches = kvasir_vocab_match_special (self, text, len, rule->filter, rule->data);
  return encode_matches (&encoder, text, len, matches) || kvasir_vocab_no_memory (error);
}

typedef struct
{
  const KvasirVocab *vocab;
  gboolean parse_special;
} PlainFilter;

static gboolean
filter_plain (gpointer data, guint32 id, gsize offset, gsize len)
{
  const PlainFilter *filter = data;

  return filter->parse_special || (filter->vocab->flags[id] & KVASIR_TOKEN_USER_DEFINED);
}

gboolean
kvasir_vocab_tokenize (const KvasirVocab *self,
                       const char *text,
                       gssize len,
                       gboolean add_special,
                       gboolean parse_special,
                       GArray *ids,
                       GError **error)
{
  PlainFilter filter = { self, parse_special };
  Rule rule = { filter_plain, &filter };
  guint n_before;

  g_return_val_if_fail (text != NULL && ids != NULL, FALSE);

  n_before = ids->len;
  if (add_special && self->add_bos && self->bos >= 0)
    g_array_append_val (ids, self->bos);
  if (!encode (self, text, len < 0 ? strlen (text) : (gsize) len, &rule, ids, error))
    {
      g_array_set_size (ids, n_before);
      return FALSE;
    }
  if (add_special && self->last >= 0)
    g_array_append_val (ids, self->last);
  return TRUE;
}

typedef struct
{
  const KvasirVocab *vocab;
  const KvasirTextSpan *spans;
  guint n_spans;
} SpanFilter;

/* The last span that begins at or before @offset. */
static guint
find_span (const SpanFilter *filter, gsize offset)
{
  guint low = 0;
  guint high = filter->n_spans;

  while (high - low > 1)
    {
      guint middle = (low + high) / 2;

      if (filter->spans[middle].offset <= offset)
        low = middle;
      else
        high = middle;
    }
  return low;
}

/* A control token may run over a border between two pieces of the template, but every byte of it
 * must come from there. */
static gboolean
filter_spans (gpointer data, guint32 id, gsize offset, gsize len)
{
  const SpanFilter *filter = data;
  guint16 flags = filter->vocab->flags[id];
  gsize end = offset + len;

  if ((flags & KVASIR_TOKEN_USER_DEFINED) && !(flags & KVASIR_TOKEN_GUARDED))
    return TRUE;
  for (guint i = find_span (filter, offset); i < filter->n_spans && offset < end; i++)
    {
      const KvasirTextSpan *span = &filter->spans[i];

      if (span->len == 0)
        continue;
      if (span->origin != 0 || offset < span->offset || offset >= span->offset + span->len)
        return FALSE;
      offset = span->offset + span->len;
    }
  return offset >= end;
}

/* Where the last span ends; spans come in order and do not overlap. */
static gboolean
measure_spans (const KvasirTextSpan *spans, guint n_spans, gsize *len)
{
  *len = 0;
  for (guint i = 0; i < n_spans; i++)
    {
      if (spans[i].offset < *len)
        return FALSE;
      *len = spans[i].offset + spans[i].len;
    }
  return TRUE;
}

gboolean
kvasir_vocab_tokenize_spans (const KvasirVocab *self,
                             const char *text,
                             const KvasirTextSpan *spans,
                             guint n_spans,
                             GArray *ids,
                             GError **error)
{
  SpanFilter filter = { self, spans, n_spans };
  Rule rule = { filter_spans, &filter };
  guint n_before;
  gsize len = 0;

  g_return_val_if_fail (text != NULL && ids != NULL, FALSE);
  g_return_val_if_fail (measure_spans (spans, n_spans, &len), FALSE);

  n_before = ids->len;
  if (encode (self, text, len, &rule, ids, error))
    return TRUE;
  g_array_set_size (ids, n_before);
  return FALSE;
}
