/* engine/vocab/text-key.h - a short text as two numbers
 *
 * Most texts of a vocabulary have at most sixteen bytes. As numbers they are compared, hashed and
 * joined without a loop and without a branch that depends on their length, which no processor
 * foresees.
 * Thread: any, pure.
 */
#pragma once

#include <glib.h>
#include <string.h>

#include "engine/gguf/hash.h"

G_BEGIN_DECLS

#define KVASIR_TEXT_KEY_BYTES 16

/* The bytes of the text, the first in the lowest bits, and zeros. */
typedef struct
{
  guint64 words[2];
} KvasirTextKey;

static inline guint64
kvasir_text_key_load_word (const char *text)
{
  guint64 word;

  memcpy (&word, text, sizeof word);
  return GUINT64_FROM_LE (word);
}

/* Of a text of @len <= KVASIR_TEXT_KEY_BYTES that can be read up to KVASIR_TEXT_KEY_BYTES. */
static inline KvasirTextKey
kvasir_text_key_load_padded (const char *text, gsize len)
{
  static const guint8 ones_and_zeros[2 * KVASIR_TEXT_KEY_BYTES] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
  };
  const char *mask = (const char *) ones_and_zeros + KVASIR_TEXT_KEY_BYTES - len;
  KvasirTextKey key;

  for (gsize i = 0; i < 2; i++)
    key.words[i] =
        kvasir_text_key_load_word (text + 8 * i) & kvasir_text_key_load_word (mask + 8 * i);
  return key;
}

/* Of any text of @len <= KVASIR_TEXT_KEY_BYTES; the reads overlap. */
static inline KvasirTextKey
kvasir_text_key_load (const char *text, gsize len)
{
  const guint8 *bytes = (const guint8 *) text;
  KvasirTextKey key = { { 0, 0 } };
  guint32 first, last;

  if (len >= 8)
    {
      key.words[0] = kvasir_text_key_load_word (text);
      if (len > 8)
        key.words[1] = kvasir_text_key_load_word (text + len - 8) >> (8 * (16 - len));
    }
  else if (len >= 4)
    {
      memcpy (&first, text, sizeof first);
      memcpy (&last, text + len - sizeof last, sizeof last);
      key.words[0] = GUINT32_FROM_LE (first) | (guint64) GUINT32_FROM_LE (last)
                                                   << (8 * (len - sizeof last));
    }
  else if (len > 0)
    key.words[0] = (guint64) bytes[0] | (guint64) bytes[len / 2] << (8 * (len / 2)) |
                   (guint64) bytes[len - 1] << (8 * (len - 1));
  return key;
}

static inline gboolean
kvasir_text_key_equals (const KvasirTextKey *a, const KvasirTextKey *b)
{
  return ((a->words[0] ^ b->words[0]) | (a->words[1] ^ b->words[1])) == 0;
}

/* Of the text of @a, which has @len bytes, and that of @b behind it, together at most
 * KVASIR_TEXT_KEY_BYTES and each at least one. */
static inline KvasirTextKey
kvasir_text_key_join (const KvasirTextKey *a, gsize len, const KvasirTextKey *b)
{
  __extension__ typedef unsigned __int128 Wide;
  Wide joined = ((Wide) b->words[1] << 64 | b->words[0]) << (8 * len);

  return (
      KvasirTextKey){ { a->words[0] | (guint64) joined, a->words[1] | (guint64) (joined >> 64) } };
}

/* The constants are the first digits of pi and of e. */
static inline guint64
kvasir_text_key_hash (const KvasirTextKey *key, gsize len, guint64 seed)
{
  guint64 hash =
      kvasir_hash_mix (seed ^ (0x243f6a8885a308d3u + len) ^ key->words[0], 0xb7e151628aed2a6bu);

  return kvasir_hash_mix (hash ^ key->words[1], 0x13198a2e03707345u);
}

G_END_DECLS
