#include "engine/gguf/mapping.h"

#include "engine/error.h"
#include "engine/gguf/reader.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A model has one mapping, or one for each of its parts where it is split; a handler can only walk
 * a fixed table. */
#define MAX_MAPPINGS 1024

/* One place of the registry. The owner takes it by setting taken, and the handler sees it from when
 * start is set until start is 0 again. */
typedef struct
{
  atomic_bool taken;
  atomic_bool damaged;
  _Atomic (uintptr_t) start;
  _Atomic (uintptr_t) end; /* a multiple of the page size */
} Slot;

struct _KvasirMapping
{
  guint8 *data;
  gsize n_bytes;
  Slot *slot; /* (unowned) in the registry */
};

static Slot registry[MAX_MAPPINGS];
static struct sigaction previous_action;
static uintptr_t page_bytes;

static Slot *
find_slot (uintptr_t address)
{
  for (gsize i = 0; i < MAX_MAPPINGS; i++)
    {
      uintptr_t start = atomic_load (&registry[i].start);

      if (start != 0 && address >= start && address < atomic_load (&registry[i].end))
        return &registry[i];
    }
  return NULL;
}

/* A fault that is none of ours. Returning with the default action set makes the faulting
 * instruction fault again; a signal that was sent must be sent again. */
static void
call_previous (int number, siginfo_t *info, void *context)
{
  if (previous_action.sa_flags & SA_SIGINFO)
    previous_action.sa_sigaction (number, info, context);
  else if (previous_action.sa_handler == SIG_IGN && info->si_code <= 0)
    return;
  else if (previous_action.sa_handler == SIG_DFL || previous_action.sa_handler == SIG_IGN)
    {
      signal (number, SIG_DFL);
      raise (number);
    }
  else
    previous_action.sa_handler (number);
}

/* Zeros replace everything from the missing page to the end and not that page alone: what lies
 * behind the end of a cut file is gone too, and one page at a time could use up the process's
 * number of memory areas. mmap() is a plain system call on Linux, safe in a handler. */
static void
sigbus_cb (int number, siginfo_t *info, void *context)
{
  int saved_errno = errno;
  uintptr_t address = (uintptr_t) info->si_addr & ~(page_bytes - 1);
  Slot *slot = info->si_code > 0 ? find_slot (address) : NULL;

  if (slot && mmap ((void *) address, atomic_load (&slot->end) - address, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED)
    atomic_store (&slot->damaged, true);
  else
    call_previous (number, info, context);
  errno = saved_errno;
}

static void
install_handler (void)
{
  struct sigaction action;

  page_bytes = (uintptr_t) sysconf (_SC_PAGESIZE);
  memset (&action, 0, sizeof action);
  action.sa_sigaction = sigbus_cb;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, &previous_action);
}

static Slot *
take_slot (void)
{
  for (gsize i = 0; i < MAX_MAPPINGS; i++)
    if (!atomic_exchange (&registry[i].taken, true))
      return &registry[i];
  return NULL;
}

static void
release_slot (Slot *slot)
{
  atomic_store (&slot->start, 0);
  atomic_store (&slot->damaged, false);
  atomic_store (&slot->taken, false);
}

static gboolean
map_file (KvasirMapping *self, int fd, const char *path, GError **error)
{
  void *data = mmap (NULL, self->n_bytes, PROT_READ, MAP_SHARED, fd, 0);
  uintptr_t start = (uintptr_t) data;

  if (data == MAP_FAILED)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
                   "%s: cannot map %" G_GSIZE_FORMAT " bytes: %s", path, self->n_bytes,
                   g_strerror (errno));
      return FALSE;
    }
  self->data = data;
  atomic_store (&self->slot->end, (start + self->n_bytes + page_bytes - 1) & ~(page_bytes - 1));
  atomic_store (&self->slot->start, start);
  return TRUE;
}

KvasirMapping *
kvasir_mapping_new (const char *path, GError **error)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  g_autoptr (KvasirMapping) self = NULL;
  gboolean ok;
  int fd;

  g_return_val_if_fail (path != NULL, NULL);

  pthread_once (&once, install_handler);
  self = g_new0 (KvasirMapping, 1);
  self->slot = take_slot ();
  if (!self->slot)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_FILE,
                   "%s: cannot be mapped: expected at most %d mapped files at once", path,
                   MAX_MAPPINGS);
      return NULL;
    }
  fd = kvasir_gguf_open_file (path, &self->n_bytes, error);
  if (fd < 0)
    return NULL;
  ok = map_file (self, fd, path, error);
  close (fd);
  return ok ? g_steal_pointer (&self) : NULL;
}

void
kvasir_mapping_free (KvasirMapping *self)
{
  if (!self)
    return;
  if (self->slot)
    release_slot (self->slot);
  if (self->data)
    munmap (self->data, self->n_bytes);
  g_free (self);
}

const guint8 *
kvasir_mapping_get_data (const KvasirMapping *self)
{
  return self->data;
}

gsize
kvasir_mapping_get_bytes (const KvasirMapping *self)
{
  return self->n_bytes;
}

gboolean
kvasir_mapping_is_damaged (const KvasirMapping *self)
{
  return atomic_load (&self->slot->damaged);
}

gsize
kvasir_mapping_get_resident_bytes (const KvasirMapping *self, gsize offset, gsize n_bytes)
{
  guint8 pages[4096];
  gsize end = MIN (offset + n_bytes, self->n_bytes);
  gsize n_resident = 0;

  for (gsize from = offset / page_bytes * page_bytes; from < end; from += sizeof pages * page_bytes)
    {
      gsize n_asked = MIN (sizeof pages * page_bytes, end - from);

      if (mincore (self->data + from, n_asked, pages) != 0)
        break;
      for (gsize at = from; at < from + n_asked; at += page_bytes)
        if (pages[(at - from) / page_bytes] & 1)
          n_resident += MIN (at + page_bytes, end) - MAX (at, offset);
    }
  return n_resident;
}
