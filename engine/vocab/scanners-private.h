/* engine/vocab/scanners-private.h - what hand-written regular expressions share
 *
 * Thread: any, pure.
 */
#pragma once

#include "engine/vocab/scanners.h"

G_BEGIN_DECLS

enum
{
  KVASIR_CHAR_CODE = (1 << 21) - 1,
  KVASIR_CHAR_CATEGORY_SHIFT = 23,
  KVASIR_CHAR_CATEGORY_MASK = 31,
};

#define KVASIR_CHAR_SPACE (1u << 28)
#define KVASIR_CHAR_LETTER (1u << 29)
#define KVASIR_CHAR_NUMBER (1u << 30)
#define KVASIR_CHAR_MARK (1u << 31)
#define KVASIR_CHAR_WORD (KVASIR_CHAR_LETTER | KVASIR_CHAR_NUMBER)

static inline gunichar
kvasir_char_code (KvasirChar c)
{
  return c & KVASIR_CHAR_CODE;
}

static inline GUnicodeType
kvasir_char_category (KvasirChar c)
{
  return (GUnicodeType) (c >> KVASIR_CHAR_CATEGORY_SHIFT & KVASIR_CHAR_CATEGORY_MASK);
}

static inline gboolean
kvasir_char_is_line_end (KvasirChar c)
{
  return kvasir_char_code (c) == '\r' || kvasir_char_code (c) == '\n';
}

/* How many characters from the start have one of @flags. */
static inline gsize
kvasir_chars_count_with (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) != 0)
    i++;
  return i;
}

/* The same for none of @flags. */
static inline gsize
kvasir_chars_count_without (const KvasirChar *chars, gsize n, guint32 flags)
{
  gsize i = 0;

  while (i < n && (chars[i] & flags) == 0)
    i++;
  return i;
}

typedef struct
{
  gunichar first;
  gunichar last;
} KvasirCharRange;

/* The last range of each list ends the search. */
#define KVASIR_END_OF_RANGES                                                                       \
  {                                                                                                \
    G_MAXUINT32, G_MAXUINT32                                                                       \
  }

/* Whether one of the @n ranges, which are in order, holds the character. White space outside ASCII
 * is in none: where the ids come from it only counts as \s. */
gboolean kvasir_char_is_in (const KvasirCharRange *ranges, gsize n, KvasirChar c);
/* How many characters from the start are in one of them. */
gsize kvasir_chars_count_in (const KvasirCharRange *ranges,
                             gsize n_ranges,
                             const KvasirChar *chars,
                             gsize n);
#define KVASIR_CHARS_COUNT_IN(ranges, chars, n)                                                    \
  kvasir_chars_count_in (ranges, G_N_ELEMENTS (ranges) - 1, chars, n)

/* 's 't 're 've 'm 'll 'd; letters of either case where @fold is set. Returns: its length, or 0 */
gsize kvasir_chars_scan_contraction (const KvasirChar *chars, gsize n, gboolean fold);
/* ` ?` and characters with none of the flags @others, and then such out of @tail. */
gsize
kvasir_chars_scan_symbols (const KvasirChar *chars, gsize n, guint32 others, const char *tail);
/* [^\r\n\p{L}\p{N}]?, the one character that may stand before a word. */
gsize kvasir_char_scan_word_prefix (KvasirChar c);

/* \p{P} */
gboolean kvasir_char_is_punctuation (KvasirChar c);
/* \s*[\r\n]+|\s+(?!\S)|\s+ */
gsize kvasir_chars_scan_space (const KvasirChar *chars, gsize n);

G_END_DECLS
