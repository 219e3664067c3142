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
  gint32 id; /* what a word of its own becomes, -1 for nothing, or WORD_IS_LOOKED_UP */
} Letter;

enum
{
  WORD_IS_LOOKED_UP = -2,
  /* Special tokens can cut a text into pieces so short that a table of letters would not pay. */
  MIN_BYTES_FOR_TABLE = 256,
};

static Letter
normalize (const KvasirVocab *vocab, gunichar c)
{
  Letter letter = { .role = DROPPED, .id = WORD_IS_LOOKED_UP };

  if (vocab->strips_accents)
    c = get_base (c);
  letter.role = get_role (c, vocab->strips_accents);
  letter.len =
      (gsize) g_unichar_to_utf8 (vocab->lowers_case ? kvasir_unichar_lower (c) : c, letter.text);
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
  if (letter->id != WORD_IS_LOOKED_UP)
    {
      if (letter->id >= 0)
        g_array_append_val (encoder->ids, letter->id);
      return;
    }
  g_string_append_len (encoder->scratch, letter->text, (gssize) letter->len);
  if (letter->role == WORD_OF_ITS_OWN)
    finish_word (encoder);
}

/* What became of characters: those of ASCII, and others that were there before. */
typedef struct
{
  Letter ascii[128];
  Letter recent[256];      /* by the lower bits of the character */
  gunichar is_recent[256]; /* the character, 0 where there is none */
} Letters;

/* A mark's token is that of a word which is nothing else. */
static void
find_mark (KvasirEncoder *encoder, Letter *letter)
{
  guint n_before = encoder->ids->len;

  add_letter (encoder, letter);
  if (encoder->ids->len <= n_before + 1)
    letter->id = encoder->ids->len > n_before ? g_array_index (encoder->ids, gint32, n_before) : -1;
  g_array_set_size (encoder->ids, n_before);
}

static void
fill_ascii (KvasirEncoder *encoder, Letters *letters)
{
  for (gunichar c = 0; c < G_N_ELEMENTS (letters->ascii); c++)
    {
      letters->ascii[c] = normalize (encoder->vocab, c);
      if (letters->ascii[c].role == WORD_OF_ITS_OWN)
        find_mark (encoder, &letters->ascii[c]);
    }
  memset (letters->is_recent, 0, sizeof letters->is_recent);
}

static const Letter *
get_letter (const KvasirVocab *vocab, Letters *letters, gunichar c)
{
  guint slot = c % G_N_ELEMENTS (letters->recent);

  if (c < G_N_ELEMENTS (letters->ascii))
    return &letters->ascii[c];
  if (letters->is_recent[slot] != c)
    {
      letters->recent[slot] = normalize (vocab, c);
      letters->is_recent[slot] = c;
    }
  return &letters->recent[slot];
}

gboolean
kvasir_wpm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const gboolean has_table = len >= MIN_BYTES_FOR_TABLE;
  Letters letters;

  g_string_assign (encoder->scratch, word_mark);
  if (has_table)
    fill_ascii (encoder, &letters);
  for (gsize i = 0; i < len;)
    {
      gunichar c = (guint8) text[i];
      Letter letter;
      int n = 1;

      if (c >= 0x80)
        n = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);
      if (n > 0 && has_table)
        add_letter (encoder, get_letter (encoder->vocab, &letters, c));
      else if (n > 0)
        {
          letter = normalize (encoder->vocab, c);
          add_letter (encoder, &letter);
        }
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
