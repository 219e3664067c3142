/* engine/memory/bit-tree.h - a set of numbers below a fixed size, searched by words
 *
 * Three levels: a bit per number, a bit per non-zero word of that, and one per non-zero word of the
 * second. The first, next and last member are found with a few bit scans, however large the set.
 *
 * Owner: KvasirCells. Thread: engine thread.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_BIT_LEVELS 3
#define KVASIR_BIT(i) (G_GUINT64_CONSTANT (1) << ((i) % 64))

typedef struct
{
  guint n_words[KVASIR_BIT_LEVELS];
  guint64 *words[KVASIR_BIT_LEVELS]; /* (owned) [n_words], lowest level first */
} KvasirBitTree;

/* An empty set of numbers below @n_bits. FALSE: no memory; clear it all the same. */
gboolean kvasir_bit_tree_init (KvasirBitTree *self, guint n_bits);
void kvasir_bit_tree_clear (KvasirBitTree *self);

static inline gboolean
kvasir_bit_tree_has (const KvasirBitTree *self, guint i)
{
  return (self->words[0][i / 64] >> (i % 64)) & 1;
}

/* What a change of word @w of the lowest level means above: it is no longer zero, or has become so.
 */
void kvasir_bit_tree_rise (KvasirBitTree *self, guint w);
void kvasir_bit_tree_fall (KvasirBitTree *self, guint w);

/* Members 64 @w + i for every bit i of @bits, which is not 0. */
static inline void
kvasir_bit_tree_add_bits (KvasirBitTree *self, guint w, guint64 bits)
{
  guint64 before = self->words[0][w];

  self->words[0][w] = before | bits;
  if (before == 0)
    kvasir_bit_tree_rise (self, w);
}

static inline void
kvasir_bit_tree_remove_bits (KvasirBitTree *self, guint w, guint64 bits)
{
  guint64 after = self->words[0][w] & ~bits;

  self->words[0][w] = after;
  if (after == 0)
    kvasir_bit_tree_fall (self, w);
}

static inline void
kvasir_bit_tree_add (KvasirBitTree *self, guint i)
{
  kvasir_bit_tree_add_bits (self, i / 64, KVASIR_BIT (i));
}

static inline void
kvasir_bit_tree_remove (KvasirBitTree *self, guint i)
{
  kvasir_bit_tree_remove_bits (self, i / 64, KVASIR_BIT (i));
}

/* The lowest member at or above @from, or -1. */
gint kvasir_bit_tree_next (const KvasirBitTree *self, guint from);
/* The highest member, or -1. */
gint kvasir_bit_tree_last (const KvasirBitTree *self);

G_END_DECLS
