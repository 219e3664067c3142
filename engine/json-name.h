/* engine/json-name.h - what a JSON value is, in the words of messages
 *
 * Thread: any.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

/* "an object", "a list", "a text", "a whole number", "a number with a fraction", "true", "false",
 * "null"; "nothing" where @value is NULL. */
const char *kvasir_json_name_type (const json_t *value);

G_END_DECLS
