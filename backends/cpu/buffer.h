/* backends/cpu/buffer.h - memory of the CPU device
 *
 * "CPU": pages of its own, cleared. "CPU_Mapped": memory of somebody else's that is only read;
 * its buffers have no set and no clear. "CPU_Packed": as "CPU", for weights in the order of
 * packed.h.
 */
#pragma once

#include "backends/backend.h"

/* Fills @type in for @device. */
void kvasir_cpu_buffer_type_init (KvasirBufferType *type, KvasirDevice *device);
void kvasir_cpu_mapped_type_init (KvasirBufferType *type, KvasirDevice *device);
void kvasir_cpu_packed_type_init (KvasirBufferType *type, KvasirDevice *device);
/* NULL: no memory for the handle, or @base is not aligned for tensors. */
KvasirBuffer *kvasir_cpu_mapped_buffer_new (KvasirBufferType *type, void *base, size_t n_bytes);
