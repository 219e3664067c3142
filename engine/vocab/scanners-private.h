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

/* \p{P} */
gboolean kvasir_char_is_punctuation (KvasirChar c);
/* \s*[\r\n]+|\s+(?!\S)|\s+ */
gsize kvasir_chars_scan_space (const KvasirChar *chars, gsize n);

G_END_DECLS
