#include "engine/vocab/utf8.h"
#include "engine/vocab/vocab-private.h"

#include <string.h>

static const char space_mark[] = "\xe2\x96\x81"; /* U+2581 */

static void
append_escaped_spaces (const char *text, gsize len, GString *out)
{
  const gsize mark_len = sizeof space_mark - 1;
  const char *end = text + len;

  while (text < end)
    {
      const char *mark = memmem (text, (gsize) (end - text), space_mark, mark_len);

      g_string_append_len (out, text, (mark ? mark : end) - text);
      if (!mark)
        return;
      g_string_append_c (out, ' ');
      text = mark + mark_len;
    }
}

/* Characters outside the table of bytes come from tokens that were added as plain text. */
static void
append_mapped_bytes (const char *text, gsize len, GString *out)
{
  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n = kvasir_utf8_read ((const guint8 *) text + i, len - i, &c);
      int byte = n > 0 ? kvasir_bpe_get_char_byte (c) : -1;

      n = MAX (n, 1);
      if (byte >= 0)
        g_string_append_c (out, (char) byte);
      else
        g_string_append_len (out, text + i, n);
      i += (gsize) n;
    }
}

static void
append_unescaped (const char *text, gsize len, GString *out)
{
  gsize n_before = out->len;

  g_string_set_size (out, n_before + len);
  g_string_truncate (out, n_before + kvasir_rwkv_unescape (text, len, out->str + n_before));
}

static void
append_plain (const KvasirVocab *self, const char *text, gsize len, GString *out)
{
  if (self->kind == KVASIR_VOCAB_RWKV)
    append_unescaped (text, len, out);
  else if (self->has_mapped_bytes)
    append_mapped_bytes (text, len, out);
  else if (self->escapes_spaces)
    append_escaped_spaces (text, len, out);
  else
    g_string_append_len (out, text, (gssize) len);
}

void
kvasir_vocab_append_token (const KvasirVocab *self, gint32 id, gboolean special, GString *out)
{
  gsize len = 0;
  const char *text;
  guint16 flags;
  int byte;

  if (id < 0 || (guint32) id >= self->n_tokens)
    return;
  flags = self->flags[id];
  text = kvasir_vocab_get_text (self, id, &len);
  if (!special && (flags & (KVASIR_TOKEN_UNKNOWN | KVASIR_TOKEN_CONTROL)))
    return;
  if (self->kind == KVASIR_VOCAB_RWKV && !(flags & (KVASIR_TOKEN_UNKNOWN | KVASIR_TOKEN_CONTROL)))
    append_plain (self, text, len, out);
  else if (flags & KVASIR_TOKEN_SPECIAL)
    g_string_append_len (out, text, (gssize) len);
  else if (flags & KVASIR_TOKEN_BYTE)
    {
      byte = kvasir_spm_parse_byte (text, len);
      if (byte >= 0)
        g_string_append_c (out, (char) byte);
    }
  else if (!(flags & KVASIR_TOKEN_UNUSED))
    append_plain (self, text, len, out);
}

/* Each pass looks at the text as the pass before left it; a space that was taken away no longer
 * counts as the neighbour of what follows. The three are functions of where in @text, which has
 * @len bytes, @i > 0 lies. Returns: how many bytes from @i - 1 on, the space, are dropped with it.
 */
static gboolean
is_space_before_mark (const char *text, gsize len, gsize i)
{
  return memchr ("?!.,", text[i], 4) != NULL;
}

static gboolean
is_space_before_contraction (const char *text, gsize len, gsize i)
{
  if (text[i] != '\'' || i + 1 >= len)
    return FALSE;
  if (text[i + 1] == 's' || text[i + 1] == 'm')
    return TRUE;
  return i + 2 < len && text[i + 2] == 'e' && (text[i + 1] == 'r' || text[i + 1] == 'v');
}

/* Takes away the space before each byte for which @applies. */
static void
drop_spaces (GString *text, gsize start, gboolean (*applies) (const char *text, gsize len, gsize i))
{
  const char *bytes = text->str + start;
  gsize len = text->len - start;
  gsize n_kept = 0;

  for (gsize i = 0; i < len; i++)
    if (!(bytes[i] == ' ' && i + 1 < len && applies (bytes, len, i + 1)))
      text->str[start + n_kept++] = bytes[i];
  g_string_truncate (text, start + n_kept);
}

/* An apostrophe between two spaces loses both. */
static void
join_lone_apostrophes (GString *text, gsize start)
{
  const char *bytes = text->str + start;
  gsize len = text->len - start;
  gsize n_kept = 0;

  for (gsize i = 0; i < len; i++)
    if (i + 2 < len && bytes[i] == ' ' && bytes[i + 1] == '\'' && bytes[i + 2] == ' ')
      {
        text->str[start + n_kept++] = '\'';
        i += 2;
      }
    else
      text->str[start + n_kept++] = bytes[i];
  g_string_truncate (text, start + n_kept);
}

void
kvasir_vocab_detokenize (
    const KvasirVocab *self, const gint32 *ids, guint n_ids, gboolean special, GString *out)
{
  gsize start = out->len;

  for (guint i = 0; i < n_ids; i++)
    {
      kvasir_vocab_append_token (self, ids[i], special, out);
      if (i == 0 && self->add_space_prefix && out->len > start && out->str[start] == ' ')
        g_string_erase (out, (gssize) start, 1);
    }
  if (!self->cleans_spaces)
    return;
  drop_spaces (out, start, is_space_before_mark);
  join_lone_apostrophes (out, start);
  drop_spaces (out, start, is_space_before_contraction);
}

struct _KvasirDetokenizer
{
  KvasirVocab *vocab; /* (owned) */
  GString *pending;   /* (owned) bytes that are not a character yet */
};

KvasirDetokenizer *
kvasir_detokenizer_new (KvasirVocab *vocab)
{
  KvasirDetokenizer *self = g_new0 (KvasirDetokenizer, 1);

  self->vocab = kvasir_vocab_ref (vocab);
  self->pending = g_string_new (NULL);
  return self;
}

void
kvasir_detokenizer_free (KvasirDetokenizer *self)
{
  if (!self)
    return;
  kvasir_vocab_unref (self->vocab);
  g_string_free (self->pending, TRUE);
  g_free (self);
}

void
kvasir_detokenizer_push (KvasirDetokenizer *self, gint32 id, GString *out)
{
  gsize n_done;

  kvasir_vocab_append_token (self->vocab, id, FALSE, self->pending);
  n_done = kvasir_utf8_append_valid (self->pending->str, self->pending->len, TRUE, out);
  g_string_erase (self->pending, 0, (gssize) n_done);
}

void
kvasir_detokenizer_flush (KvasirDetokenizer *self, GString *out)
{
  kvasir_utf8_append_valid (self->pending->str, self->pending->len, FALSE, out);
  g_string_truncate (self->pending, 0);
}
