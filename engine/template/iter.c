#include "engine/template/iter.h"

#include "engine/template/dict.h"

gboolean
kvasir_jinja_is_iterable (KvasirJinjaValue value)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_UNDEFINED:
    case KVASIR_JINJA_TEXT:
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
    case KVASIR_JINJA_VIEW:
    case KVASIR_JINJA_DICT:
    case KVASIR_JINJA_RANGE:
    case KVASIR_JINJA_ITERATOR:
      return TRUE;
    default:
      return FALSE;
    }
}

gboolean
kvasir_jinja_cursor_init (KvasirJinjaCursor *self, KvasirJinjaHeap *heap, KvasirJinjaValue value)
{
  *self = (KvasirJinjaCursor){ heap, value, 0 };
  if (kvasir_jinja_is_iterable (value))
    return TRUE;
  return kvasir_jinja_heap_fail (heap, "'%s' object is not iterable",
                                 kvasir_jinja_type_name (value));
}

static gboolean
next_char (KvasirJinjaCursor *self, KvasirJinjaValue *item)
{
  KvasirJinjaText *text = self->value.text;
  if (self->next >= text->len)
    return FALSE;
  const char *bytes = kvasir_jinja_text_bytes (self->heap, text);
  gsize len = g_utf8_skip[(guchar) bytes[self->next]];
  *item = kvasir_jinja_text (kvasir_jinja_text_sub (self->heap, text, self->next, len));
  self->next += len;
  return TRUE;
}

gboolean
kvasir_jinja_cursor_next (KvasirJinjaCursor *self, KvasirJinjaValue *item)
{
  if (!kvasir_jinja_heap_step (self->heap, 1))
    return FALSE;
  KvasirJinjaValue value = self->value;
  switch (value.kind)
    {
    case KVASIR_JINJA_TEXT:
      return next_char (self, item);
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
    case KVASIR_JINJA_VIEW:
      if (self->next >= value.list->n)
        return FALSE;
      *item = value.list->items[self->next++];
      return TRUE;
    case KVASIR_JINJA_DICT:
      if (self->next >= value.dict->n)
        return FALSE;
      *item = value.dict->entries[self->next++].key;
      return TRUE;
    case KVASIR_JINJA_RANGE:
      if (self->next >= (gsize) value.range->n)
        return FALSE;
      *item = kvasir_jinja_int (value.range->start + (gint64) self->next++ * value.range->step);
      return TRUE;
    case KVASIR_JINJA_ITERATOR:
      if (value.list->next >= value.list->n)
        return FALSE;
      *item = value.list->items[value.list->next++];
      return TRUE;
    default:
      return FALSE;
    }
}

KvasirJinjaList *
kvasir_jinja_collect (KvasirJinjaHeap *heap, KvasirJinjaValue value)
{
  KvasirJinjaCursor cursor;
  if (!kvasir_jinja_cursor_init (&cursor, heap, value))
    return NULL;
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  KvasirJinjaValue item;
  while (kvasir_jinja_cursor_next (&cursor, &item))
    kvasir_jinja_list_append (heap, list, item);
  return heap->failure == NULL ? list : NULL;
}
