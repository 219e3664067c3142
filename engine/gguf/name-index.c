#include "engine/gguf/name-index.h"

#include "engine/gguf/hash.h"

#include <string.h>

gboolean
kvasir_name_index_init (KvasirNameIndex *self,
                        gsize n,
                        KvasirNameFunc get_name,
                        gconstpointer owner)
{
  gsize n_slots = 16;

  g_return_val_if_fail (n < G_MAXINT32 / 2, FALSE);

  while (n_slots < 2 * n)
    n_slots *= 2;
  self->slots = g_try_new0 (guint32, n_slots);
  self->mask = (guint32) (n_slots - 1);
  self->seed = ((guint64) g_random_int () << 32) | g_random_int ();
  self->get_name = get_name;
  self->owner = owner;
  return self->slots != NULL;
}

void
kvasir_name_index_clear (KvasirNameIndex *self)
{
  g_clear_pointer (&self->slots, g_free);
}

/* The slot that holds the name, or the free one where it would go. */
static guint32
find_slot (const KvasirNameIndex *self, const char *name, gsize len)
{
  guint32 slot = (guint32) kvasir_hash_bytes (name, len, self->seed) & self->mask;

  for (; self->slots[slot] != 0; slot = (slot + 1) & self->mask)
    {
      gsize other_len = 0;
      const char *other = self->get_name (self->owner, self->slots[slot] - 1, &other_len);

      if (other_len == len && memcmp (other, name, len) == 0)
        break;
    }
  return slot;
}

gboolean
kvasir_name_index_grow (KvasirNameIndex *self, gsize n)
{
  KvasirNameIndex grown = { NULL };

  if (2 * n <= (gsize) self->mask + 1)
    return TRUE;
  if (!kvasir_name_index_init (&grown, n, self->get_name, self->owner))
    return FALSE;
  for (gsize slot = 0; slot <= self->mask; slot++)
    if (self->slots[slot] != 0)
      kvasir_name_index_insert (&grown, self->slots[slot] - 1);
  kvasir_name_index_clear (self);
  *self = grown;
  return TRUE;
}

gint64
kvasir_name_index_insert (KvasirNameIndex *self, guint32 i)
{
  gsize len = 0;
  const char *name = self->get_name (self->owner, i, &len);
  guint32 slot = find_slot (self, name, len);
  gint64 found = (gint64) self->slots[slot] - 1;

  if (found < 0)
    self->slots[slot] = i + 1;
  return found;
}

gint64
kvasir_name_index_find (const KvasirNameIndex *self, const char *name, gsize len)
{
  if (!self->slots)
    return -1;
  return (gint64) self->slots[find_slot (self, name, len)] - 1;
}
