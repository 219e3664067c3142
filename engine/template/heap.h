/* engine/template/heap.h - memory and limits of one parse or one render
 *
 * Owner:  KvasirTemplate keeps the one it was parsed into; a render has its own.
 * Thread: one at a time; a parsed template's heap is only read.
 * All that a template makes lives here until the heap is cleared, so no value has an owner and an
 * error needs no unwinding. Every loop over data asks kvasir_jinja_heap_step(), so that time is
 * bounded as well as memory.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 max_steps;
  guint max_depth;
  gsize max_text_bytes; /* of one text, the output included */
  gsize max_bytes;      /* of the heap */
} KvasirJinjaLimits;

typedef struct
{
  GPtrArray *chunks; /* (owned) */
  char *next;        /* the free rest of the newest chunk */
  gsize left;
  gsize used; /* bytes handed out */
  KvasirJinjaLimits limits;
  guint64 steps;
  gsize scan_rest; /* bytes looked at that make no whole step yet */
  guint depth;
  char *failure; /* (owned) (nullable): the first error, without its place */
} KvasirJinjaHeap;

void kvasir_jinja_heap_init (KvasirJinjaHeap *self, const KvasirJinjaLimits *limits);
void kvasir_jinja_heap_clear (KvasirJinjaHeap *self);

/* Zeroed memory, aligned to 16. Small pieces are let through: the next step notices. */
gpointer kvasir_jinja_heap_alloc (KvasirJinjaHeap *self, gsize size);
/* Whether @size more bytes are within the limit; asked before anything that can be large. */
gboolean kvasir_jinja_heap_reserve (KvasirJinjaHeap *self, gsize size);
/* The block grown to hold @n items of @size bytes, by doubling *@capacity; NULL if over the limit.
 */
gpointer kvasir_jinja_heap_grow (
    KvasirJinjaHeap *self, gpointer block, guint n, gsize size, guint *capacity);

/* Counts @n units of work; FALSE when the work, the memory or a failure says stop. */
gboolean kvasir_jinja_heap_step (KvasirJinjaHeap *self, guint64 n);
/* The same for @n_bytes of text looked at or copied. */
gboolean kvasir_jinja_heap_scan (KvasirJinjaHeap *self, gsize n_bytes);
/* One level of nesting; each TRUE is paired with a leave. */
gboolean kvasir_jinja_heap_enter (KvasirJinjaHeap *self);
void kvasir_jinja_heap_leave (KvasirJinjaHeap *self);

/* Keeps the message if it is the first. Always FALSE, to be returned. */
gboolean kvasir_jinja_heap_fail (KvasirJinjaHeap *self, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

G_END_DECLS
