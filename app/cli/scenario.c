/* The file and its header. */
#include "app/cli/scenario.h"

#include "engine/json-name.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

static void
free_op (gpointer data)
{
  KvasirScenarioOp *op = data;
  json_decref (op->json);
  g_clear_pointer (&op->tokens, g_array_unref);
  g_clear_pointer (&op->pos, g_array_unref);
  g_clear_pointer (&op->outputs, g_array_unref);
  g_clear_pointer (&op->seq_ids, g_array_unref);
  g_clear_pointer (&op->n_seqs, g_array_unref);
  g_free (op);
}

void
kvasir_scenario_free (KvasirScenario *self)
{
  g_return_if_fail (self != NULL);
  g_ptr_array_unref (self->ops);
  json_decref (self->header);
  g_free (self->path);
  g_free (self);
}

gboolean
kvasir_scenario_fail (const KvasirScenario *self,
                      guint line,
                      const char *member,
                      GError **error,
                      const char *format,
                      ...)
{
  g_autofree char *text = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE, "%s:%u: %s%s%s", self->path, line,
               member != NULL ? member : "", member != NULL ? ": " : "", text);
  return FALSE;
}

/* A member of the header's objects. Exactly one of the targets is set. */
typedef struct
{
  const char *name;
  gboolean *flag;
  guint *number;
  guint min;
  guint max;
  KvasirType *type;
} HeaderMember;

/* What stands where a member expects something else. Returns: (transfer full) */
static char *
describe_value (const json_t *value)
{
  if (json_is_integer (value))
    return g_strdup_printf ("%" JSON_INTEGER_FORMAT, json_integer_value (value));
  if (json_is_string (value))
    return g_strdup_printf ("\"%s\"", json_string_value (value));
  return g_strdup (kvasir_json_name_type (value));
}

static gboolean
wrong_header (const KvasirScenario *self,
              guint line,
              const char *member,
              const char *expected,
              const json_t *found,
              GError **error)
{
  g_autofree char *text = describe_value (found);
  return kvasir_scenario_fail (self, line, member, error, "%s expected, %s found", expected, text);
}

static gboolean
read_type (const json_t *value, KvasirType *type)
{
  int found = json_is_string (value) ? kvasir_cli_find_cache_type (json_string_value (value)) : -1;
  *type = (KvasirType) found;
  return found >= 0;
}

static gboolean
read_header_member (const KvasirScenario *self,
                    guint line,
                    const HeaderMember *member,
                    const json_t *value,
                    GError **error)
{
  g_autofree char *range = NULL;

  if (member->flag != NULL)
    {
      *member->flag = json_is_true (value);
      return json_is_boolean (value) ||
             wrong_header (self, line, member->name, "true or false", value, error);
    }
  if (member->type != NULL)
    return read_type (value, member->type) ||
           wrong_header (self, line, member->name,
                         "f32, f16, bf16, q8_0, q4_0, q4_1, iq4_nl, q5_0 or q5_1", value, error);
  range = g_strdup_printf ("a whole number from %u to %u", member->min, member->max);
  if (!json_is_integer (value) || json_integer_value (value) < member->min ||
      json_integer_value (value) > member->max)
    return wrong_header (self, line, member->name, range, value, error);
  *member->number = (guint) json_integer_value (value);
  return TRUE;
}

/* @json: (nullable): the object; only the @n members listed may stand in it. */
static gboolean
read_header_object (const KvasirScenario *self,
                    guint line,
                    const json_t *json,
                    const HeaderMember *members,
                    guint n,
                    GError **error)
{
  const char *key;
  json_t *value;

  if (json == NULL)
    return TRUE;
  json_object_foreach ((json_t *) json, key, value)
  {
    guint i;
    for (i = 0; i < n && strcmp (key, members[i].name) != 0; i++)
      ;
    if (i == n)
      return kvasir_scenario_fail (self, line, key, error, "no such member");
    if (!read_header_member (self, line, &members[i], value, error))
      return FALSE;
  }
  return TRUE;
}

gboolean
kvasir_scenario_parse_emit (
    const KvasirScenario *self, guint line, const json_t *json, KvasirEmit *emit, GError **error)
{
  const HeaderMember members[] = {
    { "state", &emit->state },
    { "logits", &emit->logits },
    { "ubatches", &emit->ubatches },
    { "mask", &emit->mask },
  };

  if (json != NULL && !json_is_object (json))
    return wrong_header (self, line, "emit", "an object", json, error);
  return read_header_object (self, line, json, members, G_N_ELEMENTS (members), error);
}

static gboolean
read_context (KvasirScenario *self, guint line, const json_t *json, GError **error)
{
  KvasirContextParams *p = &self->params;
  const HeaderMember members[] = {
    { "n_ctx", NULL, &p->n_ctx, 0, G_MAXINT32 },
    { "n_seq_max", NULL, &p->n_seq_max, 1, KVASIR_MAX_SEQS },
    { "kv_unified", &p->kv_unified },
    { "n_batch", NULL, &p->n_batch, 1, G_MAXINT32 },
    { "n_ubatch", NULL, &p->n_ubatch, 1, G_MAXINT32 },
    { "flash_attn", &p->flash_attn },
    { "type_k", .type = &p->type_k },
    { "type_v", .type = &p->type_v },
    { "swa_full", &p->swa_full },
    { "offload_kqv", &p->offload_kqv },
    { "n_rs_seq", NULL, &p->n_rs_seq, 0, G_MAXINT32 },
    { "kv_rotate", &p->kv_rotate },
    { "n_threads", NULL, &p->n_threads, 1, 1024 },
  };

  kvasir_context_params_init (p);
  p->n_ctx = 512;
  p->n_seq_max = 1;
  p->n_threads = 1;
  /* Traces are made by the reference, whose shifts lengthen the keys of yarn models and turn those
   * of layers without rope. */
  p->shift_as_traces = TRUE;
  if (json != NULL && !json_is_object (json))
    return wrong_header (self, line, "context", "an object", json, error);
  return read_header_object (self, line, json, members, G_N_ELEMENTS (members), error);
}

static gboolean
check_header_names (const KvasirScenario *self, guint line, GError **error)
{
  static const char *const known[] = { "kvasir-scenario", "model", "context", "emit",
                                       "vocab_only" };
  const char *key;
  json_t *value;

  json_object_foreach (self->header, key, value)
  {
    gboolean found = FALSE;
    for (guint i = 0; i < G_N_ELEMENTS (known); i++)
      found |= strcmp (key, known[i]) == 0;
    if (!found)
      return kvasir_scenario_fail (self, line, key, error, "the header has no such member");
  }
  return TRUE;
}

static gboolean
read_header (KvasirScenario *self, guint line, GError **error)
{
  const json_t *version = json_object_get (self->header, "kvasir-scenario");
  const json_t *model = json_object_get (self->header, "model");
  const json_t *vocab_only = json_object_get (self->header, "vocab_only");

  if (!json_is_integer (version) || json_integer_value (version) != 1)
    return wrong_header (self, line, "kvasir-scenario", "a header with version 1", version, error);
  self->model = json_string_value (model);
  if (self->model == NULL || strlen (self->model) != json_string_length (model))
    return wrong_header (self, line, "model", "the name of a file", model, error);
  if (vocab_only != NULL && !json_is_boolean (vocab_only))
    return wrong_header (self, line, "vocab_only", "true or false", vocab_only, error);
  self->vocab_only = json_is_true (vocab_only);
  self->emit = (KvasirEmit){ .state = TRUE, .logits = TRUE };
  return check_header_names (self, line, error) &&
         read_context (self, line, json_object_get (self->header, "context"), error) &&
         kvasir_scenario_parse_emit (self, line, json_object_get (self->header, "emit"),
                                     &self->emit, error);
}

static gboolean
read_line (KvasirScenario *self, guint line, const char *text, gsize len, GError **error)
{
  json_error_t json_error;
  json_t *json = json_loadb (text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &json_error);
  KvasirScenarioOp *op;

  if (!json_is_object (json))
    {
      const char *found = json != NULL ? kvasir_json_name_type (json) : NULL;
      json_decref (json);
      if (found != NULL)
        return kvasir_scenario_fail (self, line, NULL, error, "a JSON object expected, %s found",
                                     found);
      return kvasir_scenario_fail (self, line, NULL, error, "column %d: %s", json_error.column,
                                   json_error.text);
    }
  if (self->header == NULL)
    {
      self->header = json;
      return read_header (self, line, error);
    }
  op = g_new0 (KvasirScenarioOp, 1);
  op->line = line;
  op->json = json;
  g_ptr_array_add (self->ops, op);
  return kvasir_scenario_parse_op (self, op, error);
}

/* Pipes and devices may never end. */
static gboolean
load_file (const char *path, char **bytes, gsize *n_bytes, GError **error)
{
  g_autoptr (GError) file_error = NULL;
  GStatBuf info;

  if (g_stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "%s: a regular file expected, %s found", path,
                   S_ISDIR (info.st_mode) ? "a folder" : "a device, pipe or socket");
      return FALSE;
    }
  if (g_file_get_contents (path, bytes, n_bytes, &file_error))
    return TRUE;
  g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE, file_error->message);
  return FALSE;
}

KvasirScenario *
kvasir_scenario_read (const char *path, GError **error)
{
  g_autoptr (KvasirScenario) self = g_new0 (KvasirScenario, 1);
  g_autofree char *bytes = NULL;
  gsize n_bytes, at = 0;

  self->path = g_strdup (path);
  self->ops = g_ptr_array_new_with_free_func (free_op);
  if (!load_file (path, &bytes, &n_bytes, error))
    return NULL;
  for (guint line = 1; at < n_bytes; line++)
    {
      const char *text = bytes + at;
      const char *end = memchr (text, '\n', n_bytes - at);
      gsize len = end != NULL ? (gsize) (end - text) : n_bytes - at;
      gboolean is_empty = TRUE;

      at += len + 1;
      for (gsize i = 0; i < len && is_empty; i++)
        is_empty = g_ascii_isspace (text[i]);
      if (!is_empty && text[0] != '#' && !read_line (self, line, text, len, error))
        return NULL;
    }
  if (self->header == NULL)
    {
      kvasir_scenario_fail (self, 1, NULL, error, "a header expected, nothing found");
      return NULL;
    }
  return g_steal_pointer (&self);
}
