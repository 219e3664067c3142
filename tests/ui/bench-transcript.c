/* How long the main loop is held while text streams into a long transcript.
 *
 * Needs a display: dbus-run-session -- xvfb-run -a bench-ui-transcript
 */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "kvasir-resources.h"
#include "tests/bench/gaps.h"
#include "ui/history/history.h"
#include "ui/transcript/transcript.h"

#define TOKENS_PER_SECOND 200
#define SECONDS 6

typedef struct
{
  char *folder;
  KvasirStore *store;
  KvasirHistory *history;
  GtkWidget *window;
  GtkWidget *transcript;
  KvasirConversation *conversation;
  KvasirMessageNode *answer;
  Gaps *gaps; /* (owned) */
  guint n_tokens;
} Bench;

/* A piece of what models write: words, lists, code. */
static const char *
get_token (guint i)
{
  static const char *const words[] = { "The ",    "cache ", "keeps ", "**keys** ", "and ",
                                       "values ", "of ",    "every ", "token",     ", " };
  guint at = i % 400;

  if (at == 0)
    return "\n\n## A heading\n\n";
  if (at == 60)
    return "\n\n- one item ";
  if (at == 80)
    return "\n- another item ";
  if (at == 120)
    return "\n\n```c\nint main (void)\n{\n  return 0;\n}\n```\n\n";
  if (at % 60 == 59)
    return ".\n\n";
  return words[i % G_N_ELEMENTS (words)];
}

static gboolean
token_cb (gpointer user_data)
{
  Bench *b = user_data;

  kvasir_message_node_append (b->answer, get_token (b->n_tokens), 5);
  b->n_tokens++;
  return G_SOURCE_CONTINUE;
}

static void
stream (Bench *b, const char *name, guint n_before, const char *before)
{
  KvasirMessageNode *asked = kvasir_conversation_add (
      b->conversation, kvasir_conversation_get_leaf (b->conversation), KVASIR_ROLE_USER, "go");
  guint tokens;

  b->answer = kvasir_conversation_add_answer (b->conversation, asked, "Bench");
  if (before != NULL)
    kvasir_message_node_append (b->answer, before, -1);
  for (b->n_tokens = 0; b->n_tokens < n_before;)
    token_cb (b);
  gaps_rest (1.5);
  tokens = g_timeout_add (1000 / TOKENS_PER_SECOND, token_cb, b);
  gaps_run (b->gaps, SECONDS);
  g_source_remove (tokens);
  kvasir_message_node_set_state (b->answer, KVASIR_MESSAGE_COMPLETE);
  gaps_print (b->gaps, name);
}

static void
open_long_chat (Bench *b, guint n_messages)
{
  KvasirChat *chat = kvasir_history_add_chat (b->history, "");
  KvasirConversation *conversation = kvasir_history_open_chat (b->history, chat);
  KvasirMessageNode *last = NULL;
  kvasir_history_touch (b->history, chat, NULL);
  for (guint i = 0; i < n_messages; i++)
    last = kvasir_conversation_add (conversation, last,
                                    i % 2 == 0 ? KVASIR_ROLE_USER : KVASIR_ROLE_ASSISTANT,
                                    "Some words with *emphasis* and `code` in a message.");
  gaps_rest (0.5);
  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (b->transcript), conversation);
  gaps_run (b->gaps, 2);
  gaps_print (b->gaps, "opening a chat of 5000 messages");
  b->conversation = conversation;
}

static gboolean
loaded (Bench *b)
{
  return kvasir_history_get_loaded (b->history);
}

static void
set_up (Bench *b)
{
  g_autofree char *path = NULL;
  KvasirChat *chat;

  b->folder = g_dir_make_tmp ("kvasir-bench-XXXXXX", NULL);
  path = g_build_filename (b->folder, "history.db", NULL);
  b->gaps = gaps_new ();
  b->store = kvasir_store_new (path);
  b->history = kvasir_history_new (b->store);
  while (!loaded (b))
    g_main_context_iteration (NULL, TRUE);
  b->window = gtk_window_new ();
  b->transcript = kvasir_transcript_new ();
  gtk_window_set_default_size (GTK_WINDOW (b->window), 900, 700);
  gtk_window_set_child (GTK_WINDOW (b->window), b->transcript);
  gtk_window_present (GTK_WINDOW (b->window));
  chat = kvasir_history_add_chat (b->history, "");
  b->conversation = kvasir_history_open_chat (b->history, chat);
  kvasir_history_touch (b->history, chat, NULL);
  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (b->transcript), b->conversation);
  gaps_rest (1);
}

static void
tear_down (Bench *b)
{
  g_autofree char *path = g_build_filename (b->folder, "history.db", NULL);

  gtk_window_destroy (GTK_WINDOW (b->window));
  kvasir_history_close (b->history);
  g_unlink (path);
  g_rmdir (b->folder);
  g_free (b->folder);
  gaps_free (b->gaps);
}

static void
load_style (void)
{
  GtkCssProvider *provider = gtk_css_provider_new ();

  g_assert (kvasir_get_resource () != NULL);
  gtk_css_provider_load_from_resource (provider, "/org/kvasir/Kvasir/style.css");
  gtk_style_context_add_provider_for_display (
      gdk_display_get_default (), GTK_STYLE_PROVIDER (provider), GTK_STYLE_PROVIDER_PRIORITY_USER);
  g_object_unref (provider);
}

int
main (int argc, char **argv)
{
  Bench b = { 0 };
  g_autofree char *line = g_strnfill (1 << 20, 'A');

  adw_init ();
  load_style ();
  set_up (&b);
  stream (&b, "200 tok/s from the beginning", 0, NULL);
  stream (&b, "200 tok/s after 10 000 tokens", 10000, NULL);
  stream (&b, "200 tok/s after a line of 1 MB", 0, line);
  open_long_chat (&b, 5000);
  stream (&b, "200 tok/s in a chat of 5000 messages", 0, NULL);
  tear_down (&b);
  return 0;
}
