#include "engine/session/messages-json.h"

#include <string.h>

#include "engine/error.h"
#include "engine/json-name.h"

/* Characters of a text in a message. */
#define MAX_QUOTED 40

/* What is being looked at, for messages. */
typedef struct
{
  GString *path; /* "messages[2].content[0].text" */
  GError **error;
} Place;

static gboolean
refuse (const Place *place, const char *member, const char *expected, const char *found)
{
  g_set_error (place->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "%s%s: %s expected, %s found", place->path->str, member, expected, found);
  return FALSE;
}

/* What a file holds may be long. */
static char *
quote (const char *text)
{
  const gboolean is_long = g_utf8_strlen (text, -1) > MAX_QUOTED;
  g_autofree char *begin = g_utf8_substring (text, 0, is_long ? MAX_QUOTED : -1);

  return g_strdup_printf ("\"%s%s\"", begin, is_long ? "…" : "");
}

static json_t *
load_list (const char *text, const char *name, GError **error)
{
  json_error_t where;
  json_t *list = json_loads (text, JSON_REJECT_DUPLICATES, &where);
  g_autoptr (GString) path = g_string_new (name);
  const Place place = { path, error };

  if (list == NULL)
    g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                 "%s, line %d, column %d: JSON expected, found: %s", name, where.line, where.column,
                 where.text);
  else if (!json_is_array (list) || json_array_size (list) == 0)
    {
      refuse (&place, "", "a list that is not empty",
              json_is_array (list) ? "an empty one" : kvasir_json_name_type (list));
      g_clear_pointer (&list, json_decref);
    }
  return list;
}

static gboolean
check_part (const json_t *part, const Place *place)
{
  const char *type = json_string_value (json_object_get (part, "type"));
  const json_t *text = json_object_get (part, "text");

  if (!json_is_object (part))
    return refuse (place, "", "an object with a type", kvasir_json_name_type (part));
  if (type == NULL)
    return refuse (place, ".type", "a text",
                   kvasir_json_name_type (json_object_get (part, "type")));
  if (strcmp (type, "text") == 0 && !json_is_string (text))
    return refuse (place, ".text", "a text", kvasir_json_name_type (text));
  return TRUE;
}

/* Appends the texts of the parts to @plain. */
static gboolean
read_parts (const json_t *parts, const Place *place, GString *plain)
{
  gsize len = place->path->len;

  for (size_t i = 0; i < json_array_size (parts); i++)
    {
      const json_t *part = json_array_get (parts, i);
      const char *text = json_string_value (json_object_get (part, "text"));
      g_string_append_printf (place->path, ".content[%zu]", i);
      if (!check_part (part, place))
        return FALSE;
      g_string_truncate (place->path, len);
      if (text != NULL && plain->len > 0)
        g_string_append_c (plain, '\n');
      g_string_append (plain, text != NULL ? text : "");
    }
  return TRUE;
}

static gboolean
read_content (const json_t *message, const Place *place, GString *plain)
{
  const json_t *content = json_object_get (message, "content");

  if (json_is_string (content))
    g_string_append (plain, json_string_value (content));
  else if (json_is_array (content))
    return read_parts (content, place, plain);
  else if ((content != NULL && !json_is_null (content)) ||
           json_object_get (message, "tool_calls") == NULL)
    return refuse (place, ".content", "a text or a list of parts", kvasir_json_name_type (content));
  return TRUE;
}

/* Other programs write the arguments of a call as a text that holds JSON; templates want the
 * values. A text that a model has spoilt stays as it is.
 */
static gboolean
spell_out (json_t *function, const char *member, const Place *place)
{
  const json_t *found = json_object_get (function, "arguments");
  json_t *arguments;

  if (found == NULL || json_is_null (found) || json_is_object (found))
    return TRUE;
  if (!json_is_string (found))
    return refuse (place, member, "an object, or a text that spells one",
                   kvasir_json_name_type (found));
  arguments = json_loads (json_string_value (found), 0, NULL);
  /* Frees what was found. */
  if (json_is_object (arguments))
    json_object_set (function, "arguments", arguments);
  json_decref (arguments);
  return TRUE;
}

/* Of a call or a tool; some leave the object around it out. */
static gboolean
check_function (const json_t *outer, const Place *place, json_t **function)
{
  const json_t *name;

  *function = json_object_get (outer, "function");
  if (*function != NULL && !json_is_object (*function))
    return refuse (place, ".function", "an object", kvasir_json_name_type (*function));
  if (!json_is_object (outer))
    return refuse (place, "", "an object", kvasir_json_name_type (outer));
  name = json_object_get (*function != NULL ? *function : outer, "name");
  return json_is_string (name) || refuse (place, *function != NULL ? ".function.name" : ".name",
                                          "a text", kvasir_json_name_type (name));
}

static gboolean
check_calls (const json_t *message, const Place *place)
{
  const json_t *calls = json_object_get (message, "tool_calls");
  gsize len = place->path->len;

  if (calls != NULL && !json_is_array (calls))
    return refuse (place, ".tool_calls", "a list", kvasir_json_name_type (calls));
  for (size_t i = 0; i < json_array_size (calls); i++)
    {
      json_t *call = json_array_get (calls, i);
      json_t *function;

      g_string_append_printf (place->path, ".tool_calls[%zu]", i);
      if (!check_function (call, place, &function) ||
          !spell_out (function != NULL ? function : call,
                      function != NULL ? ".function.arguments" : ".arguments", place))
        return FALSE;
      g_string_truncate (place->path, len);
    }
  return TRUE;
}

/* To templates a tool speaks with its own role, to whoever folds a chat with the user's. */
static gboolean
read_role (const json_t *message, const Place *place, KvasirRole *role)
{
  static const struct
  {
    const char *name;
    KvasirRole role;
  } roles[] = { { "system", KVASIR_ROLE_SYSTEM },
                { "developer", KVASIR_ROLE_SYSTEM },
                { "user", KVASIR_ROLE_USER },
                { "tool", KVASIR_ROLE_USER },
                { "assistant", KVASIR_ROLE_ASSISTANT } };
  const json_t *name = json_object_get (message, "role");
  g_autofree char *quoted = json_is_string (name) ? quote (json_string_value (name)) : NULL;

  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    if (g_strcmp0 (json_string_value (name), roles[i].name) == 0)
      {
        *role = roles[i].role;
        return TRUE;
      }
  return refuse (place, ".role", "system, developer, user, assistant or tool",
                 quoted != NULL ? quoted : kvasir_json_name_type (name));
}

static KvasirMessage *
read_message (json_t *message, guint64 id, const Place *place)
{
  g_autoptr (GString) plain = g_string_new (NULL);
  const json_t *reasoning = json_object_get (message, "reasoning_content");
  KvasirRole role = KVASIR_ROLE_USER;
  KvasirMessage *read;
  char *dump;

  if (!json_is_object (message))
    {
      refuse (place, "", "an object", kvasir_json_name_type (message));
      return NULL;
    }
  if (reasoning != NULL && !json_is_string (reasoning) && !json_is_null (reasoning))
    {
      refuse (place, ".reasoning_content", "a text", kvasir_json_name_type (reasoning));
      return NULL;
    }
  if (!read_role (message, place, &role) || !read_content (message, place, plain) ||
      !check_calls (message, place))
    return NULL;
  read = kvasir_message_new (id, role, plain->str);
  dump = json_dumps (message, JSON_COMPACT);
  read->json = g_strdup (dump);
  free (dump);
  return read;
}

gboolean
kvasir_messages_parse (const char *text, guint64 first_id, GPtrArray *messages, GError **error)
{
  json_t *list = load_list (text, "messages", error);
  g_autoptr (GString) path = g_string_new (NULL);
  const guint n_before = messages->len;
  const Place place = { path, error };
  KvasirMessage *message = NULL;

  if (list == NULL)
    return FALSE;
  for (size_t i = 0; i < json_array_size (list); i++)
    {
      g_string_printf (path, "messages[%zu]", i);
      message = read_message (json_array_get (list, i), first_id + i, &place);
      if (message == NULL)
        break;
      g_ptr_array_add (messages, message);
    }
  if (message == NULL)
    g_ptr_array_set_size (messages, (gint) n_before);
  json_decref (list);
  return message != NULL;
}

/* What a model brings itself, such as a search of the web, has a type of its own and no name. */
static gboolean
check_tool (const json_t *tool, const Place *place)
{
  const json_t *type = json_object_get (tool, "type");
  json_t *function;

  if (type != NULL && !json_is_string (type))
    return refuse (place, ".type", "a text", kvasir_json_name_type (type));
  if (type != NULL && strcmp (json_string_value (type), "function") != 0)
    return TRUE;
  return check_function (tool, place, &function);
}

char *
kvasir_tools_parse (const char *text, GError **error)
{
  json_t *list = load_list (text, "tools", error);
  g_autoptr (GString) path = g_string_new (NULL);
  const Place place = { path, error };
  char *dump = NULL, *tools;
  gboolean ok = list != NULL;

  for (size_t i = 0; ok && i < json_array_size (list); i++)
    {
      g_string_printf (path, "tools[%zu]", i);
      ok = check_tool (json_array_get (list, i), &place);
    }
  if (ok)
    dump = json_dumps (list, JSON_COMPACT);
  tools = g_strdup (dump);
  free (dump);
  json_decref (list);
  return tools;
}
