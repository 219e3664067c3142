/* engine/memory/seq-set.h - a set of sequence ids 0 ... 255 as four words
 *
 * A plain value; all functions are pure. Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define KVASIR_MAX_SEQS 256

typedef struct
{
  guint64 w[4];
} KvasirSeqSet;

static inline void
kvasir_seq_set_add (KvasirSeqSet *set, guint seq)
{
  set->w[seq / 64] |= G_GUINT64_CONSTANT (1) << (seq % 64);
}

static inline void
kvasir_seq_set_remove (KvasirSeqSet *set, guint seq)
{
  set->w[seq / 64] &= ~(G_GUINT64_CONSTANT (1) << (seq % 64));
}

static inline gboolean
kvasir_seq_set_has (const KvasirSeqSet *set, guint seq)
{
  return (set->w[seq / 64] >> (seq % 64)) & 1;
}

static inline gboolean
kvasir_seq_set_is_empty (const KvasirSeqSet *set)
{
  return (set->w[0] | set->w[1] | set->w[2] | set->w[3]) == 0;
}

static inline gboolean
kvasir_seq_set_equal (const KvasirSeqSet *a, const KvasirSeqSet *b)
{
  return a->w[0] == b->w[0] && a->w[1] == b->w[1] && a->w[2] == b->w[2] && a->w[3] == b->w[3];
}

static inline KvasirSeqSet
kvasir_seq_set_intersect (const KvasirSeqSet *a, const KvasirSeqSet *b)
{
  KvasirSeqSet set;
  for (guint i = 0; i < 4; i++)
    set.w[i] = a->w[i] & b->w[i];
  return set;
}

static inline void
kvasir_seq_set_unite (KvasirSeqSet *set, const KvasirSeqSet *other)
{
  for (guint i = 0; i < 4; i++)
    set->w[i] |= other->w[i];
}

/* What is in @a and not in @b. */
static inline KvasirSeqSet
kvasir_seq_set_subtract (const KvasirSeqSet *a, const KvasirSeqSet *b)
{
  KvasirSeqSet set;
  for (guint i = 0; i < 4; i++)
    set.w[i] = a->w[i] & ~b->w[i];
  return set;
}

static inline guint
kvasir_seq_set_count (const KvasirSeqSet *set)
{
  guint n = 0;
  for (guint i = 0; i < 4; i++)
    n += (guint) __builtin_popcountll (set->w[i]);
  return n;
}

/* The lowest id at or above @from, or -1. */
static inline gint
kvasir_seq_set_next (const KvasirSeqSet *set, guint from)
{
  for (guint i = from / 64; i < 4; i++)
    {
      guint64 w = set->w[i];
      if (i == from / 64)
        w &= ~G_GUINT64_CONSTANT (0) << (from % 64);
      if (w != 0)
        return (gint) (i * 64 + (guint) __builtin_ctzll (w));
    }
  return -1;
}

G_END_DECLS
