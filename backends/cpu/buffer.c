#include "backends/cpu/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backends/cpu/ops.h"

#define ALIGNMENT 64
#define HUGE_PAGE ((size_t) 2 << 20)
/* Newer than the headers that this is built with; kernels before 6.1 refuse it. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

typedef struct
{
  KvasirBuffer buffer;
  void *mapping;
  size_t mapping_bytes;
} PageBuffer;

static size_t
get_alloc_bytes (const KvasirBufferType *type, const KvasirTensor *tensor)
{
  size_t span = kvasir_tensor_get_span (tensor);

  (void) type;
  return (span + ALIGNMENT - 1) & ~(size_t) (ALIGNMENT - 1);
}

static void
page_buffer_free (KvasirBuffer *buffer)
{
  PageBuffer *pages = (PageBuffer *) buffer;

  munmap (pages->mapping, pages->mapping_bytes);
  free (pages);
}

static void
mapped_buffer_free (KvasirBuffer *buffer)
{
  free (buffer);
}

static void
buffer_set (KvasirBuffer *buffer, size_t offset, const void *bytes, size_t n_bytes)
{
  memcpy ((uint8_t *) buffer->base + offset, bytes, n_bytes);
}

static void
buffer_get (const KvasirBuffer *buffer, size_t offset, void *bytes, size_t n_bytes)
{
  memcpy (bytes, (const uint8_t *) buffer->base + offset, n_bytes);
}

static void
buffer_clear (KvasirBuffer *buffer, uint8_t value)
{
  memset (buffer->base, value, buffer->n_bytes);
}

static bool
buffer_copy (const KvasirBuffer *src,
             size_t src_offset,
             KvasirBuffer *dst,
             size_t dst_offset,
             size_t n_bytes)
{
  if (!src->type->is_host)
    return false;
  memcpy ((uint8_t *) dst->base + dst_offset, (const uint8_t *) src->base + src_offset, n_bytes);
  return true;
}

/* Huge pages spare most of the misses in the translation buffer, but each is cleared as a whole
 * when its first byte is written, which a few cells of each layer are not worth. Those that are
 * not there yet come when they are first used; in place of the others the system would put them
 * at its leisure, which takes minutes. */
static void
page_buffer_settle (KvasirBuffer *buffer)
{
  if (buffer->n_bytes < HUGE_PAGE)
    return;
  madvise (buffer->base, buffer->n_bytes, MADV_HUGEPAGE);
  madvise (buffer->base, buffer->n_bytes / HUGE_PAGE * HUGE_PAGE, MADV_COLLAPSE);
}

static const KvasirBufferVtable page_vtable = {
  .free = page_buffer_free,
  .set = buffer_set,
  .get = buffer_get,
  .clear = buffer_clear,
  .copy = buffer_copy,
  .settle = page_buffer_settle,
};

static const KvasirBufferVtable mapped_vtable = {
  .free = mapped_buffer_free,
  .get = buffer_get,
  .copy = buffer_copy,
};

/* Pages straight from the system: they come cleared, are only taken when touched, and go back
 * when freed. Large buffers begin where a huge page may lie. */
static KvasirBuffer *
page_buffer_new (KvasirBufferType *type, size_t n_bytes)
{
  bool is_huge = n_bytes >= HUGE_PAGE;
  size_t slack = is_huge ? HUGE_PAGE : 1;
  PageBuffer *pages;
  void *mapping;
  uintptr_t base;

  if (n_bytes > SIZE_MAX - slack)
    return NULL;
  mapping =
      mmap (NULL, n_bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return NULL;
  pages = calloc (1, sizeof *pages);
  if (pages == NULL)
    {
      munmap (mapping, n_bytes + slack);
      return NULL;
    }
  base = ((uintptr_t) mapping + slack - 1) & ~(uintptr_t) (slack - 1);
  pages->mapping = mapping;
  pages->mapping_bytes = n_bytes + slack;
  pages->buffer = (KvasirBuffer){
    .type = type, .base = (void *) base, .n_bytes = n_bytes, .vtable = &page_vtable
  };
  return &pages->buffer;
}

/* Memory of this type comes from the application. */
static KvasirBuffer *
refuse_alloc (KvasirBufferType *type, size_t n_bytes)
{
  (void) type;
  (void) n_bytes;
  return NULL;
}

void
kvasir_cpu_buffer_type_init (KvasirBufferType *type, KvasirDevice *device)
{
  *type = (KvasirBufferType){ .name = "CPU",
                              .device = device,
                              .alignment = ALIGNMENT,
                              .max_bytes = SIZE_MAX,
                              .is_host = true,
                              .get_alloc_bytes = get_alloc_bytes,
                              .alloc = page_buffer_new };
}

void
kvasir_cpu_mapped_type_init (KvasirBufferType *type, KvasirDevice *device)
{
  kvasir_cpu_buffer_type_init (type, device);
  type->name = "CPU_Mapped";
  /* Files align their tensors to 32 bytes or less; no kernel here needs more than its elements. */
  type->alignment = 8;
  type->alloc = refuse_alloc;
}

void
kvasir_cpu_packed_type_init (KvasirBufferType *type, KvasirDevice *device)
{
  kvasir_cpu_buffer_type_init (type, device);
  type->name = "CPU_Packed";
}

KvasirBuffer *
kvasir_cpu_mapped_buffer_new (KvasirBufferType *type, void *base, size_t n_bytes)
{
  KvasirBuffer *buffer;

  if ((uintptr_t) base % type->alignment != 0)
    return NULL;
  buffer = calloc (1, sizeof *buffer);
  if (buffer != NULL)
    *buffer =
        (KvasirBuffer){ .type = type, .base = base, .n_bytes = n_bytes, .vtable = &mapped_vtable };
  return buffer;
}
