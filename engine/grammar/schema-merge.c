/* References, and schemas that hold at once. */
#include <string.h>

#include "engine/grammar/schema-private.h"

/* ---- references */

/* Undoes the escapes of one step of a pointer, in place. */
static void
unescape_step (char *step)
{
  char *to = step;
  for (const char *from = step; *from != '\0'; from++)
    {
      if (*from == '~' && (from[1] == '0' || from[1] == '1'))
        *to++ = *++from == '0' ? '~' : '/';
      else
        *to++ = *from;
    }
  *to = '\0';
}

static const json_t *
take_step (const json_t *at, const char *step)
{
  guint64 index;
  if (json_is_object (at))
    return json_object_get (at, step);
  if (json_is_array (at) && g_ascii_string_to_unsigned (step, 10, 0, G_MAXINT, &index, NULL))
    return json_array_get (at, (gsize) index);
  return NULL;
}

static const json_t *
find_pointer (const json_t *root, const char *pointer)
{
  g_auto (GStrv) steps = g_strsplit (pointer, "/", -1);
  const json_t *at = root;
  for (guint i = 1; steps[0] != NULL && steps[i] != NULL && at != NULL; i++)
    {
      unescape_step (steps[i]);
      at = take_step (at, steps[i]);
    }
  return at;
}

const json_t *
kvasir_schema_resolve (KvasirSchemaWriter *self, const json_t *reference)
{
  const char *text = json_string_value (reference);
  const char *id = json_string_value (json_object_get (self->root, "$id"));
  if (text == NULL)
    {
      kvasir_schema_fail (self, "'$ref' must be a text");
      return NULL;
    }
  const char *mark = strchr (text, '#');
  gboolean own =
      mark == text || (mark != NULL && id != NULL && strlen (id) == (gsize) (mark - text) &&
                       strncmp (id, text, strlen (id)) == 0);
  if (!own || (mark[1] != '/' && mark[1] != '\0'))
    {
      kvasir_schema_fail (self,
                          "the reference '%s' is not supported, only those to a place in the "
                          "same schema ('#/...')",
                          text);
      return NULL;
    }
  g_autofree char *pointer = g_uri_unescape_string (mark + 1, NULL);
  const json_t *target = pointer != NULL ? find_pointer (self->root, pointer) : NULL;
  if (target == NULL)
    kvasir_schema_fail (self, "there is nothing at '%s'", text);
  return target;
}

/* ---- two that hold at once */

/* A schema that says both. (transfer full) */
static json_t *
both (const json_t *a, const json_t *b)
{
  if (a == NULL || json_is_true (a) || json_equal (a, b))
    return json_incref ((json_t *) (b != NULL ? b : a));
  if (b == NULL || json_is_true (b) || json_is_false (a))
    return json_incref ((json_t *) a);
  return json_pack ("{s:[O,O]}", "allOf", (json_t *) a, (json_t *) b);
}

static json_t *
intersect (const json_t *a, const json_t *b)
{
  json_t *shared = json_array ();
  gsize i;
  gsize k;
  json_t *x;
  json_t *y;
  json_array_foreach (a, i, x) json_array_foreach (b, k, y) if (json_equal (x, y))
  {
    json_array_append (shared, x);
    break;
  }
  return shared;
}

static json_t *
unite (const json_t *a, const json_t *b)
{
  json_t *all = json_copy ((json_t *) a);
  json_t *left = intersect (b, a);
  gsize i;
  json_t *x;
  json_array_foreach (b, i, x)
  {
    gboolean known = FALSE;
    for (gsize k = 0; k < json_array_size (left) && !known; k++)
      known = json_equal (json_array_get (left, k), x);
    if (!known)
      json_array_append (all, x);
  }
  json_decref (left);
  return all;
}

/* The types that both name, as a list. */
static json_t *
intersect_types (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  static const struct
  {
    guint bits;
    const char *name;
  } names[] = {
    { KVASIR_TYPE_NULL, "null" },     { KVASIR_TYPE_BOOLEAN, "boolean" },
    { KVASIR_TYPE_NUMBER, "number" }, { KVASIR_TYPE_WHOLE, "integer" },
    { KVASIR_TYPE_STRING, "string" }, { KVASIR_TYPE_ARRAY, "array" },
    { KVASIR_TYPE_OBJECT, "object" },
  };
  guint bits_a = kvasir_schema_get_named_types (self, a);
  guint bits_b = kvasir_schema_get_named_types (self, b);
  guint bits = bits_a & bits_b;
  if (bits_a == 0 || bits_b == 0)
    return NULL;
  json_t *list = json_array ();
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if ((bits & names[i].bits) == names[i].bits)
      {
        json_array_append_new (list, json_string (names[i].name));
        bits &= ~names[i].bits;
      }
  return list;
}

static json_t *
take_tighter (KvasirSchemaWriter *self, const char *key, const json_t *a, const json_t *b)
{
  gboolean low = g_str_has_prefix (key, "min") || strcmp (key, "exclusiveMinimum") == 0;
  if (!json_is_number (a) || !json_is_number (b))
    {
      kvasir_schema_fail (self, "'%s' must be a number", key);
      return NULL;
    }
  return json_incref ((json_t *) ((json_number_value (a) > json_number_value (b)) == low ? a : b));
}

/* What two schemas say by one keyword that both have. NULL with the error set. */
static json_t *
merge_key (KvasirSchemaWriter *self, const char *key, const json_t *a, const json_t *b)
{
  const json_t *x = json_object_get (a, key);
  const json_t *y = json_object_get (b, key);
  if (strcmp (key, "type") == 0)
    return intersect_types (self, a, b);
  if (json_equal (x, y))
    return json_incref ((json_t *) x);
  if (strcmp (key, "enum") == 0 && json_is_array (x) && json_is_array (y))
    return intersect (x, y);
  if (strcmp (key, "required") == 0 && json_is_array (x) && json_is_array (y))
    return unite (x, y);
  if (strcmp (key, "items") == 0 || strcmp (key, "additionalProperties") == 0)
    return both (x, y);
  if (g_str_has_prefix (key, "min") || g_str_has_prefix (key, "max") ||
      g_str_has_prefix (key, "exclusiveM"))
    return take_tighter (self, key, x, y);
  kvasir_schema_fail (self, "'%s' is there twice with different meanings, which is not supported",
                      key);
  return NULL;
}

/* ---- properties of two */

static gboolean
speaks_of_properties (const json_t *schema)
{
  return json_object_get (schema, "properties") != NULL ||
         json_object_get (schema, "additionalProperties") != NULL;
}

/* What @schema says of the property @key, NULL: nothing. */
static const json_t *
get_property (const json_t *schema, const char *key)
{
  const json_t *named = json_object_get (json_object_get (schema, "properties"), key);
  return named != NULL ? named : json_object_get (schema, "additionalProperties");
}

/* Those of @a, then those that only @b names. */
static json_t *
merge_properties (const json_t *a, const json_t *b)
{
  json_t *all = json_object ();
  const json_t *of[] = { a, b };
  const char *key;
  json_t *value;
  for (guint i = 0; i < 2; i++)
    json_object_foreach (json_object_get (of[i], "properties"), key,
                         value) if (json_object_get (all, key) == NULL)
        json_object_set_new (all, key, both (get_property (a, key), get_property (b, key)));
  return all;
}

static gboolean
names_items (const json_t *schema)
{
  return json_array_size (json_object_get (schema, "prefixItems")) > 0 ||
         json_is_array (json_object_get (schema, "items"));
}

/* What says something about "the others" does so of one schema alone. */
static gboolean
check_pair (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  if (json_object_get (a, "patternProperties") != NULL && speaks_of_properties (b))
    return kvasir_schema_fail (self, "'patternProperties' together with the properties of another "
                                     "schema is not supported");
  gboolean speaks_of_items =
      json_object_get (b, "items") != NULL || json_object_get (b, "prefixItems") != NULL;
  if (names_items (a) && speaks_of_items &&
      (!json_equal (json_object_get (a, "items"), json_object_get (b, "items")) ||
       !json_equal (json_object_get (a, "prefixItems"), json_object_get (b, "prefixItems"))))
    return kvasir_schema_fail (self, "items by their place together with those of another schema "
                                     "are not supported");
  return TRUE;
}

/* (transfer full) */
static json_t *
merge (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  const char *key;
  json_t *value;
  if (!check_pair (self, a, b) || !check_pair (self, b, a))
    return NULL;
  json_t *all = json_copy ((json_t *) a);
  json_object_foreach ((json_t *) b, key, value)
  {
    json_t *merged = strcmp (key, "properties") == 0    ? merge_properties (a, b)
                     : json_object_get (a, key) == NULL ? json_incref (value)
                                                        : merge_key (self, key, a, b);
    if (merged == NULL)
      {
        json_decref (all);
        return NULL;
      }
    json_object_set_new (all, key, merged);
  }
  if (json_object_get (a, "properties") != NULL && json_object_get (b, "properties") == NULL &&
      speaks_of_properties (b))
    json_object_set_new (all, "properties", merge_properties (a, b));
  return all;
}

/* ---- multiplying out */

/* What @schema says itself, with "const" and "nullable" said by other keywords. (transfer full) */
static json_t *
strip (const json_t *schema)
{
  static const char *const others[] = {
    "$ref",     "allOf",   "anyOf",       "oneOf",      "$defs",    "title",     "definitions",
    "$comment", "default", "description", "$id",        "$schema",  "examples",  "const",
    "nullable", "$anchor", "example",     "deprecated", "readOnly", "writeOnly", "discriminator"
  };
  json_t *own = json_copy ((json_t *) schema);
  json_t *type = json_object_get (own, "type");
  json_t *value = json_object_get (own, "const");
  if (value != NULL)
    {
      json_t *list = json_pack ("[O]", value);
      json_t *shared = json_object_get (own, "enum") != NULL
                           ? intersect (json_object_get (own, "enum"), list)
                           : json_incref (list);
      json_object_set_new (own, "enum", shared);
      json_decref (list);
    }
  if (json_is_true (json_object_get (own, "nullable")) && json_is_string (type))
    json_object_set_new (own, "type", json_pack ("[O,s]", type, "null"));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    json_object_del (own, others[i]);
  return own;
}

/* Each of @a with each of @b. Takes both. */
static json_t *
multiply (KvasirSchemaWriter *self, json_t *a, json_t *b)
{
  json_t *all = json_array ();
  gsize n = json_array_size (a) * json_array_size (b);
  if (n > KVASIR_SCHEMA_MAX_ALTERNATIVES)
    {
      kvasir_schema_fail (self, "its alternatives multiply to more than %d",
                          KVASIR_SCHEMA_MAX_ALTERNATIVES);
      g_clear_pointer (&all, json_decref);
    }
  for (gsize i = 0; all != NULL && i < n; i++)
    {
      json_t *merged = merge (self, json_array_get (a, i / json_array_size (b)),
                              json_array_get (b, i % json_array_size (b)));
      const json_t *type = json_object_get (merged, "type");
      if (merged == NULL)
        g_clear_pointer (&all, json_decref);
      else if (json_is_array (type) && json_array_size (type) == 0)
        json_decref (merged);
      else
        json_array_append_new (all, merged);
    }
  json_decref (a);
  json_decref (b);
  return all;
}

/* The alternatives of one of the schemas in @list, or with @all of all at once. Takes @start. */
static json_t *
expand_list (
    KvasirSchemaWriter *self, json_t *start, const char *key, const json_t *list, gboolean all)
{
  json_t *sum = json_array ();
  gsize before = kvasir_schema_enter (self, key);
  gsize i;
  json_t *schema;
  if (!json_is_array (list) || json_array_size (list) == 0)
    {
      kvasir_schema_fail (self, "a list of schemas is expected");
      g_clear_pointer (&sum, json_decref);
    }
  for (i = 0; sum != NULL && i < json_array_size (list); i++)
    {
      schema = json_array_get (list, i);
      json_t *flat = kvasir_schema_expand (self, schema);
      if (flat == NULL)
        g_clear_pointer (&sum, json_decref);
      else if (!all)
        json_array_extend (sum, flat);
      else
        {
          start = multiply (self, start, json_incref (flat));
          if (start == NULL)
            g_clear_pointer (&sum, json_decref);
        }
      json_decref (flat);
    }
  if (sum == NULL)
    {
      json_decref (start);
      return NULL;
    }
  kvasir_schema_leave (self, before);
  if (!all)
    return multiply (self, start, sum);
  json_decref (sum);
  return start;
}

/* The reference first, then allOf, anyOf and oneOf. */
static json_t *
expand_object (KvasirSchemaWriter *self, const json_t *schema)
{
  static const char *const keys[] = { "allOf", "anyOf", "oneOf" };
  const json_t *reference = json_object_get (schema, "$ref");
  const json_t *one_of = json_object_get (schema, "oneOf");
  json_t *flat = json_array ();
  json_array_append_new (flat, strip (schema));
  if (reference != NULL)
    {
      const json_t *target = kvasir_schema_resolve (self, reference);
      json_t *other = target != NULL ? kvasir_schema_expand (self, target) : NULL;
      if (other == NULL)
        {
          json_decref (flat);
          return NULL;
        }
      flat = multiply (self, flat, other);
    }
  if (one_of != NULL && json_is_array (one_of) && !kvasir_schema_check_one_of (self, one_of))
    g_clear_pointer (&flat, json_decref);
  for (guint i = 0; flat != NULL && i < G_N_ELEMENTS (keys); i++)
    if (json_object_get (schema, keys[i]) != NULL)
      flat = expand_list (self, flat, keys[i], json_object_get (schema, keys[i]), i == 0);
  return flat;
}

json_t *
kvasir_schema_expand (KvasirSchemaWriter *self, const json_t *schema)
{
  json_t *flat = NULL;
  if (json_is_true (schema))
    return json_pack ("[{}]");
  if (json_is_false (schema))
    return json_array ();
  self->depth++;
  if (!json_is_object (schema))
    kvasir_schema_fail (self, "a schema must be an object, true or false");
  else if (self->depth > KVASIR_SCHEMA_MAX_DEPTH)
    kvasir_schema_fail (self, "schemas are nested more than %d deep, or one contains itself",
                        KVASIR_SCHEMA_MAX_DEPTH);
  else
    flat = expand_object (self, schema);
  self->depth--;
  return flat;
}
