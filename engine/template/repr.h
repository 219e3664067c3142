/* engine/template/repr.h - values as text, the way Python prints them
 *
 * Thread: that of the heap. Bytes of a text keep their origin, also when escaped.
 */
#pragma once

#include "engine/template/value.h"

G_BEGIN_DECLS

/* str(): a text as it is, nothing for undefined. NULL with a failure. */
KvasirJinjaText *kvasir_jinja_str (KvasirJinjaHeap *heap, KvasirJinjaValue value);
/* The same into a builder; FALSE with a failure. */
gboolean kvasir_jinja_append_str (KvasirJinjaBuilder *out, KvasirJinjaValue value);
/* repr(): a text in quotes. */
gboolean kvasir_jinja_append_repr (KvasirJinjaBuilder *out, KvasirJinjaValue value);

G_END_DECLS
