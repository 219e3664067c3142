/* engine/session/mask-tap.h - keeps the mask of the last physical batch for a view
 *
 * The bits are asked from the memory right after the batch, while the cells are as the kernel saw
 * them, but only while the view is shown. Where it is opened later, the last batch is caught up
 * with, as long as no cell has changed since.
 *
 * Owner:  KvasirSession. Thread: engine thread only.
 */
#pragma once

#include "engine/session/snapshot.h"

G_BEGIN_DECLS

#define KVASIR_WATERFALL_ROWS 256

typedef struct _KvasirMaskTap KvasirMaskTap;

KvasirMaskTap *kvasir_mask_tap_new (const KvasirMemory *memory,
                                    guint n_ubatch) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_mask_tap_free (KvasirMaskTap *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMaskTap, kvasir_mask_tap_free)

/* Whether the view is shown. */
void kvasir_mask_tap_set_shown (KvasirMaskTap *self, gboolean shown);
/* After a physical batch. */
void kvasir_mask_tap_note (KvasirMaskTap *self, const KvasirUbatch *ubatch);
/* Cells have changed by other means. */
void kvasir_mask_tap_invalidate (KvasirMaskTap *self);
/* (transfer full) (nullable): one for each cache that attention reads, of the first stream of the
 * batch; NULL before the first batch, or where it was missed. */
KvasirMaskShot *kvasir_mask_tap_build (KvasirMaskTap *self) G_GNUC_WARN_UNUSED_RESULT;

/* n_kv of the last physical batch of a stream, 0 before the first, and of states. */
guint kvasir_mask_tap_get_n_kv (const KvasirMaskTap *self, guint cache, guint stream);

G_END_DECLS
