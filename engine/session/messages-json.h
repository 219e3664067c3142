/* engine/session/messages-json.h - a conversation and tools that were written down as JSON
 *
 * The form is the one that chat templates know: a list of objects with a role (system, developer,
 * user, assistant, tool) and a content, which is a text or a list of parts with a type each;
 * answers may have reasoning_content and tool_calls. A template is given each object as it stands,
 * but the arguments of calls as the object that they spell.
 * Errors: KVASIR_ENGINE_ERROR_BAD_ARGUMENT with the place, what was expected and what was found.
 * Thread: any.
 */
#pragma once

#include "engine/session/worker.h"

G_BEGIN_DECLS

/* Appends to @messages (of KvasirMessage), with ids from @first_id on. Nothing is appended where
 * FALSE is returned. */
gboolean
kvasir_messages_parse (const char *text, guint64 first_id, GPtrArray *messages, GError **error);
/* A list of objects, functions with their names. Returns: (transfer full): the same as
 * KvasirRequest.tools, or NULL */
char *kvasir_tools_parse (const char *text, GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
