#include "engine/vocab/charsmap.h"

#include <string.h>

const char *
kvasir_chars_map_init (KvasirCharsMap *self, const guint8 *bytes, gsize len)
{
  guint32 trie_bytes = 0;

  if (len < sizeof trie_bytes)
    return "it is too short for the size of its trie";
  memcpy (&trie_bytes, bytes, sizeof trie_bytes);
  trie_bytes = GUINT32_FROM_LE (trie_bytes);
  bytes += sizeof trie_bytes;
  len -= sizeof trie_bytes;
  if (trie_bytes == 0 || trie_bytes % sizeof (guint32) != 0 || trie_bytes >= len)
    return "the size of its trie does not fit";
  self->n_units = trie_bytes / sizeof (guint32);
  self->n_text_bytes = len - trie_bytes + 1;
  self->units = g_try_new (guint32, self->n_units);
  self->texts = g_try_malloc (self->n_text_bytes);
  if (!self->units || !self->texts)
    return "there is no memory for it";
  memcpy (self->units, bytes, trie_bytes);
  for (gsize i = 0; i < self->n_units; i++)
    self->units[i] = GUINT32_FROM_LE (self->units[i]);
  memcpy (self->texts, bytes + trie_bytes, len - trie_bytes);
  self->texts[self->n_text_bytes - 1] = 0;
  return NULL;
}

void
kvasir_chars_map_clear (KvasirCharsMap *self)
{
  g_clear_pointer (&self->units, g_free);
  g_clear_pointer (&self->texts, g_free);
}

static guint32
get_distance (guint32 unit)
{
  return unit >> 10 << ((unit & (1u << 9)) >> 6);
}

gsize
kvasir_chars_map_match (const KvasirCharsMap *self,
                        const char *text,
                        gsize len,
                        const char **replacement)
{
  gsize longest = 0;
  guint32 position;

  if (!self->units)
    return 0;
  position = get_distance (self->units[0]);
  for (gsize i = 0; i < len; i++)
    {
      guint8 byte = (guint8) text[i];
      guint32 unit;
      guint32 value;

      position ^= byte;
      if (byte == 0 || position >= self->n_units)
        break;
      unit = self->units[position];
      if ((unit & (1u << 31 | 0xff)) != byte)
        break;
      position ^= get_distance (unit);
      if (!(unit >> 8 & 1) || position >= self->n_units)
        continue;
      value = self->units[position] & G_MAXINT32;
      if (value >= self->n_text_bytes)
        continue;
      *replacement = self->texts + value;
      longest = i + 1;
    }
  return longest;
}
