/* engine/template/reads.h - which variables a parsed template asks for
 *
 * Thread: any; the tree is immutable.
 */
#pragma once

#include "engine/template/ast.h"

G_BEGIN_DECLS

/* Whether a variable called @name is read anywhere below @node (nullable). One that the template
 * sets itself counts too if it is read as well. */
gboolean kvasir_jinja_reads (const KvasirJinjaNode *node, const char *name);

G_END_DECLS
