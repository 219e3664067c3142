/* engine/template/methods.h - the tables of methods
 *
 * Thread: constant.
 */
#pragma once

#include "engine/template/callable.h"

G_BEGIN_DECLS

/* Each ends with an entry without a name. */
extern const KvasirJinjaBuiltin kvasir_jinja_text_methods[];
extern const KvasirJinjaBuiltin kvasir_jinja_character_methods[]; /* of texts too */
extern const KvasirJinjaBuiltin kvasir_jinja_list_methods[];
extern const KvasirJinjaBuiltin kvasir_jinja_tuple_methods[];
extern const KvasirJinjaBuiltin kvasir_jinja_dict_methods[];

G_END_DECLS
