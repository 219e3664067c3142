#include "engine/vocab/pairs.h"

#include "engine/huge-pages.h"

gboolean
kvasir_pairs_init (KvasirPairs *self, gsize n)
{
  g_return_val_if_fail (n < G_MAXINT32 / 2, FALSE);

  self->n_slots = MAX ((guint32) (2 * n), 16);
  self->slots = kvasir_huge_pages_alloc0 (self->n_slots * sizeof *self->slots);
  self->seed = ((guint64) g_random_int () << 32) | g_random_int ();
  return self->slots != NULL;
}

void
kvasir_pairs_clear (KvasirPairs *self)
{
  g_clear_pointer (&self->slots, g_free);
}

void
kvasir_pairs_add (KvasirPairs *self, const KvasirPair *pair)
{
  KvasirPair *slot = kvasir_pairs_find (self, pair->left, pair->right);

  if (slot->rank_1 == 0)
    *slot = *pair;
}
