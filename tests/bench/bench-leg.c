/* Our end of the comparison with other programs; peer.py drives it.
 *
 *   bench-leg FILE --prefill N | --decode | --step N | --load [--depth N] [--type f16|q8_0]
 *             [--threads N] [--isa NAME]
 *
 * Loads, warms up and prints one line of JSON: the time from opening the file to the first token,
 * what the memory was planned to take, and what a few tokens are continued with, which the other
 * programs must continue them with too. A step has N tokens, all of whose logits are asked for, as
 * when guesses are checked or several chats written. Then each line of the input, a number of
 * seconds, is one measurement, answered by a line with tokens per second. With --load it ends after
 * the first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backends/cpu/cpu.h"
#include "engine/session/context.h"

#define N_CTX 4096
/* As far as a cache may grow beyond the depth that is asked for. */
#define N_MORE 256
/* Tokens written before the cache is set back to its depth. */
#define N_DECODE 32
#define MAX_STEP N_DECODE
#define N_PROMPT 16
#define N_GREEDY 16
/* What the prompt draws its tokens from, but the first, which are often special. */
#define MAX_TOKENS 40000
#define WARM_SECONDS 1.0
#define REST_US 50000
#define REST_TRIES 200

typedef struct
{
  gint n_prefill; /* 0: write tokens */
  gint n_step;    /* of them at once */
  gint depth;     /* in the cache beforehand */
  gint n_threads;
  gboolean only_load;
  char *type;
  char *isa; /* (nullable) */
} LegArgs;

typedef struct
{
  const LegArgs *args;
  KvasirContext *context;
  guint n_vocab;
  gint32 *tokens;                       /* of any prompt */
  double model_ms, context_ms, load_ms; /* of the time from the start, when each was there */
} Leg;

static double
get_seconds (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

/* What reads the answers of this program shows its last line. */
static void
give_up (const GError *error)
{
  g_printerr ("%s\n", error->message);
  exit (3);
}

static void
decode_batch (Leg *leg, const KvasirBatch *batch)
{
  g_autoptr (GError) error = NULL;

  if (kvasir_context_decode (leg->context, batch, &error) != KVASIR_DECODE_OK)
    give_up (error);
}

static void
decode (Leg *leg, const gint32 *tokens, guint n_tokens)
{
  decode_batch (leg, &(KvasirBatch){ .n_tokens = n_tokens, .tokens = tokens });
}

/* All its logits are asked for. */
static void
decode_step (Leg *leg, const gint32 *tokens, guint n_tokens)
{
  guint8 outputs[MAX_STEP];

  memset (outputs, 1, sizeof outputs);
  decode_batch (leg, &(KvasirBatch){ .n_tokens = n_tokens, .tokens = tokens, .outputs = outputs });
}

static void
read_prompt (Leg *leg, guint n_tokens)
{
  const guint n_batch = kvasir_context_get_params (leg->context)->n_batch;

  for (guint at = 0; at < n_tokens; at += n_batch)
    decode (leg, leg->tokens + at, MIN (n_batch, n_tokens - at));
}

static gint32
pick_best (Leg *leg, guint index)
{
  const float *logits = kvasir_context_get_logits_of_token (leg->context, index);
  gint32 best = 0;

  for (guint i = 1; i < leg->n_vocab; i++)
    if (logits[i] > logits[best])
      best = (gint32) i;
  return best;
}

/* ---- opening */

static KvasirContext *
open_context (KvasirModel *model, const LegArgs *args, GError **error)
{
  KvasirContextParams params;

  kvasir_context_params_init (&params);
  params.n_ctx = MAX (N_CTX, (guint) MAX (args->depth, args->n_prefill) + N_MORE);
  params.n_seq_max = 1;
  params.n_batch = 2048;
  params.n_ubatch = 512;
  if (strcmp (args->type, "q8_0") == 0)
    params.type_k = params.type_v = KVASIR_TYPE_Q8_0;
  return kvasir_context_new (model, &params, error);
}

static void
open_leg (Leg *leg, KvasirDevice *device, const char *path, const LegArgs *args)
{
  const KvasirModelParams params = { .device = device };
  const double begin = get_seconds ();
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &params, &error);
  gint32 first = N_PROMPT;

  leg->args = args;
  leg->model_ms = (get_seconds () - begin) * 1e3;
  leg->context = model != NULL ? open_context (model, args, &error) : NULL;
  if (leg->context == NULL)
    give_up (error);
  leg->context_ms = (get_seconds () - begin) * 1e3;
  decode (leg, &first, 1);
  leg->n_vocab = kvasir_model_get_info (kvasir_context_get_model (leg->context))->n_vocab;
  pick_best (leg, 0);
  leg->load_ms = (get_seconds () - begin) * 1e3;
  leg->tokens = g_new (gint32, N_CTX + MAX (args->depth, args->n_prefill));
  for (gint i = 0; i < N_CTX + MAX (args->depth, args->n_prefill); i++)
    leg->tokens[i] = (i * 7919 + 13) % (gint32) (MIN (leg->n_vocab, MAX_TOKENS) - 20) + 20;
}

/* ---- what it tells before anything is measured */

/* All matrices but the table of tokens, a row of which is read and not multiplied. */
static guint64
count_multiplied (const char *path)
{
  g_autoptr (KvasirGguf) gguf = kvasir_gguf_open (path, NULL);
  guint64 n = 0;

  for (guint i = 0; gguf != NULL && i < kvasir_gguf_get_n_tensors (gguf); i++)
    {
      const KvasirGgufTensor *t = kvasir_gguf_get_tensor (gguf, i);
      if (t->n_dims > 1 && !g_str_has_prefix (t->name, "token_embd") &&
          !g_str_has_prefix (t->name, "output."))
        n += (guint64) t->ne[0] * (guint64) t->ne[1] * (guint64) t->ne[2];
    }
  return n;
}

static void
print_memory (Leg *leg)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (KvasirMemoryRow));
  guint64 weights = 0, others = 0;

  kvasir_context_append_breakdown (leg->context, rows);
  for (guint i = 0; i < rows->len; i++)
    {
      const KvasirMemoryRow *row = &g_array_index (rows, KvasirMemoryRow, i);
      if (row->kind == KVASIR_KIND_WEIGHTS)
        weights += row->n_bytes;
      else
        others += row->n_bytes;
    }
  printf ("\"weights\": %" G_GUINT64_FORMAT ", \"buffers\": %" G_GUINT64_FORMAT, weights, others);
}

static void
print_greedy (Leg *leg)
{
  gint32 token;

  kvasir_memory_clear (kvasir_context_get_memory (leg->context), FALSE);
  read_prompt (leg, N_PROMPT);
  token = pick_best (leg, N_PROMPT - 1);
  for (guint i = 0; i < N_GREEDY; i++)
    {
      printf ("%s%d", i > 0 ? ", " : "", token);
      decode (leg, &token, 1);
      token = pick_best (leg, 0);
    }
}

static void
print_card (Leg *leg, const char *path)
{
  printf ("{\"model_ms\": %.2f, \"context_ms\": %.2f, \"load_ms\": %.2f, ", leg->model_ms,
          leg->context_ms, leg->load_ms);
  printf ("\"multiplied\": %" G_GUINT64_FORMAT ", ", count_multiplied (path));
  print_memory (leg);
  printf (", \"greedy\": [");
  print_greedy (leg);
  printf ("]}\n");
  fflush (stdout);
}

/* ---- measuring */

/* Returns: the tokens done */
static guint
run_once (Leg *leg)
{
  KvasirMemory *memory = kvasir_context_get_memory (leg->context);
  const guint n_prefill = (guint) leg->args->n_prefill, n_step = (guint) leg->args->n_step;

  if (n_prefill > 0)
    {
      kvasir_memory_clear (memory, FALSE);
      read_prompt (leg, n_prefill);
      return n_prefill;
    }
  kvasir_memory_seq_rm (memory, 0, leg->args->depth, -1);
  for (guint i = 0; i + n_step <= N_DECODE; i += n_step)
    decode_step (leg, leg->tokens + i, n_step);
  return N_DECODE / n_step * n_step;
}

static double
measure (Leg *leg, double seconds)
{
  const double begin = get_seconds ();
  guint n = 0;

  do
    n += run_once (leg);
  while (get_seconds () - begin < seconds);
  return n / (get_seconds () - begin);
}

/* The most that was resident at once. */
static guint64
get_peak_bytes (void)
{
  g_autofree char *status = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    return 0;
  line = strstr (status, "VmHWM:");
  return line != NULL ? g_ascii_strtoull (line + strlen ("VmHWM:"), NULL, 10) * 1024 : 0;
}

/* What goes on behind after loading, weights put into another order, would be measured too. */
static void
wait_for_rest (void)
{
  struct timespec before, after;

  for (guint i = 0; i < REST_TRIES; i++)
    {
      clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &before);
      g_usleep (REST_US);
      clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &after);
      if ((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec <
          REST_US * 1000L / 20)
        return;
    }
}

static void
serve (Leg *leg)
{
  char line[64];

  wait_for_rest ();
  kvasir_memory_clear (kvasir_context_get_memory (leg->context), FALSE);
  read_prompt (leg, (guint) leg->args->depth);
  measure (leg, WARM_SECONDS);
  while (fgets (line, sizeof line, stdin) != NULL)
    {
      const double rate = measure (leg, g_ascii_strtod (line, NULL));
      printf ("{\"rate\": %.3f, \"peak\": %" G_GUINT64_FORMAT "}\n", rate, get_peak_bytes ());
      fflush (stdout);
    }
}

static gboolean
parse (LegArgs *args, int *argc, char ***argv)
{
  gboolean decodes = FALSE;
  const GOptionEntry entries[] = {
    { "prefill", 0, 0, G_OPTION_ARG_INT, &args->n_prefill, "Read prompts of N tokens", "N" },
    { "decode", 0, 0, G_OPTION_ARG_NONE, &decodes, "Write tokens", NULL },
    { "step", 0, 0, G_OPTION_ARG_INT, &args->n_step, "Write N tokens at once", "N" },
    { "load", 0, 0, G_OPTION_ARG_NONE, &args->only_load, "Load and end", NULL },
    { "depth", 0, 0, G_OPTION_ARG_INT, &args->depth, "Tokens in the cache beforehand", "N" },
    { "type", 0, 0, G_OPTION_ARG_STRING, &args->type, "Type of the cache", "TYPE" },
    { "threads", 0, 0, G_OPTION_ARG_INT, &args->n_threads, "Threads", "N" },
    { "isa", 0, 0, G_OPTION_ARG_STRING, &args->isa, "Instruction set", "NAME" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("FILE.gguf");
  g_autoptr (GError) error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  if (g_option_context_parse (context, argc, argv, &error) && *argc == 2 &&
      (args->n_prefill > 0) + decodes + (args->n_step > 0) + args->only_load == 1)
    {
      args->n_step = CLAMP (args->n_step, 1, MAX_STEP);
      return TRUE;
    }
  g_printerr ("%s\n", error != NULL ? error->message : "one file and one thing to do expected");
  return FALSE;
}

int
main (int argc, char **argv)
{
  LegArgs args = { .type = (char *) "f16" };
  KvasirCpuOptions options = { 0 };
  KvasirDevice *device;
  Leg leg = { 0 };

  if (!parse (&args, &argc, &argv))
    return 2;
  options.n_threads = args.n_threads;
  if (args.isa != NULL && !kvasir_cpu_isa_find (args.isa, &options.isa))
    return 2;
  device = kvasir_cpu_device_new (&options);
  if (device == NULL)
    return 1;
  open_leg (&leg, device, argv[1], &args);
  print_card (&leg, argv[1]);
  if (!args.only_load)
    serve (&leg);
  g_free (leg.tokens);
  kvasir_context_free (leg.context);
  device->vtable->free (device);
  return 0;
}
