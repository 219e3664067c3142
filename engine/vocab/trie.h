/* engine/vocab/trie.h - which of many byte strings a text begins with
 *
 * A double array: a step is one sum and one comparison, whatever the number of strings. Cell c has
 * a child for byte b where the parent of cell first[c] + b is c.
 * Owner:  whoever builds it. Immutable afterwards: any thread may search.
 * Bounds: 12 bytes per cell, about one cell per distinct beginning; linear time to build but for
 *   sorting the strings, because the search for free cells gives up early.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_TRIE_NO_VALUE G_MAXUINT32
/* What no byte leads to. */
#define KVASIR_TRIE_ROOT 0

typedef struct
{
  const char *text; /* (unowned) need not outlive the building */
  guint32 len;      /* > 0 */
  guint32 value;    /* of equal strings the one with the largest value stays */
} KvasirTrieKey;

typedef struct
{
  guint32 first; /* where the child for byte 0 would be */
  guint32 parent;
  guint32 value; /* of the string that ends here, or KVASIR_TRIE_NO_VALUE */
} KvasirTrieCell;

typedef struct
{
  KvasirTrieCell *cells; /* (owned) (nullable) */
  gsize n_cells;
} KvasirTrie;

/* Sorts @keys. FALSE where there is no memory. */
gboolean kvasir_trie_build (KvasirTrie *self, KvasirTrieKey *keys, gsize n_keys);
void kvasir_trie_clear (KvasirTrie *self);

/* Returns: the cell behind @cell for @byte, or KVASIR_TRIE_ROOT. Every cell has room for 256
 * children behind it, so that a step needs no other check. */
static inline guint32
kvasir_trie_step (const KvasirTrie *self, guint32 cell, guint8 byte)
{
  guint32 child = self->cells[cell].first + byte;

  return self->cells[child].parent == cell ? child : KVASIR_TRIE_ROOT;
}

/* The longest string that @text begins with. Returns: its length, 0 where there is none */
gsize kvasir_trie_match (const KvasirTrie *self, const char *text, gsize len, guint32 *value);

G_END_DECLS
