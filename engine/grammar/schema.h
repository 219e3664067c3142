/* engine/grammar/schema.h - the grammar of the JSON texts that a schema allows
 *
 * Reads JSON Schema (draft 7 and 2020-12) and writes GBNF. Properties come in the order of the
 * schema, between tokens of JSON stands at most one space or new line with spaces. What a grammar
 * cannot say (uniqueItems, multipleOf, not, ...) is refused by name, never passed over.
 *
 * Thread: any. Errors: KVASIR_ENGINE_ERROR_BAD_ARGUMENT with the JSON pointer of what is wrong or
 * not supported.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Returns: (transfer full) */
char *kvasir_schema_to_grammar (const char *schema, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
