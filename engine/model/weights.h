/* engine/model/weights.h - the tensors of a file where the device can read them
 *
 * First the files are mapped, and may be read ahead while the rest of the model is made. Then an
 * architecture asks for each tensor by name; shapes and types are checked against the header, no
 * memory is taken. Then kvasir_weights_load() gives all of them addresses: in the mapped files
 * where the device can read host memory, else in a buffer of the device.
 * Owner:  KvasirModel. Thread: one; immutable after loading. Bounds: a name is asked for once or
 *   more; each answer is one KvasirTensor.
 * Errors: KVASIR_ENGINE_ERROR_BAD_FILE naming the tensor, expected and found; _NO_MEMORY; _FILE.
 */
#pragma once

#include <glib.h>

#include "backends/backend.h"
#include "engine/gguf/gguf.h"
#include "engine/gguf/mapping.h"
#include "engine/model/model.h"

G_BEGIN_DECLS

typedef struct _KvasirWeights KvasirWeights;

/* @gguf: (transfer none): outlives the weights */
KvasirWeights *kvasir_weights_new (const KvasirGguf *gguf,
                                   KvasirDevice *device) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_weights_free (KvasirWeights *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirWeights, kvasir_weights_free)

/* A tensor of @layer (-1: of none, else "blk.N." stands before @name); ne[1] 0: a vector. FALSE
 * where it is missing or not right. Extents of 1 are not counted: files differ in them. */
gboolean kvasir_weights_get (KvasirWeights *self,
                             gint layer,
                             const char *name,
                             const gint64 ne[2],
                             KvasirTensor **tensor,
                             GError **error);
/* The same of a matrix that is read value by value: F32. */
gboolean kvasir_weights_get_plain (KvasirWeights *self,
                                   gint layer,
                                   const char *name,
                                   const gint64 ne[2],
                                   KvasirTensor **tensor,
                                   GError **error);
/* The same as the first, but a missing one leaves NULL. */
gboolean kvasir_weights_get_optional (KvasirWeights *self,
                                      gint layer,
                                      const char *name,
                                      const gint64 ne[2],
                                      KvasirTensor **tensor,
                                      GError **error);
/* Of three extents: experts, heads. @optional: a missing one leaves NULL. */
gboolean kvasir_weights_get_stack (KvasirWeights *self,
                                   gint layer,
                                   const char *name,
                                   const gint64 ne[3],
                                   gboolean optional,
                                   KvasirTensor **tensor,
                                   GError **error);
/* Tensors of @layer whose names begin with @prefix may be in the file, though no graph reads them.
 */
void kvasir_weights_leave (KvasirWeights *self, gint layer, const char *prefix);
/* Whether the tensor was asked for or left, or is not for graphs: numbers for rounding activations,
 * and tables of angles that old files have. */
gboolean kvasir_weights_is_used (const KvasirWeights *self, const char *name);
gboolean kvasir_weights_has (const KvasirWeights *self, gint layer, const char *name);
/* Extent @dim of a tensor as the file says, 0 where there is none: for sizes that no key has. */
gint64
kvasir_weights_get_extent (const KvasirWeights *self, gint layer, const char *name, guint dim);
/* The rows [@first, @first + @n) of a matrix (of each matrix of a stack), or elements of a vector,
 * as a tensor of its own: matrices that a file stores as one. */
KvasirTensor *
kvasir_weights_slice (KvasirWeights *self, KvasirTensor *whole, gint64 first, gint64 n);

/* Before anything else. */
gboolean kvasir_weights_map (KvasirWeights *self, GError **error);
/* From here until it is finished the mapped pages are read ahead; see engine/model/prefault.h. */
void kvasir_weights_start_prefault (KvasirWeights *self);
gboolean
kvasir_weights_finish_prefault (KvasirWeights *self, KvasirProgress progress, gpointer user_data);

/* Gives addresses, or copies. With @no_alloc a copy is only measured, and may be made by another
 * call where the pages were still being read ahead. */
gboolean kvasir_weights_load (KvasirWeights *self, gboolean no_alloc, GError **error);

/* FALSE once a mapped file was cut short. */
gboolean kvasir_weights_are_intact (const KvasirWeights *self);
/* Of the weights that are read from the mapped files, what is in memory now: never more than all
 * weights without the packed ones, though the system may keep the files themselves longer. 0 where
 * the device keeps a copy. */
guint64 kvasir_weights_get_resident_bytes (const KvasirWeights *self);
const char *kvasir_weights_get_buffer_type (const KvasirWeights *self);
guint64 kvasir_weights_get_bytes (const KvasirWeights *self);

/* Begins to put mapped weights into the device's own order (packing.h); with @no_alloc that is only
 * measured. Tables that are not multiplied stay; @output (nullable) is, though it may be one.*/
void kvasir_weights_pack (KvasirWeights *self, const KvasirTensor *output, gboolean no_alloc);
/* Of kvasir_weights_get_bytes() those that lie there now, or would in the end; 0: none. */
guint64 kvasir_weights_get_packed_bytes (const KvasirWeights *self);
const char *kvasir_weights_get_packed_type (const KvasirWeights *self);

G_END_DECLS
