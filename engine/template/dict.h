/* engine/template/dict.h - a dict that keeps the order of insertion
 *
 * Owner:  a heap. Thread: that of the heap. Also holds the variables of a scope.
 */
#pragma once

#include "engine/template/value.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirJinjaValue key;
  KvasirJinjaValue value;
  guint hash;
} KvasirJinjaEntry;

struct _KvasirJinjaDict
{
  KvasirJinjaEntry *entries; /* [capacity], @n used, in order */
  guint n;
  guint capacity;
  guint *slots;  /* (nullable): [n_slots] of entry index + 1; none while the dict is small */
  guint n_slots; /* a power of 2 */
};

KvasirJinjaDict *kvasir_jinja_dict_new (KvasirJinjaHeap *heap);
/* FALSE if it has no such key; with a failure if @key cannot be one. */
gboolean kvasir_jinja_dict_get (KvasirJinjaHeap *heap,
                                const KvasirJinjaDict *self,
                                KvasirJinjaValue key,
                                KvasirJinjaValue *value);
gboolean kvasir_jinja_dict_set (KvasirJinjaHeap *heap,
                                KvasirJinjaDict *self,
                                KvasirJinjaValue key,
                                KvasirJinjaValue value);
/* FALSE if it has no such key. */
gboolean
kvasir_jinja_dict_remove (KvasirJinjaHeap *heap, KvasirJinjaDict *self, KvasirJinjaValue key);
void kvasir_jinja_dict_clear (KvasirJinjaDict *self);
/* Sets all of @from. */
gboolean kvasir_jinja_dict_update (KvasirJinjaHeap *heap,
                                   KvasirJinjaDict *self,
                                   const KvasirJinjaDict *from);
/* The items as tuples of key and value; NULL with a failure. */
KvasirJinjaList *kvasir_jinja_pairs (KvasirJinjaHeap *heap, const KvasirJinjaDict *self);

G_END_DECLS
