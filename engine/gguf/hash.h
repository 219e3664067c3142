/* engine/gguf/hash.h - hash of byte strings for tables whose keys come out of a file
 *
 * Thread: any, pure. A seed drawn once per table keeps a file from being made so that all its names
 *   fall into one slot, which would turn the check for duplicates into a quadratic loop.
 */
#pragma once

#include <glib.h>
#include <string.h>

G_BEGIN_DECLS

static inline guint64
kvasir_hash_mix (guint64 a, guint64 b)
{
  __extension__ typedef unsigned __int128 Wide;
  Wide product = (Wide) a * b;
  return (guint64) product ^ (guint64) (product >> 64);
}

/* Up to seven bytes as one number that tells texts of one length apart; reads may overlap. */
static inline guint64
kvasir_hash_load_tail (const guint8 *bytes, gsize len)
{
  guint32 first, last;

  if (len == 0)
    return 0;
  if (len < 4)
    return (guint64) bytes[0] << 16 | (guint64) bytes[len / 2] << 8 | bytes[len - 1];
  memcpy (&first, bytes, sizeof first);
  memcpy (&last, bytes + len - sizeof last, sizeof last);
  return (guint64) first << 32 | last;
}

/* Eight bytes a round; the constants are the first digits of pi and of e, odd so that no factor of
 * two is lost. */
static inline guint64
kvasir_hash_bytes (const void *bytes, gsize len, guint64 seed)
{
  const guint8 *p = bytes;
  guint64 hash = seed ^ (0x243f6a8885a308d3u + len);
  guint64 word;

  for (; len >= 8; len -= 8, p += 8)
    {
      memcpy (&word, p, 8);
      hash = kvasir_hash_mix (hash ^ word, 0xb7e151628aed2a6bu);
    }
  return kvasir_hash_mix (hash ^ kvasir_hash_load_tail (p, len), 0x13198a2e03707345u);
}

G_END_DECLS
