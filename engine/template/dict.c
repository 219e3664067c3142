#include "engine/template/dict.h"

#include <string.h>

/* Up to this size looking through the entries is as fast as hashing into slots. */
#define SMALL 8
#define NOT_FOUND G_MAXUINT

KvasirJinjaDict *
kvasir_jinja_dict_new (KvasirJinjaHeap *heap)
{
  return kvasir_jinja_heap_alloc (heap, sizeof (KvasirJinjaDict));
}

static gboolean
has_key (KvasirJinjaHeap *heap, const KvasirJinjaEntry *entry, KvasirJinjaValue key, guint hash)
{
  return entry->hash == hash && kvasir_jinja_equal (heap, entry->key, key);
}

static guint
find (KvasirJinjaHeap *heap, const KvasirJinjaDict *self, KvasirJinjaValue key, guint hash)
{
  if (self->slots == NULL)
    {
      for (guint i = 0; i < self->n; i++)
        if (has_key (heap, &self->entries[i], key, hash))
          return i;
      return NOT_FOUND;
    }
  guint mask = self->n_slots - 1;
  for (guint at = hash & mask; self->slots[at] != 0; at = (at + 1) & mask)
    if (has_key (heap, &self->entries[self->slots[at] - 1], key, hash))
      return self->slots[at] - 1;
  return NOT_FOUND;
}

static void
fill_slot (KvasirJinjaDict *self, guint index)
{
  guint mask = self->n_slots - 1;
  guint at = self->entries[index].hash & mask;
  while (self->slots[at] != 0)
    at = (at + 1) & mask;
  self->slots[at] = index + 1;
}

static void
refill_slots (KvasirJinjaDict *self)
{
  memset (self->slots, 0, self->n_slots * sizeof *self->slots);
  for (guint i = 0; i < self->n; i++)
    fill_slot (self, i);
}

/* Keeps the slots at most half full after one more entry at the end. */
static gboolean
index_last (KvasirJinjaHeap *heap, KvasirJinjaDict *self)
{
  if (self->slots == NULL && self->n <= SMALL)
    return TRUE;
  if (self->n * 2 <= self->n_slots)
    {
      fill_slot (self, self->n - 1);
      return TRUE;
    }
  guint n_slots = MAX (32, self->n_slots * 2);
  if (!kvasir_jinja_heap_reserve (heap, n_slots * sizeof *self->slots))
    return FALSE;
  self->slots = kvasir_jinja_heap_alloc (heap, n_slots * sizeof *self->slots);
  self->n_slots = n_slots;
  refill_slots (self);
  return TRUE;
}

gboolean
kvasir_jinja_dict_get (KvasirJinjaHeap *heap,
                       const KvasirJinjaDict *self,
                       KvasirJinjaValue key,
                       KvasirJinjaValue *value)
{
  guint hash;
  if (!kvasir_jinja_hash (heap, key, &hash))
    return FALSE;
  guint index = find (heap, self, key, hash);
  if (index == NOT_FOUND)
    return FALSE;
  *value = self->entries[index].value;
  return TRUE;
}

gboolean
kvasir_jinja_dict_set (KvasirJinjaHeap *heap,
                       KvasirJinjaDict *self,
                       KvasirJinjaValue key,
                       KvasirJinjaValue value)
{
  guint hash;
  if (!kvasir_jinja_hash (heap, key, &hash))
    return FALSE;
  guint index = find (heap, self, key, hash);
  if (index != NOT_FOUND)
    {
      self->entries[index].value = value;
      return TRUE;
    }
  gpointer entries = kvasir_jinja_heap_grow (heap, self->entries, self->n + 1,
                                             sizeof *self->entries, &self->capacity);
  if (entries == NULL)
    return FALSE;
  self->entries = entries;
  self->entries[self->n++] = (KvasirJinjaEntry){ key, value, hash };
  return index_last (heap, self);
}

gboolean
kvasir_jinja_dict_remove (KvasirJinjaHeap *heap, KvasirJinjaDict *self, KvasirJinjaValue key)
{
  guint hash;
  if (!kvasir_jinja_hash (heap, key, &hash))
    return FALSE;
  guint index = find (heap, self, key, hash);
  if (index == NOT_FOUND)
    return FALSE;
  self->n--;
  kvasir_jinja_heap_step (heap, 1 + (self->n - index) / 4);
  memmove (self->entries + index, self->entries + index + 1,
           (self->n - index) * sizeof *self->entries);
  if (self->slots != NULL)
    refill_slots (self);
  return TRUE;
}

void
kvasir_jinja_dict_clear (KvasirJinjaDict *self)
{
  self->n = 0;
  if (self->slots != NULL)
    refill_slots (self);
}

gboolean
kvasir_jinja_dict_update (KvasirJinjaHeap *heap, KvasirJinjaDict *self, const KvasirJinjaDict *from)
{
  for (guint i = 0; i < from->n; i++)
    if (!kvasir_jinja_heap_step (heap, 1) ||
        !kvasir_jinja_dict_set (heap, self, from->entries[i].key, from->entries[i].value))
      return FALSE;
  return TRUE;
}

KvasirJinjaList *
kvasir_jinja_pairs (KvasirJinjaHeap *heap, const KvasirJinjaDict *self)
{
  KvasirJinjaList *items = kvasir_jinja_list_new (heap);
  for (guint i = 0; i < self->n && kvasir_jinja_heap_step (heap, 1); i++)
    {
      KvasirJinjaList *pair = kvasir_jinja_list_new (heap);
      kvasir_jinja_list_append (heap, pair, self->entries[i].key);
      kvasir_jinja_list_append (heap, pair, self->entries[i].value);
      kvasir_jinja_list_append (heap, items, kvasir_jinja_list (KVASIR_JINJA_TUPLE, pair));
    }
  return heap->failure == NULL ? items : NULL;
}
