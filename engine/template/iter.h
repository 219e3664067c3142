/* engine/template/iter.h - going through a value, as Python's iter() does
 *
 * Thread: that of the heap. Every item costs a step, so that no loop over data is without a bound.
 */
#pragma once

#include "engine/template/value.h"

G_BEGIN_DECLS

typedef struct
{
  KvasirJinjaHeap *heap;
  KvasirJinjaValue value;
  gsize next; /* index of the next item; for texts a byte offset */
} KvasirJinjaCursor;

gboolean kvasir_jinja_is_iterable (KvasirJinjaValue value);
/* FALSE with a failure if @value cannot be gone through. */
gboolean
kvasir_jinja_cursor_init (KvasirJinjaCursor *self, KvasirJinjaHeap *heap, KvasirJinjaValue value);
/* FALSE at the end, or if the heap has a failure: look there after the loop. */
gboolean kvasir_jinja_cursor_next (KvasirJinjaCursor *self, KvasirJinjaValue *item);

/* All items in a new list; NULL with a failure. */
KvasirJinjaList *kvasir_jinja_collect (KvasirJinjaHeap *heap, KvasirJinjaValue value);

G_END_DECLS
