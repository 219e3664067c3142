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

/* A way that comes to @step with the token @id, which begins at @start. */
static inline void
offer (Step *step, guint32 start, guint32 id, double score)
{
  if (score > step->score)
    *step = (Step){ score, id, start };
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
  const KvasirTrieCell *cells = vocab->trie.cells;
  const float *scores = vocab->scores;
  const double score = steps[start].score;
  guint32 next = MIN (start + get_char_len ((guint8) text[start]), len);
  guint32 cell = KVASIR_TRIE_ROOT;
  gboolean is_known = FALSE;

  for (guint32 i = start; i < len;)
    {
      guint32 child = cells[cell].first + (guint8) text[i++];
      guint32 id = cells[child].value;

      if (cells[child].parent != cell)
        break;
      cell = child;
      if (id == KVASIR_TRIE_NO_VALUE)
        continue;
      is_known = is_known || i == next;
      offer (&steps[i], start, id, score + scores[id]);
    }
  if (!is_known)
    offer (&steps[next], start, KVASIR_VOCAB_NO_ID, score + vocab->unknown_score);
  return next;
}

/* Appends the tokens of the best way, whose steps lead from the end to the start. Unknown
 * neighbours count as one, also where @is_unknown says that the token before was. */
static void
append_best (KvasirEncoder *encoder, guint32 len, gboolean *is_unknown)
{
  const Step *steps = encoder->steps;
  guint n_before = encoder->ids->len;
  gboolean was_unknown = *is_unknown;
  gint32 *ids;
  guint n;

  *is_unknown = steps[len].id == KVASIR_VOCAB_NO_ID;
  for (guint32 at = len; at > 0; at = steps[at].start)
    {
      guint32 start = steps[at].start;
      gint32 id = (gint32) steps[at].id;

      if (steps[at].id == KVASIR_VOCAB_NO_ID)
        id = (start > 0 ? steps[start].id == KVASIR_VOCAB_NO_ID : was_unknown)
                 ? -1
                 : encoder->vocab->unk;
      if (id >= 0)
        g_array_append_val (encoder->ids, id);
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

/* Room for the steps up to @n, of which those from @n_old on are new. */
static gboolean
reserve_steps (KvasirEncoder *encoder, gsize n_old, gsize n)
{
  if (n > encoder->n_steps_alloc)
    {
      gsize n_alloc = MAX (n, 2 * encoder->n_steps_alloc);
      gpointer grown = g_try_realloc_n (encoder->steps, n_alloc, sizeof (Step));

      if (!grown)
        return FALSE;
      encoder->steps = grown;
      encoder->n_steps_alloc = n_alloc;
    }
  for (gsize i = n_old; i < n; i++)
    encoder->steps[i] = (Step){ -DBL_MAX, KVASIR_VOCAB_NO_ID, 0 };
  return TRUE;
}

/* So much text is looked at before a place is taken that no token reaches across: what lies in
 * front of it is settled. Steps of all the text would take sixteen times its memory. */
#define CHUNK_BYTES 4096
/* How many steps are got ready at a time. */
#define READY_BYTES 1024

/* Finds the best way from the start of the text, whose score so far is @score, to the end of a
 * chunk. Returns: how long that is, or 0 where there is no memory */
static guint32
find_best (KvasirEncoder *encoder, const char *text, guint32 len, double score)
{
  const KvasirVocab *vocab = encoder->vocab;
  gsize n_ready = 1;
  guint32 i = 0;

  if (!reserve_steps (encoder, 0, 1))
    return 0;
  encoder->steps[0].score = score;
  do
    {
      gsize reach = MIN ((gsize) len, i + MAX (vocab->longest_bytes, 4)) + 1;

      if (reach > n_ready)
        {
          reach = MIN ((gsize) len + 1, reach + READY_BYTES);
          if (!reserve_steps (encoder, n_ready, reach))
            return 0;
          n_ready = reach;
        }
      i = extend (vocab, text, len, encoder->steps, i);
    }
  while (i < len && (i < CHUNK_BYTES || kvasir_joints_is_joint (vocab->joints, text, len, i)));
  return i;
}

gboolean
kvasir_ugm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const GString *normal = encoder->scratch;
  gboolean is_unknown = FALSE;
  double score = 0;
  guint32 n;

  if (!normalize (encoder->vocab, text, len, encoder->scratch) || normal->len >= G_MAXUINT32)
    return FALSE;
  for (guint32 i = 0; i < normal->len; i += n)
    {
      n = find_best (encoder, normal->str + i, (guint32) normal->len - i, score);
      if (n == 0)
        return FALSE;
      append_best (encoder, n, &is_unknown);
      score = encoder->steps[n].score;
    }
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
         kvasir_vocab_build_joints (self, error) &&
         kvasir_vocab_build_trie (self, NOT_IN_TEXTS, error);
}
