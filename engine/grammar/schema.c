#include "engine/grammar/schema.h"

#include <math.h>
#include <string.h>

#include "engine/error.h"
#include "engine/grammar/schema-private.h"

/* ---- rules that are the same for all schemas */

static const struct
{
  const char *name;
  const char *body;
  const char *uses[6];
} builtins[] = {
  { "sp", "| \" \" | \"\\n\" [ \\t]{0,40}", { NULL } },
  { "hex", "[0-9a-fA-F]", { NULL } },
  /* Halves of a character come in pairs. */
  { "code",
    "[0-9A-CEFa-cef] hex{3} | [dD] [0-7] hex{2} | "
    "[dD] [89ABab] hex{2} \"\\\\u\" [dD] [C-Fc-f] hex{2}",
    { "hex", NULL } },
  { "char",
    "[^\"\\\\\\x00-\\x1F\\x7F] | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" code)",
    { "code", NULL } },
  { "string", "\"\\\"\" char* \"\\\"\"", { "char", NULL } },
  { "integer", "\"-\"? (\"0\" | [1-9] [0-9]{0,15})", { NULL } },
  { "number", "integer (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?", { "integer", NULL } },
  { "boolean", "\"true\" | \"false\"", { NULL } },
  { "null", "\"null\"", { NULL } },
  { "member", "string \":\" sp value", { "string", "sp", "value", NULL } },
  { "object", "\"{\" sp (member (\",\" sp member)* sp)? \"}\"", { "sp", "member", NULL } },
  { "array", "\"[\" sp (value (\",\" sp value)* sp)? \"]\"", { "sp", "value", NULL } },
  { "value",
    "object | array | string | number | boolean | null",
    { "object", "array", "string", "number", "boolean", "null" } },
  { "year",
    "\"000\" [1-9] | \"00\" [1-9] [0-9] | \"0\" [1-9] [0-9]{2} | [1-9] [0-9]{3}",
    { NULL } },
  /* Divisible by 4 and not by 100, or by 400. */
  { "leap-year", "[0-9]{2} fourth | fourth \"00\"", { "fourth", NULL } },
  { "fourth", "\"0\" [48] | [2468] [048] | [13579] [26]", { NULL } },
  { "date",
    "year \"-\" ((\"0\" [13578] | \"1\" [02]) \"-\" (\"0\" [1-9] | [12] [0-9] | \"3\" [01]) | "
    "(\"0\" [469] | \"11\") \"-\" (\"0\" [1-9] | [12] [0-9] | \"30\") | "
    "\"02-\" (\"0\" [1-9] | \"1\" [0-9] | \"2\" [0-8])) | leap-year \"-02-29\"",
    { "year", "leap-year", NULL } },
  { "time",
    "([01] [0-9] | \"2\" [0-3]) (\":\" [0-5] [0-9]){2} (\".\" [0-9]{1,9})? "
    "(\"Z\" | [-+] ([01] [0-9] | \"2\" [0-3]) \":\" [0-5] [0-9])",
    { NULL } },
  { "date-time", "date \"T\" time", { "date", "time", NULL } },
  { "uuid", "hex{8} (\"-\" hex{4}){3} \"-\" hex{12}", { "hex", NULL } },
  { "byte", "\"25\" [0-5] | \"2\" [0-4] [0-9] | \"1\" [0-9]{2} | [1-9]? [0-9]", { NULL } },
  { "ipv4", "byte (\".\" byte){3}", { "byte", NULL } },
  { "label", "[a-zA-Z0-9] ([-a-zA-Z0-9]{0,61} [a-zA-Z0-9])?", { NULL } },
  { "hostname", "label (\".\" label){0,7}", { "label", NULL } },
  { "email",
    "[a-zA-Z0-9_+-]{1,20} (\".\" [a-zA-Z0-9_+-]{1,20}){0,2} \"@\" label (\".\" label){1,5}",
    { "label", NULL } },
};

const char *
kvasir_schema_use (KvasirSchemaWriter *self, const char *name)
{
  if (!g_hash_table_add (self->builtins, (gpointer) name))
    return name;
  for (guint i = 0; i < G_N_ELEMENTS (builtins); i++)
    if (strcmp (builtins[i].name, name) == 0)
      {
        g_string_append_printf (self->rules, "%s ::= %s\n", name, builtins[i].body);
        for (guint k = 0; k < G_N_ELEMENTS (builtins[i].uses) && builtins[i].uses[k] != NULL; k++)
          kvasir_schema_use (self, builtins[i].uses[k]);
        return name;
      }
  g_return_val_if_reached (name);
}

/* ---- places and names */

gboolean
kvasir_schema_fail (KvasirSchemaWriter *self, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *what = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
               "Schema, at %s: %s", self->path->len > 0 ? self->path->str : "the top", what);
  return FALSE;
}

gsize
kvasir_schema_enter (KvasirSchemaWriter *self, const char *key)
{
  gsize before = self->path->len;
  g_string_append_c (self->path, '/');
  for (const char *c = key; *c != '\0'; c++)
    if (*c == '~' || *c == '/')
      g_string_append (self->path, *c == '~' ? "~0" : "~1");
    else
      g_string_append_c (self->path, *c);
  return before;
}

void
kvasir_schema_leave (KvasirSchemaWriter *self, gsize before)
{
  g_string_truncate (self->path, before);
}

/* Of the last key of the path, so that messages about the grammar can be understood. */
static char *
make_name (KvasirSchemaWriter *self, const char *hint)
{
  const char *slash = strrchr (self->path->str, '/');
  if (hint == NULL)
    hint = slash != NULL ? slash + 1 : "top";
  GString *name = g_string_new (NULL);
  for (const char *c = hint; *c != '\0' && name->len < 30; c++)
    g_string_append_c (name, g_ascii_isalnum (*c) ? *c : '-');
  g_string_append_printf (name, "-%u", ++self->n_names);
  return g_string_free (name, FALSE);
}

static gboolean
put_rule (KvasirSchemaWriter *self, const char *name, const char *body)
{
  g_string_append_printf (self->rules, "%s ::= %s\n", name, body);
  if (self->rules->len > KVASIR_SCHEMA_MAX_BYTES)
    return kvasir_schema_fail (self, "its grammar would have more than %u bytes",
                               KVASIR_SCHEMA_MAX_BYTES);
  return TRUE;
}

char *
kvasir_schema_add_rule (KvasirSchemaWriter *self, const char *hint, const char *body)
{
  g_autofree char *name = make_name (self, hint);
  return put_rule (self, name, body) ? g_steal_pointer (&name) : NULL;
}

/* ---- pieces of rules */

void
kvasir_schema_append_literal (GString *out, const char *bytes, gsize n)
{
  g_string_append_c (out, '"');
  for (gsize i = 0; i < n; i++)
    if (bytes[i] == '"' || bytes[i] == '\\')
      g_string_append_printf (out, "\\%c", bytes[i]);
    else if ((guchar) bytes[i] < 0x20 || bytes[i] == 0x7F)
      g_string_append_printf (out, "\\x%02X", (guint) (guchar) bytes[i]);
    else
      g_string_append_c (out, bytes[i]);
  g_string_append_c (out, '"');
}

void
kvasir_schema_append_text (GString *out, const char *text, gsize n)
{
  json_t *value = json_stringn (text, n);
  char *dump = value != NULL ? json_dumps (value, JSON_ENCODE_ANY) : NULL;
  if (dump != NULL)
    kvasir_schema_append_literal (out, dump, strlen (dump));
  free (dump);
  json_decref (value);
}

void
kvasir_schema_append_bounds (GString *out, guint min, guint max)
{
  if (max == G_MAXUINT)
    g_string_append_printf (out, "{%u,}", min);
  else if (min != 1 || max != 1)
    g_string_append_printf (out, "{%u,%u}", min, max);
}

gboolean
kvasir_schema_read_count (
    KvasirSchemaWriter *self, const json_t *schema, const char *key, guint initial, guint *count)
{
  const json_t *value = json_object_get (schema, key);
  double number = value != NULL ? json_number_value (value) : (double) initial;
  *count = initial;
  if (value == NULL)
    return TRUE;
  if (!json_is_number (value) || number < 0 || number != (double) (gint64) number)
    return kvasir_schema_fail (self, "'%s' must be a whole number of at least 0", key);
  if (number > 1e9)
    return kvasir_schema_fail (self, "'%s' is above 1000000000", key);
  *count = (guint) number;
  return TRUE;
}

/* ---- values */

static void append_value (KvasirSchemaWriter *self, GString *out, const json_t *value);

static void
append_members (KvasirSchemaWriter *self, GString *out, const json_t *object)
{
  const char *key;
  json_t *value;
  const char *comma = "";
  g_string_append (out, "\"{\" sp ");
  json_object_foreach ((json_t *) object, key, value)
  {
    g_string_append (out, comma);
    kvasir_schema_append_text (out, key, strlen (key));
    g_string_append (out, " \":\" sp ");
    append_value (self, out, value);
    comma = "\",\" sp ";
  }
  g_string_append (out, "sp \"}\" ");
}

/* @value itself, spaced as the model likes. */
static void
append_value (KvasirSchemaWriter *self, GString *out, const json_t *value)
{
  gsize i;
  json_t *item;
  if (json_is_object (value))
    append_members (self, out, value);
  else if (json_is_array (value))
    {
      g_string_append (out, "\"[\" sp ");
      json_array_foreach (value, i, item)
      {
        g_string_append (out, i > 0 ? "\",\" sp " : "");
        append_value (self, out, item);
      }
      g_string_append (out, "sp \"]\" ");
    }
  else
    {
      char *dump = json_dumps (value, JSON_ENCODE_ANY | JSON_REAL_PRECISION (17));
      kvasir_schema_append_literal (out, dump, strlen (dump));
      g_string_append_c (out, ' ');
      free (dump);
    }
  if (json_is_object (value) || json_is_array (value))
    kvasir_schema_use (self, "sp");
}

/* ---- types */

static const struct
{
  const char *name;
  guint bit;
} types[] = {
  { "null", KVASIR_TYPE_NULL },     { "boolean", KVASIR_TYPE_BOOLEAN },
  { "integer", KVASIR_TYPE_WHOLE }, { "number", KVASIR_TYPE_WHOLE | KVASIR_TYPE_BROKEN },
  { "string", KVASIR_TYPE_STRING }, { "array", KVASIR_TYPE_ARRAY },
  { "object", KVASIR_TYPE_OBJECT },
};

/* Keywords that say something about one type; with them that type is meant where none is named. */
static const struct
{
  const char *key;
  guint bits;
} hints[] = {
  { "properties", KVASIR_TYPE_OBJECT },
  { "required", KVASIR_TYPE_OBJECT },
  { "additionalProperties", KVASIR_TYPE_OBJECT },
  { "patternProperties", KVASIR_TYPE_OBJECT },
  { "minProperties", KVASIR_TYPE_OBJECT },
  { "maxProperties", KVASIR_TYPE_OBJECT },
  { "items", KVASIR_TYPE_ARRAY },
  { "prefixItems", KVASIR_TYPE_ARRAY },
  { "minItems", KVASIR_TYPE_ARRAY },
  { "maxItems", KVASIR_TYPE_ARRAY },
  { "pattern", KVASIR_TYPE_STRING },
  { "format", KVASIR_TYPE_STRING },
  { "minLength", KVASIR_TYPE_STRING },
  { "maxLength", KVASIR_TYPE_STRING },
  { "minimum", KVASIR_TYPE_NUMBER },
  { "maximum", KVASIR_TYPE_NUMBER },
  { "exclusiveMinimum", KVASIR_TYPE_NUMBER },
  { "exclusiveMaximum", KVASIR_TYPE_NUMBER },
};

static guint
read_type (KvasirSchemaWriter *self, const json_t *name)
{
  for (guint i = 0; json_is_string (name) && i < G_N_ELEMENTS (types); i++)
    if (strcmp (json_string_value (name), types[i].name) == 0)
      return types[i].bit;
  kvasir_schema_fail (self, "'type' must be one of null, boolean, integer, number, string, array "
                            "and object, or a list of them");
  return 0;
}

guint
kvasir_schema_get_named_types (KvasirSchemaWriter *self, const json_t *schema)
{
  const json_t *type = json_object_get (schema, "type");
  guint bits = 0;
  gsize i;
  json_t *name;
  if (type == NULL)
    return KVASIR_TYPE_ANY;
  if (!json_is_array (type) || json_array_size (type) == 0)
    return read_type (self, type);
  json_array_foreach (type, i, name)
  {
    guint bit = read_type (self, name);
    if (bit == 0)
      return 0;
    bits |= bit;
  }
  return bits;
}

guint
kvasir_schema_get_meant_types (KvasirSchemaWriter *self, const json_t *schema)
{
  guint bits = 0;
  if (json_object_get (schema, "type") != NULL)
    return kvasir_schema_get_named_types (self, schema);
  for (guint i = 0; i < G_N_ELEMENTS (hints); i++)
    if (json_object_get (schema, hints[i].key) != NULL)
      bits |= hints[i].bits;
  return bits != 0 ? bits : KVASIR_TYPE_ANY;
}

static guint
get_type_of (const json_t *value)
{
  switch (json_typeof (value))
    {
    case JSON_OBJECT:
      return KVASIR_TYPE_OBJECT;
    case JSON_ARRAY:
      return KVASIR_TYPE_ARRAY;
    case JSON_STRING:
      return KVASIR_TYPE_STRING;
    case JSON_INTEGER:
      return KVASIR_TYPE_WHOLE;
    case JSON_REAL:
      return floor (json_real_value (value)) == json_real_value (value) ? KVASIR_TYPE_WHOLE
                                                                        : KVASIR_TYPE_BROKEN;
    case JSON_NULL:
      return KVASIR_TYPE_NULL;
    default:
      return KVASIR_TYPE_BOOLEAN;
    }
}

/* ---- values that are listed */

static gboolean
is_within (double number, const json_t *schema, const char *min, const char *max)
{
  const json_t *low = json_object_get (schema, min);
  const json_t *high = json_object_get (schema, max);
  return (low == NULL || number >= json_number_value (low)) &&
         (high == NULL || number <= json_number_value (high));
}

gboolean
kvasir_schema_fits (KvasirSchemaWriter *self, const json_t *schema, const json_t *value)
{
  double number = json_number_value (value);
  const json_t *low = json_object_get (schema, "exclusiveMinimum");
  const json_t *high = json_object_get (schema, "exclusiveMaximum");
  if ((get_type_of (value) & kvasir_schema_get_named_types (self, schema)) == 0)
    return FALSE;
  if (json_is_number (value))
    return is_within (number, schema, "minimum", "maximum") &&
           (low == NULL || number > json_number_value (low)) &&
           (high == NULL || number < json_number_value (high));
  if (json_is_string (value))
    return is_within ((double) g_utf8_strlen (json_string_value (value), -1), schema, "minLength",
                      "maxLength");
  if (json_is_array (value))
    return is_within ((double) json_array_size (value), schema, "minItems", "maxItems");
  return TRUE;
}

static gboolean
check_enum_partners (KvasirSchemaWriter *self, const json_t *schema)
{
  static const char *const others[] = { "pattern",       "format",
                                        "properties",    "patternProperties",
                                        "required",      "additionalProperties",
                                        "items",         "prefixItems",
                                        "minProperties", "maxProperties" };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (json_object_get (schema, others[i]) != NULL)
      return kvasir_schema_fail (self, "'enum' or 'const' together with '%s' is not supported",
                                 others[i]);
  return TRUE;
}

static char *
write_enum (KvasirSchemaWriter *self, const json_t *schema)
{
  const json_t *values = json_object_get (schema, "enum");
  g_autoptr (GString) body = g_string_new (NULL);
  gsize i;
  json_t *value;
  if (!json_is_array (values))
    {
      kvasir_schema_fail (self, "'enum' must be a list");
      return NULL;
    }
  if (!check_enum_partners (self, schema))
    return NULL;
  json_array_foreach (values, i, value) if (kvasir_schema_fits (self, schema, value))
  {
    g_string_append (body, body->len > 0 ? "| " : "");
    append_value (self, body, value);
  }
  return body->len > 0 ? kvasir_schema_add_rule (self, NULL, body->str) : g_strdup ("");
}

/* ---- one schema */

static gboolean
check_supported (KvasirSchemaWriter *self, const json_t *schema)
{
  static const char *const missing[] = {
    "not",           "if",
    "then",          "else",
    "multipleOf",    "contains",
    "minContains",   "maxContains",
    "propertyNames", "dependentRequired",
    "dependencies",  "dependentSchemas",
    "$dynamicRef",   "$recursiveRef",
  };
  for (guint i = 0; i < G_N_ELEMENTS (missing); i++)
    if (json_object_get (schema, missing[i]) != NULL)
      return kvasir_schema_fail (self, "'%s' is not supported", missing[i]);
  if (json_is_true (json_object_get (schema, "uniqueItems")))
    return kvasir_schema_fail (self, "'uniqueItems' is not supported");
  /* Nothing is written that the schema does not name, so that there is nothing to forbid. */
  for (guint i = 0; i < 2; i++)
    {
      const char *key = i == 0 ? "unevaluatedProperties" : "unevaluatedItems";
      if (json_is_object (json_object_get (schema, key)))
        return kvasir_schema_fail (self, "'%s' is not supported", key);
    }
  return TRUE;
}

static char *
write_type (KvasirSchemaWriter *self, const json_t *schema, guint bit)
{
  switch (bit)
    {
    case KVASIR_TYPE_OBJECT:
      return kvasir_schema_write_object (self, schema);
    case KVASIR_TYPE_ARRAY:
      return kvasir_schema_write_array (self, schema);
    case KVASIR_TYPE_STRING:
      return kvasir_schema_write_string (self, schema);
    case KVASIR_TYPE_WHOLE:
      return kvasir_schema_write_number (self, schema, TRUE);
    case KVASIR_TYPE_BROKEN:
      return kvasir_schema_write_number (self, schema, FALSE);
    default:
      return g_strdup (kvasir_schema_use (self, bit == KVASIR_TYPE_NULL ? "null" : "boolean"));
    }
}

/* A schema without anyOf and the like. */
static char *
write_flat (KvasirSchemaWriter *self, const json_t *schema)
{
  g_autoptr (GString) body = g_string_new (NULL);
  guint bits = kvasir_schema_get_meant_types (self, schema);
  if (bits == 0 || !check_supported (self, schema))
    return NULL;
  if (json_object_get (schema, "enum") != NULL)
    return write_enum (self, schema);
  /* Broken numbers are written with the whole ones among them. */
  if (bits & KVASIR_TYPE_BROKEN)
    bits &= ~(guint) KVASIR_TYPE_WHOLE;
  for (guint bit = 1; bit <= bits; bit <<= 1)
    if (bits & bit)
      {
        g_autofree char *rule = write_type (self, schema, bit);
        if (rule == NULL)
          return NULL;
        if (*rule != '\0')
          g_string_append_printf (body, "%s%s", body->len > 0 ? " | " : "", rule);
      }
  return g_string_free (g_steal_pointer (&body), FALSE);
}

/* The alternatives of @list, each by its own rule. */
static char *
write_alternatives (KvasirSchemaWriter *self, const char *key, const json_t *list)
{
  g_autoptr (GString) body = g_string_new (NULL);
  gsize before = kvasir_schema_enter (self, key);
  gsize i;
  json_t *schema;
  json_array_foreach (list, i, schema)
  {
    g_autofree char *index = g_strdup_printf ("%" G_GSIZE_FORMAT, i);
    g_autofree char *rule = kvasir_schema_convert_at (self, index, schema);
    if (rule == NULL)
      return NULL;
    if (*rule != '\0')
      g_string_append_printf (body, "%s%s", body->len > 0 ? " | " : "", rule);
  }
  kvasir_schema_leave (self, before);
  return g_string_free (g_steal_pointer (&body), FALSE);
}

/* Several schemas at once: they are multiplied out first. */
static char *
write_expanded (KvasirSchemaWriter *self, const json_t *schema)
{
  g_autoptr (GString) body = g_string_new (NULL);
  json_t *flat = kvasir_schema_expand (self, schema);
  gsize i;
  json_t *one;
  if (flat == NULL)
    return NULL;
  g_ptr_array_add (self->made, flat);
  json_array_foreach (flat, i, one)
  {
    g_autofree char *rule = write_flat (self, one);
    if (rule == NULL)
      return NULL;
    if (*rule != '\0')
      g_string_append_printf (body, "%s%s", body->len > 0 ? " | " : "", rule);
  }
  return g_string_free (g_steal_pointer (&body), FALSE);
}

/* Whether @schema says nothing beside @key but what explains it. */
static gboolean
has_only (const json_t *schema, const char *key)
{
  static const char *const silent[] = { "$schema",   "$id",     "$defs",        "definitions",
                                        "title",     "default", "description",  "examples",
                                        "$comment",  "example", "deprecated",   "readOnly",
                                        "writeOnly", "$anchor", "discriminator" };
  const char *name;
  json_t *value;
  json_object_foreach ((json_t *) schema, name, value)
  {
    gboolean found = strcmp (name, key) == 0;
    for (guint i = 0; i < G_N_ELEMENTS (silent) && !found; i++)
      found = strcmp (name, silent[i]) == 0;
    if (!found)
      return FALSE;
  }
  return json_object_get (schema, key) != NULL;
}

static char *
write_schema (KvasirSchemaWriter *self, const json_t *schema)
{
  if (has_only (schema, "anyOf") && json_is_array (json_object_get (schema, "anyOf")))
    return write_alternatives (self, "anyOf", json_object_get (schema, "anyOf"));
  if (has_only (schema, "oneOf") && json_is_array (json_object_get (schema, "oneOf")))
    return kvasir_schema_check_one_of (self, json_object_get (schema, "oneOf"))
               ? write_alternatives (self, "oneOf", json_object_get (schema, "oneOf"))
               : NULL;
  return write_expanded (self, schema);
}

/* The name of a rule stands in the table before the rule is written, for schemas that contain
 * themselves. What turns out to be satisfied by nothing must not have been referred to then. */
static char *
convert_object (KvasirSchemaWriter *self, const json_t *schema)
{
  const char *known = g_hash_table_lookup (self->names, schema);
  if (known != NULL)
    return g_strdup (known);
  char *name = schema == self->root ? g_strdup ("root") : make_name (self, NULL);
  g_hash_table_insert (self->names, (gpointer) schema, name);
  g_autofree char *body = write_schema (self, schema);
  if (body == NULL)
    return NULL;
  if (*body == '\0')
    {
      g_hash_table_insert (self->names, (gpointer) schema, g_strdup (""));
      return g_strdup ("");
    }
  return put_rule (self, name, body) ? g_strdup (name) : NULL;
}

/* A reference alone is what it refers to. */
static const json_t *
follow (KvasirSchemaWriter *self, const json_t *schema)
{
  for (guint i = 0; schema != NULL && json_is_object (schema) && has_only (schema, "$ref"); i++)
    {
      if (i > KVASIR_SCHEMA_MAX_DEPTH)
        {
          kvasir_schema_fail (self, "the reference leads back to itself");
          return NULL;
        }
      schema = kvasir_schema_resolve (self, json_object_get (schema, "$ref"));
    }
  return schema;
}

char *
kvasir_schema_convert (KvasirSchemaWriter *self, const json_t *schema)
{
  char *rule = NULL;
  const json_t *target = follow (self, schema);
  if (target == NULL)
    return NULL;
  if (json_is_boolean (target))
    return g_strdup (json_is_true (target) ? kvasir_schema_use (self, "value") : "");
  self->depth++;
  if (!json_is_object (target))
    kvasir_schema_fail (self, "a schema must be an object, true or false");
  else if (self->depth > KVASIR_SCHEMA_MAX_DEPTH)
    kvasir_schema_fail (self, "schemas are nested more than %d deep", KVASIR_SCHEMA_MAX_DEPTH);
  else
    rule = convert_object (self, target);
  self->depth--;
  return rule;
}

char *
kvasir_schema_convert_at (KvasirSchemaWriter *self, const char *key, const json_t *schema)
{
  gsize before = kvasir_schema_enter (self, key);
  char *rule = kvasir_schema_convert (self, schema);
  /* An error keeps its place. */
  if (rule != NULL)
    kvasir_schema_leave (self, before);
  return rule;
}

/* ---- the whole */

static void
forget (gpointer json)
{
  json_decref (json);
}

static char *
write_all (KvasirSchemaWriter *self)
{
  g_autofree char *rule = kvasir_schema_convert (self, self->root);
  if (rule == NULL)
    return NULL;
  if (*rule == '\0')
    {
      kvasir_schema_fail (self, "nothing satisfies it");
      return NULL;
    }
  if (strcmp (rule, "root") != 0)
    g_string_append_printf (self->rules, "root ::= %s\n", rule);
  return g_strdup (self->rules->str);
}

char *
kvasir_schema_to_grammar (const char *schema, GError **error)
{
  g_return_val_if_fail (schema != NULL, NULL);

  json_error_t problem;
  json_t *root = json_loads (schema, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &problem);
  if (root == NULL)
    {
      g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_BAD_ARGUMENT,
                   "Schema, line %d, column %d: it is no JSON: %s", problem.line, problem.column,
                   problem.text);
      return NULL;
    }
  KvasirSchemaWriter writer = {
    .root = root,
    .rules = g_string_new (NULL),
    .names = g_hash_table_new_full (NULL, NULL, NULL, g_free),
    .builtins = g_hash_table_new (g_str_hash, g_str_equal),
    .made = g_ptr_array_new_with_free_func (forget),
    .path = g_string_new (NULL),
    .error = error,
  };
  char *rules = write_all (&writer);
  g_string_free (writer.rules, TRUE);
  g_hash_table_unref (writer.names);
  g_hash_table_unref (writer.builtins);
  g_ptr_array_unref (writer.made);
  g_string_free (writer.path, TRUE);
  json_decref (root);
  return rules;
}
