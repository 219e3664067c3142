#include "engine/vocab/scanners-private.h"

gboolean
kvasir_char_is_in (const KvasirCharRange *ranges, gsize n, KvasirChar c)
{
  gunichar code = kvasir_char_code (c);
  gsize low = 0;

  if ((c & KVASIR_CHAR_SPACE) && code >= 0x80)
    return FALSE;
  while (low < n)
    {
      gsize middle = (low + n) / 2;

      if (ranges[middle].last < code)
        low = middle + 1;
      else
        n = middle;
    }
  return ranges[low].first <= code && code <= ranges[low].last;
}

gsize
kvasir_chars_count_in (const KvasirCharRange *ranges,
                       gsize n_ranges,
                       const KvasirChar *chars,
                       gsize n)
{
  gsize i = 0;

  while (i < n && kvasir_char_is_in (ranges, n_ranges, chars[i]))
    i++;
  return i;
}

/* \s? before a match of @n_matched characters. */
static gsize
with_space (gsize start, gsize n_matched)
{
  return n_matched > 0 ? start + n_matched : 0;
}

static gsize
count_space (KvasirChar c)
{
  return (c & KVASIR_CHAR_SPACE) != 0;
}

gsize
kvasir_scan_bloom (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange marks[] = {
    { '!', '!' },         { '(', ')' },       { ',', ',' },       { '.', '.' },
    { '?', '?' },         { '|', '|' },       { 0x060c, 0x060c }, { 0x06d4, 0x06d4 },
    { 0x0964, 0x0964 },   { 0x2026, 0x2026 }, { 0x3001, 0x3002 }, { 0xff0c, 0xff0c },
    KVASIR_END_OF_RANGES,
  };
  gsize start = kvasir_char_code (chars[0]) == ' ' ? 1 : 0;
  gsize end = start;

  while (end < n && !(chars[end] & KVASIR_CHAR_SPACE) &&
         !kvasir_char_is_in (marks, G_N_ELEMENTS (marks) - 1, chars[end]))
    end++;
  return with_space (start, end - start);
}

gsize
kvasir_scan_lines (const KvasirChar *chars, gsize n, guint max_digits)
{
  gboolean is_end = kvasir_char_code (chars[0]) == '\n';
  gsize i = 1;

  while (i < n && (kvasir_char_code (chars[i]) == '\n') == is_end)
    i++;
  return i;
}

gsize
kvasir_scan_line_end (const KvasirChar *chars, gsize n, guint max_digits)
{
  return kvasir_char_is_line_end (chars[0]) ? 1 : 0;
}

gsize
kvasir_scan_letters (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = count_space (chars[0]);

  return with_space (start, kvasir_chars_count_with (chars + start, n - start, KVASIR_CHAR_LETTER));
}

gsize
kvasir_scan_spaced_punctuation (const KvasirChar *chars, gsize n, guint max_digits)
{
  gsize start = count_space (chars[0]);
  gsize end = start;

  while (end < n && kvasir_char_is_punctuation (chars[end]))
    end++;
  return with_space (start, end - start);
}

gsize
kvasir_scan_cased_letters (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange letters[] = {
    { 0x0041, 0x005a },   { 0x0061, 0x007a },   { 0x00b5, 0x00b5 },   { 0x00c0, 0x00d6 },
    { 0x00d8, 0x00f6 },   { 0x00f8, 0x01ba },   { 0x01bc, 0x01bf },   { 0x01c4, 0x0293 },
    { 0x0295, 0x02af },   { 0x0370, 0x0373 },   { 0x0376, 0x0376 },   { 0x0377, 0x0377 },
    { 0x037b, 0x037d },   { 0x037f, 0x037f },   { 0x0386, 0x0386 },   { 0x0388, 0x038a },
    { 0x038c, 0x038c },   { 0x038e, 0x03a1 },   { 0x03a3, 0x03f5 },   { 0x03f7, 0x0481 },
    { 0x048a, 0x052f },   { 0x0531, 0x0556 },   { 0x10a0, 0x10c5 },   { 0x13a0, 0x13f5 },
    { 0x13f8, 0x13fd },   { 0x1c90, 0x1cba },   { 0x1cbd, 0x1cbf },   { 0x1d00, 0x1d2b },
    { 0x1d6b, 0x1d77 },   { 0x1d79, 0x1d9a },   { 0x1e00, 0x1f15 },   { 0x1f18, 0x1f1d },
    { 0x1f20, 0x1f45 },   { 0x1f48, 0x1f4d },   { 0x1f50, 0x1f57 },   { 0x1f59, 0x1f59 },
    { 0x1f5b, 0x1f5b },   { 0x1f5d, 0x1f5d },   { 0x1f5f, 0x1f7d },   { 0x1f80, 0x1fb4 },
    { 0x1fb6, 0x1fbc },   { 0x1fbe, 0x1fbe },   { 0x1fc2, 0x1fc4 },   { 0x1fc6, 0x1fcc },
    { 0x1fd0, 0x1fd3 },   { 0x1fd6, 0x1fdb },   { 0x1fe0, 0x1fec },   { 0x1ff2, 0x1ff4 },
    { 0x1ff6, 0x1ffc },   { 0x2102, 0x2102 },   { 0x2107, 0x2107 },   { 0x210a, 0x2113 },
    { 0x2115, 0x2115 },   { 0x2119, 0x211d },   { 0x2124, 0x2124 },   { 0x2126, 0x2126 },
    { 0x2128, 0x2128 },   { 0x212a, 0x212d },   { 0x212f, 0x2134 },   { 0x2139, 0x2139 },
    { 0x213c, 0x213f },   { 0x2145, 0x2149 },   { 0x214e, 0x214e },   { 0x2183, 0x2183 },
    { 0x2184, 0x2184 },   { 0x2c00, 0x2c7b },   { 0x2c7e, 0x2ce4 },   { 0x2ceb, 0x2cee },
    { 0x2cf2, 0x2cf2 },   { 0x2cf3, 0x2cf3 },   { 0xa640, 0xa66d },   { 0xa680, 0xa69b },
    { 0xa722, 0xa76f },   { 0xa771, 0xa787 },   { 0xa78b, 0xa78e },   { 0xab70, 0xabbf },
    { 0xfb00, 0xfb06 },   { 0xfb13, 0xfb17 },   { 0xff21, 0xff3a },   { 0xff41, 0xff5a },
    { 0x10400, 0x1044f }, { 0x104b0, 0x104d3 }, { 0x104d8, 0x104fb }, { 0x10c80, 0x10cb2 },
    { 0x10cc0, 0x10cf2 }, { 0x118a0, 0x118df }, { 0x1e900, 0x1e943 }, KVASIR_END_OF_RANGES
  };
  gsize start = count_space (chars[0]);

  return with_space (start, KVASIR_CHARS_COUNT_IN (letters, chars + start, n - start));
}

gsize
kvasir_scan_wide_punctuation (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange marks[] = {
    { '!', '/' },       { ':', '~' },       { 0x2018, 0x201f },   { 0x3000, 0x3002 },
    { 0xff01, 0xff0f }, { 0xff1a, 0xff5e }, KVASIR_END_OF_RANGES,
  };
  gsize start = count_space (chars[0]);
  gsize n_marks = KVASIR_CHARS_COUNT_IN (marks, chars + start, n - start);

  return with_space (start, n_marks);
}

gsize
kvasir_scan_cjk_hangul (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange letters[] = { { 0x0800, 0x9fa5 },
                                             { 0xac00, 0xd7ff },
                                             KVASIR_END_OF_RANGES };

  return KVASIR_CHARS_COUNT_IN (letters, chars, n);
}

gsize
kvasir_scan_cjk_kana (const KvasirChar *chars, gsize n, guint max_digits)
{
  static const KvasirCharRange letters[] = { { 0x3040, 0x30ff },
                                             { 0x4e00, 0x9fa5 },
                                             KVASIR_END_OF_RANGES };

  return KVASIR_CHARS_COUNT_IN (letters, chars, n);
}

static gboolean
is_ascii_letter (KvasirChar c)
{
  return kvasir_char_code (c) < 0x80 && (c & KVASIR_CHAR_LETTER) != 0;
}

/* \p{P} or \p{S} */
static gboolean
is_mark (KvasirChar c)
{
  switch (kvasir_char_category (c))
    {
    case G_UNICODE_CURRENCY_SYMBOL:
    case G_UNICODE_MODIFIER_SYMBOL:
    case G_UNICODE_MATH_SYMBOL:
    case G_UNICODE_OTHER_SYMBOL:
      return TRUE;
    default:
      return kvasir_char_is_punctuation (c);
    }
}

static gsize
scan_marks (const KvasirChar *chars, gsize n)
{
  gsize start = kvasir_char_code (chars[0]) == ' ' ? 1 : 0;
  gsize end = start;

  while (end < n && is_mark (chars[end]))
    end++;
  if (end == start)
    return 0;
  while (end < n && kvasir_char_is_line_end (chars[end]))
    end++;
  return end;
}

gsize
kvasir_scan_deepseek_v3 (const KvasirChar *chars, gsize n, guint max_digits)
{
  const guint32 letters = KVASIR_CHAR_LETTER | KVASIR_CHAR_MARK;
  gboolean starts_with_mark = is_mark (chars[0]);
  gsize start =
      !(chars[0] & KVASIR_CHAR_LETTER) && !starts_with_mark && !kvasir_char_is_line_end (chars[0]);
  gsize end = 1;

  if (starts_with_mark && kvasir_char_code (chars[0]) < 0x80)
    while (end < n && is_ascii_letter (chars[end]))
      end++;
  if (end > 1)
    return end;
  end = start + kvasir_chars_count_with (chars + start, n - start, letters);
  if (end > start || (chars[0] & letters))
    return end;
  end = scan_marks (chars, n);
  return end > 0 ? end : kvasir_chars_scan_space (chars, n);
}

gsize
kvasir_find_space_at_end (const KvasirChar *chars, gsize n)
{
  while (n > 0 && (chars[n - 1] & KVASIR_CHAR_SPACE))
    n--;
  return n;
}
