/* Whether the alternatives of oneOf exclude each other.
 *
 * Two schemas do if nothing that is written for one satisfies the other. That is less than that
 * nothing satisfies both: of an object only the properties that its schema names are written.
 */
#include <math.h>
#include <string.h>

#include "engine/grammar/schema-private.h"

/* Schemas within schemas are compared a few levels down, and not too many in all. */
#define DEPTH_STEP 8
#define MAX_COMPARED 20000

static gboolean is_excluded (KvasirSchemaWriter *self, const json_t *a, const json_t *b);

static gboolean
has_text (const json_t *list, const char *text)
{
  gsize i;
  json_t *item;
  json_array_foreach (list, i,
                      item) if (g_strcmp0 (json_string_value (item), text) == 0) return TRUE;
  return FALSE;
}

/* Whether more properties than the named ones may be written. */
static gboolean
writes_more (const json_t *schema)
{
  const json_t *more = json_object_get (schema, "additionalProperties");
  return (more != NULL && !json_is_false (more)) ||
         json_object_get (schema, "patternProperties") != NULL ||
         (json_object_get (schema, "properties") == NULL &&
          json_object_get (schema, "additionalProperties") == NULL);
}

/* @a's objects lack what @b needs, or always have what @b forbids or gives another meaning. */
static gboolean
is_object_excluded (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  const json_t *of_a = json_object_get (a, "properties");
  const json_t *of_b = json_object_get (b, "properties");
  gboolean closed = json_is_false (json_object_get (b, "additionalProperties")) &&
                    json_object_get (b, "patternProperties") == NULL;
  gsize i;
  json_t *name;
  json_array_foreach (
      json_object_get (b, "required"), i,
      name) if (json_is_string (name) && !writes_more (a) &&
                json_object_get (of_a, json_string_value (name)) == NULL &&
                !has_text (json_object_get (a, "required"), json_string_value (name))) return TRUE;
  json_array_foreach (json_object_get (a, "required"), i, name)
  {
    const char *key = json_string_value (name);
    const json_t *there = key != NULL ? json_object_get (of_b, key) : NULL;
    const json_t *here = key != NULL ? json_object_get (of_a, key) : NULL;
    if (there == NULL && closed)
      return TRUE;
    if (here != NULL && there != NULL && is_excluded (self, here, there))
      return TRUE;
  }
  return FALSE;
}

/* The least and the greatest number; numbers next to them that are left out count as there. */
static void
get_range (const json_t *schema, double *low, double *high)
{
  const json_t *keys[] = { json_object_get (schema, "minimum"), json_object_get (schema, "maximum"),
                           json_object_get (schema, "exclusiveMinimum"),
                           json_object_get (schema, "exclusiveMaximum") };
  *low = -INFINITY;
  *high = INFINITY;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    if (json_is_number (keys[i]))
      {
        double *end = i % 2 == 0 ? low : high;
        double value = json_number_value (keys[i]);
        *end = i % 2 == 0 ? MAX (*end, value) : MIN (*end, value);
      }
}

static gboolean
are_ranges_apart (const json_t *a, const json_t *b)
{
  double low_a;
  double high_a;
  double low_b;
  double high_b;
  get_range (a, &low_a, &high_a);
  get_range (b, &low_b, &high_b);
  return high_a < low_b || high_b < low_a;
}

static gboolean
does_no_value_fit (KvasirSchemaWriter *self, const json_t *values, const json_t *schema)
{
  const json_t *listed = json_object_get (schema, "enum");
  gsize i;
  gsize k;
  json_t *value;
  json_t *other;
  json_array_foreach (values, i, value)
  {
    gboolean fits = kvasir_schema_fits (self, schema, value);
    if (fits && listed != NULL)
      {
        fits = FALSE;
        json_array_foreach (listed, k, other) fits = fits || json_equal (value, other);
      }
    if (fits)
      return FALSE;
  }
  return TRUE;
}

/* Of two schemas without anyOf and the like, what is written for @a against @b. */
static gboolean
is_flat_excluded (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  const json_t *values = json_object_get (a, "enum");
  guint types = kvasir_schema_get_meant_types (self, a) & kvasir_schema_get_named_types (self, b);
  if (values != NULL)
    return does_no_value_fit (self, values, b);
  if (json_object_get (b, "enum") != NULL)
    return does_no_value_fit (self, json_object_get (b, "enum"), a);
  if (types & ~(guint) (KVASIR_TYPE_NUMBER | KVASIR_TYPE_OBJECT))
    return FALSE;
  return ((types & KVASIR_TYPE_NUMBER) == 0 || are_ranges_apart (a, b)) &&
         ((types & KVASIR_TYPE_OBJECT) == 0 || is_object_excluded (self, a, b));
}

/* What cannot be read excludes nothing; the error shows when it is written. */
static gboolean
is_excluded (KvasirSchemaWriter *self, const json_t *a, const json_t *b)
{
  GError **error = self->error;
  gsize before = self->path->len;
  if (self->n_compared >= MAX_COMPARED)
    return FALSE;
  self->n_compared++;
  self->error = NULL;
  self->depth += DEPTH_STEP;
  json_t *all_a = kvasir_schema_expand (self, a);
  json_t *all_b = kvasir_schema_expand (self, b);
  gboolean excluded = all_a != NULL && all_b != NULL;
  for (gsize i = 0; excluded && i < json_array_size (all_a); i++)
    for (gsize k = 0; excluded && k < json_array_size (all_b); k++)
      excluded = is_flat_excluded (self, json_array_get (all_a, i), json_array_get (all_b, k)) &&
                 is_flat_excluded (self, json_array_get (all_b, k), json_array_get (all_a, i));
  json_decref (all_a);
  json_decref (all_b);
  self->depth -= DEPTH_STEP;
  self->error = error;
  kvasir_schema_leave (self, before);
  return excluded;
}

gboolean
kvasir_schema_check_one_of (KvasirSchemaWriter *self, const json_t *list)
{
  gsize n = json_array_size (list);
  for (gsize i = 0; i < n; i++)
    for (gsize k = 0; k < i; k++)
      if (!is_excluded (self, json_array_get (list, k), json_array_get (list, i)))
        return kvasir_schema_fail (self,
                                   "the alternatives %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
                                   " of 'oneOf' may both hold, which is not supported; "
                                   "'anyOf' allows it",
                                   k, i);
  return TRUE;
}
