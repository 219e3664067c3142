#include "ui/markdown/builder.h"

#include <string.h>

#include "ui/base/display-text.h"

#define UNBROKEN_BYTES 300

gboolean
kvasir_builder_is_full (const KvasirBuilder *self)
{
  return self->blocks->len >= KVASIR_MAX_BLOCKS;
}

KvasirBlock *
kvasir_builder_add (KvasirBuilder *self, KvasirBlockKind kind)
{
  KvasirBlock *block = g_new0 (KvasirBlock, 1);

  block->kind = kind;
  block->n_quotes = self->n_quotes;
  block->indent = self->indent;
  block->tight = self->tight;
  block->marker = g_steal_pointer (&self->marker);
  g_ptr_array_add (self->blocks, block);
  return block;
}

void
kvasir_markup_append (GString *markup, const char *text, gssize len)
{
  g_autofree char *safe = kvasir_display_text (text, len);
  g_autofree char *escaped = g_markup_escape_text (safe, -1);

  g_string_append (markup, escaped);
}

gsize
kvasir_text_cut (const char *text, gsize len, gsize max)
{
  gsize end = max;

  if (len <= max)
    return len;
  while (end > 0 && ((guchar) text[end] & 0xc0) == 0x80)
    end--;
  return end > 0 ? end : max;
}

gsize
kvasir_text_get_piece (const char *text, gsize len, gsize max)
{
  if (len <= max)
    return len;
  for (gsize i = max; i > max / 2; i--)
    if (text[i - 1] == '\n' || text[i - 1] == ' ')
      return i;
  /* Where no line can be broken, laying out takes the square of the length. */
  return kvasir_text_cut (text, len, MIN (max, UNBROKEN_BYTES));
}

/* ---- code */

/* Lines that are too long for the text view go on in the next one. */
static void
append_line (GString *out, const char *line, gsize len)
{
  while (len > 0)
    {
      gsize piece = kvasir_text_get_piece (line, len, KVASIR_CODE_LINE_BYTES);

      kvasir_display_text_append (out, line, (gssize) piece);
      g_string_append_c (out, '\n');
      line += piece;
      len -= piece;
    }
}

static void
end_code (
    KvasirBuilder *self, GString *piece, const char *code, const char *language, gboolean first)
{
  KvasirBlock *block = kvasir_builder_add (self, KVASIR_BLOCK_CODE);

  if (piece->len > 0)
    g_string_truncate (piece, piece->len - 1);
  block->text = g_strdup (piece->str);
  block->language = g_strdup (language);
  block->continues = !first;
  block->tight |= !first;
  if (first)
    block->source = g_strdup (code);
  g_string_truncate (piece, 0);
}

void
kvasir_builder_add_code (KvasirBuilder *self, const char *code, const char *language)
{
  g_autoptr (GString) piece = g_string_new (NULL);
  gboolean first = TRUE;
  guint n_lines = 0;

  for (const char *line = code; *line != '\0';)
    {
      gsize len = strcspn (line, "\n");

      if (len == 0)
        g_string_append_c (piece, '\n');
      append_line (piece, line, len);
      line += len + (line[len] == '\n' ? 1 : 0);
      if (++n_lines < KVASIR_CODE_PIECE_LINES && piece->len < KVASIR_CODE_PIECE_LINES * 80)
        continue;
      end_code (self, piece, code, language, first);
      first = FALSE;
      n_lines = 0;
    }
  if (first || piece->len > 0)
    end_code (self, piece, code, language, first);
}

/* ---- plain text */

gboolean
kvasir_builder_add_plain (KvasirBuilder *self, const char *text, gsize len)
{
  gsize done = 0;

  while (done < len && self->blocks->len < KVASIR_MAX_ALL_BLOCKS)
    {
      gsize piece = kvasir_text_get_piece (text + done, len - done, KVASIR_PIECE_BYTES);
      g_autoptr (GString) markup = g_string_new (NULL);
      KvasirBlock *block = kvasir_builder_add (self, KVASIR_BLOCK_TEXT);
      gsize visible = piece;

      /* The break between two labels stands for the newline. */
      if (text[done + piece - 1] == '\n' && done + piece < len)
        visible--;
      kvasir_markup_append (markup, text + done, (gssize) visible);
      block->text = g_string_free (g_steal_pointer (&markup), FALSE);
      block->continues = done > 0;
      done += piece;
    }
  return done == len;
}
