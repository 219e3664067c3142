#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

/* GPT-2's table: printable bytes stand for themselves, the others follow from U+0100 on. */
gunichar
kvasir_bpe_get_byte_char (guint8 b)
{
  if (b <= 32)
    return 256u + b;
  if (b >= 127 && b <= 160)
    return 256u + 33 + (b - 127u);
  return b == 173 ? 256u + 33 + 34 : b;
}

int
kvasir_bpe_get_char_byte (gunichar c)
{
  if (c > 32 && c < 256 && !(c >= 127 && c <= 160) && c != 173)
    return (int) c;
  if (c >= 256 && c < 256 + 33)
    return (int) (c - 256);
  if (c >= 256 + 33 && c < 256 + 33 + 34)
    return (int) (c - 256 - 33 + 127);
  return c == 256 + 33 + 34 ? 173 : -1;
}

static gboolean
is_out_of_reach (const KvasirVocab *self, guint32 symbol)
{
  return symbol < self->n_tokens && (self->flags[symbol] & KVASIR_TOKEN_OUT_OF_REACH) != 0;
}

static gboolean
intern_bytes (KvasirVocab *self, GError **error)
{
  for (guint b = 0; b < 256; b++)
    {
      char text[6];
      int len = g_unichar_to_utf8 (kvasir_bpe_get_byte_char ((guint8) b), text);

      self->byte_ids[b] = kvasir_text_table_intern (&self->texts, text, (gsize) len);
      if (self->byte_ids[b] == KVASIR_VOCAB_NO_ID)
        return kvasir_vocab_no_memory (error);
    }
  return TRUE;
}

gboolean
kvasir_vocab_load_bpe (KvasirVocab *self, const KvasirGguf *gguf, GError **error)
{
  if (!self->has_mapped_bytes)
    {
      kvasir_gguf_get_bool (gguf, "tokenizer.ggml.normalizer.lowercase", &self->lowers_case);
      return kvasir_vocab_load_merges (self, gguf, error) &&
             kvasir_vocab_build_joints (self, error);
    }
  return intern_bytes (self, error) && kvasir_vocab_load_merges (self, gguf, error);
}

static guint32
rate_pair (gconstpointer owner,
           const char *text,
           const KvasirSymbol *left,
           const KvasirSymbol *right,
           guint32 *id)
{
  const KvasirVocab *vocab = owner;
  const KvasirPair *pair = kvasir_pairs_find (&vocab->pairs, left->id, right->id);

  if (pair->rank_1 == 0)
    return KVASIR_NO_RANK;
  *id = pair->merged;
  return pair->rank_1 - 1;
}

/* Bytes for which the vocabulary has no token are left out, as the models' own tokenizers do. */
static void
append_byte (KvasirEncoder *encoder, guint8 byte)
{
  gint32 id = (gint32) encoder->vocab->byte_ids[byte];

  if ((guint32) id < encoder->vocab->n_tokens)
    g_array_append_val (encoder->ids, id);
}

static void
append_symbol (KvasirEncoder *encoder, const guint8 *bytes, const KvasirSymbol *symbol)
{
  gint32 id = (gint32) symbol->id;

  if (symbol->id < encoder->vocab->n_tokens)
    g_array_append_val (encoder->ids, id);
  else
    for (guint32 i = 0; i < symbol->len; i++)
      append_byte (encoder, bytes[symbol->text + i]);
}

/* The token that the text is, as the file writes it; or -1. */
static gint64
find_token (const KvasirVocab *vocab, const char *text, gsize len)
{
  gint64 id = kvasir_vocab_find (vocab, text, len);

  return id < vocab->n_tokens && !is_out_of_reach (vocab, (guint32) id) ? id : -1;
}

static gint64
find_whole (KvasirEncoder *encoder, const guint8 *bytes, gsize len)
{
  if (len > encoder->vocab->longest_bytes)
    return -1;
  if (!encoder->vocab->has_mapped_bytes)
    return find_token (encoder->vocab, (const char *) bytes, len);
  g_string_truncate (encoder->scratch, 0);
  for (gsize i = 0; i < len; i++)
    g_string_append_unichar (encoder->scratch, kvasir_bpe_get_byte_char (bytes[i]));
  return find_token (encoder->vocab, encoder->scratch->str, encoder->scratch->len);
}

/* Symbols to start from: bytes, or in a vocabulary of plain text its characters. */
static void
add_symbols (KvasirEncoder *encoder, const guint8 *bytes, gsize len, gsize end)
{
  const KvasirVocab *vocab = encoder->vocab;
  gunichar c = 0;

  if (vocab->has_mapped_bytes)
    for (gsize i = 0; i < end; i++)
      kvasir_merger_add (&encoder->merger, vocab->byte_ids[bytes[i]], 1);
  else
    for (gsize i = 0; i < end;)
      {
        gsize n = (gsize) MAX (kvasir_utf8_read (bytes + i, len - i, &c), 1);
        gint64 id = kvasir_vocab_find (vocab, (const char *) bytes + i, n);

        kvasir_merger_add (&encoder->merger, id < 0 ? KVASIR_NO_SYMBOL : (guint32) id, (guint32) n);
        i += n;
      }
}

/* Whether a piece that is a token as a whole needs no merging: in some vocabularies all, and of
 * plain text the runs of line ends. */
static gboolean
may_be_whole (const KvasirVocab *vocab, const guint8 *bytes)
{
  return kvasir_pre_tokenizer_ignores_merges (vocab->pre_tokenizer) ||
         (!vocab->has_mapped_bytes && bytes[0] == '\n');
}

static const KvasirMergeRule rule = { add_symbols, rate_pair, append_symbol };

static gboolean
merge_piece (KvasirEncoder *encoder, const guint8 *bytes, gsize len)
{
  guint first = encoder->ids->len;
  gint64 whole = -1;

  if (len == 1 && encoder->vocab->has_mapped_bytes)
    {
      append_byte (encoder, bytes[0]);
      return TRUE;
    }
  if (kvasir_piece_cache_find (&encoder->pieces, (const char *) bytes, len, encoder->ids))
    return TRUE;
  if (may_be_whole (encoder->vocab, bytes))
    whole = find_whole (encoder, bytes, len);
  if (whole >= 0)
    {
      gint32 id = (gint32) whole;

      g_array_append_val (encoder->ids, id);
    }
  else if (!kvasir_merge_text (encoder, &rule, bytes, len))
    return FALSE;
  kvasir_piece_cache_add (&encoder->pieces, (const char *) bytes, len, encoder->ids, first);
  return TRUE;
}

/* A line of a vocabulary of plain text. */
static gboolean
merge_line (KvasirEncoder *encoder, const guint8 *bytes, gsize len)
{
  gsize end;

  for (gsize i = 0; i < len; i = end)
    {
      end = kvasir_joints_find_end (encoder->vocab->joints, (const char *) bytes, len, i);
      if (!merge_piece (encoder, bytes + i, end - i))
        return FALSE;
    }
  return TRUE;
}

typedef struct
{
  KvasirEncoder *encoder;
  const guint8 *next; /* the first byte of the next piece */
} Position;

static gboolean
encode_piece (gpointer data, const KvasirChar *chars, gsize n)
{
  Position *position = data;
  KvasirEncoder *encoder = position->encoder;
  const KvasirVocab *vocab = encoder->vocab;
  const guint8 *bytes = position->next;
  gsize len = 0;

  for (gsize i = 0; i < n; i++)
    len += kvasir_char_get_bytes (chars[i]);
  position->next += len;
  return !vocab->has_mapped_bytes && bytes[0] != '\n' ? merge_line (encoder, bytes, len)
                                                      : merge_piece (encoder, bytes, len);
}

static gboolean
reserve_chars (KvasirEncoder *encoder, gsize n)
{
  if (n <= encoder->n_chars_alloc)
    return TRUE;
  g_free (encoder->chars);
  encoder->chars = g_try_new (KvasirChar, n);
  encoder->n_chars_alloc = encoder->chars ? n : 0;
  return encoder->chars != NULL;
}

gboolean
kvasir_bpe_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const KvasirVocab *vocab = encoder->vocab;
  Position position = { encoder, NULL };
  g_autofree char *lower = NULL;
  gsize n;

  if (vocab->lowers_case)
    {
      lower = kvasir_utf8_lower (text, len, &len);
      text = lower;
    }
  if (vocab->escapes_spaces)
    {
      kvasir_vocab_escape_spaces (text, len, FALSE, encoder->scratch);
      text = encoder->scratch->str;
      len = encoder->scratch->len;
    }
  position.next = (const guint8 *) text;
  if (!reserve_chars (encoder, len))
    return FALSE;
  n = kvasir_chars_decode (text, len, encoder->chars);
  return kvasir_pre_tokenizer_split (vocab->pre_tokenizer, encoder->chars, n, encode_piece,
                                     &position);
}
