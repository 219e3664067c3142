#include "engine/template/text.h"

#include "engine/template/unicode.h"

#include <string.h>

/* What appending takes whatever the length, in bytes scanned. */
#define APPEND_COST 8

KvasirJinjaText *
kvasir_jinja_text_new (KvasirJinjaHeap *heap, const char *bytes, gsize len, guint origin)
{
  KvasirJinjaText *text = kvasir_jinja_heap_alloc (heap, sizeof *text);
  text->bytes = bytes;
  text->len = len;
  text->n_chars = kvasir_jinja_count_chars (bytes, len);
  text->origin = origin;
  return text;
}

KvasirJinjaText *
kvasir_jinja_text_static (KvasirJinjaHeap *heap, const char *string)
{
  return kvasir_jinja_text_new (heap, string, strlen (string), KVASIR_JINJA_ORIGIN_TEMPLATE);
}

KvasirJinjaText *
kvasir_jinja_text_concat (KvasirJinjaHeap *heap, KvasirJinjaText *left, KvasirJinjaText *right)
{
  if (left->len == 0)
    return right;
  if (right->len == 0)
    return left;
  gsize len;
  if (!g_size_checked_add (&len, left->len, right->len) || len > heap->limits.max_text_bytes)
    {
      kvasir_jinja_heap_fail (heap, "a text longer than %" G_GSIZE_FORMAT " bytes",
                              heap->limits.max_text_bytes);
      return NULL;
    }
  KvasirJinjaText *text = kvasir_jinja_heap_alloc (heap, sizeof *text);
  text->len = len;
  text->n_chars = left->n_chars + right->n_chars;
  text->left = left;
  text->right = right;
  return text;
}

/* The index of the run that covers @offset. */
static guint
find_run (const KvasirJinjaText *text, gsize offset)
{
  guint low = 0;
  guint high = text->n_runs - 1;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (text->runs[middle].end > offset)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

guint
kvasir_jinja_text_origin (const KvasirJinjaText *text, gsize offset)
{
  if (text->runs == NULL)
    return text->origin;
  return text->runs[find_run (text, offset)].origin;
}

static void
builder_reserve (KvasirJinjaBuilder *self, gsize extra)
{
  gsize need = self->len + extra;
  if (need <= self->capacity)
    return;
  /* The first piece is often the only one: then nothing is set aside. */
  gsize capacity = self->capacity == 0 ? need : MAX (need, self->capacity * 2);
  char *bytes = kvasir_jinja_heap_alloc (self->heap, MAX (capacity, 16));
  if (self->len > 0)
    memcpy (bytes, self->bytes, self->len);
  self->bytes = bytes;
  self->capacity = MAX (capacity, 16);
}

static void
builder_mark (KvasirJinjaBuilder *self, guint origin)
{
  if (self->n_runs > 0 && self->runs[self->n_runs - 1].origin == origin)
    {
      self->runs[self->n_runs - 1].end = self->len;
      return;
    }
  if (self->n_runs == self->runs_capacity)
    {
      guint capacity = MAX (4, self->runs_capacity * 2);
      KvasirJinjaRun *runs = kvasir_jinja_heap_alloc (self->heap, capacity * sizeof *runs);
      if (self->n_runs > 0)
        memcpy (runs, self->runs, self->n_runs * sizeof *runs);
      self->runs = runs;
      self->runs_capacity = capacity;
    }
  self->runs[self->n_runs++] = (KvasirJinjaRun){ self->len, origin };
}

static void
builder_add (KvasirJinjaBuilder *self, const char *bytes, gsize len, guint origin)
{
  if (len == 0)
    return;
  builder_reserve (self, len);
  memcpy (self->bytes + self->len, bytes, len);
  self->len += len;
  builder_mark (self, origin);
}

static void
builder_add_flat (KvasirJinjaBuilder *self, const KvasirJinjaText *text, gsize from, gsize len)
{
  if (text->runs == NULL)
    {
      builder_add (self, text->bytes + from, len, text->origin);
      return;
    }
  for (guint i = len > 0 ? find_run (text, from) : 0; len > 0; i++)
    {
      gsize n = MIN (len, text->runs[i].end - from);
      builder_add (self, text->bytes + from, n, text->runs[i].origin);
      from += n;
      len -= n;
    }
}

/* Adds the leaves of a rope from left to right. Ropes are as deep as the loop that built them was
 * long, hence no recursion. */
static void
builder_add_rope (KvasirJinjaBuilder *self, KvasirJinjaText *text, const KvasirJinjaText *skip)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();
  g_ptr_array_add (stack, text);
  while (stack->len > 0)
    {
      KvasirJinjaText *top = g_ptr_array_steal_index_fast (stack, stack->len - 1);
      if (top->bytes == NULL)
        {
          g_ptr_array_add (stack, top->right);
          g_ptr_array_add (stack, top->left);
        }
      else if (top == skip)
        skip = NULL;
      else
        builder_add_flat (self, top, 0, top->len);
    }
}

static void
take_from_builder (KvasirJinjaText *text, KvasirJinjaBuilder *builder)
{
  text->bytes = builder->bytes != NULL ? builder->bytes : "";
  text->len = builder->len;
  if (builder->n_runs == 1)
    text->origin = builder->runs[0].origin;
  if (builder->n_runs > 1)
    {
      text->runs = builder->runs;
      text->n_runs = builder->n_runs;
    }
}

/* Joins a rope. If it begins with a text that was joined before and can still grow in place, only
 * the rest is copied: a loop that appends and looks at the whole each time stays linear. */
static void
flatten (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  KvasirJinjaText *first = text;
  while (first->bytes == NULL)
    first = first->left;
  KvasirJinjaBuilder *builder = first->builder;
  const KvasirJinjaText *skip = first;
  if (builder == NULL || builder->len != first->len)
    {
      builder = kvasir_jinja_heap_alloc (heap, sizeof *builder);
      kvasir_jinja_builder_init (builder, heap);
      builder_reserve (builder, text->len);
      skip = NULL;
    }
  builder_add_rope (builder, text, skip);
  take_from_builder (text, builder);
  text->builder = builder;
  text->left = text->right = NULL;
}

const char *
kvasir_jinja_text_bytes (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  if (text->bytes == NULL)
    flatten (heap, text);
  return text->bytes;
}

static void
copy_runs (KvasirJinjaHeap *heap,
           KvasirJinjaText *part,
           const KvasirJinjaText *whole,
           gsize from,
           guint first)
{
  guint last = find_run (whole, from + part->len - 1);
  part->n_runs = last - first + 1;
  KvasirJinjaRun *runs = kvasir_jinja_heap_alloc (heap, part->n_runs * sizeof *runs);
  for (guint i = 0; i < part->n_runs; i++)
    {
      runs[i].origin = whole->runs[first + i].origin;
      runs[i].end = MIN (whole->runs[first + i].end - from, part->len);
    }
  part->runs = runs;
}

KvasirJinjaText *
kvasir_jinja_text_sub (KvasirJinjaHeap *heap, KvasirJinjaText *text, gsize from, gsize len)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  g_assert (from <= text->len && len <= text->len - from);
  if (len == text->len)
    return text;
  kvasir_jinja_heap_scan (heap, len);
  KvasirJinjaText *part = kvasir_jinja_text_new (heap, bytes + from, len, text->origin);
  if (text->runs == NULL || len == 0)
    return part;
  guint first = find_run (text, from);
  if (text->runs[first].end >= from + len)
    part->origin = text->runs[first].origin;
  else
    copy_runs (heap, part, text, from, first);
  return part;
}

KvasirJinjaText *
kvasir_jinja_text_sub_chars (KvasirJinjaHeap *heap, KvasirJinjaText *text, gsize from, gsize n)
{
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  if (text->n_chars == text->len)
    return kvasir_jinja_text_sub (heap, text, from, n);
  /* Going through characters takes several times as long as searching bytes. */
  kvasir_jinja_heap_scan (heap, (from + n) * 4);
  gsize start = kvasir_jinja_char_offset (bytes, text->len, from);
  gsize len = kvasir_jinja_char_offset (bytes + start, text->len - start, n);
  return kvasir_jinja_text_sub (heap, text, start, len);
}

guint
kvasir_jinja_text_hash (KvasirJinjaHeap *heap, KvasirJinjaText *text)
{
  if (text->hash != 0)
    return text->hash;
  const char *bytes = kvasir_jinja_text_bytes (heap, text);
  kvasir_jinja_heap_scan (heap, text->len);
  guint hash = 2166136261u; /* FNV-1a */
  for (gsize i = 0; i < text->len; i++)
    hash = (hash ^ (guchar) bytes[i]) * 16777619u;
  text->hash = MAX (hash, 1);
  return text->hash;
}

int
kvasir_jinja_text_compare (KvasirJinjaHeap *heap, KvasirJinjaText *a, KvasirJinjaText *b)
{
  gsize shorter = MIN (a->len, b->len);
  kvasir_jinja_heap_scan (heap, shorter);
  int order =
      memcmp (kvasir_jinja_text_bytes (heap, a), kvasir_jinja_text_bytes (heap, b), shorter);
  if (order != 0)
    return order;
  return a->len < b->len ? -1 : a->len > b->len;
}

gboolean
kvasir_jinja_text_equal (KvasirJinjaHeap *heap, KvasirJinjaText *a, KvasirJinjaText *b)
{
  return a == b || (a->len == b->len && kvasir_jinja_text_compare (heap, a, b) == 0);
}

gboolean
kvasir_jinja_text_is (KvasirJinjaHeap *heap, KvasirJinjaText *text, const char *string)
{
  return text->len == strlen (string) &&
         memcmp (kvasir_jinja_text_bytes (heap, text), string, text->len) == 0;
}

void
kvasir_jinja_builder_init (KvasirJinjaBuilder *self, KvasirJinjaHeap *heap)
{
  memset (self, 0, sizeof *self);
  self->heap = heap;
}

/* Whether @len more bytes may be added. */
static gboolean
may_append (KvasirJinjaBuilder *self, gsize len)
{
  if (len > self->heap->limits.max_text_bytes ||
      self->len > self->heap->limits.max_text_bytes - len)
    return kvasir_jinja_heap_fail (self->heap, "a text longer than %" G_GSIZE_FORMAT " bytes",
                                   self->heap->limits.max_text_bytes);
  return kvasir_jinja_heap_reserve (self->heap, len) &&
         kvasir_jinja_heap_scan (self->heap, len + APPEND_COST);
}

void
kvasir_jinja_builder_append (KvasirJinjaBuilder *self, const char *bytes, gsize len, guint origin)
{
  if (may_append (self, len))
    builder_add (self, bytes, len, origin);
}

void
kvasir_jinja_builder_append_static (KvasirJinjaBuilder *self, const char *string)
{
  kvasir_jinja_builder_append (self, string, strlen (string), KVASIR_JINJA_ORIGIN_TEMPLATE);
}

void
kvasir_jinja_builder_append_char (KvasirJinjaBuilder *self, gunichar c, guint origin)
{
  char bytes[6];
  kvasir_jinja_builder_append (self, bytes, (gsize) g_unichar_to_utf8 (c, bytes), origin);
}

void
kvasir_jinja_builder_append_text (KvasirJinjaBuilder *self, KvasirJinjaText *text)
{
  if (!may_append (self, text->len))
    return;
  builder_reserve (self, text->len);
  if (text->bytes != NULL)
    builder_add_flat (self, text, 0, text->len);
  else
    builder_add_rope (self, text, NULL);
}

void
kvasir_jinja_builder_append_sub (KvasirJinjaBuilder *self,
                                 KvasirJinjaText *text,
                                 gsize from,
                                 gsize len)
{
  kvasir_jinja_text_bytes (self->heap, text);
  g_assert (from <= text->len && len <= text->len - from);
  if (may_append (self, len))
    builder_add_flat (self, text, from, len);
}

void
kvasir_jinja_builder_repeat (KvasirJinjaBuilder *self, char c, gsize n, guint origin)
{
  if (n == 0 || !may_append (self, n))
    return;
  builder_reserve (self, n);
  memset (self->bytes + self->len, c, n);
  self->len += n;
  builder_mark (self, origin);
}

KvasirJinjaText *
kvasir_jinja_builder_finish (KvasirJinjaBuilder *self)
{
  if (self->heap->failure != NULL)
    return NULL;
  KvasirJinjaText *text = kvasir_jinja_heap_alloc (self->heap, sizeof *text);
  take_from_builder (text, self);
  text->n_chars = kvasir_jinja_count_chars (text->bytes, text->len);
  return text;
}
