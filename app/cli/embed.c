/* kvasir-cli embed: what an encoder makes of texts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/cli.h"
#include "engine/error.h"

/* Values shown to people. */
#define N_SHOWN 6

typedef struct
{
  gboolean json;
  gboolean raw; /* as the model gives them, not of length 1 */
} EmbedArgs;

/* A text, and its rows: one, or one for each token where the model does not pool. */
typedef struct
{
  const char *text; /* (unowned) */
  GArray *ids;      /* (owned) of gint32 */
  float *rows;      /* (owned): [n_rows][n_embd] */
  guint n_rows;
} Text;

static void
clear_text (gpointer data)
{
  Text *text = data;

  g_array_unref (text->ids);
  g_free (text->rows);
}

/* ---- texts ------------------------------------------------------------------------------ */

/* The arguments behind the file, or the lines of the input that are not empty.
 * Returns: (transfer full) */
static char **
take_texts (int argc, char **argv, GError **error)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  g_autofree char *input = NULL;
  g_auto (GStrv) lines = NULL;

  for (int i = 2; i < argc; i++)
    g_strv_builder_add (builder, argv[i]);
  if (argc > 2)
    return g_strv_builder_end (builder);
  input = kvasir_cli_read_stream (stdin, error);
  if (input == NULL)
    {
      g_prefix_error (error, "standard input: ");
      return NULL;
    }
  lines = g_strsplit (input, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      g_strv_builder_add (builder, lines[i]);
  return g_strv_builder_end (builder);
}

/* What stands in a text is text: it names no control token. */
static gboolean
tokenize (KvasirModel *model, const char *source, guint number, Text *text, GError **error)
{
  const guint most = kvasir_model_get_info (model)->n_ctx_train;

  text->text = source;
  text->ids = g_array_new (FALSE, FALSE, sizeof (gint32));
  if (!g_utf8_validate (source, -1, NULL))
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                   "text %u: UTF-8 expected, something else found", number);
      return FALSE;
    }
  if (!kvasir_vocab_tokenize (kvasir_model_get_vocab (model), source, -1, TRUE, FALSE, text->ids,
                              error))
    return FALSE;
  if (text->ids->len >= 1 && text->ids->len <= most)
    return TRUE;
  g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
               "text %u: 1 to %u tokens expected, %u found", number, most, text->ids->len);
  return FALSE;
}

/* Returns: (transfer full): of Text */
static GArray *
tokenize_all (KvasirModel *model, char **sources, GError **error)
{
  g_autoptr (GArray) texts = g_array_new (FALSE, TRUE, sizeof (Text));

  g_array_set_clear_func (texts, clear_text);
  for (guint i = 0; sources[i] != NULL; i++)
    {
      g_array_set_size (texts, i + 1);
      if (!tokenize (model, sources[i], i + 1, &g_array_index (texts, Text, i), error))
        return NULL;
    }
  if (texts->len > 0)
    return g_steal_pointer (&texts);
  g_set_error_literal (error, KVASIR_CLI_ERROR, KVASIR_EXIT_USAGE,
                       "texts expected, as arguments or lines of the input, none found");
  return NULL;
}

/* ---- rows ------------------------------------------------------------------------------- */

static KvasirModel *
open_model (KvasirDevice *device, const char *name, GError **error)
{
  const KvasirModelParams params = { .device = device };
  g_autofree char *path = kvasir_cli_find_file (name, error);
  g_autoptr (KvasirModel) model = NULL;

  if (path == NULL)
    return NULL;
  model = kvasir_model_new (path, &params, error);
  if (model == NULL)
    return NULL;
  if (kvasir_model_get_info (model)->memory_class == KVASIR_MEMORY_NONE)
    return g_steal_pointer (&model);
  g_set_error (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_UNSUPPORTED,
               "%s: an encoder expected, \"%s\" found, which writes text", path,
               kvasir_model_get_info (model)->arch);
  return NULL;
}

/* An encoder reads a text as a whole, so the longest one must fit. */
static KvasirContext *
open_context (KvasirModel *model, const GArray *texts, GError **error)
{
  KvasirContextParams params;
  guint longest = 1;

  for (guint i = 0; i < texts->len; i++)
    longest = MAX (longest, g_array_index (texts, Text, i).ids->len);
  kvasir_context_params_init (&params);
  params.n_ctx = params.n_batch = params.n_ubatch = longest;
  params.n_seq_max = 1;
  return kvasir_context_new (model, &params, error);
}

static void
scale_to_one (float *row, guint n)
{
  double sum = 0;

  for (guint i = 0; i < n; i++)
    sum += (double) row[i] * (double) row[i];
  for (guint i = 0; i < n && sum > 0; i++)
    row[i] = (float) ((double) row[i] / sqrt (sum));
}

static gboolean
embed_text (KvasirContext *context, Text *text, gboolean raw, GError **error)
{
  const guint n_tokens = text->ids->len, n_embd = kvasir_context_get_n_embd (context);
  g_autofree guint8 *outputs = g_new (guint8, n_tokens);
  const KvasirBatch batch = { .n_tokens = n_tokens,
                              .tokens = (const gint32 *) (gpointer) text->ids->data,
                              .outputs = outputs };
  const float *pooled;

  memset (outputs, 1, n_tokens);
  if (kvasir_context_decode (context, &batch, error) != KVASIR_DECODE_OK)
    return FALSE;
  pooled = kvasir_context_get_embedding_of_seq (context, 0);
  text->n_rows = pooled != NULL ? 1 : n_tokens;
  text->rows = g_new (float, (gsize) text->n_rows *n_embd);
  for (guint i = 0; i < text->n_rows; i++)
    {
      const float *row =
          pooled != NULL ? pooled : kvasir_context_get_embedding_of_token (context, i);
      float *own = text->rows + (gsize) i * n_embd;

      memcpy (own, row, n_embd * sizeof *own);
      if (!raw)
        scale_to_one (own, n_embd);
    }
  return TRUE;
}

/* ---- output ----------------------------------------------------------------------------- */

static void
print_json (const Text *text, guint n_embd)
{
  json_t *rows = json_array ();

  for (guint i = 0; i < text->n_rows; i++)
    {
      json_t *row = json_array ();
      for (guint j = 0; j < n_embd; j++)
        json_array_append_new (row,
                               kvasir_cli_json_real ((double) text->rows[(gsize) i * n_embd + j]));
      json_array_append_new (rows, row);
    }
  kvasir_cli_print_json (json_pack ("{s:o, s:i, s:o}", "text", kvasir_cli_json_text (text->text),
                                    "n_tokens", (int) text->ids->len, "rows", rows));
}

static void
print_number (const char *format, double value)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_print (" %9s", g_ascii_formatd (number, sizeof number, format, value));
}

static void
print_row (const float *row, guint n)
{
  for (guint i = 0; i < MIN (n, N_SHOWN); i++)
    print_number ("%.5f", (double) row[i]);
  g_print ("%s\n", n > N_SHOWN ? " …" : "");
}

static double
find_cosine (const float *a, const float *b, guint n)
{
  double ab = 0, aa = 0, bb = 0;

  for (guint i = 0; i < n; i++)
    {
      ab += (double) a[i] * (double) b[i];
      aa += (double) a[i] * (double) a[i];
      bb += (double) b[i] * (double) b[i];
    }
  return aa > 0 && bb > 0 ? ab / sqrt (aa * bb) : 0;
}

/* How near every text is to every other. */
static void
print_nearness (const GArray *texts, guint n_embd)
{
  g_print ("\ncosine between texts\n");
  for (guint i = 0; i < texts->len; i++)
    {
      g_print ("%4u", i + 1);
      for (guint j = 0; j <= i; j++)
        print_number ("%.4f", find_cosine (g_array_index (texts, Text, i).rows,
                                           g_array_index (texts, Text, j).rows, n_embd));
      g_print ("\n");
    }
}

static void
print_text (const GArray *texts, guint n_embd)
{
  gboolean is_pooled = TRUE;

  for (guint i = 0; i < texts->len; i++)
    {
      const Text *text = &g_array_index (texts, Text, i);

      is_pooled &= text->n_rows == 1;
      g_print ("text %u: %u tokens, %u × %u values\n", i + 1, text->ids->len, text->n_rows, n_embd);
      for (guint r = 0; r < text->n_rows; r++)
        print_row (text->rows + (gsize) r * n_embd, n_embd);
    }
  if (is_pooled && texts->len > 1)
    print_nearness (texts, n_embd);
}

static gboolean
embed (
    KvasirDevice *device, const char *name, char **sources, const EmbedArgs *args, GError **error)
{
  g_autoptr (KvasirModel) model = open_model (device, name, error);
  g_autoptr (KvasirContext) context = NULL;
  g_autoptr (GArray) texts = NULL;

  if (model == NULL)
    return FALSE;
  texts = tokenize_all (model, sources, error);
  if (texts == NULL)
    return FALSE;
  context = open_context (model, texts, error);
  if (context == NULL)
    return FALSE;
  for (guint i = 0; i < texts->len; i++)
    {
      if (!embed_text (context, &g_array_index (texts, Text, i), args->raw, error))
        return FALSE;
      if (args->json)
        print_json (&g_array_index (texts, Text, i), kvasir_context_get_n_embd (context));
    }
  if (!args->json)
    print_text (texts, kvasir_context_get_n_embd (context));
  return TRUE;
}

static int
run (const KvasirDeviceArgs *device_args, int argc, char **argv, const EmbedArgs *args)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirDevice) device = kvasir_cli_open_device (device_args, &error);
  g_auto (GStrv) sources = device != NULL ? take_texts (argc, argv, &error) : NULL;

  if (sources == NULL || !embed (device, argv[1], sources, args, &error))
    return kvasir_cli_fail (error);
  return KVASIR_EXIT_OK;
}

int
kvasir_cli_embed (int argc, char **argv)
{
  EmbedArgs args = { FALSE, FALSE };
  KvasirDeviceArgs device_args = { NULL, 0 };
  const GOptionEntry entries[] = {
    { "raw", 0, 0, G_OPTION_ARG_NONE, &args.raw, "Values as the model gives them, not of length 1",
      NULL },
    { "json", 0, 0, G_OPTION_ARG_NONE, &args.json, "Print one JSON object for each text", NULL },
    G_OPTION_ENTRY_NULL,
  };
  const KvasirCommandLine line = {
    "FILE.gguf [TEXT...] - what an encoder makes of texts, or of the "
    "lines of the input",
    entries, &device_args, 1, G_MAXINT16
  };
  g_autofree char *isa = NULL;
  int status;
  gboolean ok = kvasir_cli_parse (&line, &argc, &argv, &status);

  isa = device_args.isa;
  return ok ? run (&device_args, argc, argv, &args) : status;
}
