/* Texts: lengths and formats. Patterns are in schema-pattern.c. */
#include <string.h>

#include "engine/grammar/schema-private.h"

/* Formats that have a rule of their name. */
static const char *
find_format (const char *name)
{
  static const char *const formats[] = { "date", "time",     "date-time", "uuid",
                                         "ipv4", "hostname", "email" };
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (formats); i++)
    if (strcmp (formats[i], name) == 0)
      return formats[i];
  return NULL;
}

static gboolean
check_alone (KvasirSchemaWriter *self, const json_t *schema, const char *key)
{
  static const char *const others[] = { "pattern", "format", "minLength", "maxLength" };
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (others[i], key) != 0 && json_object_get (schema, others[i]) != NULL)
      return kvasir_schema_fail (self, "'%s' together with '%s' is not supported", key, others[i]);
  return TRUE;
}

static char *
write_format (KvasirSchemaWriter *self, const json_t *schema)
{
  const char *name = json_string_value (json_object_get (schema, "format"));
  const char *format = find_format (name);
  if (!check_alone (self, schema, "format"))
    return NULL;
  if (format == NULL)
    {
      kvasir_schema_fail (self, "the format '%s' is not supported", name != NULL ? name : "?");
      return NULL;
    }
  g_autofree char *body =
      g_strdup_printf ("\"\\\"\" %s \"\\\"\"", kvasir_schema_use (self, format));
  return kvasir_schema_add_rule (self, NULL, body);
}

static char *
write_pattern (KvasirSchemaWriter *self, const json_t *schema)
{
  const char *pattern = json_string_value (json_object_get (schema, "pattern"));
  if (!check_alone (self, schema, "pattern"))
    return NULL;
  if (pattern == NULL)
    {
      kvasir_schema_fail (self, "'pattern' must be a text");
      return NULL;
    }
  g_autofree char *inside = kvasir_schema_write_pattern (self, pattern);
  if (inside == NULL)
    return NULL;
  g_autofree char *body = g_strdup_printf ("\"\\\"\" %s \"\\\"\"", inside);
  return kvasir_schema_add_rule (self, NULL, body);
}

char *
kvasir_schema_write_string (KvasirSchemaWriter *self, const json_t *schema)
{
  guint min;
  guint max;
  if (json_object_get (schema, "pattern") != NULL)
    return write_pattern (self, schema);
  if (json_object_get (schema, "format") != NULL)
    return write_format (self, schema);
  if (!kvasir_schema_read_count (self, schema, "minLength", 0, &min) ||
      !kvasir_schema_read_count (self, schema, "maxLength", G_MAXUINT, &max))
    return NULL;
  if (min == 0 && max == G_MAXUINT)
    return g_strdup (kvasir_schema_use (self, "string"));
  if (min > max)
    return g_strdup ("");
  g_autoptr (GString) body = g_string_new ("\"\\\"\" ");
  g_string_append (body, kvasir_schema_use (self, "char"));
  kvasir_schema_append_bounds (body, min, max);
  g_string_append (body, " \"\\\"\"");
  return kvasir_schema_add_rule (self, NULL, body->str);
}
