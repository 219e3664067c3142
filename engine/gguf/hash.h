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
  word = 0;
  if (len > 0)
    memcpy (&word, p, len);
  return kvasir_hash_mix (hash ^ word, 0x13198a2e03707345u);
}

G_END_DECLS
