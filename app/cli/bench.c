/* kvasir-cli bench: how fast a model reads and writes here. */
#include "app/cli/bench-draft.h"
#include "app/cli/cli.h"
#include "app/cli/draft-args.h"

/* Before anything is measured: caches and threads wake up. */
#define WARM_PREFILL 16
#define WARM_DECODE 4

typedef struct
{
  gint n_prefill;
  gint n_decode;
  gint depth;            /* tokens already in the cache before anything is timed */
  char *type_k, *type_v; /* (owned) (nullable) */
} BenchArgs;

/* Tokens per second. */
typedef struct
{
  double prefill;
  double decode;
} BenchResult;

static gboolean
decode_timed (KvasirContext *context, const KvasirBatch *batch, gint64 *us, GError **error)
{
  const gint64 start = g_get_monotonic_time ();
  const KvasirDecode code = kvasir_context_decode (context, batch, error);

  *us += g_get_monotonic_time () - start;
  return code == KVASIR_DECODE_OK;
}

/* With @depth tokens in the cache, one prompt of @n_prefill tokens, then @n_decode single ones.
 * What the tokens are does not matter for speed; the ids only have to exist. */
static gboolean
measure (KvasirContext *context, const BenchArgs *args, BenchResult *result, GError **error)
{
  const guint n_vocab = kvasir_model_get_info (kvasir_context_get_model (context))->n_vocab;
  g_autofree gint32 *tokens = g_new (gint32, MAX (args->n_prefill, args->depth));
  KvasirBatch batch = { .n_tokens = (guint) args->depth, .tokens = tokens };
  gint64 depth_us = 0, prefill_us = 0, decode_us = 0;

  kvasir_memory_clear (kvasir_context_get_memory (context), FALSE);
  for (gint i = 0; i < MAX (args->n_prefill, args->depth); i++)
    tokens[i] = (gint32) (((guint) i * 7919u + 13u) % n_vocab);
  if (args->depth > 0 && !decode_timed (context, &batch, &depth_us, error))
    return FALSE;
  batch.n_tokens = (guint) args->n_prefill;
  if (!decode_timed (context, &batch, &prefill_us, error))
    return FALSE;
  batch.n_tokens = 1;
  for (gint i = 0; i < args->n_decode; i++)
    if (!decode_timed (context, &batch, &decode_us, error))
      return FALSE;
  result->prefill = args->n_prefill * 1e6 / (double) MAX (prefill_us, 1);
  result->decode = args->n_decode * 1e6 / (double) MAX (decode_us, 1);
  return TRUE;
}

static KvasirContext *
open_context (KvasirDevice *device, const char *name, const BenchArgs *args, GError **error)
{
  const KvasirModelParams model_params = { .device = device };
  g_autofree char *path = kvasir_cli_find_file (name, error);
  g_autoptr (KvasirModel) model = NULL;
  KvasirContextParams params;

  if (path == NULL)
    return NULL;
  model = kvasir_model_new (path, &model_params, error);
  if (model == NULL)
    return NULL;
  kvasir_context_params_init (&params);
  params.n_ctx = (guint) MAX (args->n_prefill, WARM_PREFILL) + (guint) args->n_decode +
                 (guint) args->depth + WARM_DECODE;
  params.n_batch = params.n_ctx;
  params.n_seq_max = 1;
  if (!kvasir_cli_set_cache_type ("type-k", args->type_k, &params.type_k, error) ||
      !kvasir_cli_set_cache_type ("type-v", args->type_v, &params.type_v, error))
    return NULL;
  return kvasir_context_new (model, &params, error);
}

static void
print_result (const char *name, gint n, double per_second)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  g_print ("%-8s %6d tokens %10s tokens/s\n", name, n,
           g_ascii_formatd (number, sizeof number, "%.1f", per_second));
}

static int
bench (const KvasirDeviceArgs *device_args, const char *name, const BenchArgs *args, gboolean json)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirDevice) device = kvasir_cli_open_device (device_args, &error);
  g_autoptr (KvasirContext) context = NULL;
  const BenchArgs warm_up = { WARM_PREFILL, WARM_DECODE, 0, NULL, NULL };
  BenchResult result = { 0, 0 };

  if (device == NULL)
    return kvasir_cli_fail (error);
  context = open_context (device, name, args, &error);
  if (context == NULL || !measure (context, &warm_up, &result, &error) ||
      !measure (context, args, &result, &error))
    return kvasir_cli_fail (error);
  if (json)
    kvasir_cli_print_json (
        json_pack ("{s:f, s:f}", "prefill", result.prefill, "decode", result.decode));
  else
    {
      g_print ("%s\n", device->description);
      print_result ("prefill", args->n_prefill, result.prefill);
      print_result ("decode", args->n_decode, result.decode);
    }
  return KVASIR_EXIT_OK;
}

static int
bench_draft (const KvasirDeviceArgs *device_args, KvasirDraftBench *draft, gboolean json)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirDevice) device = kvasir_cli_open_device (device_args, &error);
  g_autofree char *path = device != NULL ? kvasir_cli_find_file (draft->path, &error) : NULL;
  KvasirDraftResult result;

  if (path == NULL)
    return kvasir_cli_fail (error);
  draft->path = path;
  if (!kvasir_bench_draft (device, draft, &result, &error))
    return kvasir_cli_fail (error);
  if (json)
    kvasir_cli_print_json (kvasir_bench_draft_to_json (&result));
  else
    kvasir_bench_draft_print (&result);
  return KVASIR_EXIT_OK;
}

/* As in a chat, with the types that are asked for; states are kept for wrong guesses to go back to.
 */
static gboolean
fill_draft (const BenchArgs *args,
            KvasirDraftArgs *draft_args,
            KvasirDraftBench *draft,
            GError **error)
{
  if (!kvasir_draft_args_settle (draft_args, &draft->guesses, error))
    return FALSE;
  kvasir_context_params_init (&draft->context);
  draft->context.n_seq_max = 1;
  draft->context.n_rs_seq = draft->guesses.width;
  draft->n_tokens = (guint) args->n_decode;
  return kvasir_cli_set_cache_type ("type-k", args->type_k, &draft->context.type_k, error) &&
         kvasir_cli_set_cache_type ("type-v", args->type_v, &draft->context.type_v, error);
}

int
kvasir_cli_bench (int argc, char **argv)
{
  BenchArgs args = { 512, 64, 0, NULL, NULL };
  KvasirDeviceArgs device_args = { NULL, 0 };
  g_auto (KvasirDraftArgs) draft_args = { 0 };
  g_autofree char *prompt = NULL;
  g_autoptr (GError) error = NULL;
  KvasirDraftBench draft = { 0 };
  gboolean json = FALSE;
  const GOptionEntry entries[] = {
    { "prefill", 0, 0, G_OPTION_ARG_INT, &args.n_prefill, "Tokens read at once (default 512)",
      "N" },
    { "decode", 0, 0, G_OPTION_ARG_INT, &args.n_decode, "Tokens written one by one (default 64)",
      "N" },
    { "depth", 0, 0, G_OPTION_ARG_INT, &args.depth, "Tokens in the cache beforehand (default 0)",
      "N" },
    { "type-k", 0, 0, G_OPTION_ARG_STRING, &args.type_k, "Type of keys (default f16)", "TYPE" },
    { "type-v", 0, 0, G_OPTION_ARG_STRING, &args.type_v, "Type of values (default f16)", "TYPE" },
    KVASIR_DRAFT_ENTRIES (&draft_args),
    { "prompt", 0, 0, G_OPTION_ARG_STRING, &prompt,
      "With --draft or --draft-model: what the text is written after", "TEXT" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  const KvasirCommandLine line = { "FILE.gguf - measure reading and writing speed", entries,
                                   &device_args, 1, 1 };
  g_autofree char *isa = NULL, *type_k = NULL, *type_v = NULL;
  int status;
  gboolean ok = kvasir_cli_parse (&line, &argc, &argv, &status);

  isa = device_args.isa;
  type_k = args.type_k;
  type_v = args.type_v;
  if (!ok)
    return status;
  if (args.n_prefill < 1 || args.n_prefill > 1 << 20 || args.n_decode < 1 ||
      args.n_decode > 1 << 20 || args.depth < 0 || args.depth > 1 << 20)
    {
      g_printerr ("kvasir-cli: --prefill and --decode: 1 to %d expected, --depth: 0 to %d\n",
                  1 << 20, 1 << 20);
      return KVASIR_EXIT_USAGE;
    }
  if (!fill_draft (&args, &draft_args, &draft, &error))
    return kvasir_cli_fail (error);
  if (draft.guesses.kind == KVASIR_GUESS_OFF)
    return bench (&device_args, argv[1], &args, json);
  draft.path = argv[1];
  draft.prompt = prompt;
  return bench_draft (&device_args, &draft, json);
}
