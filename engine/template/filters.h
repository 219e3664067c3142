/* engine/template/filters.h - the tables of filters
 *
 * Thread: constant.
 */
#pragma once

#include "engine/template/callable.h"

G_BEGIN_DECLS

/* Each ends with an entry without a name. */
extern const KvasirJinjaBuiltin kvasir_jinja_text_filters[];
extern const KvasirJinjaBuiltin kvasir_jinja_list_filters[];
extern const KvasirJinjaBuiltin kvasir_jinja_select_filters[];
extern const KvasirJinjaBuiltin kvasir_jinja_value_filters[];

/* What "a.0.b" in an argument attribute= leads to from @value; missing @path: @value itself.
 * @standard stands in for what is undefined unless it is missing or none. */
gboolean kvasir_jinja_follow_path (KvasirJinjaHeap *heap,
                                   KvasirJinjaValue value,
                                   KvasirJinjaValue path,
                                   KvasirJinjaValue standard,
                                   KvasirJinjaValue *out);

G_END_DECLS
