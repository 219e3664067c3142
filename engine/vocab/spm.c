#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <math.h>
#include <string.h>

static const char space_mark[] = "\xe2\x96\x81"; /* U+2581 */

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
  found = kvasir_vocab_find (vocab, text + left->text, len);
  if (found < 0)
    return KVASIR_NO_RANK;
  *id = (guint32) found;
  return rank_score (vocab->scores ? vocab->scores[found] : 0.0f);
}

static void
append_bytes (KvasirEncoder *encoder, const guint8 *bytes, gsize len)
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

static gboolean
add_characters (KvasirEncoder *encoder, const char *text, gsize len)
{
  if (!kvasir_merger_reset (&encoder->merger, len))
    return FALSE;
  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n_bytes = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);
      gint64 id;

      n_bytes = MAX (n_bytes, 1);
      id = kvasir_vocab_find (encoder->vocab, text + i, (gsize) n_bytes);
      kvasir_merger_add (&encoder->merger, id < 0 ? KVASIR_NO_SYMBOL : (guint32) id,
                         (guint32) n_bytes);
      i += (gsize) n_bytes;
    }
  return TRUE;
}

gboolean
kvasir_spm_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  GString *escaped = encoder->scratch;
  gboolean prefix = encoder->vocab->add_space_prefix;

  g_string_truncate (escaped, 0);
  if (prefix)
    g_string_append (escaped, space_mark);
  for (gsize i = 0; i < len; i++)
    if (text[i] == ' ')
      g_string_append (escaped, space_mark);
    else
      g_string_append_c (escaped, text[i]);
  if (!add_characters (encoder, escaped->str, escaped->len))
    return FALSE;
  kvasir_merger_run (&encoder->merger, escaped->str, rate_pair, encoder->vocab);
  for (gsize i = 0; i < encoder->merger.n_symbols; i++)
    {
      const KvasirSymbol *symbol = &encoder->merger.symbols[i];
      gint32 id = (gint32) symbol->id;

      if (symbol->len > 0 && symbol->id == KVASIR_NO_SYMBOL)
        append_bytes (encoder, (const guint8 *) escaped->str + symbol->text, symbol->len);
      else if (symbol->len > 0)
        g_array_append_val (encoder->ids, id);
    }
  return TRUE;
}
