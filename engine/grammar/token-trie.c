#include "engine/grammar/token-trie.h"

#include <string.h>

struct _KvasirTokenTrie
{
  guint n_tokens;
  GString *bytes;   /* (owned) of all tokens, one behind the other */
  guint32 *offsets; /* (owned) [n_tokens + 1] into bytes */
  guint8 *ends;     /* (owned) [n_tokens]: whether it ends an answer */
  gint32 *sorted;   /* (owned) those that are in the nodes, in their order */
  GArray *nodes;    /* (owned) of KvasirTrieNode */
};

/* The first bytes of a token as a number that sorts like them. */
typedef struct
{
  guint64 head;
  guint32 rest; /* bytes behind the head */
  gint32 id;
} Key;

static void
read_tokens (KvasirTokenTrie *self, const KvasirVocab *vocab)
{
  for (guint i = 0; i < self->n_tokens; i++)
    {
      gsize start = self->bytes->len;
      self->ends[i] = kvasir_vocab_is_eog (vocab, (gint32) i) != FALSE;
      self->offsets[i] = (guint32) start;
      if (!self->ends[i])
        kvasir_vocab_append_token (vocab, (gint32) i, FALSE, self->bytes);
      if (self->bytes->len - start > KVASIR_TOKEN_TRIE_MAX_DEPTH)
        g_string_truncate (self->bytes, start);
    }
  self->offsets[self->n_tokens] = (guint32) self->bytes->len;
}

const guint8 *
kvasir_token_trie_get_bytes (const KvasirTokenTrie *self, gint32 id, guint32 *n)
{
  *n = 0;
  if (id < 0 || (guint) id >= self->n_tokens)
    return NULL;
  *n = self->offsets[id + 1] - self->offsets[id];
  return (const guint8 *) self->bytes->str + self->offsets[id];
}

/* ---- sorting */

static Key
make_key (const KvasirTokenTrie *self, gint32 id)
{
  Key key = { 0, 0, id };
  guint32 n;
  const guint8 *bytes = kvasir_token_trie_get_bytes (self, id, &n);
  for (guint i = 0; i < 8; i++)
    key.head = key.head << 8 | (i < n ? bytes[i] : 0u);
  key.rest = n > 8 ? n - 8 : 0;
  return key;
}

static int
compare (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const Key *x = a;
  const Key *y = b;
  guint32 nx;
  guint32 ny;
  if (x->head != y->head)
    return x->head < y->head ? -1 : 1;
  const guint8 *bx = kvasir_token_trie_get_bytes (user_data, x->id, &nx);
  const guint8 *by = kvasir_token_trie_get_bytes (user_data, y->id, &ny);
  int order = memcmp (bx, by, MIN (nx, ny));
  if (order == 0 && nx != ny)
    order = nx < ny ? -1 : 1;
  return order != 0 ? order : x->id - y->id;
}

static guint
sort_tokens (KvasirTokenTrie *self)
{
  g_autofree Key *keys = g_new (Key, self->n_tokens + 1);
  guint n = 0;
  for (guint i = 0; i < self->n_tokens; i++)
    if (self->offsets[i + 1] > self->offsets[i])
      keys[n++] = make_key (self, (gint32) i);
  g_qsort_with_data (keys, (gint) n, sizeof (Key), compare, self);
  self->sorted = g_new (gint32, n + 1);
  for (guint i = 0; i < n; i++)
    self->sorted[i] = keys[i].id;
  return n;
}

/* ---- kinds of characters */

guint64
kvasir_token_trie_get_kind (guint8 byte)
{
  guint bit = 0;
  if (g_ascii_isdigit (byte))
    bit = 1;
  else if (g_ascii_isxdigit (byte))
    bit = g_ascii_islower (byte) ? 2 : 3;
  else if (g_ascii_isalpha (byte))
    bit = g_ascii_islower (byte) ? 4 : 5;
  else if (byte >= ' ')
    /* 34 of them: marks, the space and U+007F. */
    bit = byte < '0'   ? 6u + byte - ' '
          : byte < 'A' ? 22u + byte - ':'
          : byte < 'a' ? 29u + byte - '['
                       : 35u + byte - '{';
  else if (byte == '\t' || byte == '\n' || byte == '\r')
    bit = 40u + byte - '\t';
  return G_GUINT64_CONSTANT (1) << bit;
}

/* The kind of the character that begins with a byte, and how many bytes it has. */
static guint64
read_kind (const guint8 *bytes, guint32 n, guint32 *len)
{
  gint32 code = (gint32) g_utf8_get_char_validated ((const char *) bytes, n);
  *len = code < 0 ? 1 : (guint32) g_unichar_to_utf8 ((gunichar) code, NULL);
  if (code < 0)
    return KVASIR_SEEN_BROKEN;
  return code < 128 ? kvasir_token_trie_get_kind (*bytes) : KVASIR_SEEN_OTHER;
}

/* Adds to each node of @path, whose last one ends a token with @bytes, what stands below it. */
static void
note_seen (KvasirTokenTrie *self, const guint32 *path, const guint8 *bytes, guint32 n)
{
  guint64 kinds[KVASIR_TOKEN_TRIE_MAX_DEPTH];
  guint64 seen = 0;
  guint32 len;
  memset (kinds, 0, n * sizeof (guint64));
  for (guint32 at = 0; at < n; at += len)
    kinds[at] = read_kind (bytes + at, n - at, &len);
  for (guint32 depth = n; depth-- > 1;)
    {
      seen |= kinds[depth];
      g_array_index (self->nodes, KvasirTrieNode, path[depth - 1]).seen |= seen;
    }
}

/* ---- nodes */

/* The nodes that are open are those of the last token; @path [depth - 1] is each one's number. */
static void
close_nodes (KvasirTokenTrie *self, const guint32 *path, guint from, guint to)
{
  for (guint depth = from; depth < to; depth++)
    g_array_index (self->nodes, KvasirTrieNode, path[depth]).end = self->nodes->len;
}

static void
build_nodes (KvasirTokenTrie *self, guint n)
{
  guint32 path[KVASIR_TOKEN_TRIE_MAX_DEPTH];
  const guint8 *before = NULL;
  guint32 n_before = 0;
  for (guint i = 0; i < n; i++)
    {
      guint32 len;
      guint32 common = 0;
      const guint8 *bytes = kvasir_token_trie_get_bytes (self, self->sorted[i], &len);
      while (common < MIN (n_before, len) && before[common] == bytes[common])
        common++;
      close_nodes (self, path, common, n_before);
      for (guint32 depth = common; depth < len; depth++)
        {
          KvasirTrieNode node = { .token = i,
                                  .depth = (guint16) (depth + 1),
                                  .byte = bytes[depth] };
          path[depth] = self->nodes->len;
          g_array_append_val (self->nodes, node);
        }
      note_seen (self, path, bytes, len);
      before = bytes;
      n_before = len;
    }
  close_nodes (self, path, 0, n_before);
  KvasirTrieNode last = { .end = self->nodes->len + 1, .token = n };
  g_array_append_val (self->nodes, last);
}

KvasirTokenTrie *
kvasir_token_trie_new (const KvasirVocab *vocab)
{
  g_return_val_if_fail (vocab != NULL, NULL);

  KvasirTokenTrie *self = g_new0 (KvasirTokenTrie, 1);
  self->n_tokens = kvasir_vocab_get_n_tokens (vocab);
  self->bytes = g_string_new (NULL);
  self->offsets = g_new (guint32, self->n_tokens + 1);
  self->ends = g_new (guint8, self->n_tokens + 1);
  self->nodes = g_array_new (FALSE, FALSE, sizeof (KvasirTrieNode));
  read_tokens (self, vocab);
  build_nodes (self, sort_tokens (self));
  return self;
}

void
kvasir_token_trie_free (KvasirTokenTrie *self)
{
  if (self == NULL)
    return;
  g_string_free (self->bytes, TRUE);
  g_free (self->offsets);
  g_free (self->ends);
  g_free (self->sorted);
  g_array_unref (self->nodes);
  g_free (self);
}

guint
kvasir_token_trie_get_n_tokens (const KvasirTokenTrie *self)
{
  return self->n_tokens;
}

const KvasirTrieNode *
kvasir_token_trie_get_nodes (const KvasirTokenTrie *self, guint32 *n_nodes)
{
  *n_nodes = self->nodes->len - 1;
  return (const KvasirTrieNode *) (gpointer) self->nodes->data;
}

const gint32 *
kvasir_token_trie_get_tokens (const KvasirTokenTrie *self)
{
  return self->sorted;
}

gboolean
kvasir_token_trie_is_end (const KvasirTokenTrie *self, gint32 id)
{
  return id >= 0 && (guint) id < self->n_tokens && self->ends[id];
}
