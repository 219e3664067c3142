#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

static const char word_mark[] = "\xe2\x96\x81"; /* U+2581, before the first piece of a word */

/* What becomes of a character. */
typedef enum
{
  DROPPED,
  SPACE,
  WORD_OF_ITS_OWN,
  PART_OF_WORD,
} Role;

static gboolean
is_punctuation (gunichar c, GUnicodeType type)
{
  switch (type)
    {
    case G_UNICODE_CONNECT_PUNCTUATION:
    case G_UNICODE_DASH_PUNCTUATION:
    case G_UNICODE_CLOSE_PUNCTUATION:
    case G_UNICODE_FINAL_PUNCTUATION:
    case G_UNICODE_INITIAL_PUNCTUATION:
    case G_UNICODE_OTHER_PUNCTUATION:
    case G_UNICODE_OPEN_PUNCTUATION:
      return TRUE;
    case G_UNICODE_CURRENCY_SYMBOL:
    case G_UNICODE_MODIFIER_SYMBOL:
    case G_UNICODE_MATH_SYMBOL:
    case G_UNICODE_OTHER_SYMBOL:
      return c < 0x7f;
    default:
      return FALSE;
    }
}

/* The blocks of Chinese characters that BERT sets apart. */
static gboolean
is_chinese (gunichar c)
{
  static const gunichar ranges[][2] = {
    { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xf900, 0xfaff },   { 0x20000, 0x2a6df },
    { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0x2f800, 0x2fa1f },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (ranges); i++)
    if (c >= ranges[i][0] && c <= ranges[i][1])
      return TRUE;
  return FALSE;
}

static Role
get_role (gunichar c, gboolean strips_accents)
{
  GUnicodeType type = g_unichar_type (c);

  switch (type)
    {
    case G_UNICODE_SPACE_SEPARATOR:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return SPACE;
    case G_UNICODE_CONTROL:
      return (c >= '\t' && c <= '\r') || c == 0x85 ? SPACE : DROPPED;
    case G_UNICODE_FORMAT:
    case G_UNICODE_PRIVATE_USE:
    case G_UNICODE_SURROGATE:
      return DROPPED;
    case G_UNICODE_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_NON_SPACING_MARK:
      return strips_accents ? DROPPED : PART_OF_WORD;
    default:
      break;
    }
  if (c == 0xfffd)
    return DROPPED;
  return is_punctuation (c, type) || is_chinese (c) ? WORD_OF_ITS_OWN : PART_OF_WORD;
}

/* Taking accents away leaves the first character of the canonical decomposition, of a Hangul
 * syllable therefore its first consonant alone: what vocabularies in this format are used with. */
static gunichar
get_base (gunichar c)
{
  gunichar parts[G_UNICHAR_MAX_DECOMPOSITION_LENGTH];

  if (c < 0xc0)
    return c;
  return g_unichar_fully_decompose (c, FALSE, parts, G_N_ELEMENTS (parts)) > 0 ? parts[0] : c;
}

typedef struct
{
  Role role;
  char text[6]; /* in lower case where the model wants that */
  gsize len;
} Letter;

static Letter
normalize (const KvasirVocab *vocab, gunichar c)
{
  Letter letter = { .role = DROPPED };

  if (vocab->strips_accents)
    c = get_base (c);
  letter.role = get_role (c, vocab->strips_accents);
  letter.len =
      (gsize) g_unichar_to_utf8 (vocab->lowers_case ? g_unichar_tolower (c) : c, letter.text);
  return letter;
}

/* Cuts the word into its longest pieces from the left; where something is left over, all of it
 * counts as unknown. The word lies in the scratch, behind the mark of its start. */
static void
finish_word (KvasirEncoder *encoder)
{
  const KvasirVocab *vocab = encoder->vocab;
  GString *word = encoder->scratch;
  guint n_before = encoder->ids->len;
  guint32 id = 0;
  gsize len = 1;

  if (word->len == sizeof word_mark - 1)
    return;
  for (gsize i = 0; i < word->len && len > 0; i += len)
    {
      len = kvasir_trie_match (&vocab->trie, word->str + i, word->len - i, &id);
      if (len > 0)
        g_array_append_val (encoder->ids, id);
    }
  if (len == 0)
    {
      g_array_set_size (encoder->ids, n_before);
      if (vocab->unk >= 0)
        g_array_append_val (encoder->ids, vocab->unk);
    }
  g_string_truncate (word, sizeof word_mark - 1);
}

static void
add_letter (KvasirEncoder *encoder, const Letter *letter)
{
  if (letter->role == DROPPED)
    return;
  if (letter->role != PART_OF_WORD)
    finish_word (encoder);
  if (letter->role == SPACE)
    return;
  g_string_append_len (encoder->scratch, letter->text, (gssize) letter->len);
  if (letter->role == WORD_OF_ITS_OWN)
    finish_word (encoder);
}

gboolean
kvasir_wpm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  Letter ascii[128];

  for (gunichar c = 0; c < G_N_ELEMENTS (ascii); c++)
    ascii[c] = normalize (encoder->vocab, c);
  g_string_assign (encoder->scratch, word_mark);
  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);
      Letter letter = { .role = DROPPED };

      if (n > 0)
        letter = c < G_N_ELEMENTS (ascii) ? ascii[c] : normalize (encoder->vocab, c);
      add_letter (encoder, &letter);
      i += (gsize) MAX (n, 1);
    }
  finish_word (encoder);
  return TRUE;
}

gboolean
kvasir_wpm_load (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  self->lowers_case = TRUE;
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.normalizer.lowercase", &self->lowers_case);
  self->strips_accents = self->lowers_case;
  kvasir_gguf_get_bool (gguf, "tokenizer.ggml.normalizer.strip_accents", &self->strips_accents);
  return kvasir_vocab_build_trie (self, KVASIR_TOKEN_OUT_OF_REACH, error);
}
