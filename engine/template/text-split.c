/* split, rsplit and splitlines. */
#include "engine/template/text-ops.h"
#include "engine/template/unicode.h"

static gboolean
append_part (
    KvasirJinjaHeap *heap, KvasirJinjaList *list, KvasirJinjaText *text, gsize from, gsize to)
{
  KvasirJinjaText *part = kvasir_jinja_text_sub (heap, text, from, to - from);
  return kvasir_jinja_heap_step (heap, 1) &&
         kvasir_jinja_list_append (heap, list, kvasir_jinja_text (part));
}

static void
reverse (KvasirJinjaList *list)
{
  for (guint i = 0; i < list->n / 2; i++)
    {
      KvasirJinjaValue swap = list->items[i];
      list->items[i] = list->items[list->n - 1 - i];
      list->items[list->n - 1 - i] = swap;
    }
}

static gboolean
split_left (KvasirJinjaHeap *heap,
            KvasirJinjaList *list,
            KvasirJinjaText *text,
            KvasirJinjaText *separator,
            gint64 limit)
{
  gsize at = 0;
  while (limit-- != 0)
    {
      gssize found = kvasir_jinja_text_find (heap, text, separator, at, text->len);
      if (found < 0)
        break;
      if (!append_part (heap, list, text, at, (gsize) found))
        return FALSE;
      at = (gsize) found + separator->len;
    }
  return append_part (heap, list, text, at, text->len);
}

static gboolean
split_right (KvasirJinjaHeap *heap,
             KvasirJinjaList *list,
             KvasirJinjaText *text,
             KvasirJinjaText *separator,
             gint64 limit)
{
  gsize end = text->len;
  while (limit-- != 0)
    {
      gssize found = kvasir_jinja_text_find_last (heap, text, separator, 0, end);
      if (found < 0)
        break;
      if (!append_part (heap, list, text, (gsize) found + separator->len, end))
        return FALSE;
      end = (gsize) found;
    }
  if (!append_part (heap, list, text, 0, end))
    return FALSE;
  reverse (list);
  return TRUE;
}

static gsize
skip_word (const char *bytes, gsize at, gsize len)
{
  while (at < len && !kvasir_jinja_is_space (g_utf8_get_char (bytes + at)))
    at += g_utf8_skip[(guchar) bytes[at]];
  return at;
}

static gsize
skip_word_back (const char *bytes, gsize end)
{
  while (end > 0)
    {
      const char *last = g_utf8_prev_char (bytes + end);
      if (kvasir_jinja_is_space (g_utf8_get_char (last)))
        break;
      end = (gsize) (last - bytes);
    }
  return end;
}

static gboolean
split_words_left (KvasirJinjaHeap *heap, KvasirJinjaList *list, KvasirJinjaText *text, gint64 limit)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  gsize at = kvasir_jinja_leading_space (bytes, text->len);
  while (at < text->len)
    {
      gsize end = limit-- != 0 ? skip_word (bytes, at, text->len) : text->len;
      if (!append_part (heap, list, text, at, end))
        return FALSE;
      at = end + kvasir_jinja_leading_space (bytes + end, text->len - end);
    }
  return TRUE;
}

static gboolean
split_words_right (KvasirJinjaHeap *heap,
                   KvasirJinjaList *list,
                   KvasirJinjaText *text,
                   gint64 limit)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  gsize end = text->len - kvasir_jinja_trailing_space (bytes, text->len);
  while (end > 0)
    {
      gsize start = limit-- != 0 ? skip_word_back (bytes, end) : 0;
      if (!append_part (heap, list, text, start, end))
        return FALSE;
      end = start - kvasir_jinja_trailing_space (bytes, start);
    }
  reverse (list);
  return TRUE;
}

KvasirJinjaList *
kvasir_jinja_text_split (KvasirJinjaHeap *heap,
                         KvasirJinjaText *text,
                         KvasirJinjaText *separator,
                         gint64 limit,
                         gboolean from_right)
{
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  gboolean ok;
  kvasir_jinja_heap_scan (heap, text->len);
  if (separator != NULL && separator->len == 0)
    ok = kvasir_jinja_heap_fail (heap, "split: the separator is empty");
  else if (separator == NULL)
    ok = from_right ? split_words_right (heap, list, text, limit)
                    : split_words_left (heap, list, text, limit);
  else
    ok = from_right ? split_right (heap, list, text, separator, limit)
                    : split_left (heap, list, text, separator, limit);
  return ok && heap->failure == NULL ? list : NULL;
}

/* Length of the line end at @at: "\r\n" is one. */
static gsize
line_end_length (const char *bytes, gsize at, gsize len)
{
  if (bytes[at] == '\r' && at + 1 < len && bytes[at + 1] == '\n')
    return 2;
  return g_utf8_skip[(guchar) bytes[at]];
}

KvasirJinjaList *
kvasir_jinja_text_lines (KvasirJinjaHeap *heap, KvasirJinjaText *text, gboolean keep_ends)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  KvasirJinjaList *list = kvasir_jinja_list_new (heap);
  gsize start = 0;
  kvasir_jinja_heap_scan (heap, text->len);
  while (start < text->len)
    {
      gsize end = start;
      while (end < text->len && !kvasir_jinja_is_line_end (g_utf8_get_char (bytes + end)))
        end += g_utf8_skip[(guchar) bytes[end]];
      gsize next = end < text->len ? end + line_end_length (bytes, end, text->len) : end;
      if (!append_part (heap, list, text, start, keep_ends ? next : end))
        return NULL;
      start = next;
    }
  return list;
}
