#include "engine/vocab/piece-cache.h"

#include "engine/gguf/hash.h"

enum
{
  N_ENTRIES = 1 << 13,
  MIN_TEXT_BYTES = 1 << 12,
};

void
kvasir_piece_cache_init (KvasirPieceCache *self, gsize n_bytes)
{
  if (n_bytes >= MIN_TEXT_BYTES)
    self->entries = g_try_new0 (KvasirPieceEntry, N_ENTRIES);
}

void
kvasir_piece_cache_clear (KvasirPieceCache *self)
{
  g_clear_pointer (&self->entries, g_free);
}

static KvasirPieceEntry *
find_entry (const KvasirPieceCache *self, const char *piece, gsize len, KvasirPieceEntry *wanted)
{
  guint64 hash;

  *wanted = (KvasirPieceEntry){ .n_bytes = (guint16) len };
  memcpy (wanted->key, piece, len);
  hash = kvasir_hash_mix (wanted->key[0] ^ 0x243f6a8885a308d3u, wanted->key[1] ^ len);
  hash = kvasir_hash_mix (wanted->key[2] ^ 0x13198a2e03707345u, hash ^ 0xb7e151628aed2a6bu);
  return &self->entries[hash % N_ENTRIES];
}

gboolean
kvasir_piece_cache_find (KvasirPieceCache *self, const char *piece, gsize len, GArray *ids)
{
  const KvasirPieceEntry *entry;
  KvasirPieceEntry wanted;
  guint n_before = ids->len;

  if (!self->entries || len > KVASIR_PIECE_CACHE_MAX_BYTES)
    return FALSE;
  entry = find_entry (self, piece, len, &wanted);
  if (entry->n_bytes != len || memcmp (entry->key, wanted.key, sizeof wanted.key) != 0)
    return FALSE;
  g_array_set_size (ids, n_before + entry->n_ids);
  memcpy (&g_array_index (ids, gint32, n_before), &g_array_index (ids, gint32, entry->first),
          entry->n_ids * sizeof (gint32));
  return TRUE;
}

void
kvasir_piece_cache_add (
    KvasirPieceCache *self, const char *piece, gsize len, const GArray *ids, guint first)
{
  KvasirPieceEntry wanted;
  KvasirPieceEntry *entry;

  if (!self->entries || len > KVASIR_PIECE_CACHE_MAX_BYTES)
    return;
  entry = find_entry (self, piece, len, &wanted);
  wanted.first = first;
  wanted.n_ids = (guint16) (ids->len - first);
  *entry = wanted;
}
