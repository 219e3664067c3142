#include "engine/model/prefault.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

/* Large enough that the calls cost nothing, small enough for twenty reports on a small model. */
#define PIECE_BYTES (4u << 20)

typedef struct
{
  const guint8 *data; /* (unowned) of a mapping */
  gsize n_bytes;
} Piece;

struct _KvasirPrefault
{
  GArray *pieces; /* (owned) of Piece; constant once started */
  gboolean has_thread;
  pthread_t thread;
  atomic_uint next;   /* the first piece that nobody has taken */
  atomic_uint n_done; /* pieces */
};

KvasirPrefault *
kvasir_prefault_new (void)
{
  KvasirPrefault *self = g_new0 (KvasirPrefault, 1);

  self->pieces = g_array_new (FALSE, FALSE, sizeof (Piece));
  return self;
}

static void
join (KvasirPrefault *self)
{
  if (self->has_thread)
    pthread_join (self->thread, NULL);
  self->has_thread = FALSE;
}

void
kvasir_prefault_free (KvasirPrefault *self)
{
  g_return_if_fail (self != NULL);
  atomic_store (&self->next, self->pieces->len);
  join (self);
  g_array_unref (self->pieces);
  g_free (self);
}

void
kvasir_prefault_add (KvasirPrefault *self, const KvasirMapping *mapping)
{
  const guint8 *data = kvasir_mapping_get_data (mapping);
  const gsize n_bytes = kvasir_mapping_get_bytes (mapping);

  for (gsize at = 0; at < n_bytes; at += PIECE_BYTES)
    {
      const Piece piece = { data + at, MIN (PIECE_BYTES, n_bytes - at) };
      g_array_append_val (self->pieces, piece);
    }
}

/* FALSE: none is left. */
static gboolean
do_piece (KvasirPrefault *self)
{
  const guint i = atomic_fetch_add (&self->next, 1);

  if (i >= self->pieces->len)
    return FALSE;
  const Piece *piece = &g_array_index (self->pieces, Piece, i);
  /* Where the kernel can't (before 5.14) or the file was cut short, the first use of a page reads
   * it. */
  (void) madvise ((void *) piece->data, piece->n_bytes, MADV_POPULATE_READ);
  atomic_fetch_add (&self->n_done, 1);
  return TRUE;
}

static void *
thread_main (void *data)
{
  while (do_piece (data))
    ;
  return NULL;
}

void
kvasir_prefault_start (KvasirPrefault *self)
{
  sigset_t all, old;

  /* Signals are the application's. */
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &old);
  self->has_thread = pthread_create (&self->thread, NULL, thread_main, self) == 0;
  pthread_sigmask (SIG_SETMASK, &old, NULL);
  if (self->has_thread)
    pthread_setname_np (self->thread, "kvasir-load");
}

gboolean
kvasir_prefault_finish (KvasirPrefault *self, KvasirProgress progress, gpointer user_data)
{
  const double n_pieces = MAX (self->pieces->len, 1);

  while (do_piece (self))
    if (progress != NULL && !progress (atomic_load (&self->n_done) / n_pieces, user_data))
      return FALSE;
  join (self);
  return progress == NULL || progress (1, user_data);
}
