#include "engine/memory/bit-tree.h"

gboolean
kvasir_bit_tree_init (KvasirBitTree *self, guint n_bits)
{
  guint n = n_bits;
  gboolean ok = TRUE;

  for (guint level = 0; level < KVASIR_BIT_LEVELS; level++)
    {
      n = (n + 63) / 64;
      self->n_words[level] = n;
      self->words[level] = g_try_new0 (guint64, n);
      ok = ok && self->words[level] != NULL;
    }
  return ok;
}

void
kvasir_bit_tree_clear (KvasirBitTree *self)
{
  for (guint level = 0; level < KVASIR_BIT_LEVELS; level++)
    g_free (self->words[level]);
}

void
kvasir_bit_tree_rise (KvasirBitTree *self, guint w)
{
  for (guint level = 1; level < KVASIR_BIT_LEVELS; level++, w /= 64)
    {
      guint64 before = self->words[level][w / 64];

      self->words[level][w / 64] = before | KVASIR_BIT (w);
      if (before != 0)
        return;
    }
}

void
kvasir_bit_tree_fall (KvasirBitTree *self, guint w)
{
  for (guint level = 1; level < KVASIR_BIT_LEVELS; level++, w /= 64)
    {
      self->words[level][w / 64] &= ~KVASIR_BIT (w);
      if (self->words[level][w / 64] != 0)
        return;
    }
}

gint
kvasir_bit_tree_next (const KvasirBitTree *self, guint from)
{
  guint level = 0;
  guint i = from;

  while (i / 64 < self->n_words[level])
    {
      guint64 word = self->words[level][i / 64] & (~G_GUINT64_CONSTANT (0) << (i % 64));

      if (word != 0)
        {
          i = i / 64 * 64 + (guint) __builtin_ctzll (word);
          if (level == 0)
            return (gint) i;
          level--;
          i *= 64;
        }
      else if (level + 1 < KVASIR_BIT_LEVELS)
        {
          /* Words of this level are bits of the next one. */
          i = i / 64 + 1;
          level++;
        }
      else
        i = (i / 64 + 1) * 64;
    }
  return -1;
}

gint
kvasir_bit_tree_last (const KvasirBitTree *self)
{
  guint level = KVASIR_BIT_LEVELS - 1;
  guint w = self->n_words[level];

  do
    {
      if (w == 0)
        return -1;
      w--;
    }
  while (self->words[level][w] == 0);

  while (level > 0)
    {
      w = w * 64 + 63 - (guint) __builtin_clzll (self->words[level][w]);
      level--;
    }
  return (gint) (w * 64 + 63 - (guint) __builtin_clzll (self->words[0][w]));
}
