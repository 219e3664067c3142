/* engine/template/json.h - JSON to values and back
 *
 * Thread: that of the heap.
 */
#pragma once

#include <jansson.h>

#include "engine/template/value.h"

G_BEGIN_DECLS

/* The value of @json; its texts are borrowed, so @json must outlive the heap, and have @origin.
 * FALSE with a failure for texts that are not UTF-8 and for nesting beyond the limit. */
gboolean kvasir_jinja_from_json (KvasirJinjaHeap *heap,
                                 const json_t *json,
                                 guint origin,
                                 KvasirJinjaValue *out);

/* json.loads(): texts in the result keep the origin of the bytes they were read from. */
gboolean
kvasir_jinja_parse_json (KvasirJinjaHeap *heap, KvasirJinjaText *text, KvasirJinjaValue *out);

typedef struct
{
  gboolean ascii; /* escape all but ASCII */
  gboolean sort_keys;
  KvasirJinjaText *indent;         /* (nullable): for one level; NULL: all on one line */
  KvasirJinjaText *item_separator; /* (nullable): NULL: Python's own */
  KvasirJinjaText *key_separator;
} KvasirJinjaJsonStyle;

/* json.dumps(); brackets, quotes and numbers are the template's, characters keep their origin. */
KvasirJinjaText *kvasir_jinja_write_json (KvasirJinjaHeap *heap,
                                          KvasirJinjaValue value,
                                          const KvasirJinjaJsonStyle *style);

G_END_DECLS
