/* json.dumps() */
#include "engine/template/dict.h"
#include "engine/template/json.h"
#include "engine/template/number.h"

#include <math.h>
#include <string.h>

typedef struct
{
  KvasirJinjaHeap *heap;
  const KvasirJinjaJsonStyle *style;
  KvasirJinjaBuilder out;
  guint level;
} Writer;

static gboolean write_value (Writer *self, KvasirJinjaValue value);

static void
write_unit (Writer *self, gunichar unit, guint origin)
{
  char escape[8];
  g_snprintf (escape, sizeof escape, "\\u%04x", unit);
  kvasir_jinja_builder_append (&self->out, escape, 6, origin);
}

/* A character that JSON (or the style) does not take as it is. */
static void
write_escape (Writer *self, gunichar c, guint origin)
{
  static const char special[] = "\"\\\n\r\t\f\b";
  static const char letters[] = "\"\\nrtfb";
  const char *found = c != 0 && c < 0x80 ? strchr (special, (int) c) : NULL;
  if (found != NULL)
    {
      char escape[2] = { '\\', letters[found - special] };
      kvasir_jinja_builder_append (&self->out, escape, 2, origin);
    }
  else if (c < 0x10000)
    write_unit (self, c, origin);
  else
    {
      write_unit (self, 0xD800 + ((c - 0x10000) >> 10), origin);
      write_unit (self, 0xDC00 + ((c - 0x10000) & 0x3FF), origin);
    }
}

static gboolean
needs_escape (const Writer *self, guchar byte)
{
  return byte < 0x20 || byte == '"' || byte == '\\' || (byte >= 0x80 && self->style->ascii);
}

static void
write_text (Writer *self, KvasirJinjaText *text)
{
  const char *bytes = kvasir_jinja_text_bytes (self->heap, text);
  kvasir_jinja_builder_append_static (&self->out, "\"");
  for (gsize i = 0; i < text->len && self->heap->failure == NULL;)
    {
      gsize plain = i;
      while (plain < text->len && !needs_escape (self, (guchar) bytes[plain]))
        plain++;
      kvasir_jinja_builder_append_sub (&self->out, text, i, plain - i);
      if (plain < text->len)
        {
          write_escape (self, g_utf8_get_char (bytes + plain),
                        kvasir_jinja_text_origin (text, plain));
          plain += g_utf8_skip[(guchar) bytes[plain]];
        }
      i = plain;
    }
  kvasir_jinja_builder_append_static (&self->out, "\"");
}

static void
write_float (Writer *self, double number)
{
  char text[KVASIR_JINJA_NUMBER_BYTES];
  if (isnan (number))
    g_strlcpy (text, "NaN", sizeof text);
  else if (isinf (number))
    g_strlcpy (text, number > 0 ? "Infinity" : "-Infinity", sizeof text);
  else
    kvasir_jinja_format_float (number, text);
  kvasir_jinja_builder_append_static (&self->out, text);
}

static void
write_int (Writer *self, gint64 integer)
{
  char text[KVASIR_JINJA_NUMBER_BYTES];
  g_snprintf (text, sizeof text, "%" G_GINT64_FORMAT, integer);
  kvasir_jinja_builder_append_static (&self->out, text);
}

static void
write_newline (Writer *self)
{
  if (self->style->indent == NULL)
    return;
  kvasir_jinja_builder_append_static (&self->out, "\n");
  for (guint i = 0; i < self->level; i++)
    kvasir_jinja_builder_append_text (&self->out, self->style->indent);
}

/* What stands before item @i of a container. */
static void
write_between (Writer *self, guint i)
{
  if (i > 0 && self->style->item_separator != NULL)
    kvasir_jinja_builder_append_text (&self->out, self->style->item_separator);
  else if (i > 0)
    kvasir_jinja_builder_append_static (&self->out, self->style->indent != NULL ? "," : ", ");
  write_newline (self);
}

static gboolean
write_list (Writer *self, const KvasirJinjaList *list)
{
  kvasir_jinja_builder_append_static (&self->out, "[");
  self->level++;
  for (guint i = 0; i < list->n; i++)
    {
      write_between (self, i);
      if (!write_value (self, list->items[i]))
        return FALSE;
    }
  self->level--;
  if (list->n > 0)
    write_newline (self);
  kvasir_jinja_builder_append_static (&self->out, "]");
  return TRUE;
}

/* Keys that are no texts are written as the text of their JSON. */
static gboolean
write_key (Writer *self, KvasirJinjaValue key)
{
  if (key.kind == KVASIR_JINJA_TEXT)
    write_text (self, key.text);
  else if (key.kind == KVASIR_JINJA_NONE || kvasir_jinja_is_number (key))
    {
      kvasir_jinja_builder_append_static (&self->out, "\"");
      if (!write_value (self, key))
        return FALSE;
      kvasir_jinja_builder_append_static (&self->out, "\"");
    }
  else
    return kvasir_jinja_heap_fail (self->heap, "'%s' cannot be a key in JSON",
                                   kvasir_jinja_type_name (key));
  if (self->style->key_separator != NULL)
    kvasir_jinja_builder_append_text (&self->out, self->style->key_separator);
  else
    kvasir_jinja_builder_append_static (&self->out, ": ");
  return TRUE;
}

static int
compare_entries (gconstpointer a, gconstpointer b, gpointer heap)
{
  const KvasirJinjaEntry *x = a;
  const KvasirJinjaEntry *y = b;
  int order = 0;
  if (kvasir_jinja_heap_step (heap, 1))
    kvasir_jinja_compare (heap, x->key, y->key, &order);
  return order;
}

static KvasirJinjaEntry *
sorted_entries (Writer *self, const KvasirJinjaDict *dict)
{
  gsize size = dict->n * sizeof (KvasirJinjaEntry);
  if (!self->style->sort_keys || dict->n == 0)
    return dict->entries;
  if (!kvasir_jinja_heap_reserve (self->heap, size))
    return NULL;
  KvasirJinjaEntry *entries = kvasir_jinja_heap_alloc (self->heap, size);
  memcpy (entries, dict->entries, size);
  g_qsort_with_data (entries, (int) dict->n, sizeof *entries, compare_entries, self->heap);
  return self->heap->failure == NULL ? entries : NULL;
}

static gboolean
write_dict (Writer *self, const KvasirJinjaDict *dict)
{
  const KvasirJinjaEntry *entries = sorted_entries (self, dict);
  if (dict->n > 0 && entries == NULL)
    return FALSE;
  kvasir_jinja_builder_append_static (&self->out, "{");
  self->level++;
  for (guint i = 0; i < dict->n; i++)
    {
      write_between (self, i);
      if (!write_key (self, entries[i].key) || !write_value (self, entries[i].value))
        return FALSE;
    }
  self->level--;
  if (dict->n > 0)
    write_newline (self);
  kvasir_jinja_builder_append_static (&self->out, "}");
  return TRUE;
}

static gboolean
write_by_kind (Writer *self, KvasirJinjaValue value)
{
  switch (value.kind)
    {
    case KVASIR_JINJA_NONE:
      kvasir_jinja_builder_append_static (&self->out, "null");
      return TRUE;
    case KVASIR_JINJA_BOOL:
      kvasir_jinja_builder_append_static (&self->out, value.boolean ? "true" : "false");
      return TRUE;
    case KVASIR_JINJA_INT:
      write_int (self, value.integer);
      return TRUE;
    case KVASIR_JINJA_FLOAT:
      write_float (self, value.number);
      return TRUE;
    case KVASIR_JINJA_TEXT:
      write_text (self, value.text);
      return TRUE;
    case KVASIR_JINJA_LIST:
    case KVASIR_JINJA_TUPLE:
      return write_list (self, value.list);
    case KVASIR_JINJA_DICT:
      return write_dict (self, value.dict);
    default:
      return kvasir_jinja_heap_fail (self->heap, "'%s' cannot be written as JSON",
                                     kvasir_jinja_type_name (value));
    }
}

static gboolean
write_value (Writer *self, KvasirJinjaValue value)
{
  if (!kvasir_jinja_heap_step (self->heap, 1) || !kvasir_jinja_heap_enter (self->heap))
    return FALSE;
  gboolean ok = write_by_kind (self, value);
  kvasir_jinja_heap_leave (self->heap);
  return ok && self->heap->failure == NULL;
}

KvasirJinjaText *
kvasir_jinja_write_json (KvasirJinjaHeap *heap,
                         KvasirJinjaValue value,
                         const KvasirJinjaJsonStyle *style)
{
  Writer self = { .heap = heap, .style = style };
  kvasir_jinja_builder_init (&self.out, heap);
  return write_value (&self, value) ? kvasir_jinja_builder_finish (&self.out) : NULL;
}
