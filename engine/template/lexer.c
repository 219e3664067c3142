#include "engine/template/lexer.h"

#include "engine/template/unicode.h"

#include <string.h>

void
kvasir_jinja_lexer_init (KvasirJinjaLexer *self,
                         KvasirJinjaHeap *heap,
                         const char *source,
                         guint len)
{
  memset (self, 0, sizeof *self);
  self->heap = heap;
  self->source = source;
  self->len = len;
  self->at_line_start = TRUE;
}

gboolean
kvasir_jinja_lexer_fail (KvasirJinjaLexer *self, guint offset, const char *format, ...)
{
  if (self->heap->failure != NULL)
    return FALSE;
  self->fail_offset = offset;
  va_list args;
  va_start (args, format);
  self->heap->failure = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}

static gboolean
looking_at (const KvasirJinjaLexer *self, guint at, const char *string)
{
  gsize n = strlen (string);
  return n <= self->len - at && memcmp (self->source + at, string, n) == 0;
}

static guint
skip_space (const KvasirJinjaLexer *self, guint at)
{
  return at + (guint) kvasir_jinja_leading_space (self->source + at, self->len - at);
}

/* The end of a tag that starts at @at with an optional sign and then @close: what the sign asks
 * for is taken along. 0 if there is no such end here. */
static guint
match_end (const KvasirJinjaLexer *self, guint at, const char *close, gboolean block)
{
  if (at >= self->len)
    return 0;
  char sign = self->source[at];
  if (sign == '-' && looking_at (self, at + 1, close))
    return skip_space (self, at + 3);
  if (block && sign == '+' && looking_at (self, at + 1, close))
    return at + 3;
  if (!looking_at (self, at, close))
    return 0;
  at += 2;
  return block && at < self->len && self->source[at] == '\n' ? at + 1 : at;
}

/* Goes on behind a tag that ended. */
static void
leave_tag (KvasirJinjaLexer *self, guint at)
{
  self->at = at;
  self->at_line_start = self->source[at - 1] == '\n';
  self->mode = KVASIR_JINJA_LEX_DATA;
}

/* Cuts the text [start, end) before a tag as the tag asks. */
static guint
trim_before (const KvasirJinjaLexer *self, guint start, guint end, char sign, gboolean block)
{
  const char *text = self->source + start;
  gsize len = end - start;
  if (sign == '-')
    return end - (guint) kvasir_jinja_trailing_space (text, len);
  if (sign == '+' || !block)
    return end;
  const char *newline = memrchr (text, '\n', len);
  if (newline == NULL && !self->at_line_start)
    return end;
  gsize line = newline != NULL ? (gsize) (newline + 1 - text) : 0;
  gboolean blank = kvasir_jinja_leading_space (text + line, len - line) == len - line;
  return blank ? start + (guint) line : end;
}

static char
sign_at (const KvasirJinjaLexer *self, guint at)
{
  if (at < self->len && (self->source[at] == '-' || self->source[at] == '+'))
    return self->source[at];
  return '\0';
}

/* "{% raw %}" at @at: the offset behind it, or 0. Unlike other tags it takes no newline along. */
static guint
match_raw_begin (const KvasirJinjaLexer *self, guint at)
{
  at += 2;
  at += sign_at (self, at) != '\0';
  at = skip_space (self, at);
  if (!looking_at (self, at, "raw"))
    return 0;
  at = skip_space (self, at + 3);
  if (looking_at (self, at, "-%}"))
    return skip_space (self, at + 3);
  return looking_at (self, at, "%}") ? at + 2 : 0;
}

static guint
match_raw_end (const KvasirJinjaLexer *self, guint at)
{
  at += 2;
  at += sign_at (self, at) != '\0';
  at = skip_space (self, at);
  if (!looking_at (self, at, "endraw"))
    return 0;
  return match_end (self, skip_space (self, at + 6), "%}", TRUE);
}

static guint
find (const KvasirJinjaLexer *self, guint from, const char *pair)
{
  const char *at = memmem (self->source + from, self->len - from, pair, 2);
  return at != NULL ? (guint) (at - self->source) : self->len;
}

/* The next "{%", "{{" or "{#", or the end. */
static guint
find_tag (const KvasirJinjaLexer *self, guint from)
{
  for (guint at = from; at + 1 < self->len; at++)
    {
      const char *brace = memchr (self->source + at, '{', self->len - 1 - at);
      if (brace == NULL)
        break;
      at = (guint) (brace - self->source);
      if (strchr ("%{#", brace[1]) != NULL && brace[1] != '\0')
        return at;
    }
  return self->len;
}

static gboolean
skip_comment (KvasirJinjaLexer *self, guint begin)
{
  guint start = begin + 2;
  start += sign_at (self, start) != '\0';
  guint close = start <= self->len ? find (self, start, "#}") : self->len;
  if (close == self->len)
    return kvasir_jinja_lexer_fail (self, begin, "a comment without its end '#}'");
  if (close > start && sign_at (self, close - 1) != '\0')
    close--;
  leave_tag (self, match_end (self, close, "#}", TRUE));
  return TRUE;
}

/* Enters the tag at @tag; comments are passed over whole. */
static gboolean
enter_tag (KvasirJinjaLexer *self, guint tag)
{
  char kind = self->source[tag + 1];
  if (kind == '#')
    return skip_comment (self, tag);
  guint raw = kind == '%' ? match_raw_begin (self, tag) : 0;
  if (raw != 0)
    {
      leave_tag (self, raw);
      self->mode = KVASIR_JINJA_LEX_RAW;
      return TRUE;
    }
  self->at = tag + 2;
  self->at += sign_at (self, self->at) != '\0';
  self->mode = kind == '%' ? KVASIR_JINJA_LEX_BLOCK : KVASIR_JINJA_LEX_PRINT;
  self->begin_pending = TRUE;
  self->n_brackets = 0;
  return TRUE;
}

static void
data_token (KvasirJinjaLexer *self, KvasirJinjaToken *token, guint start, guint end)
{
  token->type = KVASIR_JINJA_TOKEN_DATA;
  token->offset = start;
  token->len = end - start;
  token->text = kvasir_jinja_text_new (self->heap, self->source + start, end - start,
                                       KVASIR_JINJA_ORIGIN_TEMPLATE);
}

/* Text up to the next tag, which is entered. An empty text gives no token: *@found stays FALSE. */
static gboolean
read_data (KvasirJinjaLexer *self, KvasirJinjaToken *token, gboolean *found)
{
  guint start = self->at;
  guint tag = find_tag (self, start);
  guint end = tag;
  if (tag == self->len)
    self->at = tag;
  else
    {
      gboolean block = self->source[tag + 1] != '{';
      end = trim_before (self, start, tag, sign_at (self, tag + 2), block);
      if (!enter_tag (self, tag))
        return FALSE;
    }
  *found = end > start;
  if (*found)
    data_token (self, token, start, end);
  return TRUE;
}

static gboolean
read_raw (KvasirJinjaLexer *self, KvasirJinjaToken *token, gboolean *found)
{
  guint start = self->at;
  for (guint tag = find (self, start, "{%"); tag < self->len; tag = find (self, tag + 2, "{%"))
    {
      guint behind = match_raw_end (self, tag);
      if (behind == 0)
        continue;
      guint end = trim_before (self, start, tag, sign_at (self, tag + 2), TRUE);
      leave_tag (self, behind);
      *found = end > start;
      if (*found)
        data_token (self, token, start, end);
      return TRUE;
    }
  return kvasir_jinja_lexer_fail (self, start, "a raw block without its end '{%% endraw %%}'");
}

static gboolean
simple_token (KvasirJinjaToken *token, KvasirJinjaTokenType type, guint offset)
{
  token->type = type;
  token->offset = offset;
  token->len = 2;
  return TRUE;
}

static gboolean
read_in_tag (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  gboolean block = self->mode == KVASIR_JINJA_LEX_BLOCK;
  if (self->begin_pending)
    {
      self->begin_pending = FALSE;
      return simple_token (
          token, block ? KVASIR_JINJA_TOKEN_BLOCK_BEGIN : KVASIR_JINJA_TOKEN_PRINT_BEGIN, self->at);
    }
  self->at = skip_space (self, self->at);
  if (self->at == self->len)
    return simple_token (token, KVASIR_JINJA_TOKEN_END, self->at);
  guint end = self->n_brackets == 0 ? match_end (self, self->at, block ? "%}" : "}}", block) : 0;
  if (end == 0)
    return kvasir_jinja_lexer_tag_token (self, token);
  simple_token (token, block ? KVASIR_JINJA_TOKEN_BLOCK_END : KVASIR_JINJA_TOKEN_PRINT_END,
                self->at);
  leave_tag (self, end);
  return TRUE;
}

gboolean
kvasir_jinja_lexer_next (KvasirJinjaLexer *self, KvasirJinjaToken *token)
{
  memset (token, 0, sizeof *token);
  gboolean found = FALSE;
  while (!found)
    {
      gboolean ok = TRUE;
      if (self->mode == KVASIR_JINJA_LEX_BLOCK || self->mode == KVASIR_JINJA_LEX_PRINT)
        return read_in_tag (self, token);
      if (self->mode == KVASIR_JINJA_LEX_RAW)
        ok = read_raw (self, token, &found);
      else if (self->at == self->len)
        return simple_token (token, KVASIR_JINJA_TOKEN_END, self->at);
      else
        ok = read_data (self, token, &found);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}
