#include "engine/vocab/scanners.h"

#include "engine/vocab/utf8.h"

#include <string.h>

enum
{
  CODE_POINT = (1 << 21) - 1,
  CATEGORY_SHIFT = 23,
  CATEGORY_MASK = 31,
  SPACE = 1 << 28,
  LETTER = 1 << 29,
  NUMBER = 1 << 30,
  WORD = LETTER | NUMBER,
};

static gunichar
code_point (KvasirChar c)
{
  return c & CODE_POINT;
}

static GUnicodeType
category (KvasirChar c)
{
  return (GUnicodeType) (c >> CATEGORY_SHIFT & CATEGORY_MASK);
}

/* \s of the expressions is Unicode's White_Space: the separators and some controls. */
static KvasirChar
classify (gunichar c, gsize n_bytes)
{
  GUnicodeType type = g_unichar_type (c);
  KvasirChar packed = c | (KvasirChar) (n_bytes - 1) << 21 | (KvasirChar) type << CATEGORY_SHIFT;

  switch (type)
    {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
      return packed | LETTER;
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
      return packed | NUMBER;
    case G_UNICODE_SPACE_SEPARATOR:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return packed | SPACE;
    default:
      return (c >= '\t' && c <= '\r') || c == 0x85 ? packed | SPACE : packed;
    }
}

gsize
kvasir_chars_decode (const char *text, gsize len, KvasirChar *chars)
{
  const guint8 *bytes = (const guint8 *) text;
  gsize n = 0;

  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n_bytes = kvasir_utf8_read (bytes + i, len - i, &c);

      if (n_bytes <= 0)
        {
          c = 0xfffd;
          n_bytes = 1;
        }
      chars[n++] = classify (c, (gsize) n_bytes);
      i += (gsize) n_bytes;
    }
  return n;
}

/* How many characters from the start have one of @flags. */
static gsize
count_with (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) != 0)
    i++;
  return i;
}

/* The same for none of @flags. */
static gsize
count_without (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) == 0)
    i++;
  return i;
}

static gboolean
is_line_end (KvasirChar c)
{
  return code_point (c) == '\r' || code_point (c) == '\n';
}

/* 's 't 're 've 'm 'll 'd; letters of either case where @fold is set. */
static gsize
scan_contraction (const KvasirChar *chars, gsize n, gboolean fold)
{
  static const char endings[][3] = { "s", "t", "re", "ve", "m", "ll", "d" };

  if (code_point (chars[0]) != '\'')
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      gsize len = strlen (endings[i]);
      gsize k = 0;

      for (; k < len && k + 1 < n; k++)
        {
          gunichar c = code_point (chars[k + 1]);

          if (fold && c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
          if (c != (gunichar) endings[i][k])
            break;
        }
      if (k == len)
        return len + 1;
    }
  return 0;
}

/* \s+(?!\S): white space up to the end, or all but its last character. */
static gsize
scan_space_before_space (const KvasirChar *chars, gsize n)
{
  gsize n_space = count_with (chars, n, SPACE);

  return n_space == n || n_space == 0 ? n_space : n_space - 1;
}

gsize
kvasir_scan_gpt2 (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = scan_contraction (chars, n, FALSE);
  gsize start = code_point (chars[0]) == ' ' && n > 1 && !(chars[1] & SPACE) ? 1 : 0;
  KvasirChar first = chars[start];

  if (n_contraction > 0)
    return n_contraction;
  if (first & SPACE)
    return scan_space_before_space (chars, n);
  if (first & LETTER)
    return start + count_with (chars + start, n - start, LETTER);
  if (first & NUMBER)
    return start + count_with (chars + start, n - start, NUMBER);
  return start + count_without (chars + start, n - start, SPACE | WORD);
}

/* [^\r\n\p{L}\p{N}]?, the one character that may stand before a word. */
static gsize
scan_word_prefix (KvasirChar c)
{
  return !(c & WORD) && !is_line_end (c) ? 1 : 0;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
static gsize
scan_space (const KvasirChar *chars, gsize n)
{
  gsize n_space = count_with (chars, n, SPACE);
  gsize n_lines = n_space;
  gsize n_before;

  while (n_lines > 0 && !is_line_end (chars[n_lines - 1]))
    n_lines--;
  if (n_lines > 0)
    return n_lines;
  n_before = scan_space_before_space (chars, n);
  return n_before > 0 ? n_before : n_space;
}

/* ` ?[^\s\p{L}\p{N}]+` and then characters out of @tail. */
static gsize
scan_symbols (const KvasirChar *chars, gsize n, const char *tail)
{
  gsize start = code_point (chars[0]) == ' ' ? 1 : 0;
  gsize end = start + count_without (chars + start, n - start, SPACE | WORD);

  if (end == start)
    return 0;
  while (end < n && code_point (chars[end]) < 0x80 && code_point (chars[end]) != 0 &&
         strchr (tail, (int) code_point (chars[end])))
    end++;
  return end;
}

gsize
kvasir_scan_llama3 (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = scan_contraction (chars, n, TRUE);
  gsize start = scan_word_prefix (chars[0]);
  gsize n_letters = count_with (chars + start, n - start, LETTER);
  gsize n_symbols;

  if (n_contraction > 0)
    return n_contraction;
  if (n_letters > 0)
    return start + n_letters;
  if (chars[0] & NUMBER)
    return count_with (chars, MIN (n, max_digits), NUMBER);
  n_symbols = scan_symbols (chars, n, "\r\n");
  return n_symbols > 0 ? n_symbols : scan_space (chars, n);
}

/* Upper and lower case as the expressions of GPT-4o are commonly approximated: every letter but
 * a-z, every letter but A-Z. */
static gboolean
may_be_upper (KvasirChar c)
{
  return (c & LETTER) && !(code_point (c) >= 'a' && code_point (c) <= 'z');
}

static gboolean
may_be_lower (KvasirChar c)
{
  return (c & LETTER) && !(code_point (c) >= 'A' && code_point (c) <= 'Z');
}

/* U*W+|U+W*, where letters outside ASCII are in both: if no lower case follows the longest U*, that
 * gives back letters until one of them serves as W. */
static gsize
scan_cased_word (const KvasirChar *chars, gsize n)
{
  gsize n_upper = 0;
  gsize end;

  while (n_upper < n && may_be_upper (chars[n_upper]))
    n_upper++;
  for (end = n_upper; end < n && may_be_lower (chars[end]);)
    end++;
  if (end > n_upper)
    return end;
  while (end > 0 && !may_be_lower (chars[end - 1]))
    end--;
  return end > 0 ? end : n_upper;
}

gsize
kvasir_scan_gpt4o (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = scan_word_prefix (chars[0]);
  gsize n_letters = scan_cased_word (chars + start, n - start);
  gsize end = start + n_letters;
  gsize n_symbols;

  if (n_letters > 0)
    return end < n ? end + scan_contraction (chars + end, n - end, TRUE) : end;
  if (chars[0] & NUMBER)
    return count_with (chars, MIN (n, max_digits), NUMBER);
  n_symbols = scan_symbols (chars, n, "\r\n/");
  return n_symbols > 0 ? n_symbols : scan_space (chars, n);
}

gsize
kvasir_scan_number (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_with (chars, MIN (n, max_digits), NUMBER);
}

gsize
kvasir_scan_three_digits (const KvasirChar *chars, gsize n, guint max_digits)
{
  if (n < 3)
    return 0;
  for (gsize i = 0; i < 3; i++)
    if (code_point (chars[i]) < '0' || code_point (chars[i]) > '9')
      return 0;
  return 3;
}

static gboolean
is_punctuation (KvasirChar c)
{
  switch (category (c))
    {
    case G_UNICODE_CONNECT_PUNCTUATION:
    case G_UNICODE_DASH_PUNCTUATION:
    case G_UNICODE_CLOSE_PUNCTUATION:
    case G_UNICODE_FINAL_PUNCTUATION:
    case G_UNICODE_INITIAL_PUNCTUATION:
    case G_UNICODE_OTHER_PUNCTUATION:
    case G_UNICODE_OPEN_PUNCTUATION:
      return TRUE;
    default:
      return FALSE;
    }
}

static gsize
count_punctuation (const KvasirChar *chars, gsize n, const char *others)
{
  gsize i = 0;

  while (i < n && (is_punctuation (chars[i]) ||
                   (code_point (chars[i]) > ' ' && code_point (chars[i]) < 0x80 &&
                    strchr (others, (int) code_point (chars[i])))))
    i++;
  return i;
}

gsize
kvasir_scan_punctuation (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_punctuation (chars, n, "$+<=>^~|");
}

gsize
kvasir_scan_punctuation_falcon (const KvasirChar *chars, gsize n, guint max_digits)
{
  return count_punctuation (chars, n, "$+<=>^~|`");
}
