#include "engine/vocab/text-table.h"

#include "engine/huge-pages.h"

#include <string.h>

enum
{
  /* How many texts ahead slots are fetched. */
  AHEAD = 16,
};

gboolean
kvasir_text_table_init (KvasirTextTable *self, gsize n, gsize n_bytes)
{
  g_return_val_if_fail (n < G_MAXINT32 / 2, FALSE);

  if (n_bytes >= G_MAXUINT32 - KVASIR_TEXT_KEY_BYTES)
    return FALSE;
  self->n_alloc = n + 1;
  self->n_bytes_alloc = n_bytes;
  self->bytes = kvasir_huge_pages_alloc (n_bytes + KVASIR_TEXT_KEY_BYTES);
  self->starts = g_try_new (guint32, self->n_alloc);
  self->seed = ((guint64) g_random_int () << 32) | g_random_int ();
  if (!self->bytes || !self->starts)
    return FALSE;
  self->starts[0] = 0;
  return TRUE;
}

void
kvasir_text_table_clear (KvasirTextTable *self)
{
  g_clear_pointer (&self->bytes, g_free);
  g_clear_pointer (&self->starts, g_free);
  g_clear_pointer (&self->slots, g_free);
}

void
kvasir_text_table_append (KvasirTextTable *self, const char *text, gsize len)
{
  guint32 start = self->starts[self->n];

  memcpy (self->bytes + start, text, len);
  self->bytes[start + len] = 0;
  self->starts[++self->n] = start + (guint32) len + 1;
}

static guint32
get_next (const KvasirTextTable *self, guint32 slot)
{
  return slot + 1 < self->n_slots ? slot + 1 : 0;
}

/* The slot that holds the text, or the free one where it would go. */
static KvasirTextSlot *
find_slot (const KvasirTextTable *self, guint64 hash, const char *text, gsize len)
{
  guint32 slot = kvasir_text_table_get_slot (self, hash);

  for (; self->slots[slot].number_1 != 0; slot = get_next (self, slot))
    if (self->slots[slot].tag == (guint32) hash &&
        kvasir_text_table_is (self, self->slots[slot].number_1 - 1, text, len))
      break;
  return &self->slots[slot];
}

guint32
kvasir_text_table_guess (const KvasirTextTable *self, guint64 hash)
{
  guint32 slot = kvasir_text_table_get_slot (self, hash);

  while (self->slots[slot].number_1 != 0 && self->slots[slot].tag != (guint32) hash)
    slot = get_next (self, slot);
  return self->slots[slot].number_1 - 1;
}

gint64
kvasir_text_table_find (const KvasirTextTable *self, const char *text, gsize len)
{
  if (!self->slots)
    return -1;
  return (gint64) find_slot (self, kvasir_text_table_hash (self, text, len), text, len)->number_1 -
         1;
}

static void
insert (KvasirTextTable *self, guint32 i, guint64 hash)
{
  KvasirTextSlot *slot =
      find_slot (self, hash, kvasir_text_table_get (self, i), kvasir_text_table_get_len (self, i));

  if (slot->number_1 != 0)
    self->has_equals = TRUE;
  *slot = (KvasirTextSlot){ (guint32) hash, i + 1 };
}

gboolean
kvasir_text_table_index (KvasirTextTable *self)
{
  guint64 hashes[AHEAD];

  g_free (self->slots);
  self->n_slots = MAX (self->n * 2, 16);
  self->slots = kvasir_huge_pages_alloc0 (self->n_slots * sizeof *self->slots);
  if (!self->slots)
    return FALSE;
  for (guint32 i = 0; i < self->n + AHEAD; i++)
    {
      guint64 *hash = &hashes[i % AHEAD];

      if (i >= AHEAD && i - AHEAD < self->n)
        insert (self, i - AHEAD, *hash);
      if (i >= self->n)
        continue;
      *hash = kvasir_text_table_hash (self, kvasir_text_table_get (self, i),
                                      kvasir_text_table_get_len (self, i));
      __builtin_prefetch (&self->slots[kvasir_text_table_get_slot (self, *hash)], 1);
    }
  return TRUE;
}

/* Makes room for one more text. */
static gboolean
grow (KvasirTextTable *self, gsize len)
{
  gsize needed = self->starts[self->n] + len + 1;
  gpointer grown;

  if (needed >= G_MAXUINT32 || self->n >= G_MAXINT32 / 4)
    return FALSE;
  if (needed > self->n_bytes_alloc)
    {
      self->n_bytes_alloc = MAX (needed, self->n_bytes_alloc * 2);
      grown = g_try_realloc (self->bytes, self->n_bytes_alloc + KVASIR_TEXT_KEY_BYTES);
      if (!grown)
        return FALSE;
      self->bytes = grown;
    }
  if (self->n + 1 == self->n_alloc)
    {
      self->n_alloc *= 2;
      grown = g_try_realloc_n (self->starts, self->n_alloc, sizeof *self->starts);
      if (!grown)
        return FALSE;
      self->starts = grown;
    }
  return TRUE;
}

guint32
kvasir_text_table_intern (KvasirTextTable *self, const char *text, gsize len)
{
  guint64 hash = kvasir_text_table_hash (self, text, len);
  KvasirTextSlot *slot = find_slot (self, hash, text, len);

  if (slot->number_1 != 0)
    return slot->number_1 - 1;
  if (!grow (self, len))
    return G_MAXUINT32;
  kvasir_text_table_append (self, text, len);
  *slot = (KvasirTextSlot){ (guint32) hash, self->n };
  /* A quarter of the slots stays free. */
  if (self->n > self->n_slots - self->n_slots / 4 && !kvasir_text_table_index (self))
    return G_MAXUINT32;
  return self->n - 1;
}
