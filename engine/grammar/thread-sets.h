/* engine/grammar/thread-sets.h - sets of places in a grammar, each set kept once
 *
 * A thread is one way that the grammar can have been read so far: a place in it, and the frame that
 * says where to go on at the end of its rule. A frame is a set of threads as well, so what is
 * pending forms a graph without cycles in which equal parts are shared: that keeps ambiguous
 * grammars from growing exponentially. Equal sets have equal numbers.
 *
 * Owner:  KvasirStates. Thread: that of the owner.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The place behind the whole text. */
#define KVASIR_POS_END G_MAXUINT32

typedef struct
{
  guint32 pos;   /* of an element */
  guint32 frame; /* set of the threads that go on behind the rule */
  guint32 count; /* how often the element was read already */
} KvasirThread;

typedef struct
{
  GArray *threads; /* (owned) of KvasirThread */
  GArray *spans;   /* (owned): by set, where its threads are */
  guint32 *table;  /* (owned) [table_size]: number of a set + 1, 0: free */
  guint table_size;
} KvasirThreadSets;

void kvasir_thread_sets_init (KvasirThreadSets *self);
void kvasir_thread_sets_clear (KvasirThreadSets *self);
/* Sorts @threads, drops repeated ones and gives the number of the set; 0, 1, ... in the order in
 * which they come first. */
guint32 kvasir_thread_sets_intern (KvasirThreadSets *self, GArray *threads);
const KvasirThread *
kvasir_thread_sets_get (const KvasirThreadSets *self, guint32 set, guint *n_threads);
guint kvasir_thread_sets_get_n (const KvasirThreadSets *self);
gsize kvasir_thread_sets_get_bytes (const KvasirThreadSets *self);

static inline guint32
kvasir_thread_hash (const KvasirThread *thread)
{
  guint64 x = ((guint64) thread->pos << 32 | thread->frame) * 0x9E3779B97F4A7C15u;
  x ^= thread->count + (x >> 29);
  x *= 0xBF58476D1CE4E5B9u;
  return (guint32) (x >> 32);
}

G_END_DECLS
