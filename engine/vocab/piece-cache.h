/* engine/vocab/piece-cache.h - ids of words that a text has had before
 *
 * Most words of a text come again, and looking one up is many times as fast as merging it. An entry
 * holds a short piece and where in the array of ids its own begin, so nothing is copied but ids.
 * Owner:  one call of the tokenizer. Thread: one.
 * Bounds: 256 KiB, which short texts do not pay for.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_PIECE_CACHE_MAX_BYTES 24

typedef struct
{
  guint64 key[KVASIR_PIECE_CACHE_MAX_BYTES / 8]; /* the piece, and zeros */
  guint32 first;                                 /* into the ids */
  guint16 n_ids;
  guint16 n_bytes; /* 0 where the entry is free */
} KvasirPieceEntry;

typedef struct
{
  KvasirPieceEntry *entries; /* (owned) (nullable) */
} KvasirPieceCache;

/* Where no memory is left or @n_bytes of text are too few to profit, nothing will be found. */
void kvasir_piece_cache_init (KvasirPieceCache *self, gsize n_bytes);
void kvasir_piece_cache_clear (KvasirPieceCache *self);
/* Appends the ids of the piece to @ids, an array of gint32. FALSE where it is not known. */
gboolean
kvasir_piece_cache_find (KvasirPieceCache *self, const char *piece, gsize len, GArray *ids);
/* Says that the ids of @piece are those of @ids from @first on. */
void kvasir_piece_cache_add (
    KvasirPieceCache *self, const char *piece, gsize len, const GArray *ids, guint first);

G_END_DECLS
