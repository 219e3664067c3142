#include "engine/grammar/thread-sets.h"

#include <string.h>

typedef struct
{
  guint32 first; /* index into threads */
  guint32 n;
  guint32 hash;
} Span;

void
kvasir_thread_sets_init (KvasirThreadSets *self)
{
  self->threads = g_array_new (FALSE, FALSE, sizeof (KvasirThread));
  self->spans = g_array_new (FALSE, FALSE, sizeof (Span));
  self->table_size = 64;
  self->table = g_new0 (guint32, self->table_size);
}

void
kvasir_thread_sets_clear (KvasirThreadSets *self)
{
  g_clear_pointer (&self->threads, g_array_unref);
  g_clear_pointer (&self->spans, g_array_unref);
  g_clear_pointer (&self->table, g_free);
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const KvasirThread *x = a;
  const KvasirThread *y = b;
  if (x->pos != y->pos)
    return x->pos < y->pos ? -1 : 1;
  if (x->frame != y->frame)
    return x->frame < y->frame ? -1 : 1;
  return x->count < y->count ? -1 : x->count > y->count;
}

static void
make_set (GArray *threads)
{
  KvasirThread *all = (KvasirThread *) (gpointer) threads->data;
  guint n = 0;
  if (threads->len < 2)
    return;
  g_array_sort (threads, compare);
  for (guint i = 0; i < threads->len; i++)
    if (n == 0 || compare (&all[i], &all[n - 1]) != 0)
      all[n++] = all[i];
  g_array_set_size (threads, n);
}

static guint32
hash_set (const GArray *threads)
{
  guint32 hash = threads->len;
  for (guint i = 0; i < threads->len; i++)
    hash = (hash << 5 | hash >> 27) * 0x9E3779B1u ^
           kvasir_thread_hash (&g_array_index (threads, KvasirThread, i));
  return hash;
}

static void
put (KvasirThreadSets *self, guint32 set)
{
  guint at = g_array_index (self->spans, Span, set).hash & (self->table_size - 1);
  while (self->table[at] != 0)
    at = (at + 1) & (self->table_size - 1);
  self->table[at] = set + 1;
}

static void
grow (KvasirThreadSets *self)
{
  g_free (self->table);
  self->table_size *= 2;
  self->table = g_new0 (guint32, self->table_size);
  for (guint32 i = 0; i < self->spans->len; i++)
    put (self, i);
}

static gboolean
is_set (const KvasirThreadSets *self, const Span *span, const GArray *threads, guint32 hash)
{
  return span->hash == hash && span->n == threads->len &&
         (span->n == 0 || memcmp (&g_array_index (self->threads, KvasirThread, span->first),
                                  threads->data, span->n * sizeof (KvasirThread)) == 0);
}

guint32
kvasir_thread_sets_intern (KvasirThreadSets *self, GArray *threads)
{
  make_set (threads);
  guint32 hash = hash_set (threads);
  for (guint at = hash & (self->table_size - 1); self->table[at] != 0;
       at = (at + 1) & (self->table_size - 1))
    if (is_set (self, &g_array_index (self->spans, Span, self->table[at] - 1), threads, hash))
      return self->table[at] - 1;

  Span span = { self->threads->len, threads->len, hash };
  g_array_append_vals (self->threads, threads->data, threads->len);
  g_array_append_val (self->spans, span);
  if (2 * self->spans->len > self->table_size)
    grow (self);
  else
    put (self, self->spans->len - 1);
  return self->spans->len - 1;
}

const KvasirThread *
kvasir_thread_sets_get (const KvasirThreadSets *self, guint32 set, guint *n_threads)
{
  const Span *span = &g_array_index (self->spans, Span, set);
  *n_threads = span->n;
  return &g_array_index (self->threads, KvasirThread, span->first);
}

guint
kvasir_thread_sets_get_n (const KvasirThreadSets *self)
{
  return self->spans->len;
}

gsize
kvasir_thread_sets_get_bytes (const KvasirThreadSets *self)
{
  return self->threads->len * sizeof (KvasirThread) + self->spans->len * sizeof (Span) +
         self->table_size * sizeof (guint32);
}
