/* kvasir-cli chat: a conversation in the terminal, on the same worker as the app. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "app/cli/answer-args.h"
#include "app/cli/cli.h"
#include "app/cli/draft-args.h"
#include "app/cli/prompt-args.h"
#include "engine/error.h"
#include "engine/session/worker.h"

#define CHAT_ID 1
/* Of messages from a file; 1 is the system's. */
#define FIRST_ID 2

typedef struct
{
  KvasirWorker *worker; /* (owned) */
  pthread_mutex_t mutex;
  pthread_cond_t cond; /* on the monotonic clock */
  gboolean woken;      /* protected by mutex */

  GPtrArray *messages; /* (owned) of KvasirMessage, the conversation so far */
  guint64 next_id;
  const KvasirAnswerArgs *answers; /* (unowned) */
  const KvasirPromptArgs *prompts; /* (unowned) */
  gboolean guesses;                /* tokens are guessed ahead */
  gboolean is_terminal;

  GString *answer;  /* (owned) text of the answer that runs */
  GArray *tokens;   /* (owned) of gint32, its ids */
  GError *error;    /* (nullable) what the request that runs failed with */
  gboolean reasons; /* the prompt opened the model's reasoning */
  gboolean is_done; /* the request that runs has ended */
} Chat;

/* Set by Ctrl+C; the waiting loop turns it into a stop. */
static volatile sig_atomic_t interrupted;

static void
note_interrupt (int number)
{
  interrupted = 1;
}

static void
wake_up (gpointer user_data)
{
  Chat *chat = user_data;
  pthread_mutex_lock (&chat->mutex);
  chat->woken = TRUE;
  pthread_cond_signal (&chat->cond);
  pthread_mutex_unlock (&chat->mutex);
}

/* Until the worker has mail, or a tenth of a second is over: a signal handler cannot signal a
 * condition. */
static void
wait_for_mail (Chat *chat)
{
  struct timespec until;

  clock_gettime (CLOCK_MONOTONIC, &until);
  until.tv_nsec += 100000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock (&chat->mutex);
  while (!chat->woken)
    if (pthread_cond_timedwait (&chat->cond, &chat->mutex, &until) != 0)
      break;
  chat->woken = FALSE;
  pthread_mutex_unlock (&chat->mutex);
}

static void
print_progress (Chat *chat, const char *what, guint n_done, guint n_total)
{
  if (chat->is_terminal && n_total > 0)
    g_printerr ("\r%s %u of %u\033[K", what, n_done, n_total);
}

static void
clear_progress (Chat *chat)
{
  if (chat->is_terminal)
    g_printerr ("\r\033[K");
}

/* A model's text may hold escape sequences; a terminal must not obey them. */
static void
print_text (const char *text)
{
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    {
      const gunichar c = g_utf8_get_char (p);
      if (c == '\n' || c == '\t' || !g_unichar_iscntrl (c))
        fwrite (p, 1, (gsize) (g_utf8_next_char (p) - p), stdout);
    }
  fflush (stdout);
}

static void
take_text (Chat *chat, const char *text)
{
  if (text == NULL)
    return;
  g_string_append (chat->answer, text);
  print_text (text);
}

/* How a chat that has run out of cells gets more. */
#define MORE_CELLS "; --ctx gives more"

static void
take_failure (Chat *chat, const GError *error)
{
  const gboolean is_full =
      g_error_matches (error, KVASIR_ENGINE_ERROR, KVASIR_ENGINE_ERROR_NO_ROOM);

  chat->error =
      g_error_new (error->domain, error->code, "%s%s", error->message, is_full ? MORE_CELLS : "");
}

static void
finish (Chat *chat, const KvasirNotice *notice)
{
  chat->is_done = TRUE;
  if (notice->kind == KVASIR_NOTICE_FAILED)
    take_failure (chat, notice->error);
  else if (notice->kind == KVASIR_NOTICE_DONE)
    {
      take_text (chat, notice->text);
      g_array_set_size (chat->tokens, notice->n_kept);
      if (notice->reason == KVASIR_DONE_NO_ROOM)
        g_printerr ("\n(no cell is left for the rest of this answer" MORE_CELLS ")");
      if (notice->reason == KVASIR_DONE_REFUSED)
        {
          g_autofree char *why = kvasir_cli_escape (notice->error->message);
          g_printerr ("\n(%s)", why);
        }
      if (chat->guesses)
        {
          g_autofree char *text = kvasir_draft_args_format (notice->n_guessed, notice->n_right);
          g_printerr ("\n(%s)", text);
        }
    }
}

/* With a model that can't guess as it was asked to nothing begins. */
static void
finish_loading (Chat *chat, const KvasirNotice *notice)
{
  chat->is_done = notice->kind == KVASIR_NOTICE_GUESSES || !chat->guesses;
  if (notice->error != NULL)
    chat->error = g_error_copy (notice->error);
  else if (notice->kind == KVASIR_NOTICE_LOADED)
    kvasir_prompt_args_check (chat->prompts, notice->model, &chat->error);
}

static void
take_notice (Chat *chat, const KvasirNotice *notice)
{
  switch (notice->kind)
    {
    case KVASIR_NOTICE_LOADING:
      print_progress (chat, "Loading", (guint) (notice->fraction * 100), 100);
      break;
    case KVASIR_NOTICE_READING:
      print_progress (chat, "Reading", notice->n_done, notice->n_total);
      chat->reasons = notice->reasons;
      break;
    case KVASIR_NOTICE_TOKEN:
      if (chat->tokens->len == 0)
        clear_progress (chat);
      g_array_append_val (chat->tokens, notice->token);
      take_text (chat, notice->text);
      break;
    case KVASIR_NOTICE_LOADED:
    case KVASIR_NOTICE_GUESSES:
      clear_progress (chat);
      finish_loading (chat, notice);
      break;
    case KVASIR_NOTICE_DONE:
    case KVASIR_NOTICE_FAILED:
      clear_progress (chat);
      finish (chat, notice);
      break;
    default:
      break;
    }
}

/* Runs until the request that was made last has ended. */
static void
wait_until_done (Chat *chat)
{
  chat->is_done = FALSE;
  interrupted = 0;
  while (!chat->is_done)
    {
      KvasirMail mail;
      wait_for_mail (chat);
      if (interrupted)
        kvasir_worker_stop (chat->worker);
      interrupted = 0;
      kvasir_mail_init (&mail);
      kvasir_worker_drain (chat->worker, &mail);
      for (guint i = 0; i < mail.notices->len; i++)
        take_notice (chat, g_ptr_array_index (mail.notices, i));
      kvasir_mail_clear (&mail);
    }
}

static void
add_message (Chat *chat, KvasirRole role, const char *text)
{
  g_ptr_array_add (chat->messages, kvasir_message_new (chat->next_id++, role, text));
}

/* Sends what was said last and waits for the answer, which becomes a message. FALSE where there is
 * none; then what was said is taken back. */
static gboolean
answer (Chat *chat)
{
  KvasirRequest *request = kvasir_request_new (CHAT_ID, chat->next_id);
  KvasirMessage *message;

  for (guint i = 0; i < chat->messages->len; i++)
    g_ptr_array_add (request->messages,
                     kvasir_message_copy (g_ptr_array_index (chat->messages, i)));
  kvasir_answer_args_apply (chat->answers, request);
  kvasir_prompt_args_apply (chat->prompts, request);
  g_string_truncate (chat->answer, 0);
  g_array_set_size (chat->tokens, 0);
  g_clear_error (&chat->error);
  kvasir_worker_send (chat->worker, request);
  wait_until_done (chat);
  if (chat->error != NULL)
    {
      kvasir_cli_fail (chat->error);
      g_ptr_array_remove_index (chat->messages, chat->messages->len - 1);
      return FALSE;
    }
  g_print ("\n");
  add_message (chat, KVASIR_ROLE_ASSISTANT, chat->answer->str);
  message = g_ptr_array_index (chat->messages, chat->messages->len - 1);
  message->reasons = chat->reasons;
  message->n_tokens = chat->tokens->len;
  message->tokens = g_memdup2 (chat->tokens->data, chat->tokens->len * sizeof (gint32));
  return TRUE;
}

/* Reads a line without its end; bytes that no text holds, NUL among them, are replaced. NULL at the
 * end of the input. Returns: (transfer full) */
static char *
read_line (Chat *chat)
{
  char *bytes = NULL, *text;
  size_t room = 0;

  if (chat->is_terminal)
    g_printerr ("> ");
  ssize_t len = getline (&bytes, &room, stdin);
  if (len < 0 && ferror (stdin) && errno == EINTR)
    {
      clearerr (stdin);
      g_printerr ("\n");
    }
  if (len > 0 && bytes[len - 1] == '\n')
    len--;
  text = len >= 0 ? g_utf8_make_valid (bytes, len) : NULL;
  free (bytes);
  return text;
}

/* The conversation from a file ends with what is to be answered, or with an answer. */
static gboolean
is_asked (const Chat *chat)
{
  const KvasirMessage *last =
      chat->messages->len > 0 ? g_ptr_array_index (chat->messages, chat->messages->len - 1) : NULL;
  return last != NULL && last->role == KVASIR_ROLE_USER;
}

static int
talk (Chat *chat)
{
  int status = KVASIR_EXIT_OK;
  char *text;

  if (is_asked (chat) && !answer (chat))
    status = KVASIR_EXIT_MODEL;
  while ((text = read_line (chat)) != NULL)
    {
      if (*text != '\0')
        {
          add_message (chat, KVASIR_ROLE_USER, text);
          if (!answer (chat))
            status = KVASIR_EXIT_MODEL;
        }
      g_free (text);
    }
  if (ferror (stdin))
    {
      g_printerr ("kvasir-cli: standard input: %s\n", g_strerror (errno));
      status = KVASIR_EXIT_MODEL;
    }
  return status;
}

static void
chat_init (Chat *chat, KvasirDevice *device)
{
  /* Without SA_RESTART, so that Ctrl+C at the prompt ends the input. */
  const struct sigaction action = { .sa_handler = note_interrupt };
  pthread_condattr_t attributes;

  pthread_mutex_init (&chat->mutex, NULL);
  pthread_condattr_init (&attributes);
  pthread_condattr_setclock (&attributes, CLOCK_MONOTONIC);
  pthread_cond_init (&chat->cond, &attributes);
  pthread_condattr_destroy (&attributes);
  chat->messages = g_ptr_array_new_with_free_func ((GDestroyNotify) kvasir_message_free);
  chat->next_id = 1;
  chat->answer = g_string_new (NULL);
  chat->tokens = g_array_new (FALSE, FALSE, sizeof (gint32));
  chat->is_terminal = isatty (STDIN_FILENO) && isatty (STDERR_FILENO);
  chat->worker = kvasir_worker_new (device, wake_up, chat);
  sigaction (SIGINT, &action, NULL);
}

static void
chat_clear (Chat *chat)
{
  kvasir_worker_free (chat->worker);
  g_ptr_array_unref (chat->messages);
  g_string_free (chat->answer, TRUE);
  g_array_unref (chat->tokens);
  g_clear_error (&chat->error);
  pthread_mutex_destroy (&chat->mutex);
  pthread_cond_destroy (&chat->cond);
}

typedef struct
{
  gint n_ctx;
  char *system;                    /* (owned) (nullable) */
  const KvasirAnswerArgs *answers; /* (unowned) */
  const KvasirPromptArgs *prompts; /* (unowned) */
  KvasirGuessParams guesses;
} ChatArgs;

static void
begin_conversation (Chat *self, const ChatArgs *args)
{
  const GPtrArray *given = args->prompts->messages;

  if (args->system != NULL)
    add_message (self, KVASIR_ROLE_SYSTEM, args->system);
  for (guint i = 0; i < given->len; i++)
    g_ptr_array_add (self->messages, kvasir_message_copy (g_ptr_array_index (given, i)));
  self->next_id = FIRST_ID + given->len;
}

static int
chat (const KvasirDeviceArgs *device_args, const char *name, const ChatArgs *args)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (KvasirDevice) device = kvasir_cli_open_device (device_args, &error);
  g_autofree char *path = device != NULL ? kvasir_cli_find_file (name, &error) : NULL;
  KvasirContextParams params;
  Chat self = { 0 };
  int status;

  if (path == NULL)
    return kvasir_cli_fail (error);
  kvasir_context_params_init (&params);
  params.n_ctx = (guint) args->n_ctx;
  chat_init (&self, device);
  self.answers = args->answers;
  self.prompts = args->prompts;
  self.guesses = args->guesses.kind != KVASIR_GUESS_OFF;
  kvasir_worker_set_guesses (self.worker, &args->guesses);
  begin_conversation (&self, args);
  kvasir_worker_load (self.worker, path, &params);
  wait_until_done (&self);
  status = self.error != NULL ? kvasir_cli_fail (self.error) : talk (&self);
  chat_clear (&self);
  return status;
}

int
kvasir_cli_chat (int argc, char **argv)
{
  g_auto (KvasirAnswerArgs) answers = { 0 };
  g_auto (KvasirDraftArgs) draft = { 0 };
  g_auto (KvasirPromptArgs) prompts = { 0 };
  g_autoptr (GError) error = NULL;
  ChatArgs args = { .n_ctx = 4096, .answers = &answers, .prompts = &prompts };
  KvasirDeviceArgs device_args = { NULL, 0 };
  const GOptionEntry entries[] = {
    { "ctx", 0, 0, G_OPTION_ARG_INT, &args.n_ctx, "Cells (default 4096; 0: as trained)", "N" },
    { "system", 0, 0, G_OPTION_ARG_STRING, &args.system, "What the model is told first", "TEXT" },
    KVASIR_PROMPT_ENTRIES (&prompts),
    KVASIR_DRAFT_ENTRIES (&draft),
    G_OPTION_ENTRY_NULL,
  };
  kvasir_answer_args_init (&answers);
  const KvasirCommandLine line = { "[FILE.gguf] - talk to a model; Ctrl+C stops an answer, Ctrl+D "
                                   "ends",
                                   entries,
                                   &device_args,
                                   0,
                                   1,
                                   kvasir_answer_args_make_group (&answers) };
  g_autofree char *isa = NULL, *system = NULL;
  int status;
  gboolean ok = kvasir_cli_parse (&line, &argc, &argv, &status);

  isa = device_args.isa;
  system = args.system;
  if (!ok)
    return status;
  if (args.n_ctx < 0)
    {
      g_printerr ("kvasir-cli: --ctx: a number from 0 expected, %d found\n", args.n_ctx);
      return KVASIR_EXIT_USAGE;
    }
  if (!kvasir_draft_args_settle (&draft, &args.guesses, &error) ||
      !kvasir_prompt_args_settle (&prompts, FIRST_ID, &error))
    return kvasir_cli_fail (error);
  return chat (&device_args, argc > 1 ? argv[1] : KVASIR_DEFAULT_MODEL, &args);
}
