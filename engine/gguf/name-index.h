/* engine/gguf/name-index.h - finds the number of a name in a list that lies elsewhere
 *
 * Owner:  the owner of the list. Immutable after the last insert: any thread may look up then.
 * Bounds: four to eight bytes per slot, at least two slots per name; no copy of any name. Open
 *   addressing over a hash with a seed of its own, so a file cannot choose names that collide.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The bytes of name @i (transfer none), not NUL-terminated. */
typedef const char *(*KvasirNameFunc) (gconstpointer owner, guint32 i, gsize *len);

typedef struct
{
  guint32 *slots; /* (owned) [mask + 1], index + 1, 0 where free */
  guint32 mask;
  guint64 seed;
  KvasirNameFunc get_name;
  gconstpointer owner; /* (unowned) */
} KvasirNameIndex;

/* Room for @n names. FALSE where there is no memory. */
gboolean kvasir_name_index_init (KvasirNameIndex *self,
                                 gsize n,
                                 KvasirNameFunc get_name,
                                 gconstpointer owner);
/* More room where @n names would leave too few slots free. FALSE where there is no memory. */
gboolean kvasir_name_index_grow (KvasirNameIndex *self, gsize n);
void kvasir_name_index_clear (KvasirNameIndex *self);
/* Returns: -1, or the number of the equal name that was there first; then nothing is inserted. */
gint64 kvasir_name_index_insert (KvasirNameIndex *self, guint32 i);
/* Returns: the number of the name, or -1 */
gint64 kvasir_name_index_find (const KvasirNameIndex *self, const char *name, gsize len);

G_END_DECLS
