#include "engine/vocab/scanners.h"

#include "engine/vocab/scanners-private.h"
#include "engine/vocab/utf8.h"

#include <string.h>

enum
{
  /* Special tokens can cut a text into pieces so short that a table of characters would not pay. */
  MIN_BYTES_FOR_TABLE = 256,
};

/* \s of the expressions is Unicode's White_Space: the separators and some controls. */
static KvasirChar
classify (gunichar c, gsize n_bytes)
{
  GUnicodeType type = g_unichar_type (c);
  KvasirChar packed =
      c | (KvasirChar) (n_bytes - 1) << 21 | (KvasirChar) type << KVASIR_CHAR_CATEGORY_SHIFT;

  switch (type)
    {
    case G_UNICODE_LOWERCASE_LETTER:
    case G_UNICODE_UPPERCASE_LETTER:
    case G_UNICODE_TITLECASE_LETTER:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_OTHER_LETTER:
      return packed | KVASIR_CHAR_LETTER;
    case G_UNICODE_DECIMAL_NUMBER:
    case G_UNICODE_LETTER_NUMBER:
    case G_UNICODE_OTHER_NUMBER:
      return packed | KVASIR_CHAR_NUMBER;
    case G_UNICODE_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_NON_SPACING_MARK:
      return packed | KVASIR_CHAR_MARK;
    case G_UNICODE_SPACE_SEPARATOR:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return packed | KVASIR_CHAR_SPACE;
    default:
      return (c >= '\t' && c <= '\r') || c == 0x85 ? packed | KVASIR_CHAR_SPACE : packed;
    }
}

gsize
kvasir_chars_decode (const char *text, gsize len, KvasirChar *chars)
{
  const guint8 *bytes = (const guint8 *) text;
  KvasirChar ascii[128];
  const guint8 n_ascii = len < MIN_BYTES_FOR_TABLE ? 0 : G_N_ELEMENTS (ascii);
  gsize n = 0;

  for (gunichar c = 0; c < n_ascii; c++)
    ascii[c] = classify (c, 1);
  for (gsize i = 0; i < len;)
    {
      gunichar c = 0;
      int n_bytes;

      if (bytes[i] < n_ascii)
        {
          chars[n++] = ascii[bytes[i++]];
          continue;
        }
      n_bytes = kvasir_utf8_read (bytes + i, len - i, &c);
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

gsize
kvasir_chars_scan_contraction (const KvasirChar *chars, gsize n, gboolean fold)
{
  static const char endings[][3] = { "s", "t", "re", "ve", "m", "ll", "d" };

  if (kvasir_char_code (chars[0]) != '\'')
    return 0;
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      gsize len = strlen (endings[i]);
      gsize k = 0;

      for (; k < len && k + 1 < n; k++)
        {
          gunichar c = kvasir_char_code (chars[k + 1]);

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
  gsize n_space = kvasir_chars_count_with (chars, n, KVASIR_CHAR_SPACE);

  return n_space == n || n_space == 0 ? n_space : n_space - 1;
}

gsize
kvasir_scan_gpt2 (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = kvasir_chars_scan_contraction (chars, n, FALSE);
  gsize start =
      kvasir_char_code (chars[0]) == ' ' && n > 1 && !(chars[1] & KVASIR_CHAR_SPACE) ? 1 : 0;
  KvasirChar first = chars[start];

  if (n_contraction > 0)
    return n_contraction;
  if (first & KVASIR_CHAR_SPACE)
    return scan_space_before_space (chars, n);
  if (first & KVASIR_CHAR_LETTER)
    return start + kvasir_chars_count_with (chars + start, n - start, KVASIR_CHAR_LETTER);
  if (first & KVASIR_CHAR_NUMBER)
    return start + kvasir_chars_count_with (chars + start, n - start, KVASIR_CHAR_NUMBER);
  return start + kvasir_chars_count_without (chars + start, n - start,
                                             KVASIR_CHAR_SPACE | KVASIR_CHAR_WORD);
}

gsize
kvasir_char_scan_word_prefix (KvasirChar c)
{
  return !(c & KVASIR_CHAR_WORD) && !kvasir_char_is_line_end (c) ? 1 : 0;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ */
gsize
kvasir_chars_scan_space (const KvasirChar *chars, gsize n)
{
  gsize n_space = kvasir_chars_count_with (chars, n, KVASIR_CHAR_SPACE);
  gsize n_lines = n_space;
  gsize n_before;

  while (n_lines > 0 && !kvasir_char_is_line_end (chars[n_lines - 1]))
    n_lines--;
  if (n_lines > 0)
    return n_lines;
  n_before = scan_space_before_space (chars, n);
  return n_before > 0 ? n_before : n_space;
}

gsize
kvasir_chars_scan_symbols (const KvasirChar *chars, gsize n, guint32 others, const char *tail)
{
  gsize start = kvasir_char_code (chars[0]) == ' ' ? 1 : 0;
  gsize end = start + kvasir_chars_count_without (chars + start, n - start, others);

  if (end == start)
    return 0;
  while (end < n && kvasir_char_code (chars[end]) < 0x80 && kvasir_char_code (chars[end]) != 0 &&
         strchr (tail, (int) kvasir_char_code (chars[end])))
    end++;
  return end;
}

/* The expressions of Llama 3 and what is the same with marks among the letters. */
static gsize
scan_words (const KvasirChar *chars, gsize n, guint max_digits, guint32 letters, const char *tail)
{
  gsize n_contraction = kvasir_chars_scan_contraction (chars, n, TRUE);
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize n_letters = kvasir_chars_count_with (chars + start, n - start, letters);
  gsize n_symbols;

  if (n_contraction > 0)
    return n_contraction;
  if (n_letters > 0 || (chars[0] & letters))
    return start + n_letters;
  if (chars[0] & KVASIR_CHAR_NUMBER)
    return kvasir_chars_count_with (chars, MIN (n, max_digits), KVASIR_CHAR_NUMBER);
  n_symbols =
      kvasir_chars_scan_symbols (chars, n, KVASIR_CHAR_SPACE | KVASIR_CHAR_NUMBER | letters, tail);
  return n_symbols > 0 ? n_symbols : kvasir_chars_scan_space (chars, n);
}

gsize
kvasir_scan_llama3 (const KvasirChar *chars, gsize n, guint max_digits)
{
  return scan_words (chars, n, max_digits, KVASIR_CHAR_LETTER, "\r\n");
}

gsize
kvasir_scan_seed_coder (const KvasirChar *chars, gsize n, guint max_digits)
{
  return scan_words (chars, n, max_digits, KVASIR_CHAR_LETTER, "");
}

gsize
kvasir_scan_ufakzeka (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize n_letters = kvasir_chars_count_with (chars + start, n - start, KVASIR_CHAR_LETTER);

  if (n_letters > 0)
    return start + n_letters;
  return scan_words (chars, n, max_digits, KVASIR_CHAR_LETTER, "\r\n");
}

gsize
kvasir_scan_qwen35 (const KvasirChar *chars, gsize n, guint max_digits)
{
  return scan_words (chars, n, max_digits, KVASIR_CHAR_LETTER | KVASIR_CHAR_MARK, "\r\n");
}

/* Upper and lower case as the expressions of GPT-4o are commonly approximated: every one of
 * @letters but a-z, every one but A-Z. */
static gboolean
may_be_upper (KvasirChar c, guint32 letters)
{
  return (c & letters) && !(kvasir_char_code (c) >= 'a' && kvasir_char_code (c) <= 'z');
}

static gboolean
may_be_lower (KvasirChar c, guint32 letters)
{
  return (c & letters) && !(kvasir_char_code (c) >= 'A' && kvasir_char_code (c) <= 'Z');
}

static gsize
count_upper (const KvasirChar *chars, gsize n, guint32 letters)
{
  gsize i = 0;

  while (i < n && may_be_upper (chars[i], letters))
    i++;
  return i;
}

/* U*W+, where letters outside ASCII are in both: if no lower case follows the longest U*, that
 * gives back letters until one of them serves as W. */
static gsize
scan_lower_word (const KvasirChar *chars, gsize n, guint32 letters)
{
  gsize n_upper = count_upper (chars, n, letters);
  gsize end = n_upper;

  while (end < n && may_be_lower (chars[end], letters))
    end++;
  if (end > n_upper)
    return end;
  while (end > 0 && !may_be_lower (chars[end - 1], letters))
    end--;
  return end;
}

/* What follows a word of @len > 0 characters if it is a contraction. */
static gsize
with_contraction (const KvasirChar *chars, gsize n, gsize len)
{
  return len < n ? len + kvasir_chars_scan_contraction (chars + len, n - len, TRUE) : len;
}

/* What is no word. */
static gsize
scan_o200k_rest (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_symbols;

  if (chars[0] & KVASIR_CHAR_NUMBER)
    return kvasir_chars_count_with (chars, MIN (n, max_digits), KVASIR_CHAR_NUMBER);
  n_symbols = kvasir_chars_scan_symbols (chars, n, KVASIR_CHAR_SPACE | KVASIR_CHAR_WORD, "\r\n/");
  return n_symbols > 0 ? n_symbols : kvasir_chars_scan_space (chars, n);
}

/* [^\r\n\p{L}\p{N}]?U*W+|[^\r\n\p{L}\p{N}]?U+W*: the character in front may be a letter too where
 * marks count as such. The second is only looked for where there is no W behind U*. */
static gsize
scan_o200k_word (const KvasirChar *chars, gsize n, guint32 letters)
{
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize len = scan_lower_word (chars + start, n - start, letters);

  if (len > 0)
    return start + len;
  len = start > 0 ? scan_lower_word (chars, n, letters) : 0;
  if (len > 0)
    return len;
  len = count_upper (chars + start, n - start, letters);
  return len > 0 ? start + len : count_upper (chars, n, letters);
}

gsize
kvasir_scan_gpt4o (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize len = scan_o200k_word (chars, n, KVASIR_CHAR_LETTER);

  return len > 0 ? with_contraction (chars, n, len) : scan_o200k_rest (chars, n, max_digits);
}

gsize
kvasir_scan_tekken (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize len = scan_o200k_word (chars, n, KVASIR_CHAR_LETTER);

  return len > 0 ? len : scan_o200k_rest (chars, n, max_digits);
}

gsize
kvasir_scan_granite_embed (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize len = scan_o200k_word (chars, n, KVASIR_CHAR_LETTER | KVASIR_CHAR_MARK);

  return len > 0 ? with_contraction (chars, n, len) : scan_o200k_rest (chars, n, max_digits);
}

gsize
kvasir_scan_tiny_aya (const KvasirChar *chars, gsize n, guint max_digits)
{
  const guint32 letters = KVASIR_CHAR_LETTER | KVASIR_CHAR_MARK;
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize end = start + kvasir_chars_count_with (chars + start, n - start, letters);

  if (end > start || (chars[0] & letters))
    return with_contraction (chars, n, end);
  return scan_o200k_rest (chars, n, max_digits);
}

gsize
kvasir_scan_number (const KvasirChar *chars, gsize n, guint max_digits)
{
  return kvasir_chars_count_with (chars, MIN (n, max_digits), KVASIR_CHAR_NUMBER);
}

gboolean
kvasir_char_is_number (KvasirChar c)
{
  return (c & KVASIR_CHAR_NUMBER) != 0;
}

gboolean
kvasir_char_is_ascii_digit (KvasirChar c)
{
  return kvasir_char_code (c) >= '0' && kvasir_char_code (c) <= '9';
}

gsize
kvasir_scan_three_digits (const KvasirChar *chars, gsize n, guint max_digits)
{
  if (n < 3)
    return 0;
  for (gsize i = 0; i < 3; i++)
    if (!kvasir_char_is_ascii_digit (chars[i]))
      return 0;
  return 3;
}

gboolean
kvasir_char_is_punctuation (KvasirChar c)
{
  switch (kvasir_char_category (c))
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

  while (i < n && (kvasir_char_is_punctuation (chars[i]) ||
                   (kvasir_char_code (chars[i]) > ' ' && kvasir_char_code (chars[i]) < 0x80 &&
                    strchr (others, (int) kvasir_char_code (chars[i])))))
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
