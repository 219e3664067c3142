#include "engine/vocab/vocab-private.h"

/* The character that a backslash and @c stand for. */
static char
unescape (char c)
{
  switch (c)
    {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    default:
      return c;
    }
}

gsize
kvasir_rwkv_unescape (const char *text, gsize len, char *bytes)
{
  gsize n = 0;

  for (gsize i = 0; i < len; i++)
    {
      if (text[i] != '\\' || i + 1 == len)
        {
          bytes[n++] = text[i];
          continue;
        }
      i++;
      if (text[i] == 'x' && i + 2 < len && g_ascii_isxdigit (text[i + 1]) &&
          g_ascii_isxdigit (text[i + 2]))
        {
          bytes[n++] =
              (char) (g_ascii_xdigit_value (text[i + 1]) * 16 + g_ascii_xdigit_value (text[i + 2]));
          i += 2;
        }
      else
        bytes[n++] = unescape (text[i]);
    }
  return n;
}

/* A byte that no token begins with counts as unknown, and is left out where there is no token for
 * that. */
gboolean
kvasir_rwkv_encode (KvasirEncoder *encoder, const char *text, gsize len)
{
  const KvasirVocab *vocab = encoder->vocab;

  for (gsize i = 0; i < len;)
    {
      guint32 id = (guint32) vocab->unk;
      gsize n = kvasir_trie_match (&vocab->trie, text + i, len - i, &id);

      if (n > 0 || vocab->unk >= 0)
        g_array_append_val (encoder->ids, id);
      i += MAX (n, 1);
    }
  return TRUE;
}

/* Special tokens are found before, where they count; a text must not spell them. */
gboolean
kvasir_rwkv_load (KvasirVocab *self, GError **error)
{
  return kvasir_vocab_build_trie (self, KVASIR_TOKEN_SPECIAL, error);
}
