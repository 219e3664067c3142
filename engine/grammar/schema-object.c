/* Objects and arrays. */
#include <string.h>

#include "engine/grammar/schema-private.h"

#define ANY_NUMBER G_MAXUINT

/* ---- properties */

typedef struct
{
  GString *pair; /* (owned): key, colon and value */
  gboolean required;
} Property;

typedef struct
{
  KvasirSchemaWriter *writer;
  const json_t *schema;
  GArray *properties; /* (owned) of Property */
  char *more;         /* (owned) (nullable): pairs beyond those, any of them */
  guint min;          /* pairs */
  guint max;
  guint n_required;
  gboolean impossible; /* nothing satisfies it */
} Object;

static void
clear_property (gpointer data)
{
  Property *property = data;
  g_string_free (property->pair, TRUE);
}

static gboolean
is_required (const Object *self, const char *key)
{
  gsize i;
  json_t *name;
  json_array_foreach (json_object_get (self->schema, "required"), i,
                      name) if (g_strcmp0 (json_string_value (name), key) == 0) return TRUE;
  return FALSE;
}

/* FALSE with the error set. */
static gboolean
add_property (Object *self, const char *key, const json_t *schema)
{
  gsize before = kvasir_schema_enter (self->writer, "properties");
  gboolean required = is_required (self, key);
  g_autofree char *value = kvasir_schema_convert_at (self->writer, key, schema);
  if (value == NULL)
    return FALSE;
  kvasir_schema_leave (self->writer, before);
  /* What nothing satisfies is left out. */
  if (*value == '\0')
    {
      self->impossible |= required;
      return TRUE;
    }
  Property property = { g_string_new (NULL), required };
  kvasir_schema_append_text (property.pair, key, strlen (key));
  g_string_append_printf (property.pair, " \":\" %s %s", kvasir_schema_use (self->writer, "sp"),
                          value);
  g_array_append_val (self->properties, property);
  self->n_required += required;
  return TRUE;
}

/* The named ones in their order, then those that are only required. */
static gboolean
add_properties (Object *self)
{
  json_t *named = json_object_get (self->schema, "properties");
  const json_t *required = json_object_get (self->schema, "required");
  const json_t *others = json_object_get (self->schema, "additionalProperties");
  const char *key;
  json_t *value;
  gsize i;
  if (named != NULL && !json_is_object (named))
    return kvasir_schema_fail (self->writer, "'properties' must be an object");
  if (required != NULL && !json_is_array (required))
    return kvasir_schema_fail (self->writer, "'required' must be a list of names");
  json_object_foreach (named, key, value) if (!add_property (self, key, value)) return FALSE;
  json_array_foreach (required, i, value)
  {
    const char *name = json_string_value (value);
    if (name == NULL)
      return kvasir_schema_fail (self->writer, "'required' must be a list of names");
    if (json_object_get (named, name) == NULL &&
        !add_property (self, name, others != NULL ? others : json_true ()))
      return FALSE;
  }
  return TRUE;
}

/* ---- keys beyond the named ones */

/* Names as a tree of their characters. */
typedef struct Node
{
  GHashTable *next; /* (owned): code point to Node */
  gboolean ends;    /* a name ends here */
} Node;

static void
node_free (gpointer data)
{
  Node *self = data;
  g_hash_table_unref (self->next);
  g_free (self);
}

static Node *
node_new (void)
{
  Node *self = g_new0 (Node, 1);
  self->next = g_hash_table_new_full (NULL, NULL, NULL, node_free);
  return self;
}

static void
add_name (Node *self, const char *name)
{
  for (const char *c = name; *c != '\0'; c = g_utf8_next_char (c))
    {
      gpointer key = GUINT_TO_POINTER (g_utf8_get_char (c));
      Node *next = g_hash_table_lookup (self->next, key);
      if (next == NULL)
        g_hash_table_insert (self->next, key, next = node_new ());
      self = next;
    }
  self->ends = TRUE;
}

static void
append_class_char (GString *out, guint code)
{
  g_string_append_printf (out, "\\U%08X", code);
}

/* The rest of a key that is none of the names. While it could still become one, characters come as
 * they are: by an escape, a name could be spelt unnoticed. NULL with the error set. */
static char *
write_other_rest (KvasirSchemaWriter *writer, const Node *node)
{
  GHashTableIter iter;
  gpointer key;
  gpointer next;
  g_autoptr (GString) body = g_string_new (node->ends ? "" : "\"\" | ");
  g_string_append (body, "[^\"\\\\\\x00-\\x1F\\x7F");
  g_hash_table_iter_init (&iter, node->next);
  while (g_hash_table_iter_next (&iter, &key, &next))
    append_class_char (body, GPOINTER_TO_UINT (key));
  g_string_append_printf (body, "] %s*", kvasir_schema_use (writer, "char"));
  g_hash_table_iter_init (&iter, node->next);
  while (g_hash_table_iter_next (&iter, &key, &next))
    {
      guint code = GPOINTER_TO_UINT (key);
      if (code == '"' || code == '\\' || code < 0x20 || code == 0x7F)
        continue;
      g_autofree char *rest = write_other_rest (writer, next);
      if (rest == NULL)
        return NULL;
      g_string_append (body, " | [");
      append_class_char (body, code);
      g_string_append_printf (body, "] %s", rest);
    }
  return kvasir_schema_add_rule (writer, "key", body->str);
}

static char *
write_other_key (const Object *self)
{
  const char *key;
  json_t *value;
  Node *names = node_new ();
  gsize i;
  json_object_foreach (json_object_get (self->schema, "properties"), key, value)
      add_name (names, key);
  json_array_foreach (json_object_get (self->schema, "required"), i, value)
      add_name (names, json_string_value (value));
  g_autofree char *rest = g_hash_table_size (names->next) > 0 || names->ends
                              ? write_other_rest (self->writer, names)
                              : g_strconcat (kvasir_schema_use (self->writer, "char"), "*", NULL);
  node_free (names);
  return rest != NULL ? g_strdup_printf ("\"\\\"\" %s \"\\\"\"", rest) : NULL;
}

/* ---- keys by a pattern */

static gboolean
check_pattern_apart (const Object *self, const char *pattern)
{
  const char *key;
  json_t *value;
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  json_object_foreach (
      json_object_get (self->schema, "properties"), key,
      value) if (regex == NULL ||
                 g_regex_match (regex, key, 0,
                                NULL)) return kvasir_schema_fail (self->writer,
                                                                  "'patternProperties' that may "
                                                                  "match the property "
                                                                  "'%s' is not supported",
                                                                  key);
  if (json_array_size (json_object_get (self->schema, "required")) > self->n_required)
    return kvasir_schema_fail (self->writer, "'required' names that only 'patternProperties' "
                                             "describes are not supported");
  return TRUE;
}

/* One pair by the only pattern. */
static char *
write_pattern_pair (Object *self, const json_t *patterns)
{
  const char *pattern = json_object_iter_key (json_object_iter ((json_t *) patterns));
  gsize before = kvasir_schema_enter (self->writer, "patternProperties");
  if (!check_pattern_apart (self, pattern))
    return NULL;
  g_autofree char *key = kvasir_schema_write_pattern (self->writer, pattern);
  g_autofree char *value =
      key != NULL
          ? kvasir_schema_convert_at (self->writer, pattern, json_object_get (patterns, pattern))
          : NULL;
  if (value == NULL)
    return NULL;
  kvasir_schema_leave (self->writer, before);
  if (*value == '\0')
    return g_strdup ("");
  return g_strdup_printf ("\"\\\"\" %s \"\\\"\" \":\" %s %s", key,
                          kvasir_schema_use (self->writer, "sp"), value);
}

/* One pair beyond the named ones, or nothing. NULL with the error set. */
static char *
write_more (Object *self)
{
  const json_t *patterns = json_object_get (self->schema, "patternProperties");
  const json_t *others = json_object_get (self->schema, "additionalProperties");
  if (patterns != NULL && json_object_size (patterns) > 0)
    {
      if (json_object_size (patterns) > 1)
        {
          kvasir_schema_fail (self->writer,
                              "more than one of 'patternProperties' is not supported");
          return NULL;
        }
      return write_pattern_pair (self, patterns);
    }
  /* Where nothing is said of any property, all are meant. */
  if (others == NULL && self->properties->len == 0 &&
      json_object_get (self->schema, "properties") == NULL)
    others = json_true ();
  if (others == NULL || json_is_false (others))
    return g_strdup ("");
  g_autofree char *key = write_other_key (self);
  g_autofree char *value =
      key != NULL ? kvasir_schema_convert_at (self->writer, "additionalProperties", others) : NULL;
  if (value == NULL || *value == '\0')
    return g_steal_pointer (&value);
  return g_strdup_printf ("%s \":\" %s %s", key, kvasir_schema_use (self->writer, "sp"), value);
}

/* ---- the members of an object */

/* How many more pairs there may be: exact where all named ones are required. */
static gboolean
count_more (Object *self, guint *min, guint *max)
{
  guint n_named = self->properties->len;
  gboolean fixed = n_named == self->n_required;
  *min = self->min > n_named ? self->min - n_named : 0;
  *max = self->max == ANY_NUMBER ? ANY_NUMBER : self->max > n_named ? self->max - n_named : 0;
  if (*self->more == '\0')
    *max = 0;
  self->impossible |= self->max < self->n_required || *min > *max;
  if (*min > 1)
    return kvasir_schema_fail (self->writer, "'minProperties' that asks for more than one property "
                                             "beyond the named ones is not supported, as one may "
                                             "come twice");
  if (fixed || (self->min <= self->n_required &&
                (self->max == ANY_NUMBER || (*self->more == '\0' && self->max >= n_named))))
    return TRUE;
  return kvasir_schema_fail (self->writer, "'minProperties' and 'maxProperties' are supported only "
                                           "where all named properties are required");
}

/* What follows behind a comma when the properties from @i on are still to come. */
static char *
write_tail (const Object *self, guint min, guint max)
{
  g_autoptr (GString) body = g_string_new (NULL);
  g_string_append_printf (body, "(\",\" sp %s)", self->more);
  kvasir_schema_append_bounds (body, min, max);
  return kvasir_schema_add_rule (self->writer, "more", body->str);
}

/* The members where none was written yet: of the optional ones, each can be the first. */
static char *
write_first_more (const Object *self, guint min, guint max)
{
  g_autoptr (GString) body = g_string_new (NULL);
  if (max == 0)
    return g_strdup ("");
  g_string_append_printf (body, "(%s (\",\" sp %s)", self->more, self->more);
  kvasir_schema_append_bounds (body, min > 0 ? min - 1 : 0,
                               max == ANY_NUMBER ? ANY_NUMBER : max - 1);
  g_string_append (body, min > 0 ? ")" : ")?");
  return g_string_free (g_steal_pointer (&body), FALSE);
}

/* From the last to the first, so that every rule exists when it is named. */
static char *
write_members (const Object *self, guint min, guint max)
{
  g_autofree char *tail = max > 0 ? write_tail (self, min, max) : g_strdup ("");
  g_autofree char *first = write_first_more (self, min, max);
  for (guint i = self->properties->len; tail != NULL && i-- > 0;)
    {
      const Property *property = &g_array_index (self->properties, Property, i);
      g_autofree char *begun = g_strdup_printf ("%s %s", property->pair->str, tail);
      g_autofree char *before = first;
      g_autofree char *body = g_strdup_printf (
          property->required ? "\",\" sp %s %s" : "(\",\" sp %s)? %s", property->pair->str, tail);
      first = property->required ? g_steal_pointer (&begun)
                                 : g_strdup_printf ("(%s | %s)", begun, before);
      if (!property->required)
        {
          char *named = kvasir_schema_add_rule (self->writer, "members", first);
          g_free (first);
          first = named;
        }
      g_free (tail);
      tail = i > 0 ? kvasir_schema_add_rule (self->writer, "more", body) : g_strdup ("");
      if (first == NULL)
        return NULL;
    }
  return tail != NULL ? g_steal_pointer (&first) : NULL;
}

static char *
write_whole_object (Object *self)
{
  guint min;
  guint max;
  if (!kvasir_schema_read_count (self->writer, self->schema, "minProperties", 0, &self->min) ||
      !kvasir_schema_read_count (self->writer, self->schema, "maxProperties", ANY_NUMBER,
                                 &self->max) ||
      !add_properties (self) || (self->more = write_more (self)) == NULL ||
      !count_more (self, &min, &max))
    return NULL;
  if (self->impossible)
    return g_strdup ("");
  const char *sp = kvasir_schema_use (self->writer, "sp");
  g_autofree char *members = write_members (self, min, max);
  if (members == NULL)
    return NULL;
  g_autofree char *body = g_strdup_printf ("\"{\" %s %s %s \"}\"", sp, members, sp);
  return kvasir_schema_add_rule (self->writer, NULL, body);
}

char *
kvasir_schema_write_object (KvasirSchemaWriter *self, const json_t *schema)
{
  Object object = {
    .writer = self,
    .schema = schema,
    .properties = g_array_new (FALSE, FALSE, sizeof (Property)),
  };
  g_array_set_clear_func (object.properties, clear_property);
  char *rule = write_whole_object (&object);
  g_array_unref (object.properties);
  g_free (object.more);
  return rule;
}

/* ---- arrays */

typedef struct
{
  GPtrArray *first; /* (owned): rules of the items that have one of their own */
  char *rest;       /* (owned): rule of the others, "": there are none */
  guint min;
  guint max;
} Array;

/* The list of the first items and what says about the others, in the words of either draft. */
static void
get_items (const json_t *schema, const json_t **first, const json_t **rest)
{
  *first = json_object_get (schema, "prefixItems");
  *rest = json_object_get (schema, "items");
  if (*first == NULL && json_is_array (*rest))
    {
      *first = *rest;
      *rest = json_object_get (schema, "additionalItems");
    }
  /* Behind items that are named, as with properties, only what is named is written. */
  if (*rest == NULL)
    *rest = json_array_size (*first) > 0 ? json_false () : json_true ();
}

static gboolean
read_items (KvasirSchemaWriter *self, const json_t *schema, Array *array)
{
  const json_t *first;
  const json_t *rest;
  json_t *item;
  gsize i;
  get_items (schema, &first, &rest);
  if (first != NULL && !json_is_array (first))
    return kvasir_schema_fail (self, "'prefixItems' must be a list");
  json_array_foreach (first, i, item)
  {
    g_autofree char *index = g_strdup_printf ("%" G_GSIZE_FORMAT, i);
    gsize before = kvasir_schema_enter (self, "prefixItems");
    char *rule = kvasir_schema_convert_at (self, index, item);
    if (rule == NULL)
      return FALSE;
    kvasir_schema_leave (self, before);
    g_ptr_array_add (array->first, rule);
  }
  array->rest = kvasir_schema_convert_at (self, "items", rest);
  return array->rest != NULL &&
         kvasir_schema_read_count (self, schema, "minItems", 0, &array->min) &&
         kvasir_schema_read_count (self, schema, "maxItems", ANY_NUMBER, &array->max);
}

/* Items that nothing satisfies end the array. */
static void
limit_items (Array *array)
{
  guint n = array->first->len;
  if (*array->rest == '\0')
    array->max = MIN (array->max, n);
  for (guint i = 0; i < n; i++)
    if (*(const char *) g_ptr_array_index (array->first, i) == '\0')
      {
        array->max = MIN (array->max, i);
        break;
      }
}

/* Behind the first ones of their own: the others, each after a comma, @n being there already. */
static void
append_rest (GString *out, const Array *array, guint n)
{
  if (array->max <= n)
    return;
  g_string_append_printf (out, "(\",\" sp %s)", array->rest);
  kvasir_schema_append_bounds (out, array->min > n ? array->min - n : 0,
                               array->max == ANY_NUMBER ? ANY_NUMBER : array->max - n);
}

static char *
write_items (KvasirSchemaWriter *self, const Array *array)
{
  guint n = MIN (array->first->len, array->max);
  g_autoptr (GString) body = g_string_new (NULL);
  if (array->max == 0)
    return g_strdup ("");
  append_rest (body, array, MAX (n, 1));
  for (guint i = MAX (n, 1); i-- > 0;)
    {
      const char *item = n > 0 ? g_ptr_array_index (array->first, i) : array->rest;
      g_autofree char *tail = body->len > 0 && n > 0
                                  ? kvasir_schema_add_rule (self, "items", body->str)
                                  : g_strdup (body->str);
      if (tail == NULL)
        return NULL;
      g_string_printf (body, "(%s%s %s)%s", i > 0 ? "\",\" sp " : "", item, tail,
                       i < array->min ? "" : "?");
    }
  return g_string_free (g_steal_pointer (&body), FALSE);
}

static char *
write_whole_array (KvasirSchemaWriter *self, const Array *array)
{
  const char *sp = kvasir_schema_use (self, "sp");
  g_autofree char *items = write_items (self, array);
  g_autofree char *body =
      items != NULL ? g_strdup_printf ("\"[\" %s %s %s \"]\"", sp, items, sp) : NULL;
  return body != NULL ? kvasir_schema_add_rule (self, NULL, body) : NULL;
}

char *
kvasir_schema_write_array (KvasirSchemaWriter *self, const json_t *schema)
{
  Array array = { .first = g_ptr_array_new_with_free_func (g_free) };
  char *rule = NULL;
  if (read_items (self, schema, &array))
    {
      limit_items (&array);
      rule = array.min <= array.max ? write_whole_array (self, &array) : g_strdup ("");
    }
  g_ptr_array_unref (array.first);
  g_free (array.rest);
  return rule;
}
