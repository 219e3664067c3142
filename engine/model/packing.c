#include "engine/model/packing.h"

#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/graph/graph-plan.h"

/* What is in memory twice for a moment; a millisecond's work. */
#define PIECE_BYTES (1u << 20)

struct _KvasirPacking
{
  KvasirDevice *device; /* (unowned) */
  GPtrArray *tensors;   /* (owned) of KvasirTensor (unowned) */
  KvasirBuffer *buffer; /* (owned) */
  guint64 n_bytes;      /* atomic */
  gint quit;            /* atomic */
  pthread_t thread;
  gboolean is_running; /* the thread is there to be joined */
};

static gboolean
can_pack (KvasirDevice *device, const KvasirTensor *tensor)
{
  return device->packed_buffer_type != NULL && tensor->view_src == NULL &&
         device->vtable->can_pack (device, tensor);
}

/* With what stands before the next one. */
static gsize
get_place_bytes (KvasirDevice *device, const KvasirTensor *tensor)
{
  const KvasirBufferType *type = device->packed_buffer_type;
  gsize n_bytes = type->get_alloc_bytes (type, tensor);

  return (n_bytes + type->alignment - 1) & ~(type->alignment - 1);
}

guint64
kvasir_packing_measure (KvasirDevice *device, const GPtrArray *tensors)
{
  guint64 n_bytes = 0;

  for (guint i = 0; i < tensors->len; i++)
    if (can_pack (device, tensors->pdata[i]))
      n_bytes += ((KvasirTensor *) tensors->pdata[i])->nb[3];
  return n_bytes;
}

/* Pages of the file can be dropped and read again, packed weights can't: half as much again must
 * be left for the cache of a conversation and for others. */
static gboolean
is_affordable (KvasirDevice *device, guint64 n_bytes)
{
  gsize free_bytes, total_bytes;

  device->vtable->get_memory (device, &free_bytes, &total_bytes);
  return n_bytes + n_bytes / 2 <= free_bytes;
}

/* Gives back the whole pages of [*from, to), which are read from the file again should anybody
 * ask for them. */
static void
release (uintptr_t *from, uintptr_t to)
{
  uintptr_t page = (uintptr_t) sysconf (_SC_PAGESIZE);
  uintptr_t begin = (*from + page - 1) / page * page, end = to / page * page;

  if (end <= begin)
    return;
  (void) madvise ((void *) begin, end - begin, MADV_DONTNEED);
  *from = end;
}

static void
pack_tensor (KvasirPacking *self, KvasirTensor *tensor)
{
  uintptr_t data = (uintptr_t) tensor->data, released = data;
  gsize done = 0, n;

  while (g_atomic_int_get (&self->quit) == 0 &&
         (n = self->device->vtable->pack (self->device, tensor, PIECE_BYTES)) > 0)
    {
      done += n;
      release (&released, data + done);
      __atomic_fetch_add (&self->n_bytes, n, __ATOMIC_RELEASE);
    }
}

static void *
run_thread (void *data)
{
  KvasirPacking *self = data;

  for (guint i = 0; i < self->tensors->len; i++)
    pack_tensor (self, self->tensors->pdata[i]);
  return NULL;
}

/* The places are fixed before anybody computes. */
static gboolean
place (KvasirPacking *self)
{
  KvasirBufferType *type = self->device->packed_buffer_type;
  gsize n_bytes = 0;

  for (guint i = 0; i < self->tensors->len; i++)
    n_bytes += get_place_bytes (self->device, self->tensors->pdata[i]);
  self->buffer = type->alloc (type, n_bytes);
  if (self->buffer == NULL)
    return FALSE;
  if (self->buffer->vtable->settle != NULL)
    self->buffer->vtable->settle (self->buffer);
  n_bytes = 0;
  for (guint i = 0; i < self->tensors->len; i++)
    {
      KvasirTensor *tensor = self->tensors->pdata[i];
      tensor->packed = (char *) self->buffer->base + n_bytes;
      tensor->n_packed = 0;
      n_bytes += get_place_bytes (self->device, tensor);
    }
  return TRUE;
}

KvasirPacking *
kvasir_packing_new (KvasirDevice *device, const GPtrArray *tensors)
{
  g_autoptr (KvasirPacking) self = NULL;
  guint64 n_bytes = kvasir_packing_measure (device, tensors);

  if (n_bytes == 0 || !is_affordable (device, n_bytes))
    return NULL;
  self = g_new0 (KvasirPacking, 1);
  self->device = device;
  self->tensors = g_ptr_array_new ();
  for (guint i = 0; i < tensors->len; i++)
    if (can_pack (device, tensors->pdata[i]))
      g_ptr_array_add (self->tensors, tensors->pdata[i]);
  if (!place (self))
    return NULL;
  self->is_running = pthread_create (&self->thread, NULL, run_thread, self) == 0;
  if (!self->is_running)
    return NULL;
  pthread_setname_np (self->thread, "kvasir-pack");
  return g_steal_pointer (&self);
}

void
kvasir_packing_free (KvasirPacking *self)
{
  if (self == NULL)
    return;
  g_atomic_int_set (&self->quit, 1);
  if (self->is_running)
    pthread_join (self->thread, NULL);
  for (guint i = 0; i < self->tensors->len; i++)
    {
      KvasirTensor *tensor = self->tensors->pdata[i];
      tensor->packed = NULL;
      tensor->n_packed = 0;
    }
  g_ptr_array_unref (self->tensors);
  kvasir_buffer_free (self->buffer);
  g_free (self);
}

guint64
kvasir_packing_get_bytes (const KvasirPacking *self)
{
  return __atomic_load_n (&self->n_bytes, __ATOMIC_ACQUIRE);
}
