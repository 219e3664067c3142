/* engine/grammar/schema-private.h - what the files of the schema converter share
 *
 * schema.c names rules and goes down the schema; schema-merge.c resolves references and makes one
 * schema of several that hold at once; the others write the rules of one type each.
 *
 * Functions that convert return the expression, which stands for one item of a sequence, or NULL
 * with the error set. An expression that is the empty text stands for what nothing satisfies.
 */
#pragma once

#include <glib.h>
#include <jansson.h>

G_BEGIN_DECLS

#define KVASIR_SCHEMA_MAX_DEPTH 64
#define KVASIR_SCHEMA_MAX_ALTERNATIVES 256
#define KVASIR_SCHEMA_MAX_BYTES (4u << 20)

/* Whole and broken numbers are told apart: together they are "number". */
enum
{
  KVASIR_TYPE_NULL = 1 << 0,
  KVASIR_TYPE_BOOLEAN = 1 << 1,
  KVASIR_TYPE_WHOLE = 1 << 2,
  KVASIR_TYPE_BROKEN = 1 << 3,
  KVASIR_TYPE_NUMBER = KVASIR_TYPE_WHOLE | KVASIR_TYPE_BROKEN,
  KVASIR_TYPE_STRING = 1 << 4,
  KVASIR_TYPE_ARRAY = 1 << 5,
  KVASIR_TYPE_OBJECT = 1 << 6,
  KVASIR_TYPE_ANY = (1 << 7) - 1
};

typedef struct
{
  const json_t *root;   /* (unowned) */
  GString *rules;       /* (owned) */
  GHashTable *names;    /* (owned): json_t (unowned) to the name of its rule */
  GHashTable *builtins; /* (owned): names that are written already */
  GPtrArray *made; /* (owned) of json_t: schemas made of others, whose addresses are in names */
  GString *path;   /* (owned): JSON pointer of where the work is */
  guint depth;
  guint n_names;
  guint n_compared; /* schemas, for oneOf */
  GError **error;
} KvasirSchemaWriter;

/* ---- schema.c */

/* "Schema, at /a/b: ...". Always FALSE. */
gboolean kvasir_schema_fail (KvasirSchemaWriter *self, const char *format, ...)
    G_GNUC_PRINTF (2, 3);
/* Goes down by one key or index; returns what kvasir_schema_leave() takes. */
gsize kvasir_schema_enter (KvasirSchemaWriter *self, const char *key);
void kvasir_schema_leave (KvasirSchemaWriter *self, gsize before);
/* The name of @schema's rule. (transfer full) */
char *kvasir_schema_convert (KvasirSchemaWriter *self, const json_t *schema);
/* The same for what stands at @key below. */
char *kvasir_schema_convert_at (KvasirSchemaWriter *self, const char *key, const json_t *schema);
/* Writes a rule and returns its name. (transfer full) */
char *kvasir_schema_add_rule (KvasirSchemaWriter *self, const char *hint, const char *body);
/* The name of a rule that is the same for all schemas. */
const char *kvasir_schema_use (KvasirSchemaWriter *self, const char *name);
/* A literal of GBNF. */
void kvasir_schema_append_literal (GString *out, const char *bytes, gsize n);
/* A text as it stands in JSON, quotes included, as a literal. */
void kvasir_schema_append_text (GString *out, const char *text, gsize n);
/* "{2,5}"; G_MAXUINT: without an end. Nothing for exactly once. */
void kvasir_schema_append_bounds (GString *out, guint min, guint max);
/* A count of @key in @schema. FALSE: it is no count. */
gboolean kvasir_schema_read_count (
    KvasirSchemaWriter *self, const json_t *schema, const char *key, guint initial, guint *count);

/* The types that "type" allows; 0 with the error set. */
guint kvasir_schema_get_named_types (KvasirSchemaWriter *self, const json_t *schema);
/* The types that are written: those named, or those that other keywords are about. */
guint kvasir_schema_get_meant_types (KvasirSchemaWriter *self, const json_t *schema);
/* Whether @value has the type, the size and the length that @schema asks for. */
gboolean kvasir_schema_fits (KvasirSchemaWriter *self, const json_t *schema, const json_t *value);

/* ---- schema-merge.c */

/* What a reference stands for. NULL with the error set. */
const json_t *kvasir_schema_resolve (KvasirSchemaWriter *self, const json_t *reference);
/* The schemas without allOf, anyOf, oneOf and $ref of which one has to hold, in an array.
 * (transfer full) */
json_t *kvasir_schema_expand (KvasirSchemaWriter *self, const json_t *schema);

/* ---- schema-exclude.c */

/* Whether what is written for one of the schemas satisfies none of the others. FALSE with the error
 * set: that can't be told. */
gboolean kvasir_schema_check_one_of (KvasirSchemaWriter *self, const json_t *list);

/* ---- one type each. (transfer full) */
char *kvasir_schema_write_object (KvasirSchemaWriter *self, const json_t *schema);
char *kvasir_schema_write_array (KvasirSchemaWriter *self, const json_t *schema);
char *kvasir_schema_write_string (KvasirSchemaWriter *self, const json_t *schema);
char *kvasir_schema_write_number (KvasirSchemaWriter *self, const json_t *schema, gboolean whole);
/* The inside of a text that matches a regular expression. */
char *kvasir_schema_write_pattern (KvasirSchemaWriter *self, const char *pattern);

G_END_DECLS
