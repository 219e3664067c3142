#include "app/cli/bench-draft.h"

#include "app/cli/cli.h"
#include "app/cli/draft-args.h"
#include "engine/session/session.h"

#define PROMPT                                                                                     \
  "Repeat this list word for word, three times: apple tree, pear tree, cherry tree, plum tree, "   \
  "walnut tree, apple tree, pear tree, cherry tree, plum tree, walnut tree."

/* One turn. */
typedef struct
{
  GArray *tokens; /* (owned) of gint32 */
  guint n_guessed, n_right;
  gint64 us; /* of writing */
  GError *error;
} Turn;

static void
post_cb (KvasirNotice *notice, gpointer user_data)
{
  Turn *turn = user_data;

  if (notice->kind == KVASIR_NOTICE_TOKEN)
    g_array_append_val (turn->tokens, notice->token);
  if (notice->kind == KVASIR_NOTICE_FAILED)
    g_propagate_error (&turn->error, g_steal_pointer (&notice->error));
  if (notice->kind == KVASIR_NOTICE_DONE)
    {
      turn->us = notice->us;
      turn->n_guessed = notice->n_guessed;
      turn->n_right = notice->n_right;
    }
  kvasir_notice_free (notice);
}

static void
emit_cb (gpointer user_data, const KvasirEvent *event, const gint32 *data, guint n_data)
{
}

static KvasirContext *
open_context (KvasirDevice *device,
              const char *path,
              const KvasirContextParams *params,
              GError **error)
{
  const KvasirModelParams model_params = { .device = device };
  g_autoptr (KvasirModel) model = kvasir_model_new (path, &model_params, error);

  return model != NULL ? kvasir_context_new (model, params, error) : NULL;
}

static KvasirRequest *
make_request (const KvasirDraftBench *bench)
{
  KvasirRequest *request = kvasir_request_new (1, 2);

  request->sampling.temperature = 0;
  request->max_tokens = bench->n_tokens;
  g_ptr_array_add (
      request->messages,
      kvasir_message_new (1, KVASIR_ROLE_USER, bench->prompt != NULL ? bench->prompt : PROMPT));
  return request;
}

static gboolean
set_guesses (KvasirSession *session,
             KvasirDevice *device,
             const KvasirDraftBench *bench,
             GError **error)
{
  KvasirContextParams params = bench->context;
  KvasirContext *context = NULL;

  if (bench->guesses.kind == KVASIR_GUESS_MODEL)
    {
      params.n_ctx = kvasir_context_get_n_ctx_seq (kvasir_session_get_context (session));
      context = open_context (device, bench->guesses.path, &params, error);
      if (context == NULL)
        return FALSE;
    }
  return kvasir_session_set_guesses (session, &bench->guesses, context, error);
}

/* Each turn has a model and memory of its own, so that none finds what another one left. */
static gboolean
run_turn (KvasirDevice *device,
          const KvasirDraftBench *bench,
          gboolean guesses,
          Turn *turn,
          GError **error)
{
  const int abort_flag = 0;
  const KvasirSessionHooks hooks = { post_cb, emit_cb, NULL, turn };
  KvasirContext *context = open_context (device, bench->path, &bench->context, error);

  if (context == NULL)
    return FALSE;
  if (kvasir_memory_get_class (kvasir_context_get_memory (context)) == KVASIR_MEMORY_NONE)
    {
      g_set_error (error, KVASIR_CLI_ERROR, KVASIR_EXIT_MODEL,
                   "%s: a model that writes text expected, an encoder found", bench->path);
      kvasir_context_free (context);
      return FALSE;
    }
  g_autoptr (KvasirSession) session = kvasir_session_new (context, &abort_flag, &hooks);
  if (guesses && !set_guesses (session, device, bench, error))
    return FALSE;
  gboolean runs = kvasir_session_start (session, 1, make_request (bench));
  while (runs)
    runs = kvasir_session_step (session);
  if (turn->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&turn->error));
  return FALSE;
}

static double
get_rate (const Turn *turn)
{
  return turn->tokens->len * 1e6 / (double) MAX (turn->us, 1);
}

static gboolean
are_same (const GArray *a, const GArray *b)
{
  for (guint i = 0; i < MIN (a->len, b->len); i++)
    if (g_array_index (a, gint32, i) != g_array_index (b, gint32, i))
      return FALSE;
  return a->len == b->len;
}

static void
take_turns (const Turn turns[4], KvasirDraftResult *result)
{
  *result = (KvasirDraftResult){
    .plain = MAX (get_rate (&turns[0]), get_rate (&turns[3])),
    .drafted = MAX (get_rate (&turns[1]), get_rate (&turns[2])),
    .n_tokens = turns[1].tokens->len,
    .n_guessed = turns[1].n_guessed,
    .n_right = turns[1].n_right,
    .is_same = TRUE,
  };
  for (guint i = 1; i < 4; i++)
    result->is_same &= are_same (turns[0].tokens, turns[i].tokens);
}

gboolean
kvasir_bench_draft (KvasirDevice *device,
                    const KvasirDraftBench *bench,
                    KvasirDraftResult *result,
                    GError **error)
{
  static const gboolean guesses[4] = { FALSE, TRUE, TRUE, FALSE };
  Turn turns[4] = { { NULL } };
  gboolean ok = TRUE;

  for (guint i = 0; i < 4; i++)
    {
      turns[i].tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
      ok = ok && run_turn (device, bench, guesses[i], &turns[i], error);
    }
  if (ok)
    take_turns (turns, result);
  for (guint i = 0; i < 4; i++)
    g_array_unref (turns[i].tokens);
  return ok;
}

void
kvasir_bench_draft_print (const KvasirDraftResult *result)
{
  g_autofree char *share = kvasir_draft_args_format (result->n_guessed, result->n_right);
  char plain[G_ASCII_DTOSTR_BUF_SIZE], drafted[G_ASCII_DTOSTR_BUF_SIZE];

  g_print ("plain    %6u tokens %10s tokens/s\n", result->n_tokens,
           g_ascii_formatd (plain, sizeof plain, "%.1f", result->plain));
  g_print ("drafted  %6u tokens %10s tokens/s   %s\n", result->n_tokens,
           g_ascii_formatd (drafted, sizeof drafted, "%.1f", result->drafted), share);
  g_print ("%s\n", result->is_same ? "the same text" : "not the same text");
}

json_t *
kvasir_bench_draft_to_json (const KvasirDraftResult *result)
{
  return json_pack ("{s:f, s:f, s:i, s:i, s:i, s:b}", "plain", result->plain, "drafted",
                    result->drafted, "tokens", (int) result->n_tokens, "guessed",
                    (int) result->n_guessed, "accepted", (int) result->n_right, "same",
                    (int) result->is_same);
}
