/* engine/huge-pages.h - memory for tables of some megabytes
 *
 * A page fault every 4 KiB is a third of the time that it takes to load a large vocabulary. Linux
 * gives pages of 2 MiB to blocks that begin where one can, and ask for them.
 * Thread: any.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns: (transfer full): @n_bytes for g_free(), in large pages where they are many and the
 * machine allows it; or NULL where there is no memory */
gpointer kvasir_huge_pages_alloc (gsize n_bytes) G_GNUC_WARN_UNUSED_RESULT;
/* The same, all zeros. */
gpointer kvasir_huge_pages_alloc0 (gsize n_bytes) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
