/* How long the main loop is held while text streams into a long transcript.
 *
 * Needs a display: dbus-run-session -- xvfb-run -a bench-ui-transcript
 * A beat every 2 ms notes how late it comes; the gaps' p99 and maximum are printed for each case.
 */
#include <adwaita.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "kvasir-resources.h"
#include "ui/history/history.h"
#include "ui/transcript/transcript.h"

#define BEAT_MS 2
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
  GArray *gaps; /* of gint64, microseconds */
  gint64 last_us;
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
beat_cb (gpointer user_data)
{
  Bench *b = user_data;
  gint64 now = g_get_monotonic_time ();
  gint64 gap = now - b->last_us - BEAT_MS * 1000;

  if (b->last_us != 0)
    g_array_append_val (b->gaps, gap);
  b->last_us = now;
  return G_SOURCE_CONTINUE;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a;
  gint64 y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
print_gaps (Bench *b, const char *name)
{
  gint64 *gaps = (gint64 *) (gpointer) b->gaps->data;
  guint n = b->gaps->len;

  if (n == 0)
    {
      printf ("%-44s no beat came\n", name);
      return;
    }

  qsort (gaps, n, sizeof *gaps, compare);
  printf ("%-44s p50 %5.1f  p99 %5.1f  max %6.1f ms  (%u beats)\n", name,
          (double) gaps[n / 2] / 1000, (double) gaps[n * 99 / 100] / 1000,
          (double) gaps[n - 1] / 1000, n);
  fflush (stdout);
  g_array_set_size (b->gaps, 0);
  b->last_us = 0;
}

static void
run_for (double seconds)
{
  gint64 end = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);

  while (g_get_monotonic_time () < end)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (200);
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
  guint beat, tokens;

  b->answer = kvasir_conversation_add_answer (b->conversation, asked, "Bench");
  if (before != NULL)
    kvasir_message_node_append (b->answer, before, -1);
  for (b->n_tokens = 0; b->n_tokens < n_before;)
    token_cb (b);
  run_for (1.5);
  beat = g_timeout_add (BEAT_MS, beat_cb, b);
  tokens = g_timeout_add (1000 / TOKENS_PER_SECOND, token_cb, b);
  run_for (SECONDS);
  g_source_remove (beat);
  g_source_remove (tokens);
  kvasir_message_node_set_state (b->answer, KVASIR_MESSAGE_COMPLETE);
  print_gaps (b, name);
}

static void
open_long_chat (Bench *b, guint n_messages)
{
  KvasirChat *chat = kvasir_history_add_chat (b->history, "");
  KvasirConversation *conversation = kvasir_history_open_chat (b->history, chat);
  KvasirMessageNode *last = NULL;
  guint beat;

  kvasir_history_touch (b->history, chat, NULL);
  for (guint i = 0; i < n_messages; i++)
    last = kvasir_conversation_add (conversation, last,
                                    i % 2 == 0 ? KVASIR_ROLE_USER : KVASIR_ROLE_ASSISTANT,
                                    "Some words with *emphasis* and `code` in a message.");
  beat = g_timeout_add (BEAT_MS, beat_cb, b);
  run_for (0.5);
  print_gaps (b, "idle");
  kvasir_transcript_set_conversation (KVASIR_TRANSCRIPT (b->transcript), conversation);
  run_for (2);
  g_source_remove (beat);
  print_gaps (b, "opening a chat of 5000 messages");
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
  b->gaps = g_array_new (FALSE, FALSE, sizeof (gint64));
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
  run_for (1);
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
  g_array_unref (b->gaps);
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
