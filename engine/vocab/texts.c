#include "engine/vocab/vocab-private.h"

#include <string.h>

enum
{
  /* This reader's own limits; the largest vocabularies have some 260 000 tokens of some hundred
   * bytes at most. */
  MAX_TOKENS = 1 << 24,
  MAX_TOKEN_BYTES = 65535,
};

static const char space_mark[] = "\xe2\x96\x81"; /* U+2581 */
static const char tokens_key[] = "tokenizer.ggml.tokens";

gint64
kvasir_vocab_find (const KvasirVocab *self, const char *text, gsize len)
{
  return kvasir_text_table_find (&self->texts, text, len);
}

static gboolean
measure_texts (KvasirVocab *self,
               const KvasirGguf *gguf,
               const KvasirGgufStrings *tokens,
               gsize *n_bytes,
               GError **error)
{
  *n_bytes = 0;
  for (guint64 i = 0; i < tokens->n; i++)
    {
      gsize len = 0;

      kvasir_gguf_strings_get (tokens, i, &len);
      if (len > MAX_TOKEN_BYTES)
        return kvasir_vocab_fail (gguf, error,
                                  "token %" G_GUINT64_FORMAT
                                  ": expected at most %d bytes of text, found %" G_GSIZE_FORMAT,
                                  i, MAX_TOKEN_BYTES, len);
      *n_bytes += len + 1;
      self->longest_bytes = MAX (self->longest_bytes, len);
    }
  return TRUE;
}

/* Where two tokens have the same text the later one is found by it. */
gboolean
kvasir_vocab_load_texts (KvasirVocab *self,
                         const KvasirGguf *gguf,
                         const KvasirGgufStrings *tokens,
                         GError **error)
{
  gsize n_bytes = 0;

  if (tokens->n == 0 || tokens->n > MAX_TOKENS)
    return kvasir_vocab_fail (gguf, error, "%s: expected 1 to %d, found %" G_GUINT64_FORMAT,
                              tokens_key, MAX_TOKENS, tokens->n);
  if (!measure_texts (self, gguf, tokens, &n_bytes, error))
    return FALSE;
  self->n_tokens = (guint) tokens->n;
  self->flags = g_try_new0 (guint16, tokens->n);
  if (!self->flags || !kvasir_text_table_init (&self->texts, tokens->n, n_bytes))
    return kvasir_vocab_no_memory (error);
  for (guint64 i = 0; i < tokens->n; i++)
    {
      gsize len = 0;
      const char *text = kvasir_gguf_strings_get (tokens, i, &len);

      kvasir_text_table_append (&self->texts, text, len);
    }
  return kvasir_text_table_index (&self->texts) || kvasir_vocab_no_memory (error);
}

/* The keys of all tokens but those with one of @excluded, whose texts lie in @bytes where they are
 * written with escapes. Returns: how many there are */
static gsize
collect_keys (const KvasirVocab *self, guint16 excluded, char *bytes, KvasirTrieKey *keys)
{
  gsize n = 0;

  for (guint32 i = 0; i < self->n_tokens; i++)
    {
      KvasirTrieKey key = { .text = kvasir_text_table_get (&self->texts, i), .value = i };

      key.len = (guint32) kvasir_text_table_get_len (&self->texts, i);
      if (self->kind == KVASIR_VOCAB_RWKV)
        {
          key.len = (guint32) kvasir_rwkv_unescape (key.text, key.len, bytes);
          key.text = bytes;
          bytes += key.len;
        }
      if (key.len > 0 && !(self->flags[i] & excluded))
        keys[n++] = key;
    }
  return n;
}

gboolean
kvasir_vocab_build_trie (KvasirVocab *self, guint16 excluded, GError **error)
{
  g_autofree KvasirTrieKey *keys = g_try_new (KvasirTrieKey, self->n_tokens);
  g_autofree char *bytes = g_try_malloc (self->texts.starts[self->n_tokens]);

  if (!keys || !bytes)
    return kvasir_vocab_no_memory (error);
  return kvasir_trie_build (&self->trie, keys, collect_keys (self, excluded, bytes, keys)) ||
         kvasir_vocab_no_memory (error);
}

gboolean
kvasir_vocab_build_joints (KvasirVocab *self, GError **error)
{
  self->joints = g_try_new0 (KvasirJoints, 1);
  if (!self->joints)
    return kvasir_vocab_no_memory (error);
  for (guint32 i = 0; i < self->texts.n; i++)
    kvasir_joints_add (self->joints, kvasir_text_table_get (&self->texts, i),
                       kvasir_text_table_get_len (&self->texts, i));
  return TRUE;
}

void
kvasir_vocab_escape_spaces (const char *text, gsize len, gboolean prefix, GString *out)
{
  const char *end = text + len;

  g_string_truncate (out, 0);
  if (prefix)
    g_string_append (out, space_mark);
  while (text < end)
    {
      const char *space = memchr (text, ' ', (gsize) (end - text));

      g_string_append_len (out, text, (space ? space : end) - text);
      if (!space)
        return;
      g_string_append (out, space_mark);
      text = space + 1;
    }
}
