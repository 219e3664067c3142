/* kvasir-cli info: what a model file holds. */
#include "app/cli/cli.h"
#include "engine/error.h"

/* A file as far as it can be described. */
typedef struct
{
  KvasirGguf *gguf;
  KvasirModel *model;
  GError *obstacle; /* (nullable): why the engine can't run it */
  KvasirFit fit;    /* with the settings of the app; empty with an obstacle */
} Described;

static void
described_clear (Described *self)
{
  g_clear_pointer (&self->gguf, kvasir_gguf_free);
  g_clear_pointer (&self->model, kvasir_model_unref);
  g_clear_error (&self->obstacle);
  kvasir_fit_clear (&self->fit);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Described, described_clear)

/* A file that can't run here (its architecture is not written yet, a tensor is missing) is still
 * described as far as its vocabulary goes. */
static gboolean
describe (const char *path, KvasirDevice *device, Described *out, GError **error)
{
  KvasirModelParams params = { .device = device };
  KvasirContextParams context_params;

  kvasir_context_params_init (&context_params);
  out->gguf = kvasir_gguf_open (path, error);
  if (out->gguf == NULL)
    return FALSE;
  if (kvasir_fit_measure (device, path, &context_params, &out->fit, &out->model, &out->obstacle))
    return TRUE;
  params.vocab_only = TRUE;
  out->model = kvasir_model_new (path, &params, error);
  return out->model != NULL;
}

static json_t *
make_tensors (const KvasirGguf *gguf)
{
  json_t *tensors = json_array ();

  for (guint i = 0; i < kvasir_gguf_get_n_tensors (gguf); i++)
    {
      const KvasirGgufTensor *t = kvasir_gguf_get_tensor (gguf, i);
      json_t *shape = json_array ();
      for (guint d = 0; d < t->n_dims; d++)
        json_array_append_new (shape, json_integer (t->ne[d]));
      json_array_append_new (tensors, json_pack ("{s:o, s:s, s:o, s:I}", "name",
                                                 kvasir_cli_json_text (t->name), "type",
                                                 kvasir_type_get_name (t->type), "shape", shape,
                                                 "bytes", (json_int_t) t->n_bytes));
    }
  return tensors;
}

static json_t *
make_json (const Described *d)
{
  const KvasirModelInfo *info = kvasir_model_get_info (d->model);
  const KvasirVocab *vocab = kvasir_model_get_vocab (d->model);
  json_t *out = json_pack (
      "{s:o, s:o, s:o, s:s, s:I, s:I, s:b}", "path", kvasir_cli_json_text (info->path), "title",
      kvasir_cli_json_text (info->title), "arch", kvasir_cli_json_text (info->arch), "type",
      info->type_name, "file_bytes", (json_int_t) info->file_bytes, "n_params",
      (json_int_t) info->n_params, "runs", d->obstacle == NULL);

  if (d->obstacle != NULL)
    json_object_set_new (out, "obstacle", kvasir_cli_json_text (d->obstacle->message));
  else
    json_object_update_new (
        out, json_pack ("{s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:I}", "memory",
                        kvasir_memory_class_get_name (info->memory_class), "caches",
                        kvasir_cli_make_caches (&d->fit), "n_ctx_train", (int) info->n_ctx_train,
                        "n_layers", (int) info->n_layers, "n_embd", (int) info->n_embd, "n_heads",
                        (int) info->n_heads, "n_kv_heads", (int) info->n_kv_heads, "head_dim",
                        (int) info->head_dim, "n_ff", (int) info->n_ff, "kv_bytes_per_token_f16",
                        (json_int_t) info->kv_bytes_per_token_f16));
  json_object_update_new (out, json_pack ("{s:s, s:i, s:b, s:b}", "tokenizer",
                                          kvasir_vocab_get_description (vocab), "n_vocab",
                                          (int) kvasir_vocab_get_n_tokens (vocab), "can_tokenize",
                                          kvasir_vocab_can_tokenize (vocab), "has_template",
                                          kvasir_vocab_get_chat_template (vocab) != NULL));
  if (kvasir_model_get_template (d->model, NULL) != NULL)
    json_object_set_new (out, "prefix_stability",
                         json_string (kvasir_prefix_stability_get_name (info->prefix_stability)));
  json_object_set_new (out, "tensors", make_tensors (d->gguf));
  return out;
}

static void print_field (const char *name, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
print_field (const char *name, const char *format, ...)
{
  g_autofree char *text = NULL, *line = NULL;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  line = kvasir_cli_escape (text);
  g_print ("%-16s %s\n", name, line);
}

static void
print_shape (const KvasirModelInfo *info)
{
  print_field ("memory", "%s", kvasir_memory_class_get_name (info->memory_class));
  print_field ("trained context", "%u tokens", info->n_ctx_train);
  print_field ("layers", "%u, %u wide, feed-forward %u", info->n_layers, info->n_embd, info->n_ff);
  print_field ("heads", "%u of %u, %u for keys and values", info->n_heads, info->head_dim,
               info->n_kv_heads);
}

static void
print_keys (const KvasirGguf *gguf)
{
  g_print ("\n%-40s %s\n", "key", "value");
  for (guint i = 0; i < kvasir_gguf_get_n_keys (gguf); i++)
    {
      KvasirGgufType type;
      g_autofree char *key = kvasir_cli_escape (kvasir_gguf_get_key (gguf, i, &type));
      g_autofree char *text = kvasir_gguf_format_value (gguf, i);
      g_autofree char *value = kvasir_cli_escape (text);
      g_autofree char *start = g_utf8_substring (value, 0, MIN (g_utf8_strlen (value, -1), 80));
      g_print ("%-40s %s\n", key, start);
    }
}

static void
print_tensors (const KvasirGguf *gguf)
{
  g_print ("\n%-32s %-8s %-20s %10s\n", "tensor", "type", "shape", "bytes");
  for (guint i = 0; i < kvasir_gguf_get_n_tensors (gguf); i++)
    {
      const KvasirGgufTensor *t = kvasir_gguf_get_tensor (gguf, i);
      g_autoptr (GString) shape = g_string_new (NULL);
      g_autofree char *bytes = kvasir_cli_format_bytes (t->n_bytes);
      g_autofree char *name = kvasir_cli_escape (t->name);
      for (guint d = 0; d < t->n_dims; d++)
        g_string_append_printf (shape, "%s%" G_GINT64_FORMAT, d > 0 ? " x " : "", t->ne[d]);
      g_print ("%-32s %-8s %-20s %10s\n", name, kvasir_type_get_name (t->type), shape->str, bytes);
    }
}

static const char *
describe_template (KvasirModel *model)
{
  static const char *const words[] = {
    [KVASIR_PREFIX_STABLE] = "yes; each turn, only new text is read",
    [KVASIR_PREFIX_REPLY_MOVES] = "yes; each turn, it puts text before the last reply, which is "
                                  "read again",
    [KVASIR_PREFIX_PROMPT_MOVES] = "yes; each turn, it rewrites how the last reply begins, which "
                                   "is read again",
    [KVASIR_PREFIX_ALL_MOVES] = "yes; each turn, it moves earlier text, so all is read again",
    [KVASIR_PREFIX_UNKNOWN] = "yes; it does not take a plain chat of two turns",
  };
  g_autoptr (GError) error = NULL;

  if (kvasir_vocab_get_chat_template (kvasir_model_get_vocab (model)) == NULL)
    return "none";
  if (kvasir_model_get_template (model, &error) == NULL)
    return "yes, but it can't be read";
  return words[kvasir_model_get_info (model)->prefix_stability];
}

static void
print_text (const Described *d)
{
  const KvasirModelInfo *info = kvasir_model_get_info (d->model);
  const KvasirVocab *vocab = kvasir_model_get_vocab (d->model);
  g_autofree char *size = kvasir_cli_format_bytes (info->file_bytes);

  print_field ("title", "%s", info->title);
  print_field ("file", "%s, %s", info->path, size);
  print_field ("architecture", "%s", info->arch);
  print_field ("parameters", "%" G_GUINT64_FORMAT ", most of them %s", info->n_params,
               info->type_name);
  if (d->obstacle != NULL)
    print_field ("does not run", "%s", d->obstacle->message);
  else
    print_shape (info);
  print_field ("tokenizer", "%s, %u tokens%s", kvasir_vocab_get_description (vocab),
               kvasir_vocab_get_n_tokens (vocab),
               kvasir_vocab_can_tokenize (vocab) ? "" : ", cannot read text yet");
  print_field ("chat template", "%s", describe_template (d->model));
  if (d->obstacle == NULL && d->fit.caches->len > 0)
    {
      g_print ("\n");
      kvasir_cli_print_caches (&d->fit);
    }
  print_keys (d->gguf);
  print_tensors (d->gguf);
}

int
kvasir_cli_info (int argc, char **argv)
{
  gboolean json = FALSE;
  KvasirDeviceArgs device_args = { NULL, 1 };
  const GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  const KvasirCommandLine line = { "FILE.gguf - describe a model file", entries, NULL, 1, 1 };
  g_auto (Described) described = { NULL, NULL, NULL, { 0 } };
  g_autoptr (KvasirDevice) device = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  int status;

  if (!kvasir_cli_parse (&line, &argc, &argv, &status))
    return status;
  path = kvasir_cli_find_file (argv[1], &error);
  if (path == NULL)
    return kvasir_cli_fail (error);
  device = kvasir_cli_open_device (&device_args, &error);
  if (device == NULL || !describe (path, device, &described, &error))
    return kvasir_cli_fail (error);
  if (json)
    kvasir_cli_print_json (make_json (&described));
  else
    print_text (&described);
  return KVASIR_EXIT_OK;
}
