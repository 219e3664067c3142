/* kvasir-cli run: plays a scenario file. */
#include "app/cli/scenario.h"

static void
report_ubatch (const KvasirUbatch *ubatch, guint n_done, gpointer user_data)
{
  KvasirPlayer *player = user_data;

  if (player->report.ubatches != NULL)
    json_array_append_new (player->report.ubatches,
                           kvasir_scenario_make_ubatch (player->memory, ubatch));
  if (player->report.mask != NULL)
    json_array_append_new (player->report.mask, kvasir_scenario_make_mask (player->memory, ubatch));
}

static void
set_if (json_t *out, const char *name, json_t *value)
{
  if (value != NULL)
    json_object_set_new (out, name, value);
}

static gboolean
is_text_op (KvasirOpKind kind)
{
  return kind == KVASIR_OP_KIND_TOKENIZE || kind == KVASIR_OP_KIND_DETOKENIZE ||
         kind == KVASIR_OP_KIND_TEMPLATE;
}

/* What a decode gave: logits, or what an encoder gives in their place. */
static void
add_rows (KvasirPlayer *player, const KvasirScenarioOp *op, json_t *out)
{
  const guint n_seq_max = kvasir_context_get_params (player->context)->n_seq_max;

  if (player->is_encoder)
    json_object_set_new (
        out, "embd", kvasir_scenario_make_embeddings (player->context, op->tokens->len, n_seq_max));
  else
    json_object_set_new (
        out, "logits",
        kvasir_scenario_make_logits (player->context, op->tokens->len,
                                     kvasir_model_get_info (player->model)->n_vocab));
}

/* Adds what the operation left behind, as far as it is to be made. */
static void
add_traces (KvasirPlayer *player, const KvasirScenarioOp *op, json_t *out)
{
  const gboolean is_decode = op->kind == KVASIR_OP_KIND_DECODE;
  const gboolean is_ok = json_integer_value (json_object_get (out, "ret")) == 0;

  if (player->memory != NULL && op->make.state && !is_text_op (op->kind))
    json_object_set_new (
        out, "state",
        kvasir_scenario_make_state (player->memory,
                                    kvasir_context_get_params (player->context)->n_seq_max));
  if (player->memory != NULL && is_decode && is_ok && op->make.logits)
    add_rows (player, op, out);
  if (json_array_size (player->report.ubatches) > 0 || json_array_size (player->report.mask) > 0)
    {
      set_if (out, "ubatches", json_incref (player->report.ubatches));
      set_if (out, "mask", json_incref (player->report.mask));
    }
}

static void
drop_unemitted (const KvasirScenarioOp *op, json_t *out)
{
  if (!op->emit.state)
    json_object_del (out, "state");
  if (!op->emit.logits)
    {
      json_object_del (out, "logits");
      json_object_del (out, "embd");
    }
  if (!op->emit.ubatches)
    json_object_del (out, "ubatches");
  if (!op->emit.mask)
    json_object_del (out, "mask");
}

/* @holds: becomes FALSE where the operation is not as it expects */
static gboolean
play_op (KvasirPlayer *player, guint n, gboolean *holds, GError **error)
{
  const KvasirScenarioOp *op = g_ptr_array_index (player->scenario->ops, n);
  g_autofree char *message = NULL, *difference = NULL;
  json_t *ret, *out;

  player->report.ubatches = op->make.ubatches ? json_array () : NULL;
  player->report.mask = op->make.mask ? json_array () : NULL;
  if (!kvasir_player_execute (player, op, &ret, &message, error))
    return FALSE;
  out = json_pack ("{s:i, s:s}", "n", (int) n, "op", kvasir_scenario_get_op_name (op->kind));
  set_if (out, "id", json_incref ((json_t *) op->id));
  json_object_set_new (out, "ret", ret);
  if (message != NULL)
    json_object_set_new (out, "error", kvasir_cli_json_text (message));
  add_traces (player, op, out);
  json_decref (player->report.ubatches);
  json_decref (player->report.mask);
  if (op->expect != NULL)
    difference = kvasir_scenario_compare (op->expect, out);
  if (difference != NULL)
    {
      *holds = FALSE;
      g_printerr ("%s:%u: %s: %s\n", player->scenario->path, op->line,
                  kvasir_scenario_get_op_name (op->kind), difference);
    }
  drop_unemitted (op, out);
  kvasir_cli_print_json (out);
  return TRUE;
}

static gboolean
open_model (KvasirPlayer *player, KvasirDevice *device, char **dirs, GError **error)
{
  const KvasirScenario *scenario = player->scenario;
  const KvasirModelParams params = { .device = device, .vocab_only = scenario->vocab_only };
  g_autofree char *path = kvasir_cli_find_model (scenario->model, scenario->path, dirs, error);

  if (path == NULL)
    return FALSE;
  player->model = kvasir_model_new (path, &params, error);
  if (player->model == NULL || scenario->vocab_only)
    return player->model != NULL;
  player->context = kvasir_context_new (player->model, &scenario->params, error);
  if (player->context == NULL)
    return FALSE;
  player->memory = kvasir_context_get_memory (player->context);
  /* Traces have cuts behind a window carried out; going on from there is refused. */
  kvasir_memory_set_lenient (player->memory, TRUE);
  player->is_encoder = kvasir_memory_get_class (player->memory) == KVASIR_MEMORY_NONE;
  kvasir_context_set_ubatch_callback (player->context, report_ubatch, player);
  player->best = g_new (gint32, scenario->params.n_seq_max);
  for (guint i = 0; i < scenario->params.n_seq_max; i++)
    player->best[i] = -1;
  return TRUE;
}

static void
close_player (KvasirPlayer *player)
{
  g_clear_pointer (&player->saved, g_hash_table_unref);
  g_clear_pointer (&player->context, kvasir_context_free);
  g_clear_pointer (&player->model, kvasir_model_unref);
  g_free (player->best);
}

static int
play (const KvasirScenario *scenario, KvasirDevice *device, char **dirs)
{
  KvasirPlayer player = { .scenario = scenario };
  g_autoptr (GError) error = NULL;
  gboolean holds = TRUE, ok = open_model (&player, device, dirs, &error);

  for (guint i = 0; ok && i < scenario->ops->len; i++)
    ok = play_op (&player, i, &holds, &error);
  close_player (&player);
  if (!ok)
    return kvasir_cli_fail (error);
  return holds ? KVASIR_EXIT_OK : KVASIR_EXIT_EXPECT;
}

int
kvasir_cli_run (int argc, char **argv)
{
  g_auto (GStrv) dirs = NULL;
  KvasirDeviceArgs device_args = { NULL, 0 };
  const GOptionEntry entries[] = {
    { "models", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &dirs, "Look for models in DIR", "DIR" },
    G_OPTION_ENTRY_NULL,
  };
  const KvasirCommandLine line = { "FILE.jsonl - play a scenario, print one object per operation",
                                   entries, &device_args, 1, 1 };
  g_autoptr (KvasirScenario) scenario = NULL;
  g_autoptr (KvasirDevice) device = NULL;
  g_autofree char *isa = NULL;
  g_autoptr (GError) error = NULL;
  int status;

  gboolean ok = kvasir_cli_parse (&line, &argc, &argv, &status);

  isa = device_args.isa;
  if (!ok)
    return status;
  scenario = kvasir_scenario_read (argv[1], &error);
  if (scenario == NULL)
    return kvasir_cli_fail (error);
  if (device_args.n_threads > 0)
    scenario->params.n_threads = (guint) device_args.n_threads;
  else
    device_args.n_threads = (int) scenario->params.n_threads;
  device_args.as_traces = TRUE;
  device = kvasir_cli_open_device (&device_args, &error);
  if (device == NULL)
    return kvasir_cli_fail (error);
  return play (scenario, device, dirs);
}
