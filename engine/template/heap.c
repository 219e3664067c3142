#include "engine/template/heap.h"

#include <string.h>

#define CHUNK_BYTES ((gsize) 32 * 1024)
/* One unit of work is worth about as much time as this many bytes scanned. */
#define BYTES_PER_STEP 64

void
kvasir_jinja_heap_init (KvasirJinjaHeap *self, const KvasirJinjaLimits *limits)
{
  memset (self, 0, sizeof *self);
  self->chunks = g_ptr_array_new_with_free_func (g_free);
  self->limits = *limits;
}

void
kvasir_jinja_heap_clear (KvasirJinjaHeap *self)
{
  g_clear_pointer (&self->chunks, g_ptr_array_unref);
  g_clear_pointer (&self->failure, g_free);
}

static gpointer
new_chunk (KvasirJinjaHeap *self, gsize size)
{
  gpointer chunk = g_malloc0 (size);
  g_ptr_array_add (self->chunks, chunk);
  return chunk;
}

gpointer
kvasir_jinja_heap_alloc (KvasirJinjaHeap *self, gsize size)
{
  size = (size + 15) & ~(gsize) 15;
  self->used += size;
  /* A large piece gets its own chunk, so that the rest of the current one is not thrown away. */
  if (size > CHUNK_BYTES / 4)
    return new_chunk (self, size);
  if (size > self->left)
    {
      self->next = new_chunk (self, CHUNK_BYTES);
      self->left = CHUNK_BYTES;
    }
  gpointer block = self->next;
  self->next += size;
  self->left -= size;
  return block;
}

gboolean
kvasir_jinja_heap_reserve (KvasirJinjaHeap *self, gsize size)
{
  if (self->used <= self->limits.max_bytes && size <= self->limits.max_bytes - self->used)
    return self->failure == NULL;
  return kvasir_jinja_heap_fail (self,
                                 "the template needs more than %" G_GSIZE_FORMAT " bytes of memory",
                                 self->limits.max_bytes);
}

gpointer
kvasir_jinja_heap_grow (KvasirJinjaHeap *self, gpointer block, guint n, gsize size, guint *capacity)
{
  if (n <= *capacity)
    return block;
  gsize new_capacity = MAX ((gsize) n, MAX (4, (gsize) *capacity * 2));
  gsize new_bytes;
  if (new_capacity > G_MAXUINT || !g_size_checked_mul (&new_bytes, new_capacity, size) ||
      !kvasir_jinja_heap_reserve (self, new_bytes))
    return NULL;
  gpointer grown = kvasir_jinja_heap_alloc (self, new_bytes);
  if (*capacity > 0)
    memcpy (grown, block, *capacity * size);
  *capacity = (guint) new_capacity;
  return grown;
}

gboolean
kvasir_jinja_heap_step (KvasirJinjaHeap *self, guint64 n)
{
  if (self->failure != NULL)
    return FALSE;
  self->steps += n;
  if (self->steps > self->limits.max_steps)
    return kvasir_jinja_heap_fail (self, "the template takes more than %" G_GUINT64_FORMAT " steps",
                                   self->limits.max_steps);
  return kvasir_jinja_heap_reserve (self, 0);
}

gboolean
kvasir_jinja_heap_scan (KvasirJinjaHeap *self, gsize n_bytes)
{
  /* What is left over counts next time, or many small scans would cost nothing. */
  n_bytes += self->scan_rest;
  self->scan_rest = n_bytes % BYTES_PER_STEP;
  return kvasir_jinja_heap_step (self, n_bytes / BYTES_PER_STEP);
}

gboolean
kvasir_jinja_heap_enter (KvasirJinjaHeap *self)
{
  if (self->depth >= self->limits.max_depth)
    return kvasir_jinja_heap_fail (self, "nested more than %u deep", self->limits.max_depth);
  self->depth++;
  return TRUE;
}

void
kvasir_jinja_heap_leave (KvasirJinjaHeap *self)
{
  self->depth--;
}

gboolean
kvasir_jinja_heap_fail (KvasirJinjaHeap *self, const char *format, ...)
{
  if (self->failure != NULL)
    return FALSE;
  va_list args;
  va_start (args, format);
  self->failure = g_strdup_vprintf (format, args);
  va_end (args);
  return FALSE;
}
