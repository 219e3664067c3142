/* engine/model/prefault.h - mapped files read ahead while other things are made
 *
 * A thread of its own maps the pages of the files, piece by piece, from when it is started. Who
 * has nothing else left to do finishes: takes pieces too, and tells how far both are.
 *
 * Owner:  KvasirWeights. Thread: one, which makes, finishes and frees it; the mappings outlive it.
 */
#pragma once

#include "engine/gguf/mapping.h"
#include "engine/model/model.h"

G_BEGIN_DECLS

typedef struct _KvasirPrefault KvasirPrefault;

KvasirPrefault *kvasir_prefault_new (void) G_GNUC_WARN_UNUSED_RESULT;
/* Stops what still runs. */
void kvasir_prefault_free (KvasirPrefault *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirPrefault, kvasir_prefault_free)

/* Before it is started. */
void kvasir_prefault_add (KvasirPrefault *self, const KvasirMapping *mapping);
/* Where no thread can be had everything is left to the one that finishes. */
void kvasir_prefault_start (KvasirPrefault *self);
/* Calls @progress (nullable) on this thread, with 1 at the end. FALSE where it stopped it. */
gboolean kvasir_prefault_finish (KvasirPrefault *self, KvasirProgress progress, gpointer user_data);

G_END_DECLS
