/* engine/vocab/pairs.h - what two neighbouring symbols become, and how early
 *
 * A hash table from pairs of numbers. Its seed is drawn once per table, so that a file cannot be
 * made whose pairs all meet in one slot.
 * Owner:  the vocabulary. Immutable once the vocabulary is made: any thread may look up.
 * Bounds: 32 bytes a pair, half of them free: most searches find nothing and end at the first look.
 */
#pragma once

#include <glib.h>

#include "engine/gguf/hash.h"

G_BEGIN_DECLS

typedef struct
{
  guint32 left;
  guint32 right;
  guint32 rank_1; /* rank and one more, lowest first; 0 where the slot is free */
  guint32 merged;
} KvasirPair;

typedef struct
{
  KvasirPair *slots; /* (owned) (nullable) [n_slots] */
  guint32 n_slots;
  guint64 seed;
} KvasirPairs;

/* Room for @n pairs. FALSE where there is no memory. */
gboolean kvasir_pairs_init (KvasirPairs *self, gsize n) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_pairs_clear (KvasirPairs *self);

static inline guint32
kvasir_pairs_get_slot (const KvasirPairs *self, guint32 left, guint32 right)
{
  guint64 hash = kvasir_hash_mix (((guint64) left << 32 | right) ^ self->seed, 0x9e3779b97f4a7c15u);

  return (guint32) ((hash >> 32) * self->n_slots >> 32);
}

/* Returns: the pair, or the free slot where it would go */
static inline KvasirPair *
kvasir_pairs_find (const KvasirPairs *self, guint32 left, guint32 right)
{
  guint32 slot = kvasir_pairs_get_slot (self, left, right);

  while (self->slots[slot].rank_1 != 0 &&
         (self->slots[slot].left != left || self->slots[slot].right != right))
    slot = slot + 1 < self->n_slots ? slot + 1 : 0;
  return &self->slots[slot];
}

/* Of equal pairs the one that was there first stays. */
void kvasir_pairs_add (KvasirPairs *self, const KvasirPair *pair);

G_END_DECLS
