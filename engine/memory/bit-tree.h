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

static inline void
kvasir_bit_tree_add (KvasirBitTree *self, guint i)
{
  for (guint level = 0; level < KVASIR_BIT_LEVELS; level++, i /= 64)
    {
      guint64 *word = &self->words[level][i / 64];
      guint64 before = *word;

      *word = before | KVASIR_BIT (i);
      if (before != 0)
        return;
    }
}

static inline void
kvasir_bit_tree_remove (KvasirBitTree *self, guint i)
{
  for (guint level = 0; level < KVASIR_BIT_LEVELS; level++, i /= 64)
    {
      guint64 *word = &self->words[level][i / 64];

      *word &= ~KVASIR_BIT (i);
      if (*word != 0)
        return;
    }
}

/* The lowest member at or above @from, or -1. */
gint kvasir_bit_tree_next (const KvasirBitTree *self, guint from);
/* The highest member, or -1. */
gint kvasir_bit_tree_last (const KvasirBitTree *self);

G_END_DECLS
