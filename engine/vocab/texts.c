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

static const char *
get_name (gconstpointer owner, guint32 i, gsize *len)
{
  const KvasirVocab *self = owner;

  *len = self->starts[i + 1] - self->starts[i] - 1;
  return self->texts + self->starts[i];
}

gint64
kvasir_vocab_find (const KvasirVocab *self, const char *text, gsize len)
{
  return kvasir_name_index_find (&self->index, text, len);
}

/* Makes room for @n_bytes more text and one more start. */
static gboolean
grow (KvasirVocab *self, gsize n_bytes)
{
  gsize needed = self->starts[self->n_texts] + n_bytes;
  gpointer grown;

  if (needed > self->texts_alloc)
    {
      gsize n_alloc = MAX (needed, self->texts_alloc * 2);

      grown = g_try_realloc (self->texts, n_alloc);
      if (!grown)
        return FALSE;
      self->texts = grown;
      self->texts_alloc = n_alloc;
    }
  if (self->n_texts + 1 == self->n_texts_alloc)
    {
      gsize n_alloc = (gsize) self->n_texts_alloc * 2;

      grown = g_try_realloc_n (self->starts, n_alloc, sizeof *self->starts);
      if (!grown)
        return FALSE;
      self->starts = grown;
      self->n_texts_alloc = n_alloc;
    }
  return TRUE;
}

/* Each text ends in NUL, so that it can serve as a string too. */
static void
append_text (KvasirVocab *self, const char *text, gsize len)
{
  gsize start = self->starts[self->n_texts];

  memcpy (self->texts + start, text, len);
  self->texts[start + len] = 0;
  self->starts[++self->n_texts] = start + len + 1;
}

guint32
kvasir_vocab_intern (KvasirVocab *self, const char *text, gsize len)
{
  gint64 found = kvasir_vocab_find (self, text, len);

  if (found >= 0)
    return (guint32) found;
  if (!grow (self, len + 1))
    return KVASIR_VOCAB_NO_ID;
  append_text (self, text, len);
  if (!kvasir_name_index_grow (&self->index, self->n_texts))
    return KVASIR_VOCAB_NO_ID;
  kvasir_name_index_insert (&self->index, self->n_texts - 1);
  return self->n_texts - 1;
}

/* Where two tokens have the same text the later one is found by it. */
static gboolean
index_tokens (KvasirVocab *self, GError **error)
{
  if (!kvasir_name_index_init (&self->index, self->n_tokens, get_name, self))
    return kvasir_vocab_no_memory (error);
  for (guint32 i = self->n_tokens; i > 0; i--)
    kvasir_name_index_insert (&self->index, i - 1);
  return TRUE;
}

static gboolean
measure_texts (const KvasirGguf *gguf, guint64 n, gsize *n_bytes, gsize *longest, GError **error)
{
  *n_bytes = 0;
  *longest = 0;
  for (guint64 i = 0; i < n; i++)
    {
      gsize len = 0;

      kvasir_gguf_get_array_string (gguf, tokens_key, i, &len);
      if (len > MAX_TOKEN_BYTES)
        return kvasir_vocab_fail (gguf, error,
                                  "token %" G_GUINT64_FORMAT
                                  ": expected at most %d bytes of text, found %" G_GSIZE_FORMAT,
                                  i, MAX_TOKEN_BYTES, len);
      *n_bytes += len + 1;
      *longest = MAX (*longest, len);
    }
  return TRUE;
}

gboolean
kvasir_vocab_load_texts (KvasirVocab *self, const KvasirGguf *gguf, guint64 n, GError **error)
{
  if (n == 0 || n > MAX_TOKENS)
    return kvasir_vocab_fail (gguf, error, "%s: expected 1 to %d, found %" G_GUINT64_FORMAT,
                              tokens_key, MAX_TOKENS, n);
  if (!measure_texts (gguf, n, &self->texts_alloc, &self->longest_bytes, error))
    return FALSE;
  self->n_tokens = (guint) n;
  self->n_texts_alloc = n + 1;
  self->texts = g_try_malloc (self->texts_alloc);
  self->starts = g_try_new0 (gsize, self->n_texts_alloc);
  self->flags = g_try_new0 (guint16, n);
  if (!self->texts || !self->starts || !self->flags)
    return kvasir_vocab_no_memory (error);
  for (guint64 i = 0; i < n; i++)
    {
      gsize len = 0;
      const char *text = kvasir_gguf_get_array_string (gguf, tokens_key, i, &len);

      append_text (self, text, len);
    }
  return index_tokens (self, error);
}

/* The keys of all tokens but those with one of @excluded, whose texts lie in @bytes where they are
 * written with escapes. Returns: how many there are */
static gsize
collect_keys (const KvasirVocab *self, guint16 excluded, char *bytes, KvasirTrieKey *keys)
{
  gsize n = 0;

  for (guint32 i = 0; i < self->n_tokens; i++)
    {
      gsize len = 0;
      KvasirTrieKey key = { .text = get_name (self, i, &len), .value = i };

      key.len = (guint32) len;
      if (self->kind == KVASIR_VOCAB_RWKV)
        {
          key.len = (guint32) kvasir_rwkv_unescape (key.text, len, bytes);
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
  g_autofree char *bytes = g_try_malloc (self->starts[self->n_tokens]);

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
  for (guint32 i = 0; i < self->n_texts; i++)
    kvasir_joints_add (self->joints, self->texts + self->starts[i],
                       self->starts[i + 1] - self->starts[i] - 1);
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
