/* engine/model/packing.h - puts weights into the device's own order in the background
 *
 * The mapped file can be multiplied at once; the device's order is faster. A thread of its own
 * brings one tensor after the other there while others compute, a piece at a time, and gives the
 * pages of the file back that are not read any more, so that every weight is in memory once.
 * Owner:  KvasirWeights. Thread: made and freed on the engine thread.
 * Bounds: as many bytes as the tensors have. Units: bytes.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"

G_BEGIN_DECLS

typedef struct _KvasirPacking KvasirPacking;

/* Of @tensors those that the device can pack; what computes with them may go on. NULL where there
 * are none, or no memory or thread for it: then they stay as they are.
 * @tensors: (element-type KvasirTensor): in mapped files; they outlive this */
KvasirPacking *kvasir_packing_new (KvasirDevice *device,
                                   const GPtrArray *tensors) G_GNUC_WARN_UNUSED_RESULT;
/* Stops where it is; nothing may compute any more. */
void kvasir_packing_free (KvasirPacking *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirPacking, kvasir_packing_free)

/* Bytes of those of @tensors that the device can pack. */
guint64 kvasir_packing_measure (KvasirDevice *device, const GPtrArray *tensors);
/* Packed up to now. */
guint64 kvasir_packing_get_bytes (const KvasirPacking *self);

G_END_DECLS
