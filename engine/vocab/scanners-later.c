#include "engine/vocab/scanners-private.h"

#include <string.h>

#define LETTERS (KVASIR_CHAR_LETTER | KVASIR_CHAR_MARK)

gsize
kvasir_scan_exaone_moe (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_contraction = kvasir_chars_scan_contraction (chars, n, TRUE);
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize end = start;
  gsize n_symbols;

  if (n_contraction > 0)
    return n_contraction;
  if (start < n && (chars[start] & KVASIR_CHAR_LETTER))
    {
      while (end < n &&
             ((chars[end] & LETTERS) || (kvasir_char_code (chars[end]) == ' ' && end + 1 < n &&
                                         (chars[end + 1] & KVASIR_CHAR_LETTER))))
        end++;
      return end;
    }
  if (chars[0] & KVASIR_CHAR_NUMBER)
    return 1;
  n_symbols = kvasir_chars_scan_symbols (chars, n, KVASIR_CHAR_SPACE | KVASIR_CHAR_WORD, "");
  if (n_symbols == 0)
    return kvasir_chars_scan_space (chars, n);
  return n_symbols < n && (kvasir_char_is_line_end (chars[n_symbols]) ||
                           kvasir_char_code (chars[n_symbols]) == '/')
             ? n_symbols + 1
             : n_symbols;
}

gsize
kvasir_scan_powers_of_two (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize size = 512;

  if (!(chars[n - 1] & KVASIR_CHAR_SPACE) || kvasir_char_is_line_end (chars[n - 1]))
    return n;
  while (size > n)
    size /= 2;
  return size;
}

/* \p{Han} by blocks, as it is commonly approximated. */
static gboolean
is_han (KvasirChar c)
{
  static const KvasirCharRange blocks[] = {
    { 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xf900, 0xfaff },
    { 0x20000, 0x2a6df }, { 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f },
    { 0x2b820, 0x2ceaf }, { 0x2f800, 0x2fa1f }, KVASIR_END_OF_RANGES,
  };

  return kvasir_char_is_in (blocks, G_N_ELEMENTS (blocks) - 1, c);
}

gsize
kvasir_scan_kimi (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize n_han = 0;
  gsize start = kvasir_char_scan_word_prefix (chars[0]);
  gsize end = start;
  gsize n_symbols;

  while (n_han < n && is_han (chars[n_han]))
    n_han++;
  if (n_han > 0)
    return n_han;
  while (end < n && (chars[end] & KVASIR_CHAR_LETTER) && !is_han (chars[end]))
    end++;
  if (end > start)
    return end < n ? end + kvasir_chars_scan_contraction (chars + end, n - end, TRUE) : end;
  if (chars[0] & KVASIR_CHAR_NUMBER)
    return kvasir_chars_count_with (chars, MIN (n, max_digits), KVASIR_CHAR_NUMBER);
  n_symbols = kvasir_chars_scan_symbols (chars, n, KVASIR_CHAR_SPACE | KVASIR_CHAR_WORD, "\r\n");
  return n_symbols > 0 ? n_symbols : kvasir_chars_scan_space (chars, n);
}

gsize
kvasir_scan_youtu (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange hangul[] = { { 0x3131, 0x318e },
                                            { 0xac00, 0xd7a3 },
                                            KVASIR_END_OF_RANGES };
  static const KvasirCharRange marks[] = {
    { 0x2014, 0x2014 }, { 0x2018, 0x2019 },   { 0x201c, 0x201d }, { 0x2026, 0x2026 },
    { 0x3001, 0x303f }, { 0xfe30, 0xfe4f },   { 0xff01, 0xff01 }, { 0xff0c, 0xff0c },
    { 0xff1a, 0xff1b }, KVASIR_END_OF_RANGES,
  };
  static const KvasirCharRange bopomofo[] = { { 0x3105, 0x312f }, KVASIR_END_OF_RANGES };
  static const KvasirCharRange cjk[] = { { 0x3040, 0x30ff },
                                         { 0x4e00, 0x9fa5 },
                                         KVASIR_END_OF_RANGES };
  gsize len = KVASIR_CHARS_COUNT_IN (hangul, chars, n);

  if (len == 0)
    len = KVASIR_CHARS_COUNT_IN (marks, chars, n);
  if (len == 0)
    len = KVASIR_CHARS_COUNT_IN (bopomofo, chars, n);
  return len > 0 ? len : KVASIR_CHARS_COUNT_IN (cjk, chars, n);
}

gsize
kvasir_scan_asian (const KvasirChar *chars, gsize n, guint max_digits)
{
  /* One bound of the list as it is in use is a look-alike, U+8C48 for U+F900. */
  static const KvasirCharRange letters[] = {
    { 0x0e40, 0x0eff }, { 0x1000, 0x109f },   { 0x1100, 0x11ff }, { 0x1780, 0x17ff },
    { 0x2f00, 0x2fdf }, { 0x3040, 0x30ff },   { 0x3400, 0x4dbf }, { 0x4e00, 0xfaff },
    { 0xff65, 0xff9f }, KVASIR_END_OF_RANGES,
  };

  return KVASIR_CHARS_COUNT_IN (letters, chars, n);
}

/* ---- Chameleon ---------------------------------------------------------------------------- */

/* How many characters from the start are those of @text, or 0. */
static gsize
match (const KvasirChar *chars, gsize n, const char *text)
{
  gsize len = strlen (text);

  if (len > n)
    return 0;
  for (gsize i = 0; i < len; i++)
    if (kvasir_char_code (chars[i]) != (guint8) text[i])
      return 0;
  return len;
}

gsize
kvasir_scan_sentinel (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = match (chars, n, "<sentinel:");
  gsize end = start;

  if (start == 0)
    return 0;
  while (end < n && kvasir_char_code (chars[end]) >= '0' && kvasir_char_code (chars[end]) <= '9')
    end++;
  return end > start && end < n && kvasir_char_code (chars[end]) == '>' ? end + 1 : 0;
}

gsize
kvasir_scan_image (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = match (chars, n, "IMGIMG");
  gsize end = start;

  if (start == 0)
    return 0;
  while (end < n && end < start + 4 && kvasir_char_code (chars[end]) >= 'A' &&
         kvasir_char_code (chars[end]) <= 'I')
    end++;
  return end > start && end < n && kvasir_char_code (chars[end]) == 'Z' ? end + 1 : 0;
}

gsize
kvasir_scan_indent (const KvasirChar *chars, gsize n, guint max_digits)
{
  if (kvasir_char_code (chars[0]) == '\t' || kvasir_char_code (chars[0]) == '\n')
    return 1;
  return match (chars, n, "    ") > 0 ? 4 : match (chars, n, "  ");
}

gsize
kvasir_scan_one_mark (const KvasirChar *chars, gsize n, guint max_digits)
{
  gunichar code = kvasir_char_code (chars[0]);

  return kvasir_char_is_punctuation (chars[0]) ||
                 (code > ' ' && code < 0x7f && !(chars[0] & KVASIR_CHAR_WORD))
             ? 1
             : 0;
}

gsize
kvasir_scan_non_space (const KvasirChar *chars, gsize n, guint max_digits)
{
  return kvasir_chars_count_without (chars, n, KVASIR_CHAR_SPACE);
}
