/* ui/markdown/inline.h - the text inside a block, as Pango markup in pieces
 *
 * Walks without recursion, so that no nesting can exhaust the stack. Thread: one at a time.
 */
#pragma once

#include <cmark-gfm.h>
#include <glib.h>

G_BEGIN_DECLS

/* Whether a click may offer to open @url. */
gboolean kvasir_url_is_allowed (const char *url);

/* Markup of everything inside @node, cut into pieces of at most @max_bytes of visible text.
 * Returns: (transfer full): of char*, at least one */
GPtrArray *kvasir_inline_render (cmark_node *node, gsize max_bytes) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
