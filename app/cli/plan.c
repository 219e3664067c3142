/* kvasir-cli plan: what a model would take, by the planner that the app uses. */
#include "app/cli/cli.h"

/* Where no option says anything. */
#define UNSAID G_MININT

typedef struct
{
  gint n_ctx, n_seqs, n_batch, n_ubatch;
  gboolean streams, transposed, swa_full;
  char *type_k, *type_v; /* (owned) (nullable) */
} PlanArgs;

static gboolean
set_count (const char *name, gint value, gint min, guint *target, GError **error)
{
  if (value == UNSAID)
    return TRUE;
  if (value < min)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "--%s: a number from %d expected, %d found", name, min, value);
      return FALSE;
    }
  *target = (guint) value;
  return TRUE;
}

static gboolean
fill_params (const PlanArgs *args, KvasirContextParams *params, GError **error)
{
  kvasir_context_params_init (params);
  params->kv_unified = !args->streams;
  params->flash_attn = !args->transposed;
  params->swa_full = args->swa_full;
  return set_count ("ctx", args->n_ctx, 0, &params->n_ctx, error) &&
         set_count ("seqs", args->n_seqs, 1, &params->n_seq_max, error) &&
         set_count ("batch", args->n_batch, 1, &params->n_batch, error) &&
         set_count ("ubatch", args->n_ubatch, 1, &params->n_ubatch, error) &&
         kvasir_cli_set_cache_type ("type-k", args->type_k, &params->type_k, error) &&
         kvasir_cli_set_cache_type ("type-v", args->type_v, &params->type_v, error);
}

/* The rows of one kind and buffer type together: a layer's share is of no use here. */
static GArray *
sum_rows (const GArray *rows)
{
  GArray *sums = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));

  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      guint j;
      for (j = 0; j < sums->len; j++)
        {
          KvasirMemoryRow *sum = &g_array_index (sums, KvasirMemoryRow, j);
          if (sum->kind == row->kind && g_str_equal (sum->buffer_type, row->buffer_type) &&
              g_str_equal (sum->device, row->device))
            {
              sum->n_bytes += row->n_bytes;
              break;
            }
        }
      if (j == sums->len)
        g_array_append_val (sums, *row);
    }
  return sums;
}

static json_t *
make_json (const KvasirFit *fit, const KvasirModelInfo *info, const GArray *rows)
{
  const KvasirContextParams *p = &fit->params;
  json_t *list = json_array ();

  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      json_array_append_new (list, json_pack ("{s:s, s:s, s:s, s:I}", "device", row->device,
                                              "buffer_type", row->buffer_type, "kind",
                                              kvasir_memory_kind_get_name (row->kind), "bytes",
                                              (json_int_t) row->n_bytes));
    }
  return json_pack (
      "{s:o, s:s, s:o, s:i, s:i, s:i, s:i, s:i, s:s, s:s, s:I, s:I, s:b, s:o}", "title",
      kvasir_cli_json_text (info->title), "memory",
      kvasir_memory_class_get_name (fit->memory_class), "caches", kvasir_cli_make_caches (fit),
      "n_ctx", (int) p->n_ctx, "n_ctx_seq", (int) fit->n_ctx_seq, "n_seq_max", (int) p->n_seq_max,
      "n_batch", (int) p->n_batch, "n_ubatch", (int) p->n_ubatch, "type_k",
      kvasir_type_get_name ((int) p->type_k), "type_v", kvasir_type_get_name ((int) p->type_v),
      "need_bytes", (json_int_t) fit->need_bytes, "free_bytes", (json_int_t) fit->free_bytes,
      "fits", fit->fits, "rows", list);
}

static void
print_text (const KvasirFit *fit, const KvasirModelInfo *info, const GArray *rows)
{
  const KvasirContextParams *p = &fit->params;
  g_autofree char *need = kvasir_cli_format_bytes (fit->need_bytes);
  g_autofree char *free_text = kvasir_cli_format_bytes (fit->free_bytes);

  g_print ("%s: memory of kind %s, %u sequences, K %s, V %s%s, physical batches of %u\n\n",
           info->title, kvasir_memory_class_get_name (fit->memory_class), p->n_seq_max,
           kvasir_type_get_name ((int) p->type_k), kvasir_type_get_name ((int) p->type_v),
           p->flash_attn ? "" : " transposed", p->n_ubatch);
  kvasir_cli_print_caches (fit);
  if (fit->caches->len > 0)
    g_print ("\n");
  g_print ("%-8s %-12s %-12s %12s\n", "device", "memory", "for", "bytes");
  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      g_autofree char *bytes = kvasir_cli_format_bytes (row->n_bytes);
      g_print ("%-8s %-12s %-12s %12s\n", row->device, row->buffer_type,
               kvasir_memory_kind_get_name (row->kind), bytes);
    }
  g_print ("\nneeds %s, %s free: %s\n", need, free_text, fit->fits ? "fits" : "does not fit");
}

static int
plan (const char *name, const KvasirContextParams *params, gboolean json)
{
  const KvasirDeviceArgs device_args = { NULL, 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirDevice) device = NULL;
  g_autoptr (KvasirModel) model = NULL;
  g_autoptr (GArray) rows = NULL;
  g_autofree char *path = kvasir_cli_find_file (name, &error);
  KvasirFit fit = { 0 };

  if (path == NULL)
    return kvasir_cli_fail (error);
  device = kvasir_cli_open_device (&device_args, &error);
  if (device == NULL || !kvasir_fit_measure (device, path, params, &fit, &model, &error))
    return kvasir_cli_fail (error);
  rows = sum_rows (fit.rows);
  if (json)
    kvasir_cli_print_json (make_json (&fit, kvasir_model_get_info (model), rows));
  else
    print_text (&fit, kvasir_model_get_info (model), rows);
  kvasir_fit_clear (&fit);
  return KVASIR_EXIT_OK;
}

int
kvasir_cli_plan (int argc, char **argv)
{
  PlanArgs args = { .n_ctx = UNSAID, .n_seqs = UNSAID, .n_batch = UNSAID, .n_ubatch = UNSAID };
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "ctx", 0, 0, G_OPTION_ARG_INT, &args.n_ctx, "Cells (default 4096; 0: as trained)", "N" },
    { "seqs", 0, 0, G_OPTION_ARG_INT, &args.n_seqs, "Sequences (default 16)", "N" },
    { "batch", 0, 0, G_OPTION_ARG_INT, &args.n_batch, "Tokens of a batch (default 2048)", "N" },
    { "ubatch", 0, 0, G_OPTION_ARG_INT, &args.n_ubatch, "Tokens computed at once (default 512)",
      "N" },
    { "type-k", 0, 0, G_OPTION_ARG_STRING, &args.type_k, "Type of keys (default f16)", "TYPE" },
    { "type-v", 0, 0, G_OPTION_ARG_STRING, &args.type_v, "Type of values (default f16)", "TYPE" },
    { "streams", 0, 0, G_OPTION_ARG_NONE, &args.streams, "Cells of its own for each sequence",
      NULL },
    { "transposed", 0, 0, G_OPTION_ARG_NONE, &args.transposed, "Values as without flash attention",
      NULL },
    { "swa-full", 0, 0, G_OPTION_ARG_NONE, &args.swa_full,
      "As many cells for sliding layers as for the others", NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  const KvasirCommandLine line = { "FILE.gguf - show what a model would take in memory", entries,
                                   NULL, 1, 1 };
  g_autofree char *type_k = NULL, *type_v = NULL;
  KvasirContextParams params;
  g_autoptr (GError) error = NULL;
  int status;
  gboolean ok = kvasir_cli_parse (&line, &argc, &argv, &status);

  type_k = args.type_k;
  type_v = args.type_v;
  if (!ok)
    return status;
  if (!fill_params (&args, &params, &error))
    return kvasir_cli_fail (error);
  return plan (argv[1], &params, json);
}
