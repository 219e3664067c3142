/* engine/gguf/mapping.h - a file mapped for reading that survives the file being cut short
 *
 * Reading a page beyond the end of a file that shrank raises SIGBUS. A process-wide registry of
 * mappings, the only one below app/ and kept in mapping.c alone, lets the handler put zero pages in
 * place and mark the mapping as damaged; the engine asks after each step and fails it with a
 * message. A SIGBUS outside the registry goes to the handler that was there before.
 * Thread: any; the damaged flag is atomic.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _KvasirMapping KvasirMapping;

KvasirMapping *kvasir_mapping_new (const char *path, GError **error) G_GNUC_WARN_UNUSED_RESULT;
void kvasir_mapping_free (KvasirMapping *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (KvasirMapping, kvasir_mapping_free)

const guint8 *kvasir_mapping_get_data (const KvasirMapping *self);
gsize kvasir_mapping_get_bytes (const KvasirMapping *self);
gboolean kvasir_mapping_is_damaged (const KvasirMapping *self);
/* Of the @n_bytes from @offset on, those that are in memory now (mincore), whether this process or
 * another one read them; for the Memory page. */
gsize kvasir_mapping_get_resident_bytes (const KvasirMapping *self, gsize offset, gsize n_bytes);

G_END_DECLS
