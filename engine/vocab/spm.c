#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <math.h>
#include <string.h>

/* Two hex digits and nothing else: a general reader of numbers would take a sign. */
int
kvasir_spm_parse_byte (const char *text, gsize len)
{
  if (len != 6 || memcmp (text, "<0x", 3) != 0 || text[5] != '>' || !g_ascii_isxdigit (text[3]) ||
      !g_ascii_isxdigit (text[4]))
    return -1;
  return g_ascii_xdigit_value (text[3]) * 16 + g_ascii_xdigit_value (text[4]);
}

/* Floats in order become unsigned numbers in order when the sign bit is flipped, and all bits of
 * negative ones; the complement puts the highest score first. */
static guint32
rank_score (float score)
{
  guint32 bits;

  if (isnan (score))
    return KVASIR_NO_RANK - 1;
  score += 0.0f; /* one zero instead of two */
  memcpy (&bits, &score, sizeof bits);
  bits ^= (bits >> 31) != 0 ? G_MAXUINT32 : 1u << 31;
  return ~bits;
}

static gint64
find_token (const KvasirVocab *vocab, const char *text, gsize len)
{
  gint64 id = kvasir_vocab_find (vocab, text, len);

  return id >= 0 && (vocab->flags[id] & KVASIR_TOKEN_OUT_OF_REACH) ? -1 : id;
}

static guint32
rate_pair (gconstpointer owner,
           const char *text,
           const KvasirSymbol *left,
           const KvasirSymbol *right,
           guint32 *id)
{
  const KvasirVocab *vocab = owner;
  gsize len = (gsize) left->len + right->len;
  gint64 found;

  if (len > vocab->longest_bytes)
    return KVASIR_NO_RANK;
  found = find_token (vocab, text + left->text, len);
  if (found < 0)
    return KVASIR_NO_RANK;
  *id = (guint32) found;
  return rank_score (vocab->scores ? vocab->scores[found] : 0.0f);
}

void
kvasir_spm_append_bytes (KvasirEncoder *encoder, const guint8 *bytes, gsize len)
{
  const KvasirVocab *vocab = encoder->vocab;

  for (gsize i = 0; i < len; i++)
    {
      guint32 byte_id = vocab->byte_ids[bytes[i]];
      gint32 id = byte_id == KVASIR_VOCAB_NO_ID ? vocab->unk : (gint32) byte_id;

      if (id >= 0)
        g_array_append_val (encoder->ids, id);
    }
}

static void
add_characters (KvasirEncoder *encoder, const guint8 *bytes, gsize len, gsize end)
{
  for (gsize i = 0; i < end;)
    {
      gunichar c = 0;
      int n_bytes = MAX (kvasir_utf8_read (bytes + i, len - i, &c), 1);
      gint64 id = find_token (encoder->vocab, (const char *) bytes + i, (gsize) n_bytes);

      kvasir_merger_add (&encoder->merger, id < 0 ? KVASIR_NO_SYMBOL : (guint32) id,
                         (guint32) n_bytes);
      i += (gsize) n_bytes;
    }
}

static void
append_symbol (KvasirEncoder *encoder, const guint8 *bytes, const KvasirSymbol *symbol)
{
  gint32 id = (gint32) symbol->id;

  if (symbol->id == KVASIR_NO_SYMBOL)
    kvasir_spm_append_bytes (encoder, bytes + symbol->text, symbol->len);
  else
    g_array_append_val (encoder->ids, id);
}

static const KvasirMergeRule rule = { add_characters, rate_pair, append_symbol };

static gboolean
encode_segment (KvasirEncoder *encoder, const char *text, gsize len)
{
  guint first = encoder->ids->len;

  if (kvasir_piece_cache_find (&encoder->pieces, text, len, encoder->ids))
    return TRUE;
  if (!kvasir_merge_text (encoder, &rule, (const guint8 *) text, len))
    return FALSE;
  kvasir_piece_cache_add (&encoder->pieces, text, len, encoder->ids, first);
  return TRUE;
}

gboolean
kvasir_spm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const GString *escaped = encoder->scratch;
  gsize end;

  kvasir_vocab_escape_spaces (text, len, encoder->vocab->add_space_prefix, encoder->scratch);
  for (gsize i = 0; i < escaped->len; i = end)
    {
      end = kvasir_joints_find_end (encoder->vocab->joints, escaped->str, escaped->len, i);
      if (!encode_segment (encoder, escaped->str + i, end - i))
        return FALSE;
    }
  return TRUE;
}
