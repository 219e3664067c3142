#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <float.h>
#include <string.h>

static const char space_mark[] = "\xe2\x96\x81"; /* U+2581 */
static const char replacement_character[] = "\xef\xbf\xbd";

#define NOT_IN_TEXTS (KVASIR_TOKEN_OUT_OF_REACH | KVASIR_TOKEN_BYTE)
/* How much worse than the worst token an unknown character is. */
#define UNKNOWN_PENALTY 10.0

/* ---- normalising -------------------------------------------------------------------------- */

typedef struct
{
  const KvasirVocab *vocab;
  GString *out;
  gboolean in_word;
  gboolean has_prefix;
} Normalizer;

static void
add_normal (Normalizer *self, const char *text, gsize len)
{
  for (gsize i = 0; i < len; i++)
    {
      gboolean joins = self->vocab->joins_spaces;

      if (text[i] == ' ')
        {
          self->in_word = FALSE;
          if (!joins)
            g_string_append (self->out, space_mark);
          continue;
        }
      if (!self->in_word && (joins || (self->vocab->add_space_prefix && !self->has_prefix)))
        {
          g_string_append (self->out, space_mark);
          self->has_prefix = TRUE;
        }
      self->in_word = TRUE;
      g_string_append_c (self->out, text[i]);
    }
}

/* What the table has no entry for stays; a byte that is no character is replaced. FALSE where a
 * table makes the text grow out of all proportion. */
static gboolean
normalize (const KvasirVocab *vocab, const char *text, gsize len, GString *out)
{
  Normalizer self = { vocab, out, FALSE, FALSE };

  g_string_truncate (out, 0);
  for (gsize i = 0; i < len;)
    {
      const char *replacement = NULL;
      gsize n_used = kvasir_chars_map_match (&vocab->chars_map, text + i, len - i, &replacement);
      gunichar c = 0;
      int n_bytes;

      if (n_used > 0)
        {
          add_normal (&self, replacement, strlen (replacement));
          i += n_used;
          if (out->len > KVASIR_VOCAB_MAX_TEXT_BYTES)
            return FALSE;
          continue;
        }
      n_bytes = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);
      if (n_bytes > 0)
        add_normal (&self, text + i, (gsize) n_bytes);
      else
        add_normal (&self, replacement_character, sizeof replacement_character - 1);
      i += (gsize) MAX (n_bytes, 1);
    }
  return TRUE;
}

/* ---- the best of all ways to cut ---------------------------------------------------------- */

/* The best way to cut the text up to a place: its last token, where that begins, and the sum of
 * the scores. */
typedef struct _KvasirUnigramStep
{
  double score;
  guint32 id;
  guint32 start;
} Step;

/* A token that starts at the place of @from and ends at @to. */
static void
offer (Step *steps, guint32 from, guint32 to, guint32 id, double score)
{
  score += steps[from].score;
  if (score > steps[to].score)
    steps[to] = (Step){ score, id, from };
}

/* How long the first byte says that the character is, which replacements from a file need not keep
 * to. */
static guint32
get_char_len (guint8 first)
{
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Offers every token that the text has at @start, and for a character that is none the unknown
 * token. Returns: where the next character starts */
static guint32
extend (const KvasirVocab *vocab, const char *text, guint32 len, Step *steps, guint32 start)
{
  const KvasirTrie *trie = &vocab->trie;
  guint32 next = MIN (start + get_char_len ((guint8) text[start]), len);
  guint32 cell = KVASIR_TRIE_ROOT;
  gboolean is_known = FALSE;

  for (guint32 i = start; i < len;)
    {
      guint32 id;

      cell = kvasir_trie_step (trie, cell, (guint8) text[i++]);
      if (cell == KVASIR_TRIE_ROOT)
        break;
      id = trie->cells[cell].value;
      if (id == KVASIR_TRIE_NO_VALUE)
        continue;
      is_known = is_known || i == next;
      offer (steps, start, i, id, vocab->scores[id]);
    }
  if (!is_known)
    offer (steps, start, next, KVASIR_VOCAB_NO_ID, vocab->unknown_score);
  return next;
}

/* Appends the tokens of the best way, whose steps lead from the end to the start. Unknown
 * neighbours count as one. */
static void
append_best (KvasirEncoder *encoder, const Step *steps, guint32 len)
{
  guint n_before = encoder->ids->len;
  guint32 last = KVASIR_VOCAB_NO_ID - 1;
  gint32 *ids;
  guint n;

  for (guint32 at = len; at > 0; at = steps[at].start)
    {
      gint32 id = (gint32) steps[at].id;

      if (steps[at].id == KVASIR_VOCAB_NO_ID)
        id = last == KVASIR_VOCAB_NO_ID ? -1 : encoder->vocab->unk;
      if (id >= 0)
        g_array_append_val (encoder->ids, id);
      last = steps[at].id;
    }
  n = encoder->ids->len - n_before;
  ids = &g_array_index (encoder->ids, gint32, n_before);
  for (guint i = 0; i < n / 2; i++)
    {
      gint32 id = ids[i];

      ids[i] = ids[n - 1 - i];
      ids[n - 1 - i] = id;
    }
}

static gboolean
reserve_steps (KvasirEncoder *encoder, gsize n)
{
  if (n <= encoder->n_steps_alloc)
    return TRUE;
  g_free (encoder->steps);
  encoder->steps = g_try_new (Step, n);
  encoder->n_steps_alloc = encoder->steps ? n : 0;
  return encoder->steps != NULL;
}

gboolean
kvasir_ugm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const GString *normal = encoder->scratch;
  guint32 n;

  if (!normalize (encoder->vocab, text, len, encoder->scratch) || normal->len >= G_MAXUINT32 ||
      !reserve_steps (encoder, normal->len + 1))
    return FALSE;
  n = (guint32) normal->len;
  encoder->steps[0] = (Step){ 0.0, KVASIR_VOCAB_NO_ID, 0 };
  for (guint32 i = 1; i <= n; i++)
    encoder->steps[i] = (Step){ -DBL_MAX, KVASIR_VOCAB_NO_ID, 0 };
  for (guint32 i = 0; i < n;)
    i = extend (encoder->vocab, normal->str, n, encoder->steps, i);
  append_best (encoder, encoder->steps, n);
  return TRUE;
}

/* ---- loading ------------------------------------------------------------------------------ */

static gboolean
load_chars_map (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  static const char key[] = "tokenizer.ggml.precompiled_charsmap";
  KvasirGgufType type = KVASIR_GGUF_U8;
  guint64 n = 0;
  const char *problem;

  if (!kvasir_gguf_has_key (gguf, key))
    return TRUE;
  if (!kvasir_gguf_get_array (gguf, key, &type, &n) ||
      (type != KVASIR_GGUF_U8 && type != KVASIR_GGUF_I8))
    return kvasir_vocab_fail (gguf, error, "%s: expected an array of bytes, found another type",
                              key);
  problem = kvasir_chars_map_init (&self->chars_map, kvasir_gguf_get_array_data (gguf, key), n);
  return problem == NULL ||
         kvasir_vocab_fail (gguf, error, "%s: %" G_GUINT64_FORMAT " bytes, but %s", key, n,
                            problem);
}

/* User-defined tokens score 0, more than any other can. */
static gboolean
prepare_scores (KvasirVocab *self, GError **error)
{
  float lowest = FLT_MAX;

  if (!self->scores)
    self->scores = g_try_new0 (float, self->n_tokens);
  if (!self->scores)
    return kvasir_vocab_no_memory (error);
  for (guint32 i = 0; i < self->n_tokens; i++)
    if (self->flags[i] & KVASIR_TOKEN_USER_DEFINED)
      self->scores[i] = 0;
    else if (!(self->flags[i] & (NOT_IN_TEXTS | KVASIR_TOKEN_UNUSED)))
      lowest = MIN (lowest, self->scores[i]);
  self->unknown_score = lowest - UNKNOWN_PENALTY;
  return TRUE;
}

gboolean
kvasir_ugm_load (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.remove_extra_whitespaces", &self->joins_spaces);
  return load_chars_map (self, gguf, error) && prepare_scores (self, error) &&
         kvasir_vocab_build_trie (self, NOT_IN_TEXTS, error);
}
