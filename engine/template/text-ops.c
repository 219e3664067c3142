#include "engine/template/text-ops.h"

#include "engine/template/iter.h"
#include "engine/template/repr.h"
#include "engine/template/unicode.h"

#include <string.h>

static gboolean
in_set (gunichar c, KvasirJinjaText *chars)
{
  if (chars == NULL)
    return kvasir_jinja_is_space (c);
  for (gsize i = 0; i < chars->len; i += g_utf8_skip[(guchar) chars->bytes[i]])
    if (g_utf8_get_char (chars->bytes + i) == c)
      return TRUE;
  return FALSE;
}

KvasirJinjaText *
kvasir_jinja_text_strip (KvasirJinjaHeap *heap,
                         KvasirJinjaText *text,
                         KvasirJinjaText *chars,
                         KvasirJinjaStrip sides)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  gsize set_len = chars != NULL ? chars->len : 1;
  if (chars != NULL)
    kvasir_jinja_text_bytes (heap, chars);
  gsize start = 0;
  gsize end = text->len;
  while ((sides & KVASIR_JINJA_STRIP_LEFT) != 0 && start < end &&
         kvasir_jinja_heap_scan (heap, set_len) && in_set (g_utf8_get_char (bytes + start), chars))
    start += g_utf8_skip[(guchar) bytes[start]];
  while ((sides & KVASIR_JINJA_STRIP_RIGHT) != 0 && start < end &&
         kvasir_jinja_heap_scan (heap, set_len) &&
         in_set (g_utf8_get_char (g_utf8_prev_char (bytes + end)), chars))
    end = (gsize) (g_utf8_prev_char (bytes + end) - bytes);
  return kvasir_jinja_text_sub (heap, text, start, end - start);
}

gssize
kvasir_jinja_text_find (
    KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *needle, gsize from, gsize to)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  const char *wanted = kvasir_jinja_text_bytes (heap, needle);
  if (from > to)
    return -1;
  const char *found = memmem (bytes + from, to - from, wanted, needle->len);
  kvasir_jinja_heap_scan (heap, (found != NULL ? (gsize) (found - bytes) : to) - from);
  return found != NULL ? found - bytes : -1;
}

gssize
kvasir_jinja_text_find_last (
    KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *needle, gsize from, gsize to)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  const char *wanted = kvasir_jinja_text_bytes (heap, needle);
  if (from > to || needle->len > to - from)
    return -1;
  for (gsize at = to - needle->len;; at--)
    {
      if (memcmp (bytes + at, wanted, needle->len) == 0)
        return (gssize) at;
      if (at == from || !kvasir_jinja_heap_scan (heap, 8))
        return -1;
    }
}

gboolean
kvasir_jinja_text_has_prefix (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *prefix)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  return prefix->len <= text->len && kvasir_jinja_heap_scan (heap, prefix->len) &&
         memcmp (bytes, kvasir_jinja_text_bytes (heap, prefix), prefix->len) == 0;
}

gboolean
kvasir_jinja_text_has_suffix (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *suffix)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  return suffix->len <= text->len && kvasir_jinja_heap_scan (heap, suffix->len) &&
         memcmp (bytes + text->len - suffix->len, kvasir_jinja_text_bytes (heap, suffix),
                 suffix->len) == 0;
}

/* @new_text before each of the first @limit characters, and at the end if the limit allows. */
static KvasirJinjaText *
interleave (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaText *new_text, gint64 limit)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  KvasirJinjaBuilder out;
  kvasir_jinja_builder_init (&out, heap);
  gsize at = 0;
  while (limit != 0 && kvasir_jinja_heap_step (heap, 1))
    {
      kvasir_jinja_builder_append_text (&out, new_text);
      limit--;
      if (at == text->len)
        break;
      gsize len = g_utf8_skip[(guchar) bytes[at]];
      kvasir_jinja_builder_append_sub (&out, text, at, len);
      at += len;
    }
  kvasir_jinja_builder_append_sub (&out, text, at, text->len - at);
  return kvasir_jinja_builder_finish (&out);
}

KvasirJinjaText *
kvasir_jinja_text_replace (KvasirJinjaHeap *heap,
                           KvasirJinjaText *text,
                           KvasirJinjaText *old,
                           KvasirJinjaText *new_text,
                           gint64 limit)
{
  if (old->len == 0)
    return interleave (heap, text, new_text, limit);
  gsize at = 0;
  gssize found = limit != 0 ? kvasir_jinja_text_find (heap, text, old, 0, text->len) : -1;
  if (found < 0)
    return heap->failure == NULL ? text : NULL;
  KvasirJinjaBuilder out;
  kvasir_jinja_builder_init (&out, heap);
  while (found >= 0 && limit-- != 0 && kvasir_jinja_heap_step (heap, 1))
    {
      kvasir_jinja_builder_append_sub (&out, text, at, (gsize) found - at);
      kvasir_jinja_builder_append_text (&out, new_text);
      at = (gsize) found + old->len;
      found = kvasir_jinja_text_find (heap, text, old, at, text->len);
    }
  kvasir_jinja_builder_append_sub (&out, text, at, text->len - at);
  return kvasir_jinja_builder_finish (&out);
}

KvasirJinjaText *
kvasir_jinja_text_join (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaValue items)
{
  KvasirJinjaBuilder out;
  KvasirJinjaCursor cursor;
  KvasirJinjaValue item;
  kvasir_jinja_builder_init (&out, heap);
  if (!kvasir_jinja_cursor_init (&cursor, heap, items))
    return NULL;
  for (gboolean first = TRUE; kvasir_jinja_cursor_next (&cursor, &item); first = FALSE)
    {
      if (!first)
        kvasir_jinja_builder_append_text (&out, text);
      if (!kvasir_jinja_append_str (&out, item))
        return NULL;
    }
  return kvasir_jinja_builder_finish (&out);
}
